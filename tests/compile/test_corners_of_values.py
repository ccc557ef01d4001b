"""Compiled code at the corners: infinities, NaN, signed zeros, positions out of bounds, any dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
import funcgrad.numpy as fnp

PARTS = (0.0, -0.0, 1.0, -1.0, 3.0, 800.0, -800.0, np.inf, -np.inf, np.nan)
NUMBERS = np.array([complex(a, b) for a in PARTS for b in PARTS])


def same(ours: Any, theirs: Any, relative: float) -> bool:
    """Whether two real numbers are one: also the sign of a zero, but not that of a NaN."""
    if np.isnan(theirs) or np.isnan(ours):
        return bool(np.isnan(theirs) and np.isnan(ours))
    if theirs == 0.0 or np.isinf(theirs):
        return bool(ours == theirs and np.signbit(ours) == np.signbit(theirs))
    return bool(abs(ours - theirs) <= relative * abs(theirs))


def differing(ours: Any, theirs: Any, *given: Any, relative: float = 1e-13) -> list[str]:
    found = []
    for k, (x, y) in enumerate(zip(ours, theirs, strict=True)):
        if not (same(x.real, y.real, relative) and same(x.imag, y.imag, relative)):
            found.append(f"{[complex(z[k]) for z in given]}: {complex(x)}, and NumPy has {complex(y)}")
    return found


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
@pytest.mark.parametrize(
    "name",
    [
        *("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arctanh", "square"),
        *("reciprocal", "conjugate", "negative"),
    ],
)
def test_functions_of_complex_numbers_are_numpys(name: str, dtype: Any) -> None:
    f = getattr(np, name)
    z = NUMBERS.astype(dtype)
    relative = 1e-13 if dtype is np.complex128 else 1e-5
    assert differing(fg.jit(f)(z), f(z), z, relative=relative) == []


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_quotients_of_complex_numbers_are_numpys() -> None:
    a, b = (x.ravel() for x in np.meshgrid(NUMBERS, NUMBERS))
    assert differing(fg.jit(lambda a, b: a / b)(a, b), a / b, a, b) == []


# -- positions out of bounds --------------------------------------------------------------------------------

M = np.arange(6.0).reshape(2, 3)
RIGHT = np.array([0, 1])


@pytest.mark.parametrize(
    ("i", "j", "message"),
    [
        (np.array([0, 7]), RIGHT, "index 7 is out of bounds for axis 0 with size 2"),
        (np.array([-3, 0]), RIGHT, "index -3 is out of bounds for axis 0 with size 2"),
        (RIGHT, np.array([3, 0]), "index 3 is out of bounds for axis 1 with size 3"),
        (np.array([0, 9]), np.array([9, 0]), "index 9 is out of bounds for axis 0 with size 2"),
    ],
)
def test_any_of_several_positions_may_be_out_of_bounds(i: Any, j: Any, message: str) -> None:
    """The flag of one index array was lost to that of the next."""

    def read(m: Any, i: Any, j: Any) -> Any:
        return m[i, j]

    def written(m: Any, i: Any, j: Any) -> Any:
        m = m * 1.0
        m[i, j] = 5.0
        return m

    def beside(m: Any, i: Any, j: Any) -> Any:
        return m[i], m[:, j]

    for f in (read, written, beside, fg.grad(lambda m, i, j: np.sum(m[i, j]))):
        right, found = f(M, RIGHT, RIGHT), fg.jit(f)(M, RIGHT, RIGHT)
        for ours, theirs in zip(fg.tree.leaves(found), fg.tree.leaves(right), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        with pytest.raises(IndexError, match=r"out of bounds"):
            fg.jit(f)(M, i, j)
    with pytest.raises(IndexError, match=message):
        fg.jit(read)(M, i, j)


def test_positions_along_an_empty_axis_do_not_hide_others() -> None:
    def f(x: Any, empty: Any, i: Any, none: Any) -> Any:
        return np.take_along_axis(x, i, 0), np.take_along_axis(empty, none, 0)

    empty, none = np.zeros((0, 2)), np.zeros((0, 2), int)
    with pytest.raises(IndexError, match="out of bounds"):
        fg.jit(f)(np.ones(3), empty, np.array([0, 5]), none)


@pytest.mark.parametrize("positions", [[0, 5, 1], [0, -1, 1], [2, 0, 0]])
def test_choices_that_there_are_not(positions: Any) -> None:
    i, x = np.array(positions), np.array([1.0, 2.0, 3.0])

    def f(x: Any, i: Any) -> Any:
        return np.choose(i, [x, 2.0 * x])

    def g(x: Any, i: Any) -> Any:
        return np.sum(np.choose(i, [x, x**2]))

    right = np.array([0, 1, 1])
    np.testing.assert_array_equal(fg.jit(f)(x, right), f(x, right))
    np.testing.assert_array_equal(fg.jit(fg.grad(g))(x, right), [1.0, 4.0, 6.0])
    np.testing.assert_array_equal(fg.jit(fg.vmap(f))(x[None], right[None]), [f(x, right)])
    for run in (f, fg.jit(f), fg.grad(g), fg.jit(fg.grad(g))):
        with pytest.raises(ValueError, match="invalid entry in choice array"):
            run(x, i)
    for mode in ("wrap", "clip"):
        ours = fg.jit(lambda x, i, mode=mode: np.choose(i, [x, 2.0 * x], mode=mode))(x, i)
        np.testing.assert_array_equal(ours, np.choose(i, [x, 2.0 * x], mode=mode))
    np.testing.assert_array_equal(fg.jit(lambda i: np.choose(i, [1, 2]))(right), [1, 2, 2])


# -- constants ----------------------------------------------------------------------------------------------


def written(dtype: Any) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        y = fnp.zeros(3, dtype)
        y[1] = np.dtype(dtype).type(1)
        return y

    return f


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["?", "b", "B", "h", "e", "f", "F", "g", "G"])
def test_constants_of_every_dtype(dtype: str) -> None:
    number = np.dtype(dtype).type
    functions: list[Callable[[Any], Any]] = [
        lambda x: number(2),
        lambda x: (number(2), x),
        np.imag,
        np.zeros_like,
        lambda x: (np.full_like(x, 3), x[::-1]),
        lambda x: np.where(x == 0, number(1), number(2)),
        lambda x: fnp.asarray([3, 1, 2], dtype) * number(2),
        lambda x: np.broadcast_to(number(5), (3,)) + x,
        lambda x: np.roll(np.repeat(x, 2), 1),
        lambda x: fg.fori_loop(0, 3, lambda i, total: total + number(1), number(0)),
        lambda x: fg.scan(lambda c, y: (c, np.zeros_like(y)), number(0), x),
        fg.vmap(lambda y: number(3)),
        written(dtype),
    ]
    x = np.array([1, 0, 3]).astype(dtype)
    for f in functions:
        for ours, theirs in zip(fg.tree.leaves(fg.jit(f)(x)), fg.tree.leaves(f(x)), strict=True):
            np.testing.assert_array_equal(ours, theirs)
            assert np.asarray(ours).dtype == np.asarray(theirs).dtype
