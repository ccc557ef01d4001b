"""What the user's functions call, as they stand: `math`, methods of SciPy's objects, their own classes."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.interpolate
import scipy.special
from scipy import stats
from scipy.interpolate import CubicSpline, PPoly, RBFInterpolator, RegularGridInterpolator, interp1d
from scipy.stats import gamma, multivariate_normal, norm, poisson

import funcgrad as fg

X = np.linspace(0.0, 4.0, 9)
Y = np.sin(X)
GRID = np.outer(Y, Y)
PLANE = np.random.default_rng(0).normal(size=(12, 2))
Function = Callable[[Any], Any]

SPLINES: dict[str, Any] = {
    "CubicSpline": CubicSpline(X, Y),
    "not extrapolated": CubicSpline(X, Y, extrapolate=False),
    "periodic": CubicSpline(X * (np.pi / 2.0), np.sin(X * (np.pi / 2.0)).round(9), bc_type="periodic"),
    "PchipInterpolator": scipy.interpolate.PchipInterpolator(X, Y),
    "Akima1DInterpolator": scipy.interpolate.Akima1DInterpolator(X, Y),
    "CubicHermiteSpline": scipy.interpolate.CubicHermiteSpline(X, Y, np.cos(X)),
    "PPoly": PPoly(np.array([[1.0, -1.0], [0.0, 1.0]]), np.array([0.0, 1.0, 2.0])),
    "BSpline": scipy.interpolate.make_interp_spline(X, Y, 4),
    "UnivariateSpline": scipy.interpolate.UnivariateSpline(X, Y, s=0.01),
    "constant outside": scipy.interpolate.UnivariateSpline(X, Y, s=0, ext=3),
    "InterpolatedUnivariateSpline": scipy.interpolate.InterpolatedUnivariateSpline(X, Y),
    "linear": interp1d(X, Y),
    "quadratic": interp1d(X, Y, kind="quadratic"),
    "cubic, goes on": interp1d(X, Y, kind="cubic", fill_value="extrapolate"),
    "filled": interp1d(X, Y, bounds_error=False, fill_value=(-1.0, 1.0)),
}  # fmt: skip


def test_every_spline_of_scipys_takes_traced_positions() -> None:
    for name, spline in SPLINES.items():
        both_ways(lambda t, spline=spline: np.sum(spline(t) ** 2), np.array([0.9, 1.7]), name)


@pytest.mark.parametrize("name", ["CubicSpline", "BSpline", "PchipInterpolator"])
def test_derivatives_and_integrals_of_scipys_splines(name: str) -> None:
    spline = SPLINES[name]
    both_ways(lambda t: spline.derivative()(t), 0.9)  # noqa: PLW0108 - it is made inside
    both_ways(lambda t: spline(t, 1), 0.9)
    both_ways(lambda t: spline.antiderivative(2)(t), 0.9)  # noqa: PLW0108 - as above
    both_ways(lambda t: spline.integrate(0.3, t), 0.9)


GIVEN: dict[str, tuple[Function, Any]] = {
    "values of a spline": (lambda v: CubicSpline(X, v, bc_type="natural")(1.1), Y),
    "grid": (
        lambda p: RegularGridInterpolator((X, X), GRID)(p[None])[0],
        np.array([0.9, 1.7]),
    ),
    "radial": (
        lambda p: RBFInterpolator(PLANE, PLANE[:, 0] ** 2, kernel="cubic", degree=2)(p[None])[0],
        np.array([0.2, 0.3]),
    ),
    "density": (lambda p: norm.pdf(p[0], p[1], p[2]), np.array([0.3, 0.1, 1.4])),
    "mean": (lambda p: norm.sf(0.7, loc=p[0], scale=p[1]), np.array([0.3, 1.4])),
    "module": (lambda p: stats.gamma.logpdf(2.0, p[0], scale=p[1]), np.array([1.3, 1.4])),
    "frozen by traced values": (lambda p: gamma(p[0], scale=p[1]).logpdf(2.0), np.array([1.3, 1.4])),
    "counts": (lambda p: poisson(p).logpmf(3), 1.4),
    "counts of a name": (lambda p: stats.nbinom.logpmf(np.arange(4), p[0], p[1]).sum(), np.array([2.5, 0.4])),
    "several": (
        lambda p: multivariate_normal.logpdf(p, np.zeros(2), np.array([[2.0, 0.3], [0.3, 1.0]])),
        np.array([0.2, 0.3]),
    ),
    "several, frozen by traced values": (
        lambda p: multivariate_normal(p, np.eye(2)).logpdf(np.ones(2)),
        np.array([0.2, 0.3]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GIVEN)
def test_what_scipy_is_given(name: str) -> None:
    function, at = GIVEN[name]
    both_ways(function, at)


FROZEN: dict[str, tuple[Any, float]] = {
    "norm": (norm(1.0, 2.0), 0.3),
    "gamma": (gamma(1.5, scale=0.5), 0.3),
    "beta": (stats.beta(2.0, 3.0, loc=-1.0, scale=3.0), 0.3),
    "gaussian_kde": (stats.gaussian_kde(Y, bw_method=0.4, weights=X + 1.0), 0.3),
}


@pytest.mark.parametrize("name", FROZEN)
def test_distributions_that_were_frozen_outside(name: str) -> None:
    frozen, at = FROZEN[name]
    both_ways(lambda t: np.sum(frozen.logpdf(t)), at)
    if name != "gaussian_kde":
        both_ways(lambda t: np.sum(frozen.cdf(t)), at)


def test_a_frozen_distribution_of_several_numbers() -> None:
    frozen = multivariate_normal(np.array([0.1, 0.2]), np.array([[2.0, 0.3], [0.3, 1.0]]))
    both_ways(frozen.logpdf, np.array([0.2, 0.3]))
    student = stats.multivariate_t(np.array([0.1, 0.2]), np.array([[2.0, 0.3], [0.3, 1.0]]), df=4.0)
    both_ways(student.logpdf, np.array([0.2, 0.3]))


def test_distributions_of_the_users_own_are_not_mistaken_for_scipys() -> None:
    class Half(stats.rv_continuous):
        def _pdf(self, x: Any) -> Any:
            return 2.0 * x

    law = Half(a=0.0, b=1.0, name="norm")
    with pytest.raises(fg.errors.FuncgradError):
        fg.grad(law.pdf)(0.3)


def test_functions_of_scipys_are_differentiated_themselves() -> None:
    both_ways(CubicSpline(X, Y), 0.9)
    both_ways(norm.logpdf, 0.9)
    both_ways(math.exp, 0.9)


# -- math --------------------------------------------------------------------------------------------------

ONE = ["exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "sinh", "cosh"]
ONE += ["tanh", "asin", "acos", "atan", "asinh", "atanh", "degrees", "radians", "fabs", "erf", "erfc"]
ONE += ["gamma", "lgamma", "exp2"]


@pytest.mark.parametrize("name", ONE)
def test_functions_of_math(name: str) -> None:
    function = getattr(math, name)
    both_ways(lambda x: function(x) * x, 0.7)


SEVERAL: dict[str, Function] = {
    "acosh": lambda x: math.acosh(x + 1.0),
    "log": lambda x: math.log(x, 3) + math.log(7.0, x + 1.0),
    "pow": lambda x: math.pow(x, 2.5) + math.pow(2.0, x),
    "atan2": lambda x: math.atan2(x, 2.0) + math.atan2(1.0, x),
    "hypot": lambda x: math.hypot(x, 2.0) + math.hypot(x, 1.0, 2.0 * x),
    "dist": lambda x: math.dist([x, 1.0], (0.0, x)),
    "fsum": lambda x: math.fsum([x, 2.0 * x, 1.0]),
    "prod": lambda x: math.prod([x, x, 3.0], start=2.0),
    "of an array": lambda x: math.fsum(x * X) + math.prod(x * X[1:]) + math.dist(x * X, X),
    "copysign": lambda x: math.copysign(x, -2.0),
    "fmod": lambda x: math.fmod(x, 0.4),
    "modf": lambda x: math.modf(3.0 * x)[0] * x,
    "frexp": lambda x: math.frexp(3.0 * x)[0] * x,
    "ldexp": lambda x: math.ldexp(x, 3) * x,
    "complex": lambda x: abs(complex(x, x**2)) + complex(2.0, imag=x).imag + complex(real=x, imag=1).real,
    "str": lambda x: x**2 if str(x) and "x is " + str([x]) else x,
    "of an element": lambda x: math.exp(np.array([x, 2.0 * x])[1]),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_functions_of_math_with_several_arguments(name: str) -> None:
    both_ways(SEVERAL[name], 0.7)


def test_math_raises_what_python_raises() -> None:
    def f(x: Any) -> Any:
        try:
            return math.log(x)
        except ValueError:
            return -100.0 * x

    assert fg.value_and_grad(f)(-1.0) == (100.0, -100.0)
    with pytest.raises(OverflowError):
        fg.grad(math.exp)(1e4)
    with pytest.raises(TypeError, match="0-dimensional"):
        fg.grad(math.exp)(np.ones(2))


def test_math_of_what_has_no_gradient_is_a_python_float() -> None:
    seen: list[Any] = []

    def f(x: Any) -> Any:
        seen.append(math.exp(fg.stop_gradient(x)))
        return x

    fg.grad(f)(0.0)
    assert type(seen[0]) is float


DRAWN: dict[str, Function] = {
    "normal": lambda p, rng: rng.normal(p[0], p[1], size=(3, 2)),
    "of vectors": lambda p, rng: rng.normal(p, scale=2.0),
    "of a vector and a number": lambda p, rng: rng.normal(np.arange(3.0), p[1]),
    "one": lambda p, rng: rng.normal(loc=p[0]),
    "lognormal": lambda p, rng: rng.lognormal(p[0], p[1], 4),
    "uniform": lambda p, rng: rng.uniform(p[0], p[0] + p[1], size=4),
    "exponential": lambda p, rng: rng.exponential(p[0], size=4),
    "rayleigh": lambda p, rng: rng.rayleigh(p[0], size=4),
    "laplace": lambda p, rng: rng.laplace(p[0], p[1], size=4),
    "gumbel": lambda p, rng: rng.gumbel(p[0], p[1], size=4),
    "logistic": lambda p, rng: rng.logistic(p[0], p[1], size=4),
    "shuffled": lambda p, rng: shuffled(rng) * p[0],
}


def shuffled(rng: Any) -> Any:
    found = np.arange(4.0)
    rng.shuffle(found)
    return found


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
@pytest.mark.parametrize("name", DRAWN)
def test_parameters_of_draws_keep_their_gradients(name: str, make: Any) -> None:
    both_ways(lambda p: np.sum(DRAWN[name](p, make(3)) ** 2), np.array([0.7, 1.3]))


def test_draws_without_such_a_form_are_refused() -> None:
    with pytest.raises(fg.errors.FuncgradError):
        fg.grad(lambda p: np.random.default_rng(0).gamma(p))(1.3)


# -- arrays and classes --------------------------------------------------------------------------------------


def test_dot_of_an_array_of_numpys() -> None:
    matrix = np.array([[1.0, 2.0], [3.0, 4.0]])
    both_ways(lambda v: matrix.dot(v).dot(v), np.array([0.5, 0.7]))
    both_ways(lambda v: np.arange(2.0).dot(v), np.array([0.5, 0.7]))


class Model:
    """Makes arrays of what it is given."""

    scale = 2.0

    def __init__(self, first: Any, *rest: Any, power: int = 2) -> None:
        self.values = np.array([first, *rest], dtype=float)
        self.table = np.zeros((2, 2))
        self.table[0] = self.values * self.scale
        self.power = power

    def total(self) -> Any:
        """The sum of powers."""
        return np.sum(self.table**self.power)


class Derived(Model):
    """Calls the class that it is derived from."""

    def __init__(self, x: Any) -> None:
        super().__init__(x, 2.0 * x, power=3)
        self.values += x


class Single:
    """There is one of it."""

    instance: Any = None

    def __new__(cls, value: Any) -> Any:
        cls.instance = cls.instance or super().__new__(cls)
        return cls.instance

    def __init__(self, value: Any) -> None:
        self.value = np.zeros(1)
        self.value[0] = value


@pytest.mark.parametrize(
    "f",
    [
        lambda x: Model(x, x**2).total(),
        lambda x: Derived(x).total() + Derived(x).values.sum(),
        lambda x: Single(x).value.sum(),
    ],
)
def test_classes_of_the_users_make_arrays_of_traced_values(f: Function) -> None:
    both_ways(f, 0.7)


def test_attributes_that_hold_plain_arrays_are_added_to() -> None:
    class Body:
        def __init__(self, position: Any) -> None:
            self.position = np.array(position, dtype=float)

    def f(x: Any) -> Any:
        bodies = [Body([0, 0]), Body([x, 1.0])]
        for _ in range(60):
            for body in bodies:
                body.position += 0.1 * x * bodies[1].position
        return bodies[0].position.sum()

    both_ways(f, 0.3)


def test_recursion_that_is_decided_by_traced_values_ends_under_jit() -> None:
    def area(f: Function, a: Any, b: Any, depth: int) -> Any:
        m = (a + b) / 2.0
        once, twice = (b - a) * f(m), (b - a) / 2.0 * (f((a + m) / 2.0) + f((m + b) / 2.0))
        if depth == 0 or abs(once - twice) < 1e-4:
            return twice
        return area(f, a, m, depth - 1) + area(f, m, b, depth - 1)

    def g(x: Any) -> Any:
        return area(lambda t: np.exp(x * t), 0.0, 1.0, 12)

    assert abs(fg.grad(g)(1.0) - 1.0) < 1e-2
    assert fg.jit(fg.grad(g))(1.0) == pytest.approx(fg.grad(g)(1.0))


def both_ways(f: Function, at: Any, name: str = "") -> None:
    """Value and gradient, un-jitted and compiled, against the function itself and its differences."""
    at = np.asarray(at, float)[()]
    step = 1e-6
    flat = np.atleast_1d(at)
    differences = [
        (as_number(f((flat + e).reshape(at.shape)[()])) - as_number(f((flat - e).reshape(at.shape)[()])))
        / (2.0 * step)
        for e in step * np.eye(flat.size)
    ]
    for function in (fg.value_and_grad(f), fg.jit(fg.value_and_grad(f))):
        value, slope = function(at)
        np.testing.assert_allclose(value, as_number(f(at)), rtol=1e-9, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(np.ravel(slope), differences, rtol=1e-5, atol=1e-7, err_msg=name)


def as_number(x: Any) -> float:
    """The value of what has one element."""
    return float(np.asarray(x).reshape(()))


@pytest.mark.parametrize("transform", [fg.grad, lambda f: fg.jit(fg.grad(f)), lambda f: fg.grad(fg.jit(f))])
def test_a_function_of_scipys_is_differentiated_as_it_stands(transform: Any) -> None:
    """Handed to a transform itself, not called by a function of the user's."""
    x = np.array([0.7, 1.3, 0.4])
    shares = np.exp(x) / np.exp(x).sum()
    np.testing.assert_allclose(transform(scipy.special.logsumexp)(x), shares)
    weighed = functools.partial(scipy.special.logsumexp, b=2.0)
    np.testing.assert_allclose(transform(weighed)(x), shares)
