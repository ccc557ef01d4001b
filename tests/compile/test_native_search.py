"""Positions in sorted rows, compiled: those that NumPy finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.runtime.executable import compiled
from funcgrad.ops.arrays.searching import LONG
from funcgrad.ops.arrays.sorting import SearchSorted

SPECIAL = np.array([-np.inf, -2.0, -0.0, 0.0, 0.0, 1e-310, 0.5, 0.5, 0.5, 3.0, np.inf, np.nan, np.nan])


def assert_found(table: Any, values: Any, side: str) -> None:
    """The compiled positions are NumPy's, and nothing is left to it."""

    def f(table: Any, values: Any) -> Any:
        return np.searchsorted(table, values, side)

    native = compiled(fg.make_program(f)(table, values))
    assert not native.reasons
    np.testing.assert_array_equal(native.run(table, values)[0], np.searchsorted(table, values, side))


@pytest.mark.parametrize("side", ["left", "right"])
def test_positions_of_numbers(side: str, rng: np.random.Generator) -> None:
    for dtype in (np.float64, np.float32):
        table = SPECIAL.astype(dtype)
        assert_found(table, np.concatenate([table, table + 1, table / 3]), side)
        assert_found(table, dtype(0.5), side)
        assert_found(
            np.sort(rng.normal(size=257)).astype(dtype), rng.normal(size=(30, 4)).astype(dtype), side
        )
    for table in ([], [1.0], [1.0, 2.0]):
        assert_found(np.array(table), np.array([0.5, 1.0, 1.5, 2.0, 2.5, np.nan]), side)
    for kind in (np.int64, np.uint64, np.int8, np.bool_):
        table = np.sort(rng.integers(0, 2 if kind is np.bool_ else 100, 23).astype(kind))
        assert_found(table, rng.integers(0, 100, 40).astype(kind), side)
    assert_found(np.array([-(2**63), -1, 0, 2**63 - 1]), np.array([-(2**63), -2, 0, 2**63 - 1]), side)
    assert_found(np.sort(rng.normal(size=20))[::2], rng.normal(size=(3, 4)).T, side)


@pytest.mark.parametrize("side", ["left", "right"])
def test_rows_of_their_own(side: str, rng: np.random.Generator) -> None:
    tables, values = np.sort(rng.normal(size=(3, 9))), rng.normal(size=(3, 4, 2))
    native = compiled(fg.make_program(SearchSorted(side).bind)(tables, values))
    assert not native.reasons
    wanted = [np.searchsorted(t, v, side) for t, v in zip(tables, values, strict=True)]
    np.testing.assert_array_equal(native.run(tables, values)[0], np.stack(wanted))


def test_many_values_are_left_to_buckets() -> None:
    program = fg.make_program(np.searchsorted)(np.arange(9.0), np.zeros(LONG))
    (reason,) = compiled(program).reasons
    assert "sorts the rows into buckets" in reason.words
