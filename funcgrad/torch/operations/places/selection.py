"""Choosing among elements: bounds, order, and running sums; softmax and norms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import Op, op
from funcgrad.torch.core.backward.underived import underived
from funcgrad.torch.core.dtypes import TYPE_NAMES, numpy_dtype
from funcgrad.torch.core.errors import broadcast_error, dim_of
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.state import SETTINGS
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.operations.pointwise.arithmetic import of_one_dtype, result_dtype, tensor_beside
from funcgrad.torch.operations.pointwise.pairs import logaddexp_of, logaddexp_of_reals
from funcgrad.torch.operations.registry import operation, tensor_of
from funcgrad.torch.operations.results import named
from funcgrad.types import Anything, Array, Arrays, DTypeLike, Index

# -- bounds -----------------------------------------------------------------------------------------------


@op("ClampBackward1", input_names=("self",))
def _clamp(x: Array, low: Array, high: Array) -> Array:
    return np.clip(x, low, high)


@op("ClampMinBackward0", input_names=("self",))
def _clamp_min(x: Array, low: Array, high: Array) -> Array:
    return np.clip(x, low, high)


@op("ClampMaxBackward0", input_names=("self",))
def _clamp_max(x: Array, low: Array, high: Array) -> Array:
    return np.clip(x, low, high)


def _clamped(x: Array, *bounds: Array) -> Array:
    *arrays, has_low, has_high = bounds
    low = arrays.pop(0) if has_low else None
    high = arrays.pop(0) if has_high else None
    if low is not None:
        x = np.where(x >= low, x, _bound(x, low, x < low))
    return x if high is None else np.where(x <= high, x, _bound(x, high, x > high))


def _bound(x: Array, bound: Array, is_passed: Array) -> Array:
    """The bound where `x` has passed it, elsewhere NaN, which one of the two is: neither moves there."""
    if x.dtype.kind != "f":
        return bound
    return np.where(is_passed, bound, x.dtype.type(np.nan))


_CLAMP_TENSORS = Op("ClampBackward0", _clamped, input_names=("self", "min", "max"))
_CLAMP_MIN_TENSOR = Op("ClampMinBackward1", _clamped, input_names=("self", "min"))
_CLAMP_MAX_TENSOR = Op("ClampMaxBackward1", _clamped, input_names=("self", "max"))


@operation("clamp", "clip", inplace=True)
def clamp(input: Tensor, min: Operand = None, max: Operand = None) -> Operand:
    """Every element moved into the bounds."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        parts = of_one_dtype(input, *[tensor_beside(b, input) for b in (min, max) if b is not None])
        return apply(_CLAMP_TENSORS, parts, (min is not None, max is not None))
    given = [b for b in (min, max) if b is not None]
    if wrong := [b for b in given if isinstance(b, str | list | tuple)]:
        raise TypeError(f"clamp(): bounds must be numbers or tensors, not {type(wrong[0]).__name__}")
    dtype = result_dtype(input, *given)
    input = input.to(dtype)
    if dtype.kind in "iu":
        min = None if min is None else int(min)
        max = None if max is None else int(max)
    return apply(_clamp, (input,), (min, max))


@operation("clamp_min", inplace=True)
def clamp_min(input: Tensor, min: Operand) -> Operand:
    """Every element at least `min`."""
    if isinstance(min, Tensor):
        return apply(_CLAMP_MIN_TENSOR, of_one_dtype(input, min), (True, False))
    return apply(_clamp_min, (input.to(result_dtype(input, min)),), (min, None))


@operation("clamp_max", inplace=True)
def clamp_max(input: Tensor, max: Operand) -> Operand:
    """Every element at most `max`."""
    if isinstance(max, Tensor):
        return apply(_CLAMP_MAX_TENSOR, of_one_dtype(input, max), (False, True))
    return apply(_clamp_max, (input.to(result_dtype(input, max)),), (None, max))


