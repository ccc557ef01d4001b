"""Views: other shapes, orders and parts of the same memory."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import Op, op
from funcgrad.torch.core.dtypes import numpy_dtype
from funcgrad.torch.core.errors import broadcast_error, dim_of, dims_of
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.size import Size
from funcgrad.torch.core.tensor import Tensor, method, own, wrap
from funcgrad.torch.core.views import lying, viewed
from funcgrad.torch.operations.registry import FUNCTIONS, operation, published, tensor_of
from funcgrad.types import Array, ArrayLike, AxisLike, DTypeLike, ShapeLike

__all__ = ["broadcast_shape", "expand", "ints", "reshape", "sized"]


def ints(sizes: ShapeLike) -> tuple[int, ...]:
    """Sizes given as several ints or one sequence of them."""
    if len(sizes) == 1 and not isinstance(sizes[0], int | np.integer | Tensor):
        sizes = sizes[0]
    if isinstance(sizes, str):
        raise TypeError("sizes must be a tuple of ints, not str")
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
                f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified "
                "dimension size -1 can be any value and is ambiguous"
            )
        if known == 0 or count % known:
            raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {count}")
        return tuple([count // known if n == -1 else n for n in shape])
    if known != count:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {count}")
    return shape


@op("ViewBackward0")
def _view(x: Array, shape: tuple[int, ...]) -> Array:
    return x.reshape(shape)


_reshape_alias = Op("ReshapeAliasBackward0", _view.function)


@op("UnsafeViewBackward0")
def _unsafe_view(x: Array, shape: tuple[int, ...]) -> Array:
    return x.reshape(shape)


@op("CloneBackward0")
def _cloned(x: Array) -> Array:
    return np.ascontiguousarray(x) if type(x) is np.ndarray else x.copy()


def shares(value: ArrayLike, shape: tuple[int, ...]) -> bool:
    """Whether reshaping gives a view."""
    if type(value) is not np.ndarray or value.flags.c_contiguous or not value.size:
        return True
    try:
        value.reshape(shape, copy=False)
    except ValueError:
        return False
    return True


@method("view")
def _view_method(self: Tensor, *sizes: ShapeLike) -> Operand:
    if len(sizes) == 1 and not isinstance(sizes[0], int | tuple | list | Tensor | np.integer):
        return _viewed_as(self, sizes[0])
    value = own(self)
    if sizes and type(value) is np.ndarray and type(sizes[0]) is int and value.flags.c_contiguous:
        try:
            out = value.reshape(sizes) if min(sizes) >= -1 else None
        except (ValueError, TypeError):
            out = None  # what is wrong is said in PyTorch's words below
        if out is not None:
            return viewed(_view, self, (out.shape,), out)
    shape = sized(ints(sizes), value.size)
    if not shares(lying(self), shape):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans "
            "across two contiguous subspaces). Use .reshape(...) instead."
        )
    return viewed(_view, self, (shape,))


def _viewed_as(self: Tensor, dtype: DTypeLike) -> Operand:
    wanted = numpy_dtype(dtype)
    if self._rg and wanted != self._value.dtype:
        return wrap(own(self).view(wanted))
    return wrap(own(self).view(wanted))


@operation()
def reshape(input: Tensor, *shape: ShapeLike) -> Operand:
    """The same elements in another shape: a view where that is possible."""
    new = sized(ints(shape), input._value.size)
    value = lying(input)
    if shares(value, new):
        alias = type(value) is np.ndarray and not value.flags.c_contiguous
        return viewed(_reshape_alias if alias else _view, input, (new,))
    return apply(_unsafe_view, (apply(_cloned, (input,)),), (new,))


@method()
def view_as(self: Tensor, other: Tensor) -> Operand:
    """The view in another tensor's shape."""
    return self.view(other._value.shape)


@method()
def reshape_as(self: Tensor, other: Tensor) -> Operand:
    """The elements in another tensor's shape."""
    return self.reshape(other._value.shape)


@operation()
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Operand:
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
def ravel(input: Tensor) -> Operand:
    """All elements in one dimension."""
    return input.contiguous().view(-1)


