"""Special functions at zero, at infinity and at the ends of their domains: every way gives one answer.

The answers are limits, by mpmath or on paper; NaN where there is none, or where it depends on the way there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import funcgrad as fg
from funcgrad.scipy import special

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

INF, NAN = np.inf, np.nan
Function = Callable[..., Any]


def gradients(f: Function, at: tuple[float, ...]) -> list[np.ndarray[Any, Any]]:
    """First derivatives, in reverse and forwards, evaluated and compiled."""
    each = tuple(range(len(at)))
    reverse, forward = fg.grad(f, each), fg.jacfwd(f, each)
    return [np.array(way(*at)) for way in (reverse, forward, fg.jit(reverse), fg.jit(forward))]


def hessians(f: Function, at: tuple[float, ...]) -> list[np.ndarray[Any, Any]]:
    """Second derivatives, in the orders that see zero tangents and cotangents differently."""
    each = tuple(range(len(at)))
    ways = [
        outer(inner(f, each), each)
        for outer, inner in itertools.product((fg.jacrev, fg.jacfwd), (fg.jacrev, fg.jacfwd))
    ]
    return [np.array(way(*at)) for way in (*ways, fg.jit(ways[0]), fg.jit(ways[2]))]


LEVEL: list[tuple[Function, tuple[float, ...]]] = [
    *((special.gammainc, at) for at in ((INF, 0.5), (INF, 2.0), (2.0, INF))),
    *((special.gammaincc, at) for at in ((INF, 0.5), (2.0, INF))),
    *((f, at) for f in (special.chdtr, special.chdtrc) for at in ((INF, 0.5), (3.0, INF))),
    *((f, at) for f in (special.gdtr, special.gdtrc) for at in ((2.0, 1.0, INF), (INF, 2.0, 1.0))),
    *((special.beta, at) for at in ((INF, 0.5), (2.0, INF), (1.0, INF))),
    *((special.binom, at) for at in ((INF, -1.0), (2.0, -INF))),
    (special.poch, (INF, -1.0)),
    (special.rgamma, (INF,)),
    *((f, (x,)) for f in (special.i0e, special.i1e) for x in (INF, -INF)),
    *((f, (INF,)) for f in (special.k0e, special.k1e)),
    (lambda x: special.kv(2.0, x), (INF,)),
    *((f, (INF,)) for f in (special.k0, special.k1)),
    *((lambda x, k=k: special.sici(x)[k], (INF,)) for k in (0, 1)),
    (lambda x: special.sici(x)[0], (-INF,)),
    *((f, (x,)) for f in (special.expit, special.expm1) for x in (-INF,)),
    *((special.log_ndtr, (x,)) for x in (50.0, 1e300, INF)),
    *((f, (INF,)) for f in (special.zeta, special.zetac)),
    *((f, at) for f in (special.inv_boxcox, special.inv_boxcox1p) for at in ((-INF, 0.0), (-INF, -1.0))),
    *((f, (-INF,)) for f in (special.expi, special.ellipk, special.exp2)),
    (special.ellipkm1, (INF,)),
    *((special.ellipkinc, (phi, -INF)) for phi in (0.0, 0.5, 2.0)),
    (special.exp1, (INF,)),
    (special.stdtr, (2.0, INF)),
    # Constants, whose derivative is 0 times that of a function with a pole.
    *((lambda z, a=a: special.hyp2f1(a, 0.0, 1.0, z), (z,)) for a in (0.5, 1.0) for z in (1.0, -INF)),
    *((lambda x, b=b: special.hyperu(0.0, b, x), (x,)) for b in (0.0, 0.5, -1.0) for x in (0.0, INF)),
    (lambda x: special.hyp1f1(0.0, 1.0, x), (2.0,)),
    *((special.owens_t, (h, a)) for h, a in itertools.product((INF, -INF), (0.0, 1.0, INF))),
    *((special.owens_t, (0.0, a)) for a in (INF, -INF)),
    (special.fdtr, (2.0, 3.0, INF)),
]
"""Where a function comes to rest: its first and second derivatives are 0."""


@pytest.mark.at_length
@pytest.mark.parametrize("case", range(len(LEVEL)))
def test_where_a_function_comes_to_rest(case: int) -> None:
    f, at = LEVEL[case]
    for found in gradients(f, at):
        np.testing.assert_array_equal(found, np.zeros(len(at)))
    for found in hessians(f, at):
        np.testing.assert_array_equal(found, np.zeros((len(at), len(at))))


HALF_BELL = np.exp(-0.125) / np.sqrt(8.0 * np.pi)
NOWHERE = [[NAN, NAN], [NAN, NAN]]
SUNK = [[-INF, -INF], [-INF, -INF]]

EDGES: list[tuple[Function, tuple[float, ...], Any, Any]] = [
    # 1 / gamma(a) is a near 0, so the density exp(-x) / x times a.
    (
        special.gammaincc,
        (0.0, 2.0),
        [float(mp.e1(2.0)), 0.0],
        [[None, -np.exp(-2.0) / 2.0], [-np.exp(-2.0) / 2.0, 0.0]],
    ),
    # (x / 2)**v / gamma(v + 1), whose sign SciPy's poles have not.
    *(
        ((lambda x, v=v: special.iv(v, x)), (0.0,), [slope], [[bend]])
        for v, slope, bend in ((-1.5, INF, -INF), (-0.5, -INF, INF), (0.5, INF, -INF), (1.5, 0.0, INF))
    ),
    *(
        ((lambda x, v=v: special.ive(v, x)), (0.0,), [slope], [[bend]])
        for v, slope, bend in ((0.5, INF, -INF), (1.5, 0.0, INF), (2.5, 0.0, 0.0))
    ),
    (special.logit, (0.0,), [INF], [[-INF]]),
    (special.logit, (1.0,), [INF], [[INF]]),
    # A polynomial, of whose derivatives SciPy says infinity: x**2 - 4 x + 2, and x**2 - 2 x.
    (lambda x: special.hyperu(-2.0, 1.0, x), (0.0,), [-4.0], [[2.0]]),
    (lambda x: special.hyperu(-2.0, 0.0, x), (0.0,), [-2.0], [[2.0]]),
    # Homogeneous of degree two: its second derivatives are those of the direction.
    (special.pseudo_huber, (0.0, 0.0), [0.0, 0.0], [[NAN, NAN], [NAN, NAN]]),
    # Far from the origin it is delta (|r| - delta), and of an infinite delta r**2 / 2.
    *((special.pseudo_huber, (0.0, r), [INF, 0.0], [[-2, s], [s, 0]]) for r, s in ((INF, 1), (-INF, -1))),
    (special.pseudo_huber, (0.5, -INF), [INF, -0.5], [[-2, -1], [-1, 0]]),
    (special.pseudo_huber, (INF, 0.0), [0.0, 0.0], [[0, 0], [0, 1]]),
    # Outside of the domain SciPy says infinity, and there is no derivative.
    *((f, (-1.0, 2.0), [NAN, NAN], NOWHERE) for f in (special.huber, special.pseudo_huber)),
    *(
        (f, at, [NAN, NAN], NOWHERE)
        for f in (special.rel_entr, special.kl_div)
        for at in ((-1.0, 1.0), (0.0, -1.0))
    ),
    # Zero on the whole axis; by x it falls from there at once.
    (special.xlogy, (0.0, 0.0), [-INF, 0.0], [[0, INF], [INF, 0]]),
    (special.xlog1py, (0.0, -1.0), [-INF, 0.0], [[0, INF], [INF, 0]]),
    *((special.xlogy, (x, 0.0), [-INF, INF], [[0, INF], [INF, -INF]]) for x in (0.5, INF)),
    (special.xlog1py, (0.5, -1.0), [-INF, INF], [[0, INF], [INF, -INF]]),
    *((special.xlogy, (x, INF), [INF, 0.0], [[0, 0], [0, 0]]) for x in (0.0, 0.5)),
    (special.xlogy, (INF, 2.0), [np.log(2.0), INF], [[0, 0.5], [0.5, -INF]]),
    *((f, (0.0, NAN), [NAN, NAN], None) for f in (special.xlogy, special.rel_entr, special.kl_div)),
    # By x it depends on the way, as log(x / y) does.
    (special.rel_entr, (0.0, 0.0), [NAN, 0.0], None),
    (special.kl_div, (0.0, 0.0), [NAN, 1.0], None),
    (special.rel_entr, (0.5, 0.0), [INF, -INF], [[2, -INF], [-INF, INF]]),
    (special.kl_div, (0.5, 0.0), [INF, -INF], [[2, -INF], [-INF, INF]]),
    (special.rel_entr, (0.5, INF), [-INF, 0.0], [[2, 0], [0, 0]]),
    (special.rel_entr, (0.0, INF), [-INF, 0.0], [[INF, 0], [0, 0]]),
    # Powers of 0: the sudden fall of 0**n from 1 to 0 and to infinity, seen from the right.
    (special.powm1, (0.0, 0.0), [0.0, -INF], [[0, INF], [INF, INF]]),
    (special.powm1, (0.0, -1.0), [-INF, -INF], [[INF, INF], [INF, INF]]),
    (special.powm1, (0.0, 0.5), [INF, 0.0], [[-INF, -INF], [-INF, 0]]),
    (special.powm1, (0.0, 2.0), [0.0, 0.0], [[2, 0], [0, 0]]),
    # Where the power is gone, -1 / lmbda is left.
    *((special.boxcox, (INF, n), [0.0, 1 / n**2], [[0, 0], [0, -2 / n**3]]) for n in (-1.0, -0.5)),
    (special.boxcox1p, (INF, -1.0), [0.0, 1.0], [[0, 0], [0, 2]]),
    (special.boxcox, (0.0, 0.5), [INF, 4.0], [[-INF, -INF], [-INF, -16]]),
    *((special.boxcox, (0.0, n), [INF, INF], SUNK) for n in (0.0, -1.0)),
    *((special.boxcox1p, (-1.0, n), [INF, INF], SUNK) for n in (0.0, -1.0)),
    # (1 + lmbda y)**(1 / lmbda) where that is 0.
    (special.inv_boxcox, (-1.0, 1.0), [1.0, -1.0], [[0, INF], [INF, -INF]]),
    (special.inv_boxcox, (-2.0, 0.5), [0.0, 0.0], [[0.5, -2], [-2, 8]]),
    (special.inv_boxcox, (-0.5, 2.0), [INF, -INF], [[-INF, INF], [INF, None]]),
    # From 0 to 1 to infinity, while the other argument is infinite.
    (special.binom, (INF, 0.0), [0.0, INF], [[0, 0], [0, INF]]),
    (special.poch, (INF, 0.0), [0.0, INF], [[0, 0], [0, INF]]),
    (special.poch, (0.0, INF), [INF, 0.0], None),
    # Both gamma functions have poles: whole m have polynomials in z, and beside them it depends on the way.
    *((special.poch, (z, 0.0), [0.0, NAN], [[0, NAN], [NAN, NAN]]) for z in (0.0, -1.0)),
    (special.poch, (-2.0, 1.0), [1.0, NAN], [[0, NAN], [NAN, NAN]]),
    # A quarter of erfc(|h| / sqrt(2)).
    (special.owens_t, (0.5, INF), [-HALF_BELL, 0.0], [[0.5 * HALF_BELL, 0], [0, 0]]),
    (special.owens_t, (-0.5, -INF), [-HALF_BELL, 0.0], [[-0.5 * HALF_BELL, 0], [0, 0]]),
    (special.spence, (0.0,), [-INF], [[INF]]),
    # A kink, with the mean of both sides' derivatives.
    *((f, (0.0,), [0.0], [[1.5]]) for f in (special.i0e, lambda x: special.ive(0.0, x))),
    *((f, (0.0,), [0.5], [[0.0]]) for f in (special.i1e, lambda x: special.ive(1.0, x))),
    # A sum over no terms that are left, and over the first one alone.
    *((special.zeta, (x, INF), [0.0, 0.0], [[0, 0], [0, 0]]) for x in (2.0, 3.0)),
    (special.zeta, (INF, 1.0), [0.0, -INF], [[0, None], [None, INF]]),
    # Beyond the pole of its integrand by m.
    (special.ellipeinc, (2.0, 1.0), [abs(np.cos(2.0)), -INF], [[np.sin(2.0), None], [None, None]]),
    # Just left of 0 the functional equation cancels, and far right the density is a quotient of infinities.
    *(
        (f, (x,), [-0.9189385332046727], [[-2.0063564559085848]])
        for f in (special.zeta, special.zetac)
        for x in (-1e-12, 0.0)
    ),
    (special.log_ndtr, (37.5,), [1.7282337322841e-306], [[-6.480876496065e-305]]),
    # Oscillates without rest, or nobody knows where it is.
    *((f, (x,), [NAN], [[NAN]]) for f in (special.sindg, special.cosdg, special.tandg) for x in (INF, -INF)),
    *((lambda x, k=k: special.fresnel(x)[k], (INF,), [NAN], [[NAN]]) for k in (0, 1)),
    (special.rgamma, (-INF,), [NAN], [[NAN]]),
    # Logarithmic ends, whose formulas are differences of infinities.
    (special.ellipk, (1.0,), [INF], [[INF]]),
    (special.ellipkm1, (0.0,), [-INF], [[INF]]),
    (special.ellipe, (1.0,), [-INF], [[-INF]]),
    (special.y0, (0.0,), [INF], [[-INF]]),
    # Elementary ones: at rest far away, and a root of 0 that falls by its exponent.
    *((f, (x,), [0.0], [[0.0]]) for f in (np.arctan, np.arcsinh, np.cbrt) for x in (INF, -INF)),
    *((np.hypot, (x, 2.0), [np.sign(x), 0.0], [[0, 0], [0, 0]]) for x in (INF, -INF)),
    *((np.arctan2, at, [0.0, 0.0], [[0, 0], [0, 0]]) for at in ((INF, 2.0), (-1.0, INF))),
    *((np.power, (0.0, n), [INF, 0.0], [[-INF, -INF], [-INF, 0]]) for n in (0.3, 0.5)),
]
"""First and second derivatives; None where this table does not say."""


@pytest.mark.at_length
@pytest.mark.parametrize("case", range(len(EDGES)))
def test_at_the_edge(case: int) -> None:
    f, at, first, second = EDGES[case]
    for found, wanted in ((gradients(f, at), first), (hessians(f, at), second)):
        if wanted is not None:
            entries = np.array(wanted, dtype=object).ravel()
            expected = entries.astype(float)
            said = np.array([w is not None for w in entries])
            for each in found:
                np.testing.assert_allclose(each.ravel()[said], expected[said], rtol=1e-10, atol=1e-15)


POLYNOMIALS: dict[str, tuple[float, ...]] = {
    **dict.fromkeys(["eval_legendre", "eval_chebyt", "eval_chebyu", "eval_laguerre"], ()),
    **dict.fromkeys(["eval_hermite", "eval_hermitenorm"], ()),
    "eval_jacobi": (0.0, 0.5),
    "eval_gegenbauer": (0.5,),
    "eval_genlaguerre": (0.5,),
}


@pytest.mark.parametrize("x", [-1.0, 0.0, 1.0, 3.0])
@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_of_low_degree_at_the_ends_of_their_interval(name: str, x: float) -> None:
    """That of the degree below 0 is 0; SciPy's continuation of it is NaN at -1."""
    parameters = POLYNOMIALS[name]
    f = getattr(special, name)
    for n in (0, 1, 2, 3) if "hermite" in name else (0, 1, 2, 3, 0.0, 1.0, 2.0):
        slope = fg.grad(lambda t: f(n, *parameters, t))  # noqa: B023 - called at once
        step = np.array([-1.0, 0.0, 1.0])
        left, middle, right = [f(n, *parameters, x + h) for h in step]
        cubic = f(n, *parameters, x + 2.0) - 3.0 * right + 3.0 * middle - left if n == 3 else 0.0
        np.testing.assert_allclose(slope(x), 0.5 * (right - left) - cubic / 6.0, atol=1e-11)
        for second in (fg.grad(slope), fg.jacfwd(slope), fg.jit(fg.grad(slope))):
            np.testing.assert_allclose(second(x), left - 2.0 * middle + right, atol=1e-10)


