"""Derivatives of special functions, first and second, by every argument, against mpmath."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import scipy.special

import funcgrad as fg
from funcgrad.ops.specials import quadrature
from funcgrad.ops.specials.errors import DawsnDerivative, ErfcxDerivative
from funcgrad.ops.specials.table import TABLE, Special

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

Points = list[tuple[Any, ...]]


def scaled(order: int, f: Callable[..., Any], sign: int) -> Callable[[Any], Any]:
    """A Bessel function of an order times an exponential."""
    return lambda x: mp.exp(sign * (abs(x) if sign < 0 else x)) * f(order, x)


def of_order(f: Callable[..., Any], order: int) -> Callable[[Any], Any]:
    return lambda x: f(order, x)


def boxcox(x: Any, lmbda: Any) -> Any:
    return mp.expm1(lmbda * mp.log(x)) / lmbda


def inv_boxcox(y: Any, lmbda: Any) -> Any:
    return mp.exp(mp.log1p(lmbda * y) / lmbda)


def degrees(f: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda x: f(x * mp.pi / 180)


def lower(a: Any, x: Any) -> Any:
    return mp.gammainc(a, 0, x, regularized=True)


def f_distribution(n: Any, d: Any, x: Any) -> Any:
    return mp.betainc(n / 2, d / 2, 0, n * x / (d + n * x), regularized=True)


def t_distribution(n: Any, t: Any) -> Any:
    tail = mp.betainc(n / 2, mp.mpf(1) / 2, 0, n / (n + t * t), regularized=True) / 2
    return tail if t < 0 else 1 - tail


CASES: dict[str, tuple[Callable[..., Any], Points]] = {
    "gamma": (mp.gamma, [(0.3,), (4.2,), (-1.5,)]),
    "loggamma": (mp.loggamma, [(0.3,), (40.2,)]),
    "rgamma": (mp.rgamma, [(-2.0,), (0.0,), (-2.0001,), (0.4,), (3.3,)]),
    "beta": (mp.beta, [(0.5, 2.0), (30.0, 4.0), (1e-9, 2.0)]),
    "beta_slope": (
        lambda a, b: mp.beta(a, b) * (mp.digamma(a) - mp.digamma(a + b)),
        [(0.5, 2.0), (30.0, 4.0), (2.0, 0.02)],
    ),
    "tricomi": (mp.hyperu, [(1.5, 0.5, 2.2), (-2.0, 1.5, 0.7)]),
    "betaln": (lambda a, b: mp.log(mp.beta(a, b)), [(0.5, 2.0), (30.0, 4.0)]),
    "binom": (mp.binomial, [(5.0, 2.0), (2.0, 5.0), (3.5, 1.2), (3.0, -1.0), (4.0, 4.0)]),
    "poch": (mp.rf, [(2.0, 3.0), (0.0, 2.0), (-2.0, 4.0)]),
    "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), [(-1.0,), (0.5,), (8.0,)]),
    "erfi": (mp.erfi, [(0.4,), (2.0,)]),
    "dawsn": (lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x), [(0.3,), (5.0,), (-20.0,)]),
    "erfcinv": (lambda y: mp.erfinv(1 - y), [(0.2,), (1.7,)]),
    "log_ndtr": (lambda x: mp.log(mp.ncdf(x)), [(-20.0,), (-3.0,), (0.0,), (5.0,)]),
    "ndtri": (lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1), [(0.2,), (0.999,)]),
    "jv": (mp.besselj, [(0.0, 0.5), (1.5, 3.0), (2.0, 0.1)]),
    "yv": (mp.bessely, [(0.5, 2.0), (3.0, 1.0)]),
    "iv": (mp.besseli, [(0.5, 2.0), (1.0, 0.5)]),
    "kv": (mp.besselk, [(0.5, 2.0), (3.0, 0.7)]),
    "ive": (lambda v, x: mp.exp(-abs(x)) * mp.besseli(v, x), [(0.5, 2.0)]),
    "kve": (lambda v, x: mp.exp(x) * mp.besselk(v, x), [(0.5, 2.0)]),
    "kn": (mp.besselk, [(2, 2.0)]),
    "yn": (mp.bessely, [(2, 2.0)]),
    "j0": (of_order(mp.besselj, 0), [(0.0,), (3.0,)]),
    "j1": (of_order(mp.besselj, 1), [(0.0,), (3.0,)]),
    "y0": (of_order(mp.bessely, 0), [(3.0,)]),
    "y1": (of_order(mp.bessely, 1), [(3.0,)]),
    "i0": (of_order(mp.besseli, 0), [(0.0,), (3.0,)]),
    "i1": (of_order(mp.besseli, 1), [(0.0,), (3.0,)]),
    "i0e": (scaled(0, mp.besseli, -1), [(30.0,), (-3.0,)]),
    "i1e": (scaled(1, mp.besseli, -1), [(-2.0,), (3.0,)]),
    "k0": (of_order(mp.besselk, 0), [(3.0,)]),
    "k1": (of_order(mp.besselk, 1), [(3.0,)]),
    "k0e": (scaled(0, mp.besselk, 1), [(3.0,)]),
    "k1e": (scaled(1, mp.besselk, 1), [(3.0,)]),
    "airy_ai": (mp.airyai, [(0.5,), (-2.0,)]),
    "airy_bi": (mp.airybi, [(0.5,), (-2.0,)]),
    "expi": (mp.ei, [(0.5,), (-2.0,)]),
    "exp1": (mp.e1, [(0.5,)]),
    "expn": (mp.expint, [(0, 0.5), (1, 0.5), (3, 2.0)]),
    "sici_si": (mp.si, [(0.0,), (2.0,)]),
    "sici_ci": (mp.ci, [(2.0,)]),
    "shichi_shi": (mp.shi, [(0.0,), (2.0,)]),
    "shichi_chi": (mp.chi, [(2.0,)]),
    "fresnel_s": (mp.fresnels, [(0.7,)]),
    "fresnel_c": (mp.fresnelc, [(0.7,)]),
    "spence": (lambda z: mp.polylog(2, 1 - z), [(1.0,), (0.2,), (1.7,), (1.0001,)]),
    "ellipk": (mp.ellipk, [(0.0,), (0.05,), (0.0999,), (0.5,), (0.99,), (-3.0,)]),
    "ellipkm1": (lambda p: mp.ellipk(1 - p), [(0.95,), (0.3,), (0.01,)]),
    "ellipe": (mp.ellipe, [(0.0,), (0.05,), (0.5,), (0.99,), (-3.0,)]),
    "ellipkinc": (mp.ellipf, [(0.5, 0.3), (1.2, 0.0), (7.0, 0.05), (-2.0, -0.0999), (1.5, -3.0)]),
    "ellipeinc": (mp.ellipe, [(0.5, 0.3), (1.2, 0.0), (7.0, 0.05), (-2.0, -0.0999), (1.5, -3.0)]),
    "exprel": (lambda x: mp.expm1(x) / x, [(0.001,), (3.0,), (-4.0,), (40.0,), (-40.0,)]),
    "hyp0f1": (mp.hyp0f1, [(1.5, 0.3)]),
    "hyp1f1": (mp.hyp1f1, [(1.5, 2.5, 0.3)]),
    "hyp2f1": (mp.hyp2f1, [(1.5, 0.5, 2.2, 0.3)]),
    "hyperu": (mp.hyperu, [(1.5, 0.5, 2.2)]),
    "boxcox": (boxcox, [(2.0, 1e-9), (2.0, 0.5), (0.3, -3.0), (2.0, 1e-3), (5.0, 8.0)]),
    "boxcox1p": (lambda x, lmbda: boxcox(1 + x, lmbda), [(2.0, 0.5), (1e-8, 2.0)]),
    "inv_boxcox": (inv_boxcox, [(2.0, 0.5), (2.0, 1e-6), (0.3, -1.0), (0.5, 3.0)]),
    "inv_boxcox1p": (lambda y, lmbda: inv_boxcox(y, lmbda) - 1, [(2.0, 0.5), (2.0, 1e-6)]),
    "rel_entr": (lambda x, y: x * mp.log(x / y), [(0.5, 2.0)]),
    "kl_div": (lambda x, y: x * mp.log(x / y) - x + y, [(0.5, 2.0)]),
    "huber": (lambda d, r: r * r / 2 if abs(r) <= d else d * (abs(r) - d / 2), [(1.0, 2.0), (3.0, -1.0)]),
    "pseudo_huber": (lambda d, r: d * d * (mp.sqrt(1 + (r / d) ** 2) - 1), [(1.0, 2.0), (3.0, 1e-4)]),
    "exp10": (lambda x: mp.mpf(10) ** x, [(0.4,)]),
    "cosm1": (lambda x: mp.cos(x) - 1, [(0.4,)]),
    "power": (mp.power, [(2.0, 0.3), (0.2, -1.5)]),
    "xlogy": (lambda x, y: x * mp.log(y), [(0.7, 0.3), (-2.0, 5.0)]),
    "xlog1py": (lambda x, y: x * mp.log1p(y), [(0.7, 0.3), (-2.0, -0.9)]),
    "powm1": (lambda x, y: x**y - 1, [(2.0, 0.3)]),
    "sindg": (degrees(mp.sin), [(20.0,)]),
    "cosdg": (degrees(mp.cos), [(20.0,)]),
    "tandg": (degrees(mp.tan), [(20.0,)]),
    "cotdg": (degrees(mp.cot), [(20.0,)]),
    "gammainc": (lower, [(0.5, 0.7), (3.0, 5.0)]),
    "gammaincc": (lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True), [(0.5, 0.7), (3.0, 15.0)]),
    "betainc": (lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True), [(0.5, 2.0, 0.3), (3.0, 4.0, 0.9)]),
    "betaincc": (lambda a, b, x: mp.betainc(a, b, x, 1, regularized=True), [(0.5, 2.0, 0.3)]),
    "chdtr": (lambda v, x: lower(v / 2, x / 2), [(0.5, 0.7), (3.0, 5.0)]),
    "chdtrc": (lambda v, x: 1 - lower(v / 2, x / 2), [(3.0, 5.0)]),
    "gdtr": (lambda a, b, x: lower(b, a * x), [(0.5, 2.0, 0.7)]),
    "gdtrc": (lambda a, b, x: 1 - lower(b, a * x), [(0.5, 2.0, 0.7)]),
    "pdtr": (lambda k, m: 1 - lower(k + 1, m), [(2, 0.7)]),
    "pdtrc": (lambda k, m: lower(k + 1, m), [(2, 0.7), (0, 0.7)]),
    "bdtr": (lambda k, n, p: mp.betainc(n - k, k + 1, 0, 1 - p, regularized=True), [(2, 5, 0.3)]),
    "bdtrc": (lambda k, n, p: mp.betainc(k + 1, n - k, 0, p, regularized=True), [(2, 5, 0.3)]),
    "fdtr": (f_distribution, [(2.0, 3.0, 0.7), (0.5, 8.0, 2.0)]),
    "fdtrc": (lambda *args: 1 - f_distribution(*args), [(2.0, 3.0, 0.7)]),
    "stdtr": (t_distribution, [(3.0, 0.7), (0.5, -2.0), (50.0, 0.1)]),
    "zeta": (mp.zeta, [(1.01, 0.3), (2.0, 1.0), (3.5, 20.0), (1.5, 0.01)]),
    "riemann_zeta": (
        mp.zeta,
        [(2.0,), (0.5,), (0.0,), (-1e-9,), (-0.9,), (-1.5,), (-2.0,), (-4.5,), (10.0,)],
    ),
    "zetac": (lambda x: mp.zeta(x) - 1, [(2.0,), (-1.5,)]),
    "wrightomega": (lambda z: mp.lambertw(mp.exp(z)), [(0.5,), (-3.0,)]),
    "eval_jacobi": (mp.jacobi, [(3, 0.5, 1.5, 0.2), (0, 0.5, 1.5, 0.2)]),
    "eval_gegenbauer": (mp.gegenbauer, [(3, 0.7, 0.2), (0, 0.7, 0.2)]),
    "eval_genlaguerre": (mp.laguerre, [(3, 0.5, 0.2), (1, 0.5, 0.2)]),
    "eval_laguerre": (lambda n, x: mp.laguerre(n, 0, x), [(3, 0.2), (0, 0.2)]),
    "eval_legendre": (mp.legendre, [(4, 0.3), (0, 0.3)]),
    "eval_chebyt": (mp.chebyt, [(4, 0.3), (0, 0.3)]),
    "eval_chebyu": (mp.chebyu, [(4, 0.3), (0, 0.3)]),
    "eval_hermite": (mp.hermite, [(4, 0.3), (0, 0.3), (1, 0.3)]),
    "eval_hermitenorm": (lambda n, x: mp.hermite(n, x / mp.sqrt(2)) / mp.sqrt(2) ** n, [(4, 0.3), (0, 0.3)]),
}

ELSEWHERE = {
    *("jn", "airy_aip", "airy_bip", "gammasgn", "gammainc_slope", "betainc_slope"),
    *("spherical_jn", "spherical_yn", "spherical_in", "spherical_kn"),
    *("wofz", "hankel1", "hankel2", "lambertw", "owens_t", "ndtri_exp"),
    *("gammaincinv", "gammainccinv", "betaincinv", "betainccinv", "chdtri", "stdtrit"),
    "pdtrik",
}
"""Functions whose derivatives other tests hold, here or against differences, or that are rounded at once."""


def at(point: tuple[Any, ...], i: int, t: Any) -> list[Any]:
    """The point with argument `i` replaced."""
    return [t if k == i else x for k, x in enumerate(point)]


def exact_derivative(f: Callable[..., Any], point: tuple[Any, ...], i: int, order: int) -> float:
    with mp.workdps(50):
        exact = tuple(mp.mpf(x) if isinstance(x, float) else x for x in point)
        step = mp.mpf(10) ** -14 * min(1, abs(exact[i]) or 1)
        return float(mp.re(mp.diff(lambda t: f(*at(exact, i, t)), exact[i], order, h=step)))


def test_every_function_of_the_table_is_tested() -> None:
    assert set(TABLE) == set(CASES) | ELSEWHERE


@pytest.mark.at_length
@pytest.mark.parametrize("name", CASES)
def test_derivatives_are_exact(name: str) -> None:
    f, points = CASES[name]
    for point, order in itertools.product(points, (1, 2)):
        for i, x in enumerate(point):
            if isinstance(x, int) or isinstance(TABLE[name].partials[i], str):
                continue
            slope = lambda t: Special(name)(*at(point, i, t))  # noqa: B023, E731 - called at once
            for _ in range(order):
                slope = fg.grad(slope)
            wanted = exact_derivative(f, point, i, order)
            assert slope(x) == pytest.approx(wanted, rel=1e-10, abs=1e-14), (point, i, order)


@pytest.mark.parametrize("order", [1, 2, 4])
def test_scaled_error_functions_far_from_zero(order: int) -> None:
    """Their derivatives are small differences of large terms."""
    for x in (1.99, 2.01, 50.0):
        wanted = exact_derivative(CASES["erfcx"][0], (x,), 0, order)
        assert ErfcxDerivative(order)(x) == pytest.approx(wanted, rel=1e-11)
    for x in (0.5, 6.99, 7.01, -50.0):
        wanted = exact_derivative(CASES["dawsn"][0], (x,), 0, order)
        assert DawsnDerivative(order)(x) == pytest.approx(wanted, rel=1e-9)
    assert ErfcxDerivative(order)(1e200) == pytest.approx(0.0, abs=1e-200)


# -- incomplete gamma and beta functions by their parameters -------------------------------------------------


@pytest.mark.at_length
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("a", [1e-6, 0.01, 0.3, 1.0, 9.9, 10.1, 150.0])
def test_incomplete_gamma_function_by_its_parameter(a: float, order: int) -> None:
    upper = CASES["gammaincc"][0]
    for x in (1e-8, 0.3, 0.99, 1.1, 10.0, 140.0, 200.0):
        f, sign = (lower, 1) if x < a else (upper, -1)
        with mp.workdps(50):
            step = mp.mpf(10) ** -14 * a
            wanted = sign * float(mp.diff(lambda t: f(t, mp.mpf(x)), mp.mpf(a), order, h=step))  # noqa: B023
        found = quadrature.gammainc_by_a(order, a, x)
        assert found == pytest.approx(wanted, rel=1e-10, abs=1e-13 if order > 1 else 1e-300), x


@pytest.mark.parametrize("orders", [(1, 0), (0, 1), (1, 1), (2, 0)])
@pytest.mark.parametrize("a", [0.01, 0.7, 3.0, 80.0])
def test_incomplete_beta_function_by_its_parameters(a: float, orders: tuple[int, int]) -> None:
    f = CASES["betainc"][0]
    for b, x in itertools.product((0.05, 1.0, 12.0), (1e-6, 0.2, 0.7, 0.9999)):
        with mp.workdps(50):
            exact = mp.mpf(a), mp.mpf(b), mp.mpf(x)
            step = mp.mpf(10) ** -14 * min(a, b)
            if all(orders):
                wanted = mp.diff(lambda s, t: f(s, t, exact[2]), exact[:2], orders, h=step)  # noqa: B023
            else:
                i = orders.index(0) ^ 1
                wanted = mp.diff(lambda t: f(*at(exact, i, t)), exact[i], max(orders), h=step)  # noqa: B023
        found = quadrature.betainc_by_parameters(orders, a, b, x)
        assert found == pytest.approx(float(wanted), rel=1e-10, abs=1e-13), (b, x)


def test_kernels_hold_the_quadratures_and_the_polygamma_functions() -> None:
    """Compiled they are the same text with other exponentials; beyond the supports and at their ends, too."""
    x = np.array([0.0, 1e-6, 0.3, 1.0, 25.0, np.inf, -1.0, np.nan])
    u = np.array([0.0, 1e-6, 0.3, 0.999, 1.0, -1.0, np.nan])
    a, z = (
        np.array([[1e-6], [0.7], [3.0], [80.0]]),
        np.array([-7.3, -1.0, -1e-3, 0.0, 1e-5, 0.4, 30.0, np.inf]),
    )
    special = fg.scipy.special

    def total(a: Any, z: Any) -> Any:
        return special.gammainc(a, x), special.betainc(a, 2.5, u), special.psi(z)

    def moved(*at: Any) -> Any:
        return fg.jvp(total, at, tuple([np.ones_like(v) for v in at]))[1]

    with np.errstate(all="ignore"):
        for found, wanted in zip(fg.jit(moved)(a, z), moved(a, z), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-14)


def test_large_parameters_lose_no_digits() -> None:
    """In the middle of a narrow distribution the derivative by the parameter is minus that by the limit."""
    for a in (1e6, 1e8):
        slope, moved = quadrature.gammainc_slope(a, a), quadrature.gammainc_by_a(1, a, a)
        with mp.workdps(50):
            exact = mp.exp((a - 1) * mp.log(mp.mpf(a)) - a - mp.loggamma(mp.mpf(a)))
        assert slope == pytest.approx(float(exact), rel=1e-12)
        assert moved == pytest.approx(-slope, rel=1e-6)
    with mp.workdps(50):
        x = mp.mpf(0.5001)
        exact = (x * (1 - x)) ** (10**6 - 1) / mp.beta(10**6, 10**6)
    assert quadrature.betainc_slope(1e6, 1e6, 0.5001) == pytest.approx(float(exact), rel=1e-10)


def test_borders_of_the_incomplete_functions() -> None:
    by_a = fg.vmap(fg.grad(scipy.special.gammainc))
    np.testing.assert_array_equal(by_a(np.array([2.0, 2.0]), np.array([0.0, np.inf])), [0.0, 0.0])
    assert fg.grad(scipy.special.gammainc)(0.0, 2.0) == pytest.approx(-scipy.special.exp1(2.0))
    assert np.isnan(fg.grad(scipy.special.gammainc)(-1.0, 2.0))
    by_x = fg.grad(scipy.special.gammainc, argnums=1)
    assert (by_x(1.0, 0.0), by_x(2.0, 0.0), by_x(0.5, 0.0), by_x(2.0, np.inf)) == (1.0, 0.0, np.inf, 0.0)
    gradient = fg.grad(scipy.special.betainc, argnums=(0, 1, 2))
    assert gradient(2.0, 3.0, 0.0) == (0.0, 0.0, 0.0)
    assert gradient(2.0, 1.0, 1.0) == (0.0, 0.0, 2.0)
    assert np.isnan(gradient(-2.0, 1.0, 0.5)).all()


@pytest.mark.parametrize(
    ("name", "point"),
    [
        ("gammaincinv", (2.5, 0.3)),
        ("gammainccinv", (0.5, 0.3)),
        ("betaincinv", (2.5, 0.7, 0.3)),
        ("betainccinv", (2.5, 0.7, 0.3)),
    ],
)
def test_inverses(name: str, point: tuple[float, ...]) -> None:
    """The inverse function theorem, by every argument; and the ends do not move with the parameters."""
    inverse, function = getattr(scipy.special, name), getattr(scipy.special, name.removesuffix("inv"))
    identity = lambda *args: function(*args[:-1], inverse(*args))  # noqa: E731
    *by_parameters, by_p = fg.grad(identity, argnums=tuple(range(len(point))))(*point)
    np.testing.assert_allclose(by_parameters, 0.0, atol=1e-13)
    assert by_p == pytest.approx(1.0, rel=1e-12)
    fg.testing.check_grads(inverse, point, order=2)
    assert fg.grad(inverse)(*point[:-1], 0.0) == 0.0


# -- complex arguments, and functions of several results -----------------------------------------------------


@pytest.mark.parametrize(
    ("f", "z"),
    [
        (scipy.special.gamma, 1.2 + 0.5j),
        (scipy.special.loggamma, -1.2 + 0.5j),
        (scipy.special.rgamma, -0.7 + 0.5j),
        (scipy.special.wofz, 0.3 + 0.5j),
        (scipy.special.erfcx, 0.3 + 0.5j),
        (scipy.special.dawsn, 0.3 + 0.5j),
        (scipy.special.erfi, 0.3 + 0.5j),
        (scipy.special.log_ndtr, 0.3 + 0.5j),
        (scipy.special.expi, 0.3 + 0.5j),
        (scipy.special.exp1, 0.3 + 0.5j),
        (scipy.special.lambertw, 0.3 + 0.5j),
        (scipy.special.wrightomega, 0.3 + 0.5j),
        (lambda z: scipy.special.jv(0.5, z), 1.3 + 0.5j),
        (lambda z: scipy.special.kve(0.5, z), 1.3 + 0.5j),
        (lambda z: scipy.special.hankel1(0.5, z), 1.3 + 0.5j),
        (lambda z: scipy.special.hankel2(1.5, z), 1.3 + 0.5j),
        (lambda z: scipy.special.hyp2f1(0.5, 1.5, 2.0, z), 0.3 + 0.5j),
        (lambda z: scipy.special.airy(z)[1], 0.3 + 0.5j),
        (lambda z: scipy.special.airy(z)[3], 0.3 + 0.5j),
        (lambda z: scipy.special.sici(z)[0], 0.3 + 0.5j),
        (lambda z: fg.scipy.special.spherical_jn(2, z), 0.3 + 0.5j),
    ],
)
def test_holomorphic_derivatives(f: Any, z: complex) -> None:
    step = 1e-5
    wanted = (f(z + step) - f(z - step)) / (2 * step)
    assert fg.grad(f, holomorphic=True)(z) == pytest.approx(wanted, rel=1e-8)
    slope = fg.grad(f, holomorphic=True)
    if f is not scipy.special.gamma and f is not scipy.special.loggamma and f is not scipy.special.rgamma:
        wanted = (slope(z + step) - slope(z - step)) / (2 * step)
        assert fg.grad(slope, holomorphic=True)(z) == pytest.approx(wanted, rel=1e-8)


def test_what_exists_for_real_numbers_only_says_so() -> None:
    slope = fg.grad(scipy.special.gamma, holomorphic=True)
    with pytest.raises(fg.errors.DtypeError, match="polygamma of order 1 of c128"):
        fg.grad(slope, holomorphic=True)(1.0 + 1j)
    with pytest.raises(fg.errors.DtypeError, match="zeta by x, of c128"):
        fg.grad(scipy.special.zeta, holomorphic=True)(2.0 + 1j)


def test_lambertw_of_real_numbers_is_complex() -> None:
    f = lambda x: scipy.special.lambertw(x).real  # noqa: E731
    assert fg.grad(f)(0.0) == 1.0
    fg.testing.check_grads(f, (0.7,), order=2)
    fg.testing.check_grads(lambda x: fg.scipy.special.lambertw(x, k=-1).real, (-0.2,), order=2)


@pytest.mark.parametrize("name", ["sici", "shichi", "fresnel", "airy"])
def test_several_results(name: str) -> None:
    theirs = getattr(scipy.special, name)
    x = np.array([0.5, 2.0], np.float32)
    found = fg.make_program(theirs)(x)(x)
    for ours, wanted in zip(found, theirs(x), strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=1e-6)
        assert ours.dtype == np.float32
    fg.testing.check_grads(lambda t: sum(c * r for c, r in enumerate(theirs(t), start=1)), (x.astype(float),))


@pytest.mark.parametrize("kind", ["jn", "yn", "in", "kn"])
def test_spherical_bessel_functions(kind: str) -> None:
    ours, theirs = getattr(fg.scipy.special, f"spherical_{kind}"), getattr(scipy.special, f"spherical_{kind}")
    z, n = np.array([0.3, 1.0, 4.0]), np.array([0, 1, 3])
    for order in (0, 2, n):
        for derivative in (False, True):
            (found,) = fg.make_program(lambda t: ours(order, t, derivative))(z)(z)  # noqa: B023 - called at once
            np.testing.assert_allclose(found, theirs(order, z, derivative), rtol=1e-12)
            np.testing.assert_array_equal(ours(order, z, derivative), theirs(order, z, derivative))
        slope = fg.grad(lambda t: ours(order, t).sum())(z)  # noqa: B023 - called at once
        np.testing.assert_allclose(slope, theirs(order, z, True), rtol=1e-12)
    if kind in ("jn", "in"):
        assert fg.grad(lambda t: ours(1, t))(0.0) == pytest.approx(1 / 3)
        assert fg.grad(lambda t: ours(1, t))(-0.5) == pytest.approx(theirs(1, -0.5, True))
    fg.testing.check_grads(lambda t: ours(2, t), (z,), order=2)


def test_quantiles_of_distributions() -> None:
    """The inverse function theorem; the median of t does not move with the degrees of freedom."""
    there_and_back = lambda v, p: scipy.special.chdtrc(v, scipy.special.chdtri(v, p))  # noqa: E731
    np.testing.assert_allclose(fg.grad(there_and_back, argnums=(0, 1))(3.0, 0.2), (0.0, 1.0), atol=1e-12)
    there_and_back = lambda df, p: scipy.special.stdtr(df, scipy.special.stdtrit(df, p))  # noqa: E731
    np.testing.assert_allclose(fg.grad(there_and_back, argnums=(0, 1))(3.0, 0.2), (0.0, 1.0), atol=1e-12)
    assert fg.grad(scipy.special.stdtrit)(3.0, 0.5) == 0.0


def test_owens_t_and_ndtri_exp() -> None:
    fg.testing.check_grads(scipy.special.owens_t, (0.7, -1.3), order=2)
    for y in (-1e-3, -1.0, -700.0):
        assert fg.grad(scipy.special.ndtri_exp)(y) == pytest.approx(
            1 / fg.grad(scipy.special.log_ndtr)(scipy.special.ndtri_exp(y)), rel=1e-12
        )


def test_combinations() -> None:
    n, k = np.array([5.0, 3.0, 2.0]), np.array([2.0, 1.5, 4.0])
    (found,) = fg.make_program(fg.scipy.special.comb)(n, k)(n, k)
    np.testing.assert_allclose(found, scipy.special.comb(n, k))
    by_n = fg.grad(lambda n: fg.scipy.special.comb(n, k).sum())(n)
    np.testing.assert_allclose(by_n[:2], [4.5, fg.grad(scipy.special.binom)(3.0, 1.5)])
    assert by_n[2] == 0.0
    x = np.array([2.0, 3.5])
    np.testing.assert_allclose(
        fg.make_program(lambda a: fg.scipy.special.multigammaln(a, 3))(x)(x)[0],
        scipy.special.multigammaln(x, 3),
    )
    assert fg.grad(lambda a: fg.scipy.special.multigammaln(a, 3))(2.5) == pytest.approx(
        scipy.special.psi(2.5) + scipy.special.psi(2.0) + scipy.special.psi(1.5)
    )


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_dirichlets_kernel(n: int) -> None:
    x = np.array([0.0, 2 * np.pi, -2 * np.pi, np.pi, 0.3, 7.0, 1e-9])
    ours = lambda t: fg.scipy.special.diric(t, n)  # noqa: E731
    np.testing.assert_allclose(fg.make_program(ours)(x)(x)[0], scipy.special.diric(x, n), atol=1e-14)
    slope = fg.grad(lambda t: ours(t).sum())(x)
    step = 1e-5
    wanted = (scipy.special.diric(x + step, n) - scipy.special.diric(x - step, n)) / (2 * step)
    np.testing.assert_allclose(slope, wanted, atol=1e-7)
    assert fg.grad(fg.grad(ours))(0.0) == pytest.approx((1 - n * n) / 12)


def test_factorials_and_permutations() -> None:
    x, k = np.array([3.0, 4.5, 0.5]), np.array([2.0, 1.5, 2.0])
    special = fg.scipy.special
    np.testing.assert_allclose(fg.make_program(special.factorial)(x)(x)[0], scipy.special.factorial(x))
    np.testing.assert_allclose(fg.make_program(special.perm)(x, k)(x, k)[0], scipy.special.perm(x, k))
    assert fg.grad(special.factorial)(3.0) == pytest.approx(6 * scipy.special.psi(4.0))
    assert fg.grad(special.factorial)(-2.0) == 0.0
    by_n, by_k = fg.grad(special.perm, argnums=(0, 1))(5.0, 2.0)
    assert by_n == pytest.approx(20 * (scipy.special.psi(6.0) - scipy.special.psi(4.0)))
    assert by_k == pytest.approx(20 * scipy.special.psi(4.0))
    for f in (special.factorial, lambda n, **o: special.perm(n, 2.0, **o)):
        with pytest.raises(fg.errors.UnsupportedFunctionError, match="exact=True"):
            fg.grad(lambda n: f(n, exact=True))(3.0)  # noqa: B023 - called at once


def test_scipys_own_derivatives_of_bessel_functions() -> None:
    """They are Python functions that call ufuncs, so they trace as they stand."""
    for f in (scipy.special.jvp, scipy.special.yvp, scipy.special.ivp, scipy.special.kvp):
        assert fg.grad(lambda z: f(1, z))(1.5) == pytest.approx(f(1, 1.5, 2))  # noqa: B023 - called at once


def test_zeros_and_kinks() -> None:
    s = scipy.special
    assert fg.grad(s.i0e)(0.0) == 0.0  # as abs at 0
    assert fg.grad(s.boxcox, argnums=1)(2.0, 0.0) == pytest.approx(math.log(2.0) ** 2 / 2)
    assert fg.grad(s.boxcox, argnums=1)(0.0, 2.0) == 0.25
    assert fg.grad(s.inv_boxcox, argnums=1)(2.0, 0.0) == pytest.approx(-2 * math.exp(2.0))
    assert fg.grad(s.rel_entr)(0.0, 1.0) == -np.inf
    assert fg.grad(s.rel_entr, argnums=1)(0.0, 1.0) == 0.0
    assert fg.grad(s.pseudo_huber, argnums=(0, 1))(0.0, 2.0) == (2.0, 0.0)
    assert fg.grad(s.huber, argnums=1)(1.0, 1.0) == 1.0
    assert fg.grad(s.gammasgn)(1.5) == 0.0
    assert np.isnan(fg.grad(s.gamma)(-1.0))
    assert fg.grad(s.log_ndtr)(-1e10) == pytest.approx(1e10)
    assert fg.grad(s.log_ndtr)(40.0) == 0.0
    assert fg.grad(s.expn, argnums=1)(2, 0.0) == -np.inf


@pytest.mark.parametrize("name", ["i1", "j1", "k1", "i1e", "k1e"])
def test_second_derivatives_of_single_precision_stay_single(name: str) -> None:
    function = getattr(fg.scipy.special, name)
    ones = np.ones(2, np.float32)

    def slope(x: Any) -> Any:
        return fg.vjp(function, x)[1](ones)[0]

    second = fg.make_program(lambda x: fg.vjp(slope, x)[1](ones)[0])
    assert [a.dtype for a in second(np.array([0.5, 1.0], np.float32)).out_avals] == [np.float32]
