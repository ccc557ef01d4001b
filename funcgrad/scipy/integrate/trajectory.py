"""A trajectory as an equation: states of an initial value problem at given times, and its derivatives.

Forwards, the states and their derivatives by the start and by every parameter are one larger system (the
sensitivity equations); backwards, the adjoint equation is integrated from one time to the one before, with
the trajectory retraced from the states that are known (Hairer, Norsett and Wanner, Solving Ordinary
Differential Equations I, section I.14; Chen et al., Neural Ordinary Differential Equations, 2018). Both are
trajectories again, so derivatives of every order follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.numpy.algebra.contraction import tensordot
from funcgrad.numpy.arrays.joining import concatenate
from funcgrad.ops.arrays.structure import reshape
from funcgrad.ops.families import added
from funcgrad.scipy.derived import KEPT, applied, composed, jacobian
from funcgrad.scipy.integrate.adjoint import pulled_back
from funcgrad.scipy.integrate.native import Control, states_at
from funcgrad.scipy.optimize.options import Options, found, thawed
from funcgrad.scipy.originals import originals_of
from funcgrad.tracing.recorder import recorder_of
from funcgrad.transforms.batching import batch_program
from funcgrad.transforms.linear_call import LinearCall
from funcgrad.transforms.linearize import jvp_program, zeros_like
from funcgrad.transforms.replay import as_tracer, inline
from funcgrad.transforms.simplify import simplify_program
from funcgrad.transforms.solved.method import Method, Programs
from funcgrad.types import Array, ScipyResult

IMPLICIT = ("Radau", "BDF", "LSODA")
"""Methods that ask for the Jacobian of the right-hand side."""

NATIVE = ("RK45", "RK23")
"""Methods whose sensitivities are integrated by loops of our own, which are of the same or a higher order."""

MANY_DIRECTIONS = 64
"""Directions up to which sensitivities are integrated forwards; beyond, an adjoint costs less."""

SPARSE_FROM = 64
"""States from which the Jacobian of many copies of a system is a sparse matrix."""

FACTS = (Aval((), np.bool_), *[Aval((), np.int64)] * 4)
"""Success and status, and how many evaluations, Jacobians and factorisations there were."""


scipys = originals_of("integrate")
"""SciPy's functions and classes by name."""


