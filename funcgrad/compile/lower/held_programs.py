"""Programs inside others, scheduled with the names and the memory of the kernel around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from funcgrad.compile.emit.statements import Writer, without_dead_statements
from funcgrad.compile.emit.symbols import Locals
from funcgrad.compile.passes.arranging.fusion import joined_steps
from funcgrad.compile.passes.rewriting.doubled_factors import factors_doubled
from funcgrad.compile.passes.rewriting.expand import expand_held
from funcgrad.compile.passes.rewriting.nearest_last import nearest_last
from funcgrad.compile.passes.rewriting.uses import count_uses
from funcgrad.compile.passes.scheduling.nests import Nest, Special, Store, squeezed_view
from funcgrad.compile.passes.scheduling.ranges import Counter
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.steady import Steady
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ir.ranges import Range
from funcgrad.ops.families import Pointwise
from funcgrad.transforms.control.updates import reads_first, totals_in_place
from funcgrad.transforms.simplify import simplify_program

Given = str | View
"""An input of a held Program: a local for one element, or a view."""


REWRITES = (simplify_program, expand_held, simplify_program, factors_doubled)
"""Held Programs to equal Programs; `nearest_last` follows, which is told what trips do not change."""

ORDERS = (totals_in_place, reads_first)
"""Then the order of the equations, which spares copies."""


def prepared(local: Locals, program: Program, inputs: Sequence[Atom | None]) -> Program:
    """A held Program as it is scheduled: simple equations, in an order that spares copies.

    Its inputs stay, but the numbers that are known among them are written out.
    """
    numbers = {k: x for k, x in enumerate(inputs) if isinstance(x, Literal)}
    key = (id(program), *[(k, x.aval, x.value.tobytes()) for k, x in numbers.items()])
    found = local.prepared.get(key)
    if found is None:
        known = with_numbers(program, numbers)
        fixed = {v for v, x in zip(program.inputs, inputs, strict=True) if x is not None}
        made = known
        for rewrite in REWRITES:
            made = rewrite(made)
        made = nearest_last(made, fixed)
        for order in ORDERS:
            made = order(made)
        # The first is kept, too, for its identity to stay its own.
        found = local.prepared[key] = (program, made)
    return found[1]


def with_numbers(program: Program, numbers: Mapping[int, Literal]) -> Program:
    """The Program with numbers in place of some of its inputs, which are left unread."""
    known: dict[Atom, Atom] = {program.inputs[k]: number for k, number in numbers.items()}
    if not known:
        return program
    equations = tuple(
        [
            Equation(e.primitive, tuple([known.get(a, a) for a in e.inputs]), e.outputs, e.source)
            for e in program.equations
        ]
    )
    outputs = tuple([known.get(a, a) for a in program.outputs])
    return Program(program.inputs, program.captured, equations, outputs, program.name)


class Held:
    """A Program inside another, scheduled."""

    def __init__(
        self,
        outer: Scheduler,
        program: Program,
        inputs: Sequence[Given],
        ranges: Sequence[Range | None],
        changeable: Sequence[int] = (),
        atoms: Sequence[Atom | None] = (),
        below: Sequence[tuple[int, Var]] = (),
        counters: Mapping[int, Counter] = MappingProxyType({}),
        paces: Mapping[int, int] = MappingProxyType({}),
        *,
        once: bool = False,
    ) -> None:
        """Schedule a prepared Program; some of its inputs are memory that it may change.

        `atoms` are those of the Program around it that its inputs are, None for what a loop carries; what is
        `below` says which of its inputs, that are not negative, are less than which variable there, and
        `counters` which of them the loop counts. `paces` says what each trip adds to inputs, in a loop that
        asks for indices before its trips. Locals of positions stay what they are for what runs `once`.
        """
        self.program = program
        self.scheduler = type(outer)(outer.local, count_uses(self.program))
        self.scheduler.inside = True
        if atoms:
            self.scheduler.ranges.enter(outer.ranges, program, atoms, once=once)
        for k, bound in below:
            self.scheduler.ranges.note_below(program.inputs[k], bound)
        for k, counter in counters.items():
            self.scheduler.ranges.note_counter(program.inputs[k], counter)
        if paces and not outer.local.portable:
            growing = {program.inputs[k]: pace for k, pace in paces.items()}
            ranges_here = self.scheduler.ranges
            ranges_here.steady = Steady(growing, whole_numbers_in(outer), ranges_here.name)
        self.scheduler.held.update(
            [x.buffer for k, x in enumerate(inputs) if isinstance(x, View) and k not in changeable]
        )
        self.read: set[str] = set()
        """Locals that whoever emits it reads at its end."""
        for v, given, known in zip(self.program.inputs, inputs, ranges, strict=True):
            self.define(v, given)
            self.scheduler.ranges.note(v, known)
        for v, array in self.program.captured:
            block = outer.local.block(outer.local.named(v), v.aval.dtype, v.aval.size, "captured", array)
            self.define(v, View.whole(block, v.aval.shape))
        self.scheduler.run(self.program)

    def define(self, v: Var, given: Given) -> None:
        """Say what an input is."""
        if isinstance(given, str):
            self.scheduler.define_local(v, given)
        else:
            self.scheduler.define_view(v, given)

    def value(self, atom: Atom) -> str:
        """The text of a result that is one number."""
        name = self.scheduler.scalar(atom)
        self.read.add(name)
        return name

    def store(self, atom: Atom, view: View) -> None:
        """Put a result into memory."""
        scheduler = self.scheduler
        target = squeezed_view(view)
        nest = scheduler.nest_for(target.shape, scheduler.bound(atom, target.shape))
        value = scheduler.operand(atom, nest)
        nest.body.append(Store(target, value, None))

    def where(self, atom: Atom) -> View | None:
        """Where a result lies already."""
        node = self.scheduler.nodes.get(atom) if isinstance(atom, Var) else None
        return None if node is None else node.view

    def finish(self) -> None:
        """Remove what nothing reads."""
        self.used = without_dead_statements(self.scheduler.steps, self.read)
        self.steps = joined_steps(self.scheduler.steps, self.scheduler.created)

    def emit(self, writer: Writer) -> None:
        """Write the steps."""
        writer.steps(self.steps)

    def views(self) -> list[tuple[View, bool]]:
        """What it reads and writes."""
        fills = [view for step in self.scheduler.steps if isinstance(step, Nest) for view, _ in step.fills]
        return [*[pair for step in self.steps for pair in step.views()], *[(view, True) for view in fills]]

    def failing(self) -> str | None:
        """What is not zero once a step has failed; None where none of them can.

        A ``while`` goes on by numbers that a failure has made meaningless: it may never end.
        """
        flags = [v.buffer.name for v, written in self.views() if written and v.buffer.role == "failure"]
        return f"{flags[0]}[0] != 0" if flags else None

    @property
    def copies(self) -> list[tuple[Any, Any]]:
        """The arrays that are copied on every trip, with the user's lines."""
        inner = [c for step in self.scheduler.steps if isinstance(step, Special) for c in step.copies]
        return [*self.scheduler.copies, *inner]


