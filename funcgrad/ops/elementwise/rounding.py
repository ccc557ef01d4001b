"""Rounding, division with remainder, and integer divisors.

Rounded numbers are constant almost everywhere: their derivative is 0, at the jumps too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ops.elementwise.arithmetic import div, neg
from funcgrad.ops.families import Binary, Unary
from funcgrad.ops.native import by_kind
from funcgrad.tracing.samples import Sample, edge, integers, normal, positive
from funcgrad.types import Array


class Rounding(Unary):
    """To a whole number."""

    kinds = "f"
    severs = True

    def derivative(self, x: Array, out: Array) -> Array | None:
        return None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), differentiable=False),
            Sample(normal(), differentiable=False),
            Sample(edge(0.5, 1.5, 2.5, -0.5, -0.0, np.inf, np.nan), differentiable=False),
            Sample(integers(-3, 3, 4), differentiable=False),
        )


class Floor(Rounding):
    """Down."""

    name = "floor"
    ufunc = np.floor
    native = by_kind(f="floor({0})", biu="{0}")


class Ceil(Rounding):
    """Up."""

    name = "ceil"
    ufunc = np.ceil
    native = by_kind(f="ceil({0})", biu="{0}")


class Trunc(Rounding):
    """Towards zero."""

    name = "trunc"
    ufunc = np.trunc
    native = by_kind(f="trunc({0})", biu="{0}")


class Rint(Rounding):
    """To the nearest whole number, to the even one of two."""

    name = "rint"
    ufunc = np.rint
    native = by_kind(f="rint({0})", biu="{0}")
    kinds = "fc"

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return super().samples()[:-1]  # integers must be cast first


class FloorDivide(Binary):
    """The quotient rounded down; its derivative is 0."""

    name = "floor_divide"
    ufunc = np.floor_divide
    native = by_kind(f="floor_divide({0}, {1})", iu="{result}({0} // {1})")
    cost = 15
    symbol = "//"
    keeps_weak = True
    kinds = "f"
    severs = True

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array | None:
        return None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), positive(3, 2), differentiable=False),
            Sample(edge(7.0, -7.0, 1.0, np.inf), edge(2.0, 2.0, np.inf, 1.0), differentiable=False),
            Sample(integers(-9, 9, 4), integers(1, 4, 4), differentiable=False),
        )


class Remainder(Binary):
    """``x - y * floor(x / y)``, with the sign of ``y``, as Python's ``%``."""

    name = "remainder"
    ufunc = np.remainder
    native = by_kind(f="remainder({0}, {1})", iu="{result}({0} % {1})")
    cost = 15
    symbol = "%"
    keeps_weak = True
    kinds = "f"

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array:
        return 1 if i == 0 else neg(floor_divide(*primals))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), positive(3, 2)),
            Sample(normal(3), positive()),
            Sample(normal(), positive(3)),
            Sample(edge(7.0, -7.0, 1.0, np.inf), edge(2.0, 2.0, np.inf, 1.0), differentiable=False),
            Sample(integers(-9, 9, 4), integers(1, 4, 4), differentiable=False),
        )


class Fmod(Binary):
    """``x - y * trunc(x / y)``, with the sign of ``x``, as C's ``fmod``."""

    name = "fmod"
    ufunc = np.fmod
    native = by_kind(
        f="fmod({0}, {1})",
        # The remainder that Python has, with the sign of the other operand where it is not 0.
        iu="{result}(select(({0} % {1} != 0) & (({0} < 0) != ({1} < 0)), {0} % {1} - {1}, {0} % {1}))",
    )
    cost = 15
    kinds = "f"

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array:
        return 1 if i == 0 else neg(trunc(div(*primals)))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), positive(3, 2)),
            Sample(normal(3), positive()),
            Sample(edge(7.0, -7.0, 1.0, np.inf), edge(2.0, 2.0, np.inf, 1.0), differentiable=False),
            Sample(integers(-9, 9, 9), integers(-4, -1, 9), differentiable=False),
            Sample(integers(-9, 9, 4), integers(1, 4, 4), differentiable=False),
        )


class Divisor(Binary):
    """Of two integers."""

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array | None:
        return None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(integers(-9, 9, 3, 2), integers(1, 9, 3, 2), differentiable=False),
            Sample(integers(-9, 9, 9), integers(-9, 9, 9), differentiable=False),
            Sample(
                integers(-9, 9, 9, dtype=np.int8), integers(-9, 9, 9, dtype=np.int8), differentiable=False
            ),
            Sample(integers(0, 9, 4), integers(1, 9), differentiable=False),
        )


class Gcd(Divisor):
    """The greatest common divisor."""

    name = "gcd"
    exported = ("np.gcd({0}, {1})",)
    ufunc = np.gcd
    native = by_kind(i="{result}(common_divisor({0}, {1}))")
    cost = 40


class Lcm(Divisor):
    """The lowest common multiple."""

    name = "lcm"
    exported = ("np.lcm({0}, {1})",)
    ufunc = np.lcm
    native = by_kind(i="{result}(abs({0} // max(common_divisor({0}, {1}), 1) * {1}))")
    cost = 45


floor = Floor()
ceil = Ceil()
trunc = Trunc()
rint = Rint()
floor_divide = FloorDivide()
remainder = Remainder()
fmod = Fmod()
gcd = Gcd()
lcm = Lcm()
