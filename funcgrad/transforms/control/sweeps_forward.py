"""Forward mode of sweeps: values and tangents are swept together."""

from __future__ import annotations

from typing import NamedTuple

from funcgrad.tracing.primitive import Flags
from funcgrad.transforms.control.forward import forward_step
from funcgrad.transforms.control.step import Parts, positions, with_inputs
from funcgrad.transforms.control.sweeps import Inputs, Sweep, Sweeps


class ForwardSweeps(NamedTuple):
    """Sweeps with their tangents; of each sweep's carry and consts, tangents come after values."""

    loop: Sweeps
    """All final carries are results."""
    active: Inputs[bool]
    """Which inputs have tangents: those given, and every carry that gets one on the way."""
    values: tuple[int, ...]
    """Where the results of the loop are among those with tangents."""
    dots: tuple[int | None, ...]
    """Where their tangents are; None for a result that has none."""


def forward_sweeps(loop: Sweeps, active: Inputs[bool], transform: str) -> ForwardSweeps:
    """The sweeps with their tangents, as `transform` records them."""
    sweeps: list[Sweep] = []
    carries: list[Flags] = []
    value_tape: list[int] = []
    dot_tape: list[int | None] = []
    n_tapes = 0
    for sweep, carry, consts in zip(loop.sweeps, active.carries, active.consts, strict=True):
        reads = tuple([dot_tape[t] is not None for t in sweep.reads])
        made = forward_step(sweep.step, Parts(carry, reads, consts), transform)
        carries.append(made.active.carry)
        dots_read = [t for t in [dot_tape[t] for t in sweep.reads] if t is not None]
        sweeps.append(
            Sweep.of(made.step, [*[value_tape[t] for t in sweep.reads], *dots_read], reverse=sweep.reverse)
        )
        value_tape += range(n_tapes, n_tapes + sweep.step.n_ys)
        next_dot = iter(range(n_tapes + sweep.step.n_ys, n_tapes + made.step.n_ys))
        dot_tape += [next(next_dot) if a else None for a in made.active_ys]
        n_tapes += made.step.n_ys
    values, dots = _places(carries)
    n_carry = loop.sweeps[0].n_carry
    dots_of_first = [loop.cond.in_avals[k].strong for k in positions(carries[0])]
    cond = with_inputs(loop.cond, [*range(n_carry), *dots_of_first, *range(n_carry, len(loop.cond.inputs))])
    count = sum(sweep.n_carry for sweep in sweeps)
    return ForwardSweeps(
        Sweeps(cond, tuple(sweeps), tuple(range(count))),
        active._replace(carries=tuple(carries), cond=(False,) * len(active.cond)),
        tuple([values[r] for r in loop.results]),
        tuple([dots[r] for r in loop.results]),
    )


def _places(carries: list[Flags]) -> tuple[list[int], list[int | None]]:
    """Where each carry and its tangent are, when each sweep's tangents follow its values."""
    values: list[int] = []
    dots: list[int | None] = []
    start = 0
    for flags in carries:
        values += range(start, start + len(flags))
        places = iter(range(start + len(flags), start + len(flags) + sum(flags)))
        dots += [next(places) if flag else None for flag in flags]
        start += len(flags) + sum(flags)
    return values, dots
