"""Products of matrices that are taken out of scans: what is summed, read meanwhile, and in which order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import lax
from funcgrad.ir.evaluate.runner import evaluate_by_numpy

W = 0.2 * np.cos(np.arange(81.0)).reshape(9, 9)
H = np.linspace(-1.0, 1.0, 9)
XS = np.sin(np.arange(99.0)).reshape(11, 9)


def recurrent(w: Any, h: Any, xs: Any) -> Any:
    return lax.scan(lambda h, x: (np.tanh(w @ h + x), h), h, xs)


def recurrent_in_reverse(w: Any, h: Any, xs: Any) -> Any:
    return lax.scan(lambda h, x: (np.tanh(w @ h + w.T @ x), h @ w), h, xs, reverse=True)


def batch(w: Any, h: Any, xs: Any) -> Any:
    def step(c: Any, x: Any) -> Any:
        c = np.tanh(c @ w + x @ w.T)
        return c, np.max(c, 1)

    return lax.scan(step, np.stack([h, h * 2, h - 1]), xs)


def two_sums_that_start_elsewhere(w: Any, h: Any, xs: Any) -> Any:
    def step(carry: Any, x: Any) -> Any:
        a, b, h = carry
        return (a + np.outer(x, h), b + 2.0 * np.outer(h, x) + w, np.tanh(w @ h) + x), np.sum(h)

    return lax.scan(step, (w, w * 0 + 1, h), xs)


def sum_read_by_the_next_trip(w: Any, h: Any, xs: Any) -> Any:
    return lax.scan(lambda c, x: ((c[0] + np.outer(x, c[1]), np.tanh(c[0] @ c[1])), c[1]), (w, h), xs)


def sum_read_in_its_own_trip(w: Any, h: Any, xs: Any) -> Any:
    def step(carry: Any, x: Any) -> Any:
        total = carry[0] + np.outer(x, carry[1])
        return (total, np.tanh(w @ carry[1])), np.sum(total)

    return lax.scan(step, (w, h), xs)


def rows_beside_what_stays(w: Any, h: Any, xs: Any) -> Any:
    return lax.scan(lambda c, x: (c + w @ h + np.sin(w) @ x, x @ w), h, xs)


def no_trips(w: Any, h: Any, xs: Any) -> Any:
    return lax.scan(lambda c, x: (c + w @ x, x @ w), h, xs[:0])


def counted(w: Any, h: Any, xs: Any) -> Any:
    return lax.fori_loop(0, 11, lambda k, a: a + np.outer(xs[k], xs[k] @ w), w)


def total(f: Callable[..., Any]) -> Callable[..., Any]:
    def weighed(*args: Any) -> Any:
        return sum(np.sum(np.cos(x) * (k + 1)) for k, x in enumerate(fg.tree.leaves(f(*args))))

    return weighed


FUNCTIONS = (
    *(recurrent, recurrent_in_reverse, batch, two_sums_that_start_elsewhere, sum_read_by_the_next_trip),
    *(sum_read_in_its_own_trip, rows_beside_what_stays, no_trips, counted),
)


@pytest.mark.at_length
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_values_and_gradients(f: Callable[..., Any]) -> None:
    for function in (f, fg.value_and_grad(total(f), (0, 1, 2))):
        made = fg.jit(function).specialized(W, H, XS)
        assert not made.executable.reasons
        wanted = evaluate_by_numpy(made.program, (W, H, XS))
        for x, y in zip(made.executable.run(W, H, XS), wanted, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-11)
