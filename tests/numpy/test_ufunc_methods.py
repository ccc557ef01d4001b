"""`outer` and `reduceat` of ufuncs: NumPy's results on traced arrays, and derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lawbook.agreement import assert_agrees

import funcgrad as fg
from funcgrad.errors import ShapeError, UnsupportedFunctionError
from funcgrad.testing import check_grads

X = np.array([0.3, 0.9, -0.5, 2.0])


@pytest.mark.parametrize("ufunc", [np.add, np.subtract, np.multiply, np.maximum, np.arctan2, np.less])
def test_outer(ufunc: Any) -> None:
    y = np.arange(6.0).reshape(2, 3) + 0.1
    assert_agrees(lambda x: ufunc.outer(x, y), X)
    assert_agrees(lambda x: ufunc.outer(y, x), X)
    assert_agrees(lambda x: ufunc.outer(x, 2), X)
    if ufunc is not np.less:
        check_grads(lambda x: ufunc.outer(x, y), (X,))


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.subtract])
def test_reduceat(ufunc: Any) -> None:
    for indices in ([0, 2], [1, 3, 0, 2], [3], [2, 1]):
        assert_agrees(lambda x, i=indices: ufunc.reduceat(x, i), X)
    table = np.outer(X, X[:3] + 1)
    assert_agrees(lambda x: ufunc.reduceat(x, [0, 1], axis=1), table)
    check_grads(lambda x: ufunc.reduceat(x, [1, 3, 0, 2]), (X,))


@pytest.mark.parametrize("ufunc", [np.subtract, np.divide, np.hypot, np.logaddexp2])
def test_reduce_in_order(ufunc: Any) -> None:
    """What has no reduction of its own runs from the first element, or from its identity, to the last."""
    table = np.outer(np.abs(X), X[:3] ** 2 + 1)
    assert_agrees(ufunc.reduce, table)
    assert_agrees(lambda x: ufunc.reduce(x, axis=-1, keepdims=True), table)
    assert_agrees(lambda x: ufunc.reduce(x, 1, initial=1.5), table)
    assert_agrees(lambda x: ufunc.reduce(x, (), initial=1.5), table)
    assert_agrees(lambda x: ufunc.reduce(x[:1]), table)
    assert_agrees(ufunc.reduce, table.astype(np.float32))
    check_grads(lambda x: ufunc.reduce(x, axis=1), (table,), order=1)
    if ufunc.identity is not None:
        assert_agrees(lambda x: ufunc.reduce(x, axis=None), table)
        # What is given to begin with counts once, however many axes go.
        assert_agrees(lambda x: ufunc.reduce(x, axis=(0, 1), initial=1.5), table)
        return
    with pytest.raises(ShapeError, match="depends on the order"):
        fg.make_program(lambda x: ufunc.reduce(x, axis=(0, 1)))(table)
    with pytest.raises(ShapeError, match="has no identity"):
        fg.make_program(lambda x: ufunc.reduce(x[:0]))(table)


def test_refusals() -> None:
    with pytest.raises(ShapeError, match="index 4 is out of bounds"):
        fg.make_program(lambda x: np.add.reduceat(x, [0, 4]))(X)
    with pytest.raises(UnsupportedFunctionError, match=r"np\.exp\.outer"):
        fg.make_program(lambda x: x.__array_ufunc__(np.exp, "outer", x))(X)
    with pytest.raises(UnsupportedFunctionError, match=r"np\.power\.reduceat"):
        fg.make_program(lambda x: np.power.reduceat(x, [0]))(X)


def test_an_index_of_at_is_a_tuple_under_jit_too() -> None:
    def f(x: Any) -> Any:
        np.add.at(x, ([0, 0], [1, 1]), 2.0)
        np.subtract.at(x, (np.array([1]), [2]), x[0, 0])
        return x * 1.0

    table = np.outer(X, X)
    np.testing.assert_array_equal(fg.jit(f)(table.copy()), f(table.copy()))
