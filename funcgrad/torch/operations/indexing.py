"""Indexing with brackets, and the functions that read or write by index.

An index of ints, slices, None and ... is a view; one with tensors or lists of ints or booleans is a copy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.extend import Tracer
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.errors import dim_of
from funcgrad.torch.core.history import Op, op
from funcgrad.torch.core.inplace import assign, require_writeable
from funcgrad.torch.core.state import MODES
from funcgrad.torch.core.tensor import Tensor, constant, own
from funcgrad.torch.core.traced import own_copy
from funcgrad.torch.core.views import viewed
from funcgrad.torch.operations.movement import ALIAS, SELECT, SLICE
from funcgrad.torch.operations.registry import FUNCTIONS, operation, tensor_of

__all__ = ["as_index", "getitem", "setitem"]

_VIEW = Op("AliasBackward0", SLICE.function)
_UNSQUEEZED = Op("UnsqueezeBackward0", SLICE.function)


def _basic(i: Any) -> bool:
    return i is None or i is Ellipsis or type(i) is int or type(i) is slice or type(i) is np.int64


def _static(i: Any) -> Any:
    """An index as a hashable parameter: slices become tuples."""
    if type(i) is slice:
        if i.step is not None and int(i.step) <= 0:
            raise ValueError("step must be greater than zero")
        return tuple([None if n is None else int(n) for n in (i.start, i.stop, i.step)])
    return int(i) if type(i) is np.int64 else i


def getitem(self: Tensor, index: Any) -> Any:
    """``self[index]``."""
    kind = type(index)
    if kind is int:
        shape = self._value.shape
        if not shape:
            raise IndexError(_ZERO_DIM)
        if not -shape[0] <= index < shape[0]:
            raise IndexError(f"index {index} is out of bounds for dimension 0 with size {shape[0]}")
        # The Ellipsis keeps a single element a view.
        return viewed(SELECT, self, ((index, ...),))
    items = index if kind is tuple else (index,)
    items = tuple([_plain(i) for i in items])
    if all(_basic(i) for i in items):
        return _basic_view(self, items)
    _too_many(self, items)
    return _gathered(self, items)


_ZERO_DIM = (
    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim "
    "tensor to a number"
)


def _plain(i: Any) -> Any:
    """An index without tensors of rank 0 that are plain ints."""
    if isinstance(i, Tensor):
        value = i._value
        if not value.shape and value.dtype.kind in "iu" and type(value) is not Tracer:
            return int(value)
        return i
    if isinstance(i, np.generic) and i.dtype.kind in "iu":
        return int(i)
    if isinstance(i, range):
        return list(i)
    return i


def _consumed(i: Any) -> int:
    if i is None or i is Ellipsis or isinstance(i, bool):
        return 0
    value = constant(i)
    if hasattr(value, "dtype") and value.dtype.kind == "b":
        return len(value.shape)
    return 1


def _too_many(self: Tensor, items: tuple[Any, ...]) -> None:
    ndim = len(self._value.shape)
    if sum(_consumed(i) for i in items) > ndim:
        raise IndexError(f"too many indices for tensor of dimension {ndim}")


def _check_ints(shape: tuple[int, ...], items: tuple[Any, ...]) -> None:
    """Raise IndexError for an int beyond its dimension."""
    at = 0
    left = len(shape) - sum(_consumed(i) for i in items)
    for i in items:
        if i is Ellipsis:
            at += left
        elif i is not None:
            if type(i) is int and not -shape[at] <= i < shape[at]:
                raise IndexError(f"index {i} is out of bounds for dimension {at} with size {shape[at]}")
            at += 1


def _basic_view(self: Tensor, items: tuple[Any, ...]) -> Any:
    shape = self._value.shape
    used = sum(i is not None and i is not Ellipsis for i in items)
    if used > len(shape):
        if not shape:
            raise IndexError(_ZERO_DIM)
        raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
    _check_ints(shape, items)
    index = tuple([_static(i) for i in items])
    if Ellipsis not in index:
        index = (*index, ...)
    return viewed(_named(items), self, (index,))


def _named(items: tuple[Any, ...]) -> Op:
    """The operation PyTorch would have come to last."""
    for i in reversed(items):
        if type(i) is slice and (i.start, i.stop, i.step) != (None, None, None):
            return SLICE
        if type(i) is int:
            return SELECT
        if i is None:
            return _UNSQUEEZED
    return ALIAS if any(i is Ellipsis for i in items) or not items else SLICE


def as_index(i: Any) -> Any:
    """What stands between brackets as an array, tensor or basic index."""
    if isinstance(i, Tensor):
        value = i._value
        if value.dtype.kind not in "iub":
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        return i if value.dtype != np.uint8 else i.to(bool)
    if isinstance(i, list | np.ndarray):
        array = np.asarray(_listed(i))
        if not array.size and array.dtype.kind == "f":
            array = array.astype(np.int64)
        if array.dtype.kind not in "iub":
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        return array
    if _basic(i) or isinstance(i, bool):
        return i
    raise TypeError(
        f"only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
        f"{type(i).__name__})"
    )


def _listed(i: Any) -> Any:
    if isinstance(i, list):
        return [_listed(x) for x in i]
    return i._value if isinstance(i, Tensor) else i


class _Slot:
    """Stands in a static index for an array that is an input of the operation."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


