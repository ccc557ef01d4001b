"""Complex operands where SciPy takes real numbers: an error, and never the real part without a word."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.spatial.distance

import funcgrad as fg

RNG = np.random.default_rng(2)
X = np.arange(9.0)
REAL = RNG.normal(size=9)
V = RNG.normal(size=9) + 1j * RNG.normal(size=9)
IMAGE = RNG.normal(size=(6, 6))
FIRST, SECOND = V[:3], V[3:6]

CASES: tuple[tuple[str, tuple[Any, ...], int], ...] = (
    *[(f"stats.norm.{name}", (V,), 0) for name in ("pdf", "logpdf", "cdf", "sf", "ppf")],
    ("stats.norm.logpdf", (REAL, V), 1),
    ("stats.norm.logpdf", (REAL, 0.0, V), 2),
    ("stats.gamma.logpdf", (REAL, V), 1),
    ("stats.poisson.logpmf", (V, 2.0), 0),
    ("stats.multivariate_normal.logpdf", (V[:2],), 0),
    ("stats.multivariate_normal.logpdf", (REAL[:2], V[:2]), 1),
    ("stats.multivariate_t.logpdf", (V[:2], None, np.eye(2)), 0),
    ("stats.skew", (V,), 0),
    ("stats.kurtosis", (V,), 0),
    *[
        (f"spatial.distance.{name}", (FIRST, SECOND), 0)
        for name in (
            *("euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski", "cosine", "correlation"),
            *("canberra", "braycurtis", "jensenshannon"),
        )
    ],
    ("spatial.distance.cdist", (V.reshape(3, 3), IMAGE[:, :3]), 0),
    ("spatial.distance.pdist", (V.reshape(3, 3),), 0),
    ("ndimage.affine_transform", (IMAGE, V[:4].reshape(2, 2)), 1),
    ("signal.medfilt", (V,), 0),
    ("linalg.eigh_tridiagonal", (V, np.ones(8)), 0),
    ("linalg.eigvalsh_tridiagonal", (X, V[:8]), 1),
    ("interpolate.PchipInterpolator", (X, V), 1),
    ("interpolate.Akima1DInterpolator", (X, V), 1),
)
"""A function, its arguments, and which of them is complex and traced."""


def named(name: str) -> Any:
    found = fg.scipy
    for part in name.split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("case", CASES, ids=[f"{name} {place}" for name, _, place in CASES])
def test_what_is_real_refuses_complex_numbers(case: tuple[str, tuple[Any, ...], int]) -> None:
    name, args, place = case

    def call(z: Any) -> Any:
        return named(name)(*args[:place], z, *args[place + 1 :])

    with pytest.raises((TypeError, ValueError), match=r"(?i)real"):
        fg.jvp(call, (args[place],), (args[place],))
    with pytest.raises((TypeError, ValueError), match=r"(?i)real"):
        fg.jit(call)(args[place])


def test_the_error_says_what_to_pass() -> None:
    with pytest.raises(fg.errors.DtypeError, match=r"a distance takes real numbers, got c128\[3\]") as caught:
        fg.jit(fg.scipy.spatial.distance.euclidean)(FIRST, SECOND)
    assert caught.value.remedy == "Pass x.real and x.imag one after the other, or their parts that are meant."


def test_a_native_slope_is_real() -> None:
    def end(a: Any) -> Any:
        found = fg.scipy.integrate.solve_ivp(lambda t, y: 1j * a * y, (0.0, 1.0), [1.0], native=True)
        return found.y[0, -1]

    with pytest.raises(fg.errors.DtypeError, match="takes real numbers"):
        fg.grad(end)(1.0)


@pytest.mark.parametrize("name", ["integrate.romb", "spatial.distance.squareform"])
def test_what_scipy_has_of_complex_numbers_keeps_them(name: str) -> None:
    given = V if name == "integrate.romb" else V[:6]
    package, _, function = name.rpartition(".")
    wanted = getattr(scipy.integrate if package == "integrate" else scipy.spatial.distance, function)(given)
    found, slope = fg.jvp(named(name), (given,), (given,))
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted)
    np.testing.assert_allclose(slope, wanted)


def test_squareform_is_scipys_in_kind_and_refusals() -> None:
    squareform = fg.scipy.spatial.distance.squareform
    assert fg.jit(squareform)(X[:3].astype(np.float32)).dtype == np.float32
    with pytest.raises(ValueError, match="is not a distance matrix"):
        fg.jit(lambda x: squareform(x, "tovector"))(X[:3])
    with pytest.raises(ValueError, match="one or two dimensional"):
        fg.jit(squareform)(np.zeros((2, 2, 2)))
