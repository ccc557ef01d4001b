"""Reading and writing by index along a dimension, and by masks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import funcgrad as fg
from funcgrad.extend import Tracer
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import Op, op
from funcgrad.torch.core.dtypes import number_in
from funcgrad.torch.core.errors import broadcast_error, dim_of
from funcgrad.torch.core.layout import own_copy
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.operations.pointwise.arithmetic import number_as, result_dtype
from funcgrad.torch.operations.registry import FUNCTIONS, operation
from funcgrad.torch.operations.requiring import kind_of, long_word
from funcgrad.types import Array, DTypeLike, Index, Number, ShapeLike

# -- along a dimension ------------------------------------------------------------------------------------


def _require_index(name: str, index: Tensor, words: str = "int32/int64") -> None:
    if index._value.size and (index._value.dtype.kind not in "iu" or index._value.dtype.itemsize < 4):
        raise RuntimeError(f"{name}(): Expected dtype {words} for index")


def _along(x: Array, index: Index, axis: int) -> Array:
    """The part of `x` that `take_along_axis` may be asked for: other axes may be longer than the index."""
    if not x.ndim:
        return x
    cut = tuple([slice(None) if k == axis else slice(0, n) for k, n in enumerate(index.shape)])
    return x[cut]


@op("GatherBackward0", input_names=("self", "index"), visible=1)
def _gather(x: Array, index: Index, axis: int) -> Array:
    if not x.ndim:
        return np.reshape(x, (1,))[index]
    if not index.size:
        return np.reshape(x.reshape(-1)[:0], index.shape)
    if not index.ndim:
        index = index.reshape((1,))
        return np.take_along_axis(_along(x, index, axis), index, axis).reshape(())
    return np.take_along_axis(_along(x, index, axis), index, axis)


def _check_bounds(name: str, x: Array, index: Index, axis: int) -> None:
    size = x.shape[axis] if x.shape else 1
    if type(index) is Tracer or not index.size:
        return
    bad = index[(index < 0) | (index >= size)]
    if bad.size:
        raise RuntimeError(
            f"index {int(bad.reshape(-1)[0])} is out of bounds for dimension {axis} with size {size}"
        )


def _check_index(before: str, x: Array, index: Index, axis: int) -> None:
    size = x.shape[axis] if x.shape else 1
    if type(index) is Tracer or index.dtype.kind not in "iu":
        return
    bad = index[(index < -size) | (index >= size)]
    if bad.size:
        number = int(bad.reshape(-1)[0])
        raise IndexError(f"{before}index {number} is out of bounds for dimension {axis} with size {size}")


def _check_count(
    name: str, error: type[Exception], words: str, index: Tensor, source: Tensor, axis: int
) -> None:
    """Raise the error where a source has another number of parts than there are indices."""
    shape, count = source._value.shape, math.prod(index._value.shape)
    if axis < len(shape) and shape[axis] != count:
        raise error(f"{name}(): Number of indices ({count}) should be{words.format(shape[axis], axis)}")


@operation()
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Operand:
    """The elements at `index` along a dimension."""
    _require_index("gather", index)
    at = dim_of(dim, len(input._value.shape))
    if len(input._value.shape) != len(index._value.shape) and len(input._value.shape) and index._value.size:
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    for k, n in enumerate(index._value.shape):
        if index._value.size and k != at and input._value.shape and n > input._value.shape[k]:
            raise RuntimeError(
                f"Size does not match at dimension {k} expected index {list(index._value.shape)} to be no "
                f"larger than self {list(input._value.shape)} apart from dimension {at}"
            )
    _check_bounds("gather", input._value, index._value, at)
    return apply(_gather, (input, index), (at,))


@op("GatherBackward0", input_names=("self", "indices"), visible=1)
def _take_along(x: Array, index: Index, axis: int) -> Array:
    return np.take_along_axis(x, index, axis)


@operation("take_along_dim")
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Operand:
    """The elements at `indices` along a dimension, broadcasting the others."""
    if dim is None:
        return input.flatten().gather(0, indices.flatten())
    return apply(_take_along, (input, indices), (dim_of(dim, len(input._value.shape)),))


def where_indices(index: Index, axis: int) -> tuple[Any, ...]:
    """The full index of every element that a scatter writes."""
    grid = [
        np.arange(n).reshape([-1 if k == j else 1 for j in range(index.ndim)])
        for k, n in enumerate(index.shape)
    ]
    grid[axis] = index
    return tuple(grid)


def _scattered(x: Array, src: Array, index: Index, axis: int, how: str) -> Array:
    out = own_copy(x, src, index)
    if not index.shape or not x.ndim:
        out, index = np.reshape(out, (-1,)), np.reshape(index, (-1,))
        found = _scattered(out, np.reshape(src, (-1,)), index, 0, how)
        return np.reshape(found, x.shape)
    if src.ndim == index.ndim:
        src = src[tuple([slice(0, n) for n in index.shape])]
    where = where_indices(index, axis)
    if how == "add":
        return added_at(out, where, src)
    if how == "multiply":
        return _multiplied(out, where, src)
    out[where] = src
    return out


def added_at(out: Array, where: Index, src: Array) -> Array:
    """`out` (which may be written into) with `src` added at full indices, which may repeat."""
    if not any(isinstance(v, Tracer) for v in (out, src, *where)):
        np.add.at(out, where, src)
        return out
    # What was recorded adds a scattered tensor: indices may repeat.
    flat = np.ravel_multi_index(np.broadcast_arrays(*where), out.shape)
    total = np.reshape(np.zeros_like(out), (-1,))
    return out + np.reshape(_scatter_sum(total, flat.reshape(-1), src, flat.shape), out.shape)


def _scatter_sum(total: Array, flat: Array, src: Array, shape: ShapeLike) -> Array:
    values = np.reshape(np.broadcast_to(src, shape), (-1,))

    def read(x: Array) -> Array:
        return x[flat]

    (found,) = fg.linear_transpose(read, fg.ShapeDtypeStruct(total.shape, total.dtype))(values)
    return found


def _multiplied(out: Array, where: Array, src: Array) -> Array:
    if type(out) is np.ndarray:
        np.multiply.at(out, where, src)
        return out
    out[where] = out[where] * src
    return out


_SCATTER_VALUE = Op("ScatterBackward1", _scattered, input_names=("self", "src", "index"), visible=1)
_SCATTERS = {
    "": Op("ScatterBackward0", _scattered, input_names=("self", "src", "index"), visible=2),
    "add": Op("ScatterAddBackward0", _scattered, input_names=("self", "src", "index"), visible=2),
    "multiply": Op("ScatterBackward3", _scattered, input_names=("self", "src", "index"), visible=2),
}


def _require_ranks(input: Tensor, index: Tensor, src: Operand) -> None:
    """Raise RuntimeError for an index with another number of dimensions than what it is about."""
    if not index._value.size:
        return
    for name, t in (("self", input), ("src", src)):
        if isinstance(t, Tensor) and max(t._value.ndim, 1) != max(index._value.ndim, 1):
            raise RuntimeError(f"Index tensor must have the same number of dimensions as {name} tensor")


@operation(inplace=True)
def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Operand = None,
    *,
    value: Number = None,
    reduce: str | None = None,
) -> Operand:
    """The tensor with `src` written at `index` along a dimension."""
    _require_index("scatter", index)
    given = src if value is None else value
    at = dim_of(dim, len(input._value.shape))
    _require_ranks(input, index, given)
    _check_bounds("scatter", input._value, index._value, at)
    if not isinstance(given, Tensor):
        given = np.full(index._value.shape, number_in(given, input._value.dtype))
        if not reduce:
            return apply(_SCATTER_VALUE, (input, given, index), (at, ""))
    elif given._value.dtype != input._value.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    return apply(_SCATTERS[reduce or ""], (input, given, index), (at, reduce or ""))


@operation(inplace=True)
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Operand:
    """The tensor with `src` added at `index` along a dimension."""
    _require_index("scatter", index, "int64")
    if src._value.dtype != input._value.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    at = dim_of(dim, len(input._value.shape))
    _require_ranks(input, index, src)
    _check_bounds("scatter_add", input._value, index._value, at)
    return apply(_SCATTERS["add"], (input, src, index), (at, "add"))


@op("IndexSelectBackward0", input_names=("self", "index"), visible=1)
def _index_select(x: Array, index: Index, axis: int) -> Array:
    return np.take(x, index, axis=axis) if x.ndim else x


@operation()
def index_select(input: Tensor, dim: int, index: Tensor) -> Operand:
    """The parts at `index` along a dimension."""
    if index._value.dtype.kind not in "iu":
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if len(index._value.shape) > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    at = dim_of(dim, len(input._value.shape))
    size = input._value.shape[at] if input._value.shape else 1
    flat: Any = np.reshape(index._value, (-1,))
    if not isinstance(flat, Tracer) and flat.size and ((flat < 0) | (flat >= size)).any():
        raise IndexError("index out of range in self")
    if not index._value.shape:
        index = index.reshape(1)
    return apply(_index_select, (input, index), (at,))


def _index_written(x: Array, src: Array, index: Index, axis: int, how: str, alpha: Operand = 1) -> Array:
    lead = (slice(None),) * axis
    index = np.reshape(index, (-1,))
    if how == "add":
        grids = [np.arange(n) for n in x.shape]
        grids[axis] = index
        return added_at(own_copy(x, src, index), np.ix_(*grids), src * alpha if alpha != 1 else src)
    out = own_copy(x, src, index)
    out[(*lead, index)] = src
    return out


_INDEX_ADD = Op("IndexAddBackward0", _index_written, input_names=("self", "source", "index"), visible=2)
_INDEX_COPY = Op("IndexCopyBackward0", _index_written, input_names=("self", "source", "index"), visible=2)
_INDEX_FILL = Op("IndexFillBackward0", _index_written, input_names=("self", "value", "index"), visible=1)


@operation(inplace=True)
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Operand:
    """The tensor with `source` added to the parts at `index`."""
    at = dim_of(dim, len(input._value.shape))
    if input._value.dtype != source._value.dtype:
        raise RuntimeError(
            f"index_add_(): self ({kind_of(input)}) and source ({kind_of(source)}) must have the same "
            "scalar type"
        )
    _check_count(
        "index_add_", RuntimeError, " equal to source.size(dim): ({0}), for dim: {1}", index, source, at
    )
    _check_bounds("index_add", input._value, index._value, at)
    kept, given = list(input._value.shape), list(source._value.shape)
    if kept and (len(given) != len(kept) or given[:at] + given[at + 1 :] != kept[:at] + kept[at + 1 :]):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got "
            f"self.shape = {list(input._value.shape)} source.shape = {list(source._value.shape)}"
        )
    return apply(_INDEX_ADD, (input, source, index), (at, "add", alpha))


@operation(inplace=True)
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Operand:
    """The tensor with `source` in place of the parts at `index`."""
    at = dim_of(dim, len(input._value.shape))
    _check_count("index_copy_", IndexError, " equal to source.size(dim) ({0})", index, source, at)
    _check_index("index_copy_(): ", input._value, index._value, at)
    return apply(_INDEX_COPY, (input, source, index), (at, "copy"))


@operation(inplace=True)
def index_fill(input: Tensor, dim: int, index: Tensor, value: Number) -> Operand:
    """The tensor with one number in place of the parts at `index`."""
    given = value if isinstance(value, Tensor) else np.asarray(value, input._value.dtype)
    at = dim_of(dim, len(input._value.shape))
    _check_index("", input._value, index._value, at)
    return apply(_INDEX_FILL, (input, given, index), (at, "fill"))


@op("TakeBackward0", input_names=("self", "index"), visible=1)
def _take(x: Array, index: Index) -> Array:
    return np.reshape(x, (-1,))[index]


@operation()
def take(input: Tensor, index: Tensor) -> Operand:
    """The elements at `index` of the flattened tensor."""
    if index._value.dtype != np.int64:
        raise RuntimeError(
            "take(): Expected a long tensor for index, but got " + str(index.dtype)[6:].capitalize()
        )
    size = input._value.size
    flat = index._value
    if type(flat) is not Tracer and flat.size and ((flat < -size) | (flat >= size)).any():
        bad = int(flat[(flat < -size) | (flat >= size)].reshape(-1)[0])
        raise IndexError(f"out of range: tried to access index {bad} on a tensor of {size} elements.")
    return apply(_take, (input, index))


# -- masks ------------------------------------------------------------------------------------------------


@op("MaskedFillBackward0", input_names=("self", "value", "mask"), visible=1)
def _masked_fill(x: Array, value: Array, mask: Array) -> Array:
    return np.where(mask, value.astype(x.dtype), x)


_masked_fill_tensor = Op(
    "MaskedFillBackward1", _masked_fill.function, input_names=("self", "value", "mask"), visible=2
)


@operation(inplace=True)
def masked_fill(input: Tensor, mask: Tensor, value: Number) -> Operand:
    """The tensor with one number where `mask` holds."""
    if mask._value.dtype.kind != "b":
        raise RuntimeError(
            "masked_fill_ only supports boolean masks, but got mask with dtype " + long_word(mask)
        )
    require_broadcast(mask, input)
    if isinstance(value, Tensor):
        if value._value.shape:
            raise RuntimeError(
                "masked_fill only supports a 0-dimensional value tensor, but got tensor with "
                f"{len(value._value.shape)} dimension(s)."
            )
        if value._value.dtype.kind == "c" and input._value.dtype.kind != "c":
            raise _overflow(input)
        return apply(_masked_fill_tensor, (input, value, mask))
    given = number_in(value, input._value.dtype)
    return apply(_masked_fill, (input, given, mask))


def _overflow(t: Tensor) -> RuntimeError:
    names = {"int64": "int64_t", "int32": "int", "float32": "float", "float64": "double"}
    word = names.get(t._value.dtype.name, t._value.dtype.name)
    return RuntimeError(f"value cannot be converted to type {word} without overflow")


@op("MaskedSelectBackward0", input_names=("self", "mask"), visible=1)
def _masked_select(x: Array, where: Array, shape: tuple[int, ...]) -> Array:
    return np.reshape(np.broadcast_to(x, shape), (-1,))[where]


def require_broadcast(a: Tensor, b: Tensor) -> None:
    """Raise RuntimeError, as PyTorch does, where two shapes do not broadcast."""
    try:
        np.broadcast_shapes(a._value.shape, b._value.shape)
    except ValueError as error:
        raise broadcast_error(a, b, error) from None


@operation()
def masked_select(input: Tensor, mask: Tensor) -> Operand:
    """The elements where `mask` holds, in one dimension."""
    if mask._value.dtype.kind != "b":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    require_broadcast(mask, input)
    shape = np.broadcast_shapes(input._value.shape, mask._value.shape)
    where = np.flatnonzero(np.broadcast_to(np.asarray(mask._value), shape))
    return apply(_masked_select, (input, where), (tuple(shape),))


@op("MaskedScatterBackward0", input_names=("self", "source", "mask"), visible=2)
def _masked_scatter(x: Array, source: Array, where: Array) -> Array:
    out = own_copy(np.reshape(x, (-1,)), source)
    out[where] = np.reshape(source, (-1,))[: where.shape[0]]
    return np.reshape(out, x.shape)


@operation(inplace=True)
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Operand:
    """The tensor with elements of `source` in turn where `mask` holds."""
    if mask._value.dtype.kind != "b":
        raise RuntimeError(
            "masked_scatter_ only supports boolean masks, but got mask with dtype " + long_word(mask)
        )
    shape = np.broadcast_shapes(input._value.shape, mask._value.shape)
    input = input if shape == input._value.shape else input.expand(shape)
    where = np.flatnonzero(np.broadcast_to(np.asarray(mask._value), shape))
    if where.size > source._value.size:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    return apply(_masked_scatter, (input, source, where))


@op("WhereBackward0", input_names=("self", "other", "condition"), visible=2)
def _where(x: Array, y: Array, condition: Array, dtype: DTypeLike) -> Array:
    return np.where(condition, x.astype(dtype), y.astype(dtype))


@operation(method=False)
def where(condition: Tensor, input: Operand = None, other: Operand = None) -> Operands:
    """`input` where `condition` holds, elsewhere `other`; alone, the indices where it holds."""
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    if condition._value.dtype.kind != "b" and condition._value.dtype != np.uint8:
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            + str(condition.type()).removeprefix("torch.").removesuffix("Tensor")
        )
    dtype = result_dtype(input, other)
    x, y = [t if isinstance(t, Tensor) else number_as(t, dtype) for t in (input, other)]
    try:
        return apply(_where, (x, y, condition), (dtype,))
    except ValueError as error:
        raise broadcast_error(x, y, error) from None


def _where_method(self: Tensor, condition: Tensor, other: Operand) -> Operand:
    return where(condition, self, other)


setattr(Tensor, "where", _where_method)  # noqa: B010 - another order of arguments


@operation()
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Tensor | tuple[Any, ...]:
    """The indices of the elements that are not zero: a row each, or a tensor for each dimension."""
    value = np.asarray(input._value)
    if as_tuple:
        return tuple([wrap(x) for x in np.nonzero(np.atleast_1d(value))])
    found = np.argwhere(value) if value.ndim else np.zeros((int(bool(value)), 0), np.int64)
    return wrap(found.astype(np.int64))


@operation()
def argwhere(input: Tensor) -> Operand:
    """The indices of the elements that are not zero, a row each."""
    return nonzero(input)


FUNCTIONS.setdefault("where", where)
