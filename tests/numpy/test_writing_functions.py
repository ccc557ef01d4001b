"""NumPy's functions that write into an array: into arrays of NumPy's, traced ones, and copies of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import TracerAssignmentError

WRITERS: dict[str, Callable[..., Any]] = {
    "fill_diagonal": lambda x, **how: fg.numpy.fill_diagonal(x, 0.0, **how),
    "place": lambda x, **how: fg.numpy.place(x, np.eye(3) > 0.0, np.array([1.0, 2.0]), **how),
    "put": lambda x, **how: fg.numpy.put(x, [0, 4], [1.0, 2.0], **how),
    "put_along_axis": lambda x, **how: fg.numpy.put_along_axis(x, np.array([[0], [1], [2]]), 3.0, 1, **how),
}


@pytest.mark.parametrize("name", WRITERS)
def test_writing_into_arrays_of_numpy_and_into_copies(name: str) -> None:
    x = np.arange(9.0).reshape(3, 3)
    copy, kept = WRITERS[name](x, inplace=False), x.copy()
    slope = fg.grad(lambda x: np.sum(WRITERS[name](x, inplace=False) ** 2))(x)
    assert np.array_equal(x, kept)
    assert WRITERS[name](x) is None
    assert np.array_equal(x, copy)
    changed = x != kept
    assert np.array_equal(slope[~changed], 2.0 * kept[~changed])
    assert not slope[changed].any()


def test_a_traced_value_written_into_a_copy() -> None:
    x = np.ones((2, 2))
    assert fg.grad(lambda v: np.sum(fg.numpy.fill_diagonal(x, v, inplace=False)))(2.0) == 2.0
    with pytest.raises(TracerAssignmentError, match="would store a traced value"):
        fg.grad(lambda v: fg.numpy.fill_diagonal(x, v))(2.0)
