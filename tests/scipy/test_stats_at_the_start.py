"""Densities that are a power of x times something, at the start of the support where the exponent is 0.

There ``log((x - loc) / scale)`` moves with the scale, though the number in it does not.
"""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.stats

import funcgrad as fg

LAWS: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "beta": ((1.0, 2.0), (1.0, 0.0)),
    "burr12": ((1.0, 2.0), (1.0, 0.0)),
    "chi": ((1.0,), (1.0,)),
    "chi2": ((2.0,), (0.5,)),
    "exponpow": ((1.0,), (1.0,)),
    "f": ((2.0, 3.0), (0.5, 0.0)),
    "fisk": ((1.0,), (1.0,)),
    "gamma": ((1.0,), (1.0,)),
    "nakagami": ((0.5,), (2.0,)),
    "powerlaw": ((1.0,), (1.0,)),
    "weibull_min": ((1.0,), (1.0,)),
}
"""Shape parameters, and the derivative of the exponent by each, of which the mixed one is -1/s."""

ORDERS = tuple(itertools.product((fg.jacrev, fg.jacfwd), repeat=2))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", LAWS)
def test_mixed_derivatives_by_shape_and_scale(name: str) -> None:
    shapes, slopes = LAWS[name]
    law = getattr(fg.scipy.stats, name)

    def f(shapes: Any, scale: Any) -> Any:
        return law.logpdf(0.3, *shapes, 0.3, scale)

    at = (np.array(shapes), 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for outer, inner in ORDERS:
            np.testing.assert_allclose(outer(inner(f, 1), 0)(*at), -0.5 * np.array(slopes), atol=1e-12)
            np.testing.assert_allclose(outer(inner(f, 0), 1)(*at), -0.5 * np.array(slopes), atol=1e-12)
        np.testing.assert_allclose(fg.jit(fg.hessian(f, (0, 1)))(*at)[0][1], -0.5 * np.array(slopes))


@pytest.mark.parametrize("name", LAWS)
def test_densities_are_scipys(name: str) -> None:
    shapes, _ = LAWS[name]
    x = np.array([0.3, 0.4, 0.9, 1.7, -1.0])
    for method, others in itertools.product(("logpdf", "pdf"), (shapes, tuple(1.3 * s for s in shapes))):

        def density(scale: Any, method: str = method, others: tuple[float, ...] = others) -> Any:
            return getattr(getattr(fg.scipy.stats, name), method)(x, *others, 0.3, scale)

        wanted = getattr(getattr(scipy.stats, name), method)(x, *others, 0.3, 2.0)
        np.testing.assert_allclose(fg.jvp(density, (2.0,), (1.0,))[0], wanted, rtol=1e-12, atol=1e-15)
