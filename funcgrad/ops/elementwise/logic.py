"""Logic on truth values and on the bits of integers, which has no derivative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ops.families import Binary, Unary
from funcgrad.ops.native import by_kind, infix
from funcgrad.tracing.primitive import Native
from funcgrad.tracing.samples import Sample, booleans, edge, integers, normal
from funcgrad.types import Array


def of_truth(symbol: str) -> Native:
    """An operator on whether the operands are not zero."""
    return {"b": f"{{0}} {symbol} {{1}}", "fciu": f"({{0}} != 0) {symbol} ({{1}} != 0)"}


class Logical(Binary):
    """Two operands of any dtype, of which zero is false."""

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array | None:
        return None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(booleans(3, 2), booleans(3, 2), differentiable=False),
            Sample(normal(3), normal(), differentiable=False),
            Sample(edge(0.0, -0.0, np.nan, 1.0), edge(np.nan, 1.0, np.nan, 2.0), differentiable=False),
            Sample(integers(0, 2, 4), integers(0, 2, 4), differentiable=False),
        )


class LogicalAnd(Logical):
    """True where both are true."""

    name = "logical_and"
    ufunc = np.logical_and
    native = of_truth("&")


class LogicalOr(Logical):
    """True where one or both are true."""

    name = "logical_or"
    ufunc = np.logical_or
    native = of_truth("|")


class LogicalXor(Logical):
    """True where exactly one is true."""

    name = "logical_xor"
    ufunc = np.logical_xor
    native = of_truth("!=")


class LogicalNot(Unary):
    """True where the operand is false."""

    name = "logical_not"
    ufunc = np.logical_not
    native = by_kind(b="not {0}", fciu="{0} == 0")

    def derivative(self, x: Array, out: Array) -> Array | None:
        return None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(booleans(3, 2), differentiable=False),
            Sample(edge(0.0, -0.0, np.nan, 1.0), differentiable=False),
            Sample(integers(0, 2), differentiable=False),
        )


class Bitwise(Binary):
    """Two booleans or integers, bit by bit."""

    keeps_weak = True

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array | None:
        return None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(booleans(3, 2), booleans(3, 2), differentiable=False),
            Sample(integers(-9, 9, 4), integers(-9, 9, 4), differentiable=False),
            Sample(integers(0, 9, 4, dtype=np.uint8), integers(0, 9, dtype=np.uint8), differentiable=False),
        )


class BitwiseAnd(Bitwise):
    """Bits set in both."""

    name = "bitwise_and"
    ufunc = np.bitwise_and
    native = infix("&", "&", kinds="iu")
    symbol = "&"


class BitwiseOr(Bitwise):
    """Bits set in one or both."""

    name = "bitwise_or"
    ufunc = np.bitwise_or
    native = infix("|", "|", kinds="iu")
    symbol = "|"


class BitwiseXor(Bitwise):
    """Bits set in exactly one."""

    name = "bitwise_xor"
    ufunc = np.bitwise_xor
    native = infix("^", "^", kinds="iu")
    symbol = "^"


class Shift(Bitwise):
    """An integer and the number of places its bits move."""

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(integers(-9, 9, 3, 2), integers(0, 5, 3, 2), differentiable=False),
            Sample(integers(0, 9, 4, dtype=np.uint8), integers(0, 5, dtype=np.uint8), differentiable=False),
        )


class LeftShift(Shift):
    """Bits moved to the left, which multiplies by powers of two."""

    name = "left_shift"
    ufunc = np.left_shift
    native = by_kind(iu="{result}(shift_left({0}, {1}))")
    symbol = "<<"


class RightShift(Shift):
    """Bits moved to the right, which divides by powers of two and rounds down."""

    name = "right_shift"
    ufunc = np.right_shift
    native = by_kind(iu="{result}(shift_right({0}, {1}))")
    symbol = ">>"


class Invert(Unary):
    """All bits flipped; negation for booleans."""

    name = "invert"
    ufunc = np.invert
    native = by_kind(b="not {0}", iu="{result}(~{0})")
    symbol = "~"

    def derivative(self, x: Array, out: Array) -> Array | None:
        return None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(booleans(3, 2), differentiable=False),
            Sample(integers(-9, 9, 4), differentiable=False),
        )


class BitwiseCount(Unary):
    """How many bits of the absolute value are set."""

    name = "bitwise_count"
    ufunc = np.bitwise_count
    native = by_kind(i="{result}(bits_set({0}))")
    cost = 4

    def derivative(self, x: Array, out: Array) -> Array | None:
        return None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(integers(-9, 9, 3, 2), differentiable=False),
            Sample(integers(0, 9, 4, dtype=np.uint8), differentiable=False),
        )


logical_and = LogicalAnd()
logical_or = LogicalOr()
logical_xor = LogicalXor()
logical_not = LogicalNot()
bitwise_and = BitwiseAnd()
bitwise_or = BitwiseOr()
bitwise_xor = BitwiseXor()
left_shift = LeftShift()
right_shift = RightShift()
invert = Invert()
bitwise_count = BitwiseCount()
