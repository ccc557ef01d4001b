"""Forward mode of steps: with their tangents as one step, or split into a step and its linear part.

Knows nothing about how often a step is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.ops.arrays.structure import cast
from funcgrad.ops.elementwise.arithmetic import add, mul
from funcgrad.tracing.primitive import Flags
from funcgrad.tracing.recorder import Recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.control.keeping import kept_values
from funcgrad.transforms.control.step import Parts, Step, chosen, counters_of, dependent_parts, is_plain
from funcgrad.transforms.dependence import computed_from
from funcgrad.transforms.linearize import literal_indices, record_jvp, residuals_of, zeros_like
from funcgrad.transforms.replay import inline, inputs_of, transforming
from funcgrad.transforms.simplify import simplify_program
from funcgrad.types import Array

Made = TypeVar("Made")
_WITHIN: ContextVar[bool] = ContextVar("funcgrad_within_step", default=False)


def keeps_forward(recorder: Recorder) -> bool:
    """Whether what is recorded is forward mode for good, so that values and tangents may share an equation.

    Any other recorder may yet part the tangents from the values they depend on, to transpose them.
    """
    return recorder.transform == "jvp"


class ForwardStep(NamedTuple):
    """A step with its tangents: of everything that has one, the tangents come after all values."""

    step: Step
    active: Parts[bool]
    """Which inputs have tangents: those given, and every part of the carry that gets one on the way."""
    active_ys: Flags


class LinearStep(NamedTuple):
    """A step and its linear part."""

    primal: Step
    """The step, which also writes the residuals that differ from trip to trip."""
    linear: Step
    """``tangents, [tangents, xs it uses, ys it uses], [tangents, invariants] -> tangents``"""
    invariants: Program
    """``consts -> residuals that are the same on every trip``"""
    used_xs: tuple[int, ...]
    used_ys: tuple[int, ...]
    """Positions among what the primal step reads and writes."""
    counters: tuple[int, ...]
    """Parts of the carry that count trips. If there are any, the linear step's last x is the number of the
    trip, and its last consts are what they start from and the consts that they grow by."""
    strides: tuple[int, ...]
    """The positions of those consts."""
    active: Parts[bool]
    active_ys: Flags


class StepTangents:
    """One step recorded with its tangents."""

    __slots__ = ("dots", "inputs", "out_dots", "outs", "recorder", "step")

    def __init__(self, recorder: Recorder, step: Step, active: Parts[bool]) -> None:
        self.recorder = recorder
        self.step = step
        inputs = inputs_of(recorder, step.program.inputs)
        flags = active.flat
        recorder.lasting = frozenset([t._index for t in step.parts(inputs).consts])
        dots = [recorder.input(t.aval.strong) if a else None for t, a in zip(inputs, flags, strict=True)]
        self.outs, self.out_dots = record_jvp(recorder, step.program, inputs, dots)
        self.inputs: Parts[Tracer] = step.parts(inputs)
        self.dots: Parts[Any] = step.parts(dots)

    @property
    def active_outputs(self) -> tuple[Flags, Flags]:
        """Which outputs have tangents."""
        return self.step.results([dot is not None for dot in self.out_dots])

    def grown(self, active: Parts[bool]) -> Flags:
        """The carry that gets tangents, trip after trip, from those of the `active` inputs alone."""
        carry = self.active_outputs[0]
        if not any(one and not other for one, other in zip(carry, active.carry, strict=True)):
            return active.carry
        out_dots, _ = self.step.results(self.out_dots)
        flags = active.carry
        while True:
            given_dots = self.dots._replace(carry=tuple(chosen(self.dots.carry, flags)))
            found = computed_from(self.recorder, indices(given(given_dots.flat)))
            grown = tuple(
                [
                    flag or (x is not None and self.recorder.index_of(x) in found)
                    for flag, x in zip(flags, out_dots, strict=True)
                ]
            )
            if grown == flags:
                return flags
            flags = grown

    def dots_of_outputs(self, active: Parts[bool]) -> list[int]:
        """The tangents of the active carry, zeros where there is none, and of the ys that have one."""
        carry, ys = self.step.results(self.out_dots)
        full = [
            zeros_like(self.recorder, t.aval.strong) if dot is None else dot
            for t, dot, a in zip(self.inputs.carry, carry, active.carry, strict=True)
            if a
        ]
        return [self.recorder.index_of(x) for x in [*full, *given(ys)]]


def given(items: Sequence[Any]) -> list[Any]:
    """The items that are not None."""
    return [x for x in items if x is not None]


def indices(tracers: Sequence[Tracer]) -> list[int]:
    """The indices of tracers of one recorder."""
    return [t._index for t in tracers]


def with_tangents(
    step: Step, active: Parts[bool], transform: str, make: Callable[[StepTangents, Parts[bool]], Made]
) -> Made:
    """What `make` builds from the step's tangents, once all of the carry that gets tangents has them."""
    token = _WITHIN.set(True)
    try:
        tried = active._replace(carry=reached_carry(step, active))
        while True:
            with transforming(step.program, transform) as recorder:
                tangents = StepTangents(recorder, step, tried)
                grown = tangents.grown(active)
                if grown == tried.carry:
                    return make(tangents, tried)
            active = tried = active._replace(carry=grown)
    finally:
        _WITHIN.reset(token)


