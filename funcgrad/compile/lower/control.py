"""Lowerings of structured control flow: scans and loops become native loops, conditionals native branches."""

from __future__ import annotations

from collections.abc import Sequence

from funcgrad.compile.emit.interruptible_loops import counted_loop, flops_of, write_trip
from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.lower.carries import Carry, define_given, write_copy
from funcgrad.compile.lower.counted import (
    Limits,
    bound_of_trips,
    counted_run,
    counters_in,
    limits_of,
    paces_in,
    spans_of,
    within_limits,
)
from funcgrad.compile.lower.elementwise import cast_name
from funcgrad.compile.lower.held_programs import (
    Given,
    Held,
    given_atoms,
    given_to_trips,
    prepared,
    special_of,
    write_decision,
)
from funcgrad.compile.lower.trips.independent import kept_by_trips
from funcgrad.compile.lower.trips.lanes import emit_lanes, lanes_of
from funcgrad.compile.lower.trips.shared import Trips, write_shared
from funcgrad.compile.passes.scheduling.lowerings import lowers
from funcgrad.compile.passes.scheduling.nests import Special
from funcgrad.compile.passes.scheduling.numbers import NUMBERS, holds_numbers
from funcgrad.compile.passes.scheduling.ranges import bound_by, bound_of, growth_of, range_of_counter
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.taking_over import taken_over
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Atom, Equation, Program, Var
from funcgrad.ir.ranges import Range
from funcgrad.transforms.control.conditional import Cond
from funcgrad.transforms.control.scan import Scan
from funcgrad.transforms.control.step import Parts
from funcgrad.transforms.control.sweeps import Inputs
from funcgrad.transforms.control.undoing.room import Room
from funcgrad.transforms.control.updates import changed_operands
from funcgrad.transforms.control.while_loop import WhileLoop


@lowers(Scan)
def lower_scan(scheduler: Scheduler, equation: Equation) -> None:
    """A loop of a known number of trips over the first axis of arrays."""
    scan: Scan = equation.primitive
    step, local = scan.step, scheduler.local
    parts, (carry_outs, y_outs) = step.parts(equation.inputs), step.results(equation.outputs)
    turn = local.fresh("t")
    t = local.fresh("row") if scan.reverse else turn
    body = prepared(local, step.program, [None] * (step.n_carry + step.n_xs) + list(parts.consts))
    carry = Carry(scheduler, body, parts.carry, step.carry_avals, equation.source)
    consts = given_to_trips(scheduler, body, parts.consts)
    rows = [row_at(scheduler, x, t) for x in parts.xs]
    stacks = [scheduler.buffer_like(v.aval, local.named(v)) for v in y_outs]
    made = len(local.buffers)
    ranges, counters = ranges_in_trips(scheduler, scan, body, parts), counters_in(body, scan.n_carry)
    given, atoms = [*carry.given, *rows, *consts], [*[None] * (step.n_carry + step.n_xs), *parts.consts]
    held = Held(scheduler, body, given, ranges, range(len(carry.given)), atoms, counters=counters)
    carry_results, y_results = step.results(held.program.outputs)
    for atom, stack in zip(y_results, stacks, strict=True):
        held.store(atom, stack.at(t))
    carry.results(scheduler, held, carry_results)
    held.finish()
    kept, limits = kept_by_trips(body, step.n_carry), limits_of(scheduler, carry, counters)
    flops = flops_of(held.scheduler.steps)
    known = [(given, a.aval) for given, a in zip(consts, parts.consts, strict=True)]
    trips = None if kept is None else Trips(carry, kept, held, known, stacks, made, scan.length, flops)

    def emit(writer: Writer) -> None:
        carry.begin(writer)
        writer.comment(equation.source)
        with within_limits(writer, limits, local.symbol(scan.length)):
            emit_trips(writer)
        carry.end(writer)

    def emit_trips(writer: Writer) -> None:
        if trips is not None and write_shared(writer, trips, own, turn, t if scan.reverse else ""):
            return
        with counted_loop(writer, turn, scan.length, flops):
            if scan.reverse:
                writer.line(f"{t} = {local.symbol(scan.length)} - 1 - {turn}")
            held.emit(writer)
            carry.end_trip(writer)

    views = [*carry.views(), *stacks, *limits.views]
    position = special_of(scheduler, "scan", emit, [held], views, carry.names(), rows)
    own = own_step(scheduler, position)
    own.shares = trips is not None and trips.are_worth_sharing()
    own.flops *= max(scan.length, 1)
    carry.define(scheduler, carry_outs, position)
    for v, stack in zip(y_outs, stacks, strict=True):
        scheduler.define_view(v, stack, position)


