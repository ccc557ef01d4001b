"""Plain Python under `jit`: the values and gradients of Python itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg

from . import (
    programs,
    programs_as_they_stand,
    programs_of_numerics,
    programs_of_sweeps,
    programs_with_classes,
    programs_with_effects,
    programs_with_state,
)

CASES = [
    *programs.CASES,
    *programs_with_state.CASES,
    *programs_with_effects.CASES,
    *programs_as_they_stand.CASES,
    *programs_of_numerics.CASES,
    *programs_of_sweeps.CASES,
    *programs_with_classes.CASES,
]
NAMES = [getattr(case[0], "__name__", type(case[0]).__name__) for case in CASES]
Case = tuple[Callable[..., Any], tuple[Any, ...], int | None]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
@pytest.mark.at_length
def test_values_are_pythons(case: Case) -> None:
    function, args, _ = case
    single = any(getattr(x, "dtype", None) == np.float32 for x in args)
    np.testing.assert_allclose(fg.jit(function)(*args), function(*args), rtol=1e-5 if single else 1e-9)


@pytest.mark.at_length
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_gradients_are_those_of_finite_differences(case: Case) -> None:
    function, args, argnum = case
    if argnum is None:
        return
    found = fg.jit(fg.grad(function, argnum))(*args)
    np.testing.assert_allclose(fg.grad(fg.jit(function), argnum)(*args), found, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fg.grad(function, argnum)(*args), found, rtol=1e-9, atol=1e-12)
    direction = np.random.default_rng(1).normal(size=np.shape(args[argnum]))

    def along(step: float) -> Any:
        moved = [x + step * direction if k == argnum else x for k, x in enumerate(args)]
        return function(*moved)

    difference = (along(1e-6) - along(-1e-6)) / 2e-6
    np.testing.assert_allclose(np.sum(found * direction), difference, rtol=1e-4, atol=1e-6)


def test_a_loop_that_makes_objects_stays_a_loop() -> None:
    program = fg.jit(programs_with_state.objects_in_a_loop).program(np.ones(3))
    assert len(program.equations) < 10


def test_functions_of_math_have_derivatives() -> None:
    """Un-jitted they are refused: Python runs them itself, and they can only see a number."""
    x = programs_as_they_stand.X
    found = fg.jit(fg.grad(programs_as_they_stand.with_math))(x)
    assert fg.jit(programs_as_they_stand.with_math)(x) == pytest.approx(programs_as_they_stand.with_math(x))
    for k in (0, 7):
        step = 1e-6 * (np.arange(len(x)) == k)
        ends = programs_as_they_stand.with_math(x + step), programs_as_they_stand.with_math(x - step)
        assert found[k] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)


@pytest.mark.parametrize("way", [lambda f: f, fg.jit])
def test_derivatives_of_a_bisection_are_those_of_the_path_that_it_took(way: Callable[..., Any]) -> None:
    """A quotient within a piece of it agrees, to the second order; over many pieces it is the root's."""

    def bisected(a: Any, trips: int) -> Any:
        low, high = 0.0 * a, 4.0 + a * a
        for _ in range(trips):
            middle = 0.5 * (low + high)
            if middle**3 + a * middle - 5.0 > 0:
                high = middle
            else:
                low = middle
        return 0.5 * (low + high)

    slope = way(fg.grad(bisected)), way(fg.grad(fg.grad(bisected)))
    step = 1e-7
    within = (bisected(1.3 + step, 10) - bisected(1.3 - step, 10)) / (2 * step)
    assert slope[0](1.3, 10) == pytest.approx(within, rel=1e-6)
    twice = (slope[0](1.3 + step, 10) - slope[0](1.3 - step, 10)) / (2 * step)
    assert slope[1](1.3, 10) == pytest.approx(twice, rel=1e-6)
    across = (bisected(1.3 + step, 50) - bisected(1.3 - step, 50)) / (2 * step)
    root = fg.grad(lambda a: fg.scipy.optimize.brentq(lambda t: t**3 + a * t - 5.0, 0.0, 4.0))(1.3)
    assert across == pytest.approx(root, rel=1e-5)


def test_sums_and_lengths_of_what_a_traced_condition_selects() -> None:
    def selected(x: Any) -> Any:
        several = sum([v * v for v in x if v > 0]) + sum(v for v in x if v < 0)
        return several / len([v for v in x if v > 0.5]) + sum([x[i] for i in range(4) if x[i] > 1.0])

    x = np.random.default_rng(0).normal(size=40) + 0.5
    assert fg.jit(selected)(x) == pytest.approx(selected(x), rel=1e-12)
    np.testing.assert_allclose(fg.jit(fg.grad(selected))(x), fg.grad(selected)(x), rtol=1e-12)