def reached_carry(step: Step, active: Parts[bool]) -> Flags:
    """The carry that may get tangents in any number of trips: more than does where a derivative is zero.

    Only that of now where a branch or a loop is in the step: of what tangents go through there, no record of
    the step says which result they reach, and zeros would be computed that are known.
    """
    if not is_plain(step.program):
        return active.carry
    carry, _ = dependent_parts(step, active)
    avals = step.carry_avals
    return tuple([a or (b and t.inexact) for a, b, t in zip(active.carry, carry, avals, strict=True)])


def within_step() -> bool:
    """Whether the tangents of a loop's step are being recorded: what is recorded is in a loop."""
    return _WITHIN.get()


def is_there_later(recorder: Recorder, x: Array) -> bool:
    """Whether an operand in a loop's step is there on the way back at no cost: a number, or what lasts.

    An array that the loop carries is another one on every trip, and to keep it would be to keep all of these.
    """
    if x.aval.size <= 1:
        return True
    indices_left, seen = [recorder.index_of(x)], set[int]()
    constant = {index for index, _ in recorder.operands}
    while indices_left:
        index = indices_left.pop()
        if index in seen or index in recorder.lasting or index in constant:
            continue
        seen.add(index)
        step = recorder.steps[index]
        step = recorder.steps[index - step] if type(step) is int else step
        if type(step) is not tuple or len(seen) > FEW_STEPS:
            return False
        indices_left += step[1:]
    return True


FEW_STEPS = 50
"""From how many operations an operand may be computed and still be looked through."""


def forward_step(step: Step, active: Parts[bool], transform: str) -> ForwardStep:
    """The step with its tangents, as `transform` records them."""
    return with_tangents(step, active, transform, _forward)


def _forward(tangents: StepTangents, active: Parts[bool]) -> ForwardStep:
    recorder, step = tangents.recorder, tangents.step
    heads: list[int] = []
    for values, dots in zip(tangents.inputs, tangents.dots, strict=True):
        heads += indices([*values, *given(dots)])
    outs, ys = step.results([recorder.index_of(x) for x in tangents.outs])
    dots_out = tangents.dots_of_outputs(active)
    n_carry = sum(active.carry)
    outputs = [*outs, *dots_out[:n_carry], *ys, *dots_out[n_carry:]]
    program = simplify_program(recorder.program(heads, outputs))
    both = Step(program, step.n_carry + n_carry, step.n_xs + sum(active.xs))
    return ForwardStep(both, active, tangents.active_outputs[1])


def linear_step(step: Step, active: Parts[bool], costly: Sequence[int] = ()) -> LinearStep:
    """The step, and the linear part of its derivative, which reads none of the `costly` consts."""
    return with_tangents(step, active, "linearize", partial(_linearized, costly=costly))


def changed_around(recorder: Recorder, consts: Sequence[Any]) -> list[int]:
    """Which consts of a loop within a loop's step are arrays that the loop around changes.

    To read them on the way back, it would have to keep them all, once for each of its trips.
    """
    if not within_step():
        return []
    return [k for k, x in enumerate(consts) if not is_there_later(recorder, x)]


def kept(made: LinearStep, trips: int) -> int:
    """The bytes that so many trips write for the linear part."""
    return trips * sum(a.nbytes for a in made.primal.y_avals)