_SLOTS = tuple([_Slot(k) for k in range(64)])


def _dealt(items: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[Any]]:
    """A hashable index, and the arrays that belong in its slots."""
    static: list[Any] = []
    arrays: list[Any] = []
    for i in items:
        found = as_index(i)
        if isinstance(found, Tensor | np.ndarray):
            value = constant(found)
            if isinstance(value, np.ndarray) and value.dtype.kind == "b" and value.ndim:
                # Where a mask holds is known now; the pullback then has shapes that do not depend on values.
                for where in np.nonzero(value):
                    static.append(_SLOTS[len(arrays)])
                    arrays.append(where)
                continue
            static.append(_SLOTS[len(arrays)])
            arrays.append(found)
        else:
            static.append(_static(found))
    return tuple(static), arrays


def _filled(static: tuple[Any, ...], arrays: Any) -> tuple[Any, ...]:
    return tuple(
        [arrays[i.number] if type(i) is _Slot else slice(*i) if type(i) is tuple else i for i in static]
    )


def _check_arrays(shape: tuple[int, ...], items: tuple[Any, ...]) -> None:
    """Raise IndexError, as PyTorch does, for entries beyond a dimension and masks of another shape."""
    at = 0
    left = len(shape) - sum(_consumed(i) for i in items)
    for i in items:
        if i is None or isinstance(i, bool):
            continue
        if i is Ellipsis:
            at += left
            continue
        value = constant(i)
        if isinstance(value, list):
            value = np.asarray(_listed(value))
        if isinstance(value, np.ndarray | np.generic):
            if value.dtype.kind == "b":
                for k, n in enumerate(value.shape):
                    if shape[at + k] != n:
                        raise IndexError(
                            f"The shape of the mask {list(value.shape)} at index {k} does not match the shape of the "
                            f"indexed tensor {list(shape)} at index {at + k}"
                        )
                at += len(value.shape)
                continue
            if value.size and value.dtype.kind in "iu":
                bad = value[(value < -shape[at]) | (value >= shape[at])]
                if bad.size:
                    raise IndexError(
                        f"index {int(bad.reshape(-1)[0])} is out of bounds for dimension {at} with size {shape[at]}"
                    )
        at += 1


def _index(x: Any, *rest: Any) -> Any:
    *arrays, static = rest
    return x[_filled(static, arrays)]


_INDEX = Op("IndexBackward0", _index, input_names=("self",), visible=1)


