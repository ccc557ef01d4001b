"""Large angles brought to [-pi/4, pi/4] (M. H. Payne and R. N. Hanek, "Radian reduction", 1983).

With ``x = m 2**e`` for an integer m of 53 bits, all bits of ``2/pi 2**e`` above the second before the point
stand for whole turns. The 256 bits from there on, times m, give the quarter turns in the two highest bits of
the product, and the rest of a quarter turn, with over 200 bits, in the others.
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
    wide = x if body.format is F64 else body.emit("double", f"fpext {typed(x)} to double")
    bits = body.emit("i64", f"bitcast {typed(wide)} to i64")
    exponent = integer(integer(bits, "lshr", 52), "and", 2047)
    m = integer(integer(bits, "and", (1 << 52) - 1), "or", 1 << 52)
    # Of the table's bits the first with a weight that counts: e - 2, and the 64 zeros.
    offset = integer(exponent, "sub", 1023 + 52 + 2 - 64)
    product = window(offset)
    product = body.emit(
        "i256", f"mul i256 {product.name}, {body.emit('i256', f'zext {typed(m)} to i256').name}"
    )
    turns = body.emit("i64", f"trunc i256 {integer(product, 'lshr', 254).name} to i64")
    # The rest as a signed fraction of a quarter turn: rounding up where its highest bit is set.
    rest = integer(product, "shl", 2)
    up = body.emit("i64", f"trunc i256 {integer(rest, 'lshr', 255).name} to i64")
    turns = body.emit("i64", f"add i64 {turns.name}, {up.name}")
    high, low = fraction(rest)
    return with_sign(x, bits, turns, high, low)


def integer(x: Value, operation: str, constant: int) -> Value:
    """An instruction on an integer of any width and a constant."""
    return x.body.emit(x.kind, f"{operation} {typed(x)}, {constant}")


def window(offset: Value) -> Value:
    """The 256 bits of 2/pi from a bit on."""
    body = offset.body
    first, shift = integer(offset, "lshr", 6), integer(offset, "and", 63)
    total = None
    for i in range(5):
        index = integer(first, "add", i)
        place = body.emit("ptr", f"getelementptr [{WORDS} x i64], ptr @{TABLE}, i64 0, i64 {index.name}")
        word = body.emit("i64", f"load i64, ptr {place.name}")
        part = integer(body.emit("i320", f"zext {typed(word)} to i320"), "shl", 64 * (4 - i))
        total = part if total is None else body.emit("i320", f"or {typed(total)}, {part.name}")
    assert total is not None
    amount = body.emit("i320", f"zext {typed(shift)} to i320")
    moved = body.emit("i320", f"shl {typed(total)}, {amount.name}")
    return body.emit("i256", f"trunc {typed(integer(moved, 'lshr', 64))} to i256")


def fraction(rest: Value) -> tuple[Value, Value]:
    """A signed integer of 256 bits over ``2**256`` as the sum of two numbers of double precision."""
    body = rest.body
    negative = body.emit("i1", f"icmp slt {typed(rest)}, 0")
    opposite = body.emit("i256", f"sub i256 0, {rest.name}")
    size = body.emit("i256", f"select i1 {negative.name}, {typed(opposite)}, {typed(rest)}")
    body.declarations.add("declare i256 @llvm.ctlz.i256(i256, i1)")
    zeros = body.emit("i256", f"call i256 @llvm.ctlz.i256({typed(size)}, i1 false)")
    full = body.emit("i256", f"shl {typed(size)}, {zeros.name}")
    shift = body.emit("i64", f"trunc {typed(zeros)} to i64")
    parts = []
    for i in (1, 2):
        piece = integer(integer(full, "lshr", 256 - 53 * i), "and", (1 << 53) - 1)
        piece = body.emit("i64", f"trunc {typed(piece)} to i64")
        number = body.emit("double", f"uitofp {typed(piece)} to double")
        power = integer(body.emit("i64", f"sub i64 {1023 - 53 * i}, {shift.name}"), "shl", 52)
        scale = body.emit("double", f"bitcast {typed(power)} to double")
        number = body.emit("double", f"fmul {typed(number)}, {scale.name}")
        opposite = body.emit("double", f"fneg {typed(number)}")
        parts.append(body.emit("double", f"select i1 {negative.name}, {typed(opposite)}, {typed(number)}"))
    return parts[0], parts[1]


def with_sign(x: Value, bits: Value, turns: Value, high: Value, low: Value) -> tuple[Value, Value, Value]:
    """The reduced angle in radians and in the format of ``x``, of its sign."""
    body = x.body
    big, small = (body_text(part) for part in HALF_PI["f64"][:2])
    r = body.emit("double", f"fmul {typed(high)}, {big}")
    opposite = body.emit("double", f"fneg {typed(r)}")
    tail = double_fma(high, big, opposite.name)
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


def body_text(value: float) -> str:
    """A constant of double precision."""
    return F64.text(value)


def double_fma(a: Value, b: str, c: str) -> Value:
    """``a * b + c`` in double precision, rounded once."""
    a.body.declarations.add("declare double @llvm.fma.f64(double, double, double)")
    return a.body.emit("double", f"call double @llvm.fma.f64({typed(a)}, double {b}, double {c})")
