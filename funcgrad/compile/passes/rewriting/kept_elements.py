"""Elements that every trip of a loop reads, at one place, are read before it.

``a[i, j] -= a[i, k] * a[k, j]`` in a loop over ``j`` reads ``a[i, k]`` in every trip, since it may be what
the trip before has written: for all that LLVM knows, and so the loop is not vectorised. Where the places that
are written are known to be others, the element is a number: read once, and if trips change it, written once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from funcgrad.compile.passes.rewriting.elements_apart import Form, Sums, Units
from funcgrad.compile.passes.rewriting.fixed_places import ARITHMETIC, is_addition
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ops.arrays.indexing import Gather, Scatter
from funcgrad.ops.arrays.slicing import AddToSlice, Slice, UpdateSlice
from funcgrad.ops.elementwise.arithmetic import add, add_in_any_order
from funcgrad.transforms.control.conditional import Cond
from funcgrad.transforms.control.scan import Scan
from funcgrad.transforms.control.step import Step, with_inputs
from funcgrad.transforms.control.updates import has_any
from funcgrad.transforms.control.while_loop import WhileLoop

UPDATES = (Scatter, UpdateSlice, AddToSlice)
HOLDING = (Scan, WhileLoop, Cond)
INDEX = Aval((), np.dtype(np.int64))


class Access(NamedTuple):
    """An equation that reads or changes one element of what a loop carries."""

    equation: Equation
    place: tuple[Form, ...]

    @property
    def writes(self) -> bool:
        """Whether it changes the element."""
        return isinstance(self.equation.primitive, UPDATES)

    @property
    def adds(self) -> bool:
        """Whether it adds to the element."""
        return self.writes and is_addition(self.equation)


class Kept(NamedTuple):
    """An element that a number stands for, while the loop runs."""

    carry: int
    accesses: tuple[Access, ...]
    indices: tuple[Atom, ...]
    """In the Program around the loop."""

    @property
    def writes(self) -> bool:
        """Whether trips change it."""
        return any(a.writes for a in self.accesses)

    @property
    def adds(self) -> bool:
        """Whether trips add to it and do nothing else, so the order does not matter."""
        return all(a.adds for a in self.accesses)


def with_kept_elements(program: Program) -> Program:
    """The Program, whose loops keep elements in numbers where that is known to be right."""
    return rewritten(program, Sums(Units())) if holds_writes(program.equations) else program


def holds_writes(equations: Sequence[Equation]) -> bool:
    """Whether one of the equations holds a Program that changes parts of arrays."""
    return any(writes_inside(e) for e in equations if isinstance(e.primitive, HOLDING))


def writes_inside(e: Equation) -> bool:
    """Whether a loop or a conditional holds a Program that changes parts of arrays."""
    primitive = e.primitive
    held: Sequence[Program] = ()
    if isinstance(primitive, Scan | WhileLoop):
        held = [primitive.body]
    elif isinstance(primitive, Cond):
        held = primitive.branches
    return any(has_any(x.equations, UPDATES) or holds_writes(x.equations) for x in held)


def rewritten(program: Program, sums: Sums) -> Program:
    """A Program of which the `sums` know the inputs."""
    equations: list[Equation] = []
    for e in program.equations:
        if isinstance(e.primitive, Cond):
            equations.append(with_branches(e, sums))
        elif isinstance(e.primitive, HOLDING):
            equations += with_numbers(e, sums)
        else:
            equations.append(e)
            if not e.outputs[0].aval.shape:
                sums.follow((e,))
    if len(equations) == len(program.equations) and all(
        one is other for one, other in zip(equations, program.equations, strict=True)
    ):
        return program
    return Program(program.inputs, program.captured, tuple(equations), program.outputs, program.name)


def with_branches(e: Equation, sums: Sums) -> Equation:
    """A conditional, whose branches are rewritten."""
    branches = []
    for branch in e.primitive.branches:
        inner = sums.inside()
        inner.forms.update({v: sums.of(a) for v, a in zip(branch.inputs, e.inputs[1:], strict=True)})
        branches.append(rewritten(branch, inner))
    if all(one is other for one, other in zip(branches, e.primitive.branches, strict=True)):
        return e
    return Equation(Cond(tuple(branches)), e.inputs, e.outputs, e.source)


class Around:
    """A loop as an equation, by its parts."""

    def __init__(self, e: Equation) -> None:
        self.equation = e
        primitive = e.primitive
        self.scan: Scan | None = primitive if isinstance(primitive, Scan) else None
        body = primitive.body
        n = primitive.n_carry if self.scan is not None else len(body.outputs)
        self.step = Step(body, n, self.scan.n_xs if self.scan is not None else 0)
        n_inside = len(body.inputs)
        self.n_cond = len(e.inputs) - n_inside
        self.carry = e.inputs[:n]
        self.xs = e.inputs[n : n + self.step.n_xs]
        self.cond = e.inputs[n + self.step.n_xs : n + self.step.n_xs + self.n_cond]
        self.consts = e.inputs[n + self.step.n_xs + self.n_cond :]

    def sums(self, outer: Sums) -> Sums:
        """What is known in the body."""
        body, n = self.step.program, self.step.n_carry
        looked = outer.inside()
        consts: dict[Atom, Form] = {
            v: outer.of(a) for v, a in zip(self.step.parts(body.inputs).consts, self.consts, strict=True)
        }
        looked.forms.update(consts)
        looked.follow(body.equations)
        found = outer.inside()
        found.forms.update(consts)
        bound = self._bound(outer)
        for k, (v, start) in enumerate(zip(body.inputs[:n], self.carry, strict=True)):
            growth = looked.of(body.outputs[k]).plus(looked.of(v), -1)
            if growth.terms or v.aval.shape or v.aval.dtype.kind != "i":
                continue
            if self.scan is not None:
                turn = outer.units.new(0, Form(self.scan.length - 1))
                found.forms[v] = outer.of(start).plus(turn, growth.number)
            elif bound is not None and bound[0] == k and growth.number == 1:
                found.forms[v] = found.counted(outer.of(start), bound[1])
        return found

    def decides(self, k: int) -> bool:
        """Whether the condition of a ``while`` looks at this part of the carry."""
        if self.scan is not None:
            return False
        cond: Program = self.equation.primitive.cond
        v = cond.inputs[k]
        return v in cond.outputs or any(v in e.inputs for e in cond.equations)

    def _bound(self, outer: Sums) -> tuple[int, Form] | None:
        """The counter that ends the loop, and what it is below."""
        if self.scan is not None:
            return None
        cond: Program = self.equation.primitive.cond
        n = self.step.n_carry
        for e in cond.equations:
            if e.outputs[0] is cond.outputs[0] and e.primitive.name == "less":
                left, right = e.inputs
                if left not in cond.inputs[:n]:
                    return None
                if isinstance(right, Literal):
                    return cond.inputs.index(left), outer.of(right)
                if right in cond.inputs[n:]:
                    return cond.inputs.index(left), outer.of(self.cond[cond.inputs.index(right) - n])
        return None


def with_numbers(e: Equation, outer: Sums) -> list[Equation]:
    """A loop, with numbers for the elements that it keeps, and what is done before and after it."""
    around = Around(e)
    sums = around.sums(outer)
    inner = rewritten(around.step.program, around.sums(outer))
    same = inner is around.step.program
    around.step = around.step._replace(program=inner)
    sums.follow(inner.equations)
    changing = changing_units(sums, around)
    before: dict[Atom, Equation] = {}
    found = [
        kept
        for k in range(around.step.n_carry)
        if not around.decides(k)
        for kept in kept_of(around, k, sums, outer, changing, before)
    ]
    if not found:
        return [e if same else loop_of(around, inner, [], [])]
    return [*before.values(), *assembled(around, found)]


def changing_units(sums: Sums, around: Around) -> set[int]:
    """The units that trips change."""
    inputs = around.step.parts(around.step.program.inputs)
    fixed = {unit for v in inputs.consts if v in sums.forms for unit, _ in sums.forms[v].terms}
    return {unit for form in sums.forms.values() for unit, _ in form.terms} - fixed


def kept_of(
    around: Around, k: int, sums: Sums, outer: Sums, changing: set[int], before: dict[Atom, Equation]
) -> list[Kept]:
    """The elements of one part of the carry that are kept in numbers.

    They are read, and written back, where there is no trip as well: so they lie within the array by what is
    known around the loop, not by what is known since a trip is under way.
    """
    program = around.step.program
    v = program.inputs[k]
    if not v.aval.shape or v.aval.dtype.kind != "f":
        return []
    accesses = accesses_of(program, k, sums)
    if accesses is None or not any(a.writes for a in accesses):
        return []
    if around.scan is not None and all(a.adds for a in accesses):
        return []  # `fixed_places` carries the sum
    found = []
    for place in dict.fromkeys([a.place for a in accesses]):
        here = tuple([a for a in accesses if a.place == place])
        others = [a for a in accesses if a.place != place]
        if not any(a.writes for a in here):
            others = [a for a in others if a.writes]
        if (
            any(unit in changing for form in place for unit, _ in form.terms)
            or not outer.is_within(place, v.aval.shape)
            or not all(sums.are_apart(place, a.place, v.aval.shape) for a in others)
            or not all(is_number(a.equation.inputs[1], v.aval) for a in here if a.writes)
        ):
            continue
        indices = [outside(around, a, before) for a in indices_of(here[0].equation)]
        if all(a is not None for a in indices):
            found.append(Kept(k, here, tuple([a for a in indices if a is not None])))
    return found


def is_number(atom: Atom, array: Aval) -> bool:
    """Whether what is written is a variable of the array's dtype."""
    return isinstance(atom, Var) and atom.aval.dtype == array.dtype


