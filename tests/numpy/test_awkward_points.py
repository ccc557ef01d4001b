"""Pointwise derivatives where they are easily wrong: at 0, at kinks and ties, at infinities, beside NaN."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.scipy import special

INF, NAN = math.inf, math.nan

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def nth_derivative(f: Callable[[Any], Any], n: int) -> Callable[[Any], Any]:
    for _ in range(n):
        f = fg.grad(f)
    return f


# -- powers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "x", "derivatives"),
    [
        (0, 0.0, (1.0, 0.0, 0.0)),
        (0, -2.0, (1.0, 0.0, 0.0)),
        (0.0, 0.0, (1.0, 0.0, 0.0)),
        (1, 0.0, (0.0, 1.0, 0.0)),
        (2, 0.0, (0.0, 0.0, 2.0)),
        (2.0, 0.0, (0.0, 0.0, 2.0)),
        (2.0, -3.0, (9.0, -6.0, 2.0)),
        (3, -2.0, (-8.0, 12.0, -12.0)),
        (3.0, 0.0, (0.0, 0.0, 0.0)),
        (-1, -2.0, (-0.5, -0.25, -0.25)),
        (-1.0, -2.0, (-0.5, -0.25, -0.25)),
        (-2, -2.0, (0.25, 0.25, 0.375)),
        (-3, -1.0, (-1.0, -3.0, -12.0)),
        (-1, 0.0, (INF, -INF, INF)),
        (0.5, 4.0, (2.0, 0.25, -1 / 32)),
        (0.5, 0.0, (0.0, INF, -INF)),
        (1.5, 0.0, (0.0, 0.0, INF)),
        (2.5, 0.0, (0.0, 0.0, 0.0)),
    ],
)
@pytest.mark.parametrize("kind", ["fixed", "array"])
def test_powers(n: float, x: float, derivatives: tuple[float, ...], kind: str) -> None:
    """With the exponent as a Python number, and as an array, whose rule is another."""
    exponent = n if kind == "fixed" else np.float64(n)
    for order, wanted in enumerate(derivatives):
        got = nth_derivative(lambda t: t**exponent, order)(np.float64(x))
        assert got == pytest.approx(wanted, nan_ok=True), f"derivative {order}"


@pytest.mark.parametrize(
    ("x", "y", "by_x", "by_y"),
    [
        (0.0, 0.0, 0.0, 0.0),
        (0.0, 1.0, 1.0, 0.0),
        (0.0, 2.0, 0.0, 0.0),
        (0.0, 0.5, INF, 0.0),
        (2.0, 0.0, 0.0, math.log(2.0)),
        (-2.0, 0.0, 0.0, NAN),
        (-2.0, 3.0, 12.0, NAN),
        (1.0, 800.0, 800.0, 0.0),
    ],
)
def test_powers_of_two_arguments(x: float, y: float, by_x: float, by_y: float) -> None:
    got = fg.grad(np.power, (0, 1))(x, y)
    assert got == pytest.approx((by_x, by_y), nan_ok=True)
    arrays = fg.grad(lambda a, b: (a**b).sum(), (0, 1))(np.array([x, 3.0]), np.array([y, 2.0]))
    np.testing.assert_allclose(arrays[0], [by_x, 6.0])
    np.testing.assert_allclose(arrays[1], [by_y, 9.0 * math.log(3.0)])


def test_base_is_a_number() -> None:
    assert fg.grad(lambda y: 2**y)(3.0) == pytest.approx(8.0 * math.log(2.0))
    assert fg.grad(lambda y: 0.0**y)(2.0) == 0.0
    assert fg.grad(lambda y: 0**y)(0.0) == 0.0
    assert fg.grad(fg.grad(lambda y: 0.0**y))(2.0) == 0.0


def test_mixed_derivative_of_a_power_at_exponent_zero() -> None:
    """d/dy d/dx x**y = x**(y-1) (1 + y log x): the zero of the first derivative must not be a constant."""
    hessian = np.array(fg.hessian(np.power, (0, 1))(2.0, 0.0))
    np.testing.assert_allclose(hessian, [[0.0, 0.5], [0.5, math.log(2.0) ** 2]], atol=1e-12)


def test_integers_to_negative_powers_are_refused() -> None:
    for f in (lambda x: x**-1, lambda x: np.power(x, -2)):
        with pytest.raises(ValueError, match="negative integer powers"):
            fg.make_program(f)(np.array([1, 2]))


# -- branches not taken ----------------------------------------------------------------------------

GUARDED: dict[str, tuple[Callable[[Any], Any], float]] = {
    "sqrt": (lambda x: np.where(x > 0, np.sqrt(x), 0.0), 0.0),
    "sin(x)/x": (lambda x: np.where(x == 0, 1.0, np.sin(x) / x), 0.0),
    "sin(x)/x/x": (lambda x: np.where(x != 0, np.sin(x) / x / x, 0.0), 0.0),
    "1/x": (lambda x: np.where(x == 0, 0.0, 1 / x), 0.0),
    "log": (lambda x: np.where(x > 0, np.log(x), 0.0), 0.0),
    "log of negative": (lambda x: np.where(x > 0, np.log(x), 0.0), -1.0),
    "log1p": (lambda x: np.where(x > -1, np.log1p(x), 0.0), -1.0),
    "exp": (lambda x: np.where(x < 100, np.exp(x), 0.0), 1000.0),
    "exp of exp": (lambda x: np.where(x < 10, np.exp(np.exp(x)), 0.0), 100.0),
    "exp of log": (lambda x: np.where(x > 0, np.exp(np.log(x)), 0.0), 0.0),
    "exp2": (lambda x: np.where(x < 100, np.exp2(x), 0.0), 2000.0),
    "expm1": (lambda x: np.where(x < 100, np.expm1(x), 0.0), 2000.0),
    "sinh": (lambda x: np.where(x < 100, np.sinh(x), 0.0), 1000.0),
    "cosh": (lambda x: np.where(x < 100, np.cosh(x), 0.0), 1000.0),
    "tan": (lambda x: np.where(x < 9, np.tan(x), 0.0), INF),
    "x**-1": (lambda x: np.where(x == 0, 0.0, x**-1), 0.0),
    "x**-3": (lambda x: np.where(x == 0, 0.0, x**-3), 0.0),
    "x**-2.5": (lambda x: np.where(x == 0, 0.0, x**-2.5), 0.0),
    "x**0.3": (lambda x: np.where(x > 0, x**0.3, 0.0), 0.0),
    "x**0.5": (lambda x: np.where(x > 0, x**0.5, 0.0), 0.0),
    "x**x": (lambda x: np.where(x > 0, x**x, 0.0), 0.0),
    "x**x of negative": (lambda x: np.where(x > 0, x**x, 0.0), -1.5),
    "reciprocal": (lambda x: np.where(x == 0, 0.0, np.reciprocal(x)), 0.0),
    "cbrt": (lambda x: np.where(x == 0, 0.0, np.cbrt(x)), 0.0),
    "arcsin": (lambda x: np.where(abs(x) < 1, np.arcsin(x), 0.0), 1.0),
    "arccos": (lambda x: np.where(abs(x) < 1, np.arccos(x), 0.0), -1.0),
    "arccosh": (lambda x: np.where(x > 1, np.arccosh(x), 0.0), 1.0),
    "arctanh": (lambda x: np.where(abs(x) < 1, np.arctanh(x), 0.0), 1.0),
    "arctan2": (lambda x: np.where(x != 0, np.arctan2(x, np.sqrt(x)), 0.0), 0.0),
    "hypot": (lambda x: np.where(x != 0, np.hypot(np.sqrt(x), np.log(x)), 0.0), 0.0),
    "hypot of infinity": (lambda x: np.where(x < 1, np.hypot(x, 1 / (x - 1)), 0.0), 1.0),
    "abs": (lambda x: np.where(x != 0, abs(np.log(abs(x))), 0.0), 0.0),
    "logaddexp": (lambda x: np.where(x > 0, np.logaddexp(np.log(x), 1 / x), 0.0), 0.0),
    "remainder": (lambda x: np.where(x != 0, 1.0 % x, 0.0), 0.0),
    "logit": (lambda x: np.where(x > 0, special.logit(x), 0.0), 0.0),
    "product": (lambda x: np.where(x > 0, np.sqrt(x) * np.sin(x) ** 2 / np.log(x), 0.0), 0.0),
    "maximum": (lambda x: np.maximum(np.sqrt(x), 1.0), 0.0),
    "minimum": (lambda x: np.minimum(np.exp(x), 3.0), 1000.0),
    "fmax": (lambda x: np.fmax(np.sqrt(x), 1.0), 0.0),
    "clip": (lambda x: np.clip(1 / x, -3.0, 3.0), 0.0),
    "select": (lambda x: np.select([x > 0, x < 0], [np.sqrt(x), np.log(-x)], x), 0.0),
    "piecewise": (lambda x: np.piecewise(x, [x > 0], [np.sqrt, lambda t: 2 * t]), 0.0),
    "nan_to_num": (lambda x: np.nan_to_num(1 / x - 1 / x) + x, 0.0),
}

WAYS: dict[str, Callable[[Callable[[Any], Any]], Callable[[Any], Any]]] = {
    "grad": fg.grad,
    "jacfwd": fg.jacfwd,
    "grad of grad": lambda f: fg.grad(fg.grad(f)),
    "jacfwd of grad": lambda f: fg.jacfwd(fg.grad(f)),
    "grad of jacfwd": lambda f: fg.grad(fg.jacfwd(f)),
    "jacfwd of jacfwd": lambda f: fg.jacfwd(fg.jacfwd(f)),
    "third": lambda f: nth_derivative(f, 3),
    "fourth": lambda f: nth_derivative(f, 4),
    "vmap": lambda f: lambda x: fg.vmap(fg.grad(f))(np.array([x, x]))[0],
    "array": lambda f: lambda x: fg.grad(lambda v: f(v).sum())(np.array([x, x]))[0],
}

SLOPES = {"select": 1.0, "piecewise": 2.0, "nan_to_num": 1.0}
"""The first derivative of the branch that is taken, where it is not 0."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", GUARDED)
def test_branch_not_taken_leaks_nothing(name: str, way: str) -> None:
    f, x = GUARDED[name]
    first = way in ("grad", "jacfwd", "vmap", "array")
    assert WAYS[way](f)(x) == (SLOPES.get(name, 0.0) if first else 0.0)


