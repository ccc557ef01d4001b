"""Sums, means, products, truths and sums of exponentials over dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.api.rules.custom import custom_jvp
from funcgrad.scipy.special import logsumexp as fused
from funcgrad.torch.core.apply import apply, apply_linear, apply_to
from funcgrad.torch.core.backward.history import Op, op
from funcgrad.torch.core.dtypes import numpy_dtype
from funcgrad.torch.core.errors import dims_of
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import SETTINGS
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.pointwise.arithmetic import F32
from funcgrad.torch.operations.registry import operation
from funcgrad.types import Anything, Array, Arrays, AxisLike, DTypeLike


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


def _logsumexp(x: Array, axes: AxisLike, keepdims: bool) -> Array:
    return fused(x, axis=axes, keepdims=keepdims) if x.dtype.kind == "c" else _of_reals(axes, keepdims, x)


def _fused(axes: AxisLike, keepdims: bool, x: Array) -> Array:
    return fused(x, axis=axes, keepdims=keepdims)


_of_reals = custom_jvp(_fused, nondiff_argnums=(0, 1))


@_of_reals.defjvp
def _of_reals_jvp(axes: AxisLike, keepdims: bool, primals: Arrays, tangents: Arrays) -> Arrays:
    (x,), (dx,) = primals, tangents
    out = _of_reals(axes, keepdims, x)
    each = np.reshape(out, [1 if k in axes else n for k, n in enumerate(x.shape)])
    # NaN where the largest is infinite, as in PyTorch.
    return out, np.sum(np.exp(x - each) * dx, axis=axes, keepdims=keepdims)


_LOGSUMEXP = Op("LogsumexpBackward0", _logsumexp, keeps_result=True)


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
    return apply(_LOGSUMEXP, (input,), (dims_of(dim, len(input._value.shape)), keepdim))
