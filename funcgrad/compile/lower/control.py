"""Lowerings of structured control flow: scans and loops become native loops, conditionals native branches."""

from __future__ import annotations

from collections.abc import Sequence

from funcgrad.compile.emit.interruptible_loops import counted_loop, flops_of, write_trip
from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.lower.carries import Carry, define_given, write_copy
from funcgrad.compile.lower.elementwise import cast_name
from funcgrad.compile.lower.held_programs import Given, Held, given_atoms, prepared, special_of
from funcgrad.compile.passes.nests import Special
from funcgrad.compile.passes.numbers import NUMBERS, holds_numbers
from funcgrad.compile.passes.ranges import Range, bound_by, growth_of, range_of_counter
from funcgrad.compile.passes.schedule import Scheduler, lowers
from funcgrad.compile.passes.taking_over import taken_over
from funcgrad.compile.passes.views import View
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Atom, Equation, Program
from funcgrad.transforms.control.conditional import Cond
from funcgrad.transforms.control.scan import Scan
from funcgrad.transforms.control.sweeps import Inputs
from funcgrad.transforms.control.updates import changed_operands
from funcgrad.transforms.control.while_loop import WhileLoop


@lowers(Scan)
def lower_scan(scheduler: Scheduler, equation: Equation) -> None:
    """A loop of a known number of trips over the first axis of arrays."""
    scan: Scan = equation.primitive
    step, local = scan.step, scheduler.local
    parts = step.parts(equation.inputs)
    carry_outs, y_outs = step.results(equation.outputs)
    turn, t = local.fresh("t"), ""
    t = local.fresh("row") if scan.reverse else turn
    body = prepared(local, step.program, [None] * (step.n_carry + step.n_xs) + list(parts.consts))
    carry = Carry(scheduler, body, parts.carry, step.carry_avals, equation.source)
    consts = given_atoms(scheduler, parts.consts)
    rows = [row_at(scheduler, x, t) for x in parts.xs]
    stacks = [scheduler.buffer_like(v.aval, local.named(v)) for v in y_outs]
    ranges = [
        range_of_counter(scheduler.ranges.of(x), growth_of(body, k), scan.length)
        for k, x in enumerate(parts.carry)
    ]
    ranges += [scheduler.ranges.of(x) for x in (*parts.xs, *parts.consts)]
    held = Held(scheduler, body, [*carry.given, *rows, *consts], ranges, range(len(carry.given)))
    carry_results, y_results = step.results(held.program.outputs)
    for atom, stack in zip(y_results, stacks, strict=True):
        held.store(atom, stack.at(t))
    carry.results(scheduler, held, carry_results)
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
        carry.end(writer)

    views = [*carry.views(), *stacks, *rows]
    position = special_of(scheduler, "scan", emit, [held], views, carry.names())
    last = scheduler.steps[position]
    assert isinstance(last, Special)
    last.flops *= max(scan.length, 1)
    carry.define(scheduler, carry_outs, position)
    for v, stack in zip(y_outs, stacks, strict=True):
        scheduler.define_view(v, stack, position)


def row_at(scheduler: Scheduler, x: Atom, t: str) -> View:
    """The row of a stack at a trip; of the numbers from 0 on that is the number of the trip."""
    view = scheduler.stored(x)
    if len(view.shape) == 1 and view.is_whole and holds_numbers(view.buffer):
        return View(NUMBERS, (), (), 0, ((t, 1),))
    return view.at(t)


def counted_ranges(
    scheduler: Scheduler, body: Program, deciding: Program, inputs: Inputs[Atom]
) -> list[Range | None]:
    """What is known of the inputs of a body whose loop goes on while a counter is below a bound."""
    (carry,) = inputs.carries
    given = [*[None] * len(carry), *[scheduler.ranges.of(x) for x in inputs.cond]]
    found: list[Range | None] = []
    for k, x in enumerate(carry):
        start, growth = scheduler.ranges.of(x), growth_of(body, k)
        stop = bound_by(deciding, k, given.__getitem__) if growth is not None and growth > 0 else None
        found.append(None if start is None or stop is None else (start[0], max(stop, start[0])))
    return [*found, *[scheduler.ranges.of(x) for x in inputs.consts[0]]]


