"""Python's operators on traced values: those of NumPy's arrays, on either side of whatever stands beside."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import ConcretizationError, DtypeError, ShapeError

X = np.array([1.5, -2.25, 3.0])
Y = np.array([2.0, 0.75, -1.5])
I = np.array([6, 3, 5])  # noqa: E741 - I for integers
J = np.array([2, 1, 3])
B = np.array([True, False, True])
C = np.array([True, True, False])
OUTSIDE = np.zeros(3)

ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod)
ORDER = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
BITS = (operator.and_, operator.or_, operator.xor)
SHIFTS = (operator.lshift, operator.rshift)


def traced(f: Callable[..., Any], *args: Any) -> Any:
    """`f` through its recorded Program."""
    results = fg.make_program(f)(*args)(*args)
    return results if len(results) > 1 else results[0]


def assert_same(got: Any, wanted: Any) -> None:
    np.testing.assert_array_equal(got, wanted, strict=True)


@pytest.mark.parametrize("op", [*ARITHMETIC, *ORDER, divmod, operator.pow], ids=lambda op: op.__name__)
def test_binary_operators_on_floats(op: Callable[[Any, Any], Any]) -> None:
    base = np.abs(X)
    for other in (Y, 2.0, 2, np.float64(2.0), np.array(2.0), [1.0, 2.0, 3.0]):
        with np.errstate(all="ignore"):
            forward, reflected = op(base, np.asarray(other)), op(np.asarray(other), base)
        assert_same(traced(lambda x, o=other: op(x, o), base), forward)
        assert_same(traced(lambda x, o=other: op(o, x), base), reflected)
    assert_same(traced(op, base, Y), op(base, Y))


@pytest.mark.parametrize("op", [*BITS, *SHIFTS, *ORDER], ids=lambda op: op.__name__)
def test_binary_operators_on_integers(op: Callable[[Any, Any], Any]) -> None:
    assert_same(traced(op, I, J), op(I, J))
    assert_same(traced(lambda x: op(x, 2), I), op(I, 2))
    assert_same(traced(lambda x: op(2, x), J), op(2, J))
    assert_same(traced(lambda x: op(I, x), J), op(I, J))


@pytest.mark.parametrize("op", BITS, ids=lambda op: op.__name__)
def test_binary_operators_on_booleans(op: Callable[[Any, Any], Any]) -> None:
    assert_same(traced(op, B, C), op(B, C))
    assert_same(traced(lambda x: op(x, True), B), op(B, True))


@pytest.mark.parametrize("op", [operator.neg, operator.pos, abs], ids=lambda op: op.__name__)
def test_unary_operators(op: Callable[[Any], Any]) -> None:
    assert_same(traced(op, X), op(X))
    assert_same(traced(op, I), op(I))


def test_invert() -> None:
    assert_same(traced(operator.invert, B), ~B)
    assert_same(traced(operator.invert, I), ~I)
    with pytest.raises(TypeError):
        fg.make_program(operator.invert)(X)


def test_matmul() -> None:
    a = np.arange(6.0).reshape(2, 3)
    assert_same(traced(operator.matmul, a, X), a @ X)
    assert_same(traced(lambda x: a @ x, X), a @ X)


def test_plus_makes_a_name_of_its_own() -> None:
    def f(x: Any) -> Any:
        y = +x
        y[0] = 10.0
        return x * 1.0, y

    unchanged, changed = traced(f, X)
    assert_same(unchanged, X)
    assert_same(changed, [10.0, *X[1:]])


def test_booleans_have_no_sign() -> None:
    for op in (operator.neg, operator.pos):
        with pytest.raises(TypeError):
            fg.make_program(op)(B)
    with pytest.raises(TypeError):
        fg.make_program(operator.sub)(B, C)


# -- comparison with what is no number ------------------------------------------------------------------


@pytest.mark.parametrize("other", [None, "text", pytest.param(object(), id="object"), {}, b"bytes"], ids=repr)
def test_equality_with_what_is_no_number(other: Any) -> None:
    assert_same(traced(lambda x: x + 0.0 * (x == other), X), X)
    seen = []

    def f(x: Any) -> Any:
        seen.append((x == other, x != other))
        return x.sum()

    for point in (np.float64(1.0), X):
        fg.grad(f)(point)
        equal, unequal = seen.pop()
        assert_same(equal, np.zeros(point.shape, bool)[()])
        assert_same(unequal, np.ones(point.shape, bool)[()])


def test_order_with_what_is_no_number_is_refused() -> None:
    for other in (None, "text"):
        with pytest.raises(TypeError):
            fg.grad(lambda x, o=other: (x < o).sum())(X)


def test_equality_of_shapes_that_do_not_broadcast_is_refused() -> None:
    with pytest.raises(ShapeError, match="do not broadcast"):
        fg.make_program(operator.eq)(X, np.ones(2))


def test_arithmetic_with_what_is_no_number_is_refused() -> None:
    with pytest.raises(DtypeError, match="not numeric"):
        fg.make_program(lambda x: x + "text")(X)
    with pytest.raises(DtypeError, match="not numeric"):
        fg.make_program(lambda x: None * x)(X)


class Deferred:
    """Has operators of its own and says so as NEP 13 asks."""

    __array_ufunc__ = None

    def __radd__(self, other: Any) -> str:
        return "radd"

    def __rmatmul__(self, other: Any) -> str:
        return "rmatmul"

    def __add__(self, other: Any) -> str:
        return "add"

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


def test_operators_defer_to_whoever_asks() -> None:
    seen = []

    def f(x: Any) -> Any:
        seen.append((x + Deferred(), Deferred() + x, x == Deferred()))
        return x.sum()

    fg.grad(f)(X)
    assert seen == [("radd", "add", True)]
    with pytest.raises(TypeError, match="unsupported operand"):
        fg.grad(lambda x: x - Deferred())(X)


# -- whole numbers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [round, math.floor, math.ceil, math.trunc, int])
def test_whole_numbers_of_a_scalar_are_ints(function: Callable[[Any], int]) -> None:
    seen = []

    def f(x: Any) -> Any:
        seen.append(function(x))
        return x * 2.0

    fg.grad(f)(2.5)
    fg.grad(f)(np.float64(-3.5))
    assert seen == [function(2.5), function(-3.5)]
    assert all(type(n) is int for n in seen)


def test_whole_numbers_need_values() -> None:
    for function in (round, math.floor, math.ceil, math.trunc):
        with pytest.raises(ConcretizationError):
            fg.make_program(lambda x, f=function: x * f(x))(2.5)


def test_whole_numbers_of_arrays_are_refused() -> None:
    for function in (round, math.floor, math.ceil, math.trunc):
        with pytest.raises(TypeError):
            fg.grad(lambda x, f=function: f(x))(X)


def test_round_to_decimals_is_traced() -> None:
    assert_same(traced(lambda x: round(x, 1), X), np.round(X, 1))
    assert fg.grad(lambda x: x * round(x, 1))(2.34) == pytest.approx(2.3)


# -- options of ufuncs ------------------------------------------------------------------------------------


def test_ufunc_options() -> None:
    def into(x: Any) -> Any:
        y = np.zeros_like(x)
        np.multiply(x, 2.0, out=y, where=x > 0)
        return y

    assert_same(traced(into, X), np.where(X > 0, 2.0 * X, 0.0))
    assert_same(fg.grad(lambda x: into(x).sum())(X), 2.0 * (X > 0))
    assert_same(traced(lambda x: np.add(x, 1, dtype=np.float32), X), np.add(X, 1, dtype=np.float32))
    assert_same(traced(lambda x: np.add(x, 1, dtype=np.float64), I), np.add(I, 1, dtype=np.float64))
    assert_same(traced(lambda x: np.logical_and(x, x, dtype=bool), X), np.logical_and(X, X))
    assert_same(traced(lambda x: np.sin(x, order="K", subok=True, out=None), X), np.sin(X))


def test_ufunc_options_that_are_refused() -> None:
    with pytest.raises(TypeError, match="would store a traced value"):
        fg.grad(lambda x: np.sin(x, out=OUTSIDE).sum())(X)
    with pytest.raises(NotImplementedError, match="where= and no out="):
        fg.grad(lambda x: np.sin(x, where=X > 0).sum())(X)
    with pytest.raises(DtypeError, match="dtype=int64"):
        fg.grad(lambda x: np.add(x, 1, dtype=np.int64).sum())(X)

    def narrow(x: Any) -> Any:
        y = np.zeros_like(x, dtype=np.int64)
        np.add(x, 1.0, out=y)
        return x.sum()

    with pytest.raises(DtypeError, match="cannot be cast"):
        fg.grad(narrow)(X)


def test_public_functions_take_options_on_arrays() -> None:
    out = np.zeros(3)
    assert fg.numpy.sin(X, out) is out
    assert_same(out, np.sin(X))
    assert_same(fg.numpy.add(X, 1, dtype=np.float32), np.add(X, 1, dtype=np.float32))
    fraction, whole = np.zeros(3), np.zeros(3)
    fg.numpy.modf(X, out=(fraction, whole))
    assert_same(fraction + whole, X)


@pytest.mark.parametrize("text", ["a", b"a"])
def test_texts_are_no_operands_of_numbers(text: Any) -> None:
    for product in (lambda x: x * text, lambda x: text * x):
        with pytest.raises(DtypeError, match="is not numeric"):
            fg.grad(product)(2.0)
