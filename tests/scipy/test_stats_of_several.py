"""Distributions of several numbers, and statistics of samples, by one table, against SciPy's own values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats

import funcgrad as fg
from funcgrad.errors import NotDifferentiableError, UnsupportedFunctionError
from funcgrad.testing import check_grads

RNG = np.random.default_rng(11)
ROOT = RNG.normal(size=(3, 3))
COV = ROOT @ ROOT.T + np.eye(3)
X, MEAN, MANY = RNG.normal(size=3), RNG.normal(size=3), RNG.normal(size=(5, 3))
ALPHA, SHARES = np.array([1.5, 2.5, 3.0]), np.array([0.2, 0.3, 0.5])
COUNTS = np.array([[1, 2, 3], [0, 6, 0]])
DATA, TABLE = RNG.normal(size=8), RNG.normal(size=(4, 3))
DF = np.float64(5.5)


def even(c: Any) -> Any:
    """The symmetric part: SciPy reads one triangle, and derivatives are symmetric."""
    return 0.5 * (c + c.T)


Case = tuple[Callable[..., Any], tuple[Any, ...]]

CASES: dict[str, Case] = {
    "normal logpdf": (lambda s, x, m, c: s.multivariate_normal.logpdf(x, m, even(c)), (X, MEAN, COV)),
    "normal pdf": (lambda s, x, m, c: s.multivariate_normal.pdf(x, m, even(c)), (MANY, MEAN, COV)),
    "normal diagonal": (lambda s, x, c: s.multivariate_normal.logpdf(x, MEAN, c), (X, np.diag(COV).copy())),
    "normal number": (lambda s, x, m: s.multivariate_normal.logpdf(x, m, 2.0), (MANY, MEAN)),
    "normal line": (lambda s, x, c: s.multivariate_normal.logpdf(x, 0.3, c), (X, np.array(2.0))),
    "normal entropy": (lambda s, c: s.multivariate_normal.entropy(cov=even(c)), (COV,)),
    "normal frozen": (lambda s, x, m: s.multivariate_normal(m, COV).logpdf(x), (X, MEAN)),
    "t logpdf": (lambda s, x, m, c, d: s.multivariate_t.logpdf(x, m, even(c), d), (X, MEAN, COV, DF)),
    "t pdf": (lambda s, x, m: s.multivariate_t.pdf(x, m, COV, 2.0), (MANY, MEAN)),
    "t entropy": (lambda s, c: s.multivariate_t.entropy(None, even(c), 4.5), (COV,)),
    "dirichlet logpdf": (lambda s, x, a: s.dirichlet.logpdf(x, a), (SHARES[:2], ALPHA)),
    "dirichlet pdf": (lambda s, a: s.dirichlet.pdf(SHARES, a), (ALPHA,)),
    "dirichlet columns": (lambda s, a: s.dirichlet.logpdf(np.stack([SHARES, SHARES[::-1]], 1), a), (ALPHA,)),
    "dirichlet mean": (lambda s, a: s.dirichlet.mean(a), (ALPHA,)),
    "dirichlet var": (lambda s, a: s.dirichlet.var(a), (ALPHA,)),
    "dirichlet cov": (lambda s, a: s.dirichlet.cov(a), (ALPHA,)),
    "dirichlet entropy": (lambda s, a: s.dirichlet.entropy(a), (ALPHA,)),
    "wishart logpdf": (lambda s, x, d, c: s.wishart.logpdf(even(x), d, even(c)), (COV, DF, COV + np.eye(3))),
    "wishart stack": (lambda s, d: s.wishart.logpdf(np.stack([COV, 2 * COV], -1), d, COV), (DF,)),
    "wishart pdf": (lambda s, c: s.wishart.pdf(COV, 5, even(c)), (COV,)),
    "wishart mean": (lambda s, d, c: s.wishart.mean(d, c), (DF, COV)),
    "wishart var": (lambda s, d, c: s.wishart.var(d, even(c)), (DF, COV)),
    "wishart entropy": (lambda s, d, c: s.wishart.entropy(d, even(c)), (DF, COV)),
    "multinomial logpmf": (lambda s, p: s.multinomial.logpmf(COUNTS, 6, p / p.sum()), (SHARES,)),
    "multinomial as given": (lambda s, p: s.multinomial.logpmf(COUNTS[0], 6, p), (SHARES,)),
    "multinomial pmf": (lambda s, p: s.multinomial.pmf([1, 2, 3], 6, p / p.sum()), (SHARES,)),
    "multinomial mean": (lambda s, p: s.multinomial.mean(6, p / p.sum()), (SHARES,)),
    "multinomial cov": (lambda s, p: s.multinomial.cov(6, p / p.sum()), (SHARES,)),
    "zscore": (lambda s, x: s.zscore(x, axis=1, ddof=1), (TABLE,)),
    "zscore of all": (lambda s, x: s.zscore(x, axis=None), (TABLE,)),
    "skew": (lambda s, x: s.skew(x), (DATA,)),
    "skew unbiased": (lambda s, x: s.skew(x, bias=False), (TABLE,)),
    "kurtosis": (lambda s, x: s.kurtosis(x, axis=None, keepdims=True), (TABLE,)),
    "kurtosis unbiased": (lambda s, x: s.kurtosis(x, fisher=False, bias=False), (TABLE,)),
    "kde": (lambda s, d, x: s.gaussian_kde(d)(x), (DATA, X)),
    "kde of vectors": (lambda s, d, x: s.gaussian_kde(d, 0.7).logpdf(x), (MANY.T, TABLE.T)),
    "kde of weights": (lambda s, d, w: s.gaussian_kde(d, "silverman", w)(X), (DATA, DATA**2 + 0.1)),
}


@pytest.mark.at_length
@pytest.mark.filterwarnings("ignore::FutureWarning")  # of probabilities that do not add up to 1
@pytest.mark.parametrize("name", CASES)
def test_of_several(name: str) -> None:
    call, arrays = CASES[name]
    every = tuple(range(len(arrays)))

    def ours(*arrays: Any) -> Any:
        return call(fg.scipy.stats, *arrays)

    def total(*arrays: Any) -> Any:
        found = ours(*arrays)
        return np.sum(np.cos(found) * np.linspace(0.5, 1.5, np.size(found)).reshape(np.shape(found)))

    expected = call(scipy.stats, *arrays)
    found = fg.jvp(ours, arrays, arrays)[0]
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    slopes = fg.grad(total, argnums=every)(*arrays)
    for compiled, slope in zip(fg.jit(fg.grad(total, argnums=every))(*arrays), slopes, strict=True):
        np.testing.assert_allclose(compiled, slope, rtol=1e-8, atol=1e-9)
    directions = [np.float64(1.0) if np.ndim(x) == 0 else RNG.normal(size=np.shape(x)) for x in arrays]

    def along(t: float) -> float:
        values = call(scipy.stats, *[x + t * d for x, d in zip(arrays, directions, strict=True)])
        return float(
            np.sum(np.cos(values) * np.linspace(0.5, 1.5, np.size(values)).reshape(np.shape(values)))
        )

    slope = sum(float(np.sum(s * d)) for s, d in zip(slopes, directions, strict=True))
    np.testing.assert_allclose(slope, (along(1e-5) - along(-1e-5)) / 2e-5, rtol=2e-5, atol=1e-6)
    check_grads(total, arrays, order=2)


def test_samples_move_with_parameters() -> None:
    key = fg.random.key(3)

    def drawn(cov: Any) -> Any:
        return fg.scipy.stats.multivariate_normal.rvs(MEAN, cov, size=4000, random_state=key)

    x = drawn(COV)
    np.testing.assert_allclose(x.mean(0), MEAN, atol=0.15)
    np.testing.assert_allclose(np.cov(x.T), COV, atol=0.6)
    scaled = fg.jvp(lambda s: drawn(s * COV), (1.0,), (1.0,))[1]
    np.testing.assert_allclose(scaled, 0.5 * (x - MEAN), atol=1e-10)
    shares = fg.scipy.stats.dirichlet.rvs(ALPHA, size=2000, random_state=key)
    np.testing.assert_allclose(shares.mean(0), ALPHA / ALPHA.sum(), atol=0.03)
    with pytest.raises(UnsupportedFunctionError, match="needs a key"):
        fg.grad(lambda m: fg.scipy.stats.multivariate_normal.rvs(m, COV).sum())(MEAN)


def test_refusals_name_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotDifferentiableError, match="rankdata"):
        fg.grad(lambda x: fg.scipy.stats.rankdata(x).sum())(DATA)
    with pytest.raises(UnsupportedFunctionError, match=r"multivariate_t\.cdf"):
        fg.grad(lambda x: fg.scipy.stats.multivariate_t.cdf(x, MEAN, COV))(X)
    with pytest.raises(UnsupportedFunctionError, match="nan_policy"):
        fg.grad(lambda x: fg.scipy.stats.zscore(x, nan_policy="omit").sum())(DATA)
    monkeypatch.setenv("FUNCGRAD_CONSTRUCTORS", "0")  # where its calls are not seen
    with pytest.raises(UnsupportedFunctionError, match=r"Use fg\.scipy\.stats\.multivariate_normal\.logpdf"):
        fg.grad(lambda x: scipy.stats.multivariate_normal.logpdf(x, MEAN, COV))(X)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_normal_distribution_function_moves_by_faces_and_edges(size: int) -> None:
    """By points, mean and covariances, beside differences of SciPy's values."""
    fine = {"maxpts": 100_000, "abseps": 1e-7}

    def theirs(x: Any, m: Any, c: Any) -> Any:
        rng = np.random.default_rng(0)
        return scipy.stats.multivariate_normal.cdf(x, m, even(c), **fine, rng=rng)

    def ours(x: Any, m: Any, c: Any) -> Any:
        return fg.scipy.stats.multivariate_normal.cdf(x, m, even(c), **fine)

    at = [X[:size], MEAN[:size], COV[:size, :size]]
    found = fg.value_and_grad(ours, argnums=(0, 1, 2))(*at)
    np.testing.assert_allclose(found[0], theirs(*at), atol=1e-6)
    for i, place in ((0, (size - 1,)), (1, (0,)), (2, (0, 0)), (2, (0, size - 1))):
        values = []
        for step in (1e-3, -1e-3):
            moved = [a.copy() for a in at]
            moved[i][place] += step
            values.append(theirs(*moved))
        np.testing.assert_allclose(found[1][i][place], (values[0] - values[1]) / 2e-3, atol=1e-4)


