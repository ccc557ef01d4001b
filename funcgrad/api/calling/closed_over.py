"""Arrays that a jitted function closes over: compiled code reads them at every call, as Python would.

An array in this machine's byte order, aligned and in one piece, is read where it lies. One whose axes are
permuted is read as the array that it shows. Of any other kind there is a copy in plain order, which is
brought up to date before every call. Names that are bound anew were read once, when it was recorded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from funcgrad.api.python.guarded.kept import Kept
from funcgrad.ir.program import Equation, Program, Var
from funcgrad.ops.arrays.structure import Permute
from funcgrad.tracing.recorder import writeable_memory
from funcgrad.types import Array

Copied = Mapping[int, tuple[Any, Any]]
"""Copies of arrays by identity, and what they are copies of."""


class Copies:
    """Copies of arrays that cannot be read as they lie, and what they are copies of."""

    __slots__ = ("_pairs",)

    def __init__(self) -> None:
        self._pairs: list[tuple[Any, Any]] = []

    def __len__(self) -> int:
        return len(self._pairs)

    def add(self, array: Array) -> Array:
        """A copy of the array, in this machine's order and in one piece."""
        copy = np.array(array, dtype=array.dtype.newbyteorder("="), order="C", subok=False)
        if writeable_memory(array):
            self._pairs.append((copy, array))
        return copy

    def fill(self, filled: Sequence[tuple[Any, Any]]) -> None:
        """Have every call leave these arrays with these elements."""
        self._pairs += filled

    def refresh(self) -> None:
        """Bring the copies up to date, and fill what the function fills."""
        for copy, array in self._pairs:
            np.copyto(copy, array)


def reading_in_place(program: Program) -> tuple[Program, Copies]:
    """The Program with captured arrays that kernels can read, and the copies to be kept up to date.

    >>> a = np.arange(6.0).reshape(2, 3)
    >>> traced = fg.make_program(lambda x: x @ a.T)(np.ones(3))
    >>> made, copies = reading_in_place(traced)
    >>> [equation.primitive.name for equation in made.equations], len(copies)
    (['permute', 'dot_general'], 0)
    """
    copies = Copies()
    captured: list[tuple[Var, Any]] = []
    views: list[Equation] = []
    for v, x in program.captured:
        if not isinstance(x, np.ndarray) or is_plain(x):
            captured.append((v, x))
            continue
        order = memory_order(x)
        parent = x.transpose(order)
        if order != tuple(range(x.ndim)) and is_plain(parent):
            whole = Var(v.aval.with_shape(parent.shape))
            captured.append((whole, parent))
            views.append(Equation(Permute(tuple(np.argsort(order).tolist())), (whole,), (v,), None))
        else:
            captured.append((v, copies.add(x)))
    equations: Sequence[Equation] = (*views, *program.equations)
    made = Program(program.inputs, tuple(captured), tuple(equations), program.outputs, program.name)
    return made, copies


def reading_what_was_copied(program: Program, copied: Copied, kept: Kept) -> Program:
    """The Program that reads arrays themselves which were copied lest they be overwritten, and were not."""
    overwritten = {
        id(x)
        for copy, x in copied.values()
        if kept.is_written(x) or copy.tobytes() != np.ascontiguousarray(x).tobytes()
    }
    captured = []
    for v, x in program.captured:
        original = copied[id(x)][1] if id(x) in copied else x
        captured.append((v, x if id(original) in overwritten else original))
    return Program(program.inputs, tuple(captured), program.equations, program.outputs, program.name)


def equal_programs(one: Program, other: Program) -> bool:
    """Whether two recordings of a function are the same, and read the same arrays or equal ones."""
    pairs = zip(one.captured, other.captured, strict=False)
    return str(one) == str(other) and all(
        x is y or (isinstance(x, np.ndarray) and x.tobytes() == y.tobytes()) for (_, x), (_, y) in pairs
    )


def is_plain(x: object) -> bool:
    """Whether compiled code can read the array where it lies."""
    return type(x) is np.ndarray and x.dtype.isnative and x.flags.aligned and bool(x.flags.c_contiguous)


def memory_order(x: Array) -> tuple[int, ...]:
    """The axes in the order of their strides, the longest first."""
    return tuple(sorted(range(x.ndim), key=lambda axis: -x.strides[axis]))
