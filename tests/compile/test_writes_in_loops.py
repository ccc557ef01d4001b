"""Arrays that loops write into: memory from outside stays as it is, what is carried changes in place."""

from __future__ import annotations

from typing import Any

import numpy as np

import funcgrad as fg

TABLE = np.array([0.3, -0.8, 1.4, 0.5])


def test_zeros_that_every_trip_adds_to_stay_zeros() -> None:
    def total(table: Any) -> Any:
        return fg.fori_loop(0, 4, lambda k, c: c + fg.numpy.take(table, k) ** 2, 0.0)

    np.testing.assert_allclose(fg.jit(fg.grad(total))(TABLE), 2 * TABLE)
    np.testing.assert_allclose(fg.jit(fg.hessian(total))(TABLE), 2 * np.eye(4))


def test_rows_and_constants_survive_updates() -> None:
    rows = np.arange(12.0).reshape(3, 4)

    def stacked(base: Any) -> Any:
        def step(c: Any, row: Any) -> Any:
            changed = fg.numpy.concatenate([row[:1] * 0, row[1:]]) + base
            return c + 1, changed

        return fg.scan(step, 0, rows)[1]

    np.testing.assert_allclose(fg.jit(stacked)(TABLE), stacked(TABLE))


def test_a_carried_array_is_changed_where_it_is() -> None:
    def counted(positions: Any) -> Any:
        def step(counts: Any, k: Any) -> Any:
            counts = counts.copy()
            counts[k] += 1
            return counts, None

        return fg.scan(step, np.zeros(5), positions)[0]

    compiled = fg.jit(counted)
    positions = np.array([0, 3, 3, 1, 3])
    np.testing.assert_array_equal(compiled(positions), [1, 1, 0, 3, 0])
    np.testing.assert_array_equal(compiled(positions), [1, 1, 0, 3, 0])
