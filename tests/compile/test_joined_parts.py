"""Parts added to zeros that do not overlap are put side by side, by the loops that make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.passes.rewriting.expand import expand
from funcgrad.compile.passes.rewriting.joined_parts import FEWEST, joined_parts
from funcgrad.ops.arrays.slicing import AddToSlice
from funcgrad.transforms.simplify import simplify_program

TABLE = np.cos(np.arange(6.0 * FEWEST)).reshape(FEWEST, 6)


def columns(x: Any) -> Any:
    """One is read twice, and one never."""
    return np.sum(np.sin(x[:, 0]) * x[:, 3] + x[:, 3] ** 2) + np.sum(x[:, 1:3] ** 3 * x[:, 5:])


def rows(x: Any) -> Any:
    return np.sum(x[:7] ** 2) + np.sum(np.sin(x[20:]) * 2.0) + np.sum(x[9] ** 3)


def planes(x: Any) -> Any:
    x = x.reshape(3, -1, 6)
    return np.sum(x[0] * x[1]) + np.sum(x[2] ** 2)


def overlapping(x: Any) -> Any:
    return np.sum(x[:, :2] ** 2) + np.sum(x[:, 1:] ** 3)


def with_steps(x: Any) -> Any:
    return np.sum(x[:, ::2] ** 2) + np.sum(x[:, 1::2] ** 3)


def backwards(x: Any) -> Any:
    return np.sum(x[:, 2::-1] ** 2 * np.arange(3.0)) + np.sum(x[:, 3:] ** 3)


def along_two_axes(x: Any) -> Any:
    return np.sum(x[:5] ** 2) + np.sum(x[5:, :2] ** 3)


def short(x: Any) -> Any:
    return columns(x[:2])


JOINED = (columns, rows, planes)
LEFT = (overlapping, with_steps, backwards, along_two_axes, short)


@pytest.mark.parametrize("f", [*JOINED, *LEFT])
def test_the_rewritten_program_computes_the_same(f: Callable[..., Any]) -> None:
    x = TABLE if f is not planes else TABLE[: 3 * 1000]
    program = simplify_program(expand(fg.make_program(fg.grad(f))(x)))
    joined = joined_parts(program)
    fg.check(joined)
    (before,), (after,) = program.evaluate(x), joined.evaluate(x)
    np.testing.assert_array_equal(before, after)
    assert any(isinstance(e.primitive, AddToSlice) for e in program.equations)
    assert any(isinstance(e.primitive, AddToSlice) for e in joined.equations) == (f in LEFT)


def test_a_kernel_stores_columns_where_it_makes_them() -> None:
    slope = fg.jit(fg.grad(columns))
    (expected,) = fg.make_program(fg.grad(columns))(TABLE).evaluate(TABLE)
    np.testing.assert_allclose(slope(TABLE), expected, rtol=1e-13)
    assert slope.kernel_source(TABLE).count("parallel(") <= 3
