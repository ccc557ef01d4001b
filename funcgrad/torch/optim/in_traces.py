"""Optimisers in the arguments of `fg.jit`: each is a container of its learning rates and its state.

The parameters are those of a model that is an argument too; a step writes into both, and so into the
caller's, as it does without `jit`. Every option but the learning rate belongs to the kind of call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from funcgrad import tree
from funcgrad.extend import Tracer
from funcgrad.torch.core.trees import trace_of
from funcgrad.types import Anything

if TYPE_CHECKING:
    from funcgrad.torch.core.tensor import Tensor
    from funcgrad.torch.optim.stepwise import Stepwise

__all__ = ["register_optimizer", "resolved"]

_NOT_RETURNED = (
    "an optimizer is changed in place, in a compiled function too: leave it out of what the function returns"
)
_NO_MODEL = (
    "optimizer.step() in a compiled function finds no parameters: give the function the model that they "
    "belong to as an argument, beside the optimizer"
)
_NO_GRADIENT = (
    "optimizer.step() in a compiled function steps all parameters that require grad, and one of shape "
    "{shape} has no gradient: use it in the loss, or set its requires_grad to False"
)

_BY_NUMBER = (
    "funcgrad.torch does not support {name} in a compiled function: its steps are computed by their number. "
    "Compile the loss and its gradient, and call step() outside of it"
)


_COMPLEX = (
    "funcgrad.torch does not support complex parameters of an optimizer in a compiled function. "
    "Compile the loss and its gradient, and call step() outside of it"
)


class _Same:
    """An optimiser as static data: itself, compared by identity."""

    __slots__ = ("optimizer",)

    def __init__(self, optimizer: Stepwise) -> None:
        self.optimizer = optimizer

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.optimizer is other.optimizer

    def __hash__(self) -> int:
        return id(self.optimizer)


def _flatten(optimizer: Stepwise) -> Anything:
    if "_traced" in optimizer.__dict__:
        raise NotImplementedError(_NOT_RETURNED)
    if not optimizer.is_traceable:
        raise NotImplementedError(_BY_NUMBER.format(name=type(optimizer).__name__))
    leaves: list[Any] = []
    kinds = []
    for k, group in enumerate(optimizer.param_groups):
        leaves.append(float(group["lr"]) if "lr" in group else 0.0)
        options = tuple([(key, value) for key, value in group.items() if _is_option(key, value)])
        held = optimizer.bundles(k, [p for p in group["params"] if p._rg])
        if any(bundle.params[0]._value.dtype.kind == "c" for bundle in held):
            raise NotImplementedError(_COMPLEX)
        for bundle in held:
            leaves += [bundle.memory, *bundle.arrays.values()]
        kinds.append((options, tuple([(len(b.arrays), tuple(map(id, b.params))) for b in held])))
    return tuple(leaves), (_Same(optimizer), tuple(kinds))


def _is_option(key: str, value: Anything) -> bool:
    return key != "lr" and isinstance(value, bool | int | float | tuple | str | None)


def _unflatten(aux: Anything, leaves: Anything) -> Stepwise:
    same, kinds = aux
    optimizer: Stepwise = same.optimizer
    if not any(type(x) is Tracer for x in leaves):
        raise NotImplementedError(_NOT_RETURNED)
    copied: Stepwise = object.__new__(type(optimizer))
    copied.__dict__.update(optimizer.__dict__)
    for name in ("param_groups", "state", "_bundles"):
        copied.__dict__.pop(name, None)
    copied.__dict__["_traced"] = (optimizer, tuple(leaves), kinds, trace_of(leaves))
    return copied


def resolved(copied: Stepwise) -> None:
    """Give an optimiser of a trace its groups and its state, of the parameters of the trace.

    Late: its model may be a later argument.
    """
    optimizer, leaves, kinds, trace = copied._traced
    left = iter(leaves)
    groups: list[dict[str, Any]] = []
    copied.__dict__.update(param_groups=groups, state=type(optimizer.state)(dict), _bundles={})
    for k, (group, (_, held)) in enumerate(zip(optimizer.param_groups, kinds, strict=True)):
        lr = next(left)
        params = [_stand_in(p, trace) for p in group["params"]]
        groups.append({**group, "params": params, **({"lr": lr} if "lr" in group else {})})
        of = dict(zip(group["params"], params, strict=True))
        copied._bundles[k] = [
            bundle.standing_for(
                [of[p] for p in bundle.params], next(left), [next(left) for _ in range(count)]
            )
            for bundle, (count, _) in zip(
                optimizer.bundles(k, [p for p in group["params"] if p._rg]), held, strict=True
            )
        ]


def _stand_in(p: Tensor, trace: Anything) -> Tensor:
    for reference in p._stand_ins or ():
        found = reference()
        if found is not None and found._trace is trace:
            return found  # type: ignore[no-any-return]
    if p._rg:
        raise NotImplementedError(_NO_MODEL)
    return p


def traced_bundles(copied: Stepwise, k: int) -> list[Any]:
    """The state of group `k` in a trace; all of its parameters must have gradients."""
    found = copied._bundles[k]
    for bundle in found:
        for p in bundle.params:
            if p._grad is None:
                raise NotImplementedError(_NO_GRADIENT.format(shape=tuple(p._value.shape)))
    copied._traced[0]._opt_called = True
    return found


def register_optimizer(cls: type) -> None:
    """Let transforms take optimisers of this class apart."""
    tree.register_node(cls, _flatten, _unflatten)
