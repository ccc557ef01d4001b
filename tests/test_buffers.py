"""Evaluation writes over arrays that nobody reads any more, and over no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.ir.evaluate.runner import Lifetimes

fnp = fg.numpy
X = np.arange(1.0, 7.0)


def overwritten(f: Callable[..., Any]) -> int:
    """How many equations of the recorded Program reuse the memory of their input."""
    return len(Lifetimes(fg.make_program(f)(X)).overwritten)


def check(f: Callable[[Any], Any], wanted: Any) -> None:
    """The Program gives what is wanted, walked and run as source, and keeps its input."""
    program = fg.make_program(f)(X)
    for _ in range(4):
        kept = X.copy()
        found = program(X)
        np.testing.assert_array_equal(X, kept)
        for x, y in zip(found, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
            np.testing.assert_array_equal(x, y)


def chain(x: Any) -> Any:
    y = x * 2.0
    y[0] = 5.0
    y[1:3] = x[:2]
    y[[4, 4]] += 1.0
    return y


def test_a_chain_of_writes_uses_one_array() -> None:
    assert overwritten(chain) == 3
    check(chain, np.array([5.0, 1.0, 2.0, 8.0, 11.0, 12.0]))


def test_an_input_is_not_written_over() -> None:
    def f(x: Any) -> Any:
        x[0] = 5.0
        return x

    assert overwritten(f) == 0
    check(f, np.array([5.0, 2.0, 3.0, 4.0, 5.0, 6.0]))


def test_a_captured_array_is_not_written_over() -> None:
    table = np.ones(6)

    def f(x: Any) -> Any:
        y = fnp.asarray(table)
        y[0] = x[0] + 1.0
        return y

    assert overwritten(f) == 0
    check(f, np.array([2.0, 1.0, 1.0, 1.0, 1.0, 1.0]))


def test_what_is_read_later_is_not_written_over() -> None:
    def f(x: Any) -> Any:
        y = x * 2.0
        z = y.at[0].set(5.0)
        return y + z

    assert overwritten(f) == 0
    check(f, np.array([7.0, 8.0, 12.0, 16.0, 20.0, 24.0]))


def test_what_is_returned_is_not_written_over() -> None:
    def f(x: Any) -> Any:
        y = x * 2.0
        return y, y.at[0].set(5.0)

    assert overwritten(f) == 0
    check(f, (2 * X, np.array([5.0, 4.0, 6.0, 8.0, 10.0, 12.0])))


@pytest.mark.parametrize(
    "view", [lambda y: y[:2], lambda y: y.reshape(2, 3)[0, :2], lambda y: np.flip(np.flip(y))[:2]]
)
def test_an_array_with_a_view_that_is_read_later_is_not_written_over(view: Callable[[Any], Any]) -> None:
    def f(x: Any) -> Any:
        y = x * 2.0
        part = view(y)
        z = y.at[0].set(5.0)
        return z[:2] * part

    assert overwritten(f) == 0
    check(f, np.array([10.0, 16.0]))


def test_a_view_that_was_read_before_does_not_matter() -> None:
    def f(x: Any) -> Any:
        y = x * 2.0
        total = np.sum(y[:2])
        y[0] = total
        return y

    assert overwritten(f) == 1
    check(f, np.array([6.0, 4.0, 6.0, 8.0, 10.0, 12.0]))


def test_a_part_of_itself() -> None:
    def f(x: Any) -> Any:
        y = x * 2.0
        y[1:] = y[:-1]
        return y

    check(f, np.array([2.0, 2.0, 4.0, 6.0, 8.0, 10.0]))


def test_results_share_no_memory() -> None:
    table = np.ones(4)

    def f(x: Any) -> Any:
        y = x * 2.0
        return y[:4], y[2:], y, x[1:], fnp.asarray(table)[:2], y.reshape(2, 3)

    program = fg.make_program(f)(X)
    for _ in range(4):
        results = program(X)
        for x in results:
            x[...] = -1.0
        np.testing.assert_array_equal(X, np.arange(1.0, 7.0))
        np.testing.assert_array_equal(table, 1.0)
        for x, y in zip(program(X), f_by_numpy(), strict=True):
            np.testing.assert_array_equal(x, y)
        for k, x in enumerate(results):
            assert not any(np.may_share_memory(x, y) for y in results[k + 1 :])


def f_by_numpy() -> tuple[Any, ...]:
    y = X * 2.0
    return y[:4], y[2:], y, X[1:], np.ones(2), y.reshape(2, 3)


def test_gradient_of_reads_uses_one_array() -> None:
    def f(x: Any) -> Any:
        return x[0] * x[1] + np.sum(x[2:]) + np.sum(x[[0, 0, 3]] ** 2)

    program = fg.make_program(fg.grad(f))(X)
    names = [e.primitive.name for e in program.equations]
    assert names.count("pad") + names.count("broadcast") >= 1
    lifetimes = Lifetimes(program)
    adding = [k for k, name in enumerate(names) if name in ("add_to_slice", "scatter")]
    assert lifetimes.overwritten.issuperset(adding[1:])
    for _ in range(3):
        np.testing.assert_allclose(program(X)[0], [6.0, 1.0, 1.0, 9.0, 1.0, 1.0])
