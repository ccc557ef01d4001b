"""Loops over single numbers carry their derivatives with them: no tape, and the numbers of the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.testing import check_grads

NUMBERS = np.array([0.5, 1.3, 2.0, 7.5, 30.0])
"""None of them is 1, from which no loop makes a trip."""


def cube_root(a: Any) -> Any:
    """By Newton's method, from a number that depends on `a`, or does not."""
    return fg.while_loop(
        lambda x: abs(x * x * x - a) > 1e-12, lambda x: x - (x * x * x - a) / (3.0 * x * x), 1.0 + 0.0 * a
    )


def fixed_point(a: Any) -> Any:
    """The number that is its own cosine, times `a`."""
    return fg.while_loop(lambda x: abs(np.cos(x) * a - x) > 1e-13, lambda x: np.cos(x) * a, 0.3)


def secant(a: Any) -> Any:
    """The square root by secants: two numbers are carried."""

    def step(pair: Any) -> Any:
        x, y = pair
        return y, y - (y * y - a) * (y - x) / (y * y - x * x + 1e-300)

    return fg.while_loop(lambda pair: abs(pair[1] - pair[0]) > 1e-9, step, (a, 0.5 * (1.0 + a)))[1]


def counted(a: Any) -> Any:
    """A logistic map, whose trips are counted by a number that is no float."""
    return fg.while_loop(lambda c: c[0] < 9, lambda c: (c[0] + 1, a * c[1] * (1.0 - c[1])), (0, 0.4 * a))[1]


LOOPS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "cube_root": (cube_root, NUMBERS),
    "fixed_point": (fixed_point, np.array([0.2, 0.5, 0.9])),
    "secant": (secant, np.array([1.5, 2.0, 7.5])),
    "counted": (counted, np.array([0.5, 1.5, 1.9])),
}


def loops_in(f: Callable[..., Any], *args: Any) -> list[str]:
    """The loops of the Program of a derivative."""
    return [e.primitive.name for e in fg.make_program(f)(*args) if e.primitive.name.startswith("while")]


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("jitted", [False, True], ids=["evaluated", "native"])
def test_derivatives_of_any_order_and_batches_of_them(name: str, jitted: bool) -> None:
    f, numbers = LOOPS[name]
    one, two = fg.grad(f), fg.grad(fg.grad(f))
    both = (fg.vmap(one), fg.grad(lambda x: np.sum(fg.vmap(f)(x))))
    for found in both:
        got = (fg.jit(found) if jitted else found)(numbers)
        np.testing.assert_allclose(got, [fg.jvp(f, (x,), (1.0,))[1] for x in numbers], rtol=1e-9)
    got = (fg.jit(fg.vmap(two)) if jitted else fg.vmap(two))(numbers)
    step = 1e-5
    expected = [(one(x + step) - one(x - step)) / (2 * step) for x in numbers]
    np.testing.assert_allclose(got, expected, rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize("name", LOOPS)
def test_no_tape_is_kept(name: str) -> None:
    f, numbers = LOOPS[name]
    assert loops_in(fg.grad(f), 1.5) == ["while_loop"]
    assert loops_in(fg.grad(lambda x: np.sum(fg.vmap(f)(x))), numbers) == ["while_loop"]


def test_a_number_that_all_examples_share() -> None:
    def total(x: Any, a: Any) -> Any:
        step = lambda y: 0.5 * (y + a / y)  # noqa: E731 - a body as people write it
        return np.sum(fg.vmap(lambda y: fg.while_loop(lambda y: abs(y * y - a) > 0.05, step, y))(x))

    starts = np.array([0.7, 1.1, 5.0])
    assert loops_in(fg.grad(total, (0, 1)), starts, 2.0) == ["while_loop"]
    check_grads(total, (starts, 2.0), order=2)


def test_many_numbers_go_by_a_tape() -> None:
    def f(a: Any, b: Any, c: Any) -> Any:
        return fg.while_loop(lambda x: x < 50.0, lambda x: a * x * x + b * x + c, 1.0)

    assert loops_in(fg.grad(f, (0, 1, 2)), 0.3, 1.1, 0.2) == ["while_sweeps"]
    check_grads(f, (0.3, 1.1, 0.2), order=1)


def test_a_zero_that_a_selection_makes_stays_one_beside_an_infinite_derivative() -> None:
    def f(a: Any) -> Any:
        step = lambda c: (c[0] + 1, np.sqrt(np.where(c[1] > 0.0, c[1], 0.0)) + 1.0)  # noqa: E731
        return fg.while_loop(lambda c: c[0] < 1, step, (0, a))[1]

    for g in (fg.grad(f), fg.jit(fg.grad(f))):
        assert g(-1.0) == 0.0
        np.testing.assert_allclose(g(4.0), 0.25)


def test_single_precision_and_numbers_that_are_never_reached() -> None:
    numbers = NUMBERS.astype(np.float32)

    def root(a: Any) -> Any:
        step = lambda c: (c[0] + 1, c[1] - (c[1] * c[1] - a) / (2.0 * c[1]))  # noqa: E731
        return fg.while_loop(lambda c: c[0] < 12, step, (0, a))[1]

    got = fg.jit(fg.vmap(fg.grad(root)))(numbers)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, 0.5 / np.sqrt(numbers), rtol=1e-5)
    undefined = fg.jit(fg.vmap(fg.grad(root)))(np.array([np.nan, 4.0]))
    assert np.isnan(undefined[0])
    np.testing.assert_allclose(undefined[1], 0.25)


def test_a_loop_within_a_loop() -> None:
    def total(x: Any) -> Any:
        return fg.fori_loop(0, x.shape[0], lambda k, s: s + np.sin(cube_root(x[k])), 0.0)

    expected = np.cos(np.cbrt(NUMBERS)) / (3.0 * np.cbrt(NUMBERS) ** 2)
    for g in (fg.grad(total), fg.jit(fg.grad(total))):
        np.testing.assert_allclose(g(NUMBERS), expected, rtol=1e-8)
