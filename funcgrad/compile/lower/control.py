"""Lowerings of structured control flow: scans and loops become native loops, conditionals native branches.

A held Program is scheduled by a scheduler of its own, with the names and the memory of the kernel around it.
Numbers that a loop carries are locals; arrays it carries have memory of their own, into which what a trip has
made is copied when the trip ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad.compile.emit.interruptible_loops import counted_loop, flops_of, write_trip
from funcgrad.compile.emit.loop_order import loops_of
from funcgrad.compile.emit.statements import NestWriter, Writer, without_dead_statements
from funcgrad.compile.lower.elementwise import cast_name
from funcgrad.compile.passes.expand import expand
from funcgrad.compile.passes.fusion import joined_steps
from funcgrad.compile.passes.nests import Load, Nest, Special, Store, squeezed, squeezed_view
from funcgrad.compile.passes.schedule import NotLowered, Scheduler, lowers
from funcgrad.compile.passes.uses import count_uses
from funcgrad.compile.passes.views import View
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Atom, Equation, Program, Var
from funcgrad.transforms.control.conditional import Cond
from funcgrad.transforms.control.scan import Scan
from funcgrad.transforms.control.while_loop import WhileLoop
from funcgrad.transforms.simplify import simplify_program

Given = str | View
"""An input of a held Program: a local for one element, or a view."""


class Held:
    """A Program inside another, scheduled."""

    def __init__(self, outer: Scheduler, program: Program, inputs: Sequence[Given], carried: int = 0) -> None:
        """Schedule a Program; of its inputs the first `carried` are memory that it may change."""
        self.program = simplify_program(expand(simplify_program(program)))
        self.scheduler = Scheduler(outer.local, count_uses(self.program))
        self.scheduler.held.update([x.buffer for x in inputs[carried:] if isinstance(x, View)])
        self.read: set[str] = set()
        """Locals that whoever emits it reads at its end."""
        for v, given in zip(self.program.inputs, inputs, strict=True):
            self.define(v, given)
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


def given_atoms(scheduler: Scheduler, atoms: Sequence[Atom]) -> list[Given]:
    """Inputs of a held Program that do not change while it runs."""
    return [scheduler.stored(a) if a.aval.shape else scheduler.scalar(a) for a in atoms]


class Carry:
    """What a loop carries from trip to trip: locals for numbers, memory for arrays."""

    def __init__(self, scheduler: Scheduler, initial: Sequence[Atom], avals: Sequence[Aval]) -> None:
        local = scheduler.local
        self.avals = avals
        self.starts: list[str | None] = []
        self.given: list[Given] = []
        for atom, aval in zip(initial, avals, strict=True):
            if not aval.shape:
                self.starts.append(scheduler.scalar(atom))
                self.given.append(local.fresh("carry"))
                continue
            view = scheduler.buffer_like(aval, "carry")
            shape = squeezed(aval.shape)
            nest = scheduler.nest_for(shape, scheduler.bound(atom, shape))
            value = scheduler.operand(atom, nest)
            nest.body.append(Store(squeezed_view(view), value, None))
            self.starts.append(None)
            self.given.append(view)
        self.updates: list[tuple[str, str, Aval]] = []
        self.copies: list[tuple[View, View]] = []

    def results(self, held: Held, atoms: Sequence[Atom]) -> None:
        """Note what the next trip starts with."""
        scheduler = held.scheduler
        for v, given, atom, aval in zip(held.program.inputs, self.given, atoms, self.avals, strict=False):
            if atom is v:
                continue
            if isinstance(given, str):
                self.updates.append((given, held.value(atom), aval))
            else:
                node = scheduler.nodes[atom] if isinstance(atom, Var) else None
                if node is not None and node.view == given:
                    continue  # it has been changed where it is
                following = scheduler.buffer_like(aval, "next")
                held.store(atom, following)
                held.scheduler.created.discard(following.buffer)
                self.copies.append((given, following))

    def begin(self, writer: Writer) -> None:
        """Before the first trip."""
        for start, given, aval in zip(self.starts, self.given, self.avals, strict=True):
            if start is not None:
                writer.line(f"{given} = {cast_name(aval.dtype)}({start})")

    def end_trip(self, writer: Writer) -> None:
        """At the end of a trip. What is made of the old values is complete before any changes."""
        carried = {name for name, _, _ in self.updates}
        texts = []
        for name, value, aval in self.updates:
            if value in carried:
                text = writer.local.fresh("old")
                writer.line(f"{text} = {value}")
            else:
                text = value
            texts.append((name, text, aval))
        for name, text, aval in texts:
            writer.line(f"{name} = {cast_name(aval.dtype)}({text})")
        for target, source in self.copies:
            nest = Nest(
                -1, squeezed(target.shape), [Store(squeezed_view(target), Load(squeezed_view(source)), None)]
            )
            NestWriter(writer, nest, loops_of(nest)).write()

    def views(self) -> list[View]:
        """The memory of the arrays."""
        copied = [view for pair in self.copies for view in pair]
        return [given for given in self.given if isinstance(given, View)] + copied

    def names(self) -> list[str]:
        """The locals it starts with."""
        return [start for start in self.starts if start is not None]

    def define(self, scheduler: Scheduler, outputs: Sequence[Var], position: int) -> None:
        """The final values as results."""
        for v, given in zip(outputs, self.given, strict=True):
            if isinstance(given, str):
                scheduler.define_local(v, given, position)
            else:
                scheduler.define_view(v, given, position)


def special_of(
    scheduler: Scheduler,
    kind: str,
    emit: Any,
    held: Sequence[Held],
    views: Sequence[View],
    names: Sequence[str],
) -> int:
    """A step that emits held Programs, with all that they use."""
    pairs = [pair for h in held for pair in h.views()]
    used = {name for h in held for name in h.used} | set(names)
    reads = [view for view, written in pairs if not written]
    writes = [view for view, written in pairs if written]
    flops = sum(step.flops for h in held for step in h.scheduler.steps)
    return scheduler.special(
        kind, emit, reads, [*writes, *views], names=sorted(used), flops=flops, defines=True
    )


@lowers(Scan)
def lower_scan(scheduler: Scheduler, equation: Equation) -> None:
    """A loop of a known number of trips over the first axis of arrays."""
    scan: Scan = equation.primitive
    step, local = scan.step, scheduler.local
    parts = step.parts(equation.inputs)
    carry_outs, y_outs = step.results(equation.outputs)
    turn, t = local.fresh("t"), ""
    t = local.fresh("row") if scan.reverse else turn
    consts = given_atoms(scheduler, parts.consts)
    rows = [scheduler.stored(x).at(t) for x in parts.xs]
    carry = Carry(scheduler, parts.carry, step.carry_avals)
    stacks = [scheduler.buffer_like(v.aval, local.named(v)) for v in y_outs]
    held = Held(scheduler, step.program, [*carry.given, *rows, *consts], len(carry.given))
    carry_results, y_results = step.results(held.program.outputs)
    for atom, stack in zip(y_results, stacks, strict=True):
        held.store(atom, stack.at(t))
    carry.results(held, carry_results)
    held.finish()

    def emit(writer: Writer) -> None:
        carry.begin(writer)
        writer.comment(equation.source)
        flops = flops_of(held.scheduler.steps)
        with counted_loop(writer, turn, scan.length, flops):
            if scan.reverse:
                writer.line(f"{t} = {local.symbol(scan.length)} - 1 - {turn}")
            held.emit(writer)
            carry.end_trip(writer)

    views = [*carry.views(), *stacks, *rows]
    position = special_of(scheduler, "scan", emit, [held], views, carry.names())
    last = scheduler.steps[position]
    assert isinstance(last, Special)
    last.flops *= max(scan.length, 1)
    carry.define(scheduler, carry_outs, position)
    for v, stack in zip(y_outs, stacks, strict=True):
        scheduler.define_view(v, stack, position)


@lowers(WhileLoop)
def lower_while(scheduler: Scheduler, equation: Equation) -> None:
    """A loop that goes on while a condition holds."""
    loop = equation.primitive.loop
    (sweep,) = loop.sweeps
    inputs = loop.inputs(equation.inputs)
    carry = Carry(scheduler, inputs.carries[0], sweep.step.carry_avals)
    decides = Held(scheduler, loop.cond, [*carry.given, *given_atoms(scheduler, inputs.cond)])
    condition = decides.value(decides.program.outputs[0])
    decides.finish()
    consts = given_atoms(scheduler, inputs.consts[0])
    held = Held(scheduler, sweep.program, [*carry.given, *consts], len(carry.given))
    carry.results(held, held.program.outputs[: sweep.n_carry])
    held.finish()

    def emit(writer: Writer) -> None:
        carry.begin(writer)
        writer.comment(equation.source)
        with writer.block("while True:"):
            decides.emit(writer)
            with writer.block(f"if not {condition}:"):
                writer.line("break")
            write_trip(writer, flops_of([*decides.scheduler.steps, *held.scheduler.steps]))
            held.emit(writer)
            carry.end_trip(writer)

    position = special_of(scheduler, "while_loop", emit, [decides, held], carry.views(), carry.names())
    chosen = [carry.given[r] for r in loop.results]
    for v, given in zip(equation.outputs, chosen, strict=True):
        if isinstance(given, str):
            scheduler.define_local(v, given, position)
        else:
            scheduler.define_view(v, given, position)


@lowers(Cond)
def lower_cond(scheduler: Scheduler, equation: Equation) -> None:
    """One of several Programs."""
    index, *operands = equation.inputs
    local = scheduler.local
    chosen = scheduler.scalar(index)
    given = given_atoms(scheduler, operands)
    results: list[Given] = [
        scheduler.buffer_like(v.aval, local.named(v)) if v.aval.shape else local.named(v)
        for v in equation.outputs
    ]
    branches = [Held(scheduler, branch, given) for branch in equation.primitive.branches]
    values: list[list[tuple[str, str, Aval]]] = []
    for held in branches:
        numbers = []
        for result, atom in zip(results, held.program.outputs, strict=True):
            if isinstance(result, str):
                numbers.append((result, held.value(atom), atom.aval))
            else:
                held.store(atom, result)
        held.finish()
        values.append(numbers)

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        for k, (head, held) in enumerate(
            zip(heads(chosen, index.aval, len(branches)), branches, strict=True)
        ):
            with writer.block(head):
                held.emit(writer)
                for name, value, aval in values[k]:
                    writer.line(f"{name} = {cast_name(aval.dtype)}({value})")

    views = [result for result in results if isinstance(result, View)]
    position = special_of(scheduler, "cond", emit, branches, views, [chosen])
    for v, result in zip(equation.outputs, results, strict=True):
        if isinstance(result, str):
            scheduler.define_local(v, result, position)
        else:
            scheduler.define_view(v, result, position)


def heads(index: str, aval: Aval, n: int) -> list[str]:
    """The lines that begin the branches; an index beyond them means the nearest."""
    if n == 1:
        return ["if True:"]
    if aval.dtype.kind == "b":
        return [f"if not {index}:", "else:"]
    middle = [f"elif {index} <= {k}:" for k in range(1, n - 1)]
    return [f"if {index} <= 0:", *middle, "else:"]


__all__ = ["Carry", "Held", "NotLowered", "lower_cond", "lower_scan", "lower_while"]