def whole_numbers_in(scheduler: Scheduler) -> dict[Var, Atom]:
    """The integers of a Program that have been computed so far, by their names."""
    found: dict[Var, Atom] = {}
    for v in scheduler.nodes:
        if not v.aval.shape and v.aval.dtype == np.int64:
            found.setdefault(scheduler.ranges.name(v), v)
    return found


def write_decision(writer: Writer, decides: Held, condition: str, body: Held) -> None:
    """Leave a ``while`` where its condition does not hold, or where a step has failed."""
    decides.emit(writer)
    for leaves in (f"not {condition}", decides.failing() or body.failing()):
        if leaves is not None:
            with writer.block(f"if {leaves}:"):
                writer.line("break")


def given_atoms(scheduler: Scheduler, atoms: Sequence[Atom]) -> list[Given]:
    """Inputs of a held Program that do not change while it runs."""
    return [scheduler.stored(a) if a.aval.shape else scheduler.scalar(a) for a in atoms]


def given_to_trips(scheduler: Scheduler, body: Program, atoms: Sequence[Atom]) -> list[Given]:
    """The same for a loop's body, of which they are the last inputs.

    A column of a matrix that every trip reads whole lies in one piece before the first: vectors are loaded
    from there, and not gathered again and again.
    """
    read = {x for e in body.equations if isinstance(e.primitive, Pointwise) for x in e.inputs}
    found = given_atoms(scheduler, atoms)
    for k, (v, atom) in enumerate(zip(body.inputs[len(body.inputs) - len(atoms) :], atoms, strict=True)):
        given = found[k]
        if isinstance(given, View) and v in read:
            strides = squeezed_view(given).strides
            if len(strides) == 1 and strides[0] not in (0, 1):
                found[k] = scheduler.copied_atom(atom)
    return found


def special_of(
    scheduler: Scheduler,
    kind: str,
    emit: Callable[..., Any],
    held: Sequence[Held],
    views: Sequence[View],
    names: Sequence[str],
    rows: Sequence[View] = (),
) -> int:
    """A step that emits held Programs, with all that they use: views it writes, and rows it only reads."""
    pairs = [pair for h in held for pair in h.views()]
    used = {name for h in held for name in h.used} | set(names)
    reads = [*rows, *[view for view, written in pairs if not written]]
    writes = [view for view, written in pairs if written]
    flops = sum(step.flops for h in held for step in h.scheduler.steps)
    position = scheduler.special(
        kind, emit, reads, [*writes, *views], names=sorted(used), flops=flops, defines=True
    )
    last = scheduler.steps[position]
    assert isinstance(last, Special)
    last.copies = tuple([copy for h in held for copy in h.copies])
    return position
