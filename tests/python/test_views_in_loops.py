"""Views, rows and attributes that loops write in place are written as in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg


class Weights:
    def __init__(self, w: Any) -> None:
        self.w = w


def attribute_in_place(x: Any) -> Any:
    o = Weights(np.zeros(3))
    for i in range(len(x)):
        o.w += x[i]
        o.w[0] *= 0.5
    return o.w


def attribute_in_branches(x: Any) -> Any:
    o = Weights(np.zeros(3))
    for i in range(len(x)):
        if x[i] > 0:
            o.w += x[i]
        else:
            o.w = o.w * 0.5
    return o.w


def entry_of_a_dict(x: Any) -> Any:
    d = {"w": np.zeros(3)}
    for i in range(len(x)):
        d["w"] += x[i]
        d["w"][1] = 2.0
    return d["w"]


def two_names_of_an_array(x: Any) -> Any:
    y = np.zeros(3)
    z = y
    for i in range(len(x)):
        y += x[i]
    return z + y


def row_by_a_view(x: Any) -> Any:
    u = np.zeros((40, 3))
    for i in range(len(x)):
        row = u[i]
        row += x[i]
        u[i, 2] = 7.0
        row[1] = row[2] * 2
    return u[:40:7]


def rows_gone_through(x: Any) -> Any:
    u = np.zeros((40, 3))
    for row in u:
        row += x[:3]  # noqa: PLW2901 - in place is what is tested
        row[1] *= 2
    return u[:40:7]


FUNCTIONS = [
    attribute_in_place,
    attribute_in_branches,
    entry_of_a_dict,
    two_names_of_an_array,
    row_by_a_view,
    rows_gone_through,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("unroll", [0, 40, 10_000])
def test_what_is_written_is_what_python_writes(function: Callable[..., Any], unroll: int) -> None:
    x = np.random.default_rng(0).normal(size=40)
    np.testing.assert_allclose(fg.jit(function, unroll=unroll)(x), function(x), rtol=1e-12)


def table_of_lists(x: Any) -> Any:
    table = [[0.0] * 3 for _ in range(12)]
    for t in range(1, 12):
        for s in range(3):
            table[t][s] = max(table[t - 1][r] + x[r + s] for r in range(3))
    return sum(table[-1])


def rows_of_a_list(x: Any) -> Any:
    rows = [np.zeros(3) for _ in range(40)]
    for t in range(1, 40):
        rows[t][0] = rows[t - 1][0] * 0.9 + x[t]
        rows[t] += 0.5 * rows[t - 1]
    return rows[-1]


def read_and_then_written(x: Any) -> Any:
    rows = [np.ones(3) for _ in range(3)]
    row = rows[np.argmin(x[:3])]
    for k in range(3):
        rows[k][1] = 7 * x[k]
    return row[1]


@pytest.mark.parametrize("function", [table_of_lists, rows_of_a_list, read_and_then_written])
def test_elements_of_lists_are_the_lists_own(function: Callable[..., Any]) -> None:
    """An element at a traced index is no copy, into which writes were lost."""
    x = np.random.default_rng(0).normal(size=40)
    np.testing.assert_allclose(fg.jit(function)(x), function(x), rtol=1e-12)


CAPTURED = np.ones((3, 3))


def test_a_write_into_an_array_of_the_callers_is_refused() -> None:
    def into_a_captured_array(x: Any) -> Any:
        CAPTURED[np.argmin(x)][1] = 5 * x[0]
        return CAPTURED[0, 1]

    with pytest.raises(fg.errors.TracedBranchError, match=r"was read at a traced index(.|\n)*np\.array"):
        fg.jit(into_a_captured_array)(np.array([1.0, 2.0, 3.0]))


def adding_to_the_next(x: Any) -> Any:
    a = x * 1.0
    for i, v in enumerate(a[:-1]):
        a[i + 1] += np.sin(v)
    return a


def pairs_of_what_is_scaled(x: Any) -> Any:
    a, total = x * 1.0, 0.0
    for v, w in zip(a, a[1:], strict=False):  # noqa: RUF007 - calls of zip are what is tested
        a[1:] *= np.cos(w)
        total += v
    return total


def elements_of_what_a_view_writes(x: Any) -> Any:
    a, total = x.reshape(6, 2).T * 1.0, 0.0
    for (_, j), v in np.ndenumerate(a):
        total = total + v * v
        a[1, j] += np.sin(v)
    return total


def rows_of_an_attribute(x: Any) -> Any:
    o, total = Weights(x * 1.0), 0.0
    part = o.w[5:]
    for v in o.w:
        total = total + v
        part *= 1.2
        part = o.w[6:]
    return total


@pytest.mark.parametrize(
    "function",
    [
        adding_to_the_next,
        pairs_of_what_is_scaled,
        elements_of_what_a_view_writes,
        rows_of_an_attribute,
    ],
)
def test_elements_are_read_when_a_loop_comes_to_them(function: Callable[..., Any]) -> None:
    """What a loop writes into the array that it goes over, its later trips see."""
    x = np.random.default_rng(0).normal(size=12)
    for way in (lambda f: fg.jit(f, unroll=0), lambda f: lambda x: fg.make_program(f)(x)(x)[0]):
        np.testing.assert_allclose(way(function)(x), function(x), rtol=1e-12)
    fg.testing.check_grads(function, (x,), modes=["rev"])


def test_an_iterator_reads_elements_when_it_is_asked() -> None:
    def first_and_next(x: Any) -> Any:
        a = x * 1.0
        elements = iter(a)
        first = next(elements)
        a[1] = x[2] * 2.0
        return first * next(elements)

    np.testing.assert_allclose(fg.grad(first_and_next)(np.array([2.0, 3.0, 5.0])), [10.0, 0.0, 4.0])


def replaced_in_a_branch(w: Any, s: Any) -> Any:
    """Which array the loop writes the condition decides; only one of the two has another name."""
    if s > 0.2:
        w = np.tanh(w)
    for j in range(30):
        w[j % 5] += s * w[(j + 1) % 5]
    return w


def replaced_before_a_branch(w: Any, s: Any) -> Any:
    """The same, written in branches."""
    if s > 0.2:
        w = np.tanh(w)
    if w[0] > 0.0:
        w[3] += s
    else:
        w[2] -= s
    return w


def replaced_in_every_trip(w: Any, s: Any) -> Any:
    """The same within a loop, by an array that has another name."""
    u = w * 2.0
    if s > 0.2:
        w = u
    for i in range(6):
        if w[0] > 0.0:
            w = np.sin(w)
        for j in range(i % 5):
            w[j] += s
        u[i % 5] += w[0]
    return w + u


@pytest.mark.parametrize("f", [replaced_in_a_branch, replaced_before_a_branch, replaced_in_every_trip])
def test_an_array_that_a_branch_has_replaced_is_written(f: Callable[..., Any]) -> None:
    w = np.array([0.4, -0.3, 0.9, 0.1, -0.8])
    compiled = fg.jit(f)
    for s in (0.3, 0.1):
        np.testing.assert_allclose(compiled(w.copy(), s), f(w.copy(), s), rtol=1e-12)