@op("LerpBackward0", input_names=("self", "end"))
def _lerp(x: Array, end: Array, weight: float) -> Array:
    return x + weight * (end - x) if abs(weight) < 0.5 else end - (end - x) * (1 - weight)


@op("LerpBackward1", input_names=("self", "end", "weight"))
def _lerp_tensor(x: Array, end: Array, weight: Array) -> Array:
    return x + weight * (end - x)


@operation(inplace=True)
def lerp(input: Tensor, end: Tensor, weight: Operand) -> Operand:
    """The point between `input` and `end` at `weight`."""
    if input._value.dtype != end._value.dtype:
        raise RuntimeError(
            f"expected dtype {str(input.dtype)[6:]} for `end` but got dtype {str(end.dtype)[6:]}".replace(
                "float32", "float"
            ).replace("float64", "double")
        )
    try:
        np.broadcast_shapes(input._value.shape, end._value.shape)
    except ValueError as error:
        raise broadcast_error(input, end, error) from None
    if isinstance(weight, Tensor):
        return apply(_lerp_tensor, of_one_dtype(input, end, weight))
    return apply(_lerp, (input, end), (weight,))


# -- order ------------------------------------------------------------------------------------------------


def _order(x: Array, axis: int, descending: bool) -> Array:
    if not x.ndim:
        return np.zeros((), np.int64)
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    # Equal elements keep their order: sort the reversed array, and count from the other end.
    back = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return np.flip(x.shape[axis] - 1 - back, axis)


def _sorted(x: Array, axis: int, descending: bool) -> Arrays:
    order = _order(x, axis, descending)
    if not x.ndim:
        return x.copy(), order
    if type(order) is np.ndarray:
        order = np.ascontiguousarray(order)
    return np.take_along_axis(x, order, axis), order


_SORT = Op("SortBackward0", _sorted, keeps_result=True, output_names=("values", "indices"))


@operation()
def sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Operands:
    """The elements in order along a dimension, and where they came from."""
    at = dim_of(dim, len(input._value.shape))
    return named("sort")(*apply(_SORT, (input,), (at, bool(descending))))


@operation()
def msort(input: Tensor) -> Operand:
    """The elements in order along the first dimension."""
    return sort(input, 0)[0]


@operation()
def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Operand:
    """Where the elements in order come from."""
    return sort(input.detach(), dim, descending)[1]


def _top(x: Array, k: int, axis: int, largest: bool) -> Arrays:
    if not x.ndim:
        return x.copy(), np.zeros((), np.int64)
    order = np.take(_order(x, axis, largest), np.arange(k), axis=axis)
    return np.take_along_axis(x, order, axis), order


_TOPK = Op("TopkBackward0", _top, keeps_result=True, output_names=("values", "indices"))


@operation()
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Operands:
    """The `k` largest (or smallest) elements along a dimension, and where they are."""
    at = dim_of(dim, len(input._value.shape))
    size = input._value.shape[at] if input._value.shape else 1
    if not 0 <= k <= size:
        raise RuntimeError("selected index k out of range")
    return named("topk")(*apply(_TOPK, (input,), (int(k), at, bool(largest))))


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Tensor | tuple[Any, ...]:
    """The different elements, in order."""
    unique_of: Any = np.unique
    found = unique_of(input._value, return_inverse=return_inverse, return_counts=return_counts, axis=dim)
    if not isinstance(found, tuple):
        return underived(wrap(found), input, "_unique2" if dim is None else "unique_dim")
    parts = list(found)
    if return_inverse:
        shape = input._value.shape if dim is None else (input._value.shape[dim],)
        parts[1] = np.asarray(parts[1]).reshape(shape)
    first, *counts = [wrap(np.asarray(p)) for p in parts]
    return (underived(first, input, "_unique2" if dim is None else "unique_dim"), *counts)


