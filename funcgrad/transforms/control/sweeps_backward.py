"""Reverse mode of sweeps: each is swept again in the other direction, the last one first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from funcgrad.errors import NotDifferentiableError
from funcgrad.ir.program import Program
from funcgrad.transforms.control.backward import Bars, Mark, TransposedStep, transposed_step
from funcgrad.transforms.control.step import Parts, dependent_parts, needed_inputs, with_inputs
from funcgrad.transforms.control.sweeps import Inputs, Sweep, Sweeps


class TransposedSweeps(NamedTuple):
    """Sweeps taken apart: first all without what is linear, then the transposes, the last one first."""

    loop: Sweeps
    steps: tuple[TransposedStep, ...]
    """In the order of the sweeps they are made of."""


def linear_carries(loop: Sweeps, linear: Inputs[bool]) -> tuple[list[tuple[bool, ...]], list[bool]]:
    """Which carries and which tapes depend on the flagged inputs."""
    carries: list[tuple[bool, ...]] = []
    tapes: list[bool] = []
    for sweep, carry, consts in zip(loop.sweeps, linear.carries, linear.consts, strict=True):
        reads = tuple([tapes[t] for t in sweep.reads])
        found, ys = dependent_parts(sweep.step, Parts(carry, reads, consts))
        carries.append(found)
        tapes += ys
    return carries, tapes


def transposed_sweeps(loop: Sweeps, linear: Inputs[bool], marks: Sequence[Mark]) -> TransposedSweeps:
    """The transpose of the sweeps by the flagged inputs; `marks` say which results have cotangents."""
    carries, tapes = linear_carries(loop, linear)
    cond = fixed_condition(loop, carries[0])
    steps = transposed_steps(loop, linear._replace(carries=tuple(carries)), tapes, marks)
    sweeps: list[Sweep] = []
    numbers: dict[int, int] = {}
    saved: list[range] = []
    n_tapes = 0
    written = loop.tapes()
    for k, (sweep, made) in enumerate(zip(loop.sweeps, steps, strict=True)):
        fixed = [numbers[t] for t in sweep.reads if not tapes[t]]
        sweeps.append(Sweep.of(made.forward, fixed, reverse=sweep.reverse))
        kept = [t for t in written[k] if not tapes[t]]
        numbers.update({t: n_tapes + n for n, t in enumerate(kept)})
        saved.append(range(n_tapes + len(kept), n_tapes + made.forward.n_ys))
        n_tapes += made.forward.n_ys
    cotangents: dict[int, list[int]] = {t: [] for t in range(len(tapes))}
    for k in reversed(range(len(steps))):
        sweep, made = loop.sweeps[k], steps[k]
        fixed = [numbers[t] for t in sweep.reads if not tapes[t]]
        reads = [number for t in written[k] if tapes[t] for number in cotangents[t]]
        reads += [*saved[k], *[fixed[n] for n in made.used_xs]]
        sweeps.append(Sweep.of(made.backward, reads, reverse=not sweep.reverse))
        targets = [t for t, bar in zip(sweep.reads, made.bars.xs, strict=True) if bar is not None]
        for number, t in enumerate(targets, n_tapes):
            cotangents[t].append(number)
        n_tapes += made.backward.n_ys
    count = sum(sweep.n_carry for sweep in sweeps)
    return TransposedSweeps(Sweeps(cond, tuple(sweeps), tuple(range(count))), tuple(steps))


def transposed_steps(
    loop: Sweeps, linear: Inputs[bool], tapes: Sequence[bool], marks: Sequence[Mark]
) -> list[TransposedStep]:
    """The transpose of every step, where cotangents arrive from results and from later sweeps."""
    at_results: dict[int, Mark] = dict(zip(loop.results, marks, strict=True))
    at_tapes: dict[int, tuple[bool, ...]] = dict.fromkeys(range(len(tapes)), ())
    written = loop.tapes()
    stop = len(loop.carry_avals)
    found: list[TransposedStep] = []
    for k in reversed(range(len(loop.sweeps))):
        sweep = loop.sweeps[k]
        start = stop - sweep.n_carry
        bars = Bars(
            tuple([at_results.get(r) for r in range(start, stop)]), tuple([at_tapes[t] for t in written[k]])
        )
        reads = tuple([tapes[t] for t in sweep.reads])
        made = transposed_step(sweep.step, Parts(linear.carries[k], reads, linear.consts[k]), bars)
        for t, bar in zip(sweep.reads, made.bars.xs, strict=True):
            if bar is not None:
                at_tapes[t] += (bar,)
        found.append(made)
        stop = start
    found.reverse()
    return found


def fixed_condition(loop: Sweeps, linear: Sequence[bool]) -> Program:
    """The condition on the part of the carry that is not linear."""
    needed = needed_inputs(loop.cond, (True,))
    if any(a and b for a, b in zip(linear, needed, strict=False)):
        name = loop.sweeps[0].program.name
        raise NotDifferentiableError(
            f"the loop {name} is not linear: its number of trips depends on the value"
        )
    fixed = [k for k, flag in enumerate(linear) if not flag]
    return with_inputs(loop.cond, [*fixed, *range(len(linear), len(loop.cond.inputs))])
