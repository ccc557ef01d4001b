"""Python's operators on translated values: which instructions an operator becomes, after promotion."""

from __future__ import annotations

import ast

from funcgrad.compile.engines.direct.writer import Writer
from funcgrad.compile.language.numbers import direct_quotient, direct_shift
from funcgrad.compile.language.values import (
    LLVM,
    Unsupported,
    Value,
    constant,
    halves,
    is_complex,
    is_float,
    is_integer,
    is_signed,
    paired,
    promoted,
)

__all__ = ["binary", "compare", "unary"]

_SIMPLE = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
_BITWISE = {ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor"}
_PREDICATES: dict[type[ast.cmpop], tuple[str, str, str]] = {
    # for floats, for signed and for unsigned integers
    ast.Lt: ("fcmp olt", "icmp slt", "icmp ult"),
    ast.LtE: ("fcmp ole", "icmp sle", "icmp ule"),
    ast.Gt: ("fcmp ogt", "icmp sgt", "icmp ugt"),
    ast.GtE: ("fcmp oge", "icmp sge", "icmp uge"),
    ast.Eq: ("fcmp oeq", "icmp eq", "icmp eq"),
    ast.NotEq: ("fcmp une", "icmp ne", "icmp ne"),
}
_LARGEST_POWER = 64


def binary(writer: Writer, operator: ast.operator, left: Value, right: Value) -> Value:
    """``left operator right``."""
    if isinstance(operator, ast.Pow):
        return _power(writer, left, right)
    if type(operator) in _BITWISE or isinstance(operator, ast.LShift | ast.RShift):
        return _bits(writer, operator, left, right)
    kind = promoted(left.type, right.type)
    if isinstance(operator, ast.Div) and not is_float(kind) and not is_complex(kind):
        kind = "f64"
    left, right = writer.cast(left, kind), writer.cast(right, kind)
    if is_complex(kind):
        return _complex(writer, operator, left, right)
    if is_float(kind):
        return _real(writer, operator, left, right)
    return _integer(writer, operator, left, right)


def _real(writer: Writer, operator: ast.operator, left: Value, right: Value) -> Value:
    if type(operator) in _SIMPLE:
        return writer.real("f" + _SIMPLE[type(operator)], left, right)
    if isinstance(operator, ast.Div):
        return writer.real("fdiv", left, right)
    if isinstance(operator, ast.FloorDiv | ast.Mod):
        return _floored_reals(writer, isinstance(operator, ast.FloorDiv), left, right)
    raise Unsupported(type(operator).__name__)


def _floored_reals(writer: Writer, quotient_wanted: bool, left: Value, right: Value) -> Value:
    # As CPython and NumPy divide: from the exact remainder, which has the sign of the divisor.
    kind = str(left.type)
    zero = constant(kind, 0.0)
    plain = writer.binary("frem", left, right)
    nonzero = writer.compare("fcmp une", plain, zero)
    below = [writer.compare("fcmp olt", value, zero) for value in (plain, right)]
    moved = writer.binary("and", nonzero, writer.binary("xor", *below))
    if not quotient_wanted:
        signed_zero = writer.call(f"llvm.copysign.{kind}", kind, [zero, right])
        inside = writer.select(moved, writer.binary("fadd", plain, right), plain)
        return writer.select(nonzero, inside, signed_zero)
    one = constant(kind, 1.0)
    quotient = writer.binary("fdiv", writer.binary("fsub", left, plain), right)
    quotient = writer.select(moved, writer.binary("fsub", quotient, one), quotient)
    whole = writer.call(f"llvm.floor.{kind}", kind, [quotient])
    rest = writer.binary("fsub", quotient, whole)
    short = writer.compare("fcmp ogt", rest, constant(kind, 0.5))
    whole = writer.select(short, writer.binary("fadd", whole, one), whole)
    infinite = writer.compare("fcmp oeq", right, zero)
    return writer.select(infinite, writer.binary("fdiv", left, right), whole)


def _complex(writer: Writer, operator: ast.operator, left: Value, right: Value) -> Value:
    (a, b), (c, d) = halves(left), halves(right)
    if isinstance(operator, ast.Add | ast.Sub):
        name = "f" + _SIMPLE[type(operator)]
        return paired(left.type, writer.real(name, a, c), writer.real(name, b, d))
    if isinstance(operator, ast.Mult):
        real = writer.real("fsub", writer.real("fmul", a, c), writer.real("fmul", b, d))
        imaginary = writer.real("fadd", writer.real("fmul", a, d), writer.real("fmul", b, c))
        return paired(left.type, real, imaginary)
    if isinstance(operator, ast.Div):
        return direct_quotient(writer, (left, right))
    raise Unsupported(f"{type(operator).__name__} of complex numbers")


def _integer(writer: Writer, operator: ast.operator, left: Value, right: Value) -> Value:
    if type(operator) in _SIMPLE:
        if left.known is not None and right.known is not None:
            folded = {"add": left.known + right.known, "sub": left.known - right.known}
            number = folded.get(_SIMPLE[type(operator)], left.known * right.known)
            if abs(number) < 2**63:
                return constant(str(left.type), number)
        # Integers wrap around, as NumPy's do. Promising LLVM that they do not gains nothing: loops vectorise
        # all the same, because what must not overflow is the address, which says so.
        return writer.binary(_SIMPLE[type(operator)], left, right)
    if isinstance(operator, ast.FloorDiv | ast.Mod):
        return _floor_division(writer, operator, left, right)
    raise Unsupported(type(operator).__name__)


def _floor_division(writer: Writer, operator: ast.operator, left: Value, right: Value) -> Value:
    # Division by zero gives zero, as in NumPy. The one quotient that overflows wraps around.
    kind = str(left.type)
    zero, one = constant(kind, 0), constant(kind, 1)
    quotient_wanted = isinstance(operator, ast.FloorDiv)
    if not is_signed(kind):
        void = writer.compare("icmp eq", right, zero)
        result = writer.binary("udiv" if quotient_wanted else "urem", left, writer.select(void, one, right))
        return writer.select(void, zero, result)
    if right.known is not None and right.known > 0:
        return _floored(writer, quotient_wanted, left, right)
    negated = writer.compare("icmp eq", right, constant(kind, -1))
    void = writer.compare("icmp eq", right, zero)
    safe = writer.select(writer.binary("or", void, negated), one, right)
    result = _floored(writer, quotient_wanted, left, safe)
    by_minus_one = Value(kind, writer.emit(f"sub {LLVM[kind]} 0, {left.text}")) if quotient_wanted else zero
    return writer.select(void, zero, writer.select(negated, by_minus_one, result))


def _floored(writer: Writer, quotient_wanted: bool, left: Value, right: Value) -> Value:
    zero = constant(str(left.type), 0)
    remainder = writer.binary("srem", left, right)
    differs = writer.compare("icmp slt", writer.binary("xor", remainder, right), zero)
    inexact = writer.compare("icmp ne", remainder, zero)
    moved = writer.binary("and", differs, inexact)
    if quotient_wanted:
        quotient = writer.binary("sdiv", left, right)
        return writer.binary("sub", quotient, writer.cast(moved, left.type))
    return writer.select(moved, writer.binary("add", remainder, right), remainder)


def _bits(writer: Writer, operator: ast.operator, left: Value, right: Value) -> Value:
    if left.type == right.type == "bool" and type(operator) in _BITWISE:
        return writer.binary(_BITWISE[type(operator)], left, right)
    kind = promoted(left.type, right.type)
    if not is_integer(kind):
        raise Unsupported(f"{type(operator).__name__} of {kind}")
    if type(operator) in _BITWISE:
        return writer.binary(_BITWISE[type(operator)], writer.cast(left, kind), writer.cast(right, kind))
    return direct_shift(isinstance(operator, ast.LShift))(writer, (left, right))


def _power(writer: Writer, left: Value, right: Value) -> Value:
    exponent = right.known
    if isinstance(exponent, int) and not isinstance(exponent, bool) and abs(exponent) <= _LARGEST_POWER:
        if exponent >= 0:
            return _whole_power(writer, left, exponent)
        if is_float(left.type):
            whole = _whole_power(writer, left, -exponent)
            return writer.real("fdiv", constant(str(left.type), 1.0), whole)
    kind = promoted(left.type, right.type)
    if is_complex(kind) or (is_integer(left.type) and is_integer(right.type)):
        raise Unsupported(f"a power of {left.type} to {right.type}")
    kind = kind if is_float(kind) else "f64"
    return writer.call(f"llvm.pow.{kind}", kind, [writer.cast(left, kind), writer.cast(right, kind)])


def _whole_power(writer: Writer, base: Value, exponent: int) -> Value:
    base = writer.cast(base, promoted(base.type, base.type))
    result: Value | None = None
    while exponent:
        if exponent & 1:
            result = base if result is None else binary(writer, ast.Mult(), result, base)
        exponent >>= 1
        if exponent:
            base = binary(writer, ast.Mult(), base, base)
    return constant(str(base.type), 1) if result is None else result


def unary(writer: Writer, operator: ast.unaryop, value: Value) -> Value:
    """``operator value``."""
    if isinstance(operator, ast.Not):
        return writer.binary("xor", writer.cast(value, "bool"), constant("bool", 1))
    if isinstance(operator, ast.Invert):
        if value.type == "bool":
            return writer.binary("xor", value, constant("bool", 1))
        if is_integer(value.type):
            return writer.binary("xor", value, constant(str(value.type), -1))
        raise Unsupported(f"~ of {value.type}")
    if not is_complex(value.type) and not is_float(value.type):
        value = writer.cast(value, promoted(value.type, value.type))
    return value if isinstance(operator, ast.UAdd) else writer.negative(value)


def compare(writer: Writer, operator: ast.cmpop, left: Value, right: Value) -> Value:
    """``left operator right`` for one of the six orders."""
    if type(operator) not in _PREDICATES:
        raise Unsupported(type(operator).__name__)
    kind = "bool" if left.type == right.type == "bool" else promoted(left.type, right.type)
    left, right = writer.cast(left, kind), writer.cast(right, kind)
    for_floats, for_signed, for_unsigned = _PREDICATES[type(operator)]
    if is_complex(kind):
        if not isinstance(operator, ast.Eq | ast.NotEq):
            raise Unsupported("an order of complex numbers")
        same = [writer.compare(for_floats, *pair) for pair in zip(halves(left), halves(right), strict=True)]
        return writer.binary("and" if isinstance(operator, ast.Eq) else "or", *same)
    if is_float(kind):
        return writer.compare(for_floats, left, right)
    return writer.compare(for_signed if is_signed(kind) else for_unsigned, left, right)