def accesses_of(program: Program, k: int, sums: Sums) -> list[Access] | None:
    """What reads and changes a part of the carry, in order; None where that is not element by element."""
    readers: dict[Atom, list[Equation]] = {}
    for e in program.equations:
        for a in dict.fromkeys(e.inputs):
            readers.setdefault(a, []).append(e)
    v: Atom = program.inputs[k]
    found: list[Access] = []
    while True:
        writing = []
        for e in readers.get(v, []):
            if not is_element(e) or v in e.inputs[1:]:
                return None
            found.append(Access(e, tuple([sums.of(a) for a in indices_of(e)])))
            if found[-1].writes:
                writing.append(e)
        if v is program.outputs[k]:
            return found if not writing and program.outputs.count(v) == 1 else None
        if len(writing) != 1 or v in program.outputs:
            return None
        v = writing[0].outputs[0]


def is_element(e: Equation) -> bool:
    """Whether an equation reads or changes one element."""
    primitive, x = e.primitive, e.inputs[0]
    if isinstance(primitive, Slice | UpdateSlice | AddToSlice):
        return all(isinstance(entry, int) for entry in primitive.index)
    if isinstance(primitive, Scatter):
        if primitive.mode not in ("set", "add") or e.inputs[1].aval.shape:
            return False
    elif not isinstance(primitive, Gather):
        return False
    return primitive.axes == tuple(range(x.aval.ndim)) and all(not a.aval.shape for a in indices_of(e))


