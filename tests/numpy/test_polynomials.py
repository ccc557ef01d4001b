"""Polynomials: NumPy's results on traced coefficients, and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import ConcretizationError, ShapeError, UnsupportedFunctionError
from funcgrad.testing import check_grads

P = np.array([2.0, -1.0, 0.5, 3.0])
Q = np.array([1.0, 4.0])
X = np.array([0.5, -1.5, 2.0])
HAS_PINV = hasattr(fg.numpy.linalg, "pinv")
HAS_EIGVALS = hasattr(fg.numpy.linalg, "eigvals")


def value_of(f: Any, *args: Any) -> list[Any]:
    """The results of `f` while its first argument is traced, and has values."""
    kept: list[Any] = []

    def total(x: Any) -> Any:
        kept[:] = [
            np.asarray(part.concrete() if hasattr(part, "concrete") else part)
            for part in fg.tree.leaves(f(x, *args[1:]))
        ]
        return np.sum(x)

    fg.grad(total)(args[0])
    return kept


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (np.polyval, (P, X)),
        (lambda x, p: np.polyval(p, x), (X, P)),
        (lambda x: np.polyval(np.poly1d([1, 2, 3]), x), (X,)),
        (np.polyadd, (P, Q)),
        (np.polysub, (Q, P)),
        (np.polymul, (P, Q)),
        (np.polydiv, (P, Q)),
        (np.polydiv, (Q, P)),
        (np.polydiv, (np.array([1.0, 3.0, 2.0]), np.array([1.0, 1.0]))),
        (np.polyder, (P,)),
        (lambda p: np.polyder(p, 2), (P,)),
        (lambda p: np.polyder(p, 7), (P,)),
        (np.polyint, (P,)),
        (lambda p: np.polyint(p, 2, k=[3.0, 5.0]), (P,)),
        (lambda p: np.polyint(p, 3, k=2.0), (P,)),
        (np.poly, (X,)),
    ],
)
def test_values_and_derivatives(f: Any, args: tuple[Any, ...]) -> None:
    for ours, theirs in zip(value_of(f, *args), fg.tree.leaves(f(*args)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-13)
    check_grads(f, args)


def test_integers_stay_integers() -> None:
    for f in (np.polyadd, np.polymul, np.polysub, np.polyval):
        ours = fg.make_program(lambda p, f=f: f(p, np.array([3, 1])))(np.array([1, 2]))
        assert ours.out_avals[0].dtype == f(np.array([1, 2]), np.array([3, 1])).dtype


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda p: np.polyder(p, -1), "must be positive"),
        (lambda p: np.polyint(p, -1), "must be positive"),
        (lambda p: np.polyint(p, 3, k=[1.0, 2.0]), "length 1 or >m"),
        (lambda p: np.poly(p[:, None]), "1d or non-empty square"),
        (lambda p: np.polyfit(p, p, -1), "deg >= 0"),
        (lambda p: np.polyfit(p, p[:2], 1), "same length"),
        (lambda p: np.polyfit(p, p, 1, w=p[:2]), "w and y"),
    ],
)
def test_refusals(f: Any, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        fg.make_program(f)(P)


def test_lengths_that_depend_on_values() -> None:
    with pytest.raises(ConcretizationError, match=r"np\.polydiv needs the value"):
        fg.make_program(np.polydiv)(P, Q)
    with pytest.raises(ConcretizationError, match=r"np\.roots needs the value"):
        fg.make_program(np.roots)(P)
    with pytest.raises(UnsupportedFunctionError, match="full=True"):
        fg.make_program(lambda y: np.polyfit(X, y, 1, full=True))(X)


@pytest.mark.skipif(not HAS_PINV, reason="needs fg.numpy.linalg.pinv")
@pytest.mark.parametrize("w", [None, np.array([1.0, 2.0, 0.5, 1.0, 3.0])])
@pytest.mark.parametrize("columns", [(), (2,)])
def test_fits(w: Any, columns: Any, rng: np.random.Generator) -> None:
    x, y = np.linspace(-1.0, 2.0, 5), rng.normal(size=(5, *columns))

    def fit(x: Any, y: Any) -> Any:
        return np.polyfit(x, y, 2, w=w)

    np.testing.assert_allclose(value_of(fit, x, y)[0], fit(x, y), rtol=1e-10)
    check_grads(fit, (x, y))
    for cov in (True, "unscaled"):
        ours = value_of(lambda x, y, c=cov: np.polyfit(x, y, 2, w=w, cov=c), x, y)
        for found, wanted in zip(ours, np.polyfit(x, y, 2, w=w, cov=cov), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9)


@pytest.mark.skipif(not HAS_EIGVALS, reason="needs fg.numpy.linalg.eigvals")
def test_roots() -> None:
    p = np.array([0.0, 1.0, -6.0, 11.0, -6.0, 0.0])
    np.testing.assert_allclose(np.sort(value_of(np.roots, p)[0]), np.sort(np.roots(p)), atol=1e-9)
    # The implicit function theorem: a root moves by -x**k / p'(x).
    at = np.real(value_of(np.roots, np.array([1.0, -6.0, 11.0, -6.0]))[0])
    found = fg.jacobian(lambda q: np.real(np.roots(q)))(np.array([1.0, -6.0, 11.0, -6.0]))
    slope = 3 * at**2 - 12 * at + 11
    np.testing.assert_allclose(found, -np.vander(at, 4) / slope[:, None], rtol=1e-8)