@operation()
def unflatten(input: Tensor, dim: int, sizes: ShapeLike) -> Operand:
    """One dimension as several."""
    shape = input._value.shape
    at = dim_of(dim, len(shape))
    if prod([n for n in sizes if n != -1]) != shape[at] and -1 not in sizes:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {at} "
            f"({shape[at]}) in the input tensor"
        )
    return input.view((*shape[:at], *sized(tuple(sizes), shape[at]), *shape[at + 1 :]))


# -- order ------------------------------------------------------------------------------------------------


def _transposed(x: Array, order: tuple[int, ...]) -> Array:
    return x.transpose(order)


_PERMUTE = Op("PermuteBackward0", _transposed)
TRANSPOSE = Op("TransposeBackward0", _transposed)
MATRIX_TRANSPOSE = Op("TBackward0", _transposed)


@operation()
def permute(input: Tensor, *dims: AxisLike) -> Tensor:
    """The dimensions in another order."""
    if len(dims) == 1 and not isinstance(dims[0], int):
        dims = tuple(dims[0])
    ndim = len(input._value.shape)
    if len(dims) != ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the "
            "desired "
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
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged."""
    ndim = len(input._value.shape)
    return viewed(TRANSPOSE, input, (_swapped(ndim, dim_of(dim0, ndim), dim_of(dim1, ndim)),))


@operation()
def t(input: Tensor) -> Operand:
    """The transposed matrix; a vector is returned as it is."""
    ndim = len(input._value.shape)
    if ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D")
    return viewed(MATRIX_TRANSPOSE, input, (_swapped(ndim, 0, -1),))


@operation("adjoint")
def adjoint(input: Tensor) -> Operand:
    """The conjugate transpose of the last two dimensions."""
    return input.transpose(-2, -1).conj()


@operation("movedim", "moveaxis")
def movedim(input: Tensor, source: AxisLike, destination: AxisLike) -> Tensor:
    """Dimensions moved to other places."""
    ndim = len(input._value.shape)
    of, to = dims_of(source, ndim), dims_of(destination, ndim)
    if len(of) != len(to):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(of)} dims) should contain the same "
            f"number of dims as destination ({list(to)} dims)"
        )
    order: list[Any] = [d for d in range(ndim) if d not in of]
    for d, s in sorted(zip(to, of, strict=True)):
        order.insert(d, s)
    return viewed(_PERMUTE, input, (tuple(order),))


def _reversed_dims(self: Tensor) -> Operand:
    if len(self._value.shape) != 2:
        warnings.warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and "
            "it will throw an error in a future release. Consider `x.mT` to transpose batches of matrices "
            "or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.",
            UserWarning,
            stacklevel=2,
        )
    return viewed(_PERMUTE, self, (tuple(range(len(self._value.shape)))[::-1],))


def _matrix_transposed(self: Tensor) -> Operand:
    if len(self._value.shape) < 2:
        raise RuntimeError(
            f"tensor.mT is only supported on matrices or batches of matrices. Got {len(self._value.shape)}-D "
            "tensor."
        )
    return self.transpose(-2, -1)


def _conjugated(self: Tensor) -> Operand:
    ndim = len(self._value.shape)
    if ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor."
            + (" For batches of matrices, consider using tensor.mH" if ndim > 2 else "")
        )
    return _adjoint(self) if ndim else self.conj()


def _adjoint(self: Tensor) -> Operand:
    return self.transpose(-2, -1).conj()


for _name, _getter in (
    ("T", _reversed_dims),
    ("mT", _matrix_transposed),
    ("mH", _adjoint),
    ("H", _conjugated),
):
    setattr(Tensor, _name, property(_getter))


# -- dimensions of size one -------------------------------------------------------------------------------

UNSQUEEZE = Op("UnsqueezeBackward0", np.expand_dims)


def _reshaped(x: Array, shape: tuple[int, ...]) -> Array:
    return x.reshape(shape)


SQUEEZE = Op("SqueezeBackward0", _reshaped)
SQUEEZE_ONE = Op("SqueezeBackward1", _reshaped)
SQUEEZE_SOME = Op("SqueezeBackward2", _reshaped)


@operation()
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A dimension of size one inserted before `dim`."""
    return viewed(UNSQUEEZE, input, (dim_of(dim, len(input._value.shape) + 1),))


