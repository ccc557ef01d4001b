"""Parts that overlap in zeros become one array, each element of which is written once.

The gradient of ``x[1:] - x[:-1]`` is one part added to another that stands one place further on: two passes
over memory, the second of which reads what the first has stored. Where what is added costs little, it is
computed again for each place instead, from operands that lie further on by as much; at both ends, where
fewer parts meet, the sums have fewer terms. Terms are added in their order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from funcgrad.compile.passes.rewriting.expand import Rewriter
from funcgrad.compile.passes.rewriting.uses import count_uses
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ops.arrays.movement import Concatenate
from funcgrad.ops.arrays.slicing import AddToSlice, Pad, Slice
from funcgrad.ops.arrays.structure import Broadcast, ReduceSum
from funcgrad.ops.elementwise.arithmetic import add
from funcgrad.ops.families import Pointwise
from funcgrad.transforms.control.updates import has_any
from funcgrad.transforms.simplify import simplify_program

FEWEST_ELEMENTS = 4096
"""Below this the second pass reads what is still in the cache next to the processor."""

LONGEST_END = 4
"""Places at an end, along the axis, at which fewer parts meet."""

MOST_PARTS = 4
"""Parts that are added up in one loop."""

MOST_COST = 24
"""Additions' worth of work for one place, all parts together."""

Makers = Mapping[Any, Equation]


class Part(NamedTuple):
    """What is added to a span of the axis."""

    atom: Atom
    start: int
    size: int


