"""Distributions with extreme parameters, where a formula as it stands in a book has no digits left."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.stats

import funcgrad as fg

ENTROPIES: tuple[tuple[str, tuple[float, ...]], ...] = (
    *[("gamma", (a,)) for a in (0.1, 3.0, 49.9, 50.0, 300.0, 1e18, 1e100)],
    *[("chi2", (df,)) for df in (100.0, 1e15)],
    *[("chi", (df,)) for df in (0.3, 100.0, 1e10, 1e100)],
    *[("dgamma", (a,)) for a in (0.3, 1e20)],
    *[("invgamma", (a,)) for a in (0.3, 70.0, 1e100)],
    *[("loggamma", (c,)) for c in (0.3, 1e10)],
    *[("nakagami", (nu,)) for nu in (0.7, 1e10)],
    *[("gengamma", (a, c)) for a, c in ((0.7, 2.0), (1e30, 1.0))],
    *[("beta", p) for p in ((0.3, 0.7), (2.0, 1e10), (5.0, 1e20), (1e50, 1e50), (1e10, 1e10 + 20.0))],
    *[("t", (df,)) for df in (0.3, 5.0, 99.0, 1e6, 1e100, np.inf)],
    *[("f", p) for p in ((0.3, 0.7), (5.0, 80.0), (1e3, 1e4))],
    *[("gompertz", (c,)) for c in (0.3, 50.0, 1e10)],
    *[("invgauss", (mu,)) for mu in (0.001, 0.04, 2.0)],
)


@pytest.mark.parametrize(("name", "parameters"), ENTROPIES, ids=[f"{n} {p}" for n, p in ENTROPIES])
def test_entropies_keep_their_digits(name: str, parameters: tuple[float, ...]) -> None:
    def entropy(*parameters: Any) -> Any:
        return getattr(fg.scipy.stats, name).entropy(*parameters)

    theirs = getattr(scipy.stats, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy's extremes overflow on the way.
        wanted = theirs.entropy(*parameters)
    found, slope = fg.value_and_grad(entropy)(*parameters)
    np.testing.assert_allclose(found, wanted, rtol=2e-8, atol=1e-9)
    np.testing.assert_allclose(fg.jit(entropy)(*parameters), found, rtol=1e-12)
    assert np.isfinite(slope)
    first, *rest = parameters
    if first < 1e5:
        h = 1e-4 * first
        nearby = [
            fg.jvp(lambda p: entropy(p, *rest), (first + s,), (1.0,))[0] for s in (2 * h, h, -h, -2 * h)
        ]
        difference = (8.0 * (nearby[1] - nearby[2]) - (nearby[0] - nearby[3])) / (12.0 * h)
        np.testing.assert_allclose(slope, difference, rtol=1e-6, atol=1e-9 / first)


@pytest.mark.parametrize("name", ["pdf", "logpdf", "cdf", "sf", "ppf", "logcdf"])
def test_student_with_infinitely_many_degrees_of_freedom_is_normal(name: str) -> None:
    df = np.array([3.0, np.inf])
    method = getattr(fg.scipy.stats.t, name)
    found, slope = fg.value_and_grad(lambda x, df: np.sum(method(x, df)), argnums=(0, 1))(0.3, df)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = getattr(scipy.stats.t, name)(0.3, df)
    np.testing.assert_allclose(found, wanted.sum(), rtol=1e-12)
    by_point = [fg.grad(method)(0.3, 3.0), fg.grad(getattr(fg.scipy.stats.norm, name))(0.3)]
    np.testing.assert_allclose(slope[0], sum(by_point), rtol=1e-10)
    assert np.isfinite(slope[1][0])
    assert slope[1][1] == 0.0
    np.testing.assert_allclose(fg.jit(method)(0.3, df), wanted, rtol=1e-12)


def test_the_variance_of_student_at_infinity() -> None:
    assert fg.value_and_grad(fg.scipy.stats.t.var)(np.inf) == (1.0, 0.0)


def test_quantiles_near_the_end_of_the_exponentiated_weibull() -> None:
    """The values are those of SciPy's own test suite, made with mpmath."""
    for q, a, c, wanted in (
        (3e-16, 2.5, 0.75, 121.77966713102938),
        (1e-12, 1.0, 2.0, 5.256521769756932),
        (5e-14, 10.0, 0.02, 7.57094886384687e75),
    ):
        found, slope = fg.value_and_grad(fg.scipy.stats.exponweib.isf)(q, a, c)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
        np.testing.assert_allclose(slope, -1.0 / scipy.stats.exponweib.pdf(wanted, a, c), rtol=1e-5)


