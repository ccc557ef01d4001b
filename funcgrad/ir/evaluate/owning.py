"""Results that are the caller's own: nobody else may see their memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.ir.program import Atom, Literal, Program
from funcgrad.types import Array

Finish = Callable[[Any, Sequence[Any]], Any]


def owning(program: Program, shared: frozenset[Any]) -> list[Finish | None]:
    """For each output, what makes it the caller's own; `shared` are those with memory that others hold."""
    makers = {v: equation.primitive for equation in program.equations for v in equation.outputs}
    finishes: list[Finish | None] = []
    seen: set[Atom] = set()
    for atom in program.outputs:
        if type(atom) is Literal:
            finishes.append(None)
        elif atom.aval.ndim == 0:
            finishes.append(as_scalar)
        elif atom in seen or atom in shared or atom not in makers:
            finishes.append(as_copy)
        else:
            finishes.append(as_own_array if makers[atom].aliases else None)
        seen.add(atom)
    return finishes


def as_scalar(value: object, args: Sequence[Any]) -> Array:
    """A result of rank 0 as a NumPy scalar."""
    return value[()] if isinstance(value, np.ndarray) else value


def as_copy(value: Array, args: Sequence[Any]) -> Array:
    """A result that is an input, a captured array or another output."""
    return value.copy()


def as_own_array(value: Array, args: Sequence[Any]) -> Array:
    """A result that may be a view: copied unless nothing else can see its memory."""
    shared = not value.flags.writeable or any(
        isinstance(x, np.ndarray) and np.may_share_memory(x, value) for x in args
    )
    return value.copy() if shared else value