@dataclass(frozen=True)
class Trajectory(Method):
    """``end, start, times, state, parameters -> states at the times``.

    The Programs are the right-hand side ``time, state, parameters -> slope``, and that of the one system of
    which the state holds several copies (its first one, and their derivatives). With `cut` SciPy stops soon
    after the last of the times, with the steps that it takes on its way to the end. `paired` states are
    real parts followed by imaginary ones, and SciPy is handed the complex numbers.
    """

    solver: str
    options: Options
    adjoint: bool | None = None
    copies: int = 1
    cut: bool = False
    paired: bool = False

    def results(self, programs: Programs, avals: tuple[Aval, ...]) -> tuple[Aval, ...]:
        times, state = avals[2], avals[3]
        return Aval((*times.shape, *state.shape), np.float64), *FACTS

    # -- values ------------------------------------------------------------------------------------------

    def solve(self, programs: Programs, values: Sequence[Any]) -> Sequence[Any]:
        end, start, times, state, *parameters = values
        times = np.asarray(times, float)
        if self.solver == "odeint":
            return self.by_odeint(slope_of(programs[0], parameters, False), start, times, state)
        watched = [reached(times[-1], start)] if self.cut and len(times) else None
        outcome = self.outcome(programs, [end, start, state, *parameters], times, watched)
        states = np.full((len(times), len(state)), np.nan)
        states[times == start] = state
        if len(outcome.t):  # what was not reached stays NaN
            states[: len(outcome.t)] = reals(outcome.y).T
        success, status, *counts = facts(outcome)
        return states, success, min(status, 0), *counts

    def outcome(
        self, programs: Programs, values: Sequence[Any], times: Array, events: Sequence[Any] | None = None
    ) -> ScipyResult:
        """What SciPy finds from the start to the end, at these times or at steps of its own."""
        end, start, state, *parameters = values
        options = thawed(self.options)
        if self.solver in IMPLICIT and not self.paired:
            options["jac"] = self.slopes(programs[1], len(state), parameters)
        span = float(start), float(end)
        return scipys("solve_ivp")(
            slope_of(programs[0], parameters, self.paired),
            span,
            complexes(np.asarray(state, float)) if self.paired else np.asarray(state, float),
            self.solver,
            times,
            events=events,
            **options,
        )

    def by_odeint(self, slope: Callable[..., Any], start: Array, times: Array, state: Array) -> Sequence[Any]:
        """SciPy's older interface, of which the first time is the start."""
        every = times if len(times) and times[0] == start else np.concatenate([[start], times])
        states = scipys("odeint")(slope, state, every, tfirst=True, **thawed(self.options))
        return states[len(every) - len(times) :], np.all(np.isfinite(states)), 0, 0, 0, 0

    def slopes(self, base: Program, size: int, parameters: Sequence[Any]) -> Callable[..., Any]:
        """The Jacobian for the solver: that of each copy, without what couples them.

        The copies are derivatives of the first; leaving out the coupling is how sensitivities are usually
        corrected (Maly and Petzold 1996), and does not change what the solver converges to.
        """
        n = base.in_avals[1].size
        copies = size // n
        derivative = by_state(base)
        sparse = size >= SPARSE_FROM and copies > 1 and self.solver != "LSODA"

        def matrix(t: float, y: Array) -> Array:
            block = derivative.evaluate(np.float64(t), np.asarray(y[:n], float), *parameters)[0]
            if copies == 1:
                return block
            if not sparse:
                return np.kron(np.eye(copies), block)
            library = import_module("scipy.sparse")
            return library.kron(library.eye_array(copies), library.csc_array(block), format="csc")

        return matrix

    # -- derivatives -------------------------------------------------------------------------------------

    def tangents(
        self, programs: Programs, inputs: Sequence[Any], outs: Sequence[Any], dots: Sequence[Any]
    ) -> Sequence[Any]:
        none = (None,) * len(FACTS)
        rhs = programs[0]
        _, start, times, state, *parameters = inputs
        recorder = recorder_of([*inputs, *outs, *dots])
        assert recorder is not None, "tangents are recorded"
        state_dot = dots[3]
        if dots[1] is not None:
            (slope,) = inline(recorder, rhs, [start, state, *parameters])
            state_dot = added(state_dot, -1.0 * slope * dots[1])
        total: Any = None
        moving = [state_dot, *dots[4:]]
        if any(t is not None for t in moving):
            moved = self.backwards if self.takes_adjoint(moving) else self.forwards
            total = moved(programs, inputs, outs, moving)
        if dots[2] is not None:
            count = times.aval.shape[0]
            flags = (True, True, *[False] * len(parameters))
            (slopes,) = inline(recorder, batch_program(rhs, count, flags), [times, outs[0], *parameters])
            total = added(total, slopes * reshape(dots[2], (count, 1)))
        return (total, *none)

    def takes_adjoint(self, moving: Sequence[Any]) -> bool:
        """Whether derivatives are integrated backwards."""
        if self.adjoint is not None:
            return self.adjoint
        directions = sum(t.aval.size for t in moving if t is not None)
        return directions > MANY_DIRECTIONS and self.solver not in IMPLICIT and self.solver != "odeint"

    def forwards(
        self, programs: Programs, inputs: Sequence[Any], outs: Sequence[Any], moving: Sequence[Any]
    ) -> Array:
        """Tangents of the states, through their derivatives by everything that moves."""
        end, start, times, state, *parameters = inputs
        active = tuple([t is not None for t in moving])
        n = state.aval.size
        sizes = [t.aval.size for t in moving if t is not None]
        directions = sum(sizes)
        begin = np.zeros((directions, n))
        if active[0]:
            begin[:n] = np.eye(n)
        wide = concatenate([state, begin.ravel()])
        system = sensitivity_system(programs[0], active)
        options = widened(self.options, (1 + directions) * (2 if self.paired else 1))
        if self.solver in NATIVE and self.control(options) is not None:
            states = self.by_loops(system, options, [end, start, times, wide, *parameters])
        else:
            method = replace(self, copies=self.copies * (1 + directions), options=options, paired=False)
            states = found(method, (system, programs[1]), [end, start, times, wide, *parameters])[0]
        count = times.aval.shape[0]
        slopes = reshape(states, (count, 1 + directions, n))
        total: Any = None
        first = 1
        for dot, size in zip([t for t in moving if t is not None], sizes, strict=True):
            part = slopes[:, first : first + size, :]
            total = added(total, tensordot(reshape(dot, (size,)), part, (0, 1)))
            first += size
        return total

    @staticmethod
    def control(options: Options) -> Control | None:
        """The control of steps that the options ask for, None where it is not one that our loops have."""
        given = thawed(options)
        names = {"rtol": "rtol", "atol": "atol", "max_step": "largest", "first_step": "first"}
        if not given.keys() <= names.keys():
            return None
        chosen = {names[key]: value for key, value in given.items() if value is not None}
        if isinstance(chosen.get("atol"), tuple):
            chosen["atol"] = np.array(chosen["atol"])
        return Control(**chosen)

    def by_loops(self, system: Program, options: Options, inputs: Sequence[Any]) -> Array:
        """The sensitivities by loops of our own, which compile: SciPy's take most of their time in Python."""
        end, start, times, state, *parameters = inputs
        control = self.control(options)
        assert control is not None, "asked before"

        def slope(t: Array, z: Array) -> Array:
            return applied(system, [t, z, *parameters])[0]

        return states_at(slope, (start, end), times, state, False, control)[0]

    def backwards(
        self, programs: Programs, inputs: Sequence[Any], outs: Sequence[Any], moving: Sequence[Any]
    ) -> Array:
        """Tangents of the states as a linear map, whose transpose is the adjoint equation."""
        recorder = recorder_of([*inputs, *outs])
        assert recorder is not None, "tangents are recorded"
        fixed = [*inputs, outs[0]]
        avals = tuple([x.aval for x in fixed])
        linear = [0, *[k + 1 for k, x in enumerate(inputs[4:]) if x.aval.inexact]]
        heads = [inputs[3], *inputs[4:]]
        full = [
            zeros_like(recorder, heads[k].aval.strong) if moving[k] is None else moving[k] for k in linear
        ]
        forward, backward = tangent_programs(self, programs, avals)
        call = LinearCall(forward, backward, len(fixed))
        return call.bind(*fixed, *[as_tracer(recorder, x) for x in full])[0]