@pytest.mark.parametrize(("x", "a"), [(0.5, 1e5), (1e6, 2.0), (1.0, 3.0), (1e-3, 0.7)])
def test_kappa_with_powers_that_overflow(x: float, a: float) -> None:
    for name in ("cdf", "sf", "pdf", "logpdf"):
        found, slope = fg.value_and_grad(getattr(fg.scipy.stats.kappa3, name))(x, a)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = getattr(scipy.stats.kappa3, name)(x, a)
        if np.isfinite(wanted) and (name != "pdf" or wanted):
            np.testing.assert_allclose(found, wanted, rtol=1e-10)
        assert np.isfinite(slope)


def test_kappa_where_scipys_power_overflows() -> None:
    """SciPy has 0 for the distribution function of so large a number."""
    assert fg.value_and_grad(fg.scipy.stats.kappa3.cdf)(50.0, 500.0)[0] == 1.0
    value, slope = fg.value_and_grad(fg.scipy.stats.kappa3.logpdf)(50.0, 500.0)
    np.testing.assert_allclose((value, slope), (np.log(500.0) - 501.0 * np.log(50.0), -501.0 / 50.0))


@pytest.mark.parametrize(
    ("first", "n", "p"),
    [(0.0, 1541096362225563.0, 1.0477878413173978e-18), (1.0, 1e9, 1e-9), (3.0, 1e12, 2e-12)],
)
def test_few_successes_among_many_trials(first: float, n: float, p: float) -> None:
    """Poisson's distribution to eleven digits; gamma functions of n alone made it wrong by any factor."""
    for k in (first, first + 1.0, first + 2.0):
        for name in ("pmf", "logpmf"):
            few = getattr(scipy.stats.poisson, name)(k, n * p)
            found, slope = fg.value_and_grad(getattr(fg.scipy.stats.binom, name), argnums=2)(k, n, p)
            np.testing.assert_allclose(found, few, rtol=1e-8)
            wanted = (k / p - n) * (few if name == "pmf" else 1.0)
            np.testing.assert_allclose(slope, wanted, rtol=1e-6, atol=1e-8 * n)
            found = fg.jit(getattr(fg.scipy.stats.nbinom, name))(k, n, 1.0 - p)
            if p > 1e-13:  # Nearer to 1 the probability itself is rounded.
                np.testing.assert_allclose(found, few, rtol=1e-3)


LARGE_COUNTS: tuple[tuple[str, float, tuple[float, ...]], ...] = (
    *[("binom", k, p) for k, p in ((20.0, (50.0, 0.3)), (300.0, (1000.0, 0.31)), (4e5, (1e6, 0.4001)))],
    *[("binom", k, p) for k, p in ((5.0003e8, (1e9, 0.5)), (3e14 + 2e7, (1e15, 0.3)), (1e8, (1e9, 0.5)))],
    *[("nbinom", k, p) for k, p in ((20.0, (33.7, 0.6)), (4e5, (1.2e6, 0.75)), (3e12, (1e12, 0.25001)))],
    *[("poisson", k, (mu,)) for k, mu in ((20.0, 18.0), (1e9, 1e9 + 3e4), (1e15, 1e15 + 1e7), (16.0, 1.0))],
)


@pytest.mark.parametrize(("name", "count", "parameters"), LARGE_COUNTS)
def test_large_counts_keep_their_digits(name: str, count: float, parameters: tuple[float, ...]) -> None:
    """SciPy's logarithms are off by 2e-6 among 1e9, and by 8 among 1e15."""
    mpmath = pytest.importorskip("mpmath")

    def exact(count: Any, *parameters: Any) -> Any:
        log, factorial = mpmath.log, lambda n: mpmath.loggamma(n + 1)
        if name == "poisson":
            return count * log(parameters[0]) - parameters[0] - factorial(count)
        n, p = parameters
        if name == "binom":
            choices = factorial(n) - factorial(count) - factorial(n - count)
            return choices + count * log(p) + (n - count) * log(1 - p)
        return (
            factorial(n + count - 1) - factorial(count) - factorial(n - 1) + n * log(p) + count * log(1 - p)
        )

    logpmf = getattr(fg.scipy.stats, name).logpmf
    expected = parameters[0] * (1.0 if name == "poisson" else parameters[1])
    with mpmath.workdps(50):
        k, *given = (mpmath.mpf(v) for v in (count, *parameters))
        wanted = exact(k, *given)
        h = given[-1] * mpmath.mpf(10) ** -18
        slope = (exact(k, *given[:-1], given[-1] + h) - exact(k, *given[:-1], given[-1] - h)) / (2 * h)
        # What rounding the parameter alone makes of it, and what rounding the result does.
        tolerance = 8e-16 * float(1.0 + abs(wanted) + abs(slope * given[-1])) + 4e-16 * expected**0.5
        found = fg.jvp(lambda p: logpmf(count, *parameters[:-1], p), parameters[-1:], (1.0,))[0]
        assert abs(float(found - wanted)) < tolerance
        assert abs(float(fg.jit(logpmf)(count, *parameters) - wanted)) < tolerance
        by_parameter = fg.grad(lambda p: logpmf(count, *parameters[:-1], p))(parameters[-1])
        size = float(k / given[-1]) * 1e-15
        assert abs(float(by_parameter - slope)) < size + 1e-9 * abs(float(slope))