def test_the_normal_distribution_function_of_boxes_points_and_endless_ones() -> None:
    law, c = fg.scipy.stats.multivariate_normal, COV[:2, :2]

    def below(x: Any) -> Any:
        return law.cdf(x, MEAN[:2], c)

    every = fg.grad(lambda x: np.sum(below(x)))(MANY[:, :2])
    np.testing.assert_allclose(every, [fg.grad(below)(x) for x in MANY[:, :2]], atol=1e-12)
    slope = fg.jit(fg.grad(below))(np.array([0.3, np.inf]))
    deviation = np.sqrt(c[0, 0])
    np.testing.assert_allclose(slope, [scipy.stats.norm.pdf(0.3, MEAN[0], deviation), 0.0], atol=1e-12)
    by_first = fg.grad(lambda x: fg.grad(below)(x)[0])(X[:2])
    np.testing.assert_allclose(by_first[1], scipy.stats.multivariate_normal.pdf(X[:2], MEAN[:2], c))

    def corner(low: Any) -> Any:
        return law.cdf(X[:2], MEAN[:2], c, lower_limit=low)

    low = X[:2] - 1.0
    np.testing.assert_allclose(fg.value_and_grad(corner)(low)[0], corner(low), atol=1e-9)
    assert np.all(fg.grad(corner)(low) < 0.0)