def indices_of(e: Equation) -> tuple[Atom, ...]:
    """The indices of what reads or changes an element."""
    if isinstance(e.primitive, Slice | UpdateSlice | AddToSlice):
        entries = [entry for entry in e.primitive.index if isinstance(entry, int)]
        return tuple([Literal(np.int64(entry), INDEX) for entry in entries])
    return e.inputs[2:] if isinstance(e.primitive, Scatter) else e.inputs[1:]


def outside(around: Around, atom: Atom, before: dict[Atom, Equation]) -> Atom | None:
    """A number of the body that no trip changes, as one of the Program around it."""
    if isinstance(atom, Literal):
        return atom
    consts = around.step.parts(around.step.program.inputs).consts
    if atom in consts:
        return around.consts[consts.index(atom)]
    if atom in before:
        return before[atom].outputs[0]
    maker = next((e for e in around.step.program.equations if atom in e.outputs), None)
    if maker is None or maker.primitive.name not in ARITHMETIC:
        return None
    given = [outside(around, a, before) for a in maker.inputs]
    if any(a is None for a in given):
        return None
    inputs = tuple([a for a in given if a is not None])
    before[atom] = Equation(maker.primitive, inputs, (Var(atom.aval),), maker.source)
    return before[atom].outputs[0]


def assembled(around: Around, found: Sequence[Kept]) -> list[Equation]:
    """What reads the elements, the loop, and what writes those that it has changed."""
    n = around.step.n_carry
    changed = [kept for kept in found if kept.writes]
    fixed = [kept for kept in found if not kept.writes]
    inner = body_with(around, changed, fixed)
    reads = [reading(around, kept) for kept in (*changed, *fixed)]
    numbers = [e.outputs[0] for e in reads]
    loop = loop_of(around, inner, numbers[: len(changed)], numbers[len(changed) :])
    results = list(around.equation.outputs)
    arrays: dict[int, Var] = {k: Var(results[k].aval) for k in {kept.carry for kept in changed}}
    outs = [arrays.get(k, v) for k, v in enumerate(results)]
    totals = [Var(v.aval) for v in numbers[: len(changed)]]
    loop = Equation(loop.primitive, loop.inputs, (*outs[:n], *totals, *outs[n:]), loop.source)
    after = []
    for k, array in arrays.items():
        here = [(x, total) for x, total in zip(changed, totals, strict=True) if x.carry == k]
        steps = [array, *[Var(array.aval) for _ in here[1:]], results[k]]
        for (kept, total), (old, new) in zip(here, pairwise(steps), strict=True):
            writing = Scatter("set", tuple(range(array.aval.ndim)), True)
            after.append(Equation(writing, (old, total, *kept.indices), (new,), loop.source))
    return [*reads, loop, *after]


