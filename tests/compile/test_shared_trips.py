"""Loops of the user's that threads share: as evaluated, and the same for any number of threads."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from lawbook.numerics import assert_close

import funcgrad as fg
from funcgrad.compile.lower.trips import shared as shared_trips
from funcgrad.compile.lower.trips.independent import Kept, kept_by_trips
from funcgrad.compile.runtime.threads import set_threads, threads
from funcgrad.ir.evaluate.runner import evaluate_by_numpy

Function = Callable[..., Any]


@pytest.fixture(autouse=True)
def short_work_is_shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Divide everything that can be, between four threads."""
    monkeypatch.setenv("FUNCGRAD_CACHE", "0")  # what was made of a Program otherwise is not this
    monkeypatch.setattr(shared_trips, "SHORTEST", 0.0)
    before = threads()
    set_threads(4)
    yield
    set_threads(before)


def assert_shared(f: Function, *args: Any, shared: bool = True) -> None:
    """Compiled `f` shares its trips, equals what is evaluated, and is the same for any number of threads."""
    made = fg.jit(f).specialized(*args)
    leaves = fg.tree.leaves((args, {}))
    executable = made.executable
    assert [reason.words for reason in executable.reasons] == []
    assert any("parallel(trips" in kernel.source for kernel in executable.kernels) == shared, "\n".join(
        [kernel.source for kernel in executable.kernels]
    )
    wanted = evaluate_by_numpy(made.program, leaves)
    found = executable.run(*leaves)
    for x, y in zip(found, wanted, strict=True):
        assert_close(x, y)
    for count in (1, 2, 7):
        set_threads(count)
        for x, y in zip(executable.run(*leaves), found, strict=True):
            np.testing.assert_array_equal(x, y)
    set_threads(4)


def wave(*shape: int) -> np.ndarray:
    return (np.cos(np.arange(float(np.prod(shape)))) + 0.1).reshape(shape)


def energy_of_pairs(x: Any, softening: float) -> Any:
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if i != j:
                a, b = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1]
                s = 1.0 / (a * a + b * b + softening)
                total += s * s - s
    return total


def end_of_paths(parameters: Any, normals: Any) -> Any:
    total = 0.0
    for p in range(len(normals)):
        s = 1.0
        for t in range(normals.shape[1]):
            s *= math.exp(parameters[0] + parameters[1] * normals[p, t])
        total -= s
    return total


def states_of_each(x: Any, starts: Any) -> Any:
    """Each trip carries a vector of its own through an inner loop."""
    found = np.zeros(len(starts))
    for p in range(len(starts)):
        state = x * starts[p]
        for _ in range(20):
            state = np.sin(state) + 0.1 * x
        found[p] = np.sum(state)
    return found


def sum_of_states(x: Any, starts: Any) -> Any:
    return np.sum(states_of_each(x, starts) ** 2)


def sum_of_vectors(x: Any, starts: Any) -> Any:
    """Each trip has vectors of its own."""
    total = 0.0
    for p in range(len(starts)):
        state = x * starts[p]
        for _ in range(20):
            state = np.sin(state) + 0.1 * x
        total += np.sum(state)
    return total


def counted(x: Any) -> Any:
    """A whole number and two sums in one loop."""
    n, low, high = 0, 0.0, 0.0
    for k in range(len(x)):
        if x[k] > 0.3:
            high += x[k] ** 3
            n += 1
        else:
            low += np.exp(x[k]) * np.sin(x[k])
    return high * low, n


SHARED = {
    "gradient of pairs": (fg.grad(energy_of_pairs), (wave(70, 2), 0.5)),
    "value and gradient of pairs": (fg.value_and_grad(energy_of_pairs), (wave(64, 2), 0.5)),
    "paths": (end_of_paths, (np.array([0.01, 0.2]), wave(50, 40))),
    "gradient of paths": (fg.grad(end_of_paths), (np.array([0.01, 0.2]), wave(50, 40))),
    "vectors of each trip": (sum_of_vectors, (wave(8), wave(64))),
    "two sums and a count": (counted, (wave(2000),)),
}


@pytest.mark.parametrize("name", SHARED)
def test_trips_are_shared(name: str) -> None:
    f, args = SHARED[name]
    assert_shared(f, *args)


def recurrence(x: Any, y: Any) -> Any:
    s = x
    for k in range(len(y)):
        s = 0.5 * s + np.sin(y[k])
    return s


def sum_that_is_read(x: Any) -> Any:
    """What a trip adds depends on the sum so far."""
    total = 0.0
    for k in range(len(x)):
        total += x[k] * np.cos(total)
    return total


def sum_that_is_reset(x: Any) -> Any:
    total = 0.0
    for k in range(len(x)):
        total = 0.0 if x[k] > 0.9 else total + np.exp(x[k])
    return total


def written_in_turn(x: Any) -> Any:
    """Each trip reads an element that the one before has written."""
    y = x.copy()
    for k in range(1, len(y)):
        y[k] = y[k] + 0.5 * np.sin(y[k - 1])
    return y


def largest_sum(x: Any) -> Any:
    """Another part of the carry reads the sum."""
    total, top = 0.0, -10.0
    for k in range(len(x)):
        total += x[k]
        top = np.maximum(top, total)
    return top


NOT_SHARED = {
    "recurrence": (recurrence, (0.3, wave(2000))),
    "a sum that is read": (sum_that_is_read, (wave(2000),)),
    "a sum that is reset": (sum_that_is_reset, (wave(2000),)),
    "elements in turn": (written_in_turn, (wave(2000),)),
    "elements that are set": (states_of_each, (wave(8), wave(64))),
    "whole arrays that are added to": (fg.grad(sum_of_states), (wave(8), wave(64))),
    "the largest sum": (largest_sum, (wave(2000),)),
}


@pytest.mark.parametrize("name", NOT_SHARED)
def test_trips_that_wait_for_each_other_are_not(name: str) -> None:
    f, args = NOT_SHARED[name]
    assert_shared(f, *args, shared=False)  # of the last two it is not seen that they do not


def test_what_trips_keep() -> None:
    def body(carry: Any, x: Any) -> Any:
        same, total, placed = carry
        return (same, total - same * x, fg.numpy.asarray(placed).at[0].add(x)), total

    step = fg.make_program(lambda c, x: body(c, x)[0])((1.0, 2.0, np.zeros(3)), 0.5)
    assert kept_by_trips(step, 3) == [Kept.SAME, Kept.ADDED, Kept.ADDED]
    read = fg.make_program(body)((1.0, 2.0, np.zeros(3)), 0.5)
    assert kept_by_trips(read, 3) is None
