"""The values of kernels: their types, how types combine, and their text in LLVM's assembly.

Types are named as in the views: ``f64``, ``i32``, ``bool``, ``c128``. Promotion is Numba's: integers
compute in 64 bits, a ``float32`` and a Python number make a ``float64``.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Unsupported(Exception):
    """The source uses something outside the subset."""


#: How a number of each type is held in a register. A complex number is two of its part.
LLVM: dict[str, str] = {
    "bool": "i1",
    "f32": "float",
    "f64": "double",
    **{f"{sign}{bits}": f"i{bits}" for sign in "iu" for bits in (8, 16, 32, 64)},
    "ptr": "ptr",
}

#: How the elements of a view lie in memory: (type of a loaded element, LLVM type in memory, bytes).
STORAGE: dict[str, tuple[str, str, int]] = {
    "bool": ("bool", "i8", 1),
    "f16": ("f32", "half", 2),
    "f32": ("f32", "float", 4),
    "f64": ("f64", "double", 8),
    "c64": ("c64", "float", 8),
    "c128": ("c128", "double", 16),
    **{
        f"{sign}{bits}": (f"{sign}{bits}", f"i{bits}", bits // 8) for sign in "iu" for bits in (8, 16, 32, 64)
    },
}

#: Calling one of these converts a number.
CAST_OF: dict[object, str] = {
    float: "f64",
    int: "i64",
    bool: "bool",
    np.bool_: "bool",
    np.float32: "f32",
    np.float64: "f64",
    np.complex64: "c64",
    np.complex128: "c128",
    np.intp: "i64",
    **{getattr(np, f"int{bits}"): f"i{bits}" for bits in (8, 16, 32, 64)},
    **{getattr(np, f"uint{bits}"): f"u{bits}" for bits in (8, 16, 32, 64)},
}


class Reused(NamedTuple):
    """An alias scope of memory that others may have before and after: the steps of its use."""

    number: int
    first: int
    last: int


AliasScope = int | Reused


def time_of_use(scope: AliasScope) -> tuple[float, float]:
    """The first and last step in which memory of a scope is used, as far as it is said."""
    return (scope.first, scope.last) if isinstance(scope, Reused) else (-math.inf, math.inf)


def may_overlap(a: AliasScope, b: AliasScope) -> bool:
    """Whether memory of one scope may be that of another: it is the same, or is used at other times.

    >>> may_overlap(Reused(3, 0, 2), Reused(4, 3, 5)), may_overlap(Reused(3, 0, 3), Reused(4, 3, 5))
    (True, False)
    """
    (first, last), (begin, end) = time_of_use(a), time_of_use(b)
    return a == b or last < begin or end < first


@dataclass(frozen=True, slots=True)
class View:
    """The type of a pointer to elements. Views of one scope may overlap; of no scope, may overlap any."""

    storage: str
    scope: AliasScope | None

    @property
    def element(self) -> str:
        """The type of a loaded element."""
        return STORAGE[self.storage][0]


Type = str | View


@dataclass(frozen=True, slots=True)
class Value:
    """A register or a constant: ``imaginary`` is the second half of a complex number.

    ``known`` is the number itself where the translator knows it.
    """

    type: Type
    text: str
    imaginary: str = ""
    known: int | float | bool | None = None
    scope: int | None = None  # of a slot: the constant index it was read from


def is_float(kind: Type) -> bool:
    """Whether a real floating-point type."""
    return kind in ("f32", "f64")


def is_complex(kind: Type) -> bool:
    """Whether a complex type."""
    return kind in ("c64", "c128")


def is_integer(kind: Type) -> bool:
    """Whether a type of integers (not bool)."""
    return isinstance(kind, str) and kind[0] in "iu" and kind[1:].isdigit()


def is_signed(kind: Type) -> bool:
    """Whether a type of signed integers."""
    return isinstance(kind, str) and kind[0] == "i"


def width(kind: Type) -> int:
    """The bits of a number; of each part of a complex one."""
    assert isinstance(kind, str)
    return {"bool": 1, "c64": 32, "c128": 64}.get(kind) or int(kind[1:])


def part(kind: Type) -> str:
    """The type of the parts of a complex type; another type itself."""
    assert isinstance(kind, str)
    return {"c64": "f32", "c128": "f64"}.get(kind, kind)


def promoted(left: Type, right: Type) -> str:
    """The type in which an arithmetic operation of two numbers is done."""
    for kind in (left, right):
        if not isinstance(kind, str) or kind == "ptr":
            raise Unsupported(f"arithmetic of {kind}")
    assert isinstance(left, str)
    assert isinstance(right, str)
    if is_complex(left) or is_complex(right):
        return "c128" if "f64" in (_real(left, right), _real(right, left)) else "c64"
    if is_float(left) or is_float(right):
        return "f64" if "f64" in (_real(left, right), _real(right, left)) else "f32"
    return _integer(left, right)


def _real(kind: str, other: str) -> str:
    # Integers of at most 16 bits are exact in a float32.
    if kind in ("f64", "c128") or (is_integer(kind) and width(kind) > 16):
        return "f64"
    return "f32"


def _integer(left: str, right: str) -> str:
    if left == right and left in ("i64", "u64"):
        return left
    unsigned = [kind for kind in (left, right) if kind[0] == "u"]
    if len(unsigned) == 2:
        return "u64"
    if "u64" in unsigned:
        other = right if left == "u64" else left
        return "u64" if other == "bool" else "f64"
    return "i64"


def unified(left: Type, right: Type) -> Type:
    """The type of a variable that is assigned both types."""
    if left == right:
        return left
    if isinstance(left, View) and isinstance(right, View) and left.storage == right.storage:
        return View(left.storage, None)
    if isinstance(left, str) and isinstance(right, str) and "ptr" not in (left, right):
        if is_integer(left) and is_integer(right) and is_signed(left) == is_signed(right):
            return left if width(left) > width(right) else right
        return promoted(left, right)
    raise Unsupported(f"one variable of two types, {left} and {right}")


def constant(kind: str, number: int | float | complex) -> Value:
    """A number known now."""
    if is_complex(kind):
        whole = complex(number)
        half = part(kind)
        return Value(kind, _digits(half, whole.real), _digits(half, whole.imag))
    assert not isinstance(number, complex)
    if is_float(kind):
        return Value(kind, _digits(kind, float(number)), known=float(number))
    if kind == "bool":
        return Value(kind, "true" if number else "false", known=bool(number))
    return Value(kind, str(int(number)), known=int(number))


def halves(value: Value) -> tuple[Value, Value]:
    """The real and the imaginary part of a complex number."""
    kind = part(value.type)
    return Value(kind, value.text), Value(kind, value.imaginary)


def paired(kind: Type, real: Value, imaginary: Value) -> Value:
    """The complex number of two parts."""
    return Value(kind, real.text, imaginary.text)


def _digits(kind: str, number: float) -> str:
    if kind == "f32":  # LLVM spells a float as the double of the same value
        number = float(np.float32(number))
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