def _linearized(tangents: StepTangents, active: Parts[bool], costly: Sequence[int]) -> LinearStep:
    recorder, step, inputs = tangents.recorder, tangents.step, tangents.inputs
    entries: Parts[int] = Parts(*[tuple(indices(given(dots))) for dots in tangents.dots])
    exits = tangents.dots_of_outputs(active)
    outs = [recorder.index_of(x) for x in tangents.outs]
    ys = outs[step.n_carry :]
    crossing = Crossing(tangents, entries.flat, exits, ys, costly)
    xs = indices(inputs.xs)
    used_xs, stacked, invariant = crossing.xs, crossing.kept, crossing.invariant
    ys += [index for index in stacked if index not in ys]
    heads = indices([*inputs.flat])
    primal = recorder.program(heads, outs[: step.n_carry] + ys)
    counted = [inputs.carry[k]._index for k in crossing.counters]
    reads = [*entries.xs, *used_xs, *stacked, *counted]
    linear = recorder.program([*entries.carry, *reads, *entries.consts, *invariant], exits)
    n_carry = len(entries.carry)
    made = Step(simplify_program(linear), n_carry, len(reads))
    return LinearStep(
        Step(simplify_program(primal), step.n_carry, step.n_xs),
        with_counters(made, [inputs.consts[crossing.strides[k]].aval for k in crossing.counters]),
        recorder.program(indices(inputs.consts), invariant),
        tuple([xs.index(index) for index in used_xs]),
        tuple([ys.index(index) for index in stacked]),
        tuple(crossing.counters),
        tuple([crossing.strides[k] for k in crossing.counters]),
        active,
        tangents.active_outputs[1],
    )


class Crossing:
    """What the linear part of a step takes from the step, and how each of it gets there.

    What differs from trip to trip is kept, or computed again from what is kept, from xs, and from the number
    of the trip; what does not is computed once.
    """

    __slots__ = ("counters", "invariant", "kept", "strides", "xs")

    def __init__(
        self,
        tangents: StepTangents,
        entries: Sequence[int],
        exits: Sequence[int],
        ys: Sequence[int],
        costly: Sequence[int],
    ) -> None:
        recorder, inputs = tangents.recorder, tangents.inputs
        residuals = residuals_of(recorder, entries, exits)
        carry, xs = indices(inputs.carry), indices(inputs.xs)
        dear = [inputs.consts[k]._index for k in costly]
        varying = computed_from(recorder, [*carry, *xs, *entries, *dear])
        self.strides = counters_of(tangents.step)
        counting = {carry[k]: k for k in self.strides}
        free = {k for k in range(len(recorder.steps)) if k not in varying} | {*xs, *counting}
        given = [*[index for index in carry if index not in counting], *dear]
        kept = kept_values(recorder, [k for k in residuals if k not in free], free, given, ys)
        constant = literal_indices(recorder).union(index for index, _ in recorder.operands)
        met = values_before(recorder, exits, {*kept, *free, *entries})
        self.kept = sorted(kept & met)
        self.xs = [index for index in xs if index in met]
        self.counters = sorted([counting[index] for index in counting if index in met])
        others = met - kept - {*xs, *counting, *entries} - constant
        self.invariant = sorted([index for index in others if index not in varying])


def values_before(recorder: Recorder, outputs: Sequence[int], given: Collection[int]) -> set[int]:
    """Those of the given values from which the outputs are computed."""
    found: set[int] = set()
    seen: set[int] = set()
    stack = list(outputs)
    while stack:
        index = stack.pop()
        if index in seen:
            continue
        seen.add(index)
        if index in given:
            found.add(index)
            continue
        step = recorder.steps[index]
        if type(step) is int:
            step = recorder.steps[index - step]
        if type(step) is tuple:
            stack.extend(step[1:])
    return found


def with_counters(step: Step, strides: Sequence[Aval]) -> Step:
    """The step, whose last xs count trips: it computes them from the number of the trip.

    What they start from and what they grow by are its last consts.
    """
    if not strides:
        return step
    with transforming(step.program, "linearize") as recorder:
        parts = step.parts(step.program.inputs)
        first = step.n_xs - len(strides)
        carry, xs, consts = (
            inputs_of(recorder, part) for part in (parts.carry, parts.xs[:first], parts.consts)
        )
        turn = recorder.input(Aval((), np.dtype(np.int64)))
        starts = inputs_of(recorder, parts.xs[first:])
        growths = [recorder.input(a) for a in strides]
        counted = [
            add(start, mul(cast(turn, start.aval.dtype), cast(growth, start.aval.dtype)))
            for start, growth in zip(starts, growths, strict=True)
        ]
        outs = inline(recorder, step.program, [*carry, *xs, *counted, *consts])
        heads = indices([*carry, *xs, turn, *consts, *starts, *growths])
        program = simplify_program(recorder.program(heads, [recorder.index_of(x) for x in outs]))
    return Step(program, step.n_carry, first + 1)


def present(
    recorder: Recorder, avals: Sequence[Any], dots: Sequence[Any], active: Sequence[bool]
) -> list[Any]:
    """The tangents or cotangents of the active values, recorded zeros where there is none."""
    pairs = chosen(list(zip(avals, dots, strict=True)), active)
    return [zeros_like(recorder, a.strong) if dot is None else dot for a, dot in pairs]
