"""Calls of SciPy's own test suite that once had another value, shape or dtype here than there."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.sparse.linalg
import scipy.special
import scipy.stats

import funcgrad as fg

RNG = np.random.default_rng(17)
X = RNG.normal(size=40)
ODD = scipy.signal.butter(3, 0.3, output="sos")
G = np.arange(5.0)
COMPLEX = np.array([[182.0 - 64.0j, -177.0 + 11.0j], [-177.0 + 11.0j, 177.0 - 11.0j]])
DIAGONAL = scipy.stats.Covariance.from_diagonal([1.0, 2.0])
HALF = np.array([[2.0, 0.5], [np.nan, 3.0]])

CASES: tuple[tuple[str, tuple[Any, ...], dict[str, Any]], ...] = (
    ("signal.fftconvolve", (X[:1], X[1:8]), {"mode": "same"}),
    ("signal.oaconvolve", (X[:6].reshape(1, 6), X[:6].reshape(3, 2)), {"mode": "same", "axes": 1}),
    ("signal.sosfiltfilt", (ODD, X), {"padlen": 18}),
    ("signal.butter", (3, 0.3), {"output": "zpk"}),
    ("signal.butter", (3, 0.3, "high"), {"output": "zpk"}),
    ("signal.lfiltic", (np.ones(1, np.float32), np.ones(1, np.float32), np.ones(1, np.float32)), {}),
    ("linalg.inv", (HALF,), {"assume_a": "sym", "check_finite": False}),
    ("linalg.inv", (np.ones((3, 3)),), {"assume_a": "upper triangular"}),
    ("linalg.solve", (COMPLEX, np.eye(2)), {"assume_a": "pos"}),
    ("linalg.solve", (COMPLEX, np.eye(2)), {"assume_a": "her"}),
    ("ndimage.gaussian_laplace", (X[:36].reshape(6, 6), 1), {"mode": ["reflect", "wrap"]}),
    ("ndimage.convolve", (X[:36].reshape(6, 6), COMPLEX), {}),
    ("ndimage.correlate1d", (X, COMPLEX[0]), {"output": np.dtype(np.float64)}),
    ("stats.skew", (np.full(10, -0.27829495),), {}),
    ("stats.kurtosis", (np.full((10, 2), -0.27829495), 0), {"fisher": False}),
    ("stats.zscore", (np.array([[0.1, 1.0], [0.1, 2.0]]),), {}),
    ("stats.multivariate_normal.logpdf", (X[None, :2], None, np.diag([1.0, 2.0])), {}),
    ("stats.multivariate_normal.logpdf", (X[:2], None, DIAGONAL), {}),
    ("stats.multivariate_t.logpdf", (X[:4].reshape(2, 2), None, np.eye(2), np.inf), {}),
    ("stats.multivariate_t.entropy", (None, np.eye(2), 1e20), {}),
    ("stats.multinomial.logpmf", ([1, 2, 0], 3, np.array([0.7, 0.3, 0.0])), {}),
    ("stats.multinomial.cov", ([4, 5], np.array([[0.1, 0.9], [0.5, 0.5]])), {}),
    ("stats.dirichlet.mean", (np.array([0.2]),), {}),
    ("stats.wishart.mean", (2.0, np.array([[1.5]])), {}),
    ("special.factorial", (np.array([np.nan, 2.5, -1.0]),), {}),
    ("special.factorial", (np.array([0.5, -1.5]),), {"extend": "complex"}),
    ("interpolate.interpn", (([1.0], [0.0, 1.0, 2.0]), X[:3].reshape(1, 3), [[1.0, 0.3], [1.0, 2.0]]), {}),
    ("interpolate.interpn", ((G,), X[:5], np.array([[np.nan], [1.2]]), "nearest", False, 3.0), {}),
    ("interpolate.interpn", ((G,), X[:5], np.array([[0.5], [1.2]]), "cubic_legacy"), {}),
)
MADE: tuple[tuple[str, tuple[Any, ...], dict[str, Any], Any], ...] = (
    ("PPoly", (X[:12].reshape(3, 4), G[::-1]), {}, np.array([-1.0, 0.3, 2.0, 3.7, 9.0])),
    ("PPoly", (X[:12].reshape(3, 4), G[::-1], False), {}, np.array([-1.0, 0.3, 4.0])),
    ("PPoly", (X[:24].reshape(2, 3, 2, 2), G[:3]), {"axis": 1}, np.array([0.3, 1.7])),
    ("interp1d", (G, X[:5], "previous"), {"fill_value": "extrapolate"}, np.array([-1.0, 1.5, 7.0])),
    ("interp1d", (G, X[:5], "next"), {"fill_value": "extrapolate"}, np.array([-1.0, 1.5, 7.0])),
)
"""Interpolators, what they are made of, and where they are asked."""
"""A function, its arguments, of which numbers and arrays in floating point are traced, and options."""


def of_package(package: Any, name: str) -> Any:
    for part in name.split("."):
        package = getattr(package, part)
    return package


def is_number(x: Any) -> bool:
    return isinstance(x, float | np.ndarray) and np.asarray(x).dtype.kind in "fc"


def leaves(x: Any) -> list[Any]:
    return [leaf for part in x for leaf in leaves(part)] if isinstance(x, tuple | list) else [x]


@pytest.mark.parametrize("case", CASES, ids=[f"{k} {case[0]}" for k, case in enumerate(CASES)])
def test_the_value_is_scipys(case: tuple[str, tuple[Any, ...], dict[str, Any]]) -> None:
    name, args, options = case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy warns of what is constant.
        wanted = leaves(of_package(scipy, name)(*copy.deepcopy(args), **options))
        found_plainly = of_package(fg.scipy, name)(*copy.deepcopy(args), **options)
    places = [k for k, x in enumerate(args) if is_number(x)]

    def found(*traced: Any) -> tuple[Any, ...]:
        given = dict(zip(places, traced, strict=True))
        filled = [given.get(k, x) for k, x in enumerate(args)]
        return tuple(leaves(of_package(fg.scipy, name)(*filled, **options)))

    numbers = [args[k] for k in places]
    evaluated = fg.jvp(found, tuple(numbers), tuple(numbers))[0]
    for results in (leaves(found_plainly), evaluated, fg.jit(found)(*numbers)):
        for ours, theirs in zip(results, wanted, strict=True):
            assert (np.shape(ours), np.asarray(ours).dtype) == (np.shape(theirs), np.asarray(theirs).dtype)
            np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("made", MADE, ids=[f"{k} {made[0]}" for k, made in enumerate(MADE)])
def test_interpolators_are_scipys(made: tuple[str, tuple[Any, ...], dict[str, Any], Any]) -> None:
    name, args, options, points = made
    ours, theirs = getattr(fg.scipy.interpolate, name), getattr(scipy.interpolate, name)
    wanted = theirs(*args, **options)(points)
    np.testing.assert_allclose(ours(*args, **options)(points), wanted)

    def found_at(p: Any) -> Any:
        return ours(*args, **options)(p)

    found = fg.jvp(found_at, (points,), (points,))[0]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    np.testing.assert_allclose(fg.jit(found_at)(points), wanted, rtol=1e-12)


def test_a_falling_piecewise_polynomial_moves_with_its_breakpoints() -> None:
    c, points = X[:12].reshape(3, 4), np.array([-1.0, 0.3, 2.5, 9.0])
    found = fg.jit(lambda x: fg.scipy.interpolate.PPoly(c, x)(points))(G[::-1])
    np.testing.assert_allclose(found, scipy.interpolate.PPoly(c, G[::-1])(points), rtol=1e-12)


def test_what_only_scipys_object_can_is_its_own() -> None:
    ours = fg.scipy.interpolate.PPoly(X[:12].reshape(3, 4), G)
    theirs = scipy.interpolate.PPoly(X[:12].reshape(3, 4), G)
    np.testing.assert_array_equal(ours.solve(0.1), theirs.solve(0.1))
    np.testing.assert_allclose(ours.integrate(0.5, 9.0, "periodic"), theirs.integrate(0.5, 9.0, "periodic"))
    assert len(fg.scipy.linalg.schur(np.eye(2), sort="lhp")) == 3


def test_the_length_of_padding_depends_on_zeros_among_the_coefficients() -> None:
    found = fg.jvp(lambda sos: fg.scipy.signal.sosfiltfilt(sos, X), (ODD,), (ODD,))[0]
    np.testing.assert_allclose(found, scipy.signal.sosfiltfilt(ODD, X))
    with pytest.raises(fg.errors.UnsupportedFunctionError, match="Give padlen="):
        fg.jit(lambda sos: fg.scipy.signal.sosfiltfilt(sos, X))(ODD)


def test_states_of_sections_must_have_the_shape_of_the_signal() -> None:
    with pytest.raises(ValueError, match="zi"):
        fg.jvp(lambda x: fg.scipy.signal.sosfilt(ODD, x, zi=np.zeros((2, 3))), (X,), (X,))


@pytest.mark.parametrize(
    ("name", "shapes", "middle"),
    [
        ("laplace", (), 0.0),
        ("laplace_asymmetric", (2.0,), 0.0),
        ("gennorm", (1.3,), 0.0),
        ("gennorm", (0.8,), 0.0),
        ("fatiguelife", (2.0,), 1.0),
        ("loglaplace", (2.0,), 1.0),
    ],
)
def test_where_two_tails_meet_the_slope_is_the_density(name: str, shapes: Any, middle: float) -> None:
    ours, theirs = getattr(fg.scipy.stats, name), getattr(scipy.stats, name)
    density = theirs.pdf(middle, *shapes)
    assert fg.grad(lambda x: ours.cdf(x, *shapes))(middle) == pytest.approx(density, rel=1e-12)
    assert fg.grad(lambda x: ours.sf(x, *shapes))(middle) == pytest.approx(-density, rel=1e-12)
    q = theirs.cdf(middle, *shapes)
    assert fg.grad(lambda q: ours.ppf(q, *shapes))(q) == pytest.approx(1.0 / density, rel=1e-8)


def test_singular_covariances_raise() -> None:
    a = np.array([[1.0], [0.3], [-2.0]])
    singular = a @ a.T + 1e-15 * np.eye(3)
    law = fg.scipy.stats.multivariate_normal
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        fg.grad(lambda x: law.logpdf(x, None, singular))(X[:3])
    with pytest.raises(fg.errors.UnsupportedFunctionError, match="singular"):
        fg.grad(lambda cov: law.pdf(X[:3], None, cov, allow_singular=True))(singular)
    wanted = scipy.stats.multivariate_normal([0.0, 0.0], np.eye(2), allow_singular=True).entropy()
    assert law([0.0, 0.0], np.eye(2), allow_singular=True).entropy() == wanted


def test_densities_of_a_plain_singular_matrix_are_scipys_on_its_subspace() -> None:
    ours, theirs = fg.scipy.stats.multivariate_normal, scipy.stats.multivariate_normal
    factor = np.array([[1.0, 0.0], [0.3, 1.2], [-2.0, 0.4]])
    cov, mean = factor @ factor.T, np.array([0.5, -1.0, 2.0])
    points = mean + np.array([[0.2, 0.7], [-1.0, 0.1]]) @ factor.T
    points = np.vstack([points, points[0] + [0.1, 0.0, 0.0]])  # the last one is outside

    def logpdf(x: Any, mean: Any) -> Any:
        return ours.logpdf(x, mean, cov, allow_singular=True)

    np.testing.assert_allclose(fg.vjp(logpdf, points, mean)[0], theirs.logpdf(points, mean, cov, True))
    by_x, by_mean = fg.jacobian(logpdf, argnums=(0, 1))(points, mean)
    slopes = -(points - mean) @ np.linalg.pinv(cov)
    slopes[2] = 0.0
    np.testing.assert_allclose(by_mean, -slopes, atol=1e-9)
    np.testing.assert_allclose(by_x, np.eye(3)[:, :, None] * slopes[None], atol=1e-9)
    pdf = fg.value_and_grad(lambda x: ours(mean, cov, allow_singular=True).pdf(x))(points[1])
    np.testing.assert_allclose(pdf[0], theirs.pdf(points[1], mean, cov, True))
    np.testing.assert_allclose(pdf[1], pdf[0] * slopes[1], atol=1e-9)
    with pytest.raises(ValueError, match="semidefinite"):
        fg.grad(lambda x: ours.logpdf(x, mean, -cov, allow_singular=True))(points[0])


def test_distances_are_not_left_unwritten() -> None:
    with pytest.raises(fg.errors.UnsupportedFunctionError, match="out="):
        fg.grad(lambda x: fg.scipy.spatial.distance.pdist(x, out=np.zeros(1)).sum())(np.eye(2))


def test_curves_through_points_of_which_some_are_missing() -> None:
    x = np.linspace(0.0, 1.0, 12)
    y = 2.0 * np.exp(-x)
    y[3] = np.nan

    def curve(x: Any, a: Any, b: Any) -> Any:
        return a * np.exp(-b * x)

    found, covariance = fg.scipy.optimize.curve_fit(curve, x, y, nan_policy="omit")
    np.testing.assert_allclose(found, [2.0, 1.0], rtol=1e-10)
    assert covariance.shape == (2, 2)
    with pytest.raises(ValueError, match="NaNs"):
        fg.scipy.optimize.curve_fit(curve, x, y)


@pytest.mark.parametrize(
    "x",
    [
        np.array([3e30, -4e30], np.float32),
        np.array([3e-30, 4e-30], np.float32),
        np.array([3e200, 4e200j]),
        np.array([3e-200, -4e-200]),
        np.zeros(2),
    ],
    ids=str,
)
def test_norms_of_large_and_small_vectors_have_scipys_values(x: Any) -> None:
    wanted = scipy.linalg.norm(x)
    of_one = fg.value_and_grad(lambda t: fg.scipy.linalg.norm(t * x))
    for f in (of_one, fg.jit(of_one)):
        value, slope = f(x.real.dtype.type(1))
        np.testing.assert_allclose(value, wanted, rtol=1e-6 if x.dtype == np.float32 else 1e-15)
        np.testing.assert_allclose(slope, wanted, rtol=1e-6)
    if wanted and x.dtype.kind == "f":
        slope = fg.grad(fg.scipy.linalg.norm)(x)
        np.testing.assert_allclose(slope, x / wanted, rtol=1e-6)
        unit = x / wanted
        np.testing.assert_allclose(
            fg.hessian(fg.scipy.linalg.norm)(x) * wanted, np.eye(2) - np.outer(unit, unit), rtol=1e-5
        )


def test_events_that_did_not_happen_have_no_states() -> None:
    def late(t: Any, y: Any) -> Any:
        return y[0] - 5.0

    def states(c: Any) -> Any:
        end = fg.scipy.integrate.solve_ivp(lambda t, y: -c * y, (0, 1), [1.0, 2.0], events=late)
        assert end.y_events[0].shape == end.t_events[0].shape == (0,)
        return end.y[0, -1]

    assert fg.grad(states)(1.0) == pytest.approx(-np.exp(-1.0), rel=1e-2)


def test_sparse_right_hand_sides_are_scipys() -> None:
    A = scipy.sparse.csc_array(np.array([[4.0, 1.0], [1.0, 3.0]]))
    for name in ("spsolve", "expm_multiply"):
        ours, theirs = getattr(fg.scipy.sparse.linalg, name), getattr(scipy.sparse.linalg, name)
        np.testing.assert_array_equal(ours(A, A).toarray(), theirs(A, A).toarray())
        with pytest.raises(fg.errors.UnsupportedFunctionError, match=r"(?s)sparse right-hand side.*toarray"):
            fg.grad(lambda t: ours(t * A, A).sum())(1.0)  # noqa: B023


def test_options_of_later_versions_are_taken() -> None:
    seen: list[Any] = []

    def best(y: Any) -> Any:
        return fg.scipy.optimize.least_squares(
            lambda x: x * x - y, np.full(2, 1.5), callback=lambda intermediate_result: seen.append(1)
        ).x.sum()

    np.testing.assert_allclose(fg.grad(best)(np.array([4.0, 9.0])), [0.25, 1 / 6], rtol=1e-6)
    assert seen
    found = fg.scipy.optimize.least_squares(lambda x: x - 1.0, [2.0, 3.0], jac="2-point", workers=map)
    np.testing.assert_allclose(found.x, 1.0, rtol=1e-6)


LINES = X[:30].reshape(2, 5, 3)
CUMULATED: tuple[dict[str, Any], ...] = (
    {"initial": 0.7},
    {"initial": 0.7, "axis": 0},
    {"initial": X[:10].reshape(2, 5, 1)},
    {"initial": X[:6].reshape(2, 1, 3), "axis": 1, "x": np.arange(5.0) ** 2},
    {"dx": np.exp(X[:6]).reshape(2, 1, 3), "axis": -2},
    {"dx": 0.0, "axis": 1},
)
"""Options of an integral up to every sample."""


@pytest.mark.parametrize("options", CUMULATED, ids=str)
def test_integrals_up_to_every_sample_begin_where_they_are_told(options: dict[str, Any]) -> None:
    wanted = scipy.integrate.cumulative_simpson(LINES, **options)
    found, moved = fg.jvp(lambda y: fg.scipy.integrate.cumulative_simpson(y, **options), (LINES,), (LINES,))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    np.testing.assert_allclose(moved, wanted - options.get("initial", 0.0), rtol=1e-10, atol=1e-12)
    whole = fg.jit(lambda y, given: fg.scipy.integrate.cumulative_simpson(y, **given))(LINES, {"dx": 0.3})
    np.testing.assert_allclose(whole, scipy.integrate.cumulative_simpson(LINES, dx=0.3), rtol=1e-12)


@pytest.mark.parametrize("a", [2.0, np.array([[2.0]])])
@pytest.mark.parametrize("b", [3.0, np.array([3.0]), np.array([3.0, 5.0]), np.array([[3.0], [5.0]])])
def test_a_single_element_divides_what_is_solved_for(a: Any, b: Any) -> None:
    wanted = scipy.linalg.solve(a, b)
    found, slope = fg.jvp(lambda t: fg.scipy.linalg.solve(a * t, b), (1.0,), (1.0,))
    assert np.shape(found) == np.shape(wanted)
    np.testing.assert_allclose(found, wanted)
    np.testing.assert_allclose(slope, -wanted)
    with pytest.raises(np.linalg.LinAlgError):
        fg.grad(lambda t: np.sum(fg.scipy.linalg.solve(a * t, b)))(0.0)
