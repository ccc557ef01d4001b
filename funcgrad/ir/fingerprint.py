"""When two Programs are the same: equality and hash up to the names of variables.

Names, hints and sources do not count. Literals count by dtype and bits, captured arrays by dtype, shape and
bytes. Walks the equations and never recurses, except into Programs that are parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ir.program import Atom, Literal, Program
from funcgrad.later import Later
from funcgrad.types import Array

# OpenSSL is behind it.
hashlib = Later("hashlib")

DIGEST_LENGTH = 16
"""Hexadecimal digits of an array's digest: 64 bits, enough to tell the arrays of one process apart."""


def same_program(a: Program, b: Program) -> bool:
    """Whether two Programs are equal up to the names of their variables.

    >>> from funcgrad.ir.text.parsing import parse
    >>> one = parse("program f(x: f64[]): y: f64[] = sin(x) return y")
    >>> other = parse("program g(u: f64[]): v: f64[] = sin(u) return v")
    >>> same_program(one, other)
    True
    """
    if [len(part) for part in parts_of(a)] != [len(part) for part in parts_of(b)]:
        return False
    if not all(same_value(x, y) for (_, x), (_, y) in zip(a.captured, b.captured, strict=True)):
        return False
    return same_structure(a, b)


def program_hash(program: Program) -> int:
    """A hash that equal Programs share: of operations, numbers and avals, not of what reads what."""
    equations = program.equations
    numbers = [literal_bytes(x) for e in equations for x in e.inputs if type(x) is Literal]
    avals = program.in_avals, program.out_avals
    return hash((avals, tuple([e.primitive for e in equations]), tuple(numbers)))


def parts_of(program: Program) -> tuple[Sequence[Any], ...]:
    """What a Program consists of."""
    return program.inputs, program.captured, program.equations, program.outputs


def same_structure(a: Program, b: Program) -> bool:
    """Whether two Programs, whose parts are as many, are the same in all but the captured values."""
    there: dict[Atom, Atom] = {}
    here: dict[Atom, Atom] = {}

    def are_alike(ours: Sequence[Atom], theirs: Sequence[Atom]) -> bool:
        if len(ours) != len(theirs):
            return False
        for x, y in zip(ours, theirs, strict=True):
            # Equal avals are one object, and so are equal primitives.
            if x.aval is not y.aval or type(x) is not type(y):
                return False
            if type(x) is Literal and type(y) is Literal:
                if literal_bytes(x) != literal_bytes(y):
                    return False
            elif there.setdefault(x, y) is not y or here.setdefault(y, x) is not x:
                return False
        return True

    if not are_alike(a.inputs, b.inputs) or not are_alike(
        [v for v, _ in a.captured], [v for v, _ in b.captured]
    ):
        return False
    for one, other in zip(a.equations, b.equations, strict=True):
        if one.primitive is not other.primitive or not are_alike(one.inputs, other.inputs):
            return False
        if not are_alike(one.outputs, other.outputs):
            return False
    return are_alike(a.outputs, b.outputs)


def literal_bytes(literal: Literal) -> bytes:
    """The bits of a literal in its own dtype."""
    value, dtype = literal.value, literal.aval.dtype
    if isinstance(value, np.generic) and value.dtype is dtype:
        return value.tobytes()
    return np.asarray(value, dtype).tobytes()


def same_value(x: object, y: object) -> bool:
    """Whether two captured values are one object, or arrays with the same dtype, shape and bytes."""
    if x is y:
        return True
    if not isinstance(x, np.ndarray | np.generic) or not isinstance(y, np.ndarray | np.generic):
        return False
    if x.shape != y.shape or x.dtype.newbyteorder("=") != y.dtype.newbyteorder("="):
        return False
    return np.array_equal(raw_bytes(x), raw_bytes(y))


def raw_bytes(array: Array) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The elements in row-major order and native byte order, as bytes."""
    native = np.asarray(array, array.dtype.newbyteorder("="), order="C")
    return np.ascontiguousarray(native).reshape(-1).view(np.uint8)


def array_digest(array: Array) -> str:
    """A short name for the contents of an array: equal arrays have equal digests.

    >>> array_digest(np.zeros(3)) == array_digest(np.zeros(3))
    True
    >>> array_digest(np.zeros(3)) == array_digest(np.zeros(3, np.float32))
    False
    """
    head = f"{array.dtype.newbyteorder('=').str}{array.shape}".encode()
    digest = hashlib.sha256(head)
    digest.update(raw_bytes(array).data)
    found: str = digest.hexdigest()[:DIGEST_LENGTH]
    return found
