"""Native loops whose trips nobody counts beforehand: tapes that grow, errors within, memory given back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import lax


def powers(x: Any, trips: Any) -> Any:
    """x to the power of `trips`, by a loop that keeps a number for every trip."""
    return lax.while_loop(lambda s: s[0] < trips, lambda s: (s[0] + 1, s[1] * x), (0, 1.0))[1]


@pytest.mark.parametrize("trips", [0, 1, 63, 64, 65, 127, 128, 129, 1000, 5000])
def test_reverse_mode_whatever_the_trips(trips: int) -> None:
    slope = fg.jit(fg.grad(powers))
    np.testing.assert_allclose(slope(1.0003, trips), trips * 1.0003 ** (trips - 1), rtol=1e-10)


def test_one_kernel_for_all_trips() -> None:
    slope = fg.jit(fg.grad(powers))
    for trips in (3, 300, 30, 3000, 0):
        np.testing.assert_allclose(slope(1.0003, trips), trips * 1.0003 ** (trips - 1), rtol=1e-10)


def test_reverse_mode_with_arrays_on_the_tape() -> None:
    def settled(w: Any, x: Any) -> Any:
        def body(state: Any) -> Any:
            k, h = state
            return k + 1, h + 0.01 * (np.tanh(w @ h) - h)

        return np.sum(lax.while_loop(lambda s: s[0] < 1500, body, (0, x))[1] ** 2)

    def unrolled(w: Any, x: Any) -> Any:
        end, _ = lax.scan(lambda h, _: (h + 0.01 * (np.tanh(w @ h) - h), None), x, None, length=1500)
        return np.sum(end**2)

    w, x = np.cos(np.arange(9.0)).reshape(3, 3), np.array([1.0, -0.5, 0.2])
    gradient = fg.jit(fg.grad(settled, (0, 1)))
    assert not gradient.specialized(w, x).executable.reasons
    for _ in range(2):
        for found, wanted in zip(gradient(w, x), fg.grad(unrolled, (0, 1))(w, x), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-15)


def test_second_derivatives() -> None:
    second = fg.jit(fg.grad(fg.grad(powers)))
    np.testing.assert_allclose(second(1.001, 900), 900 * 899 * 1.001**898, rtol=1e-9)


def test_reverse_mode_of_loops_within_a_batch() -> None:
    slopes = fg.jit(fg.vmap(fg.grad(powers)))
    xs, trips = np.array([1.01, 0.9, 1.0]), np.array([200, 3, 0])
    np.testing.assert_allclose(slopes(xs, trips), trips * xs ** (trips - 1.0), rtol=1e-10)


def test_tapes_are_given_back() -> None:
    resource = pytest.importorskip("resource")
    slope = fg.jit(fg.grad(powers))
    slope(1.00001, 100_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(100):
        slope(1.00001, 100_000)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 20_000, "a hundred tapes of about a megabyte each were kept"


def test_numpys_error_for_an_index_out_of_bounds_within_a_loop() -> None:
    def picked(table: Any, start: Any, stop: Any) -> Any:
        return lax.fori_loop(start, stop, lambda k, c: c + table[k], 0.0)

    total = fg.jit(picked)
    table = np.arange(5.0)
    assert total(table, 1, 4) == 6.0
    with pytest.raises(IndexError, match="out of bounds"):
        total(table, 1, 6)
    assert total(table, 0, 5) == 10.0


def test_numpys_error_with_numbers_of_python() -> None:
    def picked(i: Any, x: Any) -> Any:
        product = lax.fori_loop(i, 5, lambda k, c: c * x + 0.0 * k, 1.0)
        return fg.numpy.arange(5.0)[i] * x, product

    chosen = fg.jit(picked)
    assert chosen(3, 2.0) == (6.0, 4.0)
    with pytest.raises(IndexError, match="out of bounds"):
        chosen(5, 2.0)