def test_an_element_that_a_slice_drops_leaks_nothing() -> None:
    got = fg.grad(lambda x: np.sqrt(x)[1:].sum())(np.array([0.0, 4.0]))
    np.testing.assert_array_equal(got, [0.0, 0.25])


def test_a_nan_that_is_used_stays_a_nan() -> None:
    assert math.isnan(fg.grad(lambda x: np.where(x > 0, 0.0, np.log(x)) * x)(-1.0))
    assert math.isnan(fg.grad(lambda x: np.sqrt(x) * np.sqrt(x))(0.0))


# -- kinks and ties --------------------------------------------------------------------------------


def test_abs_at_zero() -> None:
    for f in (abs, np.abs, np.fabs, fg.numpy.absolute):
        assert fg.grad(f)(0.0) == 0.0
        assert fg.grad(f)(-0.0) == 0.0
        assert fg.jvp(f, (0.0,), (1.0,))[1] == 0.0
        assert fg.grad(fg.grad(f))(0.0) == 0.0


def test_one_sided_limits() -> None:
    for f, x, slope in (
        (np.sqrt, 0.0, INF),
        (np.cbrt, 0.0, INF),
        (np.log, 0.0, INF),
        (np.arcsin, 1.0, INF),
        (np.arccos, 1.0, -INF),
        (np.arccosh, 1.0, INF),
        (np.arctanh, 1.0, INF),
        (np.sqrt, INF, 0.0),
        (np.log, INF, 0.0),
        (np.exp, -INF, 0.0),
        (np.tanh, INF, 0.0),
        (np.arctan, -INF, 0.0),
        (np.arcsinh, 1e200, 1e-200),
    ):
        assert fg.grad(f)(x) == pytest.approx(slope), f


