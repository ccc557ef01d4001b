"""Convolution and correlation of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.numpy.algebra.operands import promoted
from funcgrad.numpy.arrays.shapes import as_array
from funcgrad.numpy.dispatch import implements
from funcgrad.ops.arrays.structure import aval, shape_of
from funcgrad.ops.signal.sliding import Convolve, Correlate
from funcgrad.types import Array, ArrayLike

__all__ = ["convolve", "correlate"]


@implements(np.convolve)
def convolve(a: ArrayLike, v: ArrayLike, mode: str = "full") -> Array:
    """The discrete convolution of two vectors.

    >>> print(fg.numpy.convolve([1.0, 2.0, 3.0], [0.0, 1.0, 0.5]))
    [0.  1.  2.5 4.  1.5]
    """
    x, y = vectors(a, v, may_be_numbers=True)
    n, m = shape_of(x)[0], shape_of(y)[0]
    if m > n:
        x, y, n, m = y, x, m, n
    if mode == "valid":
        return Correlate().bind(x, y[::-1])
    return part_of(Convolve().bind(x, y), n, m, mode)


@implements(np.correlate)
def correlate(a: ArrayLike, v: ArrayLike, mode: str = "valid") -> Array:
    """The cross-correlation of two vectors, the second conjugated.

    >>> print(fg.numpy.correlate([1.0, 2.0, 3.0], [0.0, 1.0, 0.5]))
    [3.5]
    """
    x, y = vectors(a, v, may_be_numbers=False)
    y = np.conjugate(y) if aval(y).dtype.kind == "c" else y
    n, m = shape_of(x)[0], shape_of(y)[0]
    if m > n:
        # The shorter one slides: the same sums in the opposite order.
        return sliding(y, x, m, n, mode)[::-1]
    return sliding(x, y, n, m, mode)


def sliding(x: ArrayLike, y: ArrayLike, n: int, m: int, mode: str) -> Array:
    """The sums of products of `y` with windows of `x`, which is not shorter."""
    if mode == "valid":
        return Correlate().bind(x, y)
    return part_of(Convolve().bind(x, y[::-1]), n, m, mode)


def vectors(a: ArrayLike, v: ArrayLike, *, may_be_numbers: bool) -> list[Any]:
    """Both operands as vectors of one dtype."""
    x, y = promoted([as_array(a), as_array(v)])
    for operand in (x, y):
        if aval(operand).ndim > 1 or (aval(operand).ndim < 1 and not may_be_numbers):
            depth = "too deep" if aval(operand).ndim else "of too small depth"
            raise ValueError(f"object {depth} for desired array: vectors are convolved, not {aval(operand)}")
    if not aval(x).size or not aval(y).size:
        raise ValueError("a and v cannot be empty")
    return [np.ravel(x), np.ravel(y)]


def part_of(full: Array, n: int, m: int, mode: str) -> Array:
    """Of all sums, those that the mode is about: all, or as many as the longer operand has elements."""
    if mode == "full":
        return full
    if mode != "same":
        raise ValueError(f"mode must be one of 'valid', 'same' or 'full', got {mode!r}")
    first = (m - 1) // 2
    return full[first : first + n]
