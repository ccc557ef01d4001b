"""Distributions where a number is rounded to an end of the support, and where all probability is gone."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import scipy.stats

import funcgrad as fg
from funcgrad.scipy import special, stats

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

INF = np.inf
Function = Callable[..., Any]


def slopes(f: Function, at: tuple[float, ...]) -> list[np.ndarray[Any, Any]]:
    """First derivatives by every argument, in reverse and forwards."""
    each = tuple(range(len(at)))
    return [np.array(way(f, each)(*at), float) for way in (fg.grad, fg.jacfwd)]


def f_beyond(dfn: Any, dfd: Any, x: Any) -> Any:
    """What the F distribution has beyond x."""
    return mp.betainc(dfd / 2, dfn / 2, 0, dfd / (dfn * x + dfd), regularized=True)


NEAR_AN_END: list[tuple[Function, tuple[float, ...], str, Function]] = [
    (stats.arcsine.sf, (1e-18,), "x", lambda x: 1 - 2 / mp.pi * mp.asin(mp.sqrt(x))),
    (stats.arcsine.cdf, (1 - 2.0**-53,), "x", lambda x: 2 / mp.pi * mp.asin(mp.sqrt(x))),
    (stats.f.sf, (4e17, 1.0, 1.0), "xab", lambda x, a, b: f_beyond(a, b, x)),
    (stats.f.cdf, (1e19, 3.0, 2.0), "x b", lambda x, a, b: 1 - f_beyond(a, b, x)),
    (special.fdtr, (1.0, 1.0, 4e17), "abx", lambda a, b, x: 1 - f_beyond(a, b, x)),
    (stats.triang.isf, (1e-30, 0.4), "qc", lambda q, c: 1 - mp.sqrt((1 - c) * q)),
    (stats.trapezoid.isf, (1e-30, 0.3, 0.6), "qcd", lambda q, c, d: 1 - mp.sqrt(q * (1 - d) * (1 + d - c))),
    (
        stats.trapezoid.sf,
        (1 - 2.0**-40, 0.3, 0.6),
        "xcd",
        lambda x, c, d: (1 - x) ** 2 / (1 - d) / (1 + d - c),
    ),
    (stats.skewcauchy.ppf, (1e-30, 0.3), "qa", lambda q, a: -(1 - a) / mp.tan(mp.pi * q / (1 - a))),
    (stats.skewcauchy.isf, (1e-30, 0.3), "qa", lambda q, a: (1 + a) / mp.tan(mp.pi * q / (1 + a))),
    (stats.kappa3.ppf, (1e-30, 51.0), "qa", lambda q, a: q * (a / (1 - q**a)) ** (1 / a)),
    (stats.boltzmann.sf, (1.0, 18.0, 180.0), " r ", lambda k, r, n: mp.exp(-2 * r)),
    (stats.loglaplace.logsf, (1e4, 78.0), "xc", lambda x, c: -mp.log(2) - c * mp.log(x)),
    (stats.burr.logpdf, (1e-30, 1.0, 1.0), "x", lambda x, c, d: -2 * mp.log(1 + x)),
    (stats.truncweibull_min.ppf, (1e-30, 1.8, 0.3, 2.4), "  ab", lambda q, c, a, b: a + 0 * q),
    (stats.truncweibull_min.isf, (1e-30, 1.8, 0.3, 2.4), "  ab", lambda q, c, a, b: b + 0 * q),
    (stats.truncnorm.ppf, (1e-30, -0.4, 1.9), " ab", lambda q, a, b: a + 0 * q),
    (stats.truncnorm.ppf, (1e-30, -0.148, 0.703), " ab", lambda q, a, b: a + 0 * q),
    (stats.truncnorm.isf, (1e-30, -0.148, 0.703), " ab", lambda q, a, b: b + 0 * q),
]
"""Where 1 less a number, or the number itself, has no digits left; what moves, and the exact values."""


@pytest.mark.parametrize("case", range(len(NEAR_AN_END)))
def test_near_an_end_of_the_support(case: int) -> None:
    f, at, moving, exact = NEAR_AN_END[case]
    which = [i for i, name in enumerate(moving) if name != " "]

    def moved(*values: Any) -> Any:
        given = dict(zip(which, values, strict=True))
        return f(*[given.get(i, v) for i, v in enumerate(at)])

    found = slopes(moved, tuple([at[i] for i in which]))
    with mp.workdps(100):
        exactly = [mp.mpf(v) for v in at]
        for n, i in enumerate(which):
            h = exactly[i] * mp.mpf(10) ** -30
            sides = [exact(*[v + s * h * (i == j) for j, v in enumerate(exactly)]) for s in (1, -1)]
            for way in found:
                np.testing.assert_allclose(
                    way[n],
                    float((sides[0] - sides[1]) / (2 * h)),
                    rtol=1e-9,
                    atol=1e-16 if moving.startswith("  ") else 1e-40,
                )


AT_REST: list[tuple[Any, tuple[float, ...]]] = [
    *((law, (x,)) for law in (stats.gumbel_l, stats.gumbel_r, stats.hypsecant) for x in (-1e4, 1e4)),
    *((stats.weibull_min, (x, 54.0)) for x in (1e10,)),
    *((stats.loggamma, (x, 1.5)) for x in (1e4,)),
    *((law, (1e4, 1.2)) for law in (stats.gompertz, stats.exponpow)),
    (stats.burr12, (1e10, 78.0, 42.0)),
    (stats.weibull_max, (-1e10, 54.0)),
]


@pytest.mark.parametrize("case", range(len(AT_REST)))
def test_where_all_probability_is_gone(case: int) -> None:
    """Forwards it was NaN: the exponential's 0 times a logarithm's infinite slope."""
    law, at = AT_REST[case]
    for f in (law.cdf, law.sf):
        for found in slopes(f, at):
            np.testing.assert_array_equal(found, np.zeros(len(at)))


STEEP: list[tuple[Any, float, str, float]] = [
    *((law, 0.6, "logpdf", -0.5) for law in (stats.halfgennorm, stats.kappa3)),
    *((law, 0.6, "cdf", 0.0) for law in (stats.dweibull, stats.dgamma)),
    (stats.gennorm, 0.6, "logpdf", -0.5),
]


@pytest.mark.parametrize("case", range(len(STEEP)))
def test_at_a_steep_start_only_the_unit_moves_with_the_scale(case: int) -> None:
    law, shape, method, wanted = STEEP[case]
    for found in slopes(lambda scale: getattr(law, method)(0.3, shape, 0.3, scale), (2.0,)):
        assert found[0] == wanted


def test_mixed_derivatives_at_the_start_of_half_of_a_generalised_normal_law() -> None:
    """The curvature by x is infinite there, the mixed one is 0."""
    f = lambda x, scale: stats.halfgennorm.logpdf(x, 1.6, 0.0, scale)  # noqa: E731
    for outer in (fg.jacrev, fg.jacfwd):
        for inner in (fg.jacrev, fg.jacfwd):
            assert outer(inner(f, 0), 1)(0.0, 2.0) == 0.0
            assert outer(inner(f, 1), 0)(0.0, 2.0) == 0.0


def test_the_mode_of_a_generalised_normal_law_is_as_curved_as_its_power() -> None:
    for beta, wanted in ((2.0, -2.0), (1.5, -INF), (3.0, 0.0)):
        f = lambda x, beta=beta: stats.gennorm.logpdf(x, beta)  # noqa: E731
        for second in (fg.grad(fg.grad(f)), fg.jacfwd(fg.grad(f)), fg.jacfwd(fg.jacfwd(f))):
            assert second(0.0) == wanted


def test_quantiles_at_a_median_without_density_stay_with_what_stands_still() -> None:
    for law in (stats.dweibull, stats.dgamma):
        for found in slopes(lambda shape, loc, law=law: law.ppf(0.5, shape, loc), (1.8, 0.3)):
            np.testing.assert_array_equal(found, [0.0, 1.0])


def test_slopes_of_the_distribution_function_in_the_middle_of_laplaces_law() -> None:
    """`dweibull` of shape 1 is Laplace's: its slope there was 0."""
    for found in slopes(lambda x: stats.dweibull.cdf(x, 1.0), (0.0,)):
        assert found[0] == 0.5