def ranges_in_trips(
    scheduler: Scheduler, scan: Scan, body: Program, parts: Parts[Atom]
) -> list[Range | None]:
    """What is known of the inputs of a body that is run a known number of times."""
    carry = [
        range_of_counter(scheduler.ranges.of(x), growth_of(body, k), scan.length)
        for k, x in enumerate(parts.carry)
    ]
    return [*carry, *[scheduler.ranges.of(x) for x in (*parts.xs, *parts.consts)]]


def own_step(scheduler: Scheduler, position: int) -> Special:
    """The step that a lowering has made."""
    step = scheduler.steps[position]
    assert isinstance(step, Special)
    return step


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


def counters_below(
    scheduler: Scheduler, body: Program, deciding: Program, inputs: Inputs[Atom]
) -> list[tuple[int, Var]]:
    """The counters from zero on that are below a variable while the loop goes on."""
    (carry,) = inputs.carries
    found: list[tuple[int, Var]] = []
    for k, x in enumerate(carry):
        start, growth, place = scheduler.ranges.of(x), growth_of(body, k), bound_of(deciding, k)
        bound = None if place is None or place < len(carry) else inputs.cond[place - len(carry)]
        if (
            start is not None
            and start[0] >= 0
            and growth is not None
            and growth > 0
            and isinstance(bound, Var)
        ):
            found.append((k, scheduler.ranges.name(bound)))
    return found


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
    atoms = [*[None] * sweep.n_carry, *inputs.consts[0]]
    below = counters_below(scheduler, body, deciding, inputs)
    ends = bound_of_trips(body, deciding, inputs.cond)
    counters = counters_in(body, sweep.n_carry if ends is not None else 0)
    given = [*carry.given, *consts]
    paces = paces_in(body, sweep.n_carry if ends is not None else 0)
    held = Held(scheduler, body, given, ranges, range(len(carry.given)), atoms, below, counters, paces)
    carry.results(scheduler, held, held.program.outputs[: sweep.n_carry])
    held.finish()
    if ends is not None:
        lower_counted(scheduler, equation, carry, held, ends, limits_of(scheduler, carry, counters))
        return

    lanes = lanes_of(
        deciding, carry, held, list(zip(consts, [a.aval for a in inputs.consts[0]], strict=True))
    )
    if lanes is not None:
        carry.copy_instead()
    emit_by_lanes = None if lanes is None else emit_lanes(lanes, lambda: own_step(scheduler, position))

    def emit(writer: Writer) -> None:
        carry.begin(writer)
        writer.comment(equation.source)
        if emit_by_lanes is not None:
            emit_by_lanes(writer)
            return
        with writer.block("while True:"):
            write_decision(writer, decides, condition, held)
            write_trip(writer, flops_of([*decides.scheduler.steps, *held.scheduler.steps]))
            held.emit(writer)
            carry.end_trip(writer)
        carry.end(writer)

    position = special_of(scheduler, "while_loop", emit, [decides, held], carry.views(), carry.names())
    define_given(scheduler, equation.outputs, [carry.finals[r] for r in loop.results], position)


def lower_counted(
    scheduler: Scheduler, equation: Equation, carry: Carry, held: Held, ends: tuple[int, Atom], limits: Limits
) -> None:
    """A loop that goes on while a counter is below a bound."""
    place, bound = ends
    start, stop = carry.starts[place], scheduler.scalar(bound)
    begin = {k: text for k, text in enumerate(carry.starts) if text is not None}
    spans = spans_of(scheduler, held, begin)
    turn, count = scheduler.local.fresh("t"), scheduler.local.fresh("count")

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        writer.line(f"{count} = {stop} - {start}")
        carry.begin(writer)
        with (
            within_limits(writer, limits, count),
            counted_run(writer, turn, count, flops_of(held.scheduler.steps), spans.each),
        ):
            held.emit(writer)
            carry.end_trip(writer)
        carry.end(writer)

    names, views = [*carry.names(), *spans.names, stop], [*carry.views(), *limits.views, *spans.views]
    position = special_of(scheduler, "while_loop", emit, [held], views, names)
    results = equation.primitive.loop.results
    define_given(scheduler, equation.outputs, [carry.finals[r] for r in results], position)


@lowers(Room)
def lower_room(scheduler: Scheduler, equation: Equation) -> None:
    """Memory, and nothing written into it."""
    (out,) = equation.outputs
    memory = scheduler.buffer_like(out.aval, scheduler.local.named(out))
    memory.buffer.is_log = True
    scheduler.define_view(out, memory)


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
    changeable, places = sorted(memory), set(kept)
    branches = [
        Branch(scheduler, body, given, ranges, operands, changeable, results, places) for body in bodies
    ]

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
        atoms: Sequence[Atom],
        changeable: Sequence[int],
        results: Sequence[Given],
        in_place: set[int],
    ) -> None:
        self.held = held = Held(scheduler, body, given, ranges, changeable, atoms, once=True)
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