def _gathered(self: Tensor, items: tuple[Any, ...]) -> Any:
    static, arrays = _dealt(items)
    _check_arrays(self._value.shape, items)
    try:
        return apply(_INDEX, (self, *arrays), (static,))
    except IndexError as error:
        if "broadcast" in str(error):
            shapes = ", ".join([str(list(constant(a).shape)) for a in arrays])
            raise IndexError(
                f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
            ) from None
        raise


# -- writing ----------------------------------------------------------------------------------------------


def _put(x: Any, value: Any, *rest: Any) -> Any:
    *arrays, static, add = rest
    out = own_copy(x, value, *arrays)
    index = _filled(static, arrays)
    if add and type(out) is np.ndarray and type(value) is not Tracer:
        np.add.at(out, index, value)
    elif add:
        return _added_at(out, index, value)
    else:
        out[index] = value
    return out


def _added_at(x: Any, index: Any, value: Any) -> Any:
    """`x` with values added where an index, which may name an element twice, points."""
    import funcgrad as fg  # noqa: PLC0415 - the public door

    def read(t: Any) -> Any:
        return t[index]

    shape = read(x).shape
    (found,) = fg.linear_transpose(read, fg.ShapeDtypeStruct(x.shape, x.dtype))(np.broadcast_to(value, shape) + 0 * x[index])
    return x + found


_PUT = Op("IndexPutBackward0", _put, input_names=("self", "values"), visible=2)


@op("CopySlices")
def _copy_into(x: Any, value: Any) -> Any:
    return np.broadcast_to(value.astype(x.dtype), x.shape) * np.ones((), x.dtype)


def setitem(self: Tensor, index: Any, value: Any) -> None:
    """``self[index] = value``."""
    items = index if type(index) is tuple else (index,)
    items = tuple([_plain(i) for i in items])
    if all(_basic(i) for i in items):
        part = _basic_view(self, items)
        part.copy_(_fitting(value, part))
        return
    require_writeable(self, MODES.grad and isinstance(value, Tensor) and value._rg)
    _too_many(self, items)
    static, arrays = _dealt(items)
    _check_arrays(self._value.shape, items)
    given = _value_for(self, value)
    _check_put_shape(self, static, arrays, given)
    assign(self, apply(_PUT, (self, given, *arrays), (static, False)))


def _value_for(self: Tensor, value: Any) -> Any:
    if isinstance(value, Tensor):
        return value if value._value.dtype == self._value.dtype else value.to(self.dtype)
    return np.asarray(constant(value)).astype(self._value.dtype)


def _check_put_shape(self: Tensor, static: Any, arrays: Any, value: Any) -> None:
    memory = own(self)
    values = [constant(a) for a in arrays]
    if type(memory) is Tracer or any(type(v) is Tracer for v in values):
        return
    shape = np.broadcast_to(np.False_, memory.shape)[_filled(static, values)].shape
    given = constant(value).shape
    try:
        fits = np.broadcast_shapes(shape, given) == shape
    except ValueError:
        fits = False
    if not fits:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(given)} cannot be broadcast to indexing result of shape "
            f"{list(shape)}"
        )


def _fitting(value: Any, part: Tensor) -> Any:
    """The value of an assignment to a view, which may lose leading dimensions of size one."""
    if not isinstance(value, Tensor):
        array = np.asarray(value)
        return array.astype(part._value.dtype)
    shape, into = value._value.shape, part._value.shape
    while len(shape) > len(into) and shape and shape[0] == 1:
        value = value.squeeze(0)
        shape = shape[1:]
    try:
        fits = len(shape) <= len(into) and np.broadcast_shapes(shape, into) == into
    except ValueError:
        fits = False
    if not fits:
        _refuse_expansion(shape, into)
    return value