def body_with(around: Around, changed: Sequence[Kept], fixed: Sequence[Kept]) -> Program:
    """The body with numbers for elements: carried where it changes them, else constants."""
    program, n = around.step.program, around.step.n_carry
    found = (*changed, *fixed)
    inside = [Var(number_of(program, kept)) for kept in found]
    current: dict[int, Atom] = dict(enumerate(inside))
    numbered = {a.equation: k for k, kept in enumerate(found) for a in kept.accesses}
    known: dict[Atom, Atom] = {}
    equations: list[Equation] = []
    for e in program.equations:
        given = tuple([known.get(a, a) for a in e.inputs])
        k = numbered.get(e)
        if k is None:
            equations.append(Equation(e.primitive, given, e.outputs, e.source))
        elif not isinstance(e.primitive, UPDATES):
            known[e.outputs[0]] = current[k]
        else:
            known[e.outputs[0]] = given[0]
            value: Atom = given[1]
            if is_addition(e):
                total = Var(inside[k].aval)
                adding = add_in_any_order if found[k].adds else add
                equations.append(Equation(adding, (current[k], value), (total,), e.source))
                value = total
            current[k] = value
    outputs = [known.get(a, a) for a in program.outputs]
    ends = [current[k] for k in range(len(changed))]
    heads, last = program.inputs, len(changed)
    return Program(
        (*heads[:n], *inside[:last], *heads[n:], *inside[last:]),
        program.captured,
        tuple(equations),
        (*outputs[:n], *ends, *outputs[n:]),
        program.name,
    )


def number_of(program: Program, kept: Kept) -> Aval:
    """The aval of an element."""
    return Aval((), program.inputs[kept.carry].aval.dtype)


def reading(around: Around, kept: Kept) -> Equation:
    """What reads the element before the loop."""
    x = around.carry[kept.carry]
    primitive = Gather(tuple(range(x.aval.ndim)))
    out = Var(Aval((), x.aval.dtype))
    return Equation(primitive, (x, *kept.indices), (out,), kept.accesses[0].equation.source)


def loop_of(around: Around, body: Program, changed: Sequence[Atom], fixed: Sequence[Atom]) -> Equation:
    """The loop with another body, that carries more numbers and is given more; its results are to be said."""
    e, n, new = around.equation, around.step.n_carry, len(changed)
    inputs = (*around.carry, *changed, *around.xs, *around.cond, *around.consts, *fixed)
    made: Any
    if around.scan is not None:
        made = Scan(body, n + new, around.scan.n_xs, around.scan.length, around.scan.reverse)
    else:
        cond: Program = e.primitive.cond
        more = [a.aval for a in changed]
        made = WhileLoop(with_inputs(cond, [*range(n), *more, *range(n, len(cond.inputs))]), body)
    return Equation(made, inputs, e.outputs, e.source)
