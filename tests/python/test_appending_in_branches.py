"""Lists that a branch of a loop appends to: the loop is kept, and the list holds what it would in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg

Function = Callable[[Any], Any]
N = 40
FLAGS = [k % 4 == 1 for k in range(N)]


def assert_as_python(f: Function, x: Any) -> None:
    value, gradient = fg.jit(fg.value_and_grad(f))(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-12)
    direction = np.random.default_rng(1).normal(size=N)
    difference = (f(x + 1e-6 * direction) - f(x - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(gradient @ direction, difference, rtol=1e-5)


def every_third(x: Any) -> Any:
    saved, level = [], 0.0
    for k in range(N):
        level = 0.9 * level + x[k]
        if k % 3 == 0:
            saved.append(level)
    return np.sum(np.array(saved) ** 2)


def snapshots(x: Any) -> Any:
    u, saved, times = x[:3].copy(), [x[:3]], [0.0]
    for k in range(1, N):
        u[1:] += 0.1 * u[:-1]
        if k % 7 == 0 or k == N - 1:
            saved.append(u.copy())
            times.append(0.1 * k)
    return np.trapezoid(np.array(saved)[:, 2], np.array(times)) + len(saved)


def three_ways(x: Any) -> Any:
    a, b, c = [], [], []
    for k, v in enumerate(x):
        if k % 4 == 0:
            a.append(v**2)
        elif k % 4 == 1:
            b.append((k, 2 * v))
            c.append(v)
        else:
            if k % 3 == 0:
                c.append(v**3)
            a.append(v)
    return np.sum(np.array(a)) + sum(k * v for k, v in b) + sum(k * v for k, v in enumerate(c))


def passed_over(x: Any) -> Any:
    kept = []
    for k, v in enumerate(x):
        if not FLAGS[k]:
            continue
        kept.append(v * k)
    return np.sum(np.array(kept) ** 2)


def in_time(x: Any) -> Any:
    t, k, y, saved = 0.0, 0, x[0], []
    while t < 3.0:
        y = y + 0.03 * np.cos(y)
        t += 0.03
        k += 1
        if k % 10 == 0:
            saved.append(y)
    return np.sum(np.array(saved) ** 2)


def either(x: Any) -> Any:
    found = []
    for v in x:
        if v > 0.5:
            found.append(v**2)
        else:
            found.append(1 - v)
    return np.dot(found, np.arange(len(found)))


def pairs(x: Any) -> Any:
    found = []
    for i in range(9):
        for j in range(9):
            both = x[i] * x[j]
            if (i + j) % 3 == 0:
                found.append(both)
    return sum(v * k for k, v in enumerate(found))


def last_one_changed(x: Any) -> Any:
    u, saved = x[:3], []
    for k in range(N):
        u = u + 0.1 * np.sin(u)
        if k % 13 == 0:
            saved.append(u)
    u[0] = 5.0
    return np.sum(np.array(saved) ** 2)


@pytest.mark.parametrize(
    "f", [every_third, snapshots, three_ways, passed_over, in_time, either, pairs, last_one_changed]
)
def test_the_loop_is_kept(f: Function) -> None:
    x = np.random.default_rng(3).uniform(0.1, 1.0, N)
    assert_as_python(f, x)
    assert "a loop of" in str(fg.explain(fg.jit(f))(x))


def one_object(x: Any) -> Any:
    u, saved = x[:3].copy(), []
    for k in range(N):
        u += 0.1 * np.sin(u)
        if k % 13 == 0:
            saved.append(u)
    u[0] = 5.0
    return np.sum(np.array(saved) ** 2)


def changed_in_later_trips(x: Any) -> Any:
    rows, row = [], np.zeros(2)
    for k in range(N):
        if k % 6 == 0:
            row = np.array([x[k], x[k] ** 2])
            rows.append(row)
        row[0] = row[0] * 1.1
    return np.sum(np.array(rows) * np.arange(14.0).reshape(7, 2))


def read_again(x: Any) -> Any:
    found = [x[0]]
    for k in range(1, N):
        if k % 5 == 0:
            found.append(found[-1] * x[k])
    return found[-1] + found[2]


@pytest.mark.parametrize("f", [one_object, changed_in_later_trips, read_again])
def test_what_other_trips_change_or_read_is_as_in_python(f: Function) -> None:
    x = np.random.default_rng(4).uniform(0.5, 1.0, N)
    assert_as_python(f, x)


def test_conditions_on_traced_values_are_paths_still() -> None:
    def above(x: Any) -> Any:
        found = [0.0]
        for v in x:
            square = v**2
            if v > 0.5:
                found.append(square)
        return sum(found)

    f = fg.jit(fg.grad(above))
    for seed in range(2):
        x = np.random.default_rng(seed).uniform(0.0, 1.0, 6)
        np.testing.assert_allclose(f(x), np.where(x > 0.5, 2 * x, 0.0))


class Record:
    def __init__(self) -> None:
        self.kept: list[Any] = []
        self.same = self.kept
        self.levels = [0.0]
        self.count = 0

    def note(self, v: Any) -> None:
        self.count += 1
        self.levels.append(self.levels[-1] * 0.9 + v)
        if self.count % 5 == 0:
            self.kept.append(v)


def recorded_by_an_object(x: Any) -> Any:
    record = Record()
    for v in x:
        record.note(v**2)
    record.same.append(3.0)
    return sum(record.kept) + record.levels[-1] + len(record.kept)


def another_list_from_then_on(x: Any) -> Any:
    record, total = Record(), 0.0
    for v in x:
        record.kept.append(v * v)
        record.kept = [v]
        total += record.kept[0]
    return sum(record.same) + sum(record.kept) + total


def test_lists_in_attributes() -> None:
    x = np.random.default_rng(5).uniform(0.1, 1.0, N)
    assert_as_python(recorded_by_an_object, x)
    assert "a loop of" in str(fg.explain(fg.jit(recorded_by_an_object))(x))
    assert_as_python(another_list_from_then_on, x)


def test_which_elements_there_are_is_read_once() -> None:
    """What decides them is read as the length of the list is: when the function is recorded."""
    weights = np.where(np.arange(N) % 3 == 0, 0.0, np.arange(N) + 1.0)

    def by_position(x: Any) -> Any:
        kept = []
        for k in range(N):
            if weights[k] > 0.0:
                kept.append(weights[k] * x[k])  # noqa: PERF401 - the loop that is meant
        return np.sum(np.array(kept) ** 2)

    def by_rows(x: Any) -> Any:
        kept = []
        for v, weight in zip(x, weights, strict=True):
            if weight > 0.0:
                kept.append(weight * v)
        return np.sum(np.array(kept) ** 2)

    x = np.linspace(0.5, 1.5, N)
    jitted = [fg.jit(by_position), fg.jit(by_rows)]
    before = [f(x) for f in jitted]
    weights[:] = weights[::-1].copy()
    assert [f(x) for f in jitted] == before
