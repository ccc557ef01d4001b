"""Special functions that exported modules write out, in the tails too, beside funcgrad's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg

FAR = np.array(
    [-1e6, -300.0, -26.0, -7.0001, -6.99, -2.0, -1.0, -1e-9, 0.0, 1e-3, 1.999, 2.001, 6.9, 7.1, 80.0, 1e5]
)


def erfcx_twice(x: Any) -> Any:
    return fg.scipy.special.erfcx(np.abs(x) - 3.0)


def dawsn(x: Any) -> Any:
    return fg.scipy.special.dawsn(x)


def exprel(x: Any) -> Any:
    return fg.scipy.special.exprel(np.minimum(x, 500.0))


def zeta(x: Any) -> Any:
    return fg.scipy.special.zeta(1.001 + np.abs(x), 0.5 + np.abs(x) % 7.0)


def elliptic(x: Any) -> Any:
    return fg.scipy.special.ellipeinc(x % 9.0, 0.09 * np.sin(x)) + fg.scipy.special.ellipkinc(x % 9.0, 0.05)


def line(x: Any) -> Any:
    return np.interp(x, np.array([-6.0, -1.0, 2.0, 2.5, 90.0]), np.array([1.0, 3.0, -1.0, 4.0, 0.0]))


@pytest.mark.at_length
@pytest.mark.parametrize("engine", ["numba", "numpy"])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("f", [erfcx_twice, dawsn, exprel, zeta, elliptic, line])
def test_derivatives(f: Any, order: int, engine: str) -> None:
    def slopes(x: Any) -> Any:
        g = f
        for _ in range(order):
            g = elementwise_slope(g)
        return g(x)

    with np.errstate(all="ignore"):
        wanted = slopes(FAR)
        found = fg.export(slopes, engine=engine)(FAR).module().slopes(FAR)
    np.testing.assert_allclose(found, wanted, rtol=2e-12, atol=1e-300)


def elementwise_slope(g: Any) -> Any:
    return fg.grad(lambda x: np.sum(g(x)))


def counts(key: Any, mean: Any) -> Any:
    return fg.random.poisson(key, mean)


def successes(key: Any, mean: Any) -> Any:
    return fg.random.binomial(key, 20.0 * mean, mean / (mean + 1.0))


def moved_gammas(key: Any, shape: Any) -> Any:
    return fg.grad(lambda a: np.sum(fg.random.gamma(key, a) ** 2))(shape)


@pytest.mark.parametrize(
    ("f", "engine"),
    [(counts, "numba"), (counts, "numpy"), (successes, "numpy"), (moved_gammas, "numpy")],
)
def test_draws_are_those_of_funcgrad(f: Any, engine: str) -> None:
    key, x = fg.random.key(7), np.array([0.05, 0.7, 3.0, 15.0, 60.0, 2000.0])
    found = getattr(fg.export(f, engine=engine)(key, x).module(), f.__name__)(key, x)
    for a, b in zip(fg.tree.leaves(found), fg.tree.leaves(f(key, x)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


def test_names_that_modules_use_are_changed() -> None:
    def expm(corner: Any) -> Any:
        return fg.scipy.linalg.expm(corner)

    made = fg.export(expm, engine="numpy")(np.eye(2))
    np.testing.assert_allclose(made.function(np.eye(2)), np.e * np.eye(2))
