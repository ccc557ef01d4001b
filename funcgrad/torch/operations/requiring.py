"""What operations require of the dtypes of their tensors, and PyTorch's words where they get others."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from funcgrad.torch.core.dtypes import LONG_NAMES, TYPE_NAMES
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.tensor import Tensor
from funcgrad.types import Anything


def kind_of(t: Tensor) -> str:
    """PyTorch's short word for the dtype: ``"Float"``."""
    return TYPE_NAMES[t._value.dtype.name]


def long_word(t: Tensor) -> str:
    """PyTorch's other word for the dtype, C++'s: ``"float"``."""
    name: str = t._value.dtype.name
    return LONG_NAMES.get(name, name)


UNDEFINED: dict[str, tuple[str, str]] = {
    "abs": ("b", "abs_cpu"),
    "absolute": ("b", "abs_cpu"),
    "addcdiv": ("b", "addcdiv_cpu_out"),
    "addcmul": ("b", "addcmul_cpu_out"),
    "addmm": ("b", "addmm_impl_cpu_"),
    "bernoulli": ("biu", "bernoulli_tensor_cpu_p_"),
    "bitwise_not": ("fc", "bitwise_not_cpu"),
    "copysign": ("c", "copysign_cpu"),
    "bitwise_left_shift": ("b", "lshift_cpu"),
    "bitwise_right_shift": ("b", "rshift_cpu"),
    "dot": ("b", "dot"),
    "frac": ("biuc", "frac_cpu"),
    "gcd": ("fc", "gcd_cpu"),
    "histc": ("biu", "histogram_cpu"),
    "histogram": ("biuc", "histogramdd"),
    "hypot": ("biuc", "hypot_cpu"),
    "igamma": ("biu", "igamma_cpu"),
    "igammac": ("biu", "igammac_cpu"),
    "kthvalue": ("b", "kthvalue_cpu"),
    "lcm": ("fc", "lcm_cpu"),
    "lerp": ("biu", "lerp_kernel_scalar"),
    "lgamma": ("c", "lgamma_vml_cpu"),
    "logaddexp": ("biu", "logaddexp_cpu"),
    "logaddexp2": ("biu", "logaddexp2_cpu"),
    "logcumsumexp": ("biu", "logcumsumexp_out_cpu"),
    "median": ("b", "median_cpu"),
    "nanmedian": ("b", "median_cpu"),
    "nextafter": ("biuc", "nextafter_cpu"),
    "poisson": ("biu", "poisson_cpu"),
    "round": ("b", "round_vml_cpu"),
}
"""Kinds of dtypes for which PyTorch has no such operation, and what its message calls the operation."""


def require_kinds(name: str, *tensors: Tensor) -> None:
    """Raise NotImplementedError, in PyTorch's words, for dtypes that an operation of the table refuses."""
    kinds, kernel = UNDEFINED[name]
    for t in tensors:
        if t._value.dtype.kind in kinds:
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{kind_of(t)}'")


def require_real(input: Tensor, q: object) -> None:
    """Raise RuntimeError unless a tensor, and its quantiles' levels, are of one dtype of real numbers."""
    if input._value.dtype.name not in ("float32", "float64"):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if isinstance(q, Tensor) and q._value.dtype != input._value.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")


_BOTH = "both inputs should have same dtype"
_DOT = "dot : expected both vectors to have same dtype, but found {0} and {1}"
_SCALAR = "expected scalar type {0} but found {1}"
OF_ONE_DTYPE: dict[str, str] = {"cdist": _SCALAR, "inner": _BOTH, "tensordot": _BOTH, "vdot": _DOT}
"""Operations of two tensors of the same dtype, and what is said where they differ."""


def with_one_dtype(f: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function, which refuses two tensors of different dtypes."""
    message = OF_ONE_DTYPE[name]

    @functools.wraps(f)
    def function(input: Operand, other: Operand, *args: Operand, **kwargs: Anything) -> Operands:
        both = isinstance(input, Tensor) and isinstance(other, Tensor)
        if both and input._value.dtype != other._value.dtype:
            raise RuntimeError(message.format(kind_of(input), kind_of(other)))
        return f(input, other, *args, **kwargs)

    return function
