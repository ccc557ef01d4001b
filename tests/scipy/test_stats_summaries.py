"""Statistics that sum a sample up: SciPy's values, and derivatives that are those of differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats

import funcgrad as fg

X = np.array([[0.37, 1.21, 0.83], [0.59, 0.71, 1.62], [1.1, 0.24, 0.9], [0.8, 0.55, 0.3]])
W = np.array([[0.2, 0.5, 0.3], [0.9, 0.1, 0.4], [0.6, 0.8, 0.7], [0.3, 0.3, 1.0]])
stats = scipy.stats

CALLS: dict[str, Callable[[Any], Any]] = {
    "gmean": stats.gmean,
    "gmean, weighed": lambda x: stats.gmean(x, axis=1, weights=W, keepdims=True),
    "gmean by weights": lambda x: stats.gmean(W, axis=None, weights=x),
    "hmean": lambda x: stats.hmean(x, axis=-1),
    "hmean, weighed": lambda x: stats.hmean(x, weights=W),
    "pmean": lambda x: stats.pmean(x, 2.5),
    "pmean of exponent 0": lambda x: stats.pmean(x, 0, axis=None, weights=W),
    "pmean of a negative exponent": lambda x: stats.pmean(x, -1, axis=1),
    "circmean": stats.circmean,
    "circmean of other ends": lambda x: stats.circmean(5.0 * x, high=3.0, low=-1.0, axis=0, keepdims=True),
    "circvar": lambda x: stats.circvar(x, axis=1),
    "circvar of degrees": lambda x: stats.circvar(90.0 * x, high=360.0),
    "circstd": lambda x: stats.circstd(x, high=4.0, axis=0),
    "circstd, normalized": lambda x: stats.circstd(x, high=4.0, normalize=True),
    "sem": stats.sem,
    "sem of all": lambda x: stats.sem(x, axis=None, ddof=0, keepdims=True),
    "variation": lambda x: stats.variation(x, axis=1, ddof=1),
    "moment": lambda x: stats.moment(x, 3),
    "moment of order 1": lambda x: stats.moment(x) + stats.moment(x, 0),
    "moment about a point": lambda x: stats.moment(x, 1, axis=1, center=0.5),
    "moments": lambda x: stats.moment(x, [0, 1, 2, 4], axis=None),
    "gzscore": lambda x: stats.gzscore(x, axis=1, ddof=1),
    "entropy": stats.entropy,
    "entropy of a base": lambda x: stats.entropy(x, base=2, axis=1, keepdims=True),
    "entropy relative to others": lambda x: stats.entropy(x, W),
    "entropy relative to traced ones": lambda x: stats.entropy(W, x, axis=None),
    "entropy relative to one for all": lambda x: stats.entropy(x, W[:, :1]),
    "of a vector": lambda x: stats.entropy(x[0]) * stats.gmean(x[1]) + stats.circmean(x[2]) - stats.sem(x[3]),
}


@pytest.mark.at_length
@pytest.mark.parametrize("name", CALLS)
def test_values_and_derivatives(name: str) -> None:
    f = CALLS[name]
    wanted = np.asarray(f(X))
    h = 1e-6
    steps = h * np.eye(X.size).reshape(-1, *X.shape)
    differences = np.stack([(f(X + d) - f(X - d)) / (2 * h) for d in steps], -1).reshape(
        *wanted.shape, *X.shape
    )
    for jacobian in (fg.jacrev(f), fg.jacfwd(f), fg.jit(fg.jacobian(f))):
        np.testing.assert_allclose(jacobian(X), differences, rtol=1e-6, atol=1e-8)
    for values in (fg.jit(f)(X), fg.vmap(f)(np.stack([X, X]))[1], fg.vjp(f, X)[0]):
        np.testing.assert_allclose(values, wanted, rtol=1e-12)
        assert np.shape(values) == wanted.shape


@pytest.mark.parametrize(
    "name", ["gmean", "hmean", "circmean", "circvar", "circstd", "sem", "variation", "entropy"]
)
def test_each_of_them_is_differentiated_as_it_stands(name: str) -> None:
    f = getattr(stats, name)
    x = X[0]
    d = 1e-6 * np.array([1.0, -2.0, 0.5])
    found = fg.grad(f)(x) @ d, fg.grad(fg.jit(f))(x) @ d, fg.grad(getattr(fg.scipy.stats, name))(x) @ d
    np.testing.assert_allclose(found, (f(x + d) - f(x - d)) / 2, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_edges_are_scipys() -> None:
    for f, x in (
        (stats.hmean, np.array([1.0, -2.0])),
        (lambda x: stats.pmean(x, 2), np.array([1.0, -2.0])),
        (stats.gmean, np.array([1.0, 0.0])),
        (lambda x: stats.variation(x, ddof=2), np.array([-1.0, -3.0])),
        (lambda x: stats.variation(x, ddof=2), np.array([2.0, 2.0])),
        (stats.entropy, np.array([0.0, 1.0])),
        (lambda x: stats.entropy(x, np.array([0.0, 1.0])), np.array([0.5, 0.5])),
    ):
        np.testing.assert_allclose(fg.vjp(f, x)[0], f(x))


def test_what_scipy_refuses_is_refused() -> None:
    for f, error in (
        (lambda x: stats.pmean(x, np.inf), NotImplementedError),
        (lambda x: stats.pmean(x, "2"), ValueError),
        (lambda x: stats.moment(x, 1.5), ValueError),
        (lambda x: stats.moment(x, []), ValueError),
        (lambda x: stats.entropy(x, base=-1), ValueError),
        (lambda x: stats.gmean(x, nan_policy="other"), ValueError),
        (lambda x: stats.gmean(x, nan_policy="omit"), fg.errors.UnsupportedFunctionError),
    ):
        with pytest.raises(error):
            fg.grad(lambda x, f=f: np.sum(f(x)))(X[0])


def test_a_traced_exponent_is_refused_by_name() -> None:
    with pytest.raises(fg.errors.UnsupportedFunctionError, match="pmean with a traced exponent"):
        fg.grad(lambda p: fg.scipy.stats.pmean(X[0], p))(2.0)


def test_the_entropy_of_what_never_happens_rises_steeply() -> None:
    """In reverse it was NaN by every probability: the infinite slope times one that does not move."""
    never = np.array([0.0, 1.0])
    for way in (fg.grad, fg.jacfwd):
        np.testing.assert_array_equal(way(fg.scipy.stats.entropy)(never), [np.inf, 0.0])
        by_other = way(lambda q: fg.scipy.stats.entropy(np.array([0.0, 1.0]), q))(np.array([0.0, 2.0]))
        np.testing.assert_allclose(by_other, [0.5, 0.0], atol=1e-15)
    assert np.isnan(fg.jvp(fg.scipy.stats.entropy, (np.zeros(2),), (never,))[0])
