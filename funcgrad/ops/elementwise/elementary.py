"""Elementary functions: exponentials, logarithms, roots, trigonometric and hyperbolic functions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ops.elementwise.arithmetic import strong_product
from funcgrad.ops.elementwise.comparison import isinf
from funcgrad.ops.elementwise.complexes import imag, make_complex, real
from funcgrad.ops.elementwise.magnitude import hypot
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.families import aval
from funcgrad.ops.native import analytic
from funcgrad.ops.rows import unary
from funcgrad.tracing.samples import Sample, edge, normal, positive, uniform
from funcgrad.types import Array

EVERYWHERE = (
    Sample(normal(3, 2)),
    Sample(normal()),
    Sample(normal(0, 2)),
    Sample(edge(0.0, -0.0, 30.0, -30.0, np.inf, -np.inf, np.nan), differentiable=False),
)
"""Samples of a function that is smooth on the whole line."""

ON_POSITIVE = (
    Sample(positive(3, 2)),
    Sample(positive()),
    Sample(edge(0.0, 1.0, 1e300, np.inf, np.nan, -1.0), differentiable=False),
)
"""Samples of a function that is smooth for positive numbers."""

IN_UNIT_INTERVAL = (
    Sample(uniform(-0.8, 0.8, 3, 2)),
    Sample(uniform(-0.8, 0.8)),
    Sample(edge(0.0, 1.0, -1.0, 2.0), differentiable=False),
)
"""Samples of a function that is smooth between -1 and 1."""

ABOVE_ONE = (Sample(uniform(1.5, 3.0, 3, 2)), Sample(edge(1.0, 0.5, np.inf), differentiable=False))
"""Samples of a function that is smooth above 1."""


@unary(np.exp, native=analytic("exp"), cost=15, samples=EVERYWHERE)
def exp(x: Array, out: Array) -> Array:
    """Exponential."""
    return out


@unary(np.exp2, native="exp2({0})", cost=15, samples=EVERYWHERE)
def exp2(x: Array, out: Array) -> Array:
    """Two to the power x."""
    return out * math.log(2.0)


@unary(np.expm1, native="expm1({0})", cost=15, samples=EVERYWHERE)
def expm1(x: Array, out: Array) -> Array:
    """``exp(x) - 1``, accurate near 0."""
    return exp(x)


@unary(np.log, native=analytic("log"), cost=15, samples=ON_POSITIVE)
def log(x: Array, out: Array) -> Array:
    """Natural logarithm."""
    return 1.0 / x


@unary(np.log2, native="log2({0})", cost=15, samples=ON_POSITIVE)
def log2(x: Array, out: Array) -> Array:
    """Logarithm to base 2."""
    return (1.0 / math.log(2.0)) / x


@unary(np.log10, native="log10({0})", cost=15, samples=ON_POSITIVE)
def log10(x: Array, out: Array) -> Array:
    """Logarithm to base 10."""
    return (1.0 / math.log(10.0)) / x


@unary(np.log1p, native="log1p({0})", cost=15, samples=ON_POSITIVE)
def log1p(x: Array, out: Array) -> Array:
    """``log(1 + x)``, accurate near 0."""
    return 1.0 / (x + 1.0)


@unary(np.sqrt, native=analytic("sqrt"), cost=4, samples=ON_POSITIVE)
def sqrt(x: Array, out: Array) -> Array:
    """Square root. Its derivative at 0 is infinity, the one-sided limit."""
    return 0.5 / out


@unary(np.cbrt, native="cbrt({0})", cost=15, kinds="f", samples=ON_POSITIVE)
def cbrt(x: Array, out: Array) -> Array:
    """Cube root."""
    far = isinf(x)
    root = where(far, 1.0, out)
    return where(far, 0.0, (1.0 / 3.0) / (root * root))


@unary(np.sin, native=analytic("sin"), cost=15, samples=EVERYWHERE)
def sin(x: Array, out: Array) -> Array:
    """Sine of radians."""
    return cos(x)


@unary(np.cos, native=analytic("cos"), cost=15, samples=EVERYWHERE)
def cos(x: Array, out: Array) -> Array:
    """Cosine of radians."""
    return -sin(x)


@unary(np.tan, native=analytic("tan"), cost=15, samples=EVERYWHERE)
def tan(x: Array, out: Array) -> Array:
    """Tangent of radians."""
    return out * out + 1.0


def unit_gap(x: Array) -> Array:
    """``1 - x * x`` with all digits near -1 and 1.

    There one factor is zero, and the other's cotangent, infinity times that zero, has to be zero as well.
    """
    return strong_product(1.0 - x, x + 1.0)


# The roots of complex numbers below take parts one by one: a real number added to a complex one adds a zero
# to the imaginary part, and a negative zero, which says on which side of a branch cut it is, would be lost.


def root_of_gap(x: Array) -> Array:
    """``sqrt(1 - x * x)``, on a branch cut that of its side."""
    if aval(x).dtype.kind != "c":
        return sqrt(unit_gap(x))
    across, along = imag(x), real(x)
    return strong_product(sqrt(make_complex(1.0 - along, -across)), sqrt(make_complex(along + 1.0, across)))


@unary(np.arcsin, native="arcsin({0})", cost=15, samples=IN_UNIT_INTERVAL)
def arcsin(x: Array, out: Array) -> Array:
    """Inverse sine, in radians."""
    return 1.0 / root_of_gap(x)


@unary(np.arccos, native="arccos({0})", cost=15, samples=IN_UNIT_INTERVAL)
def arccos(x: Array, out: Array) -> Array:
    """Inverse cosine, in radians."""
    return -1.0 / root_of_gap(x)


def bell(x: Array) -> Array:
    """``1 / (1 + x * x)``."""
    return 1.0 / (x * x + 1.0)


def bell_text(names: Sequence[str], avals: Sequence[Aval]) -> str:
    """The same as source."""
    return f"1.0 / ({names[0]} * {names[0]} + 1.0)"


@unary(
    bell,
    native="{operand}(1) / ({0} * {0} + {operand}(1))",
    cost=5,
    samples=EVERYWHERE,
    expression=bell_text,
)
def arctan_slope(x: Array, out: Array) -> Array:
    """``1 / (1 + x * x)``, which comes to rest where x is infinite."""
    return -2.0 * out * strong_product(out, x)


@unary(np.arctan, native="arctan({0})", cost=15, samples=EVERYWHERE)
def arctan(x: Array, out: Array) -> Array:
    """Inverse tangent, in radians."""
    return arctan_slope(x)


@unary(np.sinh, native="sinh({0})", cost=15, samples=EVERYWHERE)
def sinh(x: Array, out: Array) -> Array:
    """Hyperbolic sine."""
    return cosh(x)


@unary(np.cosh, native="cosh({0})", cost=15, samples=EVERYWHERE)
def cosh(x: Array, out: Array) -> Array:
    """Hyperbolic cosine."""
    return sinh(x)


@unary(np.tanh, native=analytic("tanh"), cost=15, samples=EVERYWHERE)
def tanh(x: Array, out: Array) -> Array:
    """Hyperbolic tangent."""
    return 1.0 - out * out


@unary(np.arcsinh, native="arcsinh({0})", cost=15, samples=EVERYWHERE)
def arcsinh(x: Array, out: Array) -> Array:
    """Inverse hyperbolic sine."""
    if aval(x).dtype.kind == "c":
        return 1.0 / root_of_gap(make_complex(-imag(x), real(x)))
    return 1.0 / hypot(x, 1.0)


@unary(np.arccosh, native="arccosh({0})", cost=15, samples=ABOVE_ONE)
def arccosh(x: Array, out: Array) -> Array:
    """Inverse hyperbolic cosine."""
    above = x + 1.0 if aval(x).dtype.kind != "c" else make_complex(real(x) + 1.0, imag(x))
    return 1.0 / strong_product(sqrt(x - 1.0), sqrt(above))


@unary(np.arctanh, native="arctanh({0})", cost=15, samples=IN_UNIT_INTERVAL)
def arctanh(x: Array, out: Array) -> Array:
    """Inverse hyperbolic tangent."""
    return 1.0 / unit_gap(x)


@unary(np.degrees, native="{0} * {operand}(57.29577951308232)", kinds="f", samples=EVERYWHERE)
def degrees(x: Array, out: Array) -> Array:
    """Radians as degrees."""
    return 180.0 / math.pi


@unary(np.radians, native="{0} * {operand}(0.017453292519943295)", kinds="f", samples=EVERYWHERE)
def radians(x: Array, out: Array) -> Array:
    """Degrees as radians."""
    return math.pi / 180.0