def _refuse_expansion(shape: tuple[int, ...], into: tuple[int, ...]) -> None:
    for k in range(1, min(len(shape), len(into)) + 1):
        if shape[-k] not in (1, into[-k]):
            raise RuntimeError(
                f"The expanded size of the tensor ({into[-k]}) must match the existing size ({shape[-k]}) at "
                f"non-singleton dimension {len(into) - k}.  Target sizes: {list(into)}.  Tensor sizes: {list(shape)}"
            )
    raise RuntimeError(
        f"shape mismatch: value tensor of shape {list(shape)} cannot be broadcast to indexing result of shape "
        f"{list(into)}"
    )


setattr(Tensor, "__getitem__", getitem)  # noqa: B010 - given like every operation
setattr(Tensor, "__setitem__", setitem)  # noqa: B010


@operation(function=True, inplace=True)
def index_put(input: Tensor, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """The tensor with the elements at `indices` replaced by (or increased by) `values`."""
    static, arrays = _dealt(tuple(indices))
    _check_arrays(input._value.shape, tuple(indices))
    return apply(_PUT, (input, _value_for(input, values), *arrays), (static, accumulate))


# -- along a dimension ------------------------------------------------------------------------------------


def _require_index(name: str, index: Tensor, words: str = "int32/int64") -> None:
    if index._value.dtype.kind not in "iu" or index._value.dtype.itemsize < 4:
        raise RuntimeError(f"{name}(): Expected dtype {words} for index")


def _along(x: Any, index: Any, axis: int) -> Any:
    """The part of `x` that `take_along_axis` may be asked for: other axes may be longer than the index."""
    if not x.ndim:
        return x
    cut = tuple([slice(None) if k == axis else slice(0, n) for k, n in enumerate(index.shape)])
    return x[cut]


@op("GatherBackward0", input_names=("self", "index"), visible=1)
def _gather(x: Any, index: Any, axis: int) -> Any:
    if not x.ndim:
        return np.reshape(x, (1,))[index]
    if not index.ndim:
        index = index.reshape((1,))
        return np.take_along_axis(_along(x, index, axis), index, axis).reshape(())
    return np.take_along_axis(_along(x, index, axis), index, axis)


def _check_bounds(name: str, x: Any, index: Any, axis: int) -> None:
    size = x.shape[axis] if x.shape else 1
    if type(index) is Tracer or not index.size:
        return
    bad = index[(index < 0) | (index >= size)]
    if bad.size:
        raise RuntimeError(
            f"index {int(bad.reshape(-1)[0])} is out of bounds for dimension {axis} with size {size}"
        )


@operation()
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Any:
    """The elements at `index` along a dimension."""
    _require_index("gather", index)
    at = dim_of(dim, len(input._value.shape))
    if (
        len(input._value.shape) != len(index._value.shape)
        and len(input._value.shape)
        and len(index._value.shape)
    ):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    for k, n in enumerate(index._value.shape):
        if k != at and input._value.shape and n > input._value.shape[k]:
            raise RuntimeError(
                f"Size does not match at dimension {k} expected index {list(index._value.shape)} to be no larger than "
                f"self {list(input._value.shape)} apart from dimension {at}"
            )
    _check_bounds("gather", input._value, index._value, at)
    return apply(_gather, (input, index), (at,))


@op("GatherBackward0", input_names=("self", "indices"), visible=1)
def _take_along(x: Any, index: Any, axis: int) -> Any:
    return np.take_along_axis(x, index, axis)


@operation("take_along_dim")
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Any:
    """The elements at `indices` along a dimension, broadcasting the others."""
    if dim is None:
        return input.flatten().gather(0, indices.flatten())
    return apply(_take_along, (input, indices), (dim_of(dim, len(input._value.shape)),))


def _where_indices(index: Any, axis: int) -> tuple[Any, ...]:
    """The full index of every element that a scatter writes."""
    grid = [
        np.arange(n).reshape([-1 if k == j else 1 for j in range(index.ndim)])
        for k, n in enumerate(index.shape)
    ]
    grid[axis] = index
    return tuple(grid)


def _scattered(x: Any, src: Any, index: Any, axis: int, how: str) -> Any:
    out = own_copy(x, src, index)
    if not index.shape or not x.ndim:
        out, index = np.reshape(out, (-1,)), np.reshape(index, (-1,))
        found = _scattered(out, np.reshape(src, (-1,)), index, 0, how)
        return np.reshape(found, x.shape)
    if src.ndim == index.ndim:
        src = src[tuple([slice(0, n) for n in index.shape])]
    where = _where_indices(index, axis)
    if how == "add":
        return _added(out, where, src)
    if how == "multiply":
        return _multiplied(out, where, src)
    out[where] = src
    return out


def _added(out: Any, where: Any, src: Any) -> Any:
    if type(out) is np.ndarray and type(src) is not Tracer and type(where[0]) is not Tracer:
        np.add.at(out, where, src)
        return out
    # What was recorded adds a scattered tensor: indices may repeat.
    flat = np.ravel_multi_index(np.broadcast_arrays(*where), out.shape)
    total = np.reshape(np.zeros_like(out), (-1,))
    return out + np.reshape(_scatter_sum(total, flat.reshape(-1), src, flat.shape), out.shape)


def _scatter_sum(total: Any, flat: Any, src: Any, shape: Any) -> Any:
    import funcgrad as fg  # noqa: PLC0415 - the public door

    values = np.reshape(np.broadcast_to(src, shape), (-1,))

    def read(x: Any) -> Any:
        return x[flat]

    (found,) = fg.linear_transpose(read, fg.ShapeDtypeStruct(total.shape, total.dtype))(values)
    return found


def _multiplied(out: Any, where: Any, src: Any) -> Any:
    if type(out) is np.ndarray:
        np.multiply.at(out, where, src)
        return out
    out[where] = out[where] * src
    return out


_SCATTER_VALUE = Op("ScatterBackward1", _scattered, input_names=("self", "src", "index"), visible=2)
_SCATTERS = {
    "": Op("ScatterBackward0", _scattered, input_names=("self", "src", "index"), visible=2),
    "add": Op("ScatterAddBackward0", _scattered, input_names=("self", "src", "index"), visible=2),
    "multiply": Op("ScatterBackward3", _scattered, input_names=("self", "src", "index"), visible=2),
}


@operation(inplace=True)
def scatter(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: Any = None
) -> Any:
    """The tensor with `src` written at `index` along a dimension."""
    _require_index("scatter", index)
    given = src if value is None else value
    at = dim_of(dim, len(input._value.shape))
    _check_bounds("scatter", input._value, index._value, at)
    if not isinstance(given, Tensor):
        given = np.full(index._value.shape, given, input._value.dtype)
        if not reduce:
            return apply(_SCATTER_VALUE, (input, given, index), (at, ""))
    elif given._value.dtype != input._value.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    return apply(_SCATTERS[reduce or ""], (input, given, index), (at, reduce or ""))


@operation(inplace=True)
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Any:
    """The tensor with `src` added at `index` along a dimension."""
    _require_index("scatter", index, "int64")
    if src._value.dtype != input._value.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    at = dim_of(dim, len(input._value.shape))
    _check_bounds("scatter_add", input._value, index._value, at)
    return apply(_SCATTERS["add"], (input, src, index), (at, "add"))


@op("ScatterReduceBackward0", input_names=("self", "src", "index"), visible=2)
def _scatter_reduced(x: Any, src: Any, index: Any, axis: int, how: str, include: bool) -> Any:
    where = np.broadcast_arrays(*_where_indices(index, axis))
    src = src[tuple([slice(0, n) for n in index.shape])]
    begin = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": -np.inf, "amin": np.inf}[how]
    touched = np.zeros(x.shape, np.int64)
    np.add.at(touched, where, 1)
    start = x if include else np.where(touched > 0, np.asarray(begin).astype(x.dtype), x)
    if how in ("sum", "mean"):
        out = _added(start.copy(), where, src)
        count = np.maximum(touched + (1 if include else 0), 1)
        return out / count.astype(x.dtype) if how == "mean" else out
    out = np.array(start)
    {"prod": np.multiply, "amax": np.maximum, "amin": np.minimum}[how].at(out, where, src)
    return out


@operation("scatter_reduce", inplace=True)
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Any:
    """The tensor with `src` combined into it at `index` along a dimension."""
    at = dim_of(dim, len(input._value.shape))
    return apply(_scatter_reduced, (input, src, index), (at, reduce, include_self))


@op("IndexSelectBackward0", input_names=("self", "index"), visible=1)
def _index_select(x: Any, index: Any, axis: int) -> Any:
    return np.take(x, index, axis=axis) if x.ndim else x


@operation()
def index_select(input: Tensor, dim: int, index: Tensor) -> Any:
    """The parts at `index` along a dimension."""
    if index._value.dtype.kind not in "iu":
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if len(index._value.shape) > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    at = dim_of(dim, len(input._value.shape))
    size = input._value.shape[at] if input._value.shape else 1
    flat = np.reshape(index._value, (-1,))
    if type(flat) is not Tracer and flat.size and ((flat < 0) | (flat >= size)).any():
        raise IndexError("index out of range in self")
    if not index._value.shape:
        index = index.reshape(1)
    return apply(_index_select, (input, index), (at,))


def _index_written(x: Any, src: Any, index: Any, axis: int, how: str, alpha: Any = 1) -> Any:
    lead = (slice(None),) * axis
    index = np.reshape(index, (-1,))
    if how == "add":
        grids = [np.arange(n) for n in x.shape]
        grids[axis] = index
        return _added(own_copy(x, src, index), np.ix_(*grids), src * alpha if alpha != 1 else src)
    out = own_copy(x, src, index)
    out[(*lead, index)] = src
    return out


_INDEX_ADD = Op("IndexAddBackward0", _index_written, input_names=("self", "source", "index"), visible=2)
_INDEX_COPY = Op("IndexCopyBackward0", _index_written, input_names=("self", "source", "index"), visible=2)
_INDEX_FILL = Op("IndexFillBackward0", _index_written, input_names=("self", "value", "index"), visible=1)


@operation(inplace=True)
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Any:
    """The tensor with `source` added to the parts at `index`."""
    at = dim_of(dim, len(input._value.shape))
    return apply(_INDEX_ADD, (input, source, index), (at, "add", alpha))


@operation(inplace=True)
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Any:
    """The tensor with `source` in place of the parts at `index`."""
    return apply(_INDEX_COPY, (input, source, index), (dim_of(dim, len(input._value.shape)), "copy"))


@operation(inplace=True)
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Any:
    """The tensor with one number in place of the parts at `index`."""
    given = value if isinstance(value, Tensor) else np.asarray(value, input._value.dtype)
    return apply(_INDEX_FILL, (input, given, index), (dim_of(dim, len(input._value.shape)), "fill"))


@op("TakeBackward0", input_names=("self", "index"), visible=1)
def _take(x: Any, index: Any) -> Any:
    return np.reshape(x, (-1,))[index]


@operation()
def take(input: Tensor, index: Tensor) -> Any:
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
def _masked_fill(x: Any, value: Any, mask: Any) -> Any:
    return np.where(mask, value.astype(x.dtype), x)


_masked_fill_tensor = Op(
    "MaskedFillBackward1", _masked_fill.function, input_names=("self", "value", "mask"), visible=2
)


@operation(inplace=True)
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Any:
    """The tensor with one number where `mask` holds."""
    if mask._value.dtype.kind != "b":
        raise RuntimeError(
            "masked_fill_ only supports boolean masks, but got mask with dtype " + _c_name(mask)
        )
    if isinstance(value, Tensor):
        if value._value.shape:
            raise RuntimeError(
                "masked_fill only supports a 0-dimensional value tensor, but got tensor with "
                f"{len(value._value.shape)} dimension(s)."
            )
        return apply(_masked_fill_tensor, (input, value, mask))
    else:
        _require_representable(value, input)
        given = np.asarray(value).astype(input._value.dtype)
    return apply(_masked_fill, (input, given, mask))


def _c_name(t: Tensor) -> str:
    names = {"int64": "long int", "float32": "float", "float64": "double", "uint8": "unsigned char", "int16": "short int"}
    name = str(t.dtype)[6:]
    return {"int32": "int", "int8": "signed char", "float16": "c10::Half"}.get(name) or names.get(name, name)


def _require_representable(value: Any, t: Tensor) -> None:
    kind = t._value.dtype.kind
    if kind in "iub" and isinstance(value, float) and not float(value).is_integer() and kind != "b":
        word = {"int64": "int64_t", "int32": "int"}.get(t._value.dtype.name, t._value.dtype.name)
        raise RuntimeError(f"value cannot be converted to type {word} without overflow")


@op("MaskedSelectBackward0", input_names=("self", "mask"), visible=1)
def _masked_select(x: Any, where: Any, shape: tuple[int, ...]) -> Any:
    return np.reshape(np.broadcast_to(x, shape), (-1,))[where]


@operation()
def masked_select(input: Tensor, mask: Tensor) -> Any:
    """The elements where `mask` holds, in one dimension."""
    if mask._value.dtype.kind != "b":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = np.broadcast_shapes(input._value.shape, mask._value.shape)
    where = np.flatnonzero(np.broadcast_to(np.asarray(mask._value), shape))
    return apply(_masked_select, (input, where), (tuple(shape),))


@op("MaskedScatterBackward0", input_names=("self", "source", "mask"), visible=2)
def _masked_scatter(x: Any, source: Any, where: Any) -> Any:
    out = own_copy(np.reshape(x, (-1,)), source)
    out[where] = np.reshape(source, (-1,))[: where.shape[0]]
    return np.reshape(out, x.shape)


@operation(inplace=True)
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Any:
    """The tensor with elements of `source` in turn where `mask` holds."""
    where = np.flatnonzero(np.broadcast_to(np.asarray(mask._value), input._value.shape))
    if where.size > source._value.size:
        raise RuntimeError("masked_scatter: expected self and source to have same dtypes but got fewer elements in source")
    return apply(_masked_scatter, (input, source, where))


@op("WhereBackward0", input_names=("self", "other", "condition"), visible=2)
def _where(x: Any, y: Any, condition: Any, dtype: Any) -> Any:
    return np.where(condition, x.astype(dtype), y.astype(dtype))


@operation(method=False)
def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """`input` where `condition` holds, elsewhere `other`; alone, the indices where it holds."""
    from funcgrad.torch.core.errors import broadcast_error  # noqa: PLC0415 - beside this module
    from funcgrad.torch.operations.arithmetic import number_as, result_dtype  # noqa: PLC0415 - likewise

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


def _where_method(self: Tensor, condition: Tensor, other: Any) -> Any:
    return where(condition, self, other)


setattr(Tensor, "where", _where_method)  # noqa: B010 - another order of arguments


@operation()
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """The indices of the elements that are not zero: a row each, or a tensor for each dimension."""
    from funcgrad.torch.core.tensor import wrap  # noqa: PLC0415 - beside this module

    value = np.asarray(input._value)
    if as_tuple:
        return tuple([wrap(x) for x in np.nonzero(np.atleast_1d(value))])
    found = np.argwhere(value) if value.ndim else np.zeros((int(bool(value)), 0), np.int64)
    return wrap(found.astype(np.int64))


@operation()
def argwhere(input: Tensor) -> Any:
    """The indices of the elements that are not zero, a row each."""
    return nonzero(input)


FUNCTIONS.setdefault("where", where)


def as_tensor_index(x: Any) -> Tensor:
    """An index as a tensor."""
    return tensor_of(x)