@lowers(WhileLoop)
def lower_while(scheduler: Scheduler, equation: Equation) -> None:
    """A loop that goes on while a condition holds."""
    loop = equation.primitive.loop
    (sweep,) = loop.sweeps
    inputs = loop.inputs(equation.inputs)
    body = prepared(scheduler.local, sweep.program, [*[None] * sweep.n_carry, *inputs.consts[0]])
    carry = Carry(scheduler, body, inputs.carries[0], sweep.step.carry_avals, equation.source)
    deciding = prepared(scheduler.local, loop.cond, [*[None] * sweep.n_carry, *inputs.cond])
    ranges = counted_ranges(scheduler, body, deciding, inputs)
    unknown: list[Range | None] = [None] * len(deciding.inputs)
    decides = Held(scheduler, deciding, [*carry.given, *given_atoms(scheduler, inputs.cond)], unknown)
    condition = decides.value(decides.program.outputs[0])
    decides.finish()
    consts = given_atoms(scheduler, inputs.consts[0])
    held = Held(scheduler, body, [*carry.given, *consts], ranges, range(len(carry.given)))
    carry.results(scheduler, held, held.program.outputs[: sweep.n_carry])
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
        carry.end(writer)

    position = special_of(scheduler, "while_loop", emit, [decides, held], carry.views(), carry.names())
    define_given(scheduler, equation.outputs, [carry.finals[r] for r in loop.results], position)


@lowers(Cond)
def lower_cond(scheduler: Scheduler, equation: Equation) -> None:
    """One of several Programs; an array that each of them changes in parts stays where it is."""
    index, *operands = equation.inputs
    local = scheduler.local
    bodies = [prepared(local, branch, operands) for branch in equation.primitive.branches]
    chosen = scheduler.scalar(index)
    memory: dict[int, View] = {}
    kept: dict[int, View] = {}
    for place, k in enumerate(changed_operands(bodies)):
        view = None if k is None else taken_over(scheduler, operands[k])
        if k is not None and view is not None:
            memory[k] = kept[place] = view
    given = [
        memory[k] if k in memory else given_atoms(scheduler, [atom])[0] for k, atom in enumerate(operands)
    ]
    results: list[Given] = [
        kept[place]
        if place in kept
        else scheduler.buffer_like(v.aval, local.named(v))
        if v.aval.shape
        else local.named(v)
        for place, v in enumerate(equation.outputs)
    ]
    ranges = [scheduler.ranges.of(x) for x in operands]
    branches = [Branch(scheduler, body, given, ranges, sorted(memory), results, set(kept)) for body in bodies]

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        for head, branch in zip(heads(chosen, index.aval, len(branches)), branches, strict=True):
            with writer.block(head):
                branch.emit(writer)

    views = [view for view in results if isinstance(view, View)]
    views += [view for branch in branches for pair in branch.copies for view in pair]
    position = special_of(scheduler, "cond", emit, [branch.held for branch in branches], views, [chosen])
    define_given(scheduler, equation.outputs, results, position)


class Branch:
    """One branch of a conditional, and how its results get to where those of all branches are."""

    def __init__(
        self,
        scheduler: Scheduler,
        body: Program,
        given: Sequence[Given],
        ranges: Sequence[Range | None],
        changeable: Sequence[int],
        results: Sequence[Given],
        in_place: set[int],
    ) -> None:
        self.held = held = Held(scheduler, body, given, ranges, changeable)
        self.numbers: list[tuple[str, str, Aval]] = []
        self.copies: list[tuple[View, View]] = []
        for place, (result, atom) in enumerate(zip(results, held.program.outputs, strict=True)):
            if isinstance(result, str):
                self.numbers.append((result, held.value(atom), atom.aval))
            elif place not in in_place:
                held.store(atom, result)
            elif held.where(atom) != result:
                # The old elements may yet be read: they change when everything else is done.
                beside = held.scheduler.buffer_like(atom.aval, "beside")
                held.store(atom, beside)
                held.scheduler.created.discard(beside.buffer)
                self.copies.append((result, beside))
        held.finish()

    def emit(self, writer: Writer) -> None:
        """Write the steps, and the results."""
        self.held.emit(writer)
        for name, value, aval in self.numbers:
            writer.line(f"{name} = {cast_name(aval.dtype)}({value})")
        for result, beside in self.copies:
            write_copy(writer, result, beside)


def heads(index: str, aval: Aval, n: int) -> list[str]:
    """The lines that begin the branches; an index beyond them means the nearest."""
    if n == 1:
        return ["if True:"]
    if aval.dtype.kind == "b":
        return [f"if not {index}:", "else:"]
    middle = [f"elif {index} <= {k}:" for k in range(1, n - 1)]
    return [f"if {index} <= 0:", *middle, "else:"]