operation("unique")(unique)


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Tensor | tuple[Any, ...]:
    """The elements without those equal to the one before."""
    value = input._value
    rows = value.reshape(-1) if dim is None else np.moveaxis(value, dim, 0)
    changes = (rows[1:] != rows[:-1]).reshape(max(len(rows) - 1, 0), math.prod(rows.shape[1:])).any(1)
    starts = np.flatnonzero(np.concatenate([[True], changes])) if len(rows) else np.zeros(0, int)
    parts = [rows[starts] if dim is None else np.moveaxis(rows[starts], 0, dim)]
    if return_inverse:
        marks = np.zeros(len(rows), np.int64)
        marks[starts[1:]] = 1
        inverse = np.cumsum(marks)
        parts.append(inverse.reshape(value.shape) if dim is None else inverse)
    if return_counts:
        parts.append(np.diff([*starts, len(rows)]))
    first, *counts = [wrap(np.asarray(p)) for p in parts]
    first = underived(first, input, "unique_consecutive")
    return (first, *counts) if counts else first


operation("unique_consecutive")(unique_consecutive)


@operation("searchsorted", method=False)
def searchsorted(
    sorted_sequence: Tensor,
    input: Operand,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Where elements belong in a sorted sequence, or in one that `sorter` puts in order."""
    values = tensor_of(input)._value
    right = right or side == "right"
    order = sorted_sequence._value
    if sorter is not None:
        order = np.take_along_axis(order, sorter._value, -1)
    dtype = np.int32 if out_int32 else np.int64
    if order.ndim == 1:
        return wrap(np.asarray(np.searchsorted(order, values, "right" if right else "left")).astype(dtype))
    if values.ndim != order.ndim or values.shape[:-1] != order.shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of "
            f"boundaries tensor and input value tensor must match, but we got boundaries tensor "
            f"{list(order.shape)} and input value tensor {list(values.shape)}"
        )
    out = np.empty(values.shape, dtype)
    for k in np.ndindex(*order.shape[:-1]):
        out[k] = np.searchsorted(order[k], values[k], "right" if right else "left")
    return wrap(out)


@operation("bucketize", method=False)
def bucketize(input: Operand, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """Between which boundaries elements lie."""
    if (rank := len(boundaries._value.shape)) != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({rank})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


@operation()
def bincount(input: Tensor, weights: Operand = None, minlength: int = 0) -> Tensor:
    """How often each integer occurs."""
    if input._value.dtype.kind not in "iu":
        raise NotImplementedError(
            f"\"bincount_cpu\" not implemented for '{TYPE_NAMES[input._value.dtype.name]}'"
        )
    if input._value.ndim != 1 or (input._value < 0).any():
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return wrap(np.bincount(input._value, None, minlength).astype(np.int64))
    w = weights._value
    kind = np.float32 if w.dtype == np.float32 else np.float64
    found = wrap(np.bincount(input._value, w, minlength).astype(kind))
    return underived(found, weights, "bincount")


@operation()
def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many elements lie in each of `bins` equal intervals."""
    value = input._value
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if min > max:
        raise RuntimeError("torch.histc: max must be larger than min")
    from_data = min == max == 0 and value.size
    low, high = (float(value.min()), float(value.max())) if from_data else (min, max)
    if low == high:
        low, high = low - 1, high + 1
    return wrap(np.histogram(value, bins, (low, high))[0].astype(value.dtype))


# -- running sums and extremes ----------------------------------------------------------------------------


def _running(name: str, title: str, function: Anything, keeps: bool = False) -> None:
    def along(x: Array, axis: int, dtype: DTypeLike) -> Array:
        return function(x, axis=axis, dtype=dtype) if x.ndim else x.astype(dtype)

    made = Op(title, along, keeps_result=keeps)

    def running(input: Tensor, dim: int, *, dtype: DTypeLike = None) -> Operand:
        kind = input._value.dtype.kind
        wanted = (
            numpy_dtype(dtype)
            if dtype is not None
            else np.dtype(np.int64)
            if kind in "iub"
            else input._value.dtype
        )
        return apply(made, (input,), (dim_of(dim, len(input._value.shape)), wanted))

    running.__name__ = running.__qualname__ = name
    operation(name, inplace=True)(running)


_running("cumsum", "CumsumBackward0", np.cumsum)
_running("cumprod", "CumprodBackward0", np.cumprod)


def _positions_of_running(x: Array, axis: int, larger: Callable[..., Any]) -> Array:
    """Where along an axis the running extreme last was."""
    moved = np.moveaxis(np.asarray(x), axis, 0)
    found = np.zeros(moved.shape, np.int64)
    best = moved[0].copy() if moved.shape[0] else None
    for k in range(1, moved.shape[0]):
        better = (
            larger(moved[k], best) | np.isnan(moved[k]) if moved.dtype.kind == "f" else larger(moved[k], best)
        )
        found[k] = np.where(better, k, found[k - 1])
        best = np.where(better, moved[k], best)
    return np.moveaxis(found, 0, axis)


def _running_extreme(name: str, title: str, larger: Callable[..., Any]) -> None:
    @op(title, input_names=("self", "indices"), visible=1)
    def values(x: Array, index: Index, axis: int) -> Array:
        return np.take_along_axis(x, index, axis)

    def extreme(input: Tensor, dim: int) -> Operands:
        at = dim_of(dim, len(input._value.shape))
        if not input._value.shape:
            return named(name)(input.clone(), wrap(np.zeros((), np.int64)))
        index = wrap(np.ascontiguousarray(_positions_of_running(input._value, at, larger)))
        return named(name)(apply(values, (input, index), (at,)), index)

    extreme.__name__ = extreme.__qualname__ = name
    operation(name)(extreme)


_running_extreme("cummax", "CummaxBackward0", np.greater_equal)
_running_extreme("cummin", "CumminBackward0", np.less_equal)


@op("LogcumsumexpBackward0", keeps_result=True)
def _logcumsumexp(x: Array, axis: int) -> Array:
    # Sums of pairs, of pairs of pairs, and so on: each is taken relative to the larger of two logarithms.
    moved = np.moveaxis(x, axis, 0)
    if x.dtype.kind == "c" and moved.shape[0]:
        # One after another: the imaginary part counts how often the sums have gone around zero.
        sums = [moved[0]]
        for k in range(1, moved.shape[0]):
            sums.append(logaddexp_of(sums[-1], moved[k]))
        return np.moveaxis(np.stack(sums), 0, axis)
    shift = 1
    while shift < moved.shape[0]:
        moved = np.concatenate([moved[:shift], logaddexp_of_reals(moved[shift:], moved[:-shift])])
        shift *= 2
    return np.moveaxis(moved, 0, axis)


@operation()
def logcumsumexp(input: Tensor, dim: int) -> Operand:
    """The logarithm of running sums of exponentials."""
    if not input._value.shape:
        dim_of(dim, 0)
        return input.clone()
    return apply(_logcumsumexp, (input,), (dim_of(dim, len(input._value.shape)),))


# -- complex numbers ----------------------------------------------------------------------------------------


def conjugate(input: Tensor) -> Tensor:
    """The complex conjugate; real tensors are their own."""
    return apply(_conj, (input,)) if input._value.dtype.kind == "c" else input


@op("ConjBackward0")
def _conj(x: Array) -> Array:
    return np.conj(x)


operation("conj", "conj_physical")(conjugate)


@op("AngleBackward0", input_names=("self",))
def _angle(x: Array) -> Array:
    return np.angle(x)


@operation()
def angle(input: Tensor) -> Operand:
    """The angle of complex numbers; 0 or pi of real ones."""
    if input._value.dtype.kind in "iub":
        input = input.to(SETTINGS.default_dtype)
    return apply(_angle, (input,))
