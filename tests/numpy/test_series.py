"""``np.polynomial``: Python that calls NumPy, traced as the user's own functions are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import (
    Chebyshev,
    Polynomial,
    chebyshev,
    hermite,
    hermite_e,
    laguerre,
    legendre,
    polynomial,
)

import funcgrad as fg
from funcgrad.testing import check_grads

X = np.array([0.91, 1.37, -0.66, 1.83])
POINTS = np.linspace(-0.9, 0.8, 5)


def fitted(x: Any) -> Any:
    return chebyshev.chebfit(POINTS[:4], x, 2)


def with_derivative(x: Any) -> Any:
    p = Polynomial(x)
    return p(0.3) + p.deriv()(POINTS) * p.integ()(0.2)


def in_its_domain(x: Any) -> Any:
    return Chebyshev(x, domain=[0, 2])(POINTS + 1.0)


def of_moved_points(x: Any) -> Any:
    return legendre.leggauss(4)[1] @ np.exp(x[0] * legendre.leggauss(4)[0])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: polynomial.polyval(POINTS, x),
        lambda x: polynomial.polyval(x, [1.0, 2.0, 3.0]),
        lambda x: chebyshev.chebval(POINTS, x),
        lambda x: legendre.legval(x, x),
        lambda x: hermite.hermval(0.4, x),
        lambda x: hermite_e.hermeval(0.4, x),
        lambda x: laguerre.lagval(0.4, x),
        lambda x: polynomial.polyder(x) @ chebyshev.chebder(x),
        lambda x: polynomial.polyint(x) * legendre.legint(x),
        lambda x: polynomial.polyvander(x, 3) + chebyshev.chebvander(x, 3),
        fitted,
        with_derivative,
        in_its_domain,
        of_moved_points,
    ],
)
def test_series_keep_the_gradient(f: Callable[[Any], Any]) -> None:
    np.testing.assert_allclose(fg.jit(f)(X), f(X), rtol=1e-12, atol=1e-13)
    check_grads(f, (X,), modes=("rev",))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: polynomial.polymul(x, x[:2]),
        lambda x: polynomial.polyadd(x, x[:2]),
        polynomial.polyfromroots,
        chebyshev.poly2cheb,
        lambda x: np.abs(polynomial.polyroots(x)),
    ],
)
def test_lengths_that_depend_on_values(f: Callable[[Any], Any]) -> None:
    check_grads(f, (X,), modes=("rev",))
    np.testing.assert_allclose(fg.jit(f)(X), f(X), rtol=1e-10)


class Layer:
    """Instances are called by what a class beneath defines."""

    def __init__(self, scale: Any) -> None:
        self.scale = scale

    def __call__(self, x: Any) -> Any:
        out = np.zeros(2)
        for k in range(2):
            out[k] = self.forward(x[k])
        return out

    def again(self) -> Layer:
        return self.__class__(self.scale * 2)


class Kink(Layer):
    def forward(self, v: Any) -> Any:
        if v > 1.0:
            return v * self.scale
        return v * v


@pytest.mark.parametrize("transform", [lambda f: f, fg.jit, lambda f: lambda x: fg.vmap(f)(x[None])[0]])
def test_instances_of_classes_that_inherit_their_call(transform: Any) -> None:
    def f(x: Any) -> Any:
        return Kink(x[3]).again()(x)

    np.testing.assert_allclose(transform(f)(X), f(X))
    check_grads(transform(f), (X,), modes=("rev",))
