"""Functions that are composed of primitives: values as NumPy's, traced and not, and gradients."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import DtypeError, ShapeError
from funcgrad.numpy.elementwise import arithmetic, complexes, elementary, logic, rounding, selection

fnp = fg.numpy
MODULES = (arithmetic, complexes, elementary, logic, rounding, selection)
X = np.array([[-2.5, -1.0, 0.0], [0.75, 2.5, 7.25]])
N = np.array([5, -7, 0, 12, 3], np.int32)
Z = np.array([0.5 - 1.5j, -2.0 + 0.0j, 0.0 + 3.0j])
OUTSIDE = np.zeros(X.shape)
SPECIAL = np.array([0.0, -0.0, 1.5, np.inf, -np.inf, np.nan])

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def public_functions() -> list[tuple[str, Any]]:
    """Every public function of these modules, aliases included."""
    return [
        (name, f)
        for module in MODULES
        for name, f in vars(module).items()
        if inspect.isfunction(f) and f.__module__ == module.__name__ and getattr(np, name, None) is not None
    ]


def traced(f: Callable[..., Any], *args: Any) -> Any:
    """`f` through its recorded Program."""
    results = fg.make_program(f)(*args)(*args)
    return results if len(results) > 1 else results[0]


def check(f: Callable[..., Any], ours: Callable[..., Any], *args: Any) -> None:
    """NumPy's function, NumPy's function on tracers and our function give one result in one dtype."""
    wanted = f(*args)
    for got in (ours(*args), traced(f, *args), traced(ours, *args)):
        pairs = zip(got, wanted, strict=True) if isinstance(wanted, tuple) else [(got, wanted)]
        for x, y in pairs:
            np.testing.assert_allclose(x, y, rtol=1e-14)
            assert np.asarray(x).dtype == np.asarray(y).dtype


def numerical(f: Callable[[Any], Any], x: Any) -> Any:
    """The gradient of the sum of `f` by central differences, for functions of each element."""
    step = 1e-6
    return (f(x + step) - f(x - step)) / (2 * step)


def check_gradient(f: Callable[[Any], Any], x: Any) -> None:
    np.testing.assert_allclose(fg.grad(lambda t: f(t).sum())(x), numerical(f, x), atol=1e-6)


# -- the catalogue ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "function"), public_functions(), ids=lambda x: x if isinstance(x, str) else ""
)
def test_public_functions_are_exported_and_documented(name: str, function: Any) -> None:
    assert getattr(fnp, name) is function
    assert name in fnp.__all__
    doc = inspect.getdoc(function)
    assert ">>>" in (doc or ""), "a public function has a sentence and an example that runs"
    assert "self" not in inspect.signature(function).parameters


def test_aliases_are_numpys() -> None:
    for name in dir(np):
        ours, theirs = getattr(fnp, name, None), getattr(np, name)
        if not isinstance(theirs, np.ufunc) or ours is None:
            continue
        same = getattr(fnp, theirs.__name__, ours)
        assert ours is same, f"{name} is np.{theirs.__name__}"


@pytest.mark.parametrize("ufunc", [u for u in vars(np).values() if isinstance(u, np.ufunc) and u.nin == 1])
def test_unary_functions_on_special_values(ufunc: np.ufunc) -> None:
    ours = getattr(fnp, ufunc.__name__, None)
    for x in (SPECIAL, np.float64(0.75), N):
        try:
            ufunc(x)
        except TypeError:
            continue
        check(ufunc, ours, x)


@pytest.mark.parametrize(
    "ufunc", [u for u in vars(np).values() if isinstance(u, np.ufunc) and u.nin == 2 and not u.signature]
)
def test_binary_functions_on_special_values(ufunc: np.ufunc) -> None:
    ours = getattr(fnp, ufunc.__name__)
    for x, y in ((SPECIAL[:, None], SPECIAL), (SPECIAL, 2.0), (N[:, None], np.array([1, 2, 5], np.int32))):
        try:
            ufunc(x, y)
        except TypeError:
            continue
        check(ufunc, ours, x, y)


def test_lists_of_traced_numbers() -> None:
    assert fg.grad(lambda x: np.hypot([x, 2.0 * x], [0.0, 0.0]).sum())(1.5) == 3.0
    assert fg.grad(lambda x: fnp.maximum([x, 1.0], [0.0, x]).sum())(3.0) == 2.0
    assert fg.grad(lambda x: fnp.power([x, 2.0], [2, x]).sum())(3.0) == pytest.approx(6.0 + 8.0 * np.log(2.0))


def test_broadcasting() -> None:
    a, b = np.ones((3, 1)), np.arange(4.0)
    by_a, by_b = fg.grad(lambda a, b: (a * b**2).sum(), (0, 1))(a, b)
    np.testing.assert_array_equal(by_a, np.full((3, 1), 14.0))
    np.testing.assert_array_equal(by_b, 6.0 * b)
    with pytest.raises(ShapeError, match="do not broadcast"):
        fg.make_program(np.add)(np.ones(3), np.ones(4))


# -- rounding and parts ----------------------------------------------------------------------------


@pytest.mark.parametrize("decimals", [-2, -1, 0, 1, 3])
def test_round(decimals: int) -> None:
    x = np.array([1234.5678, -0.05, 2.5, 3.5, 15.0, np.inf, np.nan])
    for values in (x, x.astype(np.float32), np.array([15, 25, -1249]), np.array([1.25 + 2.35j])):
        check(lambda t: np.round(t, decimals), lambda t: fnp.round(t, decimals), values)
    check(lambda t: np.around(t, decimals), lambda t: fnp.around(t, decimals), x)


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")
def test_fix() -> None:
    check(np.fix, fnp.fix, X)
    check(np.fix, fnp.fix, N)


def test_modf_and_frexp() -> None:
    for x in (SPECIAL, X, N.astype(np.int8), np.array([1e-320, 1e300, -0.1])):
        check(np.modf, fnp.modf, x)
        check(np.frexp, fnp.frexp, x)
    check_gradient(lambda x: np.modf(x)[0] * np.modf(x)[1], X + 0.1)
    check_gradient(lambda x: np.frexp(x)[0] ** 2, X + 0.1)
    check_gradient(lambda x: np.ldexp(x, np.arange(3)), X)


def test_sinc() -> None:
    for x in (X, X.astype(np.float32), X.astype(np.float16), N, Z, np.float64(0.0)):
        check(np.sinc, fnp.sinc, x)
    check_gradient(np.sinc, X)


# -- choice ----------------------------------------------------------------------------------------


def test_where() -> None:
    mask = X > 0
    check(lambda x: np.where(mask, x, 1), lambda x: fnp.where(mask, x, 1), X)
    check(lambda x: np.where(x, x, [[7.0]]), lambda x: fnp.where(x, x, [[7.0]]), X)
    check(lambda x: np.where([True], x, 2.0), lambda x: fnp.where([True], x, 2.0), X.astype(np.float32))
    with pytest.raises(ValueError, match="both or neither"):
        fg.grad(lambda x: fnp.where(x > 0, x).sum())(X)


def test_select() -> None:
    def f(m: Any, x: Any) -> Any:
        return m.select([x < -1, x < 1, x < 5], [x**2, 0.0, np.sin(x)], -x)

    check(lambda x: f(np, x), lambda x: f(fnp, x), X)
    check_gradient(lambda x: f(np, x), X + 0.1)
    with pytest.raises(ValueError, match="as many choices"):
        fg.grad(lambda x: np.select([x > 0], [x, x]).sum())(X)
    with pytest.raises(DtypeError, match="not boolean"):
        fg.grad(lambda x: np.select([x], [x]).sum())(X)


def test_piecewise() -> None:
    functions = [np.square, lambda t: -t, 3.0]
    check(
        lambda x: np.piecewise(x, [x < 0, x > 2], functions),
        lambda x: fnp.piecewise(x, [x < 0, x > 2], functions),
        X,
    )
    check(lambda x: np.piecewise(x, x > 0, [2.0]), lambda x: fnp.piecewise(x, x > 0, [2.0]), X[0])
    rows = [X[:, 0] > 0, X[:, 0] < 0]
    check(lambda x: np.piecewise(x, rows, [2.0, np.sin]), lambda x: fnp.piecewise(x, rows, [2.0, np.sin]), X)
    check(
        lambda x: np.piecewise(x, [x > 0], [lambda t, a, b=0: a * t + b, 1], 3, b=2),
        lambda x: fnp.piecewise(x, [x > 0], [lambda t, a, b=0: a * t + b, 1], 3, b=2),
        X,
    )
    check(lambda x: np.piecewise(x, [x > 0], [1.5]), lambda x: fnp.piecewise(x, [x > 0], [1.5]), np.array(2))
    check_gradient(lambda x: np.piecewise(x, [x < 0, x > 2], functions), X + 0.1)
    with pytest.raises(ValueError, match="2 or 3 functions"):
        fg.grad(lambda x: np.piecewise(x, [x < 0, x > 2], [1.0]).sum())(X)


def test_clip() -> None:
    for low, high in ((-1.0, 1.0), (None, 1.0), (-1, None), (None, None), (X - 1, 0.5), (2.0, 1.0)):
        check(lambda x: np.clip(x, low, high), lambda x: fnp.clip(x, low, high), X)  # noqa: B023
    for low, high in ((-3, 3), (None, 3), (0.5, 3.5), (-1000, 1000), (0, None)):
        check(lambda x: np.clip(x, low, high), lambda x: fnp.clip(x, low, high), N.astype(np.int8))  # noqa: B023
    check(lambda x: np.clip(x, 0, 1), lambda x: fnp.clip(x, 0, 1), X.astype(np.float32))
    check(lambda x: np.clip(x, None, 1j), lambda x: fnp.clip(x, None, 1j), Z)
    check_gradient(lambda x: np.clip(x, -1.2, 3.0), X)


def test_clip_into_traced_memory() -> None:
    def f(x: Any) -> Any:
        y = np.zeros_like(x)
        np.clip(x, 0.0, 1.0, out=y)
        return y

    np.testing.assert_array_equal(traced(f, X), np.clip(X, 0.0, 1.0))
    with pytest.raises(TypeError, match="would store a traced value"):
        fg.grad(lambda x: np.clip(x, 0.0, 1.0, out=OUTSIDE).sum())(X)
    np.testing.assert_array_equal(OUTSIDE, 0.0)


def test_nan_to_num() -> None:
    for x in (SPECIAL, SPECIAL.astype(np.float32), N, SPECIAL + 1j * SPECIAL[::-1]):
        check(np.nan_to_num, fnp.nan_to_num, x)
        check(
            lambda t: np.nan_to_num(t, nan=7, posinf=8, neginf=9),
            lambda t: fnp.nan_to_num(t, nan=7, posinf=8, neginf=9),
            x,
        )
    gradient = fg.grad(lambda x: np.nan_to_num(x).sum())(SPECIAL)
    np.testing.assert_array_equal(gradient, [1, 1, 1, 0, 0, 0])


# -- comparison ------------------------------------------------------------------------------------


def test_isclose() -> None:
    a = np.array([1.0, 1.0 + 1e-9, 1.1, np.nan, np.inf, np.inf, -np.inf])
    b = np.array([1.0, 1.0, 1.0, np.nan, np.inf, 1.0, np.inf])
    for options in ({}, {"equal_nan": True}, {"rtol": 0.2}, {"rtol": 0.0, "atol": 0.0}):
        check(lambda x, y: np.isclose(x, y, **options), lambda x, y: fnp.isclose(x, y, **options), a, b)  # noqa: B023
        check(lambda x, y: np.allclose(x, y, **options), lambda x, y: fnp.allclose(x, y, **options), a, b)  # noqa: B023
    check(np.isclose, fnp.isclose, np.array([0, 5], np.uint8), np.array([1, 5], np.uint8))
    check(np.isclose, fnp.isclose, Z, Z + 1e-9)


def test_array_equal() -> None:
    for x, y in ((X, X.copy()), (X, X + 1), (X, X[0]), (SPECIAL, SPECIAL)):
        for equal_nan in (False, True):
            for m in (np, fnp):
                seen = []
                fg.grad(lambda t: seen.append(bool(m.array_equal(t, y, equal_nan))) or t.sum())(x)  # noqa: B023
                assert seen == [np.array_equal(x, y, equal_nan)]
    for y in (X, X[0], X[0, :2], X + 1):
        seen = []
        fg.grad(lambda t: seen.append(bool(np.array_equiv(t, y))) or t.sum())(X)  # noqa: B023
        assert seen == [np.array_equiv(X, y)]


def test_signed_infinities() -> None:
    check(np.isposinf, fnp.isposinf, SPECIAL)
    check(np.isneginf, fnp.isneginf, SPECIAL)
    check(np.isneginf, fnp.isneginf, N)
    with pytest.raises(DtypeError, match="no sign"):
        fg.make_program(np.isposinf)(Z)


def test_comparison_with_integers_out_of_range() -> None:
    """NumPy compares unsigned bytes with 300 and -1 by value, not by the dtype."""
    x = np.array([1, 200], np.uint8)
    for number in (300, -1):
        check(lambda t: t < number, lambda t: fnp.less(t, number), x)  # noqa: B023
        check(lambda t: t == number, lambda t: fnp.equal(t, number), x)  # noqa: B023
    with pytest.raises(OverflowError):
        fg.make_program(lambda t: t + 300)(x)


# -- methods ----------------------------------------------------------------------------------------


def test_methods() -> None:
    check(lambda x: x.clip(-1.0, 1.0), lambda x: fnp.clip(x, -1.0, 1.0), X)
    check(lambda x: x.clip(max=1.0), lambda x: fnp.clip(x, max=1.0), X)
    check(lambda x: x.round(1), lambda x: fnp.round(x, 1), X)
    check(lambda x: x.conj(), fnp.conj, Z)
    check(lambda x: x.conjugate(), fnp.conjugate, X)


@pytest.mark.parametrize("f", [np.isposinf, np.isneginf])
def test_signed_infinities_are_written_where_they_are_wanted(f: Any) -> None:
    x = np.array([-np.inf, 0.5, np.inf])

    def counted(x: Any) -> Any:
        found = x > 1.0
        return f(x, found), f(x, out=found), found

    for found in (fg.jit(counted)(x), fg.make_program(counted)(x)(x)):
        for got in found:
            np.testing.assert_array_equal(got, f(x))