@pytest.mark.parametrize("name", ["burr", "mielke"])
def test_densities_that_do_not_vanish_at_the_start(name: str) -> None:
    theirs = getattr(scipy.stats, name)
    for shapes in ((1.0, 1.0), (0.5, 1.0), (2.0, 3.0)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = theirs.pdf(0.0, *shapes)
        found = fg.jvp(lambda x: getattr(stats, name).pdf(x, *shapes), (0.0,), (1.0,))[0]  # noqa: B023
        assert found == wanted


def test_what_the_inverse_of_the_upper_incomplete_beta_function_leaves_of_one() -> None:
    """It is 1 to the last digit, and sqrt(6) 1e-10 less by b = 2: no slope was finite."""
    q, (a, b) = 1e-40, (1.0, 2.0)
    by_a, by_b, by_q = slopes(special.betainccinv, (a, b, q))[0]
    rest = np.sqrt(q)  # (1 - x)**2 = q
    np.testing.assert_allclose(by_q, -0.5 / rest, rtol=1e-10)
    np.testing.assert_allclose(by_b, rest * np.log(rest) / 2.0, rtol=1e-8)
    assert 0.0 < by_a < 1e-18


@pytest.mark.parametrize("x", [1e-120, 1e-12, -1e-9, 1e-4, 0.3])
def test_students_law_beside_its_median_moves_with_the_degrees_of_freedom(x: float) -> None:
    """What the square of x leaves of 1 was rounded: the slope had another sign, and the next one was NaN."""
    first = fg.grad(lambda df: stats.t.cdf(x, df))
    with mp.workdps(40):

        def exactly(v: Any) -> Any:
            scale = mp.gamma((v + 1) / 2) / mp.sqrt(v * mp.pi) / mp.gamma(v / 2)
            return x * scale * mp.hyp2f1(0.5, (v + 1) / 2, 1.5, -(mp.mpf(x) ** 2) / v)

        wanted = [float(mp.diff(exactly, mp.mpf(3.5), n)) for n in (1, 2)]
    np.testing.assert_allclose(
        [first(3.5), fg.grad(first)(3.5), fg.jacfwd(first)(3.5)], wanted[:1] + wanted[1:] * 2, rtol=1e-11
    )


MIXED: list[tuple[Function, tuple[float, float], Function]] = [
    (stats.foldcauchy.cdf, (1e-8, 1.2), lambda x, c: (mp.atan(x - c) + mp.atan(x + c)) / mp.pi),
    (stats.foldcauchy.sf, (1e-8, 1.2), lambda x, c: 1 - (mp.atan(x - c) + mp.atan(x + c)) / mp.pi),
    (stats.foldcauchy.sf, (1e9, 1.2), lambda x, c: 1 - (mp.atan(x - c) + mp.atan(x + c)) / mp.pi),
    *(
        (stats.wrapcauchy.cdf, (x, 0.4), lambda x, c: mp.acot((1 - c) / (1 + c) * mp.cot(x / 2)) / mp.pi % 1)
        for x in (1e-8, np.pi, 4.0)
    ),
]
"""Where second derivatives were other finite numbers."""


@pytest.mark.parametrize("case", range(len(MIXED)))
def test_second_derivatives_where_angles_cancel(case: int) -> None:
    f, at, exact = MIXED[case]
    found = fg.hessian(lambda v: f(v[0], v[1]))(np.array(at))
    turned = fg.jacrev(fg.jacfwd(lambda v: f(v[0], v[1])))(np.array(at))
    with mp.workdps(60):
        exactly = [mp.mpf(v) for v in at]
        wanted = [
            [float(mp.diff(exact, exactly, n)) for n in row] for row in (((2, 0), (1, 1)), ((1, 1), (0, 2)))
        ]
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(turned, wanted, rtol=1e-9, atol=1e-15)
