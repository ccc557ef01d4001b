"""Variances and standard deviations, alone and with the mean."""

from __future__ import annotations

import warnings

import numpy as np

from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import Op
from funcgrad.torch.core.errors import dims_of
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.reducing.sums import mean_of
from funcgrad.torch.operations.registry import FUNCTIONS, operation
from funcgrad.types import Array, Arrays, AxisLike, Option

__all__: list[str] = []


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
    ) -> Operands:
        dim, correction = _corrected(dim, unbiased, correction)
        axes = dims_of(dim, len(input._value.shape))
        return apply(both, (input,), (axes, correction, keepdim))

    moment.__name__ = moment.__qualname__ = name
    operation(name)(moment)
    FUNCTIONS[f"{name}_mean"] = with_mean


_moments("var", _VAR)
_moments("std", _STD)
