"""A result that only comparisons lead to has a gradient of zero, and a warning says so."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import ZeroGradientWarning


def root(a: Any) -> Any:
    lo, hi = 0.0, 4.0
    while hi - lo > 1e-12:
        middle = (lo + hi) / 2
        lo, hi = (middle, hi) if middle**2 < a else (lo, middle)
    return middle


def best_of_a_grid(a: Any) -> Any:
    best, at = np.inf, 0.0
    for t in np.linspace(0.013, 2.0, 50):
        value = (t - a) ** 2
        if value < best:
            best, at = value, t
    return at


@pytest.mark.parametrize("f", [root, best_of_a_grid])
@pytest.mark.parametrize(
    "transform",
    [fg.grad, lambda f: fg.jit(fg.grad(f)), lambda f: fg.grad(fg.jit(f)), fg.value_and_grad],
)
def test_searches_warn(f: Any, transform: Any) -> None:
    with pytest.warns(ZeroGradientWarning, match=rf"result of {f.__name__} .*test_decided.py:\d+.*brentq"):
        found = transform(f)(1.7)
    np.testing.assert_array_equal(found[1] if isinstance(found, tuple) else found, 0.0)


def relu(x: Any) -> Any:
    return x if x > 0 else 0.0


def hinges(x: Any) -> Any:
    total = 0.0
    for v in x:
        total += v if v > 1.0 else 0.0
    return total


def newton(a: Any) -> Any:
    t = 1.0
    while True:
        step = (t * t - a) / (2 * t)
        t = t - step
        if abs(step) < 1e-12:
            return t


def meant(a: Any) -> Any:
    return fg.stop_gradient(root(fg.stop_gradient(a))) * fg.stop_gradient(a)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (relu, -1.0),
        (fg.grad(relu), 2.0),
        (hinges, np.linspace(-1.0, 0.9, 40)),
        (newton, 2.0),
        (meant, 2.0),
        (lambda x: np.sum(np.floor(x)), 2.5),
        (lambda x: 3.0, 1.0),
    ],
)
@pytest.mark.parametrize("transform", [fg.grad, lambda f: fg.jit(fg.grad(f))])
def test_flat_pieces_and_what_is_meant_do_not(f: Any, x: Any, transform: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        transform(f)(x)
