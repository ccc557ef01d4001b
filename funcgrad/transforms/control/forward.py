"""Forward mode of steps: with their tangents as one step, or split into a step and its linear part.

Knows nothing about how often a step is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from funcgrad.ir.program import Program
from funcgrad.tracing.primitive import Flags
from funcgrad.tracing.recorder import Recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.control.step import Parts, Step, chosen, either
from funcgrad.transforms.dependence import computed_from
from funcgrad.transforms.linearize import record_jvp, residuals_of, zeros_like
from funcgrad.transforms.replay import inputs_of, transforming
from funcgrad.transforms.simplify import simplify_program

Made = TypeVar("Made")


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
        dots = [recorder.input(t.aval.strong) if a else None for t, a in zip(inputs, flags, strict=True)]
        self.outs, self.out_dots = record_jvp(recorder, step.program, inputs, dots)
        self.inputs: Parts[Tracer] = step.parts(inputs)
        self.dots: Parts[Any] = step.parts(dots)

    @property
    def active_outputs(self) -> tuple[Flags, Flags]:
        """Which outputs have tangents."""
        return self.step.results([dot is not None for dot in self.out_dots])

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
    while True:
        with transforming(step.program, transform) as recorder:
            tangents = StepTangents(recorder, step, active)
            grown = either(active.carry, tangents.active_outputs[0])
            if grown == active.carry:
                return make(tangents, active)
        active = active._replace(carry=grown)


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


def linear_step(step: Step, active: Parts[bool]) -> LinearStep:
    """The step, and the linear part of its derivative."""
    return with_tangents(step, active, "linearize", _linearized)


def _linearized(tangents: StepTangents, active: Parts[bool]) -> LinearStep:
    recorder, step, inputs = tangents.recorder, tangents.step, tangents.inputs
    entries: Parts[int] = Parts(*[tuple(indices(given(dots))) for dots in tangents.dots])
    exits = tangents.dots_of_outputs(active)
    residuals = residuals_of(recorder, entries.flat, exits)
    varying = computed_from(recorder, indices([*inputs.carry, *inputs.xs]))
    xs = indices(inputs.xs)
    used_xs = [index for index in residuals if index in xs]
    outs = [recorder.index_of(x) for x in tangents.outs]
    ys = outs[step.n_carry :]
    stacked = [index for index in residuals if index in varying and index not in xs]
    ys += [index for index in stacked if index not in ys]
    invariant = [index for index in residuals if index not in varying]
    heads = indices([*inputs.flat])
    primal = recorder.program(heads, outs[: step.n_carry] + ys)
    reads = [*entries.xs, *used_xs, *stacked]
    linear = recorder.program([*entries.carry, *reads, *entries.consts, *invariant], exits)
    return LinearStep(
        Step(simplify_program(primal), step.n_carry, step.n_xs),
        Step(simplify_program(linear), len(entries.carry), len(reads)),
        recorder.program(indices(inputs.consts), invariant),
        tuple([xs.index(index) for index in used_xs]),
        tuple([ys.index(index) for index in stacked]),
        active,
        tangents.active_outputs[1],
    )


def present(
    recorder: Recorder, avals: Sequence[Any], dots: Sequence[Any], active: Sequence[bool]
) -> list[Any]:
    """The tangents or cotangents of the active values, recorded zeros where there is none."""
    pairs = chosen(list(zip(avals, dots, strict=True)), active)
    return [zeros_like(recorder, a.strong) if dot is None else dot for a, dot in pairs]
