"""Sets of values: NumPy's results on traced arrays, and derivatives that follow the values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import ConcretizationError, ShapeError

fnp = fg.numpy
X = np.array([[3.0, 1.0, 2.0], [1.0, 5.0, 3.0]])
Y = np.array([2.0, 7.0, 1.0, 2.0])


def evaluated(f: Any, *args: Any) -> Any:
    """The results of `f` while its arguments are traced."""
    kept: list[Any] = []

    def total(x: Any) -> Any:
        kept[:] = [f(x, *args)]
        found = kept[0] if isinstance(kept[0], tuple) else (kept[0],)
        kept[:] = [[np.asarray(part.concrete() if hasattr(part, "concrete") else part) for part in found]]
        return np.sum(x)

    fg.grad(total)(X)
    return kept[0]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.union1d(x, Y),
        lambda x: np.union1d(Y, x),
        lambda x: np.intersect1d(x, Y),
        lambda x: np.intersect1d(x, Y, return_indices=True),
        lambda x: np.setdiff1d(x, Y),
        lambda x: np.setdiff1d(Y, x),
        lambda x: np.setdiff1d(x[0], Y, assume_unique=True),
        lambda x: np.setxor1d(x, Y),
        lambda x: np.isin(x, Y),
        lambda x: np.isin(Y, x, invert=True),
        lambda x: np.isin(x, []),
        lambda x: np.isin(np.log(x - 1.5), [np.nan, np.log(0.5)]),
        lambda x: tuple(np.unique_all(x)),
        lambda x: tuple(np.unique_counts(x)),
        lambda x: tuple(np.unique_inverse(x)),
        lambda x: np.sort(np.unique_values(x)),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_values_are_numpys(f: Any) -> None:
    wanted = f(X)
    found = evaluated(f)
    for ours, theirs in zip(found, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype


def test_derivatives_follow_the_first_occurrence() -> None:
    np.testing.assert_array_equal(
        fg.jacobian(lambda x: np.union1d(x, Y))(X[0]), [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0, 0]]
    )
    np.testing.assert_array_equal(fg.jacobian(lambda x: np.setdiff1d(x, Y))(X[0]), [[1, 0, 0]])
    np.testing.assert_array_equal(fg.jacobian(lambda x: np.unique_all(x).values)(Y[:3]), np.eye(3)[[2, 0, 1]])


def test_membership_needs_no_values() -> None:
    found = fg.vmap(lambda row: np.isin(row, Y))(X)
    np.testing.assert_array_equal(found, np.isin(X, Y))


def test_shapes_that_depend_on_values_need_them() -> None:
    with pytest.raises(ConcretizationError, match=r"np\.union1d needs the value"):
        fg.make_program(lambda row: np.union1d(row, Y))(X[0])


def test_nan_on_both_sides_is_refused() -> None:
    def both(x: Any) -> Any:
        return np.sum(np.setxor1d(x, np.array([np.nan])))

    with pytest.raises(ShapeError, match="both hold NaN"):
        fg.grad(both)(np.array([np.nan, 1.0]))
