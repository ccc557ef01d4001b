"""Words of real arithmetic: sums that may be reordered or must be rounded, extremes, powers, bits."""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.compile.language.numbers import FINITE, NUMBERS, OTHERS
from funcgrad.compile.language.values import Type, Unsupported, Value, constant, is_float, width
from funcgrad.compile.language.word import (
    LIKE_FIRST,
    REALS,
    Direct,
    Elements,
    Known,
    Lowered,
    Sample,
    Signature,
    Word,
    fixed,
    kinds,
)
from funcgrad.types import Anything, Foreign, Number

if TYPE_CHECKING:
    from funcgrad.compile.language.word import Built, Instructions

__all__ = ["ARITHMETIC_WORDS", "intrinsic"]

TWO = (NUMBERS, OTHERS)
TWO_SINGLE = (NUMBERS._replace(kind="f32"), OTHERS._replace(kind="f32"))


def plus(total: Number, x: Number) -> Number:
    """A step of a sum whose terms may be added in any order."""
    return total + type(total)(x)


def direct_plus(writer: Instructions, arguments: Sequence[Value]) -> Value:
    """An addition that may be reassociated: loops of it vectorise."""
    total, x = arguments
    added: Value = writer.binary("fadd reassoc contract", total, writer.cast(x, total.type))
    return added


def lowered_plus(lowering: Instructions, arguments: Sequence[Any], signature: Signature) -> Built:
    """An addition that may be reassociated: loops of it vectorise."""
    return lowering.builder.fadd(*arguments, flags=("reassoc", "contract"))


def rounded_sum(x: Number, y: Number) -> Number:
    """``x + y``, rounded by itself: no compiler fuses it with a product."""
    return x + type(x)(y)


def rounded_difference(x: Number, y: Number) -> Number:
    """``x - y``, rounded by itself: no compiler fuses it with a product."""
    return x - type(x)(y)


def direct_rounded(instruction: str) -> Direct:
    """Without flags an instruction is rounded by itself."""

    def direct(writer: Anything, arguments: Sequence[Value]) -> Value:
        x, y = arguments
        if not is_float(x.type):
            raise Unsupported(f"{instruction} of {x.type}")
        found: Value = writer.binary(instruction, x, writer.cast(y, x.type))
        return found

    return direct


def lowered_rounded(instruction: str) -> Lowered:
    """Without flags an instruction is rounded by itself."""

    def lowered(lowering: Anything, arguments: Sequence[Any], signature: Signature) -> Foreign:
        return lowering.plain(instruction, *arguments)

    return lowered


def maximum(x: Number, y: Number) -> Number:
    """The larger number; NaN wins, and 0.0 is larger than -0.0."""
    if x == 0 and y == 0:
        return type(x)(x if np.signbit(y) else y)
    return type(x)(np.maximum(x, y))


def minimum(x: Number, y: Number) -> Number:
    """The smaller number; NaN wins, and -0.0 is smaller than 0.0."""
    if x == 0 and y == 0:
        return type(x)(x if np.signbit(x) else y)
    return type(x)(np.minimum(x, y))


def fmax(x: Number, y: Number) -> Number:
    """The larger number; a number wins over NaN."""
    return type(x)(np.fmax(x, y))


def fmin(x: Number, y: Number) -> Number:
    """The smaller number; a number wins over NaN."""
    return type(x)(np.fmin(x, y))


EXTREMES: dict[Callable[..., Any], str] = {
    maximum: "maximum",
    minimum: "minimum",
    fmax: "maxnum",
    fmin: "minnum",
}
"""Each as an instruction of LLVM."""


def direct_extreme(name: str) -> Direct:
    """An instruction of LLVM."""

    def direct(writer: Anything, arguments: Sequence[Value]) -> Value:
        x, y = arguments
        if not is_float(x.type):
            raise Unsupported(f"{name} of {x.type}")
        found: Value = writer.call(f"llvm.{name}.{x.type}", str(x.type), [x, writer.cast(y, x.type)])
        return found

    return direct


