"""`splrep`, `splev` and kin: SciPy's values, and derivatives by positions, values, knots and coefficients."""

import numpy as np
import pytest
from scipy import interpolate

import funcgrad as fg

X = np.array([0.0, 0.4, 1.1, 1.5, 2.3, 2.9, 3.3, 4.0, 4.2])
Y = np.sin(X) + 0.1 * X**2
AT = np.array([-0.5, 0.0, 0.7, 2.0, 4.2, 4.9])


def slopes_of(f, x):
    steps = 1e-6 * np.eye(x.size)
    return np.array([(f(x + e) - f(x - e)) / 2e-6 for e in steps])


def check(f, x):
    assert np.isclose(fg.jit(f)(x), f(x), rtol=1e-10)
    value, slope = fg.value_and_grad(f)(x)
    assert np.isclose(value, f(x), rtol=1e-10)
    np.testing.assert_allclose(slope, slopes_of(f, x), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_through_values(k):
    def f(y):
        tck = interpolate.splrep(X, y, k=k)
        return np.sum(interpolate.splev(AT, tck) ** 2) + np.sum(tck[1])

    check(f, Y)


@pytest.mark.parametrize("ext", [0, 1, 3])
@pytest.mark.parametrize("der", [0, 2])
def test_at_positions(der, ext):
    tck = interpolate.splrep(X, Y)
    at = np.array([-0.5, 0.3, 0.7, 2.0, 4.1, 4.9])

    def f(x):
        return np.sum(np.cos(interpolate.splev(x, tck, der=der, ext=ext)))

    check(f, at)


def test_near_values_with_knots_and_weights():
    def f(y):
        tck = interpolate.splrep(X, y, w=np.linspace(1.0, 2.0, 9), task=-1, t=[1.2, 3.0])
        return np.sum(interpolate.splev(AT, tck) ** 2)

    check(f, Y)


def test_integrals_and_derivatives_as_splines():
    def f(y):
        tck = interpolate.splrep(X, y, s=0)
        steep = interpolate.splev(1.3, interpolate.splder(tck, 2))
        area = interpolate.splev(AT[2:4], interpolate.splantider(tck))
        ends = y[1] / 2 - 1.0, y[0] + 5.0
        return interpolate.splint(*ends, tck) + interpolate.splint(0.3, 2.0, tck) ** 2 + steep + np.sum(area)

    check(f, Y)


def test_along_a_curve():
    tck, _ = interpolate.splprep([np.cos(X), np.sin(X)], s=0)

    def f(u):
        a, b = interpolate.splev(u, tck)
        return np.sum(a * b)

    check(f, np.array([0.1, 0.5, 0.93]))


def test_what_is_refused():
    with pytest.raises(fg.errors.UnsupportedFunctionError, match="smoothing"):
        fg.grad(lambda y: interpolate.splrep(X, y, s=0.1)[1].sum())(Y)
    with pytest.raises(ValueError, match="Invalid input"):
        fg.grad(lambda x: interpolate.splev(x, interpolate.splrep(X, Y), ext=2))(9.0)
    with pytest.raises(ValueError, match="der=4"):
        fg.grad(lambda x: interpolate.splev(x, interpolate.splrep(X, Y), der=4))(1.0)
