"""Sweeps: what is done on the trips of a loop whose number is known only when it has run.

The first sweep is the loop itself: it goes on while a condition on its carry holds. Every later sweep visits
the same trips, forwards or backwards, and reads what earlier sweeps have written on each of them, onto
*tapes*. Tapes have as many entries as there were trips, so they have no shape and stay inside. The derivative
of sweeps is sweeps, and so is the transpose: this is how a loop without a bound on its trips can be
differentiated in reverse, any number of times. Knows nothing of values and of primitives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.transforms.control.step import Step, live_step, needed_inputs, positions, with_inputs

T = TypeVar("T")


class Sweep(NamedTuple):
    """One pass over the trips: a step, the tapes that are its xs, and the direction."""

    program: Program
    n_carry: int
    reads: tuple[int, ...]
    """Tapes are numbered in the order of the sweeps that write them, and of what each writes."""
    reverse: bool

    @property
    def step(self) -> Step:
        """The step that is taken on each trip."""
        return Step(self.program, self.n_carry, len(self.reads))

    @classmethod
    def of(cls, step: Step, reads: Sequence[int], *, reverse: bool) -> Sweep:
        """The sweep that takes this step."""
        return cls(step.program, step.n_carry, tuple(reads), reverse)


class Sweeps(NamedTuple):
    """A condition, the sweeps over the trips while it holds, and which final carries are results."""

    cond: Program
    """``carry of the first sweep, consts -> bool``"""
    sweeps: tuple[Sweep, ...]
    results: tuple[int, ...]
    """Positions among the final carries of all sweeps together."""

    @property
    def n_cond_consts(self) -> int:
        """How many constants the condition has."""
        return len(self.cond.inputs) - self.sweeps[0].n_carry

    @property
    def carry_avals(self) -> tuple[Aval, ...]:
        """The avals of the carries of all sweeps together."""
        return tuple([a for sweep in self.sweeps for a in sweep.step.carry_avals])

    @property
    def in_avals(self) -> tuple[Aval, ...]:
        """The avals of all inputs."""
        parts = [sweep.step.parts(sweep.program.in_avals) for sweep in self.sweeps]
        cond = self.cond.in_avals[self.sweeps[0].n_carry :]
        return Inputs(tuple([p.carry for p in parts]), cond, tuple([p.consts for p in parts])).flat

    def inputs(self, flat: Sequence[T]) -> Inputs[T]:
        """Something for every input, by the sweep that it belongs to."""
        items = iter(flat)
        carries = [take(items, sweep.n_carry) for sweep in self.sweeps]
        cond = take(items, self.n_cond_consts)
        consts = [
            take(items, len(sweep.program.inputs) - sweep.n_carry - len(sweep.reads)) for sweep in self.sweeps
        ]
        return Inputs(tuple(carries), cond, tuple(consts))

    def tapes(self) -> list[range]:
        """The numbers of the tapes that each sweep writes."""
        found, start = [], 0
        for sweep in self.sweeps:
            found.append(range(start, start + sweep.step.n_ys))
            start += sweep.step.n_ys
        return found


class Inputs(NamedTuple, Generic[T]):
    """Something for every input: initial carries, constants of the condition, constants of the sweeps."""

    carries: tuple[tuple[T, ...], ...]
    cond: tuple[T, ...]
    consts: tuple[tuple[T, ...], ...]

    @property
    def flat(self) -> tuple[T, ...]:
        """All of them, in order."""
        carries = [x for part in self.carries for x in part]
        return (*carries, *self.cond, *[x for part in self.consts for x in part])


def take(items: Iterator[T], count: int) -> tuple[T, ...]:
    """The next `count` items."""
    return tuple([next(items) for _ in range(count)])


# -- leaving out --------------------------------------------------------------------------------------------


class LiveSweeps(NamedTuple):
    """Sweeps without what nobody needs, and the positions of the inputs that are left."""

    loop: Sweeps
    inputs: tuple[int, ...]


def live_sweeps(loop: Sweeps) -> LiveSweeps:
    """The part of the sweeps that their results need."""
    count = len(loop.carry_avals)
    wanted = loop.inputs([k in loop.results for k in range(count)] + [False] * (len(loop.in_avals) - count))
    tapes = loop.tapes()
    needed_tapes: set[int] = set()
    kept: list[tuple[int, Sweep, tuple[int, ...], tuple[int, ...]]] = []
    written: dict[int, tuple[int, ...]] = {}
    for k in reversed(range(len(loop.sweeps))):
        sweep = loop.sweeps[k]
        carry, ys = wanted.carries[k], tuple([t in needed_tapes for t in tapes[k]])
        if k == 0:
            deciding = needed_inputs(loop.cond, (True,))
            carry = tuple([a or b for a, b in zip(carry, deciding, strict=False)])
        elif not any(carry + ys):
            continue
        live = live_step(sweep.step, carry, ys)
        reads = [sweep.reads[i] for i in live.xs]
        needed_tapes.update(reads)
        written[k] = tuple([tapes[k][i] for i in live.ys])
        kept.append((k, Sweep.of(live.step, reads, reverse=sweep.reverse), live.carry, live.consts))
    kept.reverse()
    return _renumbered(loop, kept, written)


def _renumbered(
    loop: Sweeps,
    kept: Sequence[tuple[int, Sweep, tuple[int, ...], tuple[int, ...]]],
    written: dict[int, tuple[int, ...]],
) -> LiveSweeps:
    """The sweeps that are kept, with tapes and results under their new numbers."""
    numbers = {t: n for n, t in enumerate([t for k, *_ in kept for t in written[k]])}
    places = loop.inputs(range(len(loop.in_avals)))
    sweeps = [sweep._replace(reads=tuple([numbers[t] for t in sweep.reads])) for _, sweep, _, _ in kept]
    carries = tuple([tuple([places.carries[k][i] for i in carry]) for k, _, carry, _ in kept])
    consts = tuple([tuple([places.consts[k][i] for i in chosen]) for k, _, _, chosen in kept])
    n_carry = loop.sweeps[0].n_carry
    deciding = positions(needed_inputs(loop.cond, (True,)))
    cond_consts = [i for i in deciding if i >= n_carry]
    cond = with_inputs(loop.cond, [*kept[0][2], *cond_consts])
    inputs = Inputs(carries, tuple([places.cond[i - n_carry] for i in cond_consts]), consts).flat
    order = {place: n for n, place in enumerate([i for part in carries for i in part])}
    return LiveSweeps(Sweeps(cond, tuple(sweeps), tuple([order[r] for r in loop.results])), inputs)
