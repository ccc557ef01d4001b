"""Sums that a loop adds to one element are numbers while it runs: with conditions, borders and errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.passes.rewriting.expand import expand
from funcgrad.ir.check import check_program
from funcgrad.ir.evaluate.runner import evaluate_by_numpy

X = np.cos(np.arange(24.0)).reshape(8, 3)


def pairs(x: Any) -> Any:
    total = 0.0
    for i in range(8):
        for j in range(8):
            if i != j:
                r = (x[i, 0] - x[j, 0]) ** 2 + (x[i, 1] - x[j, 1]) ** 2 + 0.5
                total += 1.0 / (r * r)
    return total


def neighbours_within_the_border(x: Any) -> Any:
    """The element after the last one is never asked for."""
    total = 0.0
    for i in range(8):
        for j in range(8):
            if i + 1 < 8:
                total += x[i + 1, 0] * x[j, 1] * x[i, 2]
    return total


def branches_in_branches(x: Any) -> Any:
    total = 0.0
    for i in range(8):
        for j in range(8):
            if x[j, 0] > 0.0:
                if i > j:
                    total += np.sin(x[i, 0] * x[j, 1])
                else:
                    total += x[i, 1] * x[j, 0] + x[i, 0] * x[j, 2]
            else:
                total += x[i, 0] * x[j, 0] * x[7, 2]
    return total


def in_every_trip(x: Any) -> Any:
    total = 0.0
    for i in range(8):
        for j in range(8):
            total += np.tanh(x[i, 0] * x[j, 1]) * x[-1, 0]
    return total


def read_between(x: Any) -> Any:
    """What is added to is read by later trips: it stays where it is."""
    v = x[:, 0] * 1.0
    for i in range(8):
        for j in range(8):
            v[i] += np.sin(v[j] * x[j, 1])
    return np.sum(v * x[:, 2])


def of_smaller_numbers(x: Any) -> Any:
    return pairs(x.astype(np.float32))


FUNCTIONS = (
    *(pairs, neighbours_within_the_border, branches_in_branches, in_every_trip, read_between),
    of_smaller_numbers,
)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_evaluated(f: Callable[..., Any]) -> None:
    program = fg.jit(fg.grad(f)).program(X)
    (wanted,) = evaluate_by_numpy(program, [X])
    rtol = 1e-4 if f is of_smaller_numbers else 1e-12
    np.testing.assert_allclose(fg.jit(fg.grad(f))(X), wanted, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(fg.grad(f)(X), wanted, rtol=rtol, atol=rtol)
    check_program(expand(program))


def test_one_addition_after_the_inner_loop() -> None:
    text = fg.jit(fg.grad(pairs)).kernel_source(X)
    depths = [len(found) for found in re.findall(r"^( +)\w+\[index\w+\] = sum", text, re.MULTILINE)]
    assert depths == [16, 16, 12, 12]


def test_elements_that_only_wrong_trips_ask_for() -> None:
    def f(x: Any, last: Any) -> Any:
        total = 0.0
        for i in range(8):
            for j in range(8):
                if i < last:
                    total += x[i + 5] * x[j]
        return total

    x = np.arange(8.0) + 1.0
    gradient = fg.jit(fg.grad(f))
    np.testing.assert_allclose(gradient(x, 3), fg.grad(f)(x, 3))
    with pytest.raises(IndexError, match="8 is out of bounds"):
        gradient(x, 4)
