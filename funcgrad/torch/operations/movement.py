"""Views: other shapes, orders and parts of the same memory."""

from __future__ import annotations

import warnings
from math import prod
from typing import Any

import numpy as np

from funcgrad.extend import Tracer
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.errors import dim_of, dims_of
from funcgrad.torch.core.history import Op, op
from funcgrad.torch.core.inplace import assign, require_writeable
from funcgrad.torch.core.tensor import Tensor, method, own
from funcgrad.torch.core.views import view_outputs, viewed
from funcgrad.torch.operations.registry import FUNCTIONS, operation, tensor_of

__all__ = ["broadcast_shape", "expand", "ints", "reshape", "sized"]


def ints(sizes: Any) -> tuple[int, ...]:
    """Sizes given as several ints or one sequence of them."""
    if len(sizes) == 1 and not isinstance(sizes[0], int | np.integer | Tensor):
        sizes = sizes[0]
    return tuple([int(n) for n in sizes])


def sized(shape: tuple[int, ...], count: int) -> tuple[int, ...]:
    """A shape with its -1 worked out; RuntimeError where it does not hold `count` elements."""
    if sum(n == -1 for n in shape) > 1:
        raise RuntimeError("only one dimension can be inferred")
    known = prod([n for n in shape if n != -1])
    for n in shape:
        if n < -1:
            raise RuntimeError(
                f"invalid shape dimension {n} at index {shape.index(n)} of shape {list(shape)}"
            )
    if -1 in shape:
        if known == 0 and count == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension "
                "size -1 can be any value and is ambiguous"
            )
        if known == 0 or count % known:
            raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {count}")
        return tuple([count // known if n == -1 else n for n in shape])
    if known != count:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {count}")
    return shape


@op("ViewBackward0")
def _view(x: Any, shape: tuple[int, ...]) -> Any:
    return x.reshape(shape)


@op("UnsafeViewBackward0")
def _unsafe_view(x: Any, shape: tuple[int, ...]) -> Any:
    return x.reshape(shape)


@op("CloneBackward0")
def _cloned(x: Any) -> Any:
    return np.ascontiguousarray(x) if type(x) is np.ndarray else x.copy()


def shares(value: Any, shape: tuple[int, ...]) -> bool:
    """Whether reshaping gives a view."""
    if type(value) is not np.ndarray or value.flags.c_contiguous or not value.size:
        return True
    return np.may_share_memory(value.reshape(shape), value)


@method("view")
def _view_method(self: Tensor, *sizes: Any) -> Any:
    if len(sizes) == 1 and not isinstance(sizes[0], int | tuple | list | Tensor | np.integer):
        return _viewed_as(self, sizes[0])
    shape = sized(ints(sizes), self._value.size)
    if not shares(own(self), shape):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return viewed(_view, self, (shape,))


def _viewed_as(self: Tensor, dtype: Any) -> Any:
    from funcgrad.torch.core.dtypes import numpy_dtype  # noqa: PLC0415 - beside this module
    from funcgrad.torch.core.tensor import wrap  # noqa: PLC0415 - beside this module

    wanted = numpy_dtype(dtype)
    if self._rg and wanted != self._value.dtype:
        return wrap(own(self).view(wanted))
    return wrap(own(self).view(wanted))


@operation()
def reshape(input: Tensor, *shape: Any) -> Any:
    """The same elements in another shape: a view where that is possible."""
    new = sized(ints(shape), input._value.size)
    if shares(own(input), new):
        return viewed(_view, input, (new,))
    return apply(_unsafe_view, (apply(_cloned, (input,)),), (new,))


@method()
def view_as(self: Tensor, other: Tensor) -> Any:
    """The view in another tensor's shape."""
    return self.view(other._value.shape)


@method()
def reshape_as(self: Tensor, other: Tensor) -> Any:
    """The elements in another tensor's shape."""
    return self.reshape(other._value.shape)


@operation()
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The dimensions from `start_dim` to `end_dim` as one."""
    shape = input._value.shape
    if not shape:
        return input.reshape((1,))
    first, last = dim_of(start_dim, len(shape)), dim_of(end_dim, len(shape))
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if first == last:
        return input
    return input.reshape((*shape[:first], prod(shape[first : last + 1]), *shape[last + 1 :]))


@operation()
def ravel(input: Tensor) -> Any:
    """All elements in one dimension."""
    return input.contiguous().view(-1) if len(input._value.shape) != 1 else input


@operation()
def unflatten(input: Tensor, dim: int, sizes: Any) -> Any:
    """One dimension as several."""
    shape = input._value.shape
    at = dim_of(dim, len(shape))
    if prod([n for n in sizes if n != -1]) != shape[at] and -1 not in sizes:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {at} ({shape[at]}) in the "
            "input tensor"
        )
    return input.view((*shape[:at], *sized(tuple(sizes), shape[at]), *shape[at + 1 :]))


# -- order ------------------------------------------------------------------------------------------------


def _transposed(x: Any, order: tuple[int, ...]) -> Any:
    return x.transpose(order)


_PERMUTE = Op("PermuteBackward0", _transposed)
_TRANSPOSE = Op("TransposeBackward0", _transposed)
_T = Op("TBackward0", _transposed)


@operation()
def permute(input: Tensor, *dims: Any) -> Any:
    """The dimensions in another order."""
    if len(dims) == 1 and not isinstance(dims[0], int):
        dims = tuple(dims[0])
    ndim = len(input._value.shape)
    if len(dims) != ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {len(dims)}"
        )
    order = tuple([dim_of(d, ndim) for d in dims])
    if len(set(order)) != ndim:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return viewed(_PERMUTE, input, (order,))


def _swapped(ndim: int, a: int, b: int) -> tuple[int, ...]:
    order = list(range(ndim))
    if ndim:
        order[a], order[b] = order[b], order[a]
    return tuple(order)


@operation("transpose", "swapaxes", "swapdims")
def transpose(input: Tensor, dim0: int, dim1: int) -> Any:
    """Two dimensions exchanged."""
    ndim = len(input._value.shape)
    return viewed(_TRANSPOSE, input, (_swapped(ndim, dim_of(dim0, ndim), dim_of(dim1, ndim)),))


@operation()
def t(input: Tensor) -> Any:
    """The transposed matrix; a vector is returned as it is."""
    ndim = len(input._value.shape)
    if ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D")
    return viewed(_T, input, (_swapped(ndim, 0, -1),))


@operation("adjoint")
def adjoint(input: Tensor) -> Any:
    """The conjugate transpose of the last two dimensions."""
    return input.transpose(-2, -1).conj()


@operation("movedim", "moveaxis")
def movedim(input: Tensor, source: Any, destination: Any) -> Any:
    """Dimensions moved to other places."""
    ndim = len(input._value.shape)
    of, to = dims_of(source, ndim), dims_of(destination, ndim)
    order: list[Any] = [d for d in range(ndim) if d not in of]
    for d, s in sorted(zip(to, of, strict=True)):
        order.insert(d, s)
    return viewed(_PERMUTE, input, (tuple(order),))


def _reversed_dims(self: Tensor) -> Any:
    if len(self._value.shape) != 2:
        warnings.warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw "
            "an error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.",
            UserWarning,
            stacklevel=2,
        )
    return viewed(_PERMUTE, self, (tuple(range(len(self._value.shape)))[::-1],))


def _matrix_transposed(self: Tensor) -> Any:
    if len(self._value.shape) < 2:
        raise RuntimeError(
            f"tensor.mT is only supported on matrices or batches of matrices. Got {len(self._value.shape)}-D tensor."
        )
    return self.transpose(-2, -1)


def _adjoint(self: Tensor) -> Any:
    return self.transpose(-2, -1).conj()


for _name, _getter in (("T", _reversed_dims), ("mT", _matrix_transposed), ("mH", _adjoint), ("H", _adjoint)):
    setattr(Tensor, _name, property(_getter))


# -- dimensions of size one -------------------------------------------------------------------------------

_UNSQUEEZE = Op("UnsqueezeBackward0", np.expand_dims)


def _reshaped(x: Any, shape: tuple[int, ...]) -> Any:
    return (
        x.reshape(shape)
        if not isinstance(x, np.ndarray) or x.flags.c_contiguous
        else _squeezed_view(x, shape)
    )


def _squeezed_view(x: Any, shape: tuple[int, ...]) -> Any:
    return x.reshape(shape)


_SQUEEZE = Op("SqueezeBackward0", _reshaped)
_SQUEEZE_ONE = Op("SqueezeBackward1", _reshaped)
_SQUEEZE_SOME = Op("SqueezeBackward2", _reshaped)


@operation()
def unsqueeze(input: Tensor, dim: int) -> Any:
    """A dimension of size one inserted before `dim`."""
    return viewed(_UNSQUEEZE, input, (dim_of(dim, len(input._value.shape) + 1),))


@operation()
def squeeze(input: Tensor, dim: Any = None) -> Any:
    """Without the dimensions of size one (or those of them named)."""
    shape = input._value.shape
    if dim is None:
        return viewed(_SQUEEZE, input, (tuple([n for n in shape if n != 1]),))
    chosen = dims_of(dim, len(shape)) if shape else (dims_of(dim, 0), ())[1]
    new = tuple([n for k, n in enumerate(shape) if n != 1 or k not in chosen])
    return viewed(_SQUEEZE_ONE if isinstance(dim, int) else _SQUEEZE_SOME, input, (new,))


def _view_in_place(name: str) -> None:
    def method_in_place(self: Tensor, *args: Any) -> Tensor:
        require_writeable(self)
        made = getattr(self, name)(*args)
        self._value, self._node, self._rg = made._value, made._node, made._rg
        if self._view is None and made._view is not None and self._views is not None:
            self._views = [r for r in self._views if r() is not made]
        self._version_box[0] += 1
        return self

    method_in_place.__name__ = f"{name}_"
    setattr(Tensor, f"{name}_", method_in_place)


for _name in ("squeeze", "unsqueeze", "transpose", "t", "swapaxes", "swapdims"):
    _view_in_place(_name)


# -- expansion --------------------------------------------------------------------------------------------


@op("ExpandBackward0")
def _expand(x: Any, shape: tuple[int, ...]) -> Any:
    if type(x) is not np.ndarray:
        return np.broadcast_to(x, shape)
    strides = [0] * len(shape)
    lead = len(shape) - x.ndim
    for k, n in enumerate(x.shape):
        strides[lead + k] = 0 if n == 1 and shape[lead + k] != 1 else x.strides[k]
    found = np.broadcast_to(x, shape)
    return found


@operation(function=False)
def expand(input: Tensor, *sizes: Any, implicit: bool = False) -> Any:
    """The tensor as if repeated along dimensions of size one; -1 keeps a size."""
    wanted, shape = ints(sizes), input._value.shape
    if len(wanted) < len(shape):
        raise RuntimeError(
            f"expand(torch.{input.type()[6:]}{{{list(shape)}}}, size={list(wanted)}): the number of sizes provided "
            f"({len(wanted)}) must be greater or equal to the number of dimensions in the tensor ({len(shape)})"
        )
    lead = len(wanted) - len(shape)
    new = []
    for k, n in enumerate(wanted):
        old = shape[k - lead] if k >= lead else 1
        if n == -1 and k < lead:
            raise RuntimeError(
                f"The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension {k}"
            )
        if n != -1 and old not in (1, n):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({old}) at non-singleton "
                f"dimension {k}.  Target sizes: {list(wanted)}.  Tensor sizes: {list(shape)}"
            )
        new.append(old if n == -1 else n)
    return viewed(_expand, input, (tuple(new),))


@method()
def expand_as(self: Tensor, other: Tensor) -> Any:
    """The tensor expanded to another's shape."""
    return self.expand(other._value.shape)


@operation("broadcast_to")
def broadcast_to(input: Tensor, size: Any) -> Any:
    """The tensor expanded to a shape."""
    return input.expand(size)


def broadcast_shape(*shapes: Any) -> tuple[int, ...]:
    """The common shape; RuntimeError, as PyTorch raises it, where there is none."""
    try:
        return tuple(np.broadcast_shapes(*[tuple(s) if not isinstance(s, int) else (s,) for s in shapes]))
    except ValueError:
        raise RuntimeError("Shape mismatch: objects cannot be broadcast to a single shape") from None


@operation(method=False)
def broadcast_tensors(*tensors: Any) -> Any:
    """The tensors expanded to their common shape."""
    if len(tensors) == 1 and not isinstance(tensors[0], Tensor):
        tensors = tuple(tensors[0])
    shape = broadcast_shape(*[x._value.shape for x in tensors])
    return tuple([x.expand(shape) for x in tensors])


def _at_least(count: int) -> None:
    def raised(*tensors: Any) -> Any:
        if len(tensors) == 1 and not isinstance(tensors[0], Tensor):
            tensors = tuple(tensors[0])
        found = []
        for x in tensors:
            x = tensor_of(x)  # noqa: PLW2901 - numbers become tensors
            shape = x._value.shape
            if len(shape) == 0:
                x = x.reshape((1,) * count)  # noqa: PLW2901
            elif len(shape) == 1 and count > 1:
                x = x.unsqueeze(0)  # noqa: PLW2901
                x = x.unsqueeze(-1) if count == 3 else x  # noqa: PLW2901
            elif len(shape) == 2 and count == 3:
                x = x.unsqueeze(-1)  # noqa: PLW2901
            found.append(x)
        return found[0] if len(found) == 1 else tuple(found)

    FUNCTIONS[f"atleast_{count}d"] = raised


for _count in (1, 2, 3):
    _at_least(_count)


# -- parts ------------------------------------------------------------------------------------------------


def _slice(x: Any, index: tuple[Any, ...]) -> Any:
    return x[tuple([slice(*i) if type(i) is tuple else i for i in index])]


SELECT = Op("SelectBackward0", _slice)
SLICE = Op("SliceBackward0", _slice)
ALIAS = Op("AliasBackward0", _slice)


@operation()
def select(input: Tensor, dim: int, index: int) -> Any:
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
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Any:
    """`length` entries of a dimension from `start` on."""
    shape = input._value.shape
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


def _diagonal(x: Any, offset: int, dim1: int, dim2: int) -> Any:
    found = np.diagonal(x, offset, dim1, dim2)
    if type(x) is np.ndarray and x.flags.writeable:
        found = np.lib.stride_tricks.as_strided(found, found.shape, found.strides)
        found = np.asarray(_Writeable(found, x))
    return found


class _Writeable:
    """NumPy returns diagonals read-only; this is the same memory, writeable."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, view: Any, owner: Any) -> None:
        interface = dict(view.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface
        self.owner = owner


_DIAGONAL = Op("DiagonalBackward0", _diagonal)


@operation()
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The diagonal of two dimensions, as the last one."""
    ndim = len(input._value.shape)
    a, b = dim_of(dim1, ndim), dim_of(dim2, ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return viewed(_DIAGONAL, input, (offset, a, b))


def _unfold(x: Any, dim: int, size: int, step: int) -> Any:
    if type(x) is np.ndarray:
        windows = np.lib.stride_tricks.sliding_window_view(x, size, dim, writeable=x.flags.writeable)
        return windows[(slice(None),) * dim + (slice(None, None, step),)]
    starts = np.arange(0, x.shape[dim] - size + 1, step)
    index = starts[:, None] + np.arange(size)
    taken = np.take(x, index, axis=dim)
    return np.moveaxis(taken, dim + 1, -1)


_UNFOLD = Op("UnfoldBackward0", _unfold)


@method()
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Any:
    """All windows of a dimension, each along a new last dimension."""
    at = dim_of(dimension, len(self._value.shape))
    if size > (self._value.shape[at] if self._value.shape else 1):
        raise RuntimeError(
            f"maximum size for tensor at dimension {at} is {self._value.shape[at]} but size is {size}"
        )
    return viewed(_UNFOLD, self, (at, size, step))


def _strided(x: Any, size: tuple[int, ...], stride: tuple[int, ...], offset: int) -> Any:
    if type(x) is np.ndarray:
        width = x.dtype.itemsize
        flat = np.lib.stride_tricks.as_strided(
            x.reshape(-1)[offset:] if x.flags.c_contiguous else x, size, [s * width for s in stride]
        )
        return flat
    where = offset + sum(
        (np.arange(n) * s).reshape((-1, *[1] * (len(size) - k - 1)))
        for k, (n, s) in enumerate(zip(size, stride, strict=True))
    )
    return np.take(np.reshape(x, (-1,)), where)


_STRIDED = Op("AsStridedBackward0", _strided)


@operation()
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
    """The elements at these distances in memory."""
    source = input
    if type(own(input)) is np.ndarray and not input._value.flags.c_contiguous:
        source = input.contiguous()
    return viewed(_STRIDED, source, (tuple(size), tuple(stride), storage_offset or 0))


# -- several views at once --------------------------------------------------------------------------------


def _split_parts(x: Any, sizes: tuple[int, ...], dim: int) -> Any:
    lead = (slice(None),) * dim
    starts = np.cumsum([0, *sizes])
    return tuple([x[(*lead, slice(int(a), int(a) + n))] for a, n in zip(starts[:-1], sizes, strict=True)])


def _split_part(x: Any, sizes: tuple[int, ...], dim: int, k: int) -> Any:
    start = sum(sizes[:k])
    return x[(*(slice(None),) * dim, slice(start, start + sizes[k]))]


_SPLIT = Op("SplitBackward0", _split_parts)
_SPLIT_SIZES = Op("SplitWithSizesBackward0", _split_parts)
_SPLIT_PART = Op("SliceBackward0", _split_part)


@operation()
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> Any:
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
            f"split_with_sizes expects split_sizes to sum exactly to {total} (input tensor's size at dimension {at}), "
            f"but got split_sizes={list(sizes)}"
        )
    return view_outputs(_SPLIT_SIZES, _SPLIT_PART, tensor, (sizes, at), len(sizes))


@operation("split_with_sizes")
def split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> Any:
    """Parts of a dimension of the sizes listed."""
    return input.split(list(split_sizes), dim)


@operation()
def chunk(input: Tensor, chunks: int, dim: int = 0) -> Any:
    """About `chunks` equal parts of a dimension."""
    if not input._value.shape:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    total = input._value.shape[dim_of(dim, len(input._value.shape))]
    return input.split(max(-(-total // chunks), 1), dim) if total else input.split([0] * chunks, dim)


@operation()
def tensor_split(input: Tensor, indices_or_sections: Any, dim: int = 0) -> Any:
    """Parts of a dimension, nearly equal or cut at indices."""
    total = input._value.shape[dim_of(dim, len(input._value.shape))]
    if isinstance(indices_or_sections, Tensor):
        found = indices_or_sections.tolist()
        indices_or_sections = found
    if isinstance(indices_or_sections, int):
        n = indices_or_sections
        sizes = [total // n + (k < total % n) for k in range(n)]
        starts = [0, *np.cumsum(sizes).tolist()]
        return tuple([input.narrow(dim, a, b - a) for a, b in zip(starts[:-1], starts[1:], strict=True)])
    cuts = [0, *[min(max(c + total if c < 0 else c, 0), total) for c in indices_or_sections], total]
    return tuple([input.narrow(dim, a, max(b - a, 0)) for a, b in zip(cuts[:-1], cuts[1:], strict=True)])


def _directed_split(name: str, dim: int) -> None:
    def divided(input: Tensor, indices_or_sections: Any) -> Any:
        at = 0 if name == "hsplit" and len(input._value.shape) == 1 else dim
        return input.tensor_split(indices_or_sections, at)

    operation(name)(divided)


for _name, _dim in (("hsplit", 1), ("vsplit", 0), ("dsplit", 2)):
    _directed_split(_name, _dim)


def _unbound(x: Any, dim: int) -> Any:
    lead = (slice(None),) * dim
    if type(x) is np.ndarray:
        return tuple([x[(*lead, k, ...)] for k in range(x.shape[dim])])
    return tuple([x[(*lead, k)] for k in range(x.shape[dim])])


def _unbound_part(x: Any, dim: int, k: int) -> Any:
    return x[(*(slice(None),) * dim, k, ...)]


_UNBIND = Op("UnbindBackward0", _unbound)
_UNBIND_PART = Op("SelectBackward0", _unbound_part)


@operation()
def unbind(input: Tensor, dim: int = 0) -> Any:
    """All parts along a dimension."""
    shape = input._value.shape
    if not shape:
        raise RuntimeError("Dimension specified as 0 but tensor has no dimensions")
    at = dim_of(dim, len(shape))
    return view_outputs(_UNBIND, _UNBIND_PART, input, (at,), shape[at])


# -- real and imaginary parts -----------------------------------------------------------------------------


def _real_part(x: Any) -> Any:
    return x.real if type(x) is np.ndarray else np.real(x)


def _imaginary_part(x: Any) -> Any:
    return x.imag if type(x) is np.ndarray else np.imag(x)


def _as_real(x: Any) -> Any:
    if type(x) is np.ndarray:
        return (
            x.view(x.real.dtype).reshape(*x.shape, 2)
            if x.flags.c_contiguous
            else np.stack([x.real, x.imag], -1)
        )
    return np.stack([np.real(x), np.imag(x)], -1)


_REAL = Op("SelectBackward0", _real_part)
_IMAG = Op("SelectBackward0", _imaginary_part)
_AS_REAL = Op("ViewAsRealBackward0", _as_real)


def real(self: Tensor) -> Any:
    """The real part, a view; real tensors are their own."""
    return viewed(_REAL, self) if self._value.dtype.kind == "c" else self


def imag(self: Tensor) -> Any:
    """The imaginary part of a complex tensor, a view."""
    if self._value.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return viewed(_IMAG, self)


def _set_real(self: Tensor, value: Any) -> None:
    assign(self.real, tensor_of(value))


def _set_imag(self: Tensor, value: Any) -> None:
    assign(self.imag, tensor_of(value))


setattr(Tensor, "real", property(real, _set_real))  # noqa: B010 - a name among many
setattr(Tensor, "imag", property(imag, _set_imag))  # noqa: B010
FUNCTIONS["real"], FUNCTIONS["imag"] = real, imag


@operation(method=False)
def view_as_real(input: Tensor) -> Any:
    """A complex tensor as pairs of real numbers."""
    if input._value.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return viewed(_AS_REAL, input)


def _as_complex(x: Any) -> Any:
    if type(x) is np.ndarray and x.flags.c_contiguous:
        return x.view(np.result_type(x.dtype, np.complex64)).reshape(x.shape[:-1])
    return (x[..., 0] + 1j * x[..., 1]).astype(np.complex64 if x.dtype == np.float32 else np.complex128)


_AS_COMPLEX = Op("ViewAsComplexBackward0", _as_complex)


@operation(method=False)
def view_as_complex(input: Tensor) -> Any:
    """Pairs of real numbers as a complex tensor."""
    if input._value.shape[-1:] != (2,):
        raise RuntimeError("Tensor must have a last dimension of size 2")
    return viewed(_AS_COMPLEX, input)


def is_traced(value: Any) -> bool:
    """Whether a value is being recorded."""
    return type(value) is Tracer
