"""Whether what is made of an array shares its memory as in NumPy: a write to one shows in the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg

BASE = np.arange(12.0).reshape(4, 3) + 0.5

VIEWS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda y: y,
    "transposed": lambda y: y.T,
    "rows": lambda y: y[1:],
    "columns": lambda y: y[:, 1:],
    "every second": lambda y: y[::2],
    "reversed": lambda y: y[::-1],
    "one column": lambda y: y[:, 1],
    "one row": lambda y: y[1],
    "one element": lambda y: y[1:2, 1:2],
    "a row upright": lambda y: y[:1].T,
    "a new axis": lambda y: y[:, None],
    "flat": lambda y: y.reshape(-1),
    "transposed twice": lambda y: y.T.T,
    "nothing": lambda y: y[:0],
}

MADE: dict[str, Callable[[Any], Any]] = {
    "ascontiguousarray": np.ascontiguousarray,
    "asfortranarray": np.asfortranarray,
    "asarray C": lambda v: np.asarray(v, order="C"),
    "asarray F": lambda v: np.asarray(v, order="F"),
    "asarray K": lambda v: np.asarray(v, order="K"),
    "asanyarray F": lambda v: np.asanyarray(v, order="F"),
    "require": lambda v: np.require(v, requirements=["C_CONTIGUOUS"]),
    "require F": lambda v: np.require(v, float, "F"),
    "require memory of its own": lambda v: np.require(v[...], None, ["O"]),
    "array": lambda v: np.array(v, copy=None),
    "array C": lambda v: np.array(v, copy=None, order="C"),
    "astype": lambda v: v.astype(float, copy=False),
    "astype C": lambda v: v.astype(float, copy=False, order="C"),
    "astype F": lambda v: v.astype(float, copy=False, order="F"),
    "conj of the array": lambda v: v.conj(),
    "conj": np.conj,
    "nan_to_num": lambda v: np.nan_to_num(v, copy=False, posinf=3.0),
    "ravel": np.ravel,
    "ravel F": lambda v: v.ravel("F"),
    "reshape": lambda v: v.reshape(-1),
    "meshgrid": lambda v: np.meshgrid(v, copy=False)[0],
    "meshgrid, open": lambda v: np.meshgrid(v, v, copy=False, sparse=True)[0],
}


def written(view: Callable[[Any], Any], made: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Something made of a view is written into; what base, view and itself hold then."""

    def f(x: Any) -> Any:
        y = x.copy()
        w = view(y)
        u = made(w)
        u[...] = 3.0 * u + 1.0
        return np.sum(np.sin(y) * BASE) + np.sum(w**2) + np.sum(u**3)

    return f


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("made", MADE)
def test_writing_reaches_what_it_reaches_in_numpy(made: str, view: str) -> None:
    f = written(VIEWS[view], MADE[made])
    value, gradient = fg.value_and_grad(f)(BASE)
    np.testing.assert_allclose(value, f(BASE))
    d = 1e-6 * np.cos(BASE)
    np.testing.assert_allclose(np.sum(gradient * d), (f(BASE + d) - f(BASE - d)) / 2, rtol=1e-6)


@pytest.mark.parametrize("made", MADE)
def test_writing_reaches_the_same_under_jit(made: str) -> None:
    def f(x: Any) -> Any:
        return sum(
            [written(VIEWS[k], MADE[made])(x) for k in ("transposed", "columns", "reversed", "itself")]
        )

    np.testing.assert_allclose(fg.jit(f)(BASE), f(BASE))


@pytest.mark.parametrize(
    "made",
    [
        lambda v: np.reshape(v, -1, copy=False),
        lambda v: np.asarray(v, order="C", copy=False),
        lambda v: np.array(v, order="C", copy=False),
    ],
)
def test_a_copy_that_is_forbidden_is_refused_as_by_numpy(made: Callable[[Any], Any]) -> None:
    for f in (lambda x: np.sum(made(x.T)), fg.grad(lambda x: np.sum(made(x.T)))):
        with pytest.raises(ValueError, match=r"[Uu]nable to avoid"):
            f(BASE)
    np.testing.assert_array_equal(fg.grad(lambda x: np.sum(made(x)))(BASE), np.ones((4, 3)))


def test_a_grid_that_is_not_copied_may_not_be_written() -> None:
    def f(x: Any) -> Any:
        a, _ = np.meshgrid(x, x, copy=False)
        a[0] = 1.0
        return np.sum(x)

    with pytest.raises(ValueError, match="read-only"):
        fg.grad(f)(np.ones(3))


def test_what_lies_column_by_column_says_so() -> None:
    def f(x: Any) -> Any:
        assert fg.numpy.isfortran(x.T)
        assert not fg.numpy.isfortran(x)
        return np.sum(x)

    np.testing.assert_array_equal(fg.grad(f)(BASE), np.ones((4, 3)))


COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": lambda v: v.copy(),
    "copy F": lambda v: v.copy("F"),
    "copy K": lambda v: v.copy(order="K"),
    "np.copy": np.copy,
    "np.copy C": lambda v: np.copy(v, order="C"),
    "array": np.array,
    "array F": lambda v: np.array(v, order="F"),
    "array C": lambda v: np.array(v, order="C"),
    "asarray, copied": lambda v: np.asarray(v, order="F", copy=True),
    "asfortranarray": np.asfortranarray,
    "ascontiguousarray": np.ascontiguousarray,
    "require": lambda v: np.require(v, requirements="F"),
}


@pytest.mark.parametrize(
    "flat", [np.ravel, lambda v: v.reshape(-1), lambda v: v.ravel("F"), lambda v: v.T.ravel()]
)
@pytest.mark.parametrize("view", ["itself", "transposed", "rows", "columns", "one row", "a new axis"])
@pytest.mark.parametrize("made", COPIES)
def test_a_copy_lies_in_memory_as_numpys(made: str, view: str, flat: Callable[[Any], Any]) -> None:
    def f(x: Any) -> Any:
        z = COPIES[made](VIEWS[view](x.copy()))
        r = flat(z)
        r[...] = 3.0 * r + 1.0
        return np.sum(np.sin(z)) + np.sum(r**2)

    value, gradient = fg.value_and_grad(f)(BASE)
    np.testing.assert_allclose(value, f(BASE))
    d = 1e-6 * np.cos(BASE)
    np.testing.assert_allclose(np.sum(gradient * d), (f(BASE + d) - f(BASE - d)) / 2, rtol=1e-5)