def slope_of(rhs: Program, parameters: Sequence[Any], paired: bool) -> Callable[..., Any]:
    """The right-hand side as SciPy calls it, which is thousands of times."""
    number, array, evaluate = np.float64, np.asarray, rhs.evaluate

    def slope(t: float, y: Array) -> Array:
        return evaluate(number(t), array(y, float), *parameters)[0]

    def of_complex(t: float, y: Array) -> Array:
        return complexes(evaluate(number(t), reals(y), *parameters)[0])

    return of_complex if paired else slope


def reals(y: Array) -> Array:
    """Real states, or the real parts of complex ones followed by the imaginary ones."""
    return np.concatenate([y.real, y.imag]) if np.iscomplexobj(y) else np.asarray(y, float)


def complexes(z: Array) -> Array:
    """Complex states of their parts."""
    n = len(z) // 2
    return z[:n] + 1j * z[n:]


def reached(last: float, start: float) -> Callable[..., float]:
    """An event that ends an integration just after a time: SciPy finds it no better than to rounding."""
    away = 64.0 * np.finfo(float).eps * max(abs(last), abs(start), 1.0)
    stop = last + (away if last >= start else -away)

    def passed(t: float, y: Array) -> float:
        return t - stop

    passed.terminal = True  # type: ignore[attr-defined]
    return passed


def facts(outcome: ScipyResult) -> Sequence[Any]:
    """What SciPy's result says of the way there."""
    return outcome.success, outcome.status, outcome.nfev, outcome.njev, outcome.nlu


def widened(options: Options, copies: int) -> Options:
    """The options for a larger system: tolerances of single states are repeated for its other parts."""
    found = []
    for key, value in options:
        vector = key == "atol" and isinstance(value, tuple)
        found.append((key, value * copies if vector else value))
    return tuple(found)


