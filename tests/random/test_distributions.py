"""Samples follow their distributions: Kolmogorov-Smirnov and chi-square tests with fixed keys.

Each is held to a probability of 1e-4 under the distribution, from several keys: what fails is wrong.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats as st

import funcgrad as fg

R = fg.random
COUNT = 4000
LEAST = 1e-4

CONTINUOUS: dict[str, tuple[Any, Any]] = {
    "uniform": (R.uniform, st.uniform()),
    "uniform from -2 to 3": (lambda k, s: R.uniform(k, s, minval=-2.0, maxval=3.0), st.uniform(-2, 5)),
    "uniform32": (lambda k, s: R.uniform(k, s, np.float32), st.uniform()),
    "normal": (R.normal, st.norm()),
    "normal32": (lambda k, s: R.normal(k, s, np.float32), st.norm()),
    "exponential": (R.exponential, st.expon()),
    "laplace": (R.laplace, st.laplace()),
    "logistic": (R.logistic, st.logistic()),
    "gumbel": (R.gumbel, st.gumbel_r()),
    "cauchy": (R.cauchy, st.cauchy()),
    "gamma 0.3": (lambda k, s: R.gamma(k, 0.3, s), st.gamma(0.3)),
    "gamma 1": (lambda k, s: R.gamma(k, 1.0, s), st.gamma(1.0)),
    "gamma 50": (lambda k, s: R.gamma(k, 50.0, s), st.gamma(50.0)),
    "loggamma": (lambda k, s: R.loggamma(k, 0.01, s), st.loggamma(0.01)),
    "beta": (lambda k, s: R.beta(k, 0.5, 2.0, s), st.beta(0.5, 2.0)),
    "student_t": (lambda k, s: R.student_t(k, 3.0, s), st.t(3.0)),
    "chisquare": (lambda k, s: R.chisquare(k, 3.0, s), st.chi2(3.0)),
    "truncated_normal": (lambda k, s: R.truncated_normal(k, -1.0, 2.0, s), st.truncnorm(-1, 2)),
    "normal above 6": (lambda k, s: R.truncated_normal(k, 6.0, 8.0, s), st.truncnorm(6, 8)),
    "normal below -60": (lambda k, s: R.truncated_normal(k, -np.inf, -60.0, s), st.truncnorm(-np.inf, -60)),
    "lognormal": (lambda k, s: R.lognormal(k, 0.5, s), st.lognorm(0.5)),
    "pareto": (lambda k, s: R.pareto(k, 2.5, s), st.pareto(2.5)),
    "rayleigh": (lambda k, s: R.rayleigh(k, 2.0, s), st.rayleigh(scale=2.0)),
    "weibull_min": (lambda k, s: R.weibull_min(k, 2.0, 1.5, s), st.weibull_min(1.5, scale=2.0)),
    "f": (lambda k, s: R.f(k, 3.0, 5.0, s), st.f(3.0, 5.0)),
    "generalized_normal": (lambda k, s: R.generalized_normal(k, 4.0, s), st.gennorm(4.0)),
    "maxwell": (R.maxwell, st.maxwell()),
    "double_sided_maxwell": (
        lambda k, s: ((R.double_sided_maxwell(k, 1.0, 2.0, s) - 1.0) / 2.0) ** 2,
        st.chi2(3.0),
    ),
    "triangular": (lambda k, s: R.triangular(k, -1.0, 0.5, 3.0, s), st.triang(0.375, -1.0, 4.0)),
    "triangular from its mode": (lambda k, s: R.triangular(k, 0.0, 0.0, 1.0, s), st.triang(0.0)),
    "wald": (lambda k, s: R.wald(k, 2.0, s), st.invgauss(2.0)),
    "wald 1e-3": (lambda k, s: R.wald(k, 1e-3, s), st.invgauss(1e-3)),
    "length in a ball": (
        lambda k, s: np.sum(np.abs(R.ball(k, 3, 1.5, s)) ** 1.5, axis=-1),
        st.beta(2.0, 1.0),
    ),
    "corner of orthogonal matrices": (lambda k, s: R.orthogonal(k, 3, s)[:, 0, 1], st.uniform(-1, 2)),
    "dirichlet": (lambda k, s: R.dirichlet(k, np.array([0.5, 1.0, 2.0]), s)[..., 0], st.beta(0.5, 3.0)),
}
DISCRETE: dict[str, tuple[Any, Any]] = {
    "poisson 0.5": (lambda k, s: R.poisson(k, 0.5, s), st.poisson(0.5)),
    "poisson 30": (lambda k, s: R.poisson(k, 30.0, s), st.poisson(30.0)),
    "binomial 10": (lambda k, s: R.binomial(k, 10, 0.3, s), st.binom(10, 0.3)),
    "binomial 100": (lambda k, s: R.binomial(k, 100, 0.6, s), st.binom(100, 0.6)),
    "geometric": (lambda k, s: R.geometric(k, 0.3, s), st.geom(0.3)),
    "multinomial": (
        lambda k, s: fg.vmap(lambda own: R.multinomial(own, 6, np.array([0.2, 0.5, 0.3]))[1])(
            R.split(k, s[0])
        ),
        st.binom(6, 0.5),
    ),
    "bernoulli": (lambda k, s: R.bernoulli(k, 0.2, s).astype(int), st.bernoulli(0.2)),
    "randint": (lambda k, s: R.randint(k, s, -3, 5), st.randint(-3, 5)),
    "rademacher": (lambda k, s: (R.rademacher(k, s) + 1) // 2, st.bernoulli(0.5)),
    "categorical": (
        lambda k, s: R.categorical(k, np.log([0.3, 0.7]), shape=s),
        st.bernoulli(0.7),
    ),
    "choice": (lambda k, s: R.choice(k, 2, s, p=np.array([0.9, 0.1])), st.bernoulli(0.1)),
    "first of a permutation": (
        lambda k, s: fg.vmap(lambda own: R.permutation(own, 5)[0])(R.split(k, s[0])),
        st.randint(0, 5),
    ),
    "choice without repetitions": (
        lambda k, s: fg.vmap(
            lambda own: R.choice(own, 3, (2,), replace=False, p=np.array([0.2, 0.8, 0.0]))[0]
        )(R.split(k, s[0])),
        st.bernoulli(0.8),
    ),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name: str) -> None:
    draw, distribution = CONTINUOUS[name]
    found = [
        st.kstest(np.asarray(draw(R.key(seed), (COUNT,)), float), distribution.cdf).pvalue
        for seed in range(3)
    ]
    assert min(found) > LEAST, found


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name: str) -> None:
    draw, distribution = DISCRETE[name]
    low, high = int(distribution.ppf(1e-3)), int(distribution.ppf(1 - 1e-3))
    inner = distribution.pmf(np.arange(low, high + 1))
    inner[0], inner[-1] = distribution.cdf(low), distribution.sf(high - 1)
    for seed in range(3):
        x = np.clip(draw(R.key(seed), (COUNT,)), low, high)
        counts = np.bincount(x - low, minlength=high - low + 1)
        assert st.chisquare(counts, inner / inner.sum() * COUNT).pvalue > LEAST


def test_two_halves_of_normal_numbers_are_independent() -> None:
    x = R.normal(R.key(1), (20_000,))
    cosines, sines = x[:10_000], x[10_000:]
    for f in (np.asarray, np.abs, np.square, lambda v: v > 1):
        assert abs(np.corrcoef(f(cosines), f(sines))[0, 1]) < 0.04
    assert abs(np.corrcoef(x[1:], x[:-1])[0, 1]) < 0.03
    assert st.kstest(np.arctan2(sines, cosines), st.uniform(-np.pi, 2 * np.pi).cdf).pvalue > LEAST


def test_multivariate_normal() -> None:
    cov = np.array([[2.0, 0.6], [0.6, 0.5]])
    x = R.multivariate_normal(R.key(0), np.array([1.0, -1.0]), cov, (COUNT,))
    np.testing.assert_allclose(np.mean(x, axis=0), [1.0, -1.0], atol=0.1)
    np.testing.assert_allclose(np.cov(x.T), cov, atol=0.15)
    white = np.linalg.solve(np.linalg.cholesky(cov), (x - [1.0, -1.0]).T)
    assert st.kstest(white.ravel(), "norm").pvalue > LEAST


def test_singular_covariances_are_drawn_by_eigenvalues() -> None:
    x = R.multivariate_normal(R.key(0), np.zeros(2), np.ones((2, 2)), (100,), method="eigh")
    np.testing.assert_allclose(x[:, 0], x[:, 1], atol=1e-7)
    assert st.kstest(x[:, 0], "norm").pvalue > LEAST


@pytest.mark.parametrize(
    ("name", "at"),
    [("wald", (0.7,)), ("wald", (40.0,)), ("triangular", (-1.0, 0.2, 2.0))],
)
def test_samples_move_with_their_parameters_as_the_distribution_does(name: str, at: Any) -> None:
    """The implicit derivative of each sample, ``-(dF/dp) / (dF/dx)``, from SciPy's distributions."""
    made = {
        "wald": st.invgauss,
        "triangular": lambda a, m, b: st.triang((m - a) / (b - a), a, b - a),
    }[name]
    draw = getattr(R, name)
    x = draw(R.key(3), *at, (50,))
    for way in (fg.jacfwd, fg.jacrev, lambda f, k: fg.jit(fg.jacfwd(f, k))):
        for k, value in enumerate(at):
            step = 1e-5 * max(abs(value), 1.0)
            below, above = list(at), list(at)
            below[k], above[k] = value - step, value + step
            by_parameter = (made(*above).cdf(x) - made(*below).cdf(x)) / (2 * step)
            found = way(lambda *p: draw(R.key(3), *p, (50,)), k)(*at)
            np.testing.assert_allclose(found, -by_parameter / made(*at).pdf(x), rtol=2e-4, atol=1e-7)