CERTAIN: tuple[tuple[str, float, tuple[float, ...], float], ...] = (
    *[("bernoulli", k, (p,), 2.0 * k - 1.0) for k in (0.0, 1.0) for p in (0.0, 1.0)],
    *[("binom", k, (3.0, 0.0), slope) for k, slope in ((0.0, -3.0), (1.0, 3.0), (2.0, 0.0), (3.0, 0.0))],
    *[("binom", k, (3.0, 1.0), slope) for k, slope in ((0.0, 0.0), (1.0, 0.0), (2.0, -3.0), (3.0, 3.0))],
    *[("geom", k, (1.0,), slope) for k, slope in ((1.0, 1.0), (2.0, -1.0), (3.0, 0.0))],
    *[("nbinom", k, (2.5, 1.0), slope) for k, slope in ((0.0, 2.5), (1.0, -2.5), (2.0, 0.0))],
    *[("poisson", k, (0.0,), slope) for k, slope in ((0.0, -1.0), (1.0, 1.0), (2.0, 0.0))],
)
"""Counts where the last parameter makes them certain, and how their probability moves with it."""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("name", "k", "parameters", "slope"), CERTAIN)
def test_certain_counts_move_with_their_probability(
    name: str, k: float, parameters: tuple[float, ...], slope: float
) -> None:
    """The slope of a probability of 0 was 0, and that of its logarithm as well, which is infinite."""
    *others, p = parameters
    law, theirs = getattr(fg.scipy.stats, name), getattr(scipy.stats, name)
    outwards = -1.0 if p == 0.0 and name != "geom" else 1.0
    for method in ("pmf", "cdf", "sf", "logpmf"):
        f = lambda p, m=method: getattr(law, m)(k, *others, p)  # noqa: E731
        value, found = fg.value_and_grad(f)(p)
        assert value == pytest.approx(getattr(theirs, method)(k, *others, p), abs=1e-15)
        wanted = slope
        if method in ("cdf", "sf"):
            sign = 1.0 if method == "cdf" else -1.0
            below = [row for row in CERTAIN if row[0] == name and row[2] == parameters and row[1] <= k]
            wanted = sign * sum(row[3] for row in below)
        elif method == "logpmf" and value == -np.inf:
            wanted = -outwards * np.inf
        for way in (found, fg.jvp(f, (p,), (1.0,))[1]):
            np.testing.assert_allclose(way, wanted, atol=1e-12)


def test_draws_that_never_happen_move_with_their_probability() -> None:
    """``3 p (1 - p)**2`` and so on; forwards it was NaN."""
    for k, wanted in (([1, 2], 3.0), ([0, 3], -3.0), ([2, 1], 0.0)):
        f = lambda p, k=k: fg.scipy.stats.multinomial.pmf(k, 3, fg.numpy.array([p, 1.0 - p]))  # noqa: E731
        for way in (fg.grad(f), fg.jacfwd(f)):
            np.testing.assert_allclose(way(0.0), wanted, rtol=1e-12)


def test_a_uniform_angle_gathers_as_its_concentration_grows_from_nothing() -> None:
    """The slope of the log-density by kappa at 0 is ``cos(x)``; it was ``cos(x) - 1``."""
    law = fg.scipy.stats.vonmises_line
    for way in (fg.grad, fg.jacfwd):
        np.testing.assert_allclose(way(lambda k: law.logpdf(0.3, k))(0.0), np.cos(0.3), rtol=1e-12)
        slope = way(lambda k: law.cdf(0.3, k))(0.0)
        np.testing.assert_allclose(slope, np.sin(0.3) / (2.0 * np.pi), rtol=1e-9)
        np.testing.assert_allclose(way(law.entropy)(0.0), 0.0, atol=1e-15)
    np.testing.assert_allclose(fg.grad(fg.grad(lambda k: law.logpdf(0.3, k)))(0.0), -0.5, rtol=1e-12)


def test_twice_where_a_count_is_certain() -> None:
    """``3 p (1 - p)**2`` and ``3 p**2 (1 - p)`` at p = 0."""
    for k, wanted in ((1.0, -12.0), (2.0, 6.0)):
        twice = fg.grad(fg.grad(lambda p: fg.scipy.stats.binom.pmf(k, 3.0, p)))  # noqa: B023
        for way in (twice, fg.jit(twice)):
            np.testing.assert_allclose(way(0.0), wanted, rtol=1e-12)