@lru_cache(KEPT)
def by_state(rhs: Program) -> Program:
    """``time, state, parameters -> derivative of the slope by the state``"""
    order = (rhs.inputs[1], rhs.inputs[0], *rhs.inputs[2:])
    turned = jacobian(Program(order, rhs.captured, rhs.equations, rhs.outputs, rhs.name))
    again = (turned.inputs[1], turned.inputs[0], *turned.inputs[2:])
    return Program(again, turned.captured, turned.equations, turned.outputs, turned.name)


@lru_cache(KEPT)
def tangent_of_slope(rhs: Program, active: tuple[bool, ...]) -> Program:
    """``time, state, parameters, tangents of the state and active parameters -> tangent of the slope``"""
    flags = (False, True, *active[1:])
    both = jvp_program(rhs, flags, 1)
    return simplify_program(Program(both.inputs, both.captured, both.equations, both.outputs[1:], both.name))


@lru_cache(KEPT)
def sensitivity_system(rhs: Program, active: tuple[bool, ...]) -> Program:
    """``time, (state, its derivatives), parameters -> slopes of all``

    `active` says whether the start moves, and which parameters do; the derivatives are by each element.
    """
    _, state, *parameters = rhs.in_avals
    n = state.size
    starts = n if active[0] else 0
    sizes = [a.size for a, flag in zip(parameters, active[1:], strict=True) if flag]
    directions = starts + sum(sizes)
    moved = tangent_of_slope(rhs, active)
    units, first = [], starts
    shapes = [a.shape for a, flag in zip(parameters, active[1:], strict=True) if flag]
    for size, shape in zip(sizes, shapes, strict=True):
        unit = np.zeros((directions, size))
        unit[first : first + size] = np.eye(size)
        units.append(unit.reshape(directions, *shape))
        first += size
    fixed = 2 + len(parameters)
    flags = (*[False] * fixed, True, *[True] * len(units))
    together = batch_program(moved, directions, flags)

    def slopes(t: Array, z: Array, *p: Array) -> list[Any]:

        y, derivatives = z[:n], reshape(z[n:], (directions, n))
        (slope,) = applied(rhs, [t, y, *p])
        (others,) = applied(together, [t, y, *p, derivatives, *units])
        return [concatenate([slope, reshape(others, (directions * n,))])]

    whole = Aval((n * (1 + directions),), np.float64)
    return composed(slopes, [rhs.in_avals[0], whole, *parameters], "sensitivities")


@lru_cache(KEPT)
def tangent_programs(
    method: Trajectory, programs: Programs, avals: tuple[Aval, ...]
) -> tuple[Program, Program]:
    """The tangent of a trajectory, and its transpose, as Programs.

    Both take what the trajectory takes and gives; then one takes tangents of state and parameters, the other
    cotangents of the states.
    """
    rhs = programs[0]
    _, state, *parameters = rhs.in_avals
    n = state.size
    active = (True, *[a.inexact for a in parameters])
    moved = tangent_of_slope(rhs, active)

    def both_slopes(t: Array, z: Array, *p: Array) -> list[Any]:

        values, dots = p[: len(parameters)], p[len(parameters) :]
        (slope,) = applied(rhs, [t, z[:n], *values])
        (other,) = applied(moved, [t, z[:n], *values, z[n:], *dots])
        return [concatenate([slope, other])]

    dots = [a.strong for a in parameters if a.inexact]
    wide = composed(both_slopes, [rhs.in_avals[0], Aval((2 * n,), np.float64), *parameters, *dots], "tangent")
    larger = replace(
        method,
        copies=2 * method.copies,
        options=widened(method.options, 4 if method.paired else 2),
        paired=False,
    )

    def forward(*inputs: Array) -> list[Any]:

        end, start, times, y, *rest = inputs
        values, tangents = rest[: len(parameters)], rest[len(parameters) + 1 :]
        z = concatenate([y, tangents[0]])
        states = found(larger, (wide, programs[1]), [end, start, times, z, *values, *tangents[1:]])[0]
        return [states[:, n:]]

    pushed = composed(forward, [*avals, state.strong, *dots], "tangent")

    def backward(*inputs: Array) -> list[Any]:
        return pulled_back(method, programs, inputs[:-1], inputs[-1])

    return pushed, composed(backward, [*avals, avals[-1].strong], "adjoint")
