"""Size and sign: the absolute value, the sign, `copysign` and `hypot`.

Where such a function has a kink, its derivative there is 0: for ``abs(x)`` at 0, ``hypot(0, 0)`` and the
absolute value of a complex 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ops.elementwise.arithmetic import div, mul
from funcgrad.ops.elementwise.comparison import equal, isfinite, isinf
from funcgrad.ops.elementwise.complexes import conj, imag, make_complex, real, zero_of
from funcgrad.ops.elementwise.logic import logical_and
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.families import Binary, Unary, aval
from funcgrad.ops.native import by_kind
from funcgrad.tracing.samples import Sample, distinct, edge, integers, normal
from funcgrad.types import Array

POLARITY = "select({0} < 0, -{operand}(1), select({0} > 0, {operand}(1), {0}))"


class Sign(Unary):
    """-1, 0 or 1; ``z / |z|`` for complex numbers, and 0 for 0. Its derivative at 0 is 0."""

    name = "sign"
    ufunc = np.sign
    native = by_kind(f=POLARITY, i=f"{{result}}({POLARITY})")

    def expansion(self, *inputs: Array) -> Array | None:
        (z,) = inputs
        if aval(z).dtype.kind != "c":
            return None
        size, parts = absolute(z), [real(z), imag(z)]
        # As NumPy has it: one infinite part is a direction, beside NaN too, and two are none.
        infinite, ends = isinf(size), [isinf(x) for x in parts]
        length = where(ends[0], where(ends[1], np.nan, 1.0), 1.0)
        size = where(equal(size, 0.0), 1.0, where(infinite, length, size))
        parts = [
            where(infinite, where(end, self.bind(x), 0.0), x) for x, end in zip(parts, ends, strict=True)
        ]
        return make_complex(*[div(x, size) for x in parts])

    def derivative(self, x: Array, out: Array) -> Array | None:
        return None

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, x_dot = primals[0], tangents[0]
        if aval(x).dtype.kind != "c":
            return super().jvp(primals, tangents)
        # Only what is perpendicular to z turns it: out' = i out Im(conj(out) z') / |z|.
        out = self.bind(x)
        size = absolute(x)
        turn = div(imag(mul(x_dot, conj(out))), where(equal(size, 0.0), 1.0, size))
        return out, mul(make_complex(zero_of(turn), turn), out)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(distinct(3, 2)),
            Sample(distinct()),
            Sample(edge(0.0, -0.0, np.inf, np.nan), differentiable=False),
            Sample(integers(-3, 3, 4), differentiable=False),
        )


class Abs(Unary):
    """The absolute value. Its derivative at 0 is 0, the middle of the subgradients."""

    name = "abs"
    ufunc = np.absolute
    native = by_kind(
        f="fabs({0})", c="hypot({0}.real, {0}.imag)", i="{result}(select({0} < 0, -{0}, {0}))", ub="{0}"
    )
    keeps_weak = True

    def derivative(self, x: Array, out: Array) -> Array:
        return sign(x)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, x_dot = primals[0], tangents[0]
        if aval(x).dtype.kind != "c":
            return super().jvp(primals, tangents)
        return self.bind(x), real(mul(x_dot, conj(sign(x))))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(distinct(3, 2)),
            Sample(distinct()),
            Sample(edge(0.0, -0.0, -np.inf, np.nan), differentiable=False),
            Sample(integers(-3, 3, 4), differentiable=False),
        )


class CopySign(Binary):
    """The size of ``x`` with the sign of ``y``, that of -0.0 included. Its derivative at ``x = 0`` is 0."""

    name = "copysign"
    ufunc = np.copysign
    native = "copysign({0}, {1})"
    kinds = "f"

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array | None:
        x, y = primals
        return mul(sign(x), self(1.0, y)) if i == 0 else None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(distinct(3, 2), distinct(3, 2)),
            Sample(distinct(), distinct(3)),
            Sample(edge(0.0, 1.0, np.inf, np.nan), edge(-0.0, -0.0, -1.0, 1.0), differentiable=False),
        )


class Hypot(Binary):
    """``sqrt(x*x + y*y)`` without overflow. Its derivative at (0, 0) is 0.

    Where one number is infinite, the result moves with it, and not with the other.
    """

    name = "hypot"
    ufunc = np.hypot
    native = "hypot({0}, {1})"
    cost = 15
    kinds = "f"

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array:
        x, other = primals[i], primals[1 - i]
        far = logical_and(isinf(x), isfinite(other))
        share = div(where(far, sign(x), x), where(far, 1.0, out))
        return zero_where(equal(out, 0.0), share)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), normal(3, 2)),
            Sample(normal(3), normal()),
            Sample(edge(0.0, 1e300, 3.0, np.inf), edge(0.0, 1e300, 4.0, np.nan), differentiable=False),
        )


def zero_where(condition: Array, x: Array) -> Array:
    """`x`, and 0 where the condition holds, in every derivative too."""
    return where(condition, 0.0, x)


sign = Sign()
absolute = Abs()
copysign = CopySign()
hypot = Hypot()
