"""Arrays seen by their memory: `strides`, `as_strided`, and `view` as numbers of another kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import UnsupportedFunctionError

as_strided = np.lib.stride_tricks.as_strided
X = np.arange(1.0, 25.0).reshape(4, 6) / 7


def windows(x: Any) -> Any:
    return as_strided(x, (3, 4, 2, 3), x.strides * 2)


def diagonal_raised(x: Any) -> Any:
    y = x[:, :4].copy()
    as_strided(y, (4,), (y.strides[0] + y.strides[1],))[:] += x[0, :4] ** 2
    return y


def written_through(x: Any) -> Any:
    y = x.copy()
    z = y.astype(complex) * (1 + 2j)
    z.view(float)[:, 1] = x[:, 0] ** 2
    y.view(complex)[0] *= 1j
    return np.stack([z.view(float)[:, :6], y])


def seen_of_zeros(x: Any) -> Any:
    y = np.zeros((4, 6))
    seen = as_strided(y, (3, 2), strides=(y.strides[0], 8))
    y[0] = x[0]
    return seen * x[1, :2]


SEEN: dict[str, Callable[[Any], Any]] = {
    "windows": windows,
    "bytes": lambda x: as_strided(x, shape=(5, 2), strides=(8, 48)),
    "of a row": lambda x: as_strided(x[1], (3,), (x.itemsize * 2,)),
    "of a transposed array": lambda x: as_strided(x.T, (3, 2), x.T.strides),
    "of every other column": lambda x: as_strided(x[:, ::2], (2, 3), x[:, ::2].strides),
    "of a reversed array": lambda x: as_strided(x[::-1], (2, 2), x[::-1].strides),
    "repeated": lambda x: as_strided(x, (2, 6), (0, 8)),
    "diagonal written": diagonal_raised,
    "of zeros, which are written later": seen_of_zeros,
    "strides": lambda x: x * x.strides[0] + x.T.strides[0],
    "parts of complex numbers": lambda x: (x * (1 + 2j)).view(float),
    "complex numbers of parts": lambda x: np.abs(x.view(np.complex128)),
    "the same kind": lambda x: x.view(float) * x.view(np.ndarray) + x.view(type=np.ndarray),
    "written through": written_through,
}


@pytest.mark.parametrize("name", SEEN)
def test_what_is_seen_is_what_numpy_sees(name: str) -> None:
    """The values are NumPy's and the derivative that of differences, jitted or not."""
    seen = SEEN[name]
    value, pullback = fg.vjp(seen, X)
    np.testing.assert_allclose(value, seen(X), strict=True)
    np.testing.assert_allclose(fg.jit(seen)(X), seen(X))
    bar = np.cos(np.arange(value.size)).reshape(value.shape)
    direction = np.sin(np.arange(X.size)).reshape(X.shape)
    difference = (seen(X + 1e-6 * direction) - seen(X - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(np.sum(pullback(bar)[0] * direction), np.sum(bar * difference), rtol=1e-6)
    mapped = fg.vmap(seen)(np.stack([X, 2 * X]))
    np.testing.assert_allclose(mapped, np.stack([seen(X), seen(2 * X)]))


REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "memory outside": (lambda x: as_strided(x[1:3], (3, 6), x.strides), UnsupportedFunctionError, "no part"),
    "between elements": (lambda x: as_strided(x, (3,), (4,)), UnsupportedFunctionError, "between"),
    "other shape": (lambda x: as_strided(x, (3, 2), (8,)), ValueError, "do not describe"),
    "other numbers": (lambda x: x.view(np.int64), UnsupportedFunctionError, "another dtype"),
    "odd": (lambda x: x[:, :5].copy().view(complex), ValueError, "whole complex numbers"),
    "columns": (lambda x: x.T.view(complex), ValueError, "contiguous"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_element_is_refused(name: str) -> None:
    """An error and no number, also where NumPy would read whatever lies there."""
    seen, error, words = REFUSED[name]
    with pytest.raises(error, match=words):
        fg.vjp(seen, X)


def test_overlapping_windows_are_not_written() -> None:
    """Neighbours would show what was written, or not, depending on the order."""

    def filled(x: Any) -> Any:
        y = x.copy()
        windows(y)[0, 0] = 1.0
        return y

    with pytest.raises(UnsupportedFunctionError, match="more than once"):
        fg.vjp(filled, X)


def test_arguments_lie_as_the_callers_arrays_do() -> None:
    """Without jit the strides are those of the array that is given."""
    x = np.asfortranarray(X)
    np.testing.assert_array_equal(fg.vjp(lambda x: as_strided(x, (3,), (8,)), x)[0], x[:3, 0])


def test_nditer_reads_what_is_traced() -> None:
    """An iterator over a traced array gives its numbers, with their derivatives, and its indices."""

    def f(x: Any) -> Any:
        total = sum(value**2 for value in np.nditer(x))
        it = np.nditer(x, flags=["multi_index"])
        while not it.finished:
            total += it[0] * it.multi_index[1]
            it.iternext()
        return total

    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(fg.grad(f)(x), 2 * x + np.arange(3.0))
    np.testing.assert_allclose(fg.jit(f)(x), f(x))
