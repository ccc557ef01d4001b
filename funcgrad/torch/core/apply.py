"""Running an operation: evaluate now, and remember where a gradient is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.torch.core.backward.anomaly import note_traceback
from funcgrad.torch.core.backward.history import Node, Op, Output
from funcgrad.torch.core.backward.packing import pack_saved
from funcgrad.torch.core.backward.plans import plan_for
from funcgrad.torch.core.dtypes import without_their_dtypes
from funcgrad.torch.core.meta import require_device
from funcgrad.torch.core.state import MODES, SEQUENCE, quiet
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.types import ArrayLike, Arrays

if TYPE_CHECKING:
    from funcgrad.torch.core.operand import Operands


_new = object.__new__


def evaluated(op: Op, values: Sequence[Any], params: tuple[Any, ...]) -> Operands:
    """The array function of the operation on values, without NumPy's warnings."""
    token = quiet.enter()
    try:
        return op.function(*values, *params)
    finally:
        quiet.leave(token)


def apply(op: Op, inputs: Sequence[Any], params: tuple[Any, ...] = ()) -> Operands:
    """The result of an operation on tensors (and arrays, which are constants), or the tuple of them."""
    params = without_their_dtypes(params)
    values = [t._value if isinstance(t, Tensor) else t for t in inputs]
    token = quiet.enter()
    try:
        out = op.function(*values, *params)
    finally:
        quiet.leave(token)
    require_device(out, values)
    out = tuple([of_its_own(x, values) for x in out]) if type(out) is tuple else of_its_own(out, values)
    return remembered(op, inputs, values, params, out)


def of_its_own(out: object, values: Sequence[Any]) -> Operands:
    """The result, copied where NumPy has given a view of an operand: no operation here is a view."""
    if type(out) is not np.ndarray or (out.base is None and not any(out is x for x in values)):
        return out
    shared = any(type(x) is np.ndarray and np.may_share_memory(out, x) for x in values)
    return out.copy() if shared else out


def apply_to(op: Op, x: Tensor, params: tuple[Any, ...]) -> Tensor:
    """As `apply`, for one tensor and one result: the path of reductions."""
    params = without_their_dtypes(params)
    a = x._value
    token = quiet.enter()
    try:
        out = op.function(a, *params)
    finally:
        quiet.leave(token)
    t: Tensor = _new(Tensor)
    t._value = out
    t._version_box = [0]
    if not x._rg:
        if MODES.inference:
            t._inference = True
        return t
    if not MODES.fast or x._inference or out.dtype.kind not in "fc":
        return remembered(op, (x,), (a,), params, out)  # type: ignore[no-any-return]
    plan = op.plans.get((params, 1, ((a.shape, a.dtype),)))
    if plan is None:
        plan = plan_for(op, params, 1, ((a.shape, a.dtype),), ((out.shape, out.dtype),))
    node: Node = _new(op.node_class)
    node.params = params
    node.edges = (x._node or x,)
    node.plan = plan
    if plan.used_inputs:
        box = x._version_box
        if plan.used_outputs:
            node.saved, node.checks = (a, out), (box, box[0], t._version_box, 0)
        else:
            node.saved, node.checks = (a,), (box, box[0])
    elif plan.used_outputs:
        node.saved, node.checks = (out,), (t._version_box, 0)
    node.seq = next(SEQUENCE)
    t._node = node
    t._rg = True
    return t


def apply_linear(op: Op, x: Tensor, params: tuple[Any, ...] = ()) -> Tensor:
    """As `apply_to`, for a linear operation of one dtype: nothing is saved, and the plan is found later."""
    params = without_their_dtypes(params)
    a = x._value
    token = quiet.enter()
    try:
        out = op.function(a, *params)
    finally:
        quiet.leave(token)
    t: Tensor = _new(Tensor)
    t._value = out
    t._version_box = [0]
    if not x._rg:
        if MODES.inference:
            t._inference = True
        return t
    if not MODES.fast:
        return remembered(op, (x,), (a,), params, out)  # type: ignore[no-any-return]
    node: Node = _new(op.node_class)
    node.params = params
    node.edges = (x._node or x,)
    node.specs = (a.shape,)
    node.seq = next(SEQUENCE)
    t._node = node
    t._rg = True
    return t


