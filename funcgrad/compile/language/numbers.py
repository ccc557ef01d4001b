"""Words that make a number of another type, or choose between numbers of one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.compile.language.values import (
    Type,
    Unsupported,
    Value,
    constant,
    halves,
    is_complex,
    is_signed,
    paired,
    part,
    promoted,
)
from funcgrad.compile.language.word import (
    CHOSEN,
    Direct,
    Elements,
    Known,
    Lowered,
    Sample,
    Signature,
    Types,
    Word,
    kinds,
)
from funcgrad.types import Anything, Foreign, Number

if TYPE_CHECKING:
    from funcgrad.compile.language.word import Built, Instructions


NUMBER_TYPES: dict[str, Any] = {
    "bool": np.bool_,
    **{f"i{bits}": getattr(np, f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"u{bits}": getattr(np, f"uint{bits}") for bits in (8, 16, 32, 64)},
    **{f"f{bits}": getattr(np, f"float{bits}") for bits in (32, 64)},
    **{f"c{bits}": getattr(np, f"complex{bits}") for bits in (64, 128)},
}
"""The types of numbers that a kernel computes with, and NumPy's for each."""

_FINITE = (0.0, -0.0, 1.5, -2.75, 1e30, 1e-39, 3.0, -127.0)
FINITE, NUMBERS = Elements("f64", _FINITE), Elements("f64", (*_FINITE, math.nan, math.inf, -math.inf))
OTHERS = Elements("f64", (math.nan, 1.0, 0.0, -2.75, -1e30, 2.5, -3.0, 127.0, 4.0, -math.inf, math.inf))


def conversion(kind: str) -> Word:
    """The word that makes a number of a type."""
    scalar = NUMBER_TYPES[kind]
    name = "boolean" if kind == "bool" else kind

    def converted(x: Number) -> Number:
        if kind[0] in "iu" and isinstance(x, float | np.floating):
            # Machines convert to 64 bits and keep the lowest.
            return np.asarray(x).astype(np.uint64 if kind == "u64" else np.int64).astype(scalar)[()]
        return np.asarray(x).astype(scalar)[()]

    converted.__name__ = name
    converted.__doc__ = f"The number as {scalar.__name__}; integers wrap around."

    def rule(given: Sequence[Type], known: Sequence[Known]) -> Signature | None:
        (x,) = given
        is_number = isinstance(x, str) and x in NUMBER_TYPES
        loses = is_number and is_complex(x) and not is_complex(kind) and kind != "bool"
        return Signature((x,), kind) if is_number and not loses else None

    def direct(writer: Anything, arguments: Sequence[Value]) -> Value:
        (x,) = arguments
        converted: Value = writer.cast(x, kind)
        return converted

    def lowered(lowering: Anything, arguments: Sequence[Any], signature: Signature) -> Foreign:
        return lowering.converted(arguments[0], signature.arguments[0], kind)

    samples = (
        Sample(f"out[i] = {name}(a[i])", (Elements("f64", (0.0, -0.0, 1.5, -2.75, 3.0, -127.0)),), kind),
        Sample(f"out[i] = {name}(a[i])", (Elements("i64", (-1, 0, 255, 1 << 40, -(1 << 62))),), kind),
        Sample(f"out[i] = {name}(a[i] != 0.0)", (NUMBERS,), kind),
    )
    return Word(name, Types(f"number -> {kind}", rule), converted, direct, lowered, samples)


def select(condition: Number, x: Number, y: Number) -> Number:
    """``x if condition else y``, where both are computed."""
    return x if condition else y


def direct_select(writer: Instructions, arguments: Sequence[Value]) -> Value:
    """One instruction."""
    condition, x, y = arguments
    if x.type != y.type:
        x, y = (x, writer.cast(y, x.type)) if y.known is not None else (writer.cast(x, y.type), y)
    chosen: Value = writer.select(condition, x, y)
    return chosen


def lowered_select(lowering: Instructions, arguments: Sequence[Any], signature: Signature) -> Built:
    """One instruction."""
    return lowering.builder.select(*arguments)


@kinds("x -> x, complex or not")
def itself(given: Sequence[Type], known: Sequence[Known]) -> Signature | None:
    """One number, and a result of its type."""
    (x,) = given
    return Signature((x,), x) if isinstance(x, str) else None


def conjugate(x: Number) -> Number:
    """The complex conjugate; a real number itself."""
    return np.conjugate(x)


def direct_conjugate(writer: Instructions, arguments: Sequence[Value]) -> Value:
    """The imaginary part with its sign turned."""
    (x,) = arguments
    if not is_complex(x.type):
        return x
    real, imaginary = halves(x)
    return paired(x.type, real, writer.negative(imaginary))


