"""A small language for the bodies of mathematical functions: operators on values write LLVM assembly.

Owns the text of one function; knows nothing of mathematics nor of Numba. Text is written directly, because
building LLVM's objects in Python costs milliseconds a function and text costs microseconds.

Every multiplication that should be fused with an addition is written as `fma`, and no instruction has a
fast-math flag: a function computes the same bits on every machine, whatever the flags of the loop that it
is inlined into.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

from funcgrad.compile.vecmath.formats import Format

Number = Union["Value", float]


class Body:
    """The instructions of one function, in order."""

    def __init__(self, format: Format) -> None:
        self.format = format
        self.lines: list[str] = []
        self.declarations: set[str] = set()
        self.globals: set[str] = set()
        self.helpers: dict[str, str] = {}

    def parameters(self, count: int) -> tuple[Value, ...]:
        """The function's arguments."""
        return tuple(Value(self, self.format.real, f"%a{i}") for i in range(count))

    def emit(self, kind: str, text: str) -> Value:
        """Append an instruction and return its result."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return Value(self, kind, name)

    def call(self, kind: str, function: str, *arguments: Value) -> Value:
        """Call a function that LLVM or the C library knows."""
        self.declarations.add(f"declare {kind} @{function}({', '.join(a.kind for a in arguments)})")
        return self.emit(kind, f"call {kind} @{function}({', '.join(map(typed, arguments))})")

    def real(self, value: float) -> Value:
        """A constant of the function's format."""
        return Value(self, self.format.real, self.format.text(value))

    def integer(self, value: int) -> Value:
        """A constant of the integer type as wide as the function's format."""
        return Value(self, self.format.integer, str(value))


class Value:
    """A number computed at run time: floating-point, integer (of the same width) or truth value."""

    __slots__ = ("body", "kind", "name")

    def __init__(self, body: Body, kind: str, name: str) -> None:
        self.body = body
        self.kind = kind
        self.name = name

    def constant(self, other: Number) -> Value:
        """``other`` as a value of this one's type."""
        if isinstance(other, Value):
            return other
        if self.kind == self.body.format.real:
            return self.body.real(other)
        return self.body.integer(int(other))

    def combine(self, operation: str, other: Number) -> Value:
        """An instruction of two operands of one type."""
        return self.body.emit(self.kind, f"{operation} {self.kind} {self.name}, {self.constant(other).name}")

    def arithmetic(self, operation: str, other: Number) -> Value:
        """An arithmetic instruction, which LLVM spells differently for the two kinds of number."""
        return self.combine(f"f{operation}" if self.kind == self.body.format.real else operation, other)

    def compare(self, relation: str, other: Number) -> Value:
        """A comparison, false for NaN."""
        test = f"fcmp o{relation}" if self.kind == self.body.format.real else INTEGER_TESTS[relation]
        return self.body.emit("i1", f"{test} {self.kind} {self.name}, {self.constant(other).name}")

    def __add__(self, other: Number) -> Value:
        return self.arithmetic("add", other)

    def __radd__(self, other: float) -> Value:
        return self.constant(other).arithmetic("add", self)

    def __sub__(self, other: Number) -> Value:
        return self.arithmetic("sub", other)

    def __rsub__(self, other: float) -> Value:
        return self.constant(other).arithmetic("sub", self)

    def __mul__(self, other: Number) -> Value:
        return self.arithmetic("mul", other)

    def __rmul__(self, other: float) -> Value:
        return self.constant(other).arithmetic("mul", self)

    def __truediv__(self, other: Number) -> Value:
        return self.combine("fdiv", other)

    def __rtruediv__(self, other: float) -> Value:
        return self.constant(other).combine("fdiv", self)

    def __neg__(self) -> Value:
        if self.kind != self.body.format.real:
            return self.constant(0) - self
        return self.body.emit(self.kind, f"fneg {self.kind} {self.name}")

    def __lt__(self, other: Number) -> Value:
        return self.compare("lt", other)

    def __le__(self, other: Number) -> Value:
        return self.compare("le", other)

    def __gt__(self, other: Number) -> Value:
        return self.compare("gt", other)

    def __ge__(self, other: Number) -> Value:
        return self.compare("ge", other)

    def less_unsigned(self, other: int) -> Value:
        """Whether an integer is less than another, both without signs."""
        return self.body.emit("i1", f"icmp ult {self.kind} {self.name}, {other}")

    def equals(self, other: Number) -> Value:
        """Whether two numbers are equal (``==`` is left to Python)."""
        return self.compare("eq", other)

    def is_nan(self) -> Value:
        """Whether the number is NaN."""
        return self.body.emit("i1", f"fcmp uno {self.kind} {self.name}, {self.name}")

    def __and__(self, other: Number) -> Value:
        return self.combine("and", other)

    def __or__(self, other: Number) -> Value:
        return self.combine("or", other)

    def __xor__(self, other: Number) -> Value:
        return self.combine("xor", other)

    def __lshift__(self, other: Number) -> Value:
        return self.combine("shl", other)

    def __rshift__(self, other: Number) -> Value:
        """Shift right, filling with zeros: AVX2 has no other shift of 64-bit integers."""
        return self.combine("lshr", other)

    def bits(self) -> Value:
        """The bit pattern of a floating-point number."""
        format = self.body.format
        return self.body.emit(format.integer, f"bitcast {format.real} {self.name} to {format.integer}")

    def as_real(self) -> Value:
        """The floating-point number of this bit pattern."""
        format = self.body.format
        return self.body.emit(format.real, f"bitcast {format.integer} {self.name} to {format.real}")


