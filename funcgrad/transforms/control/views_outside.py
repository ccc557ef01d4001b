"""Views that branches take of what they are given, taken before the conditional instead.

A view costs nothing where it is read in place. Taken outside it can leave the loop around the conditional,
and the cotangents of its elements are added where they belong, not to an array of zeros made on every trip.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from funcgrad.ir.program import Equation, Program, Var
from funcgrad.tracing.primitive import Primitive

_VIEWS = frozenset({"slice", "reshape", "permute"})


class Outside(NamedTuple):
    """Branches that are given the views as further operands."""

    branches: tuple[Program, ...]
    views: tuple[tuple[Primitive, int], ...]
    """Each a view of an operand, or of one of the views before it, which are numbered after the operands."""

    def operands(self, operands: Sequence[Any]) -> list[Any]:
        """The operands and the views of them."""
        found = list(operands)
        for primitive, source in self.views:
            found.append(primitive.bind(found[source]))
        return found


def views_outside(branches: Sequence[Program], kept: Collection[int]) -> Outside:
    """The branches without the views that they take of their inputs; inputs `kept` are changed by them."""
    numbers: dict[tuple[Primitive, int], int] = {}
    parted = [parted_branch(branch, kept, numbers) for branch in branches]
    made = []
    for branch, (taken, equations) in zip(branches, parted, strict=True):
        first = len(branch.inputs)
        avals = {number: v.aval for mine, _ in parted for number, v in mine.items()}
        extra = [taken.get(k) or Var(avals[k]) for k in range(first, first + len(numbers))]
        inputs = (*branch.inputs, *extra)
        made.append(Program(inputs, branch.captured, tuple(equations), branch.outputs, branch.name))
    return Outside(tuple(made), tuple(numbers))


def parted_branch(
    branch: Program, kept: Collection[int], numbers: dict[tuple[Primitive, int], int]
) -> tuple[dict[int, Var], list[Equation]]:
    """The views that a branch takes, by the numbers they get, and its other equations."""
    places: dict[Any, int] = {v: k for k, v in enumerate(branch.inputs) if k not in kept}
    taken: dict[int, Var] = {}
    others: list[Equation] = []
    for e in branch.equations:
        source = places.get(e.inputs[0]) if len(e.inputs) == 1 else None
        if e.primitive.name not in _VIEWS or source is None or e.outputs[0] in branch.outputs:
            others.append(e)
            continue
        number = numbers.setdefault((e.primitive, source), len(branch.inputs) + len(numbers))
        if number in taken:
            others.append(e)  # the same view twice, where nothing has simplified the branch
            continue
        taken[number] = e.outputs[0]
        places[e.outputs[0]] = number
    return taken, others