def lowered_conjugate(lowering: Instructions, arguments: Sequence[Any], signature: Signature) -> Built:
    """The imaginary part with its sign turned."""
    (x,) = arguments
    if not is_complex(signature.result):
        return x
    builder = lowering.builder
    return builder.insert_value(x, builder.fneg(builder.extract_value(x, 1)), 1)


@kinds("complex, number -> complex, or number, complex -> complex")
def two_complex(given: Sequence[Type], known: Sequence[Known]) -> Signature | None:
    """Two numbers of the complex type that they promote to."""
    if len(given) != 2 or not any(map(is_complex, given)):
        return None
    kind = promoted(*given)
    return Signature((kind, kind), kind)


def quotient(x: Number, y: Number) -> Number:
    """``x / y`` of complex numbers, where division by zero divides each part, as in NumPy."""
    kind = np.result_type(x, y).type
    a, b, c, d = [part for z in (kind(x), kind(y)) for part in (z.real, z.imag)]
    wide = abs(c) >= abs(d)
    big, small, first, second = (c, d, a, b) if wide else (d, c, b, a)
    if max(abs(c), abs(d)) == 0 and not (np.isnan(c) or np.isnan(d)):
        return kind(complex(a / abs(c), b / abs(c)))
    ratio = small / big
    scale = big + small * ratio
    turned = second - first * ratio if wide else first * ratio - second
    return kind(complex((first + second * ratio) / scale, turned / scale))


def direct_quotient(writer: Instructions, arguments: Sequence[Value]) -> Value:
    """By the larger part of the divisor (R. L. Smith, "Algorithm 116: Complex division", 1962)."""
    left, right = arguments
    kind = promoted(left.type, right.type)
    if not is_complex(kind):
        raise Unsupported(f"a complex quotient of {left.type} and {right.type}")
    left, right = writer.cast(left, kind), writer.cast(right, kind)
    (a, b), (c, d) = halves(left), halves(right)
    kind = part(kind)
    sizes = [writer.call(f"llvm.fabs.{kind}", kind, [half]) for half in (c, d)]
    wide = writer.compare("fcmp oge", *sizes)
    big, small = writer.select(wide, c, d), writer.select(wide, d, c)
    first, second = writer.select(wide, a, b), writer.select(wide, b, a)
    ratio = writer.binary("fdiv", small, big)
    scale = writer.binary("fadd", big, writer.binary("fmul", small, ratio))
    # By zero each part is divided by itself, as NumPy does it: there is no ratio.
    zero = constant(kind, 0.0)
    void = writer.compare("fcmp oeq", writer.select(wide, *sizes), zero)
    scale = writer.select(void, sizes[0], scale)
    turns = [writer.select(void, zero, writer.binary("fmul", x, ratio)) for x in (second, first)]
    real = writer.binary("fdiv", writer.binary("fadd", first, turns[0]), scale)
    minuend, rest = writer.select(wide, second, turns[1]), writer.select(wide, turns[1], second)
    turned = writer.binary("fsub", minuend, rest)
    return paired(left.type, real, writer.binary("fdiv", turned, scale))


def lowered_quotient(lowering: Instructions, arguments: Sequence[Any], signature: Signature) -> Built:
    """The same steps, each without flags: they are rounded by themselves."""
    builder, real = lowering.builder, "f32" if signature.result == "c64" else "f64"
    (a, b), (c, d) = [[builder.extract_value(x, k) for k in (0, 1)] for x in arguments]
    sizes = [lowering.intrinsic("fabs", real, [half]) for half in (c, d)]
    wide = builder.fcmp_ordered(">=", *sizes)
    big, small, first, second = (builder.select(wide, *two) for two in ((c, d), (d, c), (a, b), (b, a)))
    ratio = lowering.plain("fdiv", small, big)
    scale = lowering.plain("fadd", big, lowering.plain("fmul", small, ratio))
    zero = lowering.constant(real, 0.0)
    void = builder.fcmp_ordered("==", builder.select(wide, *sizes), zero)
    scale = builder.select(void, sizes[0], scale)
    turns = [builder.select(void, zero, lowering.plain("fmul", x, ratio)) for x in (second, first)]
    minuend, rest = builder.select(wide, second, turns[1]), builder.select(wide, turns[1], second)
    parts = lowering.plain("fadd", first, turns[0]), lowering.plain("fsub", minuend, rest)
    return lowering.paired(signature.result, *[lowering.plain("fdiv", x, scale) for x in parts])


@kinds("integer, integer -> int64 or uint64, as the first")
def shifting(given: Sequence[Type], known: Sequence[Known]) -> Signature | None:
    """Integers of 64 bits, signed as the first."""
    if len(given) != 2 or not all(isinstance(kind, str) and kind[0] in "iu" for kind in given):
        return None
    kind = "i64" if is_signed(given[0]) else "u64"
    return Signature((kind, kind), kind)


