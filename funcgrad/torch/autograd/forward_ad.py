"""Forward mode: dual tensors, whose tangents are found by replaying histories with the public `jvp`."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.torch.autograd.gradients import grad, pulled_back
from funcgrad.torch.core.state import MODES
from funcgrad.torch.core.tensor import Tensor, wrap

if TYPE_CHECKING:
    from funcgrad.torch.core.operand import Operand

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]

_NO_LEVEL = (
    "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
    "enter_dual_level() first."
)


class _Levels(threading.local):
    """The open levels of this thread: one at most, as in PyTorch."""

    def __init__(self) -> None:
        self.current = -1
        self.duals: list[Any] = []
        self.given: dict[int, tuple[Any, int, Any]] = {}
        """Of every dual, by its id: the dual, its version as it was made, and the tangent that was given."""


_LEVELS = _Levels()


class UnpackedDualTensor(tuple[Any, ...]):
    """A primal and its tangent."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"UnpackedDualTensor(primal={self[0]!r}, tangent={self[1]!r})"

    @property
    def primal(self) -> Operand:
        """The value."""
        return self[0]

    @property
    def tangent(self) -> Operand:
        """The tangent, None where there is none."""
        return self[1]


def _keep_histories(wanted: bool) -> None:
    """Whether operations remember in `no_grad` as well: tangents are found by what they remember."""
    MODES.tangents = wanted
    MODES.remember(MODES.said)
    MODES.settle()


def enter_dual_level() -> int:
    """Open a level."""
    if _LEVELS.current >= 0:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _LEVELS.current += 1
    _keep_histories(True)
    return _LEVELS.current


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level; its tangents are forgotten."""
    if _LEVELS.current < 0:
        raise RuntimeError("Dual level must be a positive number.")
    _LEVELS.current -= 1
    _LEVELS.duals = []
    _LEVELS.given = {}
    _keep_histories(False)


class dual_level:
    """A level as a context manager."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc: object) -> None:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A tensor with a tangent, which operations carry on."""
    if _LEVELS.current < 0:
        raise RuntimeError(_NO_LEVEL)
    if tensor._value.dtype.kind not in "fc":
        raise ValueError(f"Expected primal to be floating point or complex, but got: {tensor.dtype}")
    if tangent._value.dtype.kind not in "fc":
        raise ValueError(f"Expected tangent to be floating point or complex, but got: {tangent.dtype}")
    if tangent._value.shape != tensor._value.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, "
            f"this is not supported. Tensor is of size {list(tensor.shape)} while the given forward gradient "
            f"is of size {list(tangent.shape)}."
        )
    # What tangents are found by is never changed in place: the dual, which may be, is a copy with a history.
    source = tensor.view_as(tensor) if tensor._rg else tensor.detach().requires_grad_()
    dual: Tensor = source.clone()
    _LEVELS.duals.append((source, tangent))
    _LEVELS.given[id(dual)] = (dual, dual._version, tangent)
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The primal of a tensor and its tangent, None where it does not depend on a dual."""
    if _LEVELS.current < 0:
        return UnpackedDualTensor((tensor, None))
    if not tensor._rg or not _LEVELS.duals:
        return UnpackedDualTensor((tensor, None))
    dual, version, tangent = _LEVELS.given.get(id(tensor), (None, 0, None))
    if dual is tensor and dual._version == version:
        # As it was made: the tangent is the tensor that was given.
        return UnpackedDualTensor((tensor.detach(), tangent))
    duals = [d for d, _ in _LEVELS.duals]
    weights = wrap(np.zeros(tensor._value.shape, tensor._value.dtype)).requires_grad_()
    pulled = pulled_back(tensor, duals, weights)
    pairs = [(p, t) for p, (_, t) in zip(pulled, _LEVELS.duals, strict=True) if p is not None and p._rg]
    if not pairs:
        return UnpackedDualTensor((tensor.detach(), None))
    # Of primals and tangents that require grad, the tangent has a history as well.
    history = MODES.said and any(d._node is not None or t._rg for d, t in _LEVELS.duals)
    tangents = [t for _, t in pairs]
    (found,) = grad([p for p, _ in pairs], weights, tangents, retain_graph=True, create_graph=history)
    return UnpackedDualTensor((tensor.detach(), found))


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