@pytest.mark.parametrize("f", [np.maximum, np.minimum, np.fmax, np.fmin], ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [0.0, 1.5, INF, -INF])
def test_ties_are_shared_evenly(f: Callable[..., Any], x: float) -> None:
    assert fg.grad(f, (0, 1))(x, x) == (0.5, 0.5)
    assert fg.grad(f)(x, x) == 0.5
    assert fg.jvp(f, (x, x), (1.0, 3.0))[1] == 2.0
    assert fg.grad(lambda t: f(t, t))(x) == 1.0


def test_extremes_with_nan() -> None:
    assert fg.grad(np.fmax, (0, 1))(NAN, 1.0) == (0.0, 1.0)
    assert fg.grad(np.fmin, (0, 1))(1.0, NAN) == (1.0, 0.0)
    assert math.isnan(fg.value_and_grad(np.maximum)(NAN, 1.0)[0])


def test_clip_keeps_the_derivative_on_its_bounds() -> None:
    x = np.array([-1.0, 0.0, 0.5, 1.0, 2.0])
    for f in (
        lambda t: np.clip(t, 0.0, 1.0),
        lambda t: np.clip(t, np.zeros(5), np.ones(5)),
        lambda t: fg.numpy.clip(t, min=0.0, max=1.0),
        lambda t: np.clip(np.clip(t, 0.0, None), None, 1.0),
    ):
        np.testing.assert_array_equal(fg.grad(lambda t, f=f: f(t).sum())(x), [0.0, 1.0, 1.0, 1.0, 0.0])