def needs_of(inputs: Sequence[Any]) -> int:
    """Bit k: input k requires grad."""
    needs, bit = 0, 1
    for t in inputs:
        if isinstance(t, Tensor) and t._rg:
            needs |= bit
        bit <<= 1
    return needs


def remembered(
    op: Op, inputs: Sequence[Any], values: Sequence[Any], params: tuple[Any, ...], out: ArrayLike
) -> Operands:
    """The tensors of a result, with a history where one of the inputs requires grad."""
    needs = needs_of(inputs) if MODES.grad else 0
    if type(out) is tuple:
        return results(op, inputs, values, params, out, needs)
    t = wrap(out)
    if needs and out.dtype.kind in "fc":
        t._node = make_node(op, inputs, values, params, (out,), (t._version_box,), needs)
        t._rg = True
    return t


def results(
    op: Op, inputs: Sequence[Any], values: Sequence[Any], params: tuple[Any, ...], outs: Arrays, needs: int
) -> tuple[Tensor, ...]:
    """The tensors of an operation with several results."""
    tensors = tuple([wrap(x) for x in outs])
    if needs and any(x.dtype.kind in "fc" for x in outs):
        node = make_node(op, inputs, values, params, outs, [t._version_box for t in tensors], needs)
        for k, (t, x) in enumerate(zip(tensors, outs, strict=True)):
            if x.dtype.kind in "fc":
                t._node = Output(node, k) if len(outs) > 1 else node
                t._rg = True
    return tensors


def make_node(
    op: Op,
    inputs: Sequence[Any],
    values: Sequence[Any],
    params: tuple[Any, ...],
    outs: Sequence[Any],
    out_boxes: Sequence[list[int]],
    needs: int,
) -> Node:
    """The node of an operation, with what its pullback needs."""
    specs = tuple([(x.shape, x.dtype) for x in values])
    plan = op.plans.get((params, needs, specs))
    if plan is None:
        plan = plan_for(op, params, needs, specs, tuple([(x.shape, x.dtype) for x in outs]))
    node: Node = _new(op.node_class)
    node.params = params
    node.edges = tuple([(t._node or t) if isinstance(t, Tensor) and t._rg else None for t in inputs])
    node.needs = needs
    node.plan = plan
    node.outputs = len(outs)
    saved = [values[k] for k in plan.used_inputs]
    checks: list[Any] = []
    for k in plan.used_inputs:
        t = inputs[k]
        if isinstance(t, Tensor):
            if t._inference:
                raise RuntimeError(
                    "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
                    "inference mode in computation tracked by autograd. To work around this, you can make a "
                    "clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead "
                    "of `torch.inference_mode()`."
                )
            box = t._version_box
            checks += (box, box[0])
        else:
            checks += (UNCHANGING, 0)
    for k in plan.used_outputs:
        saved.append(outs[k])
        box = out_boxes[k]
        checks += (box, box[0])
    node.saved = tuple(saved)
    node.checks = tuple(checks)
    node.seq = next(SEQUENCE)
    if MODES.saved_hooks and saved:
        of_inputs = [node.edges[k] if isinstance(inputs[k], Tensor) else ... for k in plan.used_inputs]
        pack_saved(node, saved, [*of_inputs, *[None] * len(plan.used_outputs)])
    if MODES.anomaly:
        note_traceback(node)
    return node


UNCHANGING = [0]


def remembers(*tensors: Tensor) -> bool:
    """Whether an operation on these would be remembered."""
    return MODES.grad and any(t._rg for t in tensors)


def result(value: object) -> Tensor:
    """A tensor without history of whatever an array function returned."""
    return wrap(value if hasattr(value, "dtype") else np.asarray(value))
