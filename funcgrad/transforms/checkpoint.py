"""Checkpointing: a call that keeps its inputs for the backward pass and computes everything else again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Equation, Program, Var
from funcgrad.ops.arithmetic import mul
from funcgrad.tracing.primitive import Flags, Linear, Primitive
from funcgrad.tracing.recorder import recorder_of
from funcgrad.tracing.samples import Sample, fixed
from funcgrad.transforms.call import Call, batched_program, with_batch_axis
from funcgrad.transforms.linearize import jvp_program, record_jvp, zeros_like
from funcgrad.transforms.transpose import record_transpose

_POINT = np.array([0.5, -1.0, 2.0])


class Barrier(Primitive):
    """The input, as a value that no simplification identifies with it.

    Without it the recomputation of a checkpointed call would be merged with the first computation.
    """

    name = "barrier"
    aliases = True
    pure = False

    def infer(self, *avals: Aval) -> Aval:
        return avals[0]

    def evaluate(self, *values: Any) -> Any:
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


class Checkpoint(Call):
    """A call that a backward pass computes again instead of keeping its residuals."""

    name = "checkpoint"
    parameters = ("program",)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        outs = self.bind(*primals)
        active = tuple([t is not None for t in tangents])
        dots = CheckpointTangents(self.program, active).bind(
            *primals, *[t for t in tangents if t is not None]
        )
        found = iter(dots)
        return outs, tuple([next(found) if inexact else None for inexact in self.inexact_outputs()])

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return Checkpoint(batched_program(self.program, size, batched)).bind(*inputs), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (Sample(fixed(_POINT), params={"program": _square_program()}),)


class CheckpointTangents(Primitive):
    """The tangents of a checkpointed call: linear in the tangents that follow its inputs."""

    name = "checkpoint_tangents"
    parameters = ("program", "active")
    multiple = True
    program: Program
    active: Flags

    @property
    def _n_inputs(self) -> int:
        return len(self.active)

    @cached_property
    def _tangent_program(self) -> Program:
        whole = jvp_program(self.program, self.active, len(self.program.outputs))
        return Program(
            whole.inputs,
            whole.captured,
            whole.equations,
            whole.outputs[len(self.program.outputs) :],
            whole.name,
        )

    def held_program(self, avals: Sequence[Aval]) -> Program | None:
        return self._tangent_program

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        return tuple([a.strong for a in self.program.out_avals if a.inexact])

    def evaluate(self, *values: Any) -> Any:
        return self._tangent_program.evaluate(*values)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        recorder = recorder_of([*primals, *tangents])
        assert recorder is not None, "a jvp rule runs on tracers"
        outs, dots = record_jvp(recorder, self._tangent_program, primals, tangents)
        return tuple(outs), tuple(dots)

    def linear_in(self, flags: Flags) -> bool:
        return not any(flags[: self._n_inputs]) and all(flags[self._n_inputs :])

    def transpose(self, cotangent: Any, *inputs: Any) -> tuple[Any, ...]:
        barrier = Barrier()
        n = self._n_inputs
        primals = [barrier.bind(x) for x in inputs[:n]]
        recorder = recorder_of(primals + [bar for bar in cotangent if bar is not None])
        assert recorder is not None, "a transpose rule runs on tracers"
        entries = [recorder.input(x.aval) for x in inputs[n:]]
        fresh = iter(entries)
        dots = [next(fresh) if active else None for active in self.active]
        _, exits = record_jvp(recorder, self.program, primals, dots)
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
        n = self._n_inputs
        flags = iter(batched[n:])
        of_tangents = [next(flags) if active else False for active in self.active]
        either = tuple([a or b for a, b in zip(batched[:n], of_tangents, strict=True)])
        made: Primitive = CheckpointTangents(batched_program(self.program, size, either), self.active)
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
        return [
            with_batch_axis(size, [x], (flag,))[0] if want else x
            for x, flag, want in zip(inputs, flags, wanted, strict=True)
        ]

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(fixed(_POINT), fixed(_POINT), params={"program": _square_program(), "active": (True,)}),
        )


def _square_program() -> Program:
    x, y = Var(Aval((3,), np.float64)), Var(Aval((3,), np.float64))
    return Program((x,), (), (Equation(mul, (x, x), (y,)),), (y,), "square")