def intrinsic(name: str) -> tuple[Direct, Lowered]:
    """An instruction of LLVM's, for either engine."""

    def direct(writer: Anything, arguments: Sequence[Value]) -> Value:
        found = REALS.rule([value.type for value in arguments], [value.known for value in arguments])
        if found is None:
            raise Unsupported(f"{name} of a complex number")
        values = [writer.cast(value, found.result) for value in arguments]
        called: Value = writer.call(f"llvm.{name}.{found.result}", str(found.result), values)
        return called

    def lowered(lowering: Anything, arguments: Sequence[Any], signature: Signature) -> Foreign:
        return lowering.intrinsic(name, str(signature.result), arguments)

    return direct, lowered


def signbit(x: Number) -> Number:
    """Whether the sign is minus, that of a zero or of NaN too."""
    return np.signbit(x)


def direct_signbit(writer: Instructions, arguments: Sequence[Value]) -> Value:
    """The highest bit."""
    (x,) = arguments
    bits = f"i{width(x.type)}"
    word = Value(bits, writer.emit(f"bitcast {'float' if x.type == 'f32' else 'double'} {x.text} to {bits}"))
    found: Value = writer.compare("icmp slt", word, constant(bits, 0))
    return found


def lowered_signbit(lowering: Instructions, arguments: Sequence[Any], signature: Signature) -> Built:
    """The highest bit."""
    bits = f"i{width(signature.arguments[0])}"
    word = lowering.bitcast(arguments[0], bits)
    return lowering.builder.icmp_signed("<", word, lowering.constant(bits, 0))


@kinds("number -> uint64")
def ordered_bits(given: Sequence[Type], known: Sequence[Known]) -> Signature | None:
    """A real number of any type."""
    (x,) = given
    return Signature((x,), "u64") if isinstance(x, str) and x[0] in "iufb" else None


@kinds("float -> bool")
def of_float(given: Sequence[Type], known: Sequence[Known]) -> Signature | None:
    """A real floating-point number, and a truth value."""
    return Signature((given[0],), "bool") if len(given) == 1 and is_float(given[0]) else None


def order_bits(x: Number) -> Number:
    """A number as unsigned bits that are ordered as numbers are: NaN last, zeros of both signs equal."""
    array = np.asarray(x)
    if array.dtype.kind in "bu":
        return array.astype(np.uint64)[()]
    if array.dtype.kind == "i":
        return array.astype(np.int64).view(np.uint64)[()] ^ np.uint64(1 << 63)
    bits = 8 * array.itemsize
    if np.isnan(x):
        return np.uint64((1 << bits) - 1)
    word = int((array + array.dtype.type(0)).view(f"u{bits // 8}"))
    return np.uint64(word ^ ((1 << bits) - 1 if word >> (bits - 1) else 1 << (bits - 1)))


def direct_order_bits(writer: Instructions, arguments: Sequence[Value]) -> Value:
    """Negative numbers have all bits turned, others their sign."""
    (x,) = arguments
    kind = str(x.type)
    if is_float(kind):
        word = f"i{width(kind)}"
        real = "float" if kind == "f32" else "double"
        plain = writer.emit(f"fadd {real} {x.text}, 0.0")
        bits = writer.emit(f"bitcast {real} {plain} to {word}")
        sign = writer.emit(f"ashr {word} {bits}, {width(kind) - 1}")
        mask = writer.emit(f"or {word} {sign}, {-(1 << (width(kind) - 1))}")
        key = writer.emit(f"xor {word} {bits}, {mask}")
        number = writer.emit(f"fcmp ord {real} {x.text}, {x.text}")
        ordered = writer.emit(f"select i1 {number}, {word} {key}, {word} -1")
        found: Value = writer.cast(Value(f"u{width(kind)}", ordered), "u64")
        return found
    if kind == "bool" or kind[0] == "u":
        unsigned: Value = writer.cast(x, "u64")
        return unsigned
    wide = writer.cast(x, "i64")
    return Value("u64", writer.emit(f"xor i64 {wide.text}, {-(1 << 63)}"))


