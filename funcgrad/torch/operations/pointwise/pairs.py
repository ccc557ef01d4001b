"""Functions of two operands, element by element: the larger one, angles, powers, common divisors."""

from __future__ import annotations

import numpy as np

from funcgrad.api.rules.custom import custom_jvp
from funcgrad.scipy import special
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.pointwise.arithmetic import result_dtype
from funcgrad.torch.operations.pointwise.operators import power
from funcgrad.torch.operations.pointwise.rows import Row, of_two, publish
from funcgrad.torch.operations.registry import operation
from funcgrad.types import Array, Arrays


def _fmax(x: Array, y: Array) -> Array:
    # Of two equal numbers the first one has the derivative, as in PyTorch.
    return np.where((x >= y) | np.isnan(y), x, y)


def _fmin(x: Array, y: Array) -> Array:
    return np.where((x <= y) | np.isnan(y), x, y)


def _logaddexp(x: Array, y: Array) -> Array:
    return logaddexp_of_reals(x, y) if x.dtype.kind != "c" else logaddexp_of(x, y)


def logaddexp_of(x: Array, y: Array) -> Array:
    """``log(exp(x) + exp(y))`` of complex numbers, relative to the one with the larger real part."""
    first = np.real(x) >= np.real(y)
    larger: Array = np.where(first, x, y)
    smaller: Array = np.where(first, y, x)
    return larger + np.log(1 + np.exp(smaller - larger))


@custom_jvp
def _hypot(x: Array, y: Array) -> Array:
    return np.hypot(x, y)


@_hypot.defjvp
def _hypot_jvp(primals: Arrays, tangents: Arrays) -> Arrays:
    (x, y), (dx, dy) = primals, tangents
    out = _hypot(x, y)
    # NaN where both are 0, as in PyTorch.
    return out, x / out * dx + y / out * dy


@custom_jvp
def _xlogy(x: Array, y: Array) -> Array:
    return special.xlogy(x, y)


@_xlogy.defjvp
def _xlogy_jvp(primals: Arrays, tangents: Arrays) -> Arrays:
    (x, y), (dx, dy) = primals, tangents
    # As in PyTorch: where both are 0 the slope by the first is 0, and by the second NaN.
    slope = np.where((x == 0) & (y <= 0), np.zeros((), y.dtype), np.log(y))
    return _xlogy(x, y), slope * dx + x / y * dy


@custom_jvp
def logaddexp_of_reals(x: Array, y: Array) -> Array:
    """``log(exp(x) + exp(y))`` of real numbers."""
    return np.logaddexp(x, y)


@logaddexp_of_reals.defjvp
def _logaddexp_jvp(primals: Arrays, tangents: Arrays) -> Arrays:
    (x, y), (dx, dy) = primals, tangents
    # NaN where both are infinite alike, as in PyTorch.
    return logaddexp_of_reals(x, y), dx / (1 + np.exp(y - x)) + dy / (1 + np.exp(x - y))


# What has no derivative in PyTorch has a node with the name that it has there.
_ROWS = (
    Row("maximum", "MaximumBackward0", np.maximum, "The larger of two.", result="same", inplace=False),
    Row("minimum", "MinimumBackward0", np.minimum, "The smaller of two.", result="same", inplace=False),
    Row("fmax", "FmaxBackward0", _fmax, "The larger one that is not NaN.", result="same", inplace=False),
    Row("fmin", "FminBackward0", _fmin, "The smaller one that is not NaN.", result="same", inplace=False),
    Row("atan2", "Atan2Backward0", np.arctan2, "The angle of ``(other, input)``.", also=("arctan2",)),
    Row("hypot", "HypotBackward0", _hypot, "``sqrt(input**2 + other**2)``, without overflow."),
    Row("logaddexp", "LogaddexpBackward0", _logaddexp, "``log(exp(input) + exp(other))``.", inplace=False),
    Row("logaddexp2", "Logaddexp2Backward0", np.logaddexp2, "``log2(2**input + 2**other)``.", inplace=False),
    Row("copysign", "CopysignBackward0", np.copysign, "`input` with the sign of `other`."),
    Row("nextafter", "NextafterBackward0", np.nextafter, "The number next to `input`, towards `other`."),
    Row("xlogy", "XlogyBackward0", _xlogy, "``input * log(other)``, 0 where `input` is 0."),
    Row("gcd", "NotImplemented", np.gcd, "The greatest common divisor.", result="same"),
    Row("lcm", "NotImplemented", np.lcm, "The least common multiple.", result="same"),
)
publish(of_two, _ROWS)


@operation(inplace=True)
def float_power(input: Operand, exponent: Operand) -> Operand:
    """``input ** exponent``, in double precision, of numbers as well."""
    dtype = np.dtype(np.complex128 if result_dtype(input, exponent).kind == "c" else np.float64)
    base, power_of = [x.to(dtype) if isinstance(x, Tensor) else x for x in (input, exponent)]
    return power(base, power_of)
