"""Views of parts: selections, slices, diagonals, windows, splits, and parts of complex numbers."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from funcgrad.torch.core.backward.history import Op
from funcgrad.torch.core.errors import dim_of
from funcgrad.torch.core.inplace import assign
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.tensor import Tensor, method, own
from funcgrad.torch.core.views import view_outputs, viewed
from funcgrad.torch.operations.registry import FUNCTIONS, operation, tensor_of
from funcgrad.types import Anything, Array, Index, Number, ShapeLike

# -- parts ------------------------------------------------------------------------------------------------


def _slice(x: Array, index: tuple[Any, ...]) -> Array:
    return x[tuple([slice(*i) if type(i) is tuple else i for i in index])]


SELECT = Op("SelectBackward0", _slice)
SLICE = Op("SliceBackward0", _slice)
ALIAS = Op("AliasBackward0", _slice)


@operation()
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The part at one index of a dimension."""
    shape = input._value.shape
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    at = dim_of(dim, len(shape))
    index = int(index)
    if not -shape[at] <= index < shape[at]:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(shape)} at dimension {at}"
        )
    return viewed(SELECT, input, ((*[(None,)] * at, index % shape[at], ...),))


@operation()
def narrow(input: Tensor, dim: int, start: Number, length: int) -> Tensor:
    """`length` entries of a dimension from `start` on."""
    shape = input._value.shape
    if not shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if isinstance(start, Tensor) and (start._value.shape or start._value.dtype.kind not in "iu"):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    at, start = dim_of(dim, len(shape)), int(start)
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not -shape[at] <= start <= shape[at]:
        raise IndexError(
            f"start out of range (expected to be in range of [{-shape[at]}, {shape[at]}], but got {start})"
        )
    start = start + shape[at] if start < 0 else start
    if start + length > shape[at]:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({shape[at]}).")
    return viewed(SLICE, input, ((*[(None,)] * at, (start, start + length)),))


def _diagonal(x: Array, offset: int, dim1: int, dim2: int) -> Array:
    found = np.diagonal(x, offset, dim1, dim2)
    if type(x) is np.ndarray and x.flags.writeable:
        found = np.lib.stride_tricks.as_strided(found, found.shape, found.strides)
        found = np.asarray(_Writeable(found, x))
    return found


class _Writeable:
    """NumPy returns diagonals read-only; this is the same memory, writeable."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, view: Array, owner: Anything) -> None:
        interface = dict(view.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface
        self.owner = owner


_DIAGONAL = Op("DiagonalBackward0", _diagonal)


@operation()
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of two dimensions, as the last one."""
    ndim = len(input._value.shape)
    a, b = dim_of(dim1, ndim), dim_of(dim2, ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return viewed(_DIAGONAL, input, (offset, a, b))


def _unfold(x: Array, dim: int, size: int, step: int) -> Array:
    if not x.ndim:
        return np.reshape(x, (1,))[:size]
    if type(x) is np.ndarray:
        windows = np.lib.stride_tricks.sliding_window_view(x, size, dim, writeable=x.flags.writeable)
        return windows[(slice(None),) * dim + (slice(None, None, step),)]
    starts = np.arange(0, x.shape[dim] - size + 1, step)
    index = starts[:, None] + np.arange(size)
    taken = np.take(x, index, axis=dim)
    return np.moveaxis(taken, dim + 1, -1)


_UNFOLD = Op("UnfoldBackward0", _unfold)


@method()
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """All windows of a dimension, each along a new last dimension."""
    at = dim_of(dimension, len(self._value.shape))
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if size > (self._value.shape[at] if self._value.shape else 1):
        raise RuntimeError(
            f"maximum size for tensor at dimension {at} is {self._value.shape[at]} but size is {size}"
        )
    return viewed(_UNFOLD, self, (at, size, step))


def _strided(x: Array, size: tuple[int, ...], stride: tuple[int, ...], offset: int) -> Array:
    if type(x) is np.ndarray:
        width = x.dtype.itemsize
        return np.lib.stride_tricks.as_strided(
            x.reshape(-1)[offset:] if x.flags.c_contiguous else x, size, [s * width for s in stride]
        )
    where = offset + sum(
        (np.arange(n) * s).reshape((-1, *[1] * (len(size) - k - 1)))
        for k, (n, s) in enumerate(zip(size, stride, strict=True))
    )
    return np.take(np.reshape(x, (-1,)), where)


STRIDED = Op("AsStridedBackward0", _strided)


@operation()
def as_strided(
    input: Tensor, size: ShapeLike, stride: ShapeLike, storage_offset: int | None = None
) -> Tensor:
    """The elements at these distances in memory."""
    size, stride = tuple(size), tuple(stride)
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    source, start, before = _memory_of(input)
    offset = start if storage_offset is None else storage_offset - before
    if offset < 0:
        raise NotImplementedError(
            f"funcgrad.torch does not support as_strided of a leaf from memory before it (storage_offset="
            f"{storage_offset}); take the part out of the tensor that the leaf is a view of"
        )
    needed = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) + 1 if all(size) else 0
    if needed > source._value.size:
        width = source._value.dtype.itemsize
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize "
            f"{width} requiring a storage size of {needed * width} are out of bounds for storage of size "
            f"{source._value.size * width}"
        )
    return viewed(STRIDED, source, (size, stride, offset))


