"""What the order of elements says: medians, modes, the k-th smallest, quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import stop_gradient
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import Op, op
from funcgrad.torch.core.errors import dim_of
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.operations.reducing.extremes import taken_at
from funcgrad.torch.operations.registry import FUNCTIONS, operation
from funcgrad.torch.operations.requiring import require_real
from funcgrad.torch.operations.results import named
from funcgrad.types import Anything, Array, AxisLike, Index

__all__: list[str] = []


def _median_index(x: Array, axis: int) -> Array:
    order = np.argsort(x, axis=axis, kind="stable")
    middle = np.take(order, (x.shape[axis] - 1) // 2, axis=axis)
    if x.dtype.kind != "f":
        return middle
    # The first NaN, where there is one.
    missing = np.isnan(x)
    return np.where(np.any(missing, axis=axis), np.argmax(missing, axis=axis), middle)


def _median_dim(x: Array, axis: int, keepdims: bool) -> Array:
    return taken_at(x, _median_index(x, axis) if x.ndim else 0, axis, keepdims)


def _median(x: Array) -> Array:
    flat = np.reshape(x, (-1,))
    return _shared(flat, flat[_median_index(flat, 0)])


def _shared(flat: Array, value: Array) -> Array:
    """The value, whose gradient all elements share that are equal to it."""
    if type(flat) is np.ndarray:
        return value
    fixed = stop_gradient(value)
    equal = (flat == fixed) | (np.isnan(flat) & np.isnan(fixed))
    mean = (np.sum(np.where(equal, flat, 0.0)) / np.sum(equal)).astype(flat.dtype)
    # The mean of equal numbers may differ from them in the last place.
    return np.where(np.isfinite(fixed), fixed + (mean - stop_gradient(mean)), mean)


_MEDIAN = Op("MedianBackward0", _median, keeps_result=True)
_MEDIAN_DIM = Op("MedianBackward1", _median_dim, keeps_result=True)


@operation()
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Operands:
    """The median; the lower one of two."""
    if dim is None:
        if not input._value.size:
            return wrap(np.asarray(np.nan, input._value.dtype))
        return apply(_MEDIAN, (input,))
    return named("median")(*apply(_MEDIAN_DIM, (input,), (dim_of(dim, len(input._value.shape)), keepdim)))


def _nanmedian_index(x: Array, axis: int) -> Array:
    order = np.argsort(x, axis=axis, kind="stable")
    count = np.sum(~np.isnan(x), axis=axis, keepdims=True)
    return np.squeeze(np.take_along_axis(order, np.maximum(count - 1, 0) // 2, axis), axis)


@op("NanmedianBackward0")
def _nanmedian(x: Array) -> Array:
    flat = np.reshape(x, (-1,))
    return _shared(flat, flat[_nanmedian_index(flat, 0)])


@op("NanmedianBackward1")
def _nanmedian_dim(x: Array, axis: int, keepdims: bool) -> Array:
    return taken_at(x, _nanmedian_index(x, axis), axis, keepdims)


@operation()
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Operands:
    """The median of what is not NaN."""
    if dim is None:
        return apply(_nanmedian, (input,))
    found = apply(_nanmedian_dim, (input,), (dim_of(dim, len(input._value.shape)), keepdim))
    return named("nanmedian")(*found)


def _mode_index(x: Array, axis: int) -> Array:
    moved = np.moveaxis(x, axis, -1)
    found = np.empty(moved.shape[:-1], np.int64)
    for where in np.ndindex(*moved.shape[:-1]):
        values, counts = np.unique(moved[where], return_counts=True, equal_nan=False)
        often = values[np.argmax(counts)]
        # Where there is nothing but NaN it is the first.
        found[where] = np.flatnonzero(moved[where] == often)[-1] if often == often else 0  # noqa: PLR0124
    return found


@operation()
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Operands:
    """The most frequent element along a dimension (the smallest of several), and where it last is."""
    at = dim_of(dim, len(input._value.shape))
    if not input._value.shape:
        return named("mode")(input.clone(), FUNCTIONS["as_tensor"](np.zeros((), np.int64)))
    index = FUNCTIONS["as_tensor"](_mode_index(input._value, at))
    values = apply(_mode, (input, index), (at, keepdim))
    return named("mode")(values, index.unsqueeze(at) if keepdim else index)


@op("ModeBackward0", input_names=("self", "indices"), visible=1)
def _mode(x: Array, index: Index, axis: int, keepdims: bool) -> Array:
    return taken_at(x, index, axis, keepdims)[0]


@operation()
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Operands:
    """The k-th smallest element along a dimension, and where it is."""
    at = dim_of(dim, len(input._value.shape))
    size = input._value.shape[at] if input._value.shape else 1
    if not 1 <= k <= size:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {at}")
    return named("kthvalue")(*apply(_kthvalue, (input,), (k, at, keepdim)))


@op("KthvalueBackward0", keeps_result=True)
def _kthvalue(x: Array, k: int, axis: int, keepdims: bool) -> Array:
    order = np.argsort(x, axis=axis, kind="stable")
    return taken_at(x, np.take(order, k - 1, axis=axis), axis, keepdims)


@operation("quantile")
def quantile(
    input: Tensor, q: Operand, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Operand:
    """Quantiles along a dimension."""
    levels = levels_of(q, input)
    if isinstance(q, Tensor) and q._rg and interpolation == "linear":
        return apply(_quantile_at, (input, q), (dim, keepdim))
    return apply(_quantile, (input,), (levels, dim, keepdim, interpolation))


@operation("nanquantile")
def nanquantile(
    input: Tensor, q: Operand, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Operand:
    """Quantiles of what is not NaN."""
    if isinstance(q, Tensor) and q._rg and interpolation == "linear":
        return apply(_nanquantile_at, (input, q), (dim, keepdim))
    return apply(_nanquantile, (input,), (levels_of(q, input), dim, keepdim, interpolation))


def levels_of(q: Operand, input: Tensor) -> float | tuple[Any, ...]:
    """The levels of quantiles as a parameter; RuntimeError for those that are not between 0 and 1."""
    require_real(input, q)
    levels = q._value if isinstance(q, Tensor) else np.asarray(q, input._value.dtype)
    if (np.asarray(levels) < 0).any() or (np.asarray(levels) > 1).any():
        raise RuntimeError(
            f"quantile() q must be in the range [0, 1] but got {q:g}"
            if not isinstance(q, Tensor)
            else "quantile() q values must be in the range [0, 1]"
        )
    return float(levels) if not levels.shape else tuple(levels.tolist())


@op("SqueezeBackward4")
def _quantile(x: Array, q: Array, axis: AxisLike, keepdims: bool, method: str) -> Array:
    quantile_of: Any = np.quantile
    return quantile_of(x, q, axis=axis, keepdims=keepdims, method=method).astype(x.dtype)


@op("SqueezeBackward4", input_names=("input", "q"))
def _quantile_at(x: Array, q: Array, axis: AxisLike, keepdims: bool) -> Array:
    """As `_quantile`, and with what a level moves: nothing where it is at an element, as in PyTorch."""
    return _with_levels(_quantile.function, x, q, axis, keepdims)


def _with_levels(quantiles: Anything, x: Array, q: Array, axis: AxisLike, keepdims: bool) -> Array:
    found = quantiles(x, stop_gradient(q), axis, keepdims, "linear")
    lower, higher = (
        stop_gradient(quantiles(x, stop_gradient(q), axis, keepdims, side)) for side in ("lower", "higher")
    )
    size = np.sum(~np.isnan(stop_gradient(x)), axis=axis, keepdims=keepdims)
    moved = (q - stop_gradient(q)).reshape((*q.shape, *(1,) * (found.ndim - q.ndim)))
    return found + moved * (higher - lower) * (size - 1).astype(x.dtype)


@op("SqueezeBackward4")
def _nanquantile(x: Array, q: Array, axis: AxisLike, keepdims: bool, method: str) -> Array:
    quantile_of: Any = np.nanquantile
    return quantile_of(x, q, axis=axis, keepdims=keepdims, method=method).astype(x.dtype)


@op("SqueezeBackward4", input_names=("input", "q"))
def _nanquantile_at(x: Array, q: Array, axis: AxisLike, keepdims: bool) -> Array:
    return _with_levels(_nanquantile.function, x, q, axis, keepdims)
