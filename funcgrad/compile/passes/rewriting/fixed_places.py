"""Sums that the trips of a scan add to one element of an array leave memory: a number is carried instead.

In the gradient of a loop over pairs the inner loop adds to the element of the outer body in every trip. As a
number that sum stays in a register, and the loop can be vectorised, since what it still adds to memory lies
one element after the other. The element itself is added to once, when the loop has ended: if a trip has done
so where some trips do not, since its index need not exist otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from funcgrad.compile.passes.rewriting.uses import count_uses
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ops.arrays.indexing import Scatter
from funcgrad.ops.arrays.slicing import AddToSlice
from funcgrad.ops.elementwise.arithmetic import add, add_in_any_order
from funcgrad.transforms.control.conditional import Cond
from funcgrad.transforms.control.scan import Scan
from funcgrad.transforms.control.step import Step
from funcgrad.transforms.control.updates import changed_operands, has_any
from funcgrad.transforms.simplify import simplify_program

if TYPE_CHECKING:
    from funcgrad.compile.passes.rewriting.expand import Rewriter

FEWEST = 4
"""Trips from which it is worth it."""

COUNT = Aval((), np.dtype(np.int64))
"""How often trips have added to a place, where not all do: a number, since LLVM vectorises no flag."""

ARITHMETIC = ("add", "sub", "mul", "neg", "cast")
"""What may be computed again after the loop, of numbers of which the loop may not have computed it."""

ONE = Literal(np.int64(1), COUNT)


class Place(NamedTuple):
    """An element of a part of the carry, by indices that are no different in any trip."""

    carry: int
    primitive: Scatter | AddToSlice
    indices: tuple[Atom, ...]
    certain: bool
    """Whether every trip adds to it."""


Found = dict[Equation, Place]
"""The equations that add to a place. Equations are told apart by identity."""


class Fixed:
    """The numbers that no trip changes: what Programs inside the body call them, as the body does."""

    def __init__(self, names: Mapping[Atom, Atom]) -> None:
        self.names = dict(names)
        self.equations: dict[tuple[object, ...], Equation] = {}
        """How whole numbers among them are computed of others."""

    def note(self, program: Program) -> None:
        """Follow the arithmetic of whole numbers."""
        for e in program.equations:
            given = [self.of(a) for a in e.inputs]
            inputs = tuple([a for a in given if a is not None])
            if e.primitive.name not in ARITHMETIC or len(inputs) < len(given):
                continue
            (out,) = e.outputs
            values = [(a.aval, a.value.tobytes()) if isinstance(a, Literal) else a for a in inputs]
            made = Equation(e.primitive, inputs, (Var(out.aval),), e.source)
            (self.names[out],) = self.equations.setdefault((e.primitive, *values), made).outputs

    def inside(self, branch: Program, operands: Sequence[Atom]) -> None:
        """Follow the numbers into a branch that is called with some operands."""
        for v, a in zip(branch.inputs, operands, strict=True):
            found = self.of(a)
            if found is not None:
                self.names[v] = found
        self.note(branch)

    def of(self, atom: Atom) -> Atom | None:
        """What the body calls a number; None for one that trips change."""
        return atom if isinstance(atom, Literal) else self.names.get(atom)


def rewrite_fixed_places(rewriter: Rewriter, equation: Equation) -> Sequence[Atom] | None:
    """The scan with numbers for sums at one place; None where there are none."""
    scan: Scan = equation.primitive
    if scan.length < FEWEST or not has_any(scan.body.equations, (Scatter, AddToSlice, Cond)):
        return None
    body = simplify_program(scan.body)
    step = Step(body, scan.n_carry, scan.n_xs)
    fixed = Fixed({v: v for v in step.parts(body.inputs).consts if not v.aval.shape})
    fixed.note(body)
    found: Found = {}
    for k, v in enumerate(step.parts(body.inputs).carry):
        if v.aval.shape and v.aval.dtype.kind == "f":
            found.update(additions(body, v, body.outputs[k], fixed, k, certain=True) or {})
    if not found or repeated(body):
        return None
    places = list(dict.fromkeys(found.values()))
    made = with_numbers(body, found, places)
    n_new = len(made.inputs) - len(body.inputs)
    n, last = scan.n_carry, len(body.inputs)
    inputs = (*made.inputs[:n], *made.inputs[last:], *made.inputs[n:last])
    last = len(body.outputs)
    outputs = (*made.outputs[:n], *made.outputs[last:], *made.outputs[n:last])
    inner = Program(inputs, made.captured, made.equations, outputs, made.name)
    given = equation.inputs
    starts = [Literal(v.aval.dtype.type(0), v.aval) for v in made.inputs[len(body.inputs) :]]
    primitive: Scan = Scan(inner, n + n_new, scan.n_xs, scan.length, scan.reverse)
    outs = rewriter.multiple(primitive, (*given[:n], *starts, *given[n:]))
    known: dict[Atom, Atom] = dict(zip(body.inputs, given, strict=True))
    for e in needed(fixed, places):
        known[e.outputs[0]] = rewriter(e.primitive, *[known.get(a, a) for a in e.inputs])
    carried: list[Atom] = list(outs[:n])
    add_totals(rewriter, carried, places, outs[n : n + n_new], known)
    return [*carried, *outs[n + n_new :]]


def additions(
    program: Program, start: Var, end: Atom, fixed: Fixed, carry: int, *, certain: bool
) -> Found | None:
    """What adds to fixed places between an input and an output; None where more than additions is done.

    A conditional is looked into.
    """
    uses, readers = count_uses(program), {a: e for e in program.equations for a in e.inputs}
    found: Found = {}
    v = start
    while v is not end:
        e = readers.get(v)
        if e is None or uses[v] > 1:
            return None
        if isinstance(e.primitive, Cond):
            step = in_branches(e, v, fixed, carry)
            if step is None:
                return None
            v, more = step
            found.update(more)
        elif is_addition(e) and e.inputs[0] is v:
            place = place_of(e, fixed, carry, certain=certain)
            if place is not None:
                found[e] = place
            (v,) = e.outputs
        else:
            return None
    return found if uses[v] == 1 else None


def in_branches(e: Equation, v: Atom, fixed: Fixed, carry: int) -> tuple[Var, Found] | None:
    """What the branches of a conditional add to an array, and the result that it is afterwards."""
    operands, branches = e.inputs[1:], e.primitive.branches
    if v not in operands:
        return None
    k = operands.index(v)
    changed = changed_operands(branches)
    if k not in changed:
        return None
    place = changed.index(k)
    found: Found = {}
    for branch in branches:
        fixed.inside(branch, operands)
        more = additions(branch, branch.inputs[k], branch.outputs[place], fixed, carry, certain=False)
        if more is None:
            return None
        found.update(more)
    return e.outputs[place], found


def repeated(program: Program) -> bool:
    """Whether one Program is a branch in two places, where it may add to different arrays."""
    branches: list[Program] = []
    left = [program]
    while left:
        inner = [
            b for e in left.pop().equations if isinstance(e.primitive, Cond) for b in e.primitive.branches
        ]
        branches += inner
        left += inner
    return len(set(map(id, branches))) < len(branches)


def is_addition(e: Equation) -> bool:
    """Whether an equation adds to elements of its first operand."""
    return isinstance(e.primitive, AddToSlice) or (
        isinstance(e.primitive, Scatter) and e.primitive.mode == "add"
    )


def place_of(e: Equation, fixed: Fixed, carry: int, *, certain: bool) -> Place | None:
    """The one element that an equation adds to, if no trip changes which it is."""
    if isinstance(e.primitive, AddToSlice):
        one = all(isinstance(entry, int) for entry in e.primitive.index)
        return Place(carry, e.primitive, (), certain=True) if one else None
    indices = [fixed.of(a) for a in e.inputs[2:]]
    if e.inputs[1].aval.shape or len(indices) < e.inputs[0].aval.ndim:
        return None
    known = tuple([a for a in indices if a is not None])
    return Place(carry, e.primitive, known, certain) if len(known) == len(indices) else None


def counted_indices(places: Sequence[Place]) -> list[tuple[Atom, ...]]:
    """The indices of which it is counted how often trips use them."""
    return list(dict.fromkeys([place.indices for place in places if not place.certain]))


def with_numbers(program: Program, found: Found, places: Sequence[Place]) -> Program:
    """The Program with further inputs and results: a total for each place, and the counts."""
    counted = counted_indices(places)
    totals = {p: Var(Aval((), dtype_at(p, found))) for p in places}
    noted = {f: Var(COUNT) for f in counted}
    inputs = (*program.inputs, *totals.values(), *noted.values())
    known: dict[Atom, Atom] = {}
    equations: list[Equation] = []
    for e in program.equations:
        given = tuple([known.get(a, a) for a in e.inputs])
        place = found.get(e)
        if place is not None:
            known[e.outputs[0]] = given[0]
            total = Var(totals[place].aval)
            equations.append(Equation(add_in_any_order, (totals[place], given[1]), (total,), e.source))
            totals[place] = total
            if not place.certain and noted[place.indices] in inputs:
                count = Var(COUNT)
                equations.append(Equation(add, (noted[place.indices], ONE), (count,), e.source))
                noted[place.indices] = count
            continue
        inside = places_in(e, found)
        if not inside:
            equations.append(Equation(e.primitive, given, e.outputs, e.source))
            continue
        branches = tuple([with_numbers(branch, found, inside) for branch in e.primitive.branches])
        marks = counted_indices(inside)
        more = [Var(totals[p].aval) for p in inside] + [Var(COUNT) for _ in marks]
        given = (*given, *[totals[p] for p in inside], *[noted[f] for f in marks])
        equations.append(Equation(Cond(branches), given, (*e.outputs, *more), e.source))
        totals.update(zip(inside, more, strict=False))
        noted.update(zip(marks, more[len(inside) :], strict=True))
    outputs = (*[known.get(a, a) for a in program.outputs], *totals.values(), *noted.values())
    return Program(inputs, program.captured, tuple(equations), outputs, program.name)


def needed(fixed: Fixed, places: Sequence[Place]) -> list[Equation]:
    """The equations that compute the indices of places, in order."""
    wanted: set[Atom] = {a for place in places for a in place.indices}
    found = []
    for e in reversed(fixed.equations.values()):
        if not wanted.isdisjoint(e.outputs):
            wanted.update(e.inputs)
            found.append(e)
    return found[::-1]


def dtype_at(place: Place, found: Found) -> np.dtype[np.generic]:
    """The dtype of the array that a place is in."""
    return next(e for e, p in found.items() if p == place).outputs[0].aval.dtype


def places_in(e: Equation, found: Found) -> list[Place]:
    """The places that the branches of a conditional add to."""
    if not isinstance(e.primitive, Cond):
        return []
    inner = [x for branch in e.primitive.branches for x in branch.equations]
    listed = [[found[x]] if x in found else places_in(x, found) for x in inner]
    return list(dict.fromkeys([place for group in listed for place in group]))


def add_totals(
    rewriter: Rewriter,
    carried: list[Atom],
    places: Sequence[Place],
    new: Sequence[Atom],
    known: Mapping[Atom, Atom],
) -> None:
    """Add the totals to the results of the loop: those of certain places, then those that are counted."""
    totals = dict(zip(places, new, strict=False))
    for place in places:
        if place.certain:
            indices = [known.get(a, a) for a in place.indices]
            carried[place.carry] = rewriter(place.primitive, carried[place.carry], totals[place], *indices)
    for at, count in zip(counted_indices(places), new[len(places) :], strict=True):
        here = [place for place in places if not place.certain and place.indices == at]
        arrays = list(dict.fromkeys([place.carry for place in here]))
        given = [carried[k] for k in arrays] + [totals[p] for p in here] + [known.get(a, a) for a in at]
        inside = [Var(a.aval) for a in given]
        current: dict[int, Atom] = dict(zip(arrays, inside, strict=False))
        equations = []
        for place, total in zip(here, inside[len(arrays) :], strict=False):
            out = Var(current[place.carry].aval.strong)
            operands = (current[place.carry], total, *inside[len(arrays) + len(here) :])
            equations.append(Equation(place.primitive, operands, (out,)))
            current[place.carry] = out
        unchanged = Program(tuple(inside), (), (), tuple(inside[: len(arrays)]), "unchanged")
        added = Program(tuple(inside), (), tuple(equations), tuple([current[k] for k in arrays]), "added")
        outs = rewriter.multiple(Cond((unchanged, added)), (count, *given))
        for k, out in zip(arrays, outs, strict=True):
            carried[k] = out