@operation()
def squeeze(input: Tensor, dim: AxisLike = None) -> Tensor:
    """Without the dimensions of size one (or those of them named)."""
    shape = input._value.shape
    if dim is None:
        return viewed(SQUEEZE, input, (tuple([n for n in shape if n != 1]),))
    chosen = () if dim == () else dims_of(dim, len(shape)) if shape else (dims_of(dim, 0), ())[1]
    new = tuple([n for k, n in enumerate(shape) if n != 1 or k not in chosen])
    return viewed(SQUEEZE_ONE if isinstance(dim, int) else SQUEEZE_SOME, input, (new,))


# -- expansion --------------------------------------------------------------------------------------------


@op("ExpandBackward0")
def _expand(x: Array, shape: tuple[int, ...]) -> Array:
    repeated = np.broadcast_to(x, shape)
    if type(repeated) is np.ndarray and x.flags.writeable:
        # Parts in which no element stands twice may be written; what writes looks for such elements itself.
        repeated.flags.writeable = True
    return repeated


@operation(function=False)
def expand(input: Tensor, *sizes: ShapeLike, implicit: bool = False) -> Tensor:
    """The tensor as if repeated along dimensions of size one; -1 keeps a size."""
    wanted, shape = ints(sizes), input._value.shape
    if len(wanted) < len(shape):
        raise RuntimeError(
            f"expand(torch.{input.type()[6:]}{{{list(shape)}}}, size={list(wanted)}): the number of sizes "
            f"provided ({len(wanted)}) must be greater or equal to the number of dimensions in the tensor "
            f"({len(shape)})"
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
                f"The expanded size of the tensor ({n}) must match the existing size ({old}) at "
                f"non-singleton dimension {k}.  Target sizes: {list(wanted)}.  Tensor sizes: {list(shape)}"
            )
        new.append(old if n == -1 else n)
    return viewed(_expand, input, (tuple(new),))


@method()
def expand_as(self: Tensor, other: Tensor) -> Operand:
    """The tensor expanded to another's shape."""
    return self.expand(other._value.shape)


@operation("broadcast_to")
def broadcast_to(input: Tensor, size: ShapeLike) -> Operand:
    """The tensor expanded to a shape."""
    return input.expand(size)


def broadcast_shape(*shapes: ShapeLike) -> tuple[int, ...]:
    """The common shape; RuntimeError, as PyTorch raises it, where there is none."""
    try:
        return tuple(np.broadcast_shapes(*[tuple(s) if not isinstance(s, int) else (s,) for s in shapes]))
    except ValueError:
        raise RuntimeError(_mismatch(shapes)) from None


def _mismatch(shapes: Sequence[ShapeLike]) -> str:
    """What PyTorch says of the first shape that does not fit those before it."""
    together: list[int] = []
    for number, given in enumerate(shapes):
        shape = (given,) if isinstance(given, int) else tuple(given)
        together = [1] * (len(shape) - len(together)) + together
        for k in range(1, len(shape) + 1):
            if shape[-k] == 1 or shape[-k] == together[-k]:
                continue
            if together[-k] != 1:
                return (
                    f"Attempting to broadcast a dimension of length {shape[-k]} at {-k}! Mismatching "
                    f"argument at index {number} had {shape}; but expected shape should be broadcastable to "
                    f"{together}"
                )
            together[-k] = shape[-k]
    return "Shape mismatch: objects cannot be broadcast to a single shape"


@operation(method=False)
def broadcast_tensors(*tensors: Operand) -> tuple[Any, ...]:
    """The tensors expanded to their common shape."""
    if len(tensors) == 1 and not isinstance(tensors[0], Tensor):
        tensors = tuple(tensors[0])
    for x in tensors[1:]:
        try:
            np.broadcast_shapes(tensors[0]._value.shape, x._value.shape)
        except ValueError as error:
            raise broadcast_error(tensors[0], x, error) from None
    shape = broadcast_shape(*[x._value.shape for x in tensors])
    return tuple([x.expand(shape) for x in tensors])


def _at_least(count: int) -> None:
    def raised(*tensors: Operand) -> Operands:
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


@published()
def broadcast_shapes(*shapes: ShapeLike) -> Size:
    """The common shape of shapes."""
    return Size(broadcast_shape(*shapes))


def _reversed(self: Tensor) -> Operand:
    return self.flip(0) if self._value.shape else self


setattr(Tensor, "__reversed__", _reversed)  # noqa: B010 - given like every operation
