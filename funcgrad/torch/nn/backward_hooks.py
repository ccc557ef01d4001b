"""Backward hooks of modules: identities around inputs and outputs that see the gradients go by."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from funcgrad.torch.autograd.function import Function
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import MODES
from funcgrad.torch.core.tensor import Tensor
from funcgrad.types import Anything

if TYPE_CHECKING:
    from funcgrad.torch.core.operand import Operands

__all__ = ["watched_inputs", "watched_outputs"]

_NO_INPUTS = (
    "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
    "require gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
    "#torch.nn.Module.register_full_backward_hook for more details."
)


class Watch:
    """One call of a module with backward hooks."""

    def __init__(self, module: Anything, hooks: list[Any], pre_hooks: list[Any], count: int) -> None:
        self.module = module
        self.hooks, self.pre_hooks = hooks, pre_hooks
        self.count = count
        """How many positional arguments the call had."""
        self.places: list[int] = []
        """Which of them are watched."""
        self.grad_outputs: tuple[Any, ...] = ()

    def outputs_seen(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """Run the hooks before the backward of the module."""
        for hook in self.pre_hooks:
            found = hook(self.module, grads)
            if found is not None:
                grads = as_tuple(found)
        self.grad_outputs = grads
        if not self.places:
            warnings.warn(_NO_INPUTS, UserWarning, stacklevel=2)
            self.inputs_seen(())
        return grads

    def inputs_seen(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """Run the hooks after the backward of the module."""
        full: list[Any] = [None] * self.count
        for k, g in zip(self.places, grads, strict=True):
            full[k] = g
        for hook in self.hooks:
            found = hook(self.module, tuple(full), self.grad_outputs)
            if found is None:
                continue
            given = as_tuple(found)
            if not self.places:
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None "
                    "or None for all gradients."
                )
            if len(given) != self.count:
                raise RuntimeError(
                    f"Backward hook returned an invalid number of grad_input, got {len(given)}, but "
                    f"expected {self.count}"
                )
            full = list(given)
        return tuple([full[k] for k in self.places])


def as_tuple(x: Operand) -> tuple[Any, ...]:
    """One or several, as a tuple."""
    return x if isinstance(x, tuple) else (x,)


class BackwardHookFunction(Function):
    """The identity in front of a module."""

    @staticmethod
    def forward(ctx: Anything, watch: Watch, *tensors: Tensor) -> tuple[Tensor, ...]:
        """The same tensors."""
        ctx.watch = watch
        return tuple([t.view_as(t) for t in tensors])

    @staticmethod
    def backward(ctx: Anything, *grads: Operand) -> tuple[Any, ...]:
        """The same gradients, after the hooks."""
        return (None, *ctx.watch.inputs_seen(grads))


class Outputs(Function):
    """The identity behind a module."""

    node_name = "BackwardHookFunctionBackward"

    @staticmethod
    def forward(ctx: Anything, watch: Watch, *tensors: Tensor) -> tuple[Tensor, ...]:
        """The same tensors."""
        ctx.watch = watch
        return tuple([t.view_as(t) for t in tensors])

    @staticmethod
    def backward(ctx: Anything, *grads: Operand) -> tuple[Any, ...]:
        """The same gradients, after the hooks that come first."""
        return (None, *ctx.watch.outputs_seen(grads))


def watched_inputs(
    module: object, hooks: list[Any], pre_hooks: list[Any], args: tuple[Any, ...]
) -> tuple[Watch, tuple[Any, ...]]:
    """The arguments of a call, those that require grad behind an identity."""
    watch = Watch(module, hooks, pre_hooks, len(args))
    if not MODES.grad:
        return watch, args
    watch.places = [k for k, x in enumerate(args) if isinstance(x, Tensor) and x._rg]
    if not watch.places:
        return watch, args
    seen = as_tuple(BackwardHookFunction.apply(watch, *[args[k] for k in watch.places]))
    found = list(args)
    for k, t in zip(watch.places, seen, strict=True):
        found[k] = t
    return watch, tuple(found)


def watched_outputs(watch: Watch, out: Operand) -> Operands:
    """The result of the call, a tensor or a tuple with tensors, behind an identity."""
    outs = as_tuple(out)
    places = [k for k, x in enumerate(outs) if isinstance(x, Tensor) and x._rg]
    if not places or not MODES.grad:
        return out
    seen = as_tuple(Outputs.apply(watch, *[outs[k] for k in places]))
    found = list(outs)
    for k, t in zip(places, seen, strict=True):
        found[k] = t
    return tuple(found) if isinstance(out, tuple) else found[0]
