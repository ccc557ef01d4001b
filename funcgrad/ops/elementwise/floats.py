"""The make-up of floating-point numbers: mantissa and exponent, fraction, neighbours, and the step at 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ops.arrays.lazy import ComposedUfunc
from funcgrad.ops.elementwise.comparison import equal
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.families import Binary, Unary, broadcast_to, summed_to
from funcgrad.ops.native import by_kind
from funcgrad.tracing.primitive import Flags
from funcgrad.tracing.samples import Sample, distinct, edge, integers, normal
from funcgrad.types import Array


def exponents(x: Array) -> Array:
    """The second result of ``np.frexp``."""
    return np.frexp(x)[1]


def fractions(x: Array) -> Array:
    """The first result of ``np.modf``."""
    return np.modf(x)[0]


_NEAR = "max(min(i64({1}), 1000), -1000)"
_REST = f"max(min(i64({{1}}) - {_NEAR}, 1000), -1000)"


class Ldexp(Binary):
    """``x * 2**n`` for an integer n."""

    name = "ldexp"
    exported = ("np.ldexp({0}, {1})",)
    ufunc = np.ldexp
    # In two steps, of which the first is exact: 2**n itself may not be a number.
    native = by_kind(iu=f"{{result}}({{0}} * exp2(f64({_REST})) * exp2(f64({_NEAR})))")
    kinds = "f"
    cost = 12

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, n = primals
        out = self.bind(x, n)
        return out, None if tangents[0] is None else broadcast_to(self(tangents[0], n), out.aval.shape)

    def linear_in(self, flags: Flags) -> bool:
        return flags == (True, False)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        x, n = inputs
        return summed_to(self(cotangent, n), x.aval), None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), integers(-3, 4, 3, 2)),
            Sample(normal(), integers(-3, 4, 3)),
            Sample(normal(3), integers(-3, 4)),
            Sample(edge(1e-300, 1e300, 5e-324, 3.0), integers(-1100, -1000, 4), differentiable=False),
            Sample(edge(1e-300, 1e-310, 5e-324, -0.0), integers(1000, 1100, 4), differentiable=False),
        )


class Exponent(Unary):
    """The integer ``e`` of ``x = m * 2**e`` with ``0.5 <= |m| < 1``, as ``np.frexp`` gives it."""

    name = "exponent"
    exported = ("math.frexp({0})[1]",)
    ufunc = ComposedUfunc("exponent", exponents, np.frexp, result=1)
    kinds = "f"

    def derivative(self, x: Array, out: Array) -> Array | None:
        return None

    def expression(self, names: Sequence[str], avals: object) -> str:
        return f"np.frexp({names[0]})[1]"

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), differentiable=False),
            Sample(edge(0.0, -1.0, 1e-320, 1024.0), differentiable=False),
        )


class Fraction(Unary):
    """``x`` without its integral part, with the sign of ``x``, as ``np.modf`` gives it."""

    name = "fraction"
    exported = ("fraction({0})",)
    ufunc = ComposedUfunc("fraction", fractions, np.modf)
    native = "copysign(select(fabs({0}) == INF, {operand}(0.0), {0} - trunc({0})), {0})"
    kinds = "f"
    cost = 4

    def derivative(self, x: Array, out: Array) -> Array:
        return 1

    def expression(self, names: Sequence[str], avals: object) -> str:
        return f"np.modf({names[0]})[0]"

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(distinct(3, 2)),
            Sample(distinct()),
            Sample(edge(-1.0, -1.5, np.inf, np.nan), differentiable=False),
        )


class NextAfter(Binary):
    """The next floating-point number after ``x`` towards ``y``: it moves as ``x`` does, whatever ``y`` is."""

    name = "nextafter"
    ufunc = np.nextafter
    native = "nextafter({0}, {1})"
    cost = 15
    kinds = "f"

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array | None:
        return 1.0 if i == 0 else None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), normal(3, 2)),
            Sample(edge(0.0, 1.0, np.inf), edge(1.0, 1.0, 0.0), differentiable=False),
        )


class Spacing(Unary):
    """The distance to the next floating-point number; its derivative is 0."""

    name = "spacing"
    exported = ("np.spacing({0})",)
    ufunc = np.spacing
    native = "nextafter({0}, copysign({operand}(INF), {0})) - {0}"
    kinds = "f"
    cost = 15

    def derivative(self, x: Array, out: Array) -> Array | None:
        return None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return Sample(normal(3, 2), differentiable=False), Sample(edge(0.0, 1.0, -1e10), differentiable=False)


class Heaviside(Binary):
    """0 for negative ``x``, 1 for positive ``x``, ``h`` for 0; the derivative by ``x`` is 0."""

    name = "heaviside"
    exported = ("heaviside({0}, {1})",)
    ufunc = np.heaviside
    native = (
        "select({0} < 0.0, {operand}(0.0), select({0} > 0.0, {operand}(1.0), select({0} == 0.0, {1}, {0})))"
    )
    kinds = "f"
    cost = 3

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = self.bind(*primals)
        h_dot = tangents[1]
        if h_dot is None:
            return out, None
        dot = where(equal(primals[0], 0.0), h_dot, out.aval.dtype.type(0))
        return out, broadcast_to(dot, out.aval.shape)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(distinct(3, 2), normal(3, 2)),
            Sample(distinct(), normal(3)),
            Sample(edge(0.0, -0.0, -1.0, np.nan), edge(0.5, 2.0, 0.5, 0.5), differentiable=False),
        )


ldexp = Ldexp()
exponent = Exponent()
fraction = Fraction()
nextafter = NextAfter()
spacing = Spacing()
heaviside = Heaviside()
