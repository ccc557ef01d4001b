"""`fg.scipy.interpolate`: values are SciPy's, derivatives those of differences of SciPy's values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.interpolate
import scipy.sparse.linalg
from solver_cases import Case, check_batches, check_compiled, check_first, check_second, check_value

import funcgrad as fg
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.scipy import interpolate as ours

X = np.array([0.0, 0.7, 1.5, 2.1, 3.0, 3.4, 4.2])
Y = np.array([0.3, 1.1, 0.8, -0.4, 0.2, 0.9, 1.4])
AT = np.array([0.11, 0.93, 2.4, 3.21, 4.0])
P = np.array([0.7, 1.3])


def values(name: str, **options: Any) -> Any:
    return lambda o, y: getattr(o, name)(X, y, **options)(AT)


def knots(name: str, **options: Any) -> Any:
    return lambda o, x: getattr(o, name)(x, Y, **options)(AT)


def places(name: str, **options: Any) -> Any:
    return lambda o, t: getattr(o, name)(X, Y, **options)(t)


def both_ways(name: str, label: str = "", tolerance: float = 1e-6, **options: Any) -> list[Case]:
    title = f"{name}{label}"
    return [
        Case(f"{title}-values", values(name, **options), Y, tolerance),
        Case(f"{title}-knots", knots(name, **options), X, tolerance),
        Case(f"{title}-positions", places(name, **options), AT, tolerance),
    ]


def of_columns(o: Any, y: Any) -> Any:
    return o.CubicSpline(X, np.stack([y, y**2]), axis=1)(AT[:4].reshape(2, 2))


def parts_of_splines(o: Any, y: Any) -> Any:
    s = o.CubicSpline(X, y)
    found = [
        s(1.1, 1),
        s(1.1, 2),
        s.derivative()(0.4),
        s.antiderivative()(2.2),
        s.integrate(0.3, 2.9),
    ]
    return np.stack(found)


def periodic(o: Any, y: Any) -> Any:
    return o.CubicSpline(X, np.concatenate([y[:-1], y[:1]]), bc_type="periodic")(AT + 3.0)


def of_ends(o: Any, p: Any) -> Any:
    return o.CubicSpline(X, Y, bc_type=((1, p[0]), (2, p[1])))(AT)


def few(count: int) -> Any:
    return lambda o, y: o.CubicSpline(X[:count], y[:count])(AT[:2])


def steep(o: Any, p: Any) -> Any:
    return o.CubicHermiteSpline(X, Y * p[0], np.cos(Y * p[1]))(AT)


def b_spline(o: Any, c: Any) -> Any:
    t = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.2, 4.2, 4.2, 4.2])
    s = o.BSpline(t, c, 3)
    return np.concatenate(
        [s(AT), s(AT, 1), s.derivative()(AT), s.antiderivative()(AT), np.stack([s.integrate(0.5, 3.9)])]
    )


def b_spline_knots(o: Any, t: Any) -> Any:
    return o.BSpline(np.concatenate([np.zeros(4), t, 4.2 * np.ones(4)]), Y, 3)(AT)


def near_values(o: Any, y: Any) -> Any:
    return o.make_lsq_spline(X, y, np.array([0.0, 0.0, 0.0, 2.0, 4.2, 4.2, 4.2]), 2, w=1.0 + X)(AT)


def smoothed(o: Any, y: Any) -> Any:
    return o.make_smoothing_spline(X, y, w=1.0 + X, lam=0.3)(AT)


def smoothness(o: Any, p: Any) -> Any:
    return o.make_smoothing_spline(X * p[1], Y, lam=p[0])(AT)


def older(name: str, *args: Any, **options: Any) -> Any:
    def found(o: Any, y: Any) -> Any:
        s = getattr(o, name)(X, y, *args, **options)
        return np.append(s(AT), s.integral(0.2, 3.0))

    return found


def a_line(kind: str, **options: Any) -> Any:
    return lambda o, y: o.interp1d(X, y, kind, **options)(AT)


def unsorted(o: Any, y: Any) -> Any:
    return o.interp1d(X[::-1], y, fill_value=(1.5, 2.5), bounds_error=False)(np.append(AT, [-1.0, 9.0]))


GRID = (np.array([0.0, 0.5, 1.2, 2.0, 2.6, 3.1]), np.array([-1.0, 0.0, 0.7, 1.5, 1.9, 2.2]))
TABLE = np.sin(np.add.outer(GRID[0], 2.0 * GRID[1]))
SPOTS = np.array([[0.3, 0.2], [1.9, 1.1], [2.3, -0.4]])


def grid_values(method: str) -> Any:
    # By default SciPy's coefficients are those of an iteration, which ends early.
    direct = {} if method in ("linear", "nearest") else {"solver": scipy.sparse.linalg.spsolve}
    return lambda o, p: o.RegularGridInterpolator(GRID, TABLE * p[0] + p[1] ** 2, method, **direct)(SPOTS)


def grid_places(method: str) -> Any:
    direct = {} if method == "linear" else {"solver": scipy.sparse.linalg.spsolve}
    return lambda o, p: o.RegularGridInterpolator(GRID, TABLE, method, **direct)(SPOTS + 0.1 * p)


def grid_itself(o: Any, p: Any) -> Any:
    return o.interpn((GRID[0] * p[0], GRID[1]), TABLE, (0.9 * p[1], 0.3))


SITES = np.array([[0.0, 0.1], [1.0, 0.2], [0.3, 1.1], [1.2, 0.9], [0.6, 0.5], [0.2, 0.6], [0.9, 1.5]])


def basis_functions(kernel: str, **options: Any) -> Any:
    def found(o: Any, p: Any) -> Any:
        d = np.sin(3.0 * SITES @ np.array([1.0, 2.0])) * p[0]
        return o.RBFInterpolator(SITES * p[1], d, kernel=kernel, **options)(SITES[:3] + 0.05 * p)

    return found


def triangles(o: Any, p: Any) -> Any:
    d = np.stack([SITES[:, 0] ** 2 * p[0], SITES[:, 1] * p[1]], axis=1)
    return o.LinearNDInterpolator(SITES, d)(np.array([[0.5, 0.6], [0.7, 0.9]]) + 0.1 * p)


def gridded(method: str) -> Any:
    return lambda o, p: o.griddata(SITES, SITES[:, 0] * p[0] ** 2, np.array([[0.5, 0.6], [0.7, 0.9]]), method)


CASES = [
    *both_ways("CubicSpline"),
    *both_ways("CubicSpline", "-natural", bc_type="natural"),
    *both_ways("CubicSpline", "-clamped", bc_type=("clamped", "not-a-knot")),
    Case("CubicSpline-columns", of_columns, Y),
    Case("CubicSpline-parts", parts_of_splines, Y),
    Case("CubicSpline-periodic", periodic, Y),
    Case("CubicSpline-ends", of_ends, P),
    Case("CubicSpline-two", few(2), Y),
    Case("CubicSpline-three", few(3), Y),
    *both_ways("PchipInterpolator"),
    *both_ways("Akima1DInterpolator"),
    *both_ways("Akima1DInterpolator", "-makima", method="makima"),
    Case("CubicHermiteSpline", steep, P),
    Case("BSpline", b_spline, Y),
    Case("BSpline-knots", b_spline_knots, np.array([1.0, 2.0, 3.0])),
    *[c for k in (1, 2, 3, 5) for c in both_ways("make_interp_spline", f"-{k}", k=k)],
    *both_ways("make_interp_spline", "-natural", bc_type="natural"),
    *both_ways("make_interp_spline", "-clamped", bc_type=([(1, 0.3)], [(2, 0.1)])),
    Case("make_lsq_spline", near_values, Y),
    Case("make_smoothing_spline", smoothed, Y),
    Case("make_smoothing_spline-lam", smoothness, P),
    Case("UnivariateSpline", older("UnivariateSpline", s=0), Y),
    Case("InterpolatedUnivariateSpline", older("InterpolatedUnivariateSpline"), Y),
    Case("LSQUnivariateSpline", older("LSQUnivariateSpline", [2.0]), Y),
    *[
        Case(f"interp1d-{kind}", a_line(kind), Y)
        for kind in (
            "linear",
            "nearest",
            "nearest-up",
            "previous",
            "next",
            "zero",
            "slinear",
            "quadratic",
            "cubic",
        )
    ],
    Case("interp1d-unsorted", unsorted, Y),
    Case("interp1d-positions", places("interp1d", fill_value="extrapolate"), AT),
    *[
        Case(f"grid-values-{m}", grid_values(m), P, 1e-5)
        for m in ("linear", "nearest", "slinear", "cubic", "quintic")
    ],
    *[
        Case(f"grid-positions-{m}", grid_places(m), P, 1e-5, 1e-3)
        for m in ("linear", "slinear", "cubic", "quintic")
    ],
    Case("interpn-grid", grid_itself, P),
    *[
        Case(f"RBFInterpolator-{k}", basis_functions(k), P, 1e-5)
        for k in ("linear", "thin_plate_spline", "cubic", "quintic")
    ],
    *[
        Case(f"RBFInterpolator-{k}", basis_functions(k, epsilon=1.2, smoothing=0.01), P, 1e-5)
        for k in ("multiquadric", "inverse_multiquadric", "inverse_quadratic", "gaussian")
    ],
    Case("LinearNDInterpolator", triangles, P),
    Case("griddata-linear", gridded("linear"), P),
    Case("griddata-nearest", gridded("nearest"), P),
]
each = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


@each
def test_values_are_those_of_scipy(case: Case) -> None:
    check_value(case, scipy.interpolate, ours)


@each
def test_first_derivatives(case: Case) -> None:
    check_first(case, scipy.interpolate, ours)


@each
@pytest.mark.at_length
def test_second_derivatives(case: Case) -> None:
    check_second(case, ours)


@each
@pytest.mark.at_length
def test_batches_are_loops(case: Case) -> None:
    check_batches(case, ours)


ALIKE = (
    *("CubicSpline-clamped", "make_interp_spline-2", "make_interp_spline-clamped"),
    *("interp1d-nearest-up", "interp1d-zero", "interp1d-slinear"),
    *("RBFInterpolator-cubic", "RBFInterpolator-multiquadric", "RBFInterpolator-inverse_multiquadric"),
)
"""What is compiled of these is compiled of others: a degree, an end or a kernel more of the same system."""
COMPILED = [case for case in CASES if not case.name.startswith(ALIKE)]


@pytest.mark.at_length
@pytest.mark.parametrize("case", COMPILED, ids=[case.name for case in COMPILED])
def test_compiled_is_evaluated(case: Case) -> None:
    check_compiled(case, ours)


# -- beyond the table ----------------------------------------------------------------------------------------


def test_outside_of_the_values() -> None:
    for name in ("CubicSpline", "PchipInterpolator", "Akima1DInterpolator", "make_interp_spline"):
        expected = getattr(scipy.interpolate, name)(X, Y)(np.array([-0.5, 5.0]))
        found = fg.vmap(getattr(ours, name)(X, Y))(np.array([-0.5, 5.0]))
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    with pytest.raises(ValueError, match="below the interpolation range"):
        fg.grad(ours.interp1d(X, Y))(-1.0)
    with pytest.raises(ValueError, match="out of bounds"):
        fg.grad(lambda p: ours.RegularGridInterpolator(GRID, TABLE)(p)[0])(np.array([9.0, 0.0]))


def test_bad_input() -> None:
    for o in (scipy.interpolate, ours):
        with pytest.raises(ValueError, match="length of `y`"):
            fg.vmap(lambda y, o=o: ours.CubicSpline(X, y)(1.0))(
                np.ones((2, 3))
            ) if o is ours else o.CubicSpline(X, np.ones(3))
    with pytest.raises(UnsupportedFunctionError, match="no derivative by its data sites"):
        fg.grad(lambda a: ours.LinearNDInterpolator(a * SITES, SITES[:, 0])(0.5, 0.5))(1.0)


def test_smooth_at_data_sites() -> None:
    f = ours.RBFInterpolator(SITES, SITES[:, 0] * SITES[:, 1], kernel="quintic")
    slope = fg.grad(lambda p: f(p[None])[0])(SITES[4])
    e = 1e-5 * np.eye(2)
    expected = [(f((SITES[4] + d)[None]) - f((SITES[4] - d)[None]))[0] / 2e-5 for d in e]
    np.testing.assert_allclose(slope, expected, rtol=1e-6)


@pytest.mark.parametrize("point", [-1.5, -1.0, 6.0, 6.0001])
def test_a_spline_is_zero_where_the_knots_of_an_end_meet(point: float) -> None:
    """Beyond an end of more than its degree of knots, in value and slope; it was NaN."""
    t = np.array([-2.0, -1.0, -1.0, -1.0, 0.0, 1.0, 3.0, 6.0, 6.0, 6.0, 7.0, 7.0])
    c = np.linspace(1.0, 3.0, 9)
    wanted = scipy.interpolate.BSpline(t, c, 2)(point)
    for value_and_grad in (fg.value_and_grad, lambda f: fg.jit(fg.value_and_grad(f))):
        value, slope = value_and_grad(fg.scipy.interpolate.BSpline(t, c, 2))(point)
        np.testing.assert_allclose(value, wanted)
        assert np.isfinite(slope)
    moved = fg.grad(lambda t: fg.scipy.interpolate.BSpline(t, c, 2)(point))(t)
    assert np.isfinite(moved).all()


@pytest.mark.parametrize("kernel", ["thin_plate_spline", "gaussian", "linear"])
@pytest.mark.parametrize("neighbors", [6, 50])
def test_radial_functions_of_neighbors(kernel: str, neighbors: int) -> None:
    import scipy.interpolate

    rng = np.random.default_rng(0)
    sites, data = rng.normal(size=(20, 2)), rng.normal(size=(20, 3))
    points, weights = rng.normal(size=(7, 2)), rng.normal(size=(7, 3))

    def loss(t: Any, interpolate: Any) -> Any:
        f = interpolate.RBFInterpolator(
            sites + t, data * t, neighbors, kernel=kernel, epsilon=1.3, smoothing=0.1 * t
        )
        return (f(points * t) * weights).sum()

    def ours(t: Any) -> Any:
        return loss(t, fg.scipy.interpolate)

    step = 1e-5
    apart = (loss(0.7 + step, scipy.interpolate) - loss(0.7 - step, scipy.interpolate)) / (2 * step)
    assert ours(0.7) == pytest.approx(loss(0.7, scipy.interpolate), rel=1e-9)
    assert fg.grad(ours)(0.7) == pytest.approx(apart, rel=1e-6)
    assert fg.vmap(ours)(np.array([0.7, 0.8])) == pytest.approx([ours(0.7), ours(0.8)], rel=1e-9)
    f = fg.scipy.interpolate.RBFInterpolator(sites, data, neighbors, kernel=kernel, epsilon=1.3)
    assert fg.grad(lambda x: f(x)[0, 0])(points).any()
