"""The adjoint of a trajectory: cotangents of its states, integrated backwards to its start and parameters.

From each time to the one before, the state is retraced from where it is known to have been, and beside it
``adjoint' = -adjoint @ slope_by_state`` and the integral of ``adjoint @ slope_by_parameters``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.api.control_flow.loops import scan
from funcgrad.api.derivatives.differentiate import vjp
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.numpy.arrays.joining import concatenate
from funcgrad.ops.arrays.structure import reshape
from funcgrad.scipy.derived import KEPT, applied, composed
from funcgrad.scipy.optimize.options import Options, found
from funcgrad.transforms.solved.retraced import Retraced
from funcgrad.types import Array, Arrays, Tree

if TYPE_CHECKING:
    from funcgrad.scipy.integrate.trajectory import Trajectory


@lru_cache(KEPT)
def adjoint_system(rhs: Program) -> Program:
    """``time, (state, adjoint, gradient of the parameters), parameters -> slopes``"""
    _, state, *parameters = rhs.in_avals
    n = state.size
    active = [k for k, a in enumerate(parameters) if a.inexact]
    total = sum(parameters[k].size for k in active)

    def slopes(t: Array, z: Array, *p: Array) -> list[Any]:
        def of(y: Array, *moving: Array) -> Array:
            every = list(p)
            for k, x in zip(active, moving, strict=True):
                every[k] = x
            return applied(rhs, [t, y, *every])[0]

        slope, pullback = vjp(of, z[:n], *[p[k] for k in active])
        bars = pullback(-1.0 * z[n : 2 * n])
        return [concatenate([slope, *[reshape(bar, (bar.size,)) for bar in bars]])]

    return composed(slopes, [rhs.in_avals[0], Aval((2 * n + total,), np.float64), *parameters], "adjoint")


def tightened(options: Options) -> tuple[Options, float]:
    """Smaller tolerances for the way back, and how far astray it may end up."""
    given = dict(options)
    rtol, atol = given.get("rtol", 1e-3), given.get("atol", 1e-6)
    given["rtol"] = max(rtol / 10.0, 1e-12)
    given["atol"] = (min(atol) if isinstance(atol, tuple) else atol) / 10.0
    return tuple(sorted(given.items())), min(max(1e-3, 100.0 * rtol), 0.1)


def pulled_back(
    method: Trajectory, programs: tuple[Program, ...], inputs: Sequence[Any], cotangents: Arrays
) -> list[Any]:
    """Cotangents of the state at the start and of the inexact parameters."""
    _, start, times, state, *rest = inputs
    parameters, states = rest[:-1], rest[-1]
    n, count = state.aval.size, times.aval.shape[0]
    inexact = [p for p in parameters if p.aval.inexact]
    total = sum(p.aval.size for p in inexact)
    options, astray = tightened(method.options)
    chosen = replace(method, options=options, copies=1, paired=False)
    system = (adjoint_system(programs[0]), adjoint_system(programs[0]))
    before_times = concatenate([reshape(start, (1,)), times[: count - 1]])
    before_states = concatenate([reshape(state, (1, n)), states[: count - 1]])

    def back(carry: Tree, step: Tree) -> Tree:
        adjoint, gradient = carry
        now, before, y, y_before, bar = step
        z = concatenate([y, adjoint + bar, gradient])
        ends = found(chosen, system, [before, now, reshape(before, (1,)), z, *parameters])[0][0]
        adjoint = Retraced(astray).bind(ends[n : 2 * n], ends[:n], y_before)
        return (adjoint, ends[2 * n :]), None

    steps = (times, before_times, states, before_states, cotangents)
    (adjoint, gradient), _ = scan(back, (np.zeros(n), np.zeros(total)), steps, reverse=True)
    bars, first = [adjoint], 0
    for p in inexact:
        bars.append(reshape(gradient[first : first + p.aval.size], p.aval.shape).astype(p.aval.dtype))
        first += p.aval.size
    return bars
