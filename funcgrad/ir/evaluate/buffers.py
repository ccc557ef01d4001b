"""Which variables of a Program may share memory when it is evaluated, and who may write over it.

Operations whose primitive ``aliases`` may return a view of an input; all others return fresh memory.
Knows nothing about values: what it allows holds for every run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from funcgrad.ir.program import Program, Var


class Buffers:
    """The variables of a Program in groups that may share memory."""

    __slots__ = ("_group", "_parent")

    def __init__(self, program: Program) -> None:
        self._parent: dict[Var, Var] = {}
        for equation in program.equations:
            if equation.primitive.aliases:
                first = equation.outputs[0]
                for atom in (*equation.outputs, *equation.inputs):
                    if type(atom) is Var:
                        self._join(first, atom)
        self._group: dict[Var, list[Var]] = {}
        for v in list(self._parent):
            self._group.setdefault(self._root(v), []).append(v)

    def _root(self, v: Var) -> Var:
        parent = self._parent
        while (above := parent.setdefault(v, v)) is not v:
            parent[v] = v = parent[above]
        return v

    def _join(self, one: Var, other: Var) -> None:
        self._parent[self._root(other)] = self._root(one)

    def sharing(self, v: Var) -> list[Var]:
        """The variables that may share memory with `v`, itself included."""
        return self._group[self._root(v)] if v in self._parent else [v]


def overwritten(
    program: Program, last: Mapping[Var, int], buffers: Buffers, own: Collection[Var] = ()
) -> frozenset[int]:
    """The numbers of the equations that may put their result in the memory of their first input.

    That memory must be the evaluation's own, as that of some inputs may be, and nobody may read it
    afterwards: not through the input, and not through a view of it. `last` says which equation is the last
    to use a variable; those that outlive the evaluation are not in it.
    """
    fresh: set[Any] = set(own)
    found = []
    for k, equation in enumerate(program.equations):
        if not equation.primitive.aliases:
            fresh.update(equation.outputs)
        if not equation.primitive.overwrites:
            continue
        x = equation.inputs[0]
        if x not in fresh or last.get(x) != k or x in equation.inputs[1:]:  # type: ignore[arg-type]
            continue
        if all(v is x or last.get(v, k) < k for v in buffers.sharing(x)):  # type: ignore[arg-type]
            found.append(k)
    return frozenset(found)


def exposed(program: Program, buffers: Buffers) -> frozenset[Any]:
    """The outputs that may share memory with a captured array or with another output."""
    held = {v for v, _ in program.captured}
    taken: set[Any] = set()
    found = []
    for atom in dict.fromkeys(program.outputs):
        if type(atom) is not Var:
            continue
        group = buffers.sharing(atom)
        if any(v in held or v in taken for v in group):
            found.append(atom)
        taken.update(group)
    return frozenset(found)