@pytest.mark.parametrize(("n", "m", "dtype"), [(3, 3, complex), (2, 4, float), (4, 2, np.float32)])
def test_orthogonal_matrices(n: int, m: int, dtype: Any) -> None:
    q = R.orthogonal(R.key(1), n, (5,), dtype, m)
    assert q.shape == (5, n, m)
    assert q.dtype == dtype
    product = q @ q.conj().swapaxes(1, 2) if n < m else q.conj().swapaxes(1, 2) @ q
    np.testing.assert_allclose(product, np.broadcast_to(np.eye(min(n, m)), product.shape), atol=1e-6)


def test_permutations_and_choices() -> None:
    key = R.key(2)
    x = np.arange(12.0).reshape(4, 3)
    rows = R.permutation(key, x)
    np.testing.assert_array_equal(np.sort(rows[:, 0]), x[:, 0])
    np.testing.assert_array_equal(rows[:, 1] - rows[:, 0], np.ones(4))
    mixed = R.permutation(key, x, axis=1, independent=True)
    np.testing.assert_array_equal(np.sort(mixed, axis=1), x)
    assert sorted(R.choice(key, 6, (6,), replace=False).tolist()) == list(range(6))
    assert R.choice(key, x, (2, 2), axis=1).shape == (4, 2, 2)
    assert R.choice(key, 3, (0,)).shape == (0,)


