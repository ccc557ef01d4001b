"""Checkpointing: a call that keeps its inputs for the backward pass and computes everything else again.

It may keep more: the last outputs of its Program are then values from the inside, for that pass alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Equation, Program, Var
from funcgrad.ops.elementwise.arithmetic import mul
from funcgrad.shared import once
from funcgrad.tracing.primitive import Flags, Linear, Primitive
from funcgrad.tracing.recorder import Recorder, recorder_of
from funcgrad.tracing.samples import Sample, fixed
from funcgrad.transforms.call import Call, batched_program, with_batch_axis
from funcgrad.transforms.linearize import record_jvp, zeros_like
from funcgrad.transforms.replay import transforming
from funcgrad.transforms.transpose import record_transpose
from funcgrad.types import Array, Arrays

_POINT = np.array([0.5, -1.0, 2.0])


class Barrier(Primitive):
    """The input, as a value that no simplification identifies with it.

    Without it the recomputation of a checkpointed call would be merged with the first computation.
    """

    name = "barrier"
    aliases = True
    passes_on = True
    pure = False

    def infer(self, *avals: Aval) -> Aval:
        return avals[0]

    def evaluate(self, *values: Array) -> Arrays:
        return values[0]

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        return names[0]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self.bind(primals[0]), tangents[0]

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return self.bind(inputs[0]), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (Sample(fixed(_POINT)),)


class Named(Barrier):
    """The input under a name that says which values of a checkpointed call are kept."""

    name = "named"
    pure = True
    parameters = ("label",)
    label: str

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (Sample(fixed(_POINT), params={"label": "hidden"}),)


class Checkpoint(Call):
    """A call that a backward pass computes again instead of keeping its residuals, but for some values.

    These are the last `n_kept` outputs of the Program.
    """

    name = "checkpoint"
    parameters = ("program", "n_kept")
    n_kept: int

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        outs = self.bind(*primals)
        active = tuple([t is not None for t in tangents])
        kept = outs[len(outs) - self.n_kept :]
        dots = CheckpointTangents(self.program, active, self.n_kept).bind(
            *primals, *kept, *[t for t in tangents if t is not None]
        )
        found = iter(dots)
        return outs, tuple([next(found) if inexact else None for inexact in self.inexact_outputs()])

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return Checkpoint(batched_program(self.program, size, batched), self.n_kept).bind(*inputs), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(fixed(_POINT), params={"program": _square_program(), "n_kept": 0}),
            Sample(fixed(_POINT), params={"program": _square_program(), "n_kept": 1}),
        )


class CheckpointTangents(Primitive):
    """The tangents of a checkpointed call: linear in those that follow its inputs and the values it kept."""

    name = "checkpoint_tangents"
    parameters = ("program", "active", "n_kept")
    multiple = True
    program: Program
    active: Flags
    n_kept: int

    @property
    def _n_inputs(self) -> int:
        return len(self.active) + self.n_kept

    def _recorded(self, recorder: Recorder, primals: Sequence[Any], dots: Sequence[Any]) -> list[Any]:
        """The tangents of the outputs, None where zero; `primals` are the inputs and what was kept."""
        n = len(self.active)
        own = self.program.outputs[len(self.program.outputs) - self.n_kept :]
        known = {v: x for v, x in zip(own, primals[n:], strict=True) if isinstance(v, Var)}
        return record_jvp(recorder, self.program, primals[:n], dots, known)[1]

    @once
    def _tangent_program(self) -> Program:
        own = self.program.outputs[len(self.program.outputs) - self.n_kept :]
        avals = [*self.program.in_avals, *[v.aval for v in own]]
        with transforming(self.program, "jvp") as recorder:
            primals = [recorder.input(a) for a in avals]
            entries = [
                recorder.input(a.strong) for a, given in zip(avals, self.active, strict=False) if given
            ]
            fresh = iter(entries)
            dots = [next(fresh) if given else None for given in self.active]
            found = [
                zeros_like(recorder, a.strong) if dot is None else dot
                for dot, a in zip(
                    self._recorded(recorder, primals, dots), self.program.out_avals, strict=True
                )
                if a.inexact
            ]
            heads = [x._index for x in [*primals, *entries]]
            return recorder.program(heads, [recorder.index_of(x) for x in found])

    def held_program(self, avals: Sequence[Aval]) -> Program | None:
        return self._tangent_program

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        return tuple([a.strong for a in self.program.out_avals if a.inexact])

    def evaluate(self, *values: Array) -> Arrays:
        return self._tangent_program.evaluate(*values)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        recorder = recorder_of([*primals, *tangents])
        assert recorder is not None, "a jvp rule runs on tracers"
        outs, dots = record_jvp(recorder, self._tangent_program, primals, tangents)
        return tuple(outs), tuple(dots)

    def linear_in(self, flags: Flags) -> bool:
        return not any(flags[: self._n_inputs]) and all(flags[self._n_inputs :])

    def transpose(self, cotangent: Arrays, *inputs: Array) -> tuple[Any, ...]:
        barrier = Barrier()
        n = self._n_inputs
        primals = [barrier.bind(x) for x in inputs[: len(self.active)]] + list(inputs[len(self.active) : n])
        recorder = recorder_of(primals + [bar for bar in cotangent if bar is not None])
        assert recorder is not None, "a transpose rule runs on tracers"
        entries = [recorder.input(x.aval) for x in inputs[n:]]
        fresh = iter(entries)
        dots = [next(fresh) if active else None for active in self.active]
        exits = self._recorded(recorder, primals, dots)
        given = iter(cotangent)
        bars = [
            next(given) if inexact else None for inexact in (v.aval.inexact for v in self.program.outputs)
        ]
        pairs = [(x, bar) for x, bar in zip(exits, bars, strict=True) if x is not None]
        found = record_transpose(recorder, entries, [x for x, _ in pairs], [bar for _, bar in pairs])
        results = [
            zeros_like(recorder, x.aval) if bar is None else bar
            for x, bar in zip(inputs[n:], found, strict=True)
            if isinstance(x, Linear)
        ]
        return (*[None] * n, *results)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return self._batched(size, batched).bind(*self._aligned(size, inputs, batched)), True

    def _batched(self, size: int, batched: Flags) -> Primitive:
        flags = iter(batched[self._n_inputs :])
        of_tangents = [next(flags) if active else False for active in self.active]
        either = tuple([a or b for a, b in zip(batched, of_tangents, strict=False)])
        program = batched_program(self.program, size, either)
        made: Primitive = CheckpointTangents(program, self.active, self.n_kept)
        return made

    def _aligned(self, size: int, inputs: Sequence[Any], batched: Flags) -> list[Any]:
        # An input and its tangent have one type, so if either is batched both are.
        n = self._n_inputs
        slots = [k for k, active in enumerate(self.active) if active]
        pairs = dict(zip(slots, range(n, len(inputs)), strict=True))
        flags = list(batched)
        wanted = list(batched)
        for k, t in pairs.items():
            wanted[k] = wanted[t] = flags[k] or flags[t]
        # What a batched Program has kept is batched.
        wanted[len(self.active) : n] = [True] * self.n_kept
        return [
            with_batch_axis(size, [x], (flag,))[0] if want else x
            for x, flag, want in zip(inputs, flags, wanted, strict=True)
        ]

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(
                fixed(_POINT),
                fixed(_POINT),
                params={"program": _square_program(), "active": (True,), "n_kept": 0},
            ),
        )


def _square_program() -> Program:
    x, y = Var(Aval((3,), np.float64)), Var(Aval((3,), np.float64))
    return Program((x,), (), (Equation(mul, (x, x), (y,)),), (y,), "square")
