"""Elements combined into a tensor at indices that may repeat: by sums, means, products, maxima, minima."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import funcgrad as fg
from funcgrad.extend import Tracer
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import Op
from funcgrad.torch.core.errors import dim_of
from funcgrad.torch.core.layout import own_copy
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.places.scattering import added_at, where_indices
from funcgrad.torch.operations.registry import operation
from funcgrad.types import Anything, Array, DTypeLike, Index, Number

_BEGIN = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": -np.inf, "amin": np.inf}
_COMBINE = {"prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


def _added(x: Array, where: Array, src: Array) -> Array:
    return added_at(own_copy(x, src, *where), where, src)


def combined(x: Array, src: Array, where: Index, how: str, include: bool) -> Array:
    """`x` with `src` combined into it at the full indices `where`."""
    counted = np.ones(src.shape, x.dtype)
    times = _added(np.zeros(x.shape, x.dtype), where, counted)
    begin = np.asarray(_begin(how, x.dtype), x.dtype)
    start = x if include else np.where(times > 0, begin, x)
    if how in ("sum", "mean"):
        out = _added(start, where, src)
        if how == "sum":
            return out
        count = np.maximum(times + (1 if include else 0), 1)
        return out // count if x.dtype.kind in "iu" else out / count
    if not any(isinstance(v, Tracer) for v in (start, src, *where)):
        out = np.array(start)
        _COMBINE[how].at(out, where, src)
        return out
    return (_products if how == "prod" else _extremes)(start, src, where, _COMBINE[how], times)


def _begin(how: str, dtype: DTypeLike) -> Number:
    if how in ("amax", "amin") and dtype.kind == "b":
        return how == "amin"
    if how in ("amax", "amin") and dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return limits.min if how == "amax" else limits.max
    return _BEGIN[how]


def _extremes(start: Array, src: Array, where: Array, combine: np.ufunc, times: Anything) -> Array:
    """Maxima or minima as means of all that are equal to them, which so share the gradient evenly."""

    def of_values(start: Array, src: Array, *where: Array) -> Array:
        out = np.array(start)
        combine.at(out, where, src)
        return out

    constants = [fg.stop_gradient(v) for v in (start, src, *where)]
    out = fg.pure_callback(of_values, fg.ShapeDtypeStruct(start.shape, start.dtype), *constants)
    kept, chosen = constants[0] == out, constants[1] == out[where]
    zero = np.zeros((), start.dtype)
    total = _added(np.where(kept, start, zero), where, np.where(chosen, src, zero))
    number = _added(np.where(kept, zero + 1, zero), where, np.where(chosen, zero + 1, zero))
    return total / number


def _products(start: Array, src: Array, where: Array, combine: np.ufunc, times: Anything) -> Array:
    """Products as exponents of sums of logarithms; a single zero among the factors is a factor of its own."""
    one, zero = np.ones((), start.dtype), np.zeros((), start.dtype)
    is_zero = (start == 0, src == 0)
    plain = [np.where(z, one, v) for z, v in zip(is_zero, (start, src), strict=True)]
    sizes = [np.log(np.abs(v)) for v in plain]
    signs = [np.where(fg.stop_gradient(v) < 0, one, zero) for v in plain]
    negative = np.mod(_added(signs[0], where, signs[1]), 2)
    found = np.exp(_added(sizes[0], where, sizes[1])) * (1 - 2 * negative)
    zeros = [np.where(z, v, zero) for z, v in zip(is_zero, (start, src), strict=True)]
    ones = [np.where(z, one, zero) for z in is_zero]
    number, vanishing = _added(ones[0], where, ones[1]), _added(zeros[0], where, zeros[1])
    return found * np.where(number == 0, one, np.where(number == 1, vanishing, zero))


def _scatter_reduced(x: Array, src: Array, index: Index, axis: int, how: str, include: bool) -> Array:
    where = np.broadcast_arrays(*where_indices(index, axis)) if index.size else [index] * index.ndim
    return combined(x, src[tuple([slice(0, n) for n in index.shape])], tuple(where), how, include)


def _index_reduced(x: Array, src: Array, index: Index, axis: int, how: str, include: bool) -> Array:
    grids: list[Any] = [
        np.arange(n).reshape([-1 if k == j else 1 for k in range(x.ndim)]) for j, n in enumerate(x.shape)
    ]
    grids[axis] = np.reshape(index, [-1 if k == axis else 1 for k in range(x.ndim)])
    where = tuple([np.broadcast_to(g, src.shape) for g in grids])
    return combined(x, src, where, how, include)


_SCATTER_REDUCE = Op(
    "ScatterReduceBackward0", _scatter_reduced, input_names=("self", "src", "index"), visible=2
)
_INDEX_REDUCE = Op("IndexReduceBackward0", _index_reduced, input_names=("self", "source", "index"), visible=2)


@operation("scatter_reduce", inplace=True)
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Operand:
    """The tensor with `src` combined into it at `index` along a dimension."""
    reduce = {"max": "amax", "min": "amin"}.get(reduce, reduce)
    if reduce not in _BEGIN:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    at = dim_of(dim, len(input._value.shape))
    return apply(_SCATTER_REDUCE, (input, src, index), (at, reduce, include_self))


@operation("index_reduce", inplace=True)
def index_reduce(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Operand:
    """The tensor with the parts of `source` combined into the parts at `index`."""
    if reduce not in _BEGIN or reduce == "sum":
        raise RuntimeError(
            f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}."
        )
    warnings.warn("index_reduce() is in beta and the API may change at any time.", UserWarning, stacklevel=2)
    at = dim_of(dim, len(input._value.shape))
    return apply(_INDEX_REDUCE, (input, source, index), (at, reduce, include_self))