def lowered_order_bits(lowering: Instructions, arguments: Sequence[Any], signature: Signature) -> Built:
    """Negative numbers have all bits turned, others their sign."""
    (x,), builder, kind = arguments, lowering.builder, str(signature.arguments[0])
    if not is_float(kind):
        wide = lowering.converted(x, kind, "u64" if kind[0] in "bu" else "i64")
        return wide if kind[0] in "bu" else builder.xor(wide, lowering.constant("i64", -(1 << 63)))
    word = f"i{width(kind)}"
    bits = lowering.bitcast(lowering.plain("fadd", x, lowering.constant(kind, 0.0)), word)
    sign = builder.ashr(bits, lowering.constant(word, width(kind) - 1))
    mask = builder.or_(sign, lowering.constant(word, -(1 << (width(kind) - 1))))
    number = builder.fcmp_ordered("ord", x, x)
    key = builder.select(number, builder.xor(bits, mask), lowering.constant(word, -1))
    return lowering.converted(key, f"u{width(kind)}", "u64")


def ticks() -> int:
    """The processor's clock, which counts at one rate."""
    return time.perf_counter_ns()


def direct_ticks(writer: Instructions, arguments: Sequence[Value]) -> Value:
    """The counter of cycles, where programs may read it."""
    if platform.machine().lower() not in ("aarch64", "arm64"):
        found: Value = writer.call("llvm.readcyclecounter", "i64", [])
        return found
    name = "llvm.read_volatile_register.i64"
    writer.module.declare(name, "i64", ["metadata"])
    return Value("i64", writer.emit(f'call i64 @{name}(metadata !{{!"cntvct_el0"}})'))


def lowered_ticks(lowering: Instructions, arguments: Sequence[Any], signature: Signature) -> Built:
    """The counter of cycles, where programs may read it."""
    if platform.machine().lower() not in ("aarch64", "arm64"):
        return lowering.call("llvm.readcyclecounter", "i64", [])
    return lowering.register("cntvct_el0")


@kinds("x, n written out -> x")
def whole_power(given: Sequence[Type], known: Sequence[Known]) -> Signature | None:
    """A real floating-point number, and a whole number that stands in the text."""
    if len(given) != 2 or not is_float(given[0]) or not isinstance(known[1], int):
        return None
    return Signature((given[0], given[1]), given[0])


def power(x: Number, n: int) -> Number:
    """``x ** n`` by repeated squaring, for a whole number n that is written out."""
    left, result = abs(n), None
    while left:
        if left & 1:
            result = x if result is None else result * x
        left >>= 1
        x = x * x if left else x
    if result is None:
        return type(x)(1)
    return result if n > 0 else type(x)(1) / result


def direct_power(writer: Instructions, arguments: Sequence[Value]) -> Value:
    """The products, one by one."""
    base, n = arguments
    if not isinstance(n.known, int) or not is_float(base.type):
        raise Unsupported("a power whose exponent is not written out")
    left, result, one = abs(n.known), None, constant(str(base.type), 1.0)
    while left:
        if left & 1:
            result = base if result is None else writer.real("fmul", result, base)
        left >>= 1
        base = writer.real("fmul", base, base) if left else base
    if result is None:
        return one
    return result if n.known > 0 else writer.real("fdiv", one, result)


def lowered_power(lowering: Instructions, arguments: Sequence[Any], signature: Signature) -> Built:
    """The products, one by one."""
    base, n = arguments[0], lowering.known[1]
    left, result, builder = abs(n), None, lowering.builder
    one = lowering.constant(signature.result, 1.0)
    while left:
        if left & 1:
            result = base if result is None else builder.fmul(result, base)
        left >>= 1
        base = builder.fmul(base, base) if left else base
    if result is None:
        return one
    return result if n > 0 else builder.fdiv(one, result)


