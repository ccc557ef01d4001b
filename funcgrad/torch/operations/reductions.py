"""Reductions: sums, products, extremes, norms and statistics over dimensions."""

from __future__ import annotations

import functools
import warnings
from collections import namedtuple
from typing import Any

import numpy as np

from funcgrad import stop_gradient
from funcgrad.scipy.special import logsumexp as fused
from funcgrad.torch.core.apply import apply, apply_linear, apply_to
from funcgrad.torch.core.backward.history import Op, op
from funcgrad.torch.core.dtypes import numpy_dtype
from funcgrad.torch.core.errors import dim_of, dims_of
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.state import SETTINGS
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.operations.pointwise.arithmetic import F32
from funcgrad.torch.operations.registry import FUNCTIONS, operation
from funcgrad.types import Anything, Array, Arrays, AxisLike, DTypeLike, Index, Option

__all__ = ["RETURN_TYPES", "chosen_dtype", "named"]

RETURN_TYPES: dict[str, Any] = {}
"""The classes of results of several parts that were made, by name."""


@functools.cache
def named(name: str, fields: str = "values indices") -> Anything:
    """The class of PyTorch's result of several parts, as ``torch.return_types.max``."""
    namedtuple_of: Any = namedtuple  # the name is not known here
    made = namedtuple_of(name, fields.split())

    def text(self: Operand) -> str:
        parts = [f"{f}={x!r}".replace("\n", "\n") for f, x in zip(self._fields, self, strict=True)]
        return f"torch.return_types.{name}(\n" + ",\n".join(parts) + ")"

    made.__repr__ = text
    made.__module__ = "torch.return_types"
    RETURN_TYPES[name] = made
    return made


def chosen_dtype(dtype: DTypeLike, x: Tensor, *, widen: bool = False) -> np.dtype[Any]:
    """The dtype of a reduction: the one given, int64 for integers, else the tensor's."""
    if dtype is not None:
        return numpy_dtype(dtype)
    return np.dtype(np.int64) if widen and x._value.dtype.kind in "iub" else x._value.dtype


def _sum(x: Array, axes: AxisLike, keepdims: bool, dtype: DTypeLike) -> Array:
    return _add_reduce(x, axes, dtype, None, keepdims)


_add_reduce: Any = np.add.reduce
_SUM = Op("SumBackward0", _sum)
_SUM_DIM = Op("SumBackward1", _sum)


@operation()
def sum(
    input: Tensor,
    dim: AxisLike = None,
    keepdim: bool = False,
    *,
    dtype: DTypeLike = None,
    axis: AxisLike = None,
) -> Tensor:
    """The sum over all or some dimensions."""
    dim = axis if dim is None else dim
    if dtype is None and input._value.dtype.kind in "fc":
        ndim = len(input._value.shape)
        if dim is None and not keepdim:
            return apply_linear(_SUM, input, (None, False, None))
        axes = (dim % ndim,) if type(dim) is int and -ndim <= dim < ndim else dims_of(dim, ndim)
        return apply_linear(_SUM_DIM, input, (axes, keepdim, None))
    wanted = chosen_dtype(dtype, input, widen=True)
    if dim is None and not keepdim:
        return apply_to(_SUM, input, (None, False, wanted))
    return apply_to(_SUM_DIM, input, (dims_of(dim, len(input._value.shape)), keepdim, wanted))


@op("NansumBackward0")
def _nansum(x: Array, axes: AxisLike, keepdims: bool, dtype: DTypeLike) -> Array:
    return np.sum(np.where(np.isnan(x), np.zeros((), x.dtype), x), axis=axes, keepdims=keepdims, dtype=dtype)


@operation()
def nansum(input: Tensor, dim: AxisLike = None, keepdim: bool = False, *, dtype: DTypeLike = None) -> Operand:
    """The sum of what is not NaN."""
    if input._value.dtype.kind in "iub":
        return sum(input, dim, keepdim, dtype=dtype)
    axes = None if dim is None else dims_of(dim, len(input._value.shape))
    return apply(_nansum, (input,), (axes, keepdim, chosen_dtype(dtype, input)))


def mean_of(x: Array, axes: AxisLike, keepdims: bool) -> Array:
    """The mean without NumPy's warning for an empty one."""
    if type(x) is not np.ndarray or x.dtype == np.float16:
        return np.mean(x, axis=axes, keepdims=keepdims)
    count = np.prod([x.shape[k] for k in axes], dtype=np.int64) if axes is not None else x.size
    return _add_reduce(x, axes, None, None, keepdims) / x.dtype.type(count)


