"""`grad`: derivatives returned instead of accumulated."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from funcgrad.torch.core.backward.arguments import roots_of
from funcgrad.torch.core.backward.arrivals import as_tensor
from funcgrad.torch.core.backward.engine import Captures, run_backward
from funcgrad.torch.core.meta import is_meta, on_meta
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.state import MODES
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Anything

__all__ = ["grad"]

_UNUSED = (
    "The differentiated Tensor at index {} appears to not have been used in the graph. Set "
    "allow_unused=True if this is the desired behavior."
)
_UNBATCHED = (
    "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
    "dimension. The sizes of the remaining dimensions are expected to match the shape of corresponding "
    "output, but a mismatch was detected: grad_output[{0}] has a shape of {1} and output[{0}] has a shape of "
    "{2}. If you only want some tensors in `grad_output` to be considered batched, consider using vmap."
)


def grad(
    outputs: Operands,
    inputs: Operands,
    grad_outputs: Operands = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Operands:
    """The derivatives of the sum of `outputs` with respect to each of `inputs`, a dict for a dict of them.

    >>> x = fg.torch.tensor(2.0, requires_grad=True)
    >>> fg.torch.autograd.grad(x**3, x)
    (tensor(12.),)
    """
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate "
            "gradient for other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    allow = materialize_grads if allow_unused is None else allow_unused
    if type(inputs) is dict:
        given = (grad_outputs, retain_graph, create_graph, True, allow_unused)
        found = grad(outputs, tuple(inputs.values()), *given, is_grads_batched, materialize_grads)
        return dict(zip(inputs, found, strict=True))
    wanted = (inputs,) if isinstance(inputs, Tensor) or hasattr(inputs, "edge") else tuple(inputs)
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    if is_grads_batched:
        return batched(outputs, wanted, grad_outputs, retain_graph, create_graph, allow, materialize_grads)
    edges, cotangents = roots_of(outputs, grad_outputs, create_graph)
    captures = Captures([edge_for(t) for t in wanted])
    keep = create_graph if retain_graph is None else retain_graph
    found = run_backward(edges, cotangents, keep, create_graph, captures)
    return tuple(
        [
            finished(g, t, k, allow, materialize_grads)
            for k, (g, t) in enumerate(zip(found, wanted, strict=True))
        ]
    )


def pulled_back(out: Tensor, inputs: list[Tensor], weights: Tensor) -> tuple[Any, ...]:
    """The pullback of `weights`, with a history: linear in them, it is differentiated for a forward pass."""
    before, MODES.pushing = MODES.pushing, True
    try:
        found: tuple[Any, ...] = grad(
            out, inputs, weights, create_graph=True, retain_graph=True, allow_unused=True
        )
    finally:
        MODES.pushing = before
    return found


def edge_for(t: object) -> Anything:
    """The edge whose gradient is asked for."""
    if hasattr(t, "edge"):
        return t.edge
    if not isinstance(t, Tensor):
        raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(t).__name__}")
    if not t._rg:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return t._node or t


def finished(g: Operand, t: object, k: int, allow: bool, materialize: bool) -> Operand:
    """A gradient as it is returned; RuntimeError for one that does not exist and may not be missing."""
    if g is None:
        if not allow:
            raise RuntimeError(_UNUSED.format(k))
        if materialize and isinstance(t, Tensor):
            return wrap(on_meta(t._value) if is_meta(t) else np.zeros(t._value.shape, t._value.dtype))
        return None
    return as_tensor(g)


def batched(
    outputs: Operands,
    inputs: Operands,
    grad_outputs: Operands,
    retain: bool | None,
    create: bool,
    allow: bool,
    materialize: bool,
) -> tuple[Any, ...]:
    """One backward pass for each entry of the first dimension of `grad_outputs`, stacked."""
    outs = (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)
    given = (grad_outputs,) if isinstance(grad_outputs, Tensor) else tuple(grad_outputs)
    for k, (g, out) in enumerate(zip(given, outs, strict=True)):
        if g.shape[1:] != out.shape:
            raise RuntimeError(_UNBATCHED.format(k, g.shape[1:], out.shape))
    count = len(given[0])
    keep = create if retain is None else retain
    rows = []
    for k in range(count):
        last = k == count - 1
        rows.append(
            grad(
                outs,
                inputs,
                [g[k] for g in given],
                retain_graph=True if not last else keep,
                create_graph=create,
                allow_unused=allow,
                materialize_grads=materialize,
            )
        )
    return tuple(
        [None if column[0] is None else FUNCTIONS["stack"](column) for column in zip(*rows, strict=True)]
    )
