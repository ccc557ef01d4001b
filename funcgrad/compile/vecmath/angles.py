"""Large angles brought to [-pi/4, pi/4] (M. H. Payne and R. N. Hanek, "Radian reduction", 1983).

With ``x = m 2**e`` for an integer m of 53 bits, all bits of ``2/pi 2**e`` above the second before the point
stand for whole turns. The 192 bits from there on, times m, give the quarter turns in the two highest bits of
the product, and the rest of a quarter turn in those that follow: 126 of them are enough, because no number of
double precision is nearer to a multiple of pi/2 than ``2**-61``.
"""

from __future__ import annotations

from funcgrad.compile.vecmath.body import Value, typed
from funcgrad.compile.vecmath.coefficients import HALF_PI
from funcgrad.compile.vecmath.formats import F64

WORDS = 21
TABLE = "funcgrad.two_over_pi"

# 2/pi in binary: 64 zeros, then the bits after the point.
TWO_OVER_PI = (
    0x0,
    0xA2F9836E4E441529,
    0xFC2757D1F534DDC0,
    0xDB6295993C439041,
    0xFE5163ABDEBBC561,
    0xB7246E3A424DD2E0,
    0x06492EEA09D1921C,
    0xFE1DEB1CB129A73E,
    0xE88235F52EBB4484,
    0xE99C7026B45F7E41,
    0x3991D639835339F4,
    0x9C845F8BBDF9283B,
    0x1FF897FFDE05980F,
    0xEF2F118B5A0A6D1F,
    0x6D367ECF27CB09B7,
    0x4F463F669E5FEA2D,
    0x7527BAC7EBE5F17B,
    0x3D0739F78A5292EA,
    0x6BFB5FB11F8D5D08,
    0x56033046FC7B6BAB,
    0xF0CFBC209AF4361D,
)


def exact_quadrant(x: Value) -> tuple[Value, Value, Value]:
    """The quarter turns nearest to a large number, and the rest as the sum of a number and its tail."""
    body = x.body
    words = ", ".join(f"i64 {word}" for word in TWO_OVER_PI)
    body.globals.add(f"@{TABLE} = linkonce_odr constant [{WORDS} x i64] [{words}]")
    double = x if body.format is F64 else body.emit("double", f"fpext {typed(x)} to double")
    bits = body.emit("i64", f"bitcast {typed(double)} to i64")
    exponent = integer(integer(bits, "lshr", 52), "and", 2047)
    m = integer(integer(bits, "and", (1 << 52) - 1), "or", 1 << 52)
    # Of the table's bits the first with a weight that counts: e - 2, and the 64 zeros.
    offset = integer(exponent, "sub", 1023 + 52 + 2 - 64)
    high, low = product(m, *window(offset))
    turns = integer(high, "lshr", 62)
    # The rest as a signed fraction of a quarter turn: rounding up where its highest bit is set.
    rest = integer(pair(high, low), "shl", 2)
    up = body.emit("i64", f"trunc i128 {integer(rest, 'lshr', 127).name} to i64")
    turns = body.emit("i64", f"add i64 {turns.name}, {up.name}")
    return with_sign(x, bits, turns, *fraction(rest))


def integer(x: Value, operation: str, constant: int) -> Value:
    """An instruction on an integer of any width and a constant."""
    return x.body.emit(x.kind, f"{operation} {typed(x)}, {constant}")


def wide(x: Value) -> Value:
    """A word as an integer of two words."""
    return x.body.emit("i128", f"zext {typed(x)} to i128")


def word(x: Value) -> Value:
    """The lower word of two."""
    return x.body.emit("i64", f"trunc {typed(x)} to i64")


def pair(high: Value, low: Value) -> Value:
    """Two words as one integer."""
    return high.body.emit("i128", f"or {typed(integer(wide(high), 'shl', 64))}, {wide(low).name}")