def _mean(x: Array, axes: AxisLike, keepdims: bool, dtype: DTypeLike) -> Array:
    if axes is None and x.dtype is F32 and dtype is None:
        return np.add.reduce(x, None) / F32.type(x.size)
    if dtype is None and (axes is None or axes):
        return mean_of(x, axes, keepdims)
    if axes is None or axes:
        return np.mean(x, axis=axes, keepdims=keepdims, dtype=dtype)
    return x * np.ones((), x.dtype)


_MEAN = Op("MeanBackward0", _mean)
_MEAN_DIM = Op("MeanBackward1", _mean)


@operation()
def mean(
    input: Tensor,
    dim: AxisLike = None,
    keepdim: bool = False,
    *,
    dtype: DTypeLike = None,
    axis: AxisLike = None,
) -> Tensor:
    """The mean over all or some dimensions."""
    dim = axis if dim is None else dim
    if dtype is None and input._value.dtype.kind in "fc":
        if dim is None and not keepdim:
            return apply_linear(_MEAN, input, (None, False, None))
        return apply_linear(_MEAN_DIM, input, (dims_of(dim, len(input._value.shape)), keepdim, None))
    wanted = chosen_dtype(dtype, input)
    if wanted.kind in "iub":
        what = "Input dtype" if dtype is None else "Optional dtype"
        kind = str(input.type()).removeprefix("torch.").removesuffix("Tensor") if dtype is None else ""
        raise RuntimeError(
            f"mean(): could not infer output dtype. {what} must be either a floating point or complex dtype. "
            f"Got: {kind}"
        )
    if dim is None and not keepdim:
        return apply_to(_MEAN, input, (None, False, wanted))
    return apply_to(_MEAN_DIM, input, (dims_of(dim, len(input._value.shape)), keepdim, wanted))


@operation()
def nanmean(
    input: Tensor, dim: AxisLike = None, keepdim: bool = False, *, dtype: DTypeLike = None
) -> Operand:
    """The mean of what is not NaN."""
    count = (~input.isnan()).sum(dim, keepdim)
    return nansum(input, dim, keepdim, dtype=dtype) / count


def _prod(x: Array, axes: AxisLike, keepdims: bool, dtype: DTypeLike) -> Array:
    return np.prod(x, axis=axes, keepdims=keepdims, dtype=dtype)


_PROD = Op("ProdBackward0", _prod)
_PROD_DIM = Op("ProdBackward1", _prod)


@operation()
def prod(input: Tensor, dim: AxisLike = None, keepdim: bool = False, *, dtype: DTypeLike = None) -> Operand:
    """The product of all elements or along one dimension."""
    wanted = chosen_dtype(dtype, input, widen=True)
    if dim is None:
        return apply(_PROD, (input,), (None, False, wanted))
    axes = dims_of(int(dim), len(input._value.shape))
    return apply(_PROD_DIM, (input,), (axes, keepdim, wanted))


# -- extremes ---------------------------------------------------------------------------------------------


def _require_elements(x: Tensor, name: str) -> None:
    if not x._value.size:
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument."
        )


def _amax(x: Array, axes: AxisLike, keepdims: bool) -> Array:
    return np.max(x, axis=axes, keepdims=keepdims)


def _amin(x: Array, axes: AxisLike, keepdims: bool) -> Array:
    return np.min(x, axis=axes, keepdims=keepdims)


def _at(x: Array, index: Index, axis: int, keepdims: bool) -> Arrays:
    """The elements at an index along an axis, and the index."""
    if not x.ndim:
        return (x if isinstance(x, np.generic) else x.copy()), np.int64(0)
    if type(index) is not np.ndarray or type(x) is not np.ndarray:
        values = np.take_along_axis(x, np.expand_dims(index, axis), axis)
    else:
        values = np.take_along_axis(x, np.expand_dims(index, axis), axis)
    if keepdims:
        return values, np.expand_dims(index, axis)
    return np.squeeze(values, axis), index


def _max_dim(x: Array, axis: int, keepdims: bool) -> Array:
    return _at(x, np.argmax(x, axis=axis) if x.ndim else 0, axis, keepdims)


def _min_dim(x: Array, axis: int, keepdims: bool) -> Array:
    return _at(x, np.argmin(x, axis=axis) if x.ndim else 0, axis, keepdims)


_EXTREMES = {
    "max": (
        Op("MaxBackward1", _amax, keeps_result=True),
        Op("MaxBackward0", _max_dim, keeps_result=True, output_names=("result", "indices")),
        Op("AmaxBackward0", _amax, keeps_result=True),
    ),
    "min": (
        Op("MinBackward1", _amin, keeps_result=True),
        Op("MinBackward0", _min_dim, keeps_result=True, output_names=("result", "indices")),
        Op("AminBackward0", _amin, keeps_result=True),
    ),
}


