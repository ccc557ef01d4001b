"""When two Programs are the same: equality and hash up to the names of variables.

Names, hints and sources do not count. Literals count by dtype and bits, captured arrays by dtype, shape and
bytes. Walks the equations and never recurses, except into Programs that are parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Atom, Literal, Program, Var
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
    if len(a.equations) != len(b.equations) or len(a.captured) != len(b.captured):
        return False
    if not all(same_value(x, y) for (_, x), (_, y) in zip(a.captured, b.captured, strict=True)):
        return False
    return all(x == y for x, y in zip_longest(structure(a), structure(b)))


def program_hash(program: Program) -> int:
    """A hash that equal Programs share: of operations, numbers and avals, not of what reads what."""
    equations = program.equations
    numbers = [literal_bytes(x) for e in equations for x in e.inputs if type(x) is Literal]
    avals = program.in_avals, program.out_avals
    return hash((avals, tuple([e.primitive for e in equations]), tuple(numbers)))


def structure(program: Program) -> Iterator[tuple[Any, ...]]:
    """Everything but the captured values, as comparable tuples in which variables are numbers."""
    numbers: dict[Var, int] = {}

    def number(v: Var) -> tuple[int, Aval]:
        return numbers.setdefault(v, len(numbers)), v.aval

    def key(atom: Atom) -> tuple[Any, Aval]:
        return number(atom) if isinstance(atom, Var) else (literal_bytes(atom), atom.aval)

    yield tuple([number(v) for v in program.inputs])
    yield tuple([number(v) for v, _ in program.captured])
    for equation in program.equations:
        # Equal primitives are one object, so comparing parameters is comparing identities.
        yield equation.primitive, *[key(x) for x in equation.inputs], *[number(v) for v in equation.outputs]
    yield tuple([key(x) for x in program.outputs])


def literal_bytes(literal: Literal) -> bytes:
    """The bits of a literal in its own dtype."""
    return np.asarray(literal.value, literal.aval.dtype).tobytes()


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