@pytest.mark.at_length
@pytest.mark.parametrize("phi", [0.0, 0.3, -0.5, 1.2, 1.57])
def test_elliptic_integrals_where_the_parameter_is_one(phi: float) -> None:
    """Left of pi / 2 they are as smooth there as anywhere; the formula divides by 1 - m."""
    powers = {special.ellipkinc: mp.mpf(-1) / 2, special.ellipeinc: mp.mpf(1) / 2}
    for (f, power), m in itertools.product(powers.items(), (1.0, 1.0 - 1e-12, 1.0 - 1e-6, 0.95)):
        by_m = fg.grad(f, 1)
        for order, slope in ((1, by_m), (1, fg.jit(by_m)), (2, fg.grad(by_m, 1)), (2, fg.jacfwd(by_m, 1))):
            with mp.workdps(30):
                ends = [mp.mpf(phi) * (1 - mp.mpf(2) ** -k) for k in range(14)] + [mp.mpf(phi)]
                factor = -power if order == 1 else power * (power - 1)
                wanted = factor * mp.quad(
                    lambda t: mp.sin(t) ** (2 * order) * (1 - m * mp.sin(t) ** 2) ** (power - order),  # noqa: B023
                    ends,
                )
            np.testing.assert_allclose(slope(phi, m), float(wanted), rtol=1e-8, atol=1e-15)


@pytest.mark.parametrize("at", [(0.5, 0.0), (0.0, 0.0), (INF, 0.0), (0.5, INF), (INF, 2.0)])
@pytest.mark.parametrize("f", [special.xlogy, lambda x, y: special.xlog1py(x, y - 1.0)])
def test_products_with_logarithms_along_a_tangent_of_zero(f: Function, at: tuple[float, ...]) -> None:
    """Where nothing moves nothing changes, however steep the logarithm is; second order likewise."""
    at = tuple([np.array([v]) for v in at])
    still = (np.zeros(1), np.zeros(1))
    slope = lambda *p: fg.jvp(f, p, still)[1]  # noqa: E731
    for way in (slope, fg.jit(slope), lambda *p: fg.jvp(slope, p, still)[1]):
        np.testing.assert_array_equal(way(*at), [0.0])