def shift_left(x: Number, count: Number) -> Number:
    """``x << count``, where a count that no word has shifts everything out."""
    return np.left_shift(np.asarray(x).astype(_wide(x)), np.asarray(count).astype(_wide(x)))


def shift_right(x: Number, count: Number) -> Number:
    """``x >> count``, where a count that no word has shifts everything out."""
    return np.right_shift(np.asarray(x).astype(_wide(x)), np.asarray(count).astype(_wide(x)))


def _wide(x: Number) -> type[np.uint64] | type[np.int64]:
    return np.uint64 if np.asarray(x).dtype.kind == "u" else np.int64


def direct_shift(left: bool) -> Direct:
    """Processors look at the lowest bits of the count only. NumPy shifts everything out."""

    def direct(writer: Anything, arguments: Sequence[Value]) -> Value:
        x, count = arguments
        kind = "i64" if is_signed(x.type) else "u64"
        x, count = writer.cast(x, kind), writer.cast(count, kind)
        last = constant(kind, 63)
        inside = writer.compare("icmp ule", count, last)
        count = writer.select(inside, count, last)
        if not left and kind == "i64":
            arithmetic: Value = writer.binary("ashr", x, count)
            return arithmetic
        shifted = writer.binary("shl" if left else "lshr", x, count)
        found: Value = writer.select(inside, shifted, constant(kind, 0))
        return found

    return direct


def lowered_shift(left: bool) -> Lowered:
    """The same with Numba's builder."""

    def lowered(lowering: Anything, arguments: Sequence[Any], signature: Signature) -> Foreign:
        builder, (x, count) = lowering.builder, arguments
        last, zero = lowering.constant("u64", 63), lowering.constant("u64", 0)
        inside = builder.icmp_unsigned("<=", count, last)
        count = builder.select(inside, count, last)
        if not left and signature.result == "i64":
            return builder.ashr(x, count)
        return builder.select(inside, (builder.shl if left else builder.lshr)(x, count), zero)

    return lowered


_COMPLEX = (1 + 2j, -3 + 0.5j, 0j, 2 - 1j, complex(-0.0, 4.0))
COMPLEX, TURNED = Elements("c128", _COMPLEX), Elements("c128", _COMPLEX[::-1])
NO_NUMBER = Elements("c128", (0j, complex(0.0, -0.0), 0j, 0j, 0j))
SINGLE, SINGLE_TURNED = Elements("c64", _COMPLEX[:2]), Elements("c64", _COMPLEX[1::-1])
COUNTS = Elements("i64", (1, 3, 63, 64, -1, 0))


def whole(kind: str) -> Elements:
    """Integers of a type."""
    signed = (5, -7, 1 << 13, -(1 << 14), 3, 9)
    return Elements(kind, signed if kind[0] == "i" else tuple([abs(x) for x in signed]))


NUMBER_WORDS: tuple[Word, ...] = (
    *[conversion(kind) for kind in NUMBER_TYPES],
    Word(
        *("select", CHOSEN, select, direct_select, lowered_select),
        (
            Sample("out[i] = select(a[i] > b[i], a[i], b[i])", (NUMBERS, OTHERS)),
            Sample("out[i] = select(a[i] > 0.0, a[i], 1)", (NUMBERS,)),
            Sample("out[i] = select(a[i] == b[i], a[i], b[i])", (COMPLEX, TURNED), "c128"),
        ),
    ),
    Word(
        *("conjugate", itself, conjugate, direct_conjugate, lowered_conjugate),
        (
            Sample("out[i] = conjugate(a[i])", (COMPLEX,), "c128"),
            Sample("out[i] = conjugate(a[i])", (NUMBERS,)),
        ),
    ),
    Word(
        *("quotient", two_complex, quotient, direct_quotient, lowered_quotient),
        (
            Sample("out[i] = quotient(a[i], b[i])", (COMPLEX, TURNED), "c128"),
            Sample("out[i] = quotient(a[i], b[i])", (COMPLEX, NO_NUMBER), "c128"),
            Sample("out[i] = quotient(1.0, a[i])", (COMPLEX,), "c128"),
            Sample("out[i] = quotient(a[i], b[i])", (SINGLE, SINGLE_TURNED), "c64"),
        ),
    ),
    *[
        Word(
            *(python.__name__, shifting, python, direct_shift(left), lowered_shift(left)),
            (
                Sample(f"out[i] = {python.__name__}(a[i], b[i])", (whole("i64"), COUNTS), "i64"),
                Sample(f"out[i] = {python.__name__}(a[i], b[i])", (whole("u64"), COUNTS), "u64"),
                Sample(f"out[i] = {python.__name__}(a[i], b[i])", (whole("i16"), COUNTS), "i64"),
            ),
        )
        for python, left in ((shift_left, True), (shift_right, False))
    ],
)
"""Conversions, choices, and operators of which Python's signs are other things in one engine or the other."""