def test_certain_success_comes_at_once() -> None:
    np.testing.assert_array_equal(R.geometric(R.key(0), np.array([1.0, 1.0])), [1, 1])


def test_ranges_of_integers() -> None:
    key = R.key(0)
    whole = R.randint(key, (50,), 0, 2**64, np.uint64)
    np.testing.assert_array_equal(whole, R.bits(key, (50,)))
    low, high = np.array([0, -10]), np.array([3, -8])
    found = R.randint(key, (100, 2), low, high, np.int8)
    assert found.dtype == np.int8
    assert np.all((found >= low) & (found < high))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda k: R.randint(k, (), 3, 3), "is empty"),
        (lambda k: R.randint(k, (), 0.0, 3), "whole numbers"),
        (lambda k: R.choice(k, 3, (4,), replace=False), "without repetitions"),
        (lambda k: R.choice(k, 0, (4,)), "nothing to choose"),
        (lambda k: R.choice(k, 3, p=[1.0]), "probabilities for 3"),
        (lambda k: R.poisson(k, -1.0), "means must be"),
        (lambda k: R.binomial(k, 3, 1.5), "chances from 0 to 1"),
        (lambda k: R.dirichlet(k, 1.0), "at least one axis"),
        (lambda k: R.multinomial(k, 3, np.ones((2, 2))), "one vector"),
        (lambda k: R.multivariate_normal(k, np.zeros(2), np.eye(3)), "do not belong together"),
        (lambda k: R.multivariate_normal(k, np.zeros(2), np.eye(2), method="qr"), "method must be"),
    ],
)
def test_refusals(call: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call(R.key(0))


def test_shapes_below_zero_have_no_samples_and_end() -> None:
    """Of those between -1 and -2/3 no proposal was accepted, and the draw never ended."""
    assert np.isnan(fg.random.gamma(fg.random.key(0), np.array([-0.9, -0.7, -0.2, -3.0]))).all()