def test_clip_bounds_have_derivatives() -> None:
    x = np.array([-1.0, 0.5, 2.0, 3.0])
    low, high = fg.grad(lambda low, high: np.clip(x, low, high).sum(), (0, 1))(0.0, 1.0)
    assert (low, high) == (1.0, 2.0)
    crossed = fg.grad(fg.numpy.clip, (0, 1, 2))(0.0, 2.0, 1.0)
    assert crossed == (0.0, 0.0, 1.0)


@pytest.mark.parametrize("f", [np.hypot, np.arctan2], ids=lambda f: f.__name__)
def test_origin(f: Callable[..., Any]) -> None:
    assert fg.grad(f, (0, 1))(0.0, 0.0) == (0.0, 0.0)
    assert np.array(fg.hessian(f, (0, 1))(0.0, 0.0)).tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_no_overflow_far_from_the_origin() -> None:
    assert fg.grad(np.hypot, (0, 1))(3e300, 4e300) == pytest.approx((0.6, 0.8))
    by_y, by_x = fg.grad(np.arctan2, (0, 1))(3e200, 4e200)
    assert by_y == pytest.approx(1.6e-201)
    assert by_x == pytest.approx(-1.2e-201)


def test_signs() -> None:
    assert fg.grad(np.sign)(0.0) == 0.0
    assert fg.grad(np.copysign, (0, 1))(2.0, -0.0) == (-1.0, 0.0)
    assert fg.grad(np.heaviside, (0, 1))(0.0, 0.5) == (0.0, 1.0)
    assert fg.grad(np.heaviside, (0, 1))(2.0, 0.5) == (0.0, 0.0)


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")
@pytest.mark.parametrize("f", [np.floor, np.ceil, np.trunc, np.rint, np.round, np.fix, np.spacing])
def test_rounding_has_no_derivative(f: Callable[[Any], Any]) -> None:
    for x in (-1.5, 0.0, 2.0, 2.5):
        assert fg.grad(f)(x) == 0.0
    assert fg.grad(lambda x: x * f(x))(1.25) == f(1.25)