def ufunc(name: str) -> Callable[..., Any]:
    """NumPy's function as what a word means."""
    function = getattr(np, name)

    def meant(*arguments: Number) -> Number:
        return function(*arguments)

    meant.__name__ = name
    meant.__doc__ = f"As ``np.{name}``."
    return meant


ROUNDINGS = {"fabs": "fabs", "floor": "floor", "ceil": "ceil", "rint": "roundeven", "trunc": "trunc"}
"""NumPy's functions of one real number that are instructions of LLVM, by their names there."""

ROOTS = (Elements("f64", (0.0, 2.0, -0.0, -1.0, math.inf, 1e-310, math.nan)),)
THIRDS, SEVENTHS = [Elements("f64", tuple([x / d for x in FINITE.values])) for d in (3, 7)]

ARITHMETIC_WORDS: tuple[Word, ...] = (
    Word(
        *("plus", LIKE_FIRST, plus, direct_plus, lowered_plus),
        (Sample("out[i] = plus(a[i], b[i])", TWO), Sample("out[i] = plus(a[i], b[i])", TWO_SINGLE, "f32")),
    ),
    *[
        Word(
            *(meant.__name__, LIKE_FIRST, meant, direct_rounded(name), lowered_rounded(name)),
            (
                Sample(f"out[i] = {meant.__name__}(a[i], b[i])", TWO),
                Sample(f"out[i] = {meant.__name__}(a[i] * b[i], a[i])", (THIRDS, SEVENTHS)),
            ),
        )
        for meant, name in ((rounded_sum, "fadd"), (rounded_difference, "fsub"))
    ],
    *[
        Word(
            *(meant.__name__, LIKE_FIRST, meant, *(direct_extreme(name), intrinsic(name)[1])),
            (
                Sample(f"out[i] = {meant.__name__}(a[i], b[i])", TWO),
                Sample(f"out[i] = {meant.__name__}(a[i], b[i])", TWO_SINGLE, "f32"),
            ),
        )
        for meant, name in EXTREMES.items()
    ],
    *[
        Word(*(name, REALS, ufunc(name), *intrinsic(llvm)), (Sample(f"out[i] = {name}(a[i])", (NUMBERS,)),))
        for name, llvm in ROUNDINGS.items()
    ],
    Word(*("sqrt", REALS, ufunc("sqrt"), *intrinsic("sqrt")), (Sample("out[i] = sqrt(a[i])", ROOTS),)),
    Word(
        *("copysign", REALS, ufunc("copysign"), *intrinsic("copysign")),
        (Sample("out[i] = copysign(a[i], b[i])", TWO),),
    ),
    Word(
        *("signbit", of_float, signbit, direct_signbit, lowered_signbit),
        (
            Sample("out[i] = signbit(a[i])", (FINITE,), "bool"),
            Sample("out[i] = signbit(a[i])", (FINITE._replace(kind="f32"),), "bool"),
        ),
    ),
    Word(
        *("order_bits", ordered_bits, order_bits, direct_order_bits, lowered_order_bits),
        (
            Sample("out[i] = order_bits(a[i])", (NUMBERS,), "u64"),
            Sample("out[i] = order_bits(a[i])", (NUMBERS._replace(kind="f32"),), "u64"),
            Sample("out[i] = order_bits(a[i])", (Elements("i64", (-5, 7, 0)),), "u64"),
            Sample("out[i] = order_bits(a[i])", (Elements("u8", (250, 7)),), "u64"),
        ),
    ),
    Word(
        *("power", whole_power, power, direct_power, lowered_power),
        (
            Sample("out[i] = power(a[i], 5)", (NUMBERS,)),
            Sample("out[i] = power(a[i], -3)", (NUMBERS,)),
            Sample("out[i] = power(a[i], 0)", (NUMBERS,)),
        ),
    ),
    Word(
        *("ticks", fixed(result="i64"), ticks, direct_ticks, lowered_ticks),
        (Sample("out[i] = i64(ticks() > a[i])", (Elements("i64", (0,)),), "i64"),),
    ),
)
"""What Python's signs do not say, for real numbers."""