def _memory_of(input: Tensor) -> tuple[Tensor, int, int]:
    """A contiguous tensor of the memory a tensor is in, where in it that starts, and how much is before."""
    value = own(input)
    if type(value) is not np.ndarray:
        return input, 0, 0
    base = input if input._view is None else input._view.base
    memory = own(base)
    if input._rg and not base._rg:
        # A leaf of its own: gradients go to it, not to what it is a view of.
        before = (value.ctypes.data - memory.ctypes.data) // value.dtype.itemsize
        return _contiguous(input), 0, before
    if not memory.flags.c_contiguous:
        # Memory in another order of the dimensions is contiguous once they are put in that order.
        base = base.permute(sorted(range(memory.ndim), key=lambda k: -memory.strides[k]))
        memory = own(base)
    if memory.dtype != value.dtype or not memory.flags.c_contiguous:
        return _contiguous(input), 0, 0
    return base, (value.ctypes.data - memory.ctypes.data) // value.dtype.itemsize, 0


def _contiguous(input: Tensor) -> Tensor:
    if not own(input).flags.c_contiguous:
        raise NotImplementedError(
            "funcgrad.torch does not support as_strided of a view with gaps, whose memory is not known; "
            "clone it first"
        )
    return input


# -- several views at once --------------------------------------------------------------------------------


def _split_parts(x: Array, sizes: tuple[int, ...], dim: int) -> tuple[Any, ...]:
    lead = (slice(None),) * dim
    starts = np.cumsum([0, *sizes])
    return tuple([x[(*lead, slice(int(a), int(a) + n))] for a, n in zip(starts[:-1], sizes, strict=True)])


def _split_part(x: Array, sizes: tuple[int, ...], dim: int, k: int) -> Array:
    start = sum(sizes[:k])
    return x[(*(slice(None),) * dim, slice(start, start + sizes[k]))]


_SPLIT = Op("SplitBackward0", _split_parts)
_SPLIT_SIZES = Op("SplitWithSizesBackward0", _split_parts)
_SPLIT_PART = Op("SliceBackward0", _split_part)


@operation()
def split(tensor: Tensor, split_size_or_sections: ShapeLike, dim: int = 0) -> tuple[Tensor, ...]:
    """Parts of a dimension, each of one size (the last one smaller) or of the sizes listed."""
    shape = tensor._value.shape
    at = dim_of(dim, len(shape))
    if not shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    total = shape[at]
    if isinstance(split_size_or_sections, int):
        step = split_size_or_sections
        if step < 0:
            raise RuntimeError(f"split expects split_size be non-negative, but got split_size={step}")
        if not step and total:
            raise RuntimeError(
                f"split_size can only be 0 if dimension size is 0, but got dimension size of {total}"
            )
        sizes = tuple([min(step, total - k) for k in range(0, total, step)]) if total else (0,)
        return view_outputs(_SPLIT, _SPLIT_PART, tensor, (sizes, at), len(sizes))
    sizes = tuple([int(n) for n in split_size_or_sections])
    if sum(sizes) != total:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {total} (input tensor's size at "
            f"dimension {at}), but got split_sizes={list(sizes)}"
        )
    return view_outputs(_SPLIT_SIZES, _SPLIT_PART, tensor, (sizes, at), len(sizes))


@operation("split_with_sizes")
def split_with_sizes(input: Tensor, split_sizes: ShapeLike, dim: int = 0) -> Operands:
    """Parts of a dimension of the sizes listed."""
    return input.split(list(split_sizes), dim)


