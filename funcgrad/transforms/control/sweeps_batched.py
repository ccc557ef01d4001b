"""Batches of sweeps: over a batch axis 0, and with examples that need fewer trips than others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.ops.reducing.reductions import ReduceAny
from funcgrad.tracing.primitive import Flags
from funcgrad.transforms.batching import record_batched
from funcgrad.transforms.control.batched import BatchedStep, batched_step, kept_where
from funcgrad.transforms.control.forward import indices
from funcgrad.transforms.control.masking import masked
from funcgrad.transforms.control.step import Parts, Step
from funcgrad.transforms.control.sweeps import Inputs, Sweep, Sweeps
from funcgrad.transforms.control.updates import unchanged_places
from funcgrad.transforms.replay import inline, inputs_of, transforming
from funcgrad.transforms.simplify import simplify_program


class BatchedSweeps(NamedTuple):
    """Sweeps over a batch axis."""

    loop: Sweeps
    """Where examples differ in their number of trips, the first carry says which of them go on."""
    carries: tuple[Flags, ...]
    """Which carries of the original sweeps have the axis."""
    goes_on: Program | None
    """The batched condition, where examples differ in their number of trips."""

    @property
    def results(self) -> Flags:
        """Which carries of all sweeps have the axis."""
        return tuple([flag for flags in self.carries for flag in flags])


def batched_sweeps(loop: Sweeps, size: int, batched: Inputs[bool]) -> BatchedSweeps:
    """The sweeps over a batch axis 0 of the flagged inputs."""
    steps = batched_steps(loop, size, batched)
    cond, differs = batched_condition(loop, size, (*steps[0].carry, *batched.cond))
    if not differs:
        sweeps = [
            Sweep.of(made.step, sweep.reads, reverse=sweep.reverse)
            for made, sweep in zip(steps, loop.sweeps, strict=True)
        ]
        return BatchedSweeps(Sweeps(cond, tuple(sweeps), loop.results), tuple([s.carry for s in steps]), None)
    # Whatever is carried stops changing on a different trip in each example.
    everything = batched._replace(
        carries=tuple([(True,) * len(flags) for flags in batched.carries]),
        consts=tuple([(*flags, True) for flags in batched.consts]),
    )
    kept = [unchanged_places(sweep.program, sweep.n_carry) for sweep in loop.sweeps]
    masking = []
    for sweep, places, consts in zip(loop.sweeps, kept, batched.consts, strict=True):
        varies = [*[True] * (len(sweep.program.inputs) - len(consts)), *consts]
        masking.append(sweep._replace(program=masked(sweep.program, places, varies)))
    steps = batched_steps(loop._replace(sweeps=tuple(masking)), size, everything)
    cond, _ = batched_condition(loop, size, (*steps[0].carry, *batched.cond))
    return BatchedSweeps(pausing(loop, steps, kept, cond, size), everything.carries, cond)


def batched_steps(loop: Sweeps, size: int, batched: Inputs[bool]) -> list[BatchedStep]:
    """The step of each sweep over a batch axis of its flagged inputs and of the tapes that have it."""
    made: list[BatchedStep] = []
    tapes: list[bool] = []
    for sweep, carry, consts in zip(loop.sweeps, batched.carries, batched.consts, strict=True):
        reads = tuple([tapes[t] for t in sweep.reads])
        made.append(batched_step(sweep.step, size, Parts(carry, reads, consts)))
        tapes += made[-1].ys
    return made


def batched_condition(loop: Sweeps, size: int, batched: Sequence[bool]) -> tuple[Program, bool]:
    """The condition over a batch axis, and whether its value has the axis."""
    with transforming(loop.cond, "vmap") as recorder:
        inputs = [
            recorder.input(v.aval.with_shape((size, *v.aval.shape)) if flag else v.aval)
            for v, flag in zip(loop.cond.inputs, batched, strict=True)
        ]
        (out,), (flag,) = record_batched(recorder, loop.cond, size, inputs, batched)
        return simplify_program(recorder.program(indices(inputs), [recorder.index_of(out)])), flag


def pausing(
    loop: Sweeps, steps: Sequence[BatchedStep], kept: Sequence[set[int]], cond: Program, size: int
) -> Sweeps:
    """Sweeps that go on while any example does, and leave alone the examples that do not.

    The last const of each step is the mask; it keeps what is `kept` of the carry by itself.
    """
    tapes = loop.tapes()
    mask_tape = len(tapes[0])
    numbers = [*tapes[0], *range(mask_tape + 1, tapes[-1].stop + 1)]
    sweeps = [Sweep.of(deciding_step(steps[0].step, kept[0], cond, size), (), reverse=False)]
    for made, sweep, places in zip(steps[1:], loop.sweeps[1:], kept[1:], strict=True):
        reads = [*[numbers[t] for t in sweep.reads], mask_tape]
        sweeps.append(Sweep.of(paused_step(made.step, places, size), reads, reverse=sweep.reverse))
    results = tuple([r + 1 for r in loop.results])
    return Sweeps(any_goes_on(cond, steps[0].step, size), tuple(sweeps), results)


def deciding_step(step: Step, kept: set[int], cond: Program, size: int) -> Step:
    """``(mask, carry), (), (consts of the condition, consts) -> (mask, carry), (ys, mask)``"""
    n = step.n_carry
    with transforming(step.program, "vmap") as recorder:
        mask = recorder.input(Aval((size,), np.dtype(np.bool_)))
        carry = inputs_of(recorder, step.program.inputs[:n])
        deciding = inputs_of(recorder, cond.inputs[n:])
        consts = inputs_of(recorder, step.program.inputs[n:-1])
        outs = inline(recorder, step.program, [*carry, *consts, mask])
        after = kept_where(mask, outs[:n], carry, kept)
        (goes_on,) = inline(recorder, cond, [*after, *deciding])
        results: list[Any] = [goes_on, *after, *outs[n:], mask]
        heads = indices([mask, *carry, *deciding, *consts])
        program = recorder.program(heads, [recorder.index_of(x) for x in results])
    return Step(simplify_program(program), n + 1, 0)


def paused_step(step: Step, kept: set[int], size: int) -> Step:
    """``carry, (xs, mask), consts -> carry, ys``"""
    with transforming(step.program, "vmap") as recorder:
        inputs = step.parts(inputs_of(recorder, step.program.inputs[:-1]))
        mask = recorder.input(Aval((size,), np.dtype(np.bool_)))
        outs = inline(recorder, step.program, [*inputs.flat, mask])
        after = kept_where(mask, outs[: step.n_carry], inputs.carry, kept)
        heads = indices([*inputs.carry, *inputs.xs, mask, *inputs.consts])
        results = [recorder.index_of(x) for x in [*after, *outs[step.n_carry :]]]
        return Step(simplify_program(recorder.program(heads, results)), step.n_carry, step.n_xs + 1)


def any_goes_on(cond: Program, step: Step, size: int) -> Program:
    """``mask, carry -> whether any example goes on``"""
    with transforming(cond, "vmap") as recorder:
        mask = recorder.input(Aval((size,), np.dtype(np.bool_)))
        carry = inputs_of(recorder, step.program.inputs[: step.n_carry])
        return recorder.program(indices([mask, *carry]), [recorder.index_of(ReduceAny((0,)).bind(mask))])
