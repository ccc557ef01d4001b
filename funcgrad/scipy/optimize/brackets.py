"""Brent's method on many brackets at once, for roots under `vmap`.

Brent, Algorithms for Minimization without Derivatives (1973), chapter 4, with the tolerances of SciPy's
`brentq`: each bracket takes the steps that it would take alone, and rests when it has converged. The same
functions narrow arrays, trip by trip, and are recorded as a loop that compiled code runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.ops.arrays.structure import broadcast_to, cast
from funcgrad.ops.families import aval as aval_of
from funcgrad.scipy.derived import applied
from funcgrad.scipy.recorded import FLOAT
from funcgrad.transforms.control.while_loop import WhileLoop
from funcgrad.transforms.replay import transforming
from funcgrad.transforms.simplify import simplify_program
from funcgrad.transforms.solved.upheld import upheld
from funcgrad.types import Array

Function = Callable[[Any], Any]

NOT_A_NUMBER = "The function value at x is NaN; solver cannot continue."
SAME_SIGN = "f(a) and f(b) must have different signs"


class Tolerances(NamedTuple):
    """When a bracket is narrow enough, and how many steps it may take."""

    xtol: float
    rtol: float
    maxiter: int
    disp: bool
    """Whether a search that does not converge raises."""


class Brackets(NamedTuple):
    """Brackets on the way, each an element of every array."""

    going: Any
    """Whether it takes another step."""
    done: Any
    """Whether it has converged."""
    moves: Any
    """How many steps it has taken."""
    before: Any
    f_before: Any
    now: Any
    f_now: Any
    other: Any
    """The end on the other side of the root."""
    f_other: Any
    step: Any
    last: Any
    """The step before."""


def brent_many(function: Function, a: Array, b: Array, tolerances: Tolerances) -> tuple[Any, ...]:
    """Roots of an element-wise function, whether they are roots, status, iterations and evaluations.

    Raises ValueError where a bracket has no change of sign or a value of the function is NaN, and with
    `disp` RuntimeError where one does not converge.
    """
    with np.errstate(all="ignore"):
        state = begun(function, np.array(a, float), np.array(b, float), tolerances)
        while np.any(state.going):
            state = examined(moved(function, state, tolerances), tolerances)
    return found(state, tolerances)


def brent_loop(function: Program, avals: Sequence[Aval], size: int, tolerances: Tolerances) -> Program:
    """``a, b, parameters`` of these avals to what `brent_many` finds, by a loop that compiled code runs.

    The function is a Program of `size` unknowns and the parameters.
    """
    parameters = avals[2:]

    def recorded(name: str, given: Sequence[Aval], results: Callable[..., Sequence[Any]]) -> Program:
        with transforming(function, name) as recorder:
            inputs = [recorder.input(a.strong) for a in given]
            outs = [recorder.index_of(x) for x in results(*inputs)]
            return recorder.program([x._index for x in inputs], outs)

    def goes_on(*state: Array) -> Sequence[Any]:
        return (np.any(Brackets(*state).going),)

    def trip(*inputs: Array) -> Brackets:
        state = Brackets(*inputs[: len(Brackets._fields)])
        return examined(moved(of(inputs[len(state) :]), state, tolerances), tolerances)

    def of(parameters: Sequence[Any]) -> Function:
        return lambda x: applied(function, [x, *parameters])[0]

    def roots(*inputs: Array) -> Sequence[Any]:
        a, b = (broadcast_to(cast(x, FLOAT), (size,)) for x in inputs[:2])
        state = begun(of(inputs[2:]), a, b, tolerances)
        carry = [aval_of(x).strong for x in state]
        loop = WhileLoop(recorded("goes_on", carry, goes_on), recorded("trip", [*carry, *parameters], trip))
        return found(Brackets(*loop.bind(*state, *inputs[2:])), tolerances)

    return simplify_program(recorded("written_out", avals, roots))


def begun(function: Function, a: Array, b: Array, tolerances: Tolerances) -> Brackets:
    """The brackets before their first step."""
    f_a, f_b = function(a), function(b)
    f_b = upheld(f_b, ~np.any(np.isnan(f_a) | np.isnan(f_b)), "ValueError", NOT_A_NUMBER)
    f_b = upheld(f_b, ~np.any(np.sign(f_a) * np.sign(f_b) > 0.0), "ValueError", SAME_SIGN)
    at_root = f_a == 0.0
    now, f_now = np.where(at_root, a, b), np.where(at_root, 0.0, f_b)
    step = now - a
    done = np.zeros(a.shape, bool)
    start = Brackets(done, done, np.zeros(a.shape, np.int64), a, f_a, now, f_now, a, f_a, step, step)
    return examined(start, tolerances)


def found(state: Brackets, tolerances: Tolerances) -> tuple[Any, ...]:
    """What there is to say of brackets that rest."""
    are_numbers = ~np.any(np.isnan(state.f_now))
    said = [upheld(x, are_numbers, "ValueError", NOT_A_NUMBER) for x in (state.now, state.done, state.moves)]
    if tolerances.disp:
        words = f"Failed to converge after {tolerances.maxiter} iterations."
        said = [upheld(x, np.all(state.done), "RuntimeError", words) for x in said]
    root, done, moves = said
    # SciPy counts the look at a bracket that is narrow enough as well.
    return root, done, done, 0 * moves, moves + done, moves + 2


def examined(state: Brackets, tolerances: Tolerances) -> Brackets:
    """The brackets with their better end as `now`, and whether they take another step."""
    _, _, moves, before, f_before, now, f_now, other, f_other, step, last = state
    may_go = moves < tolerances.maxiter
    crossed = (f_before != 0.0) & (f_now != 0.0) & (np.sign(f_before) != np.sign(f_now)) & may_go
    other, f_other = np.where(crossed, before, other), np.where(crossed, f_before, f_other)
    step, last = (np.where(crossed, now - before, s) for s in (step, last))
    better = (abs(f_other) < abs(f_now)) & may_go
    before, now, other = (
        np.where(better, now, before),
        np.where(better, other, now),
        np.where(better, now, other),
    )
    f_before, f_now, f_other = (
        np.where(better, f_now, f_before),
        np.where(better, f_other, f_now),
        np.where(better, f_now, f_other),
    )
    is_narrow = (f_now == 0.0) | (abs(other - now) / 2 < tolerance_at(now, tolerances))
    going, done = may_go & ~is_narrow & ~np.isnan(f_now), may_go & is_narrow
    return Brackets(going, done, moves, before, f_before, now, f_now, other, f_other, step, last)


def tolerance_at(now: Array, tolerances: Tolerances) -> Array:
    """How far from the root `now` may be, and the shortest step."""
    return (tolerances.xtol + tolerances.rtol * abs(now)) / 2


def moved(function: Function, state: Brackets, tolerances: Tolerances) -> Brackets:
    """The brackets after a step of those that go on."""
    going, done, moves, before, f_before, now, f_now, other, f_other, _, _ = state
    delta, half = tolerance_at(now, tolerances), (other - now) / 2
    step, last = next_steps(state, delta, half)
    taken = np.where(abs(step) > delta, step, np.where(half > 0.0, delta, -delta))
    after = np.where(going, now + taken, now)
    before, f_before = np.where(going, now, before), np.where(going, f_now, f_before)
    f_after = function(after)
    return Brackets(going, done, moves + going, before, f_before, after, f_after, other, f_other, step, last)


def next_steps(state: Brackets, delta: Array, half: Array) -> tuple[Any, Any]:
    """The next step, by secant or inverse quadratic extrapolation where that is short, and the one before."""
    _, _, _, before, f_before, now, f_now, other, f_other, step, last = state
    secant = -f_now * (now - before) / (f_now - f_before)
    slope_before = (f_before - f_now) / (before - now)
    slope_other = (f_other - f_now) / (other - now)
    quadratic = -f_now * (f_other * slope_other - f_before * slope_before)
    quadratic = quadratic / (slope_other * slope_before * (f_other - f_before))
    tried = np.where(before == other, secant, quadratic)
    promising = (abs(last) > delta) & (abs(f_now) < abs(f_before))
    short = promising & (2 * abs(tried) < np.minimum(abs(last), 3 * abs(half) - delta))
    return np.where(short, tried, half), np.where(short, step, half)
