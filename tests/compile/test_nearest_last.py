"""Additions beside the element that a trip reads stand last, and the sums are the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.passes.rewriting.nearest_last import nearest_last
from funcgrad.ir.check import check_program
from funcgrad.ir.evaluate.runner import evaluate_by_numpy
from funcgrad.ir.program import Program

C = np.cos(np.arange(30.0)).reshape(5, 6) + 1.0


def distance(c: Any) -> Any:
    t = np.zeros((6, 7))
    for i in range(1, 6):
        for j in range(1, 7):
            t[i, j] = min(t[i - 1, j] + 0.6, t[i, j - 1] + 0.7, t[i - 1, j - 1] + c[i - 1, j - 1])
    return t[5, 6]


def columns_first(c: Any) -> Any:
    t = np.zeros((6, 7))
    for j in range(1, 7):
        for i in range(1, 6):
            t[i, j] = t[i - 1, j - 1] * c[i - 1, j - 1] + np.sin(t[i - 1, j]) - t[i, j - 1] + 1.0
    return t[5, 6]


def around_the_end(c: Any) -> Any:
    """The neighbour of the first row is the last one, and of two rows it is the other."""
    t = np.ones((2, 7))
    for i in range(2):
        for j in range(1, 7):
            t[i, j] = t[i, j - 1] * c[i, j - 1] + t[i - 1, j] * t[i - 2, j - 1]
    return np.sum(t)


@pytest.mark.parametrize("f", [distance, columns_first, around_the_end], ids=lambda f: f.__name__)
def test_sums_are_the_same(f: Callable[..., Any]) -> None:
    gradient = fg.jit(fg.grad(f))
    (wanted,) = evaluate_by_numpy(gradient.program(C), [C])
    np.testing.assert_allclose(gradient(C), wanted, rtol=1e-14)
    np.testing.assert_allclose(gradient(C), fg.grad(f)(C), rtol=1e-13)


def additions(program: Program) -> list[Any]:
    """The indices of the additions of a Program, in order."""
    return [e.inputs[2:] for e in program.equations if e.primitive.name == "scatter"]


def test_the_neighbour_in_the_row_is_last() -> None:
    def step(s: Any, here: Any, before: Any, i: Any) -> Any:
        c = s[here, i] * 2.0
        return s.at[here, i - 1].add(c).at[before, i].add(c).at[before, i - 1].add(c)

    s = np.ones((3, 4))
    program = fg.make_program(step)(s, 1, 0, 2)
    _, here, before, _ = program.inputs
    assert [rows[0] for rows in additions(program)] == [here, before, before]
    made = nearest_last(program, {here, before})
    check_program(made)
    assert [rows[0] for rows in additions(made)] == [before, before, here]
    given = [s, np.int64(1), np.int64(0), np.int64(2)]
    np.testing.assert_array_equal(evaluate_by_numpy(made, given), evaluate_by_numpy(program, given))
    assert nearest_last(program, set()) is program
    assert nearest_last(made, {here, before}) is made


def test_kernels_add_to_the_row_last() -> None:
    text = fg.jit(fg.grad(distance)).kernel_source(C)
    read = re.findall(r"^ +v\d+ = (\w+)\[(index\d+) \* \w+ \+ index\d+\]", text, re.MULTILINE)[-1]
    rows = re.findall(rf"sum\d+ = plus\({read[0]}\[(index\d+)", text)
    named = dict(re.findall(r"^ +(index\d+) = i64\((\w+)\)", text, re.MULTILINE))
    assert len(rows) == 3
    assert [named[row] == named[read[1]] for row in rows] == [False, False, True]