@operation()
def chunk(input: Tensor, chunks: int, dim: int = 0) -> Operands:
    """About `chunks` equal parts of a dimension."""
    if not input._value.shape:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    total = input._value.shape[dim_of(dim, len(input._value.shape))]
    return input.split(max(-(-total // int(chunks)), 1), dim) if total else input.split([0] * chunks, dim)


@operation()
def tensor_split(input: Tensor, indices_or_sections: ShapeLike, dim: int = 0) -> tuple[Any, ...]:
    """Parts of a dimension, nearly equal or cut at indices."""
    total = input._value.shape[dim_of(dim, len(input._value.shape))]
    if isinstance(indices_or_sections, Tensor):
        found = indices_or_sections.tolist()
        indices_or_sections = found
    if isinstance(indices_or_sections, int):
        n = indices_or_sections
        sizes = [total // n + (k < total % n) for k in range(n)]
        starts = [0, *np.cumsum(sizes).tolist()]
        return tuple([input.narrow(dim, a, b - a) for a, b in pairwise(starts)])
    cuts = [0, *[min(max(c + total if c < 0 else c, 0), total) for c in indices_or_sections], total]
    return tuple([input.narrow(dim, a, max(b - a, 0)) for a, b in pairwise(cuts)])


def _directed_split(name: str, dim: int, least: int) -> None:
    def divided(input: Tensor, indices_or_sections: Index) -> Operands:
        rank = len(input._value.shape)
        if rank < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with "
                f"{rank} dimensions!"
            )
        at = 0 if name == "hsplit" and rank == 1 else dim
        parts = indices_or_sections
        if isinstance(parts, int) and (parts < 1 or input._value.shape[at] % parts):
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {at}, but the size of the dimension "
                f"{input._value.shape[at]} is not divisible by the split_size {parts}!"
            )
        return input.tensor_split(indices_or_sections, at)

    operation(name)(divided)


for _name, _dim, _least in (("hsplit", 1, 1), ("vsplit", 0, 2), ("dsplit", 2, 3)):
    _directed_split(_name, _dim, _least)


def _unbound(x: Array, dim: int) -> tuple[Any, ...]:
    lead = (slice(None),) * dim
    if type(x) is np.ndarray:
        array: Any = x
        return tuple([array[(*lead, k, ...)] for k in range(array.shape[dim])])
    return tuple([x[(*lead, k)] for k in range(x.shape[dim])])


def _unbound_part(x: Array, dim: int, k: int) -> Array:
    return x[(*(slice(None),) * dim, k, ...)]


_UNBIND = Op("UnbindBackward0", _unbound)
_UNBIND_PART = Op("SelectBackward0", _unbound_part)


@operation()
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """All parts along a dimension."""
    shape = input._value.shape
    if not shape:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    at = dim_of(dim, len(shape))
    return view_outputs(_UNBIND, _UNBIND_PART, input, (at,), shape[at])


# -- real and imaginary parts -----------------------------------------------------------------------------


def _real_part(x: Array) -> Array:
    return x.real if type(x) is np.ndarray else np.real(x)


def _imaginary_part(x: Array) -> Array:
    return x.imag if type(x) is np.ndarray else np.imag(x)


def _as_real(x: Array) -> Array:
    if type(x) is np.ndarray:
        return (
            x.reshape(-1).view(x.real.dtype).reshape(*x.shape, 2)
            if x.flags.c_contiguous
            else np.stack([x.real, x.imag], -1)
        )
    return np.stack([np.real(x), np.imag(x)], -1)


_REAL = Op("SelectBackward0", _real_part)
_IMAG = Op("SelectBackward0", _imaginary_part)
_AS_REAL = Op("ViewAsRealBackward0", _as_real)


def real(self: Tensor) -> Tensor:
    """The real part, a view; real tensors are their own."""
    return viewed(_REAL, self) if self._value.dtype.kind == "c" else self


def imag(self: Tensor) -> Tensor:
    """The imaginary part of a complex tensor, a view."""
    if self._value.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return viewed(_IMAG, self)


def _set_real(self: Tensor, value: Operand) -> None:
    assign(self.real, tensor_of(value))


def _set_imag(self: Tensor, value: Operand) -> None:
    assign(self.imag, tensor_of(value))


setattr(Tensor, "real", property(real, _set_real))  # noqa: B010 - a name among many
setattr(Tensor, "imag", property(imag, _set_imag))  # noqa: B010
FUNCTIONS["real"], FUNCTIONS["imag"] = real, imag


@operation(method=False)
def view_as_real(input: Tensor) -> Tensor:
    """A complex tensor as pairs of real numbers."""
    if input._value.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return viewed(_AS_REAL, input)


def _as_complex(x: Array) -> Array:
    if type(x) is np.ndarray and x.flags.c_contiguous:
        return x.view(np.result_type(x.dtype, np.complex64)).reshape(x.shape[:-1])
    return (x[..., 0] + 1j * x[..., 1]).astype(np.complex64 if x.dtype == np.float32 else np.complex128)


_AS_COMPLEX = Op("ViewAsComplexBackward0", _as_complex)


@operation(method=False)
def view_as_complex(input: Tensor) -> Tensor:
    """Pairs of real numbers as a complex tensor."""
    if input._value.shape[-1:] != (2,):
        raise RuntimeError("Tensor must have a last dimension of size 2")
    return viewed(_AS_COMPLEX, input)
