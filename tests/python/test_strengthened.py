"""Floats of Python's that the first trip makes NumPy's: the trip is recorded once, where that is the same."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.api.python.blocks.loops import Attempt

XS = np.random.default_rng(0).normal(size=(50, 3))


def summed(xs: Any) -> Any:
    total, half = 0.0, 1.0
    for k in range(50):
        half = 0.5 * half + total
        total = total + np.sum(np.tanh(xs[k]) * half)
    return total


def counted(xs: Any) -> Any:
    total, t = 0.0, 0.0
    for k in range(50):
        total = total + np.sum(np.sin(xs[k] + t))
        t = t + 0.1
    return total * np.float32(2.0) + t


def single(xs: Any) -> Any:
    total, t = 0.0, 1.0
    for k in range(50):
        y = np.sum(xs[k]).astype(np.float32) * t
        total = total + np.sum(xs[k]) * y
        t = total * 0.25
    return total


def asked(xs: Any) -> Any:
    total = 0.0
    for k in range(50):
        scale = 2.0 if isinstance(total, np.float64) else 3.0
        total = total * scale * 1e-2 + np.sum(xs[k])
    return total


def converted(xs: Any) -> Any:
    total = 0.0
    for k in range(50):
        total = np.array([total, 1.0]).sum() * 0.5 + math.exp(total * 1e-3) + np.sum(xs[k])
    return total


@pytest.mark.parametrize(("f", "trips"), [(summed, 1), (counted, 1), (single, 2), (asked, 2), (converted, 2)])
def test_trips_that_add_to_a_float_are_recorded_once_where_its_kind_does_not_matter(
    f: Any, trips: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded: list[Attempt] = []
    trip = Attempt.trip

    def noted(self: Attempt, tracers: list[Any]) -> list[Any]:
        recorded.append(self)
        return trip(self, tracers)

    monkeypatch.setattr(Attempt, "trip", noted)
    out, gradient = fg.jit(fg.value_and_grad(f))(XS)
    assert len(recorded) == trips
    expected, whole = fg.value_and_grad(f)(XS)
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    np.testing.assert_allclose(gradient, whole, rtol=1e-12)
    assert fg.eval_shape(fg.jit(f), XS).dtype == np.asarray(f(XS)).dtype
