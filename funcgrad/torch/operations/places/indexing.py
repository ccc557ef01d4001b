"""Indexing with brackets, and the functions that read or write by index.

An index of ints, slices, None and ... is a view; one with tensors or lists of ints or booleans is a copy.
"""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np

import funcgrad as fg
from funcgrad.extend import Tracer
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import Op, op
from funcgrad.torch.core.dtypes import number_in
from funcgrad.torch.core.inplace import assign, require_writeable
from funcgrad.torch.core.layout import own_copy
from funcgrad.torch.core.meta import is_meta, on_meta
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import MODES
from funcgrad.torch.core.tensor import Tensor, constant, own, wrap
from funcgrad.torch.core.views import viewed
from funcgrad.torch.operations.places.parts import ALIAS, SELECT, SLICE
from funcgrad.torch.operations.registry import FUNCTIONS, operation, published
from funcgrad.types import Anything, Array, Arrays, Index, ShapeLike

_UNSQUEEZED = Op("UnsqueezeBackward0", SLICE.function)


def _basic(i: Index) -> bool:
    return i is None or i is Ellipsis or type(i) is int or type(i) is slice or type(i) is np.int64


def _static(i: Index) -> Index:
    """An index as a hashable parameter: slices become tuples."""
    if type(i) is slice:
        if i.step is not None and int(i.step) == 0:
            raise ValueError("slice step cannot be zero")
        if i.step is not None and int(i.step) < 0:
            raise ValueError("step must be greater than zero")
        return tuple([None if n is None else int(n) for n in (i.start, i.stop, i.step)])
    return int(i) if type(i) is np.int64 else i


def getitem(self: Tensor, index: Index) -> Operand:
    """``self[index]``."""
    kind = type(index)
    if kind is list:
        index = several_of(index)
        kind = type(index)
    if kind is int:
        shape = self._value.shape
        if not shape:
            raise IndexError(_ZERO_DIM)
        if not -shape[0] <= index < shape[0]:
            raise IndexError(f"index {index} is out of bounds for dimension 0 with size {shape[0]}")
        # The Ellipsis keeps a single element a view.
        return viewed(SELECT, self, ((index, ...),), own(self)[index, ...])
    if kind is slice and self._value.shape and index.step is None:
        start, stop = index.start, index.stop
        if (start is None or type(start) is int) and (stop is None or type(stop) is int):
            named = SLICE if start is not None or stop is not None else ALIAS
            return viewed(named, self, (((start, stop, None), ...),), own(self)[index])
    items = index if kind is tuple else (index,)
    items = tuple([_plain(i) for i in items])
    if sum(i is Ellipsis for i in items) > 1:
        first = next(k for k, i in enumerate(items) if i is Ellipsis)
        items = tuple([i for k, i in enumerate(items) if k <= first or i is not Ellipsis])
    if all(_basic(i) for i in items):
        return _basic_view(self, items)
    _too_many(self, items)
    return _gathered(self, items)


_ZERO_DIM = (
    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert "
    "a 0-dim tensor to a number"
)


def _plain(i: Index) -> Index:
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


def _consumed(i: Index) -> int:
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


def _basic_view(self: Tensor, items: tuple[Any, ...]) -> Operand:
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


def as_index(i: object) -> Index:
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
    if isinstance(i, str):
        raise TypeError("new(): invalid data type 'str'")
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
        f"(got {type(i).__name__})"
    )


def several_of(index: list[Any]) -> list[Any] | tuple[Any, ...]:
    """A list that holds sequences, slices, None or an ellipsis stands for several indices, as tuples do."""
    if len(index) >= _MANY or not any(x is None or x is Ellipsis or isinstance(x, _SEVERAL) for x in index):
        return index
    warnings.warn(
        "a list of several indices is read as a tuple, which PyTorch deprecates: write x[tuple(list)]",
        UserWarning,
        stacklevel=3,
    )
    return tuple(index)


_MANY = 32
_SEVERAL = (slice, Tensor, list, tuple, np.ndarray)


def _listed(i: Index) -> Index:
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
            if not isinstance(value, Tracer) and value.dtype.kind == "b" and not value.ndim:
                static.append(bool(value))
                continue
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


