"""A Program as bytes that another process spells alike: the key under which its kernel is remembered on disk.

Everything that a kernel is made of is in it: operations with their parameters, types, numbers by their bits,
captured arrays by their elements, their layout, and whether somebody can still change them. Names, hints and
the user's lines are not. What could be something else in another process has no key: functions, and
operations, and kinds of parameters, that are not this package's.
"""

from __future__ import annotations

import sys
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ir.fingerprint import literal_bytes, raw_bytes
from funcgrad.ir.program import Atom, Program, Var
from funcgrad.tracing.recorder import writeable_memory
from funcgrad.types import AnyPrimitive, Array

MOST_CAPTURED = 4 << 20
"""Bytes of captured arrays from which on making the kernel is not much slower than reading them."""

_SPELLED_BY_REPR = (bool, int, float, complex, str, bytes, type(None))
"""Kinds whose `repr` says all there is: no two of their values have the same one."""


class ProgramKey(NamedTuple):
    """What stands for a Program, and the arrays that it and the Programs it holds capture, in order."""

    text: bytes
    arrays: tuple[Array, ...]


def key_of_program(program: Program) -> ProgramKey | None:
    """The key of a Program; None where it holds what other processes may not have.

    >>> one = fg.make_program(lambda x: 2.0 * np.sin(x))(1.0)
    >>> other = fg.make_program(lambda angle: 2.0 * np.sin(angle))(5.0)
    >>> key_of_program(one) == key_of_program(other)
    True
    >>> key_of_program(one) == key_of_program(fg.make_program(lambda x: 2.5 * np.sin(x))(1.0))
    False
    """
    spelling = _Spelling()
    try:
        spelling.program(program)
    except _NotShared:
        return None
    return ProgramKey(b"\n".join(spelling.parts), tuple(spelling.arrays))


class _NotShared(Exception):
    """Something that may be another thing in another process."""


class _Spelling:
    """The parts of a key, and what has been met already."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.arrays: list[Array] = []
        self._places: dict[int, int] = {}
        """Of each array, by identity, which one it is: two names of one array are not two arrays."""
        self._bytes = 0
        self._numbers: dict[Var, int] = {}
        self._avals: dict[Aval, str] = {}
        self._primitives: dict[AnyPrimitive, str] = {}
        self._programs: dict[int, str] = {}
        """The held Programs by identity: equal ones may hold other arrays."""

    def program(self, program: Program) -> None:
        """Add the parts of a Program."""
        lines = [" ".join([self._defined(v) for v in program.inputs])]
        for v, array in program.captured:
            lines.append(f"{self._defined(v)} array {self._array(array)}")
        for equation in program.equations:
            given = " ".join([self._atom(a) for a in equation.inputs])
            made = " ".join([self._defined(v) for v in equation.outputs])
            lines.append(f"{made} {self._primitive(equation.primitive)} {given}")
        lines.append("return " + " ".join([f"{self._atom(a)}:{self._aval(a.aval)}" for a in program.outputs]))
        self.parts.append("\n".join(lines).encode())

    def _defined(self, v: Var) -> str:
        number = self._numbers.setdefault(v, len(self._numbers))
        return f"{number}:{self._aval(v.aval)}"

    def _atom(self, atom: Atom) -> str:
        if isinstance(atom, Var):
            return str(self._numbers[atom])
        return f"{literal_bytes(atom).hex()}:{self._aval(atom.aval)}"

    def _aval(self, aval: Aval) -> str:
        found = self._avals.get(aval)
        if found is None:
            weak = "weak" if aval.weak else ""
            found = self._avals[aval] = f"{self._dtype(aval.dtype)}{list(aval.shape)}{weak}".replace(" ", "")
        return found

    def _dtype(self, dtype: np.dtype[Any]) -> str:
        if dtype.kind not in "biufc":
            raise _NotShared
        return dtype.str

    def _primitive(self, primitive: AnyPrimitive) -> str:
        """An operation by where its class is, with its parameters; the second time by number."""
        found = self._primitives.get(primitive)
        if found is None:
            number = f"@{len(self._primitives)}"
            spelled = [f"{name}={self._value(value)}" for name, value in primitive.params.items()]
            self.parts.append(f"{number} {_place_of(type(primitive))} {' '.join(spelled)}".encode())
            found = self._primitives[primitive] = number
        return found

    def _value(self, value: object) -> str:
        """A parameter."""
        kind = type(value)
        if kind in _SPELLED_BY_REPR and "nan" not in repr(value):  # which has many bits
            return f"{kind.__name__}:{value!r}"
        if kind is tuple:
            return f"({','.join([self._value(x) for x in value])})"  # type: ignore[attr-defined]
        if isinstance(value, tuple):
            return f"{_place_of(kind)}({','.join([self._value(x) for x in value])})"
        if kind is Aval:
            return f"aval:{self._aval(value)}"  # type: ignore[arg-type]
        if isinstance(value, np.dtype):
            return f"dtype:{self._dtype(value)}"
        if kind is Program:
            return self._held(value)  # type: ignore[arg-type]
        raise _NotShared

    def _held(self, program: Program) -> str:
        """The number of a Program that is a parameter."""
        found = self._programs.get(id(program))
        if found is None:
            self.program(program)
            found = self._programs[id(program)] = f"program:{len(self.parts)}"
        return found

    def _array(self, array: Array) -> str:
        """The number of a captured array; what is in it is spelled when it is met first."""
        place = self._places.get(id(array))
        if place is not None:
            return str(place)
        if not isinstance(array, np.ndarray):
            raise _NotShared
        self._bytes += array.nbytes
        if self._bytes > MOST_CAPTURED:
            raise _NotShared
        place = self._places[id(array)] = len(self.arrays)
        self.arrays.append(array)
        flags = array.flags
        facts = (self._dtype(array.dtype), array.shape, array.strides, flags.c_contiguous, flags.aligned)
        self.parts.append(f"array {facts} {writeable_memory(array)}".encode())
        self.parts.append(raw_bytes(array).tobytes().hex().encode())
        return str(place)


def _place_of(kind: type) -> str:
    """Where a class of this package is; raises `_NotShared` for what is not found there."""
    module, name = kind.__module__, kind.__qualname__
    try:
        found = attrgetter(name)(sys.modules[module])
    except (AttributeError, KeyError):
        raise _NotShared from None
    if not module.startswith("funcgrad.") or found is not kind:
        raise _NotShared
    return f"{module}.{name}"