INTEGER_TESTS = {"lt": "icmp slt", "le": "icmp sle", "gt": "icmp sgt", "ge": "icmp sge", "eq": "icmp eq"}


def typed(value: Value) -> str:
    """A value as an operand with its type."""
    return f"{value.kind} {value.name}"


def fma(a: Value, b: Number, c: Number) -> Value:
    """``a * b + c``, rounded once."""
    kind = a.kind
    return a.body.call(kind, f"llvm.fma.{a.body.format.name}", a, a.constant(b), a.constant(c))


def select(condition: Value, yes: Number, no: Number) -> Value:
    """``yes`` where the condition holds, else ``no``. At least one of them is a value."""
    like = yes if isinstance(yes, Value) else no
    assert isinstance(like, Value)
    yes, no = like.constant(yes), like.constant(no)
    return condition.body.emit(yes.kind, f"select i1 {condition.name}, {typed(yes)}, {typed(no)}")


def intrinsic(name: str, *operands: Value) -> Value:
    """An operation that processors have an instruction for, such as ``fabs``, ``sqrt`` or ``floor``."""
    body = operands[0].body
    return body.call(body.format.real, f"llvm.{name}.{body.format.name}", *operands)


def absolute(x: Value) -> Value:
    """``|x|``."""
    return intrinsic("fabs", x)


def square_root(x: Value) -> Value:
    """The square root, correctly rounded."""
    return intrinsic("sqrt", x)


def with_sign_of(magnitude: Value, sign: Value) -> Value:
    """The magnitude of one number with the sign of another."""
    return intrinsic("copysign", magnitude, sign)


def least(x: Value, bound: Number) -> Value:
    """The smaller of a number and a bound; NaN stays NaN."""
    return select(x > bound, bound, x)


def greatest(x: Value, bound: Number) -> Value:
    """The larger of a number and a bound; NaN stays NaN."""
    return select(x < bound, bound, x)


def polynomial(x: Value, coefficients: Sequence[float], square: Value | None = None) -> Value:
    """The polynomial with these coefficients, the constant one first.

    Even and odd terms are two chains of Horner's scheme, which halves the latency for one more
    multiplication.
    """
    if len(coefficients) < 5:
        return horner(x, coefficients)
    square = x * x if square is None else square
    return fma(horner(square, coefficients[1::2]), x, horner(square, coefficients[::2]))


def horner(x: Value, coefficients: Sequence[float]) -> Value:
    """A polynomial by Horner's scheme."""
    total = x.body.real(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = fma(total, x, coefficient)
    return total


def scaled(x: Value, exponent: Value) -> Value:
    """``x`` times two to an integer power that is a normal number."""
    return x * power_of_two(exponent)


def power_of_two(exponent: Value) -> Value:
    """Two to an integer power that is a normal number."""
    format = exponent.body.format
    return ((exponent + format.bias) << format.mantissa).as_real()


def rounded(x: Value, factor: float) -> tuple[Value, Value]:
    """The integer nearest to ``x * factor``, as a floating-point number and as an integer."""
    format = x.body.format
    total = fma(x, factor, format.magic)
    return total - format.magic, total.bits() - format.bits_of(format.magic)
