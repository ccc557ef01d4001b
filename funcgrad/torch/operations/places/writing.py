"""Methods that only change a tensor in place: fill, copy, zero, and the like."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.extend import Tracer
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import op
from funcgrad.torch.core.backward.underived import underived
from funcgrad.torch.core.dtypes import number_in
from funcgrad.torch.core.inplace import (
    assign,
    require_apart,
    require_no_history,
    require_same_or_apart,
    require_writeable,
)
from funcgrad.torch.core.meta import NO_DATA, is_meta
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import MODES
from funcgrad.torch.core.tensor import Tensor, method, own
from funcgrad.torch.operations.movement import ints
from funcgrad.torch.operations.places.indexing import _refuse_expansion
from funcgrad.torch.operations.registry import tensor_of
from funcgrad.types import Anything, Array, Number, ShapeLike

__all__: list[str] = []


def _fast(self: Tensor) -> bool:
    """Whether writing into the memory is all there is to do."""
    tracked = self._rg or (self._view is not None and self._view.base._rg)
    return not (MODES.grad and tracked) and type(self._value) is not Tracer


@op("ZeroBackward0")
def _zero(x: Array) -> Array:
    return np.zeros_like(x)


@method()
def zero_(self: Tensor) -> Tensor:
    """Set every element to zero."""
    require_writeable(self)
    if _fast(self) and own(self).flags.writeable:
        self._value[...] = 0
        self._version_box[0] += 1
        return self
    return assign(self, apply(_zero, (self,)))


@op("FillBackward2")
def _fill(x: Array, value: Array) -> Array:
    return np.broadcast_to(value.astype(x.dtype), x.shape) + np.zeros((), x.dtype)


@op("FillBackward3")
def _fill_tensor(x: Array, value: Array) -> Array:
    return np.broadcast_to(value.astype(x.dtype), x.shape) + np.zeros((), x.dtype)


@method()
def fill_(self: Tensor, value: Number) -> Tensor:
    """Set every element to one number."""
    require_writeable(self, isinstance(value, Tensor) and value._rg)
    if isinstance(value, Tensor):
        if value._value.shape:
            raise RuntimeError(
                f"fill_ only supports 0-dimension value tensor but got tensor with {len(value._value.shape)} "
                "dimensions."
            )
        return assign(self, apply(_fill_tensor, (self, value)))
    if value is None or isinstance(value, list | tuple | str):
        kind = type(value).__name__
        raise TypeError(f"fill_(): argument 'value' (position 1) must be Number, not {kind}")
    if self._value.dtype.kind == "b":
        value = bool(value)
    given = number_in(value, self._value.dtype)
    if _fast(self) and own(self).flags.writeable:
        self._value[...] = given
        self._version_box[0] += 1
        return self
    return assign(self, apply(_fill, (self, given)))


@op("CopyBackwards", input_names=("self", "src"))
def _copy(x: Array, source: Array) -> Array:
    return np.broadcast_to(source.astype(x.dtype), x.shape) * np.ones((), x.dtype)


def _copy_name(node: Anything) -> str:
    return "torch::autograd::CopyBackwards"


setattr(_copy.node_class, "_name", _copy_name)  # noqa: B010 - a class made for it


@method()
def copy_(self: Tensor, src: Operand, non_blocking: bool = False) -> Tensor:
    """Set the elements to those of another tensor."""
    incoming = isinstance(src, Tensor) and src._rg
    require_writeable(self, MODES.grad and incoming)
    source = src if isinstance(src, Tensor) else tensor_of(src)
    if is_meta(self):
        source = source.to("meta")
    elif is_meta(source):
        raise NotImplementedError(NO_DATA)
    try:
        fits = np.broadcast_shapes(source._value.shape, self._value.shape) == tuple(self._value.shape)
    except ValueError:
        fits = False
    if not fits:
        _refuse(source._value.shape, self._value.shape)
    traced = type(self._value) is Tracer or type(source._value) is Tracer
    tracked = self._rg or incoming or (self._view is not None and self._view.base._rg)
    if traced or (MODES.grad and tracked):
        require_same_or_apart(self._value, source._value)
        return assign(self, apply(_copy, (self, source)))
    memory = own(self)
    require_apart(memory)
    require_same_or_apart(memory, source._value)
    with np.errstate(all="ignore"):
        memory[...] = source._value if memory.dtype.kind in "cb" else _real(source._value)
    self._version_box[0] += 1
    return self


def _real(value: Array) -> Array:
    return value.real if value.dtype.kind == "c" else value


def _refuse(shape: ShapeLike, into: Array) -> None:
    if len(shape) > len(into):
        raise RuntimeError(f"output with shape {list(into)} doesn't match the broadcast shape {list(shape)}")
    for k in range(1, len(shape) + 1):
        if shape[-k] not in (1, into[-k]):
            raise RuntimeError(
                f"The size of tensor a ({into[-k]}) must match the size of tensor b ({shape[-k]}) at "
                f"non-singleton dimension {len(into) - k}"
            )
    _refuse_expansion(shape, into)


@method()
def fill_diagonal_(self: Tensor, fill_value: Number, wrap: bool = False) -> Tensor:
    """Set the main diagonal to one number."""
    if self._rg and self._node is None and MODES.grad:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation."
        )
    require_writeable(self)
    index = np.arange(min(self._value.shape))
    self[(index,) * len(self._value.shape)] = fill_value
    return self


@method()
def resize_(self: Tensor, *sizes: ShapeLike) -> Tensor:
    """Another shape; what is new is zero."""
    shape = ints(sizes)
    if self._rg:
        raise RuntimeError("cannot resize variables that require grad")
    if shape != self._value.shape:
        flat = np.zeros(int(np.prod(shape)), self._value.dtype)
        count = min(flat.size, self._value.size)
        flat[:count] = own(self).reshape(-1)[:count]
        self._value = flat.reshape(shape)
        self._version_box[0] += 1
    return self


@method()
def resize(self: Tensor, *sizes: ShapeLike) -> Tensor:
    """`reshape` to sizes of as many elements, which PyTorch deprecates; RuntimeError for other sizes."""
    return _resized(self, ints(sizes), "resize")


def _resized(self: Tensor, shape: tuple[int, ...], name: str) -> Tensor:
    warnings.warn(f"non-inplace {name} is deprecated", UserWarning, stacklevel=3)
    if math.prod(shape) != self._value.size:
        wanted, found = ("x".join(map(str, s)) for s in (shape, self._value.shape))
        raise RuntimeError(
            f"requested resize to {wanted} ({math.prod(shape)} elements in total), but the given tensor has "
            f"a size of {found} ({self._value.size} elements). autograd's resize can only change the shape "
            "of a given tensor, while preserving the number of elements. "
        )
    return self.reshape(shape)


@method()
def resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """`reshape` to the shape of another tensor, which PyTorch deprecates."""
    return _resized(self, tensor._value.shape, "resize_as")


@method()
def module_load(self: Tensor, other: Tensor, assign: bool = False) -> Tensor:
    """What takes the place of a parameter: the other tensor, or this one with the values of the other."""
    return other.detach() if assign else self.copy_(other).detach()


@method()
def set_(self: Tensor, source: Tensor) -> Tensor:
    """Take over the memory of another tensor. A history ends there: RuntimeError in a backward pass."""
    if MODES.grad and self._rg and self._node is None:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    underived(self, self, "set_" if self._view is None else "set_ of a view")
    self._value = own(source)
    self._version_box[0] += 1
    return self


@method()
def resize_as_(self: Tensor, other: Tensor) -> Tensor:
    """The shape of another tensor; what is new is zero."""
    return self.resize_(other._value.shape)


@method()
def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace every element by what a Python function makes of it. RuntimeError if it requires grad."""
    require_no_history(self, "apply_")
    require_writeable(self)
    memory = own(self)
    require_apart(memory)
    for where in np.ndindex(*memory.shape):
        memory[where] = callable(memory[where].item())
    self._version_box[0] += 1
    return self
