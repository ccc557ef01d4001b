"""Loops that add rows at positions are done row by row, where each turn reads nothing long of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.passes.arranging.grouping import FEWEST_ROWS

ROWS, WIDTH, TURNS = FEWEST_ROWS + 3, 70, 3000


def squares(table: Any, rows: Any, weights: Any) -> Any:
    return np.sum(table[rows] ** 2 * weights[..., None])


def differences(table: Any, rows: Any, values: Any) -> Any:
    return np.sum((table[rows] - values) ** 2)


@pytest.fixture
def table(rng: np.random.Generator) -> Any:
    return rng.normal(size=(ROWS, WIDTH))


@pytest.fixture
def rows(rng: np.random.Generator) -> Any:
    """Rows, counted from the end as well; some are never chosen."""
    return rng.integers(-ROWS, ROWS - 10, TURNS)


def grouped(jitted: Any, *args: Any) -> bool:
    return "starts" in jitted.kernel_source(*args)


@pytest.mark.parametrize("shape", [(TURNS,), (30, TURNS // 30)])
def test_what_is_added_to_an_element_keeps_its_order(
    table: Any, rows: Any, shape: tuple[int, ...], rng: np.random.Generator
) -> None:
    rows, weights = rows.reshape(shape), rng.normal(size=shape)
    value, gradient = (jitted := fg.jit(fg.value_and_grad(squares)))(table, rows, weights)
    expected = np.zeros_like(table)
    np.add.at(expected, rows, weights[..., None] * (2.0 * table[rows]))
    assert grouped(jitted, table, rows, weights)
    np.testing.assert_allclose(value, squares(table, rows, weights), rtol=1e-12)
    np.testing.assert_allclose(gradient, expected, rtol=1e-14, atol=1e-14)


def test_where_only_the_row_tells_turns_apart_they_are_counted(table: Any, rows: Any) -> None:
    jitted = fg.jit(fg.grad(lambda table, rows: np.sum(np.exp(table[rows]))))
    counts = np.bincount(rows % ROWS, minlength=ROWS)
    np.testing.assert_allclose(jitted(table, rows), counts[:, None] * np.exp(table), rtol=1e-12)
    source = jitted.kernel_source(table, rows)
    assert "starts" in source
    assert "order" not in source


def test_a_row_out_of_bounds_is_an_error(table: Any, rows: Any) -> None:
    jitted, weights = fg.jit(fg.grad(squares)), np.ones(TURNS)
    jitted(table, rows, weights)
    rows[-1] = ROWS
    with pytest.raises(IndexError, match=f"index {ROWS} is out of bounds"):
        jitted(table, rows, weights)


def test_the_last_of_what_is_written_stays(rows: Any, rng: np.random.Generator) -> None:
    def written(rows: Any, values: Any) -> Any:
        out = np.zeros((ROWS, WIDTH))
        out[rows] = values[:, None] * np.ones(WIDTH)
        return out

    values = rng.normal(size=TURNS)
    jitted = fg.jit(written)
    np.testing.assert_array_equal(jitted(rows, values), written(rows, values))
    assert grouped(jitted, rows, values)


def test_loops_that_read_rows_in_their_order_keep_it(table: Any, rows: Any, rng: np.random.Generator) -> None:
    values = rng.normal(size=(TURNS, WIDTH))
    jitted = fg.jit(fg.grad(differences))
    expected = np.zeros_like(table)
    np.add.at(expected, rows, 2.0 * (table[rows] - values))
    np.testing.assert_allclose(jitted(table, rows, values), expected, rtol=1e-13, atol=1e-13)
    assert not grouped(jitted, table, rows, values)
