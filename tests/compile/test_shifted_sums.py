"""Parts that overlap in zeros are added up at once: the same numbers, one loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.passes.arranging.dividing import nests_of
from funcgrad.compile.passes.kernel import make_kernel
from funcgrad.compile.passes.rewriting.expand import expand
from funcgrad.compile.passes.rewriting.shifted_sums import shifted_sums
from funcgrad.transforms.simplify import simplify_program

LINE = np.cos(np.arange(5000.0))
GRID = np.cos(np.arange(6000.0)).reshape(60, 100)


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def bending(x: Any) -> Any:
    """Three parts, each at another place."""
    return np.sum((x[2:] - 2.0 * x[1:-1] + x[:-2]) ** 2)


def total_variation(x: Any) -> Any:
    """Along both axes; what goes along one is a part of the other's sum."""
    return np.sum((x[1:] - x[:-1]) ** 2) + np.sum((x[:, 1:] - x[:, :-1]) ** 2)


def far_apart(x: Any) -> Any:
    return np.sum(x[100:] * x[:-100])


def costly(x: Any) -> Any:
    return np.sum(np.exp(np.sin(x[1:] * x[:-1])))


def short_axis(x: Any) -> Any:
    """The parts meet in no place of the axis."""
    y = x[:, :2] * 2.0 + x[:, 3:]
    return np.sum(y**3)


def rows(x: Any) -> Any:
    """Sums that are not over everything."""
    return np.sum(np.sum((x[3:] - x[:-3]) ** 2, 0) ** 2)


FUNCTIONS = [(f, LINE) for f in (rosenbrock, bending, far_apart, costly)]
FUNCTIONS += [(f, GRID) for f in (total_variation, rows, bending)]
FUNCTIONS += [(short_axis, GRID.reshape(1200, 5))]


@pytest.mark.parametrize(("f", "x"), FUNCTIONS)
def test_the_numbers_stay_what_they_were(f: Callable[[Any], Any], x: Any) -> None:
    program = simplify_program(expand(fg.make_program(fg.value_and_grad(f))(x)))
    value, gradient = shifted_sums(program)(x)
    expected, slope = program(x)
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    np.testing.assert_array_equal(gradient, slope)


@pytest.mark.parametrize(("f", "x", "loops"), [(rosenbrock, LINE, 1), (bending, LINE, 1), (costly, LINE, 2)])
def test_one_loop_where_that_is_less_work(f: Callable[[Any], Any], x: Any, loops: int) -> None:
    kernel = make_kernel(simplify_program(expand(fg.make_program(fg.value_and_grad(f))(x))))
    long = [nest for step in kernel.steps for nest in nests_of(step) if np.prod(nest.shape) > 1000]
    assert len(long) == loops


def test_compiled() -> None:
    x = LINE.copy()
    value, gradient = fg.jit(fg.value_and_grad(rosenbrock))(x)
    expected, slope = fg.value_and_grad(rosenbrock)(x)
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    np.testing.assert_allclose(gradient, slope, rtol=1e-12, atol=1e-10)
    assert np.array_equal(x, LINE)
