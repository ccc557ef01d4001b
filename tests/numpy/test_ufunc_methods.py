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


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum])
def test_reduceat(ufunc: Any) -> None:
    for indices in ([0, 2], [1, 3, 0, 2], [3], [2, 1]):
        assert_agrees(lambda x, i=indices: ufunc.reduceat(x, i), X)
    table = np.outer(X, X[:3] + 1)
    assert_agrees(lambda x: ufunc.reduceat(x, [0, 1], axis=1), table)
    check_grads(lambda x: ufunc.reduceat(x, [1, 3, 0, 2]), (X,))


def test_refusals() -> None:
    with pytest.raises(ShapeError, match="index 4 is out of bounds"):
        fg.make_program(lambda x: np.add.reduceat(x, [0, 4]))(X)
    with pytest.raises(UnsupportedFunctionError, match=r"np\.exp\.outer"):
        fg.make_program(lambda x: x.__array_ufunc__(np.exp, "outer", x))(X)
    with pytest.raises(UnsupportedFunctionError, match=r"np\.subtract\.reduceat"):
        fg.make_program(lambda x: np.subtract.reduceat(x, [0]))(X)


def test_an_index_of_at_is_a_tuple_under_jit_too() -> None:
    def f(x: Any) -> Any:
        np.add.at(x, ([0, 0], [1, 1]), 2.0)
        np.subtract.at(x, (np.array([1]), [2]), x[0, 0])
        return x * 1.0

    table = np.outer(X, X)
    np.testing.assert_array_equal(fg.jit(f)(table.copy()), f(table.copy()))
