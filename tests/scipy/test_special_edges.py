"""Special functions at the edges of their domains, in second order; dtypes and orders as SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special as scipys

import funcgrad as fg
from funcgrad.scipy import linalg, special


def second_derivatives(f: Any, at: Any) -> list[Any]:
    """The Hessian in the orders that see zero tangents and cotangents differently."""
    g = lambda p: f(p[0], p[1])  # noqa: E731
    found = [
        fg.hessian(g)(at),
        fg.jacrev(fg.jacrev(g))(at),
        fg.jacfwd(fg.jacfwd(g))(at),
        fg.jit(fg.hessian(g))(at),
    ]
    rows = [fg.hvp(g, (at,), (e,)) for e in np.eye(2)]
    return [*found, np.stack(rows, -1)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("f", "at", "expected"),
    [
        (special.xlogy, (0.0, 2.0), [[0.0, 0.5], [0.5, 0.0]]),
        (special.xlog1py, (0.0, 2.0), [[0.0, 1 / 3], [1 / 3, 0.0]]),
        (special.rel_entr, (0.0, 2.0), [[np.inf, -0.5], [-0.5, 0.0]]),
        (special.kl_div, (0.0, 2.0), [[np.inf, -0.5], [-0.5, 0.0]]),
        (
            lambda x, y: special.xlogy(x, y) * y,
            (0.0, 2.0),
            [[0.0, 1.0 + np.log(2.0)], [1.0 + np.log(2.0), 0.0]],
        ),
        (lambda x, y: special.entr(x + 1.0) * y, (0.0, 2.0), [[-2.0, -1.0], [-1.0, 0.0]]),
    ],
)
def test_products_and_divergences_at_zero(f: Any, at: Any, expected: Any) -> None:
    for found in second_derivatives(f, np.array(at)):
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("f", "at", "expected"),
    [
        (special.betainc, (1.0, 1.0, 0.0), [[0, 0, -np.inf], [0, 0, 1], [-np.inf, 1, 0]]),
        (special.betainc, (3.0, 2.0, 1.0), [[0, 0, 0], [0, 0, 0], [0, 0, -12]]),
        (special.gammainc, (1.0, 0.0), [[0, -np.inf], [-np.inf, -1]]),
        (special.gdtr, (2.0, 1.0, 0.0), [[0, 0, 1], [0, 0, -np.inf], [1, -np.inf, -4]]),
        (special.gdtr, (0.0, 1.0, 2.0), [[-4, -np.inf, 1], [-np.inf, 0, 0], [1, 0, 0]]),
        (special.fdtr, (4.0, 2.0, 0.0), [[0, 0, 0], [0, 0, 0], [0, 0, 8]]),
        (special.boxcox, (0.0, 1.0), [[0, -np.inf], [-np.inf, -2]]),
        (special.boxcox1p, (-1.0, 2.0), [[1, 0], [0, -0.25]]),
        (special.powm1, (0.0, 1.0), [[0, -np.inf], [-np.inf, 0]]),
        # Quantiles at the ends stay where they are; by the probability it depends on the density.
        (special.gammaincinv, (0.5, 0.0), [[0, np.nan], [np.nan, np.nan]]),
        (special.gammainccinv, (1.0, 1.0), [[0, np.nan], [np.nan, np.nan]]),
        (special.betaincinv, (2.0, 3.0, 1.0), [[0, 0, np.nan], [0, 0, np.nan], [np.nan, np.nan, np.nan]]),
        (special.chdtri, (2.0, 1.0), [[0, np.nan], [np.nan, np.nan]]),
    ],
)
def test_distribution_functions_at_the_ends_of_the_support(f: Any, at: Any, expected: Any) -> None:
    """The same every way, infinite or NaN where there is none: several gave a finite number."""
    each = tuple(range(len(at)))
    for outer in (fg.jacfwd, fg.jacrev):
        for inner in (fg.jacfwd, fg.jacrev):
            np.testing.assert_allclose(np.array(outer(inner(f, each), each)(*at)), expected, rtol=1e-12)


def test_distribution_functions_at_infinity() -> None:
    for f, at, expected in (
        (special.stdtr, (np.inf, 1.0), (0.0, np.exp(-0.5) / np.sqrt(2 * np.pi))),
        (special.stdtr, (2.0, -np.inf), (0.0, 0.0)),
        (special.fdtr, (2.0, 3.0, np.inf), (0.0, 0.0, 0.0)),
        (special.gammainc, (2.0, np.inf), (0.0, 0.0)),
    ):
        np.testing.assert_allclose(fg.grad(f, tuple(range(len(at))))(*at), expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("f", "at"),
    [
        *((special.poch, (z, m)) for z in (-0.5, -2.3) for m in (-1.0, 0.0, 1.0, 2.0)),
        *((special.stdtr, (df, 0.0)) for df in (0.5, 1.0, 3.0)),
        *((special.stdtrit, (df, 0.5)) for df in (0.5, 1.0, 3.0)),
    ],
)
@pytest.mark.at_length
def test_where_one_of_the_arguments_is_special(f: Any, at: Any) -> None:
    """The branch for a whole number, or for the median, has derivatives of its own."""
    step, point = 1e-5, np.array(at)
    gradient = fg.grad(lambda p: f(p[0], p[1]))
    measured = [(gradient(point + step * e) - gradient(point - step * e)) / (2 * step) for e in np.eye(2)]
    for found in second_derivatives(f, point):
        np.testing.assert_allclose(found, np.stack(measured, -1), rtol=2e-6, atol=1e-7)


def test_a_product_with_what_a_selection_left_out_is_still_differentiated() -> None:
    """Both factors of a selected product may be zero, and yet each has a derivative."""

    def f(p: Any) -> Any:
        return p[2] * special.xlogy(p[0], p[1])

    at = np.array([0.0, 2.0, 0.0])
    for hessian in (fg.hessian(f)(at), fg.jacrev(fg.jacrev(f))(at)):
        np.testing.assert_allclose(hessian, [[0, 0, np.log(2.0)], [0, 0, 0], [np.log(2.0), 0, 0]], atol=1e-12)
    third = fg.jacfwd(fg.jacrev(fg.jacrev(f)))(at)
    np.testing.assert_allclose(third[1, 0, 2], 0.5)
    np.testing.assert_allclose(third[2, 0, 1], 0.5)


def test_orders_of_polygamma_may_be_an_array() -> None:
    orders, x = np.array([[0], [1], [3]]), np.array([0.5, 2.0])
    (found,) = fg.make_program(lambda x: special.polygamma(orders, x))(x)(x)
    np.testing.assert_allclose(found, scipys.polygamma(orders, x), rtol=1e-13)
    np.testing.assert_allclose(special.polygamma(orders, x), scipys.polygamma(orders, x))
    fg.testing.check_grads(lambda x: special.polygamma(orders, x), (x,))


def test_orders_of_polygamma_may_be_traced() -> None:
    """They have no derivative, and need none: a map over orders, an argument of a jitted function."""
    orders = np.array([0, 1, 2, 5])
    x = np.array([0.5, 2.0, 3.0, 1.5])
    expected = scipys.polygamma(orders, x)
    np.testing.assert_allclose(fg.vmap(special.polygamma)(orders, x), expected, rtol=1e-12)
    np.testing.assert_allclose(fg.jit(special.polygamma)(orders, x), expected, rtol=1e-12)
    np.testing.assert_allclose(fg.jit(special.polygamma)(2, x), scipys.polygamma(2, x), rtol=1e-12)
    slopes = fg.vmap(fg.grad(special.polygamma, argnums=1))(orders, x)
    np.testing.assert_allclose(slopes, scipys.polygamma(orders + 1, x), rtol=1e-12)
    bends = fg.jit(fg.vmap(fg.hessian(special.polygamma, argnums=1)))(orders, x)
    np.testing.assert_allclose(bends, scipys.polygamma(orders + 2, x), rtol=1e-12)
    np.testing.assert_allclose(fg.lax.polygamma(orders * 1.0, x), expected, rtol=1e-12)
    slopes = fg.grad(lambda x: np.sum(fg.lax.polygamma(orders * 1.0, x)))(x)
    np.testing.assert_allclose(slopes, scipys.polygamma(orders + 1, x), rtol=1e-12)
    np.testing.assert_allclose(fg.jit(fg.lax.polygamma)(orders * 1.0, x), expected, rtol=1e-12)


def test_orders_of_polygamma_may_be_whole_numbers_in_floating_point() -> None:
    x = np.array([0.5, 2.0])
    for order in (2.0, np.float64(1), np.array([0.0, 3.0])):
        found = fg.jit(lambda x, order=order: special.polygamma(order, x))(x)
        np.testing.assert_allclose(found, scipys.polygamma(order, x), rtol=1e-12)
        slopes = fg.grad(lambda x, order=order: np.sum(special.polygamma(order, x)))(x)
        np.testing.assert_allclose(slopes, scipys.polygamma(order + 1, x), rtol=1e-12)
    for order in (1.5, -1, np.array([0.5, 1.0])):
        with pytest.raises(ValueError, match="orders must be whole numbers"):
            fg.grad(lambda x, order=order: np.sum(special.polygamma(order, x)))(x)


@pytest.mark.parametrize("n", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("k", [0.0, 1.0, 2.0])
def test_combinations_with_repetition(n: float, k: float) -> None:
    (found,) = fg.make_program(lambda n, k: special.comb(n, k, repetition=True))(n, k)(n, k)
    assert found == scipys.comb(n, k, repetition=True)


def test_dtypes_of_single_precision_are_scipys() -> None:
    for x in (np.float32(3.0), np.array([3.0, 2.0], np.float32)):
        for f, g in (
            (special.factorial, scipys.factorial),
            (lambda x: special.multigammaln(x, 2), lambda x: scipys.multigammaln(x, 2)),
        ):
            (found,) = fg.make_program(f)(x)(x)
            np.testing.assert_allclose(found, g(x), rtol=1e-6)
            assert np.asarray(found).dtype == np.asarray(g(x)).dtype


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (2, 0, 0)])
def test_factors_of_nothing(shape: tuple[int, ...]) -> None:
    x = np.zeros(shape)
    for f in (linalg.lu, lambda x: linalg.lu(x, permute_l=True)):
        for found in (fg.make_program(f)(x)(x), fg.jit(f)(x)):
            assert [part.shape for part in found] == [part.shape for part in f(x)]


@pytest.mark.parametrize(
    ("at", "slopes", "curvatures"),
    [  # by mpmath, with sixty digits: by a, b; by a twice, by both, by b twice
        ((1e-12, 2.5), [-1e24, -0.4903577560994889], [2e36, 0.745942516539918, 0.2362040516415535]),
        ((0.4, 1e-10), [-7.275356590361194, -1e20], [32.23912862345846, 1.684028176015184, 2e30]),
        ((1e-9, 2e-9), [-1e18, -2.5e17], [2e27, 2.404113798201764, 2.5e26]),
        ((-1e-9, 0.7), [-1e18, -2.834049158090358], [-2e27, 1.395747284226319, 6.4349928749622]),
        (
            (1e-7, -0.5),
            [-100000000000003.47, -8.934801610771014],
            [2.0000000000000003e21, 5.897736493873866, 0.8287949059850939],
        ),
        ((-5.5, 1e-7), [None, None], [None, np.nan, None]),
    ],
)
def test_beta_beside_its_poles(at: Any, slopes: Any, curvatures: Any) -> None:
    """All digits of its derivatives, or NaN: within 1e-8 of a pole second derivatives had none left."""
    found = fg.grad(lambda p: special.beta(p[0], p[1]))(np.array(at))
    by_a, by_both, by_b = curvatures
    for got, wanted in [
        (found, slopes),
        *[
            (hessian, [[by_a, by_both], [by_both, by_b]])
            for hessian in second_derivatives(special.beta, np.array(at))
        ],
    ]:
        expected = np.array(wanted, dtype=object)
        said = np.not_equal(expected, None)
        np.testing.assert_allclose(np.asarray(got)[said], expected[said].astype(float), rtol=1e-11)