def _filled(static: tuple[Any, ...], arrays: Arrays) -> tuple[Any, ...]:
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
        value: Any = constant(i)
        if isinstance(value, list):
            value = np.asarray(_listed(value))
        if not isinstance(value, Tracer) and hasattr(value, "dtype"):
            if value.dtype.kind == "b":
                for k, n in enumerate(value.shape):
                    if shape[at + k] != n:
                        raise IndexError(
                            f"The shape of the mask {list(value.shape)} at index {k} does not match the "
                            f"shape of the indexed tensor {list(shape)} at index {at + k}"
                        )
                at += len(value.shape)
                continue
            if value.size and value.dtype.kind in "iu":
                bad = value[(value < -shape[at]) | (value >= shape[at])]
                if bad.size:
                    raise IndexError(
                        f"index {int(bad.reshape(-1)[0])} is out of bounds for dimension {at} with size "
                        f"{shape[at]}"
                    )
        at += 1


def _index(x: Array, *rest: Array) -> Array:
    *arrays, static = rest
    return x[_filled(static, arrays)]


_INDEX = Op("IndexBackward0", _index, input_names=("self",), visible=1)


def _gathered(self: Tensor, items: tuple[Any, ...]) -> Operand:
    static, arrays = _dealt(items)
    _check_arrays(self._value.shape, items)
    if is_meta(self):
        arrays = [on_meta(constant(a)) for a in arrays]
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


def _put(x: Array, value: Array, *rest: Array) -> Array:
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


def _added_at(x: Array, index: Index, value: Array) -> Array:
    """`x` with values added where an index, which may name an element twice, points."""

    def read(t: Array) -> Array:
        return t[index]

    shape = read(x).shape
    (found,) = fg.linear_transpose(read, fg.ShapeDtypeStruct(x.shape, x.dtype))(
        np.broadcast_to(value, shape) + 0 * x[index]
    )
    return x + found


_PUT = Op("IndexPutBackward0", _put, input_names=("self", "values"), visible=2)


@op("CopySlices")
def _copy_into(x: Array, value: Array) -> Array:
    return np.broadcast_to(value.astype(x.dtype), x.shape) * np.ones((), x.dtype)


def setitem(self: Tensor, index: Index, value: Operand) -> None:
    """``self[index] = value``."""
    if type(index) is list:
        index = several_of(index)
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


def _require_value(self: Tensor, value: object) -> None:
    """Raise TypeError for what may not be assigned: lists, texts, None. Arrays of NumPy's may."""
    if value is None or isinstance(value, list | tuple | str | bytes | dict | set):
        raise TypeError(f"can't assign a {type(value).__name__} to a {self.type()}")


def _value_for(self: Tensor, value: Operand) -> Operand:
    if isinstance(value, Tensor):
        return value if value._value.dtype == self._value.dtype else value.to(self.dtype)
    _require_value(self, value)
    return number_in(constant(value), self._value.dtype)


def _check_put_shape(self: Tensor, static: Anything, arrays: Arrays, value: Array) -> None:
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
            f"shape mismatch: value tensor of shape {list(given)} cannot be broadcast to indexing result of "
            f"shape {list(shape)}"
        )


def _fitting(value: Array, part: Tensor) -> Array:
    """The value of an assignment to a view, which may lose leading dimensions of size one."""
    if not isinstance(value, Tensor):
        _require_value(part, value)
        return number_in(value, part._value.dtype)
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
                f"non-singleton dimension {len(into) - k}.  Target sizes: {list(into)}.  Tensor sizes: "
                f"{list(shape)}"
            )
    raise RuntimeError(
        f"shape mismatch: value tensor of shape {list(shape)} cannot be broadcast to indexing result of "
        f"shape {list(into)}"
    )


setattr(Tensor, "__getitem__", getitem)  # noqa: B010 - given like every operation
setattr(Tensor, "__setitem__", setitem)  # noqa: B010


@operation(function=True, inplace=True)
def index_put(input: Tensor, indices: Operand, values: Operand, accumulate: bool = False) -> Operand:
    """The tensor with the elements at `indices` replaced by (or increased by) `values`."""
    static, arrays = _dealt(tuple(indices))
    _check_arrays(input._value.shape, tuple(indices))
    return apply(_PUT, (input, _value_for(input, values), *arrays), (static, accumulate))


@published()
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Operand:
    """All choices of `r` elements, a row each."""
    if len(input._value.shape) != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input._value.shape)}")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    index = np.array(list(choose(range(input._value.size), r)), np.int64).reshape(-1, r)
    return input[FUNCTIONS["as_tensor"](index)]


@published()
def unravel_index(indices: Tensor, shape: ShapeLike) -> tuple[Any, ...]:
    """Indices of a flattened tensor as indices of its dimensions."""
    found = np.unravel_index(indices._value, (shape,) if isinstance(shape, int) else tuple(shape))
    return tuple([wrap(np.asarray(x)) for x in found])