def _refuse_empty_dim(x: Tensor, dim: int, name: str) -> None:
    if x._value.shape and not x._value.shape[dim]:
        raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")


def _extreme(name: str) -> None:
    whole, along, many = _EXTREMES[name]
    both = f"{name}imum"
    result = named(name)

    def extreme(input: Tensor, dim: AxisLike = None, keepdim: bool = False, other: Operand = None) -> Operand:
        if isinstance(dim, Tensor) or other is not None:
            return FUNCTIONS[both](input, dim if other is None else other)
        if dim is None:
            _require_elements(input, name)
            return apply(whole, (input,), (None, False))
        at = dim_of(dim, len(input._value.shape))
        _refuse_empty_dim(input, at, name)
        return result(*apply(along, (input,), (at, keepdim)))

    def spread(input: Tensor, dim: AxisLike = None, keepdim: bool = False) -> Operand:
        if dim is None or dim == ():
            _require_elements(input, f"a{name}")
        axes = dims_of(dim, len(input._value.shape))
        for at in axes:
            _refuse_empty_dim(input, at, f"a{name}")
        return apply(many, (input,), (axes, keepdim))

    def argument(input: Tensor, dim: AxisLike = None, keepdim: bool = False) -> Operand:
        x = input._value
        if not x.size and dim is None:
            raise IndexError(f"arg{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        if dim is None:
            return apply(_ARGUMENT[name], (input.detach(),), (None, keepdim))
        at = dim_of(dim, len(x.shape))
        _refuse_empty_dim(input, at, f"arg{name}")
        return apply(_ARGUMENT[name], (input.detach(),), (at if x.shape else None, keepdim))

    for f, title in ((extreme, name), (spread, f"a{name}"), (argument, f"arg{name}")):
        f.__name__ = f.__qualname__ = title
        operation(title)(f)


@op("NotDifferentiable")
def _argmax(x: Array, axis: AxisLike, keepdims: bool) -> Array:
    return np.argmax(x, axis=axis, keepdims=keepdims)


@op("NotDifferentiable")
def _argmin(x: Array, axis: AxisLike, keepdims: bool) -> Array:
    return np.argmin(x, axis=axis, keepdims=keepdims)


_ARGUMENT = {"max": _argmax, "min": _argmin}
_extreme("max")
_extreme("min")


@operation()
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Operands:
    """The smallest and the largest element."""
    axes = tuple(range(len(input._value.shape))) if dim is None else (dim_of(dim, len(input._value.shape)),)
    return named("aminmax", "min max")(*apply(_aminmax, (input,), (axes, keepdim)))


@op("AminmaxBackward0", keeps_result=True)
def _aminmax(x: Array, axes: AxisLike, keepdims: bool) -> Arrays:
    return np.min(x, axis=axes, keepdims=keepdims), np.max(x, axis=axes, keepdims=keepdims)


# -- statistics -------------------------------------------------------------------------------------------


def _var(x: Array, axes: AxisLike, correction: float, keepdims: bool) -> Array:
    count = int(np.prod([x.shape[k] for k in axes], dtype=np.int64))
    centred = x - mean_of(x, axes, True)
    square = centred * centred if x.dtype.kind != "c" else np.real(centred * np.conj(centred))
    left = max(count - correction, 0)
    total = np.sum(square, axis=axes, keepdims=keepdims)
    return total / total.dtype.type(left)


def _std(x: Array, axes: AxisLike, correction: float, keepdims: bool) -> Array:
    var = _var(x, axes, correction, keepdims)
    # Where all elements are equal the gradient is 0, not 0 / 0.
    zero = var == 0
    return np.where(zero, np.zeros((), var.dtype), np.sqrt(np.where(zero, np.ones((), var.dtype), var)))


_VAR = Op("VarBackward0", _var)
_STD = Op("StdBackward0", _std, keeps_result=True)


def _corrected(dim: AxisLike, unbiased: Option, correction: Option) -> tuple[AxisLike, float]:
    """The dimensions, and the correction that is meant; a truth value in their place is `unbiased`."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    usual = 1 if unbiased is None else int(unbiased)
    return dim, usual if correction is None else correction


def _moments(name: str, made: Op) -> None:
    def with_mean_of(x: Array, axes: AxisLike, correction: float, keepdims: bool) -> Arrays:
        return made.function(x, axes, correction, keepdims), np.mean(x, axis=axes, keepdims=keepdims)

    both = Op(f"{name.capitalize()}MeanBackward0", with_mean_of)

    def moment(
        input: Tensor,
        dim: AxisLike = None,
        unbiased: Option = None,
        keepdim: bool = False,
        *,
        correction: Option = None,
        axis: AxisLike = None,
    ) -> Operand:
        if input._value.dtype.kind in "iub":
            raise RuntimeError("std and var only support floating point and complex dtypes")
        dim, correction = _corrected(axis if dim is None else dim, unbiased, correction)
        axes = dims_of(dim, len(input._value.shape))
        count = int(np.prod([input._value.shape[k] for k in axes], dtype=np.int64))
        if count <= correction:
            message = (
                f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
                "reduction factor (input numel divided by output numel)."
            )
            warnings.warn(message, UserWarning, stacklevel=3)
        return apply(made, (input,), (axes, correction, keepdim))

    def with_mean(
        input: Tensor,
        dim: AxisLike = None,
        unbiased: Option = None,
        keepdim: bool = False,
        *,
        correction: Option = None,
    ) -> Operand:
        dim, correction = _corrected(dim, unbiased, correction)
        axes = dims_of(dim, len(input._value.shape))
        return apply(both, (input,), (axes, correction, keepdim))

    moment.__name__ = moment.__qualname__ = name
    operation(name)(moment)
    FUNCTIONS[f"{name}_mean"] = with_mean


_moments("var", _VAR)
_moments("std", _STD)


def _median_index(x: Array, axis: int) -> Array:
    order = np.argsort(x, axis=axis, kind="stable")
    return np.take(order, (x.shape[axis] - 1) // 2, axis=axis)


def _median_dim(x: Array, axis: int, keepdims: bool) -> Array:
    return _at(x, _median_index(x, axis) if x.ndim else 0, axis, keepdims)


def _median(x: Array) -> Array:
    flat = np.reshape(x, (-1,))
    return _shared(flat, flat[_median_index(flat, 0)])


def _shared(flat: Array, value: Array) -> Array:
    """The value, whose gradient all elements share that are equal to it."""
    if type(flat) is np.ndarray:
        return value
    fixed = stop_gradient(value)
    equal = (flat == fixed) | (np.isnan(flat) & np.isnan(fixed))
    mean = np.sum(np.where(equal, flat, 0.0)) / np.sum(equal)
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
    return _at(x, _nanmedian_index(x, axis), axis, keepdims)


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
        values, counts = np.unique(moved[where], return_counts=True)
        found[where] = np.flatnonzero(moved[where] == values[np.argmax(counts)])[-1]
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


@op("ModeBackward0", input_names=("self", "indices"))
def _mode(x: Array, index: Index, axis: int, keepdims: bool) -> Array:
    return _at(x, index, axis, keepdims)[0]


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
    return _at(x, np.take(order, k - 1, axis=axis), axis, keepdims)


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


# -- logic ------------------------------------------------------------------------------------------------


def _logical(name: str, function: Anything) -> None:
    def reduced(x: Array, axes: AxisLike, keepdims: bool) -> Array:
        found = function(x, axis=axes, keepdims=keepdims)
        return found.astype(np.uint8) if x.dtype == np.uint8 else found

    made = Op("NotDifferentiable", reduced)

    def reduction(input: Tensor, dim: AxisLike = None, keepdim: bool = False) -> Operand:
        axes = None if dim is None else dims_of(dim, len(input._value.shape))
        return apply(made, (input.detach(),), (axes, keepdim))

    reduction.__name__ = reduction.__qualname__ = name
    operation(name)(reduction)


_logical("all", np.all)
_logical("any", np.any)


@operation()
def count_nonzero(input: Tensor, dim: AxisLike = None) -> Operand:
    """The number of elements that are not zero."""
    return (input != 0).sum(dim)


# -- sums of exponentials, norms --------------------------------------------------------------------------


@op("LogsumexpBackward0", keeps_result=True)
def _logsumexp(x: Array, axes: AxisLike, keepdims: bool) -> Array:
    return fused(x, axis=axes, keepdims=keepdims)


@operation()
def logsumexp(input: Tensor, dim: AxisLike, keepdim: bool = False) -> Operand:
    """``log(sum(exp(input)))``, without overflow."""
    if input._value.dtype.kind in "iub":
        input = input.to(SETTINGS.default_dtype)
    if not input._value.shape:
        dims_of(dim, 0)
        if input._value.dtype.kind == "c":
            size = input.detach().real
            return (input - size).exp().log() + size
        return input.clone()
    return apply(_logsumexp, (input,), (dims_of(dim, len(input._value.shape)), keepdim))