def window(offset: Value) -> tuple[Value, Value, Value]:
    """The 192 bits of 2/pi from a bit on, as words."""
    body = offset.body
    body.declarations.add("declare i64 @llvm.fshl.i64(i64, i64, i64)")
    first, shift = integer(offset, "lshr", 6), integer(offset, "and", 63)
    words = []
    for i in range(4):
        index = integer(first, "add", i)
        place = body.emit("ptr", f"getelementptr [{WORDS} x i64], ptr @{TABLE}, i64 0, i64 {index.name}")
        words.append(body.emit("i64", f"load i64, ptr {place.name}"))
    a, b, c = (
        body.emit("i64", f"call i64 @llvm.fshl.i64({typed(words[i])}, {typed(words[i + 1])}, {typed(shift)})")
        for i in range(3)
    )
    return a, b, c


def product(m: Value, first: Value, second: Value, third: Value) -> tuple[Value, Value]:
    """The two words above the lowest of the product of a word with three."""
    body, factor, carry = m.body, wide(m), None
    words = []
    for part in (third, second, first):
        total = body.emit("i128", f"mul {typed(factor)}, {wide(part).name}")
        if carry is not None:
            total = body.emit("i128", f"add {typed(total)}, {carry.name}")
        words.append(word(total))
        carry = integer(total, "lshr", 64)
    return words[2], words[1]


def fraction(rest: Value) -> tuple[Value, Value]:
    """A signed integer of 128 bits over ``2**128`` as the sum of two numbers of double precision."""
    body = rest.body
    negative = body.emit("i1", f"icmp slt {typed(rest)}, 0")
    opposite = body.emit("i128", f"sub i128 0, {rest.name}")
    size = body.emit("i128", f"select i1 {negative.name}, {typed(opposite)}, {typed(rest)}")
    body.declarations.add("declare i128 @llvm.ctlz.i128(i128, i1)")
    zeros = body.emit("i128", f"call i128 @llvm.ctlz.i128({typed(size)}, i1 false)")
    full = body.emit("i128", f"shl {typed(size)}, {zeros.name}")
    shift = word(zeros)
    parts = []
    for i in (1, 2):
        piece = integer(word(integer(full, "lshr", 128 - 53 * i)), "and", (1 << 53) - 1)
        number = body.emit("double", f"uitofp {typed(piece)} to double")
        power = integer(body.emit("i64", f"sub i64 {1023 - 53 * i}, {shift.name}"), "shl", 52)
        scale = body.emit("double", f"bitcast {typed(power)} to double")
        number = body.emit("double", f"fmul {typed(number)}, {scale.name}")
        parts.append(
            body.emit("double", f"select i1 {negative.name}, {typed(negated(number))}, {typed(number)}")
        )
    return parts[0], parts[1]


def with_sign(x: Value, bits: Value, turns: Value, high: Value, low: Value) -> tuple[Value, Value, Value]:
    """The reduced angle in radians and in the format of ``x``, of its sign."""
    body = x.body
    big, small = (F64.text(part) for part in HALF_PI["f64"][:2])
    r = body.emit("double", f"fmul {typed(high)}, {big}")
    tail = double_fma(high, big, negated(r).name)
    tail = double_fma(low, big, double_fma(high, small, tail.name).name)
    negative = body.emit("i1", f"icmp slt {typed(bits)}, 0")
    turns = body.emit("i64", f"select i1 {negative.name}, {typed(negated(turns))}, {typed(turns)}")
    r = body.emit("double", f"select i1 {negative.name}, {typed(negated(r))}, {typed(r)}")
    tail = body.emit("double", f"select i1 {negative.name}, {typed(negated(tail))}, {typed(tail)}")
    if body.format is F64:
        return turns, r, tail
    narrow = body.emit("float", f"fptrunc {typed(r)} to float")
    lost = body.emit(
        "double", f"fsub {typed(r)}, {body.emit('double', f'fpext {typed(narrow)} to double').name}"
    )
    return (
        body.emit("i32", f"trunc {typed(turns)} to i32"),
        narrow,
        body.emit("float", f"fptrunc {typed(lost)} to float"),
    )


def negated(x: Value) -> Value:
    """Minus a number of either kind."""
    return x.body.emit(x.kind, f"fneg {typed(x)}" if x.kind == "double" else f"sub {x.kind} 0, {x.name}")


def double_fma(a: Value, b: str, c: str) -> Value:
    """``a * b + c`` in double precision, rounded once."""
    a.body.declarations.add("declare double @llvm.fma.f64(double, double, double)")
    return a.body.emit("double", f"call double @llvm.fma.f64({typed(a)}, double {b}, double {c})")
