"""Elementary functions: exponentials, logarithms, roots, trigonometric and hyperbolic functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ops.arithmetic import add, div, mul, neg, sub
from funcgrad.ops.families import Unary, aval
from funcgrad.ops.magnitude import hypot
from funcgrad.tracing.samples import Sample, edge, normal, positive, uniform


class Everywhere(Unary):
    """A function that is smooth on the whole line."""

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2)),
            Sample(normal()),
            Sample(normal(0, 2)),
            Sample(edge(0.0, -0.0, 30.0, -30.0, np.inf, -np.inf, np.nan), differentiable=False),
        )


class OnPositive(Unary):
    """A function that is smooth for positive numbers."""

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(positive(3, 2)),
            Sample(positive()),
            Sample(edge(0.0, 1.0, 1e300, np.inf, np.nan, -1.0), differentiable=False),
        )


class InUnitInterval(Unary):
    """A function that is smooth between -1 and 1."""

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(uniform(-0.8, 0.8, 3, 2)),
            Sample(uniform(-0.8, 0.8)),
            Sample(edge(0.0, 1.0, -1.0, 2.0), differentiable=False),
        )


class Exp(Everywhere):
    """Exponential."""

    name = "exp"
    ufunc = np.exp

    def derivative(self, x: Any, out: Any) -> Any:
        return out


class Exp2(Everywhere):
    """Two to the power x."""

    name = "exp2"
    ufunc = np.exp2

    def derivative(self, x: Any, out: Any) -> Any:
        return mul(out, math.log(2.0))


class Expm1(Everywhere):
    """``exp(x) - 1``, accurate near 0."""

    name = "expm1"
    ufunc = np.expm1

    def derivative(self, x: Any, out: Any) -> Any:
        return exp(x)


class Log(OnPositive):
    """Natural logarithm."""

    name = "log"
    ufunc = np.log

    def derivative(self, x: Any, out: Any) -> Any:
        return div(1.0, x)


class Log2(OnPositive):
    """Logarithm to base 2."""

    name = "log2"
    ufunc = np.log2

    def derivative(self, x: Any, out: Any) -> Any:
        return div(1.0 / math.log(2.0), x)


class Log10(OnPositive):
    """Logarithm to base 10."""

    name = "log10"
    ufunc = np.log10

    def derivative(self, x: Any, out: Any) -> Any:
        return div(1.0 / math.log(10.0), x)


class Log1p(OnPositive):
    """``log(1 + x)``, accurate near 0."""

    name = "log1p"
    ufunc = np.log1p

    def derivative(self, x: Any, out: Any) -> Any:
        return div(1.0, add(x, 1.0))


class Sqrt(OnPositive):
    """Square root. Its derivative at 0 is infinity, the one-sided limit."""

    name = "sqrt"
    ufunc = np.sqrt

    def derivative(self, x: Any, out: Any) -> Any:
        return div(0.5, out)


class Cbrt(OnPositive):
    """Cube root."""

    name = "cbrt"
    ufunc = np.cbrt
    kinds = "f"

    def derivative(self, x: Any, out: Any) -> Any:
        return div(1.0 / 3.0, mul(out, out))


class Sin(Everywhere):
    """Sine of radians."""

    name = "sin"
    ufunc = np.sin

    def derivative(self, x: Any, out: Any) -> Any:
        return cos(x)


class Cos(Everywhere):
    """Cosine of radians."""

    name = "cos"
    ufunc = np.cos

    def derivative(self, x: Any, out: Any) -> Any:
        return neg(sin(x))


class Tan(Everywhere):
    """Tangent of radians."""

    name = "tan"
    ufunc = np.tan

    def derivative(self, x: Any, out: Any) -> Any:
        return add(mul(out, out), 1.0)


class Arcsin(InUnitInterval):
    """Inverse sine, in radians."""

    name = "arcsin"
    ufunc = np.arcsin

    def derivative(self, x: Any, out: Any) -> Any:
        return div(1.0, sqrt(mul(sub(1.0, x), add(x, 1.0))))


class Arccos(InUnitInterval):
    """Inverse cosine, in radians."""

    name = "arccos"
    ufunc = np.arccos

    def derivative(self, x: Any, out: Any) -> Any:
        return div(-1.0, sqrt(mul(sub(1.0, x), add(x, 1.0))))


class Arctan(Everywhere):
    """Inverse tangent, in radians."""

    name = "arctan"
    ufunc = np.arctan

    def derivative(self, x: Any, out: Any) -> Any:
        return div(1.0, add(mul(x, x), 1.0))


class Sinh(Everywhere):
    """Hyperbolic sine."""

    name = "sinh"
    ufunc = np.sinh

    def derivative(self, x: Any, out: Any) -> Any:
        return cosh(x)


class Cosh(Everywhere):
    """Hyperbolic cosine."""

    name = "cosh"
    ufunc = np.cosh

    def derivative(self, x: Any, out: Any) -> Any:
        return sinh(x)


class Tanh(Everywhere):
    """Hyperbolic tangent."""

    name = "tanh"
    ufunc = np.tanh

    def derivative(self, x: Any, out: Any) -> Any:
        return sub(1.0, mul(out, out))


class Arcsinh(Everywhere):
    """Inverse hyperbolic sine."""

    name = "arcsinh"
    ufunc = np.arcsinh

    def derivative(self, x: Any, out: Any) -> Any:
        if aval(x).dtype.kind == "c":
            return div(1.0, sqrt(add(mul(x, x), 1.0)))
        return div(1.0, hypot(x, 1.0))


class Arccosh(Unary):
    """Inverse hyperbolic cosine."""

    name = "arccosh"
    ufunc = np.arccosh

    def derivative(self, x: Any, out: Any) -> Any:
        return div(1.0, mul(sqrt(sub(x, 1.0)), sqrt(add(x, 1.0))))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return Sample(uniform(1.5, 3.0, 3, 2)), Sample(edge(1.0, 0.5, np.inf), differentiable=False)


class Arctanh(InUnitInterval):
    """Inverse hyperbolic tangent."""

    name = "arctanh"
    ufunc = np.arctanh

    def derivative(self, x: Any, out: Any) -> Any:
        return div(1.0, mul(sub(1.0, x), add(x, 1.0)))


class Degrees(Everywhere):
    """Radians as degrees."""

    name = "degrees"
    ufunc = np.degrees
    kinds = "f"

    def derivative(self, x: Any, out: Any) -> Any:
        return 180.0 / math.pi


class Radians(Everywhere):
    """Degrees as radians."""

    name = "radians"
    ufunc = np.radians
    kinds = "f"

    def derivative(self, x: Any, out: Any) -> Any:
        return math.pi / 180.0


exp = Exp()
exp2 = Exp2()
expm1 = Expm1()
log = Log()
log2 = Log2()
log10 = Log10()
log1p = Log1p()
sqrt = Sqrt()
cbrt = Cbrt()
sin = Sin()
cos = Cos()
tan = Tan()
arcsin = Arcsin()
arccos = Arccos()
arctan = Arctan()
sinh = Sinh()
cosh = Cosh()
tanh = Tanh()
arcsinh = Arcsinh()
arccosh = Arccosh()
arctanh = Arctanh()
degrees = Degrees()
radians = Radians()
