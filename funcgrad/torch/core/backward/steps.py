"""One node of a backward pass: from the cotangents of its results to those of its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.extend import Tracer, call_program
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.arrivals import accumulate, as_tensor
from funcgrad.torch.core.backward.history import FREED, AccumulateGrad, Node, node_method
from funcgrad.torch.core.backward.plans import late_plan
from funcgrad.torch.core.backward.saved import require_unchanged, saved_tensors
from funcgrad.torch.core.meta import is_shape_only, meta_array, on_meta
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import MODES
from funcgrad.torch.core.tensor import constant
from funcgrad.types import Anything, ArrayLike, Arrays

BY_MASK = frozenset(
    f"{word}Backward{k}"
    for word in ("Max", "Min", "Amax", "Amin", "Clamp", "ClampMin", "ClampMax")
    for k in (0, 1)
)
"""Operations whose backward selects by a comparison: its derivative by the input is nothing, not zero."""


def cotangents_for(node: Node, g: ArrayLike) -> list[Any]:
    """The cotangents of all differentiable results, zeros where none arrived."""
    plan = node.plan
    if node.outputs == 1:
        return [g]
    assert plan is not None
    first = constant(next(x for x in g if x is not None))
    make = meta_array if is_shape_only(first) else np.zeros
    return [g[k] if g[k] is not None else make(*plan.out_specs[k]) for k in plan.active_outputs]


def pull(node: Node, g: object) -> Sequence[Any]:
    """The cotangents of a node's inputs, as arrays."""
    if node.checks:
        require_unchanged(node)
    saved = node.saved
    if saved is None:
        raise RuntimeError(FREED)
    plan = node.plan
    if plan is None:
        plan = late_plan(node, g)
    cotangents = [g] if node.outputs == 1 else cotangents_for(node, g)
    values = [*saved, *cotangents]
    if Tracer in map(type, values):
        outs: Sequence[Any] = evaluate_or_record(plan, values)
        if any(map(is_shape_only, values)):
            outs = [on_meta(x) for x in outs]
    else:
        outs = plan.evaluate(*values)
    if len(outs) == len(node.edges):
        return outs
    found: list[Any] = [None] * len(node.edges)
    for k, x in zip(plan.needed, outs, strict=True):
        found[k] = x
    return found


def evaluate_or_record(plan: Anything, values: Sequence[Any]) -> Sequence[Any]:
    """The plan on values some of which may be recorded."""
    return call_program(plan.program, *values)


def tensor_pull(node: Node, g: ArrayLike) -> Sequence[Any]:
    """The cotangents of a node's inputs, as tensors with a history."""
    require_unchanged(node)
    first = g if node.outputs == 1 else next(x for x in g if x is not None)
    plan = node.plan or late_plan(node, first._value)
    cotangents = [as_tensor(x) for x in cotangents_for(node, g)]
    found: list[Any] = [None] * len(node.edges)
    made: Sequence[Any] = ()
    if plan.parts:
        mask = node.op.masks.get(node.needs, 0) if node.plan is None else 0
        n = len(node.edges)
        used_in = plan.used_inputs if node.plan is not None else [k for k in range(n) if mask >> k & 1]
        used_out = plan.used_outputs if node.plan is not None else [0] * (mask >> n & 1)
        saved = saved_tensors(node, used_in, used_out)
        out = apply(plan.op, [*saved, *cotangents])
        made = out if isinstance(out, tuple) else (out,)
        of_pass = made[0].grad_fn
        masked = node._name() in BY_MASK and of_pass is not None and of_pass.plan is not None
        if masked and of_pass.plan.is_constant:
            for t in made:
                t._node, t._rg = None, False
    for k, part in enumerate(plan.parts):
        found[plan.needed[part]] = made[k]
    for k, j in enumerate(plan.passed):
        if j is not None:
            found[plan.needed[k]] = cotangents[j]
    return found


def single_step(node: Node, grads: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a node makes of the gradients of its outputs, as tensors; with a history where one is kept."""
    if len(grads) != node.outputs:
        raise TypeError(f"expected {node.outputs} arguments, got {len(grads)} instead")
    g: Any = list(grads) if node.outputs > 1 else grads[0]
    if isinstance(node, AccumulateGrad):
        accumulate(node.variable, g if MODES.grad else g._value, MODES.grad)
        return ()
    if node.is_python:
        return tuple([as_tensor(x) for x in python_pull(node, g, MODES.grad)])
    if MODES.grad:
        return tuple(tensor_pull(node, g))
    given: Any = [None if t is None else t._value for t in g] if node.outputs > 1 else g._value
    return tuple([as_tensor(x) for x in pull(node, given)])


@node_method("__call__")
def called(self: Node, *grads: Operand) -> Arrays:
    """The gradient of the input (a tuple for several) from those of the outputs: a step of a pass."""
    found = single_step(self, grads)
    return found[0] if len(found) == 1 else found


def python_pull(node: Node, g: ArrayLike, create: bool) -> Sequence[Any]:
    """The cotangents of a node whose backward is the user's."""
    cotangents = [as_tensor(x) for x in (g if node.outputs > 1 else [g])]
    found = node.backward_python(cotangents)
    return [x if create or x is None else x._value for x in found]
