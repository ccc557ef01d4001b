"""Softmax and its logarithm."""

from __future__ import annotations

import numpy as np

from funcgrad.scipy import special
from funcgrad.torch.core.apply import apply_to
from funcgrad.torch.core.backward.history import Op
from funcgrad.torch.core.errors import dim_of
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.pointwise.rows import F16, op_of_halves
from funcgrad.torch.operations.registry import operation
from funcgrad.types import Array, AxisLike, DTypeLike


def _softmax(x: Array, axis: AxisLike) -> Array:
    if not x.size:
        return x.copy()
    if type(x) is np.ndarray and x.ndim:
        # The same numbers as below, without what a function for tracers costs.
        weights = np.exp(x - np.maximum.reduce(x, axis, keepdims=True))
        weights /= np.add.reduce(weights, axis, keepdims=True)
        return weights
    return special.softmax(x, axis=axis) if x.ndim else np.ones((), x.dtype) + 0 * x


def _log_softmax(x: Array, axis: AxisLike) -> Array:
    if not x.size:
        return x.copy()
    if type(x) is np.ndarray and x.ndim:
        shifted = x - np.maximum.reduce(x, axis, keepdims=True)
        shifted -= np.log(np.add.reduce(np.exp(shifted), axis, keepdims=True))
        return shifted
    return special.log_softmax(x, axis=axis) if x.ndim else 0 * x


_SOFTMAX = Op("SoftmaxBackward0", _softmax, keeps_result=True)


_LOG_SOFTMAX = Op("LogSoftmaxBackward0", _log_softmax, keeps_result=True)


def _normalised(made: Op, input: Tensor, dim: AxisLike, dtype: DTypeLike) -> Operand:
    if dtype is not None:
        input = input.to(dtype)
    ndim = len(input._value.shape)
    at = dim_of((0 if ndim in (0, 1, 3) else 1) if dim is None else dim, ndim)
    if input._value.dtype.kind in "iubc":
        kernel = "log_softmax" if made is _LOG_SOFTMAX else "softmax"
        last = "_lastdim" if at == max(ndim - 1, 0) else ""
        raise NotImplementedError(f"\"{kernel}{last}_kernel_impl\" not implemented for '{_word(input)}'")
    return apply_to(op_of_halves(made) if input._value.dtype == F16 else made, input, (at,))


def _word(t: Tensor) -> str:
    return str(t.type()).removeprefix("torch.").removesuffix("Tensor")


@operation()
def softmax(input: Tensor, dim: AxisLike, dtype: DTypeLike = None) -> Operand:
    """Exponentials that add up to one along a dimension."""
    return _normalised(_SOFTMAX, input, dim, dtype)


@operation()
def log_softmax(input: Tensor, dim: AxisLike, dtype: DTypeLike = None) -> Operand:
    """The logarithm of `softmax`, without overflow."""
    return _normalised(_LOG_SOFTMAX, input, dim, dtype)