class Overlap(NamedTuple):
    """An array that is a sum of parts along an axis."""

    axis: int
    parts: list[Part]
    read: set[Any]
    """All that the parts are computed from, element by element."""

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The spans of the axis in which the same parts meet, from its start on: start and stop."""
        bounds = sorted({end for part in self.parts for end in (part.start, part.start + part.size)})
        return list(pairwise(bounds))

    @property
    def longest(self) -> tuple[int, int]:
        """The longest of these spans."""
        return max(self.spans, key=lambda span: span[1] - span[0])


def shifted_sums(program: Program) -> Program:
    """An equal Program in which overlapping parts are added up at once, where that is less work.

    What is summed over the same elements is summed in the same loop, and its few elements beyond apart.
    """
    # A sum of parts begins with one that has been placed, and adds others to it.
    if not (has_any(program.equations, (Pad,)) and has_any(program.equations, (AddToSlice,))):
        return program
    makers = {v: e for e in program.equations for v in e.outputs}
    overlaps = overlaps_of(program, makers)
    if not overlaps:
        return program
    rewriter = Rewriter()
    for equation in program.equations:
        (out, *_) = equation.outputs
        rewriter.source = equation.source
        if out in overlaps:
            found = overlaps[out]
            pieces = [piece(rewriter, found, span, makers) for span in found.spans]
            last: Equation | None = Equation(
                Concatenate(found.axis), tuple(pieces), equation.outputs, equation.source
            )
        else:
            last = sum_beside(rewriter, equation, list(overlaps.values()), makers)
        rewriter.equations.append(last or equation)
    return simplify_program(
        Program(program.inputs, program.captured, tuple(rewriter.equations), program.outputs, program.name)
    )


def overlaps_of(program: Program, makers: Makers) -> dict[Any, Overlap]:
    """The arrays that are better added up at once."""
    uses = count_uses(program)
    inner = {e.inputs[0] for e in program.equations if isinstance(e.primitive, AddToSlice)}
    overlaps: dict[Any, Overlap] = {}
    for equation in program.equations:
        (out, *_) = equation.outputs
        if isinstance(equation.primitive, AddToSlice) and (uses[out] != 1 or out not in inner):
            found = parts_of(equation, makers, uses)
            if found is not None and pays(found, out, makers):
                overlaps[out] = found
    return overlaps


def sum_beside(
    rewriter: Rewriter, equation: Equation, overlaps: Sequence[Overlap], makers: Makers
) -> Equation | None:
    """A sum over what parts are computed from as well, over the elements of their loop; None for others."""
    if not isinstance(equation.primitive, ReduceSum):
        return None
    (x,) = equation.inputs
    for found in overlaps:
        first, seen = found.parts[0].atom.aval, set[Any]()
        if x.aval.shape != first.shape or x.aval.dtype != first.dtype:
            continue
        if found.axis not in equation.primitive.axes or cost_of(x, first.shape, makers, seen) > MOST_COST:
            continue
        if seen.isdisjoint(found.read):
            continue
        start, stop = (end - found.parts[0].start for end in found.longest)
        spans = [(start, stop), (0, start), (stop, first.shape[found.axis])]
        sums: list[Atom] = [
            rewriter(equation.primitive, shifted(rewriter, x, found.axis, (a, b - a, 1), makers, {}))
            for a, b in spans
            if b > a
        ]
        while len(sums) > 2:
            sums[:2] = [rewriter(add, *sums[:2])]
        return Equation(add, tuple(sums), equation.outputs, equation.source) if len(sums) == 2 else None
    return None


def parts_of(equation: Equation, makers: Makers, uses: Mapping[Any, int]) -> Overlap | None:
    """The axis along which an array is a sum of parts, and these in their order; None where it is not."""
    shape = equation.outputs[0].aval.shape
    parts: list[Part] = []
    axes: set[int] = set()
    step: Equation | None = equation
    while step is not None:
        placed = step.inputs[-1]
        partial = [k for k, entry in enumerate(step.primitive.index) if entry != (0, shape[k], 1)]
        if len(partial) != 1 or not isinstance(entry := step.primitive.index[partial[0]], tuple):
            return None
        if entry[2] != 1 or not placed.aval.shape:
            return None
        axes.add(partial[0])
        parts.append(Part(placed, entry[0], entry[1]))
        if isinstance(step.primitive, Pad):
            return Overlap(axes.pop(), parts[::-1], set()) if len(axes) == 1 else None
        base = step.inputs[0]
        step = makers.get(base) if uses.get(base) == 1 else None
        if step is not None and not isinstance(step.primitive, Pad | AddToSlice):
            return None
    return None


def pays(found: Overlap, out: Var, makers: Makers) -> bool:
    """Whether one loop over all places is less work than a loop for each part."""
    parts, spans = found.parts, found.spans
    if out.aval.size < FEWEST_ELEMENTS or out.aval.dtype.kind != "f" or not 2 <= len(parts) <= MOST_PARTS:
        return False
    if (spans[0][0], spans[-1][1]) != (0, out.aval.shape[found.axis]) or len({p.size for p in parts}) != 1:
        return False
    first, last = found.longest
    ends = spans[-1][1] - (last - first)
    if not 0 < ends <= min(2 * LONGEST_END, last - first):
        return False
    if any(part.start > first or part.start + part.size < last for part in parts):
        return False
    costs = 0.0
    for part in parts:
        seen: set[Any] = set()
        costs += cost_of(part.atom, part.atom.aval.shape, makers, seen)
        found.read.update(seen)
    return costs <= MOST_COST


def cost_of(atom: Atom, shape: tuple[int, ...], makers: Makers, seen: set[Any]) -> float:
    """What an element costs to compute again; infinite where a loop of another kind makes it."""
    if isinstance(atom, Literal) or atom in seen or not atom.aval.shape:
        return 0
    seen.add(atom)
    maker = makers.get(atom)
    if maker is None or isinstance(maker.primitive, Slice | Broadcast):
        # It is in memory already, or the same everywhere.
        is_at_hand = maker is None or makers.get(maker.inputs[0]) is None or not maker.inputs[0].aval.shape
        return 0 if is_at_hand else math.inf
    if not isinstance(maker.primitive, Pointwise) or atom.aval.shape != shape:
        return math.inf
    return maker.primitive.cost + sum(cost_of(a, shape, makers, seen) for a in maker.inputs)


def piece(rewriter: Rewriter, found: Overlap, span: tuple[int, int], makers: Makers) -> Atom:
    """The sum of what meets in a span of the axis."""
    start, stop = span
    moved = [
        shifted(rewriter, part.atom, found.axis, (start - part.start, stop - start, 1), makers, {})
        for part in found.parts
        if part.start <= start and stop <= part.start + part.size
    ]
    total = moved[0]
    for term in moved[1:]:
        total = rewriter(add, total, term)
    return total


def shifted(
    rewriter: Rewriter,
    atom: Atom,
    axis: int,
    span: tuple[int, int, int],
    makers: Makers,
    known: dict[Any, Atom],
) -> Atom:
    """A span of what is computed element by element, computed from spans of its operands."""
    if isinstance(atom, Literal) or not atom.aval.shape:
        return atom
    if atom not in known:
        maker = makers.get(atom)
        if maker is not None and isinstance(maker.primitive, Pointwise):
            inputs = [shifted(rewriter, a, axis, span, makers, known) for a in maker.inputs]
            known[atom] = rewriter(maker.primitive, *inputs)
        elif maker is not None and isinstance(maker.primitive, Broadcast) and not maker.inputs[0].aval.shape:
            shape = list(atom.aval.shape)
            shape[axis] = span[1]
            known[atom] = rewriter(Broadcast(tuple(shape), ()), maker.inputs[0])
        else:
            index = [(0, n, 1) for n in atom.aval.shape]
            index[axis] = span
            known[atom] = rewriter(Slice(tuple(index)), atom)
    return known[atom]
