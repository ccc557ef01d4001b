"""Brent's method on many brackets at once, for roots under `vmap`.

Brent, Algorithms for Minimization without Derivatives (1973), chapter 4, with the tolerances of SciPy's
`brentq`: each bracket takes the steps that it would take alone, and rests when it has converged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.types import Array


def brent_many(
    function: Callable[[Any], Any], a: Array, b: Array, xtol: float, rtol: float, maxiter: int, disp: bool
) -> tuple[Any, ...]:
    """Roots of an element-wise function, whether they are roots, status, iterations and evaluations.

    Raises ValueError where a bracket has no change of sign, and with `disp` RuntimeError where one does not
    converge.
    """
    with np.errstate(all="ignore"):
        before, now = np.array(a, float), np.array(b, float)
        f_before, f_now = np.array(function(before)), np.array(function(now))
        if np.any(np.isnan(f_before) | np.isnan(f_now)):
            raise ValueError("The function value at x is NaN; solver cannot continue.")
        if np.any(np.sign(f_before) * np.sign(f_now) > 0.0):
            raise ValueError("f(a) and f(b) must have different signs")
        return narrowed(function, before, f_before, now, f_now, xtol, rtol, maxiter, disp)


def narrowed(
    function: Callable[[Any], Any],
    before: Array,
    f_before: Array,
    now: Array,
    f_now: Array,
    xtol: float,
    rtol: float,
    maxiter: int,
    disp: bool,
) -> tuple[Any, ...]:
    """What `brent_many` finds, from brackets with a change of sign."""
    start = f_before == 0.0
    now, f_now = np.where(start, before, now), np.where(start, 0.0, f_now)
    other: Any = before
    f_other: Any = f_before
    step = last = now - before
    size = now.shape
    iterations, done = np.zeros(size, np.int64), np.zeros(size, bool)
    for _ in range(maxiter):
        crossed = (f_before != 0.0) & (f_now != 0.0) & (np.sign(f_before) != np.sign(f_now))
        other, f_other = np.where(crossed, before, other), np.where(crossed, f_before, f_other)
        step, last = (np.where(crossed, now - before, s) for s in (step, last))
        better = abs(f_other) < abs(f_now)
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
        delta = (xtol + rtol * abs(now)) / 2
        half = (other - now) / 2
        done = (f_now == 0.0) | (abs(half) < delta)
        if np.all(done):
            yes = np.ones(size, bool)
            return now, yes, yes, np.zeros(size, np.int64), iterations, iterations + 2
        iterations = iterations + ~done
        step, last = next_steps(before, f_before, now, f_now, other, f_other, step, last, delta, half)
        moved = now + np.where(abs(step) > delta, step, np.where(half > 0.0, delta, -delta))
        moved = np.where(done, now, moved)
        before, f_before = np.where(done, before, now), np.where(done, f_before, f_now)
        now, f_now = moved, np.array(function(moved))
    if disp:
        raise RuntimeError(f"Failed to converge after {maxiter} iterations.")
    return now, done, done, np.zeros(size, np.int64), iterations, iterations + 2


def next_steps(
    before: Array,
    f_before: Array,
    now: Array,
    f_now: Array,
    other: Array,
    f_other: Array,
    step: Array,
    last: Array,
    delta: Array,
    half: Array,
) -> tuple[Any, Any]:
    """The next step, by secant or inverse quadratic extrapolation where that is short, and the one before."""
    secant = -f_now * (now - before) / (f_now - f_before)
    slope_before = (f_before - f_now) / (before - now)
    slope_other = (f_other - f_now) / (other - now)
    quadratic = -f_now * (f_other * slope_other - f_before * slope_before)
    quadratic = quadratic / (slope_other * slope_before * (f_other - f_before))
    tried = np.where(before == other, secant, quadratic)
    promising = (abs(last) > delta) & (abs(f_now) < abs(f_before))
    short = promising & (2 * abs(tried) < np.minimum(abs(last), 3 * abs(half) - delta))
    return np.where(short, tried, half), np.where(short, step, half)
