"""Loops of a nest backwards: the same trips, the last one first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Equation, Program, Var
from funcgrad.ops.arrays.structure import cast
from funcgrad.ops.elementwise.arithmetic import add, add_in_any_order, mul, sub
from funcgrad.ops.elementwise.comparison import less
from funcgrad.ops.elementwise.rounding import floor_divide
from funcgrad.ops.families import added
from funcgrad.ops.reducing.extremes import maximum
from funcgrad.tracing.primitive import Flags
from funcgrad.transforms.control.scan import Scan
from funcgrad.transforms.control.step import Step
from funcgrad.transforms.control.undoing.children import COUNT, from_logs, given_or_zeros
from funcgrad.transforms.control.undoing.pulling import Label, Pullback, Surroundings, pulled
from funcgrad.transforms.control.while_loop import WhileLoop
from funcgrad.transforms.replay import inline, transforming
from funcgrad.transforms.simplify import simplify_program
from funcgrad.types import Anything

if TYPE_CHECKING:
    from funcgrad.transforms.control.undoing.loops import Loop

ONE = np.int64(1)
GOES_ON = Aval((), np.dtype(np.bool_))


class Labels(NamedTuple):
    """What the parts of a step backwards are.

    ``("turn",)`` counts its trips, of which there are ``("trips",)``; a counter of the loop begins with
    ``("start", place)`` and grows by ``("stride", place)``.
    """

    carry: tuple[Label, ...]
    xs: tuple[Label, ...]
    consts: tuple[Label, ...]
    ys: tuple[Label, ...]


def backwards(
    loop: Loop, pulling: Surroundings, active: Flags, totals: Sequence[Any], bars: Sequence[Any]
) -> list[Any]:
    """Record a loop backwards where it is `pulling`; returns the cotangents of its inputs."""
    flags = loop.grown(active)
    pullback = pulled(loop.block, flags)
    labels = labels_of(loop, pullback, flags)
    step = backward_step(loop, pullback, labels)
    trips = trips_of(loop, pulling)
    given = Given(loop, pulling, loop.inner(totals), bars, trips)
    carry = [given.value(label) for label in labels.carry]
    rest = [given.value(label) for label in (*labels.xs, *labels.consts)]
    primitive = loop.equation.primitive
    if isinstance(primitive, Scan):
        made: Any = Scan.of(step, primitive.length, reverse=not primitive.reverse)
        found = pulling.recorder.record(made, [*carry, *rest])
    else:
        made = WhileLoop(counting_to(step, primitive.cond.name), step.program)
        found = pulling.recorder.record(made, [*carry, trips, *rest])
    results = dict(zip((*labels.carry, *labels.ys), found, strict=True))
    note_results(loop, pulling, results)
    return cotangents(loop, results, totals)


def labels_of(loop: Loop, pullback: Pullback, flags: Flags) -> Labels:
    """What the step backwards carries, reads and is given."""
    block, step = loop.block, loop.step
    n, n_xs, inputs = step.n_carry, step.n_xs, step.program.inputs
    back = sorted([label[1] for label in pullback.outputs if label[0] == "array"])
    carry: list[Label] = [("turn",), *[("count", b) for b in block.counted()]]
    carry += [("array", k) for k in back]
    carry += [("bar", k) for k in range(n) if flags[k]]
    carry += [("total", k) for k in range(n + n_xs, len(flags)) if flags[k]]
    rows = set(inputs[n : n + n_xs])
    kept = {log.v for log in block.logs}
    values = [label for label in pullback.inputs if label[0] == "value" and label[1] not in kept]
    counters = [k for k in loop.counters if ("value", inputs[k]) in values]
    counting = {inputs[k] for k in counters}
    xs = [label for label in pullback.inputs if label[0] == "bar" and label[1] >= n]
    xs += [label for label in values if label[1] in rows]
    consts: list[Label] = [("log", log) for _, log in block.all_logs()]
    consts += [label for label in values if label[1] not in rows | counting]
    consts += [("trips",), *[(name, k) for k in counters for name in ("start", "stride")]]
    ys: list[Label] = [("bar", k) for k in range(n, n + n_xs) if flags[k]]
    return Labels(tuple(carry), tuple(xs), tuple(consts), tuple(ys))


def backward_step(loop: Loop, pullback: Pullback, labels: Labels) -> Step:
    """One trip backwards: what it has kept is read, and its pullback follows."""
    block, inputs = loop.block, loop.step.program.inputs
    avals = Avals(loop, pullback)
    with transforming(loop.step.program, "transpose") as recorder:
        state: dict[Label, Any] = {}
        for label in (*labels.carry, *labels.xs, *labels.consts):
            state[label] = recorder.input(avals.of(label))
        heads = [x._index for x in state.values()]
        turn = state["turn",]
        number = sub(sub(state["trips",], ONE), turn)
        if block.counts:
            state["run", block] = state["count", block] = sub(state["count", block], ONE)
        state.update(from_logs(block, state, state.get(("run", block))))
        for k, v in enumerate(inputs):
            if ("start", k) in state:
                start, stride = state["start", k], state["stride", k]
                grown = mul(cast(number, start.aval.dtype), cast(stride, start.aval.dtype))
                state["value", v] = add(start, grown)
        given = [state[label] for label in pullback.inputs]
        outs = dict(zip(pullback.outputs, inline(recorder, pullback.program, given), strict=True))
        outs["turn",] = add(turn, ONE)
        outs.update({("total", label[1]): x for label, x in outs.items() if label[0] == "bar"})
        results = [outs[label] if label in outs else state[label] for label in (*labels.carry, *labels.ys)]
        program = simplify_program(recorder.program(heads, [recorder.index_of(x) for x in results]))
    totals = [k for k, label in enumerate(labels.carry) if label[0] == "total"]
    return Step(in_any_order(program, totals), len(labels.carry), len(labels.xs))


def in_any_order(program: Program, places: Sequence[int]) -> Program:
    """The Program, whose trips add to these numbers in the carry in any order: such loops vectorise."""
    makers = {v: e for e in program.equations for v in e.outputs}
    uses = Counter([a for e in program.equations for a in e.inputs] + list(program.outputs))
    steps: set[Equation] = set()
    for k in places:
        head, chain = program.inputs[k], list[Equation]()
        atom = program.outputs[k]
        while atom is not head and uses[atom] == 1 and not atom.aval.shape:
            maker = makers.get(atom)  # type: ignore[arg-type]
            if maker is None or maker.primitive is not add:
                break
            chain.append(maker)
            # The total is added to first: `added` has it on the left.
            atom = maker.inputs[0]
        if atom is head and uses[head] == 1:
            steps.update(chain)
    equations = [
        Equation(add_in_any_order, e.inputs, e.outputs, e.source) if e in steps else e
        for e in program.equations
    ]
    return Program(program.inputs, program.captured, tuple(equations), program.outputs, program.name)


class Avals:
    """What the inputs of a step backwards are."""

    def __init__(self, loop: Loop, pullback: Pullback) -> None:
        self._loop = loop
        self._known: dict[Label, Aval] = dict(zip(pullback.inputs, pullback.program.in_avals, strict=True))
        self._known.update(loop.state_avals())
        self._known.update({("turn",): COUNT, ("trips",): COUNT})

    def of(self, label: Label) -> Aval:
        """The aval of an input."""
        known = self._known.get(label)
        if known is not None:
            return known
        name, k = label
        if name == "stride":
            k = self._loop.step.n_carry + self._loop.step.n_xs + self._loop.counters[k]
        found = self._loop.step.program.inputs[k].aval
        return found.strong if name in ("bar", "total") else found


class Given:
    """What a loop backwards is given where it is recorded."""

    def __init__(
        self, loop: Loop, pulling: Surroundings, totals: Sequence[Any], bars: Sequence[Any], trips: Anything
    ) -> None:
        self._loop = loop
        self._pulling = pulling
        self._totals = totals
        self._bars = bars
        self._trips = trips
        self._state = dict(loop.state_avals())

    def value(self, label: Label) -> Anything:
        """The value of an input of the loop backwards."""
        loop, pulling, name = self._loop, self._pulling, label[0]
        equation = loop.equation
        if label in self._state:
            return pulling.label(label, self._state[label])
        if name in ("turn", "trips"):
            return np.int64(0) if name == "turn" else self._trips
        if name == "bar":
            return given_or_zeros(pulling.recorder, self._bars[label[1]], equation.outputs[label[1]].aval)
        if name == "total":
            v = loop.step.program.inputs[label[1]]
            return given_or_zeros(pulling.recorder, self._totals[label[1]], v.aval)
        return pulling.value(self._atom(name, label[1]))

    def _atom(self, name: str, key: Anything) -> Anything:
        """The value of the way forward that it is."""
        loop = self._loop
        inputs = loop.inner(loop.equation.inputs)
        if name == "array":
            return loop.equation.outputs[key]
        if name == "value":
            return inputs[loop.step.program.inputs.index(key)]
        return inputs[key if name == "start" else loop.step.n_carry + loop.step.n_xs + loop.counters[key]]


def note_results(loop: Loop, pulling: Surroundings, results: dict[Label, Any]) -> None:
    """Note the arrays that the loop has put back, and how often blocks had run when it began."""
    inputs = loop.inner(loop.equation.inputs)
    for label, x in results.items():
        if label[0] == "array" and isinstance(inputs[label[1]], Var):
            pulling.back[inputs[label[1]]] = pulling.recorder.index_of(x)
        elif label[0] == "count":
            pulling.outputs[label] = pulling.recorder.index_of(x)


def cotangents(loop: Loop, results: dict[Label, Any], totals: Sequence[Any]) -> list[Any]:
    """A cotangent for each input of the loop; those of constants have their totals in them."""
    inner_totals = loop.inner(totals)
    found: list[Any] = []
    for k, total in enumerate(inner_totals):
        if ("total", k) in results:
            found.append(results["total", k])
        else:
            found.append(added(total, results.get(("bar", k))))
    n = loop.step.n_carry + loop.step.n_xs
    n_cond = len(totals) - len(inner_totals)
    return [*found[:n], *[None] * n_cond, *found[n:]]


def trips_of(loop: Loop, pulling: Surroundings) -> Anything:
    """How many trips the loop has made."""
    primitive = loop.equation.primitive
    if isinstance(primitive, Scan):
        return np.int64(primitive.length)
    if loop.count is not None:
        return pulling.value(loop.count)
    assert loop.ends is not None, "a while loop has something that ends it"
    carry, _, cond, consts = loop.parts(loop.equation.inputs)
    place, bound = loop.ends.place, loop.ends.bound
    if isinstance(bound, Var):
        bound = cond[primitive.cond.inputs.index(bound) - loop.step.n_carry]
    atoms = (bound, carry[place], consts[loop.counters[place]])
    stop, start, stride = [cast(pulling.value(a), COUNT.dtype) for a in atoms]
    # A stride below one has no trips, or no end.
    stride = maximum(stride, ONE)
    return maximum(floor_divide(add(sub(stop, start), sub(stride, ONE)), stride), np.int64(0))


def counting_to(step: Step, name: str) -> Program:
    """``turn, rest of the carry, trips -> turn < trips``"""
    turn, trips, goes_on = Var(COUNT), Var(COUNT), Var(GOES_ON)
    rest = [Var(a) for a in step.carry_avals[1:]]
    return Program((turn, *rest, trips), (), (Equation(less, (turn, trips), (goes_on,)),), (goes_on,), name)
