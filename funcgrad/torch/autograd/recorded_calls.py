"""Functions of the user's whose inputs are traced: their backward is the rule of a `funcgrad.custom_vjp`.

A trace keeps no history, so whoever differentiates what was recorded would not know of the user's backward.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import funcgrad as fg
from funcgrad.extend import Tracer
from funcgrad.torch.core.backward.grad_mode import no_grad
from funcgrad.torch.core.operand import Operands
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.types import Array, Arrays

if TYPE_CHECKING:
    from funcgrad.torch.autograd.function import Function, FunctionNode

__all__ = ["is_traced", "recorded_call"]


_TENSOR = object()
"""Stands where a tensor stood."""


def is_traced(args: tuple[Any, ...]) -> bool:
    """Whether a tensor among the arguments has a traced value."""
    return any(isinstance(x, Tensor) and type(x._value) is Tracer for x in args)


class _Call:
    """One call: what its forward returned beside tensors, and what its context holds beside them."""

    __slots__ = ("args", "context", "function", "outs", "places", "separate", "single", "unfelt")

    def __init__(self, function: type[Function], args: tuple[Any, ...], separate: bool) -> None:
        self.function = function
        self.args = args
        self.separate = separate
        self.places = [k for k, x in enumerate(args) if isinstance(x, Tensor)]
        self.context: FunctionNode
        self.outs: list[Any] = []
        self.single = True
        self.unfelt: list[int] = []

    def ran(self, arrays: tuple[Any, ...]) -> tuple[Any, FunctionNode]:
        """The arrays that the user's forward returns, and its context."""
        function = self.function
        given = list(self.args)
        for k, x in zip(self.places, arrays, strict=True):
            given[k] = wrap(x)
        node: FunctionNode = function._node_class()
        node.about(tuple(given), [given[k]._value.dtype.kind in "fc" for k in self.places])
        with no_grad():
            if self.separate:
                out = function.forward(*given)
                function.setup_context(node, tuple(given), out)
            else:
                out = function.forward(node, *given)
        if node._dirty:
            raise RuntimeError(
                f"{function.__name__} changes an input in place (mark_dirty), which cannot be recorded with "
                "its backward; let forward return a new tensor, or call it outside of fg.grad, fg.vmap and "
                "fg.jit"
            )
        self.single = not isinstance(out, tuple)
        outs = (out,) if self.single else out
        self.unfelt = [k for k, x in enumerate(outs) if any(x is t for t in node._non_differentiable)]
        node._out_specs = tuple(
            [(x._value.shape, x._value.dtype) if isinstance(x, Tensor) else None for x in outs]
        )
        self.outs = [_TENSOR if isinstance(x, Tensor) else x for x in outs]
        return tuple([x._value for x in outs if isinstance(x, Tensor)]), node

    def values(self, *arrays: Array) -> Arrays:
        """What is recorded of the call itself."""
        return self.ran(arrays)[0]

    def forward(self, *arrays: Array) -> Arrays:
        """The same, with all arrays that the backward reads."""
        values, node = self.ran(arrays)
        self.context = node
        held = {name: x for name, x in vars(node).items() if isinstance(x, Tensor)}
        saved = [None if t is None else t._value for t in node._to_save]
        return values, (saved, {name: t._value for name, t in held.items()})

    def backward(self, residuals: Arrays, cotangents: Arrays) -> tuple[Any, ...]:
        """The cotangents of the inputs, by the user's backward."""
        saved, held = residuals
        node = self.context
        given = self.function._node_class()
        vars(given).update(vars(node))
        vars(given).update({name: wrap(x) for name, x in held.items()})
        given._kept = [None if x is None else (x, None, [0], 0, None) for x in saved]
        given._to_save = ()
        arrived = iter(cotangents)
        # What an output without a derivative sends is None.
        sent = [None if spec is None else next(arrived) for spec in node._out_specs]
        with no_grad():
            found = given.backward_python([None if g is None else wrap(g) for g in sent])
        return tuple([None if g is None else g._value for g in found])


def recorded_call(function: type[Function], args: tuple[Any, ...], separate: bool) -> Operands:
    """``function.apply(*args)`` as one equation whose derivative is the user's backward.

    Raises RuntimeError for a forward that changes an input in place.
    """
    call = _Call(function, args, separate)

    def applied(*arrays: Array) -> Arrays:
        return call.values(*arrays)

    applied.__name__ = function.__name__
    recorded = fg.custom_vjp(applied)
    recorded.defvjp(call.forward, call.backward)
    arrays = iter(recorded(*[args[k]._value for k in call.places]))
    outs: list[Any] = []
    for k, other in enumerate(call.outs):
        if other is not _TENSOR:
            outs.append(other)
            continue
        value = next(arrays)
        outs.append(wrap(fg.stop_gradient(value) if k in call.unfelt else value))
    return outs[0] if call.single else tuple(outs)