def test_remainders() -> None:
    assert fg.grad(np.remainder, (0, 1))(-7.0, 2.0) == (1.0, 4.0)
    assert fg.grad(np.fmod, (0, 1))(-7.0, 2.0) == (1.0, 3.0)
    assert fg.grad(np.floor_divide, (0, 1))(-7.0, 2.0) == (0.0, 0.0)
    assert fg.grad(lambda x, y: sum(divmod(x, y)), (0, 1))(7.0, 2.0) == (1.0, -3.0)


# -- sums of exponentials --------------------------------------------------------------------------


@pytest.mark.parametrize("f", [np.logaddexp, np.logaddexp2], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    ("x", "y", "shares"),
    [
        (-INF, -INF, (0.5, 0.5)),
        (INF, INF, (0.5, 0.5)),
        (-INF, 0.0, (0.0, 1.0)),
        (INF, 0.0, (1.0, 0.0)),
        (INF, -INF, (1.0, 0.0)),
        (1.0, 1.0, (0.5, 0.5)),
        (1e4, 1e4, (0.5, 0.5)),
        (2000.0, -2000.0, (1.0, 0.0)),
    ],
)
def test_logaddexp(f: Callable[..., Any], x: float, y: float, shares: tuple[float, float]) -> None:
    value, slopes = fg.value_and_grad(f, (0, 1))(x, y)
    assert value == f(x, y)
    assert slopes == shares
    assert fg.grad(lambda t: f(t, t))(x) == 1.0


def test_second_derivative_of_logaddexp_at_a_tie() -> None:
    """The softplus at 0, where every linear model starts."""
    assert fg.grad(fg.grad(lambda x: np.logaddexp(0.0, x)))(0.0) == 0.25
    np.testing.assert_allclose(fg.hessian(np.logaddexp, (0, 1))(3.0, 3.0), [[0.25, -0.25], [-0.25, 0.25]])


def test_sigmoid_of_large_numbers() -> None:
    for x in (-1e4, -100.0, 100.0, 1e4):
        assert 0.0 <= fg.grad(special.expit)(x) < 1e-40
        assert fg.grad(lambda t: np.logaddexp(0.0, t))(x) == pytest.approx(float(x > 0))


# -- sinc ------------------------------------------------------------------------------------------


def test_every_derivative_of_sinc_at_zero() -> None:
    """The Taylor series: the 2n-th derivative at 0 is (-1)**n pi**2n / (2n + 1)."""
    for n in range(7):
        wanted = 0.0 if n % 2 else (-1) ** (n // 2) * math.pi**n / (n + 1)
        assert nth_derivative(np.sinc, n)(0.0) == pytest.approx(wanted)
        assert nth_derivative(np.sinc, n)(1e-12) == pytest.approx(wanted, abs=1e-8)


# -- precision -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.complex64, np.longdouble])
def test_derivatives_keep_the_dtype(dtype: Any) -> None:
    x = np.array([0.25, 0.5], dtype)
    real = np.dtype(dtype).kind == "f"
    functions = [
        np.sin,
        np.exp,
        np.sqrt,
        np.log,
        np.tanh,
        np.arctan,
        np.abs,
        np.sinc,
        np.square,
        np.reciprocal,
    ]
    functions += [lambda t: t**2, lambda t: t**2.5, lambda t: 2**t, lambda t: 1 / t, lambda t: t / 3]
    if real:
        functions += [np.cbrt, np.degrees, lambda t: np.hypot(t, 1)]
        functions += [lambda t: np.logaddexp(0, t), lambda t: np.maximum(t, 0), lambda t: np.clip(t, 0, 1)]
        functions += [lambda t: np.where(t > 0, t, 0), lambda t: np.arctan2(t, 2)]
    for f in functions:
        out, pullback = fg.vjp(f, x)
        assert out.dtype == f(x).dtype
        assert pullback(np.ones_like(out))[0].dtype == dtype


def test_half_precision_does_not_overflow_on_the_way() -> None:
    slope = fg.grad(lambda x: np.logaddexp(x, np.float16(0.0)))(np.float16(-12.0))
    assert slope == np.float16(1 / (1 + np.exp(12.0)))
    assert fg.grad(np.arcsinh)(np.float16(1000.0)) == np.float16(1e-3)
