"""`linear_call`: a linear map given by two Programs, one for each direction.

For maps whose transpose is better computed otherwise than by transposing equation by equation: the tangent of
a trajectory is integrated forwards, its transpose is the adjoint equation, integrated backwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.errors import NotDifferentiableError
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Equation, Program, Var
from funcgrad.ops.elementwise.arithmetic import mul
from funcgrad.ops.families import added
from funcgrad.tracing.primitive import Flags, Linear
from funcgrad.tracing.recorder import recorder_of
from funcgrad.tracing.samples import Sample, fixed
from funcgrad.transforms.call import Call, batched_program, with_batch_axis
from funcgrad.transforms.linearize import record_jvp, zeros_like
from funcgrad.transforms.replay import as_tracer, inline
from funcgrad.types import Array, Arrays


class LinearCall(Call):
    """``fixed, linear -> results``, and ``fixed, cotangents -> cotangents of the linear inputs``."""

    name = "linear_call"
    parameters = ("program", "backward", "n_fixed")
    backward: Program
    n_fixed: int

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        recorder = recorder_of([*primals, *tangents])
        assert recorder is not None, "a jvp rule runs on tracers"
        n = self.n_fixed
        outs = recorder.record(self, primals)
        dots: list[Any] = [None] * len(outs)
        if any(t is not None for t in tangents[:n]):
            still = [None] * (len(primals) - n)
            _, dots = record_jvp(recorder, self.program, primals, [*tangents[:n], *still])
        if any(t is not None for t in tangents[n:]):
            heads = [as_tracer(recorder, x) for x in primals]
            full = [
                zeros_like(recorder, x.aval.strong) if t is None else t
                for x, t in zip(heads[n:], tangents[n:], strict=True)
            ]
            moved = recorder.record(self, [*heads[:n], *full])
            dots = [added(a, b) for a, b in zip(dots, moved, strict=True)]
        return outs, tuple(dots)

    def linear_in(self, flags: Flags) -> bool:
        return not any(flags[: self.n_fixed])

    def transpose(self, cotangent: Arrays, *inputs: Array) -> tuple[Any, ...]:
        n = self.n_fixed
        if any(isinstance(x, Linear) for x in inputs[:n]):
            raise NotDifferentiableError("linear_call is not linear in its fixed inputs")
        recorder = recorder_of([bar for bar in cotangent if bar is not None])
        assert recorder is not None, "a transpose rule runs on tracers"
        bars = [
            zeros_like(recorder, a.strong) if bar is None else bar
            for bar, a in zip(cotangent, self.program.out_avals, strict=True)
        ]
        found = inline(recorder, self.backward, [*inputs[:n], *bars])
        return (
            *[None] * n,
            *[b if isinstance(x, Linear) else None for x, b in zip(inputs[n:], found, strict=True)],
        )

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        n = self.n_fixed
        flags = (*batched[:n], *[True] * (len(inputs) - n))
        wide = LinearCall(
            batched_program(self.program, size, flags),
            batched_program(self.backward, size, (*batched[:n], *[True] * len(self.program.outputs))),
            n,
        )
        full = [*inputs[:n], *with_batch_axis(size, inputs[n:], batched[n:])]
        return wide.bind(*full), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        params = {"program": _scaled(), "backward": _scaled(), "n_fixed": 1}
        vector = fixed(np.array([0.5, -2.0]))
        return (Sample(vector, vector, params=params),)


def _scaled() -> Program:
    """``a, x -> a * x``"""
    vector = Aval((2,), np.float64)
    a, x, out = Var(vector), Var(vector), Var(vector)
    return Program((a, x), (), (Equation(mul, (a, x), (out,)),), (out,), "scaled")
