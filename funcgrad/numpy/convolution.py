"""Convolution and correlation of vectors, as products of one with windows of the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.numpy.dispatch import implements
from funcgrad.numpy.operands import promoted
from funcgrad.numpy.padding import pad
from funcgrad.numpy.shapes import as_array
from funcgrad.ops.indexing import Gather
from funcgrad.ops.structure import aval


@implements(np.convolve)
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """The discrete convolution of two vectors.

    >>> print(fg.numpy.convolve([1.0, 2.0, 3.0], [0.0, 1.0, 0.5]))
    [0.  1.  2.5 4.  1.5]
    """
    x, y = promoted([as_array(a), as_array(v)])
    if aval(y).size > aval(x).size:
        x, y = y, x
    return windowed(x, np.ravel(y)[::-1], mode)


@implements(np.correlate)
def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """The cross-correlation of two vectors, the second conjugated.

    >>> print(fg.numpy.correlate([1.0, 2.0, 3.0], [0.0, 1.0, 0.5]))
    [3.5]
    """
    x, y = promoted([as_array(a), as_array(v)])
    if aval(y).size > aval(x).size:
        return windowed(np.conjugate(y), x, mode)[::-1]
    return windowed(x, np.conjugate(y), mode)


def windowed(x: Any, weights: Any, mode: str) -> Any:
    """Weighted sums of a window that moves along `x`, which is not shorter than the window."""
    n, m = aval(x).size, aval(weights).size
    if not n or not m:
        raise ValueError("a and v cannot be empty")
    margins = {"full": (m - 1, m - 1), "same": ((m - 1) - (m - 1) // 2, (m - 1) // 2), "valid": (0, 0)}
    if mode not in margins:
        raise ValueError(f"mode must be one of 'valid', 'same' or 'full', got {mode!r}")
    wide = pad(np.ravel(x), margins[mode])
    places = np.arange(aval(wide).size - m + 1)[:, None] + np.arange(m)
    return Gather((0,)).bind(wide, places) @ weights
