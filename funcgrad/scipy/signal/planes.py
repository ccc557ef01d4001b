"""Convolutions and correlations of two planes, with what stands outside of the first one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ops.arrays.movement import flip
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.scipy.signal.arguments import scipys, traced_signals
from funcgrad.scipy.signal.convolutions import direct, part, swapped
from funcgrad.types import Array, ArrayLike

OUTSIDE = {"fill": "constant", "pad": "constant", "wrap": "wrap", "circular": "wrap"} | dict.fromkeys(
    ("symm", "symmetric"), "symmetric"
)
"""SciPy's names of boundaries, and what `numpy.pad` calls them."""
BOTH = (0, 1)


def convolve2d(
    in1: ArrayLike, in2: ArrayLike, mode: str = "full", boundary: str = "fill", fillvalue: ArrayLike = 0
) -> Array:
    """The convolution of two planes; `boundary` says what stands outside of the first.

    >>> image = np.arange(9.0).reshape(3, 3)
    >>> def smoothed(k):
    ...     return fg.scipy.signal.convolve2d(image, k, mode="same", boundary="symm")[1, 1]
    >>> print(fg.grad(smoothed)(np.ones((3, 3)))[0])
    [8. 7. 6.]
    """
    operands = traced_signals(in1, in2)
    if operands is None:
        return scipys("convolve2d")(in1, in2, mode, boundary, fillvalue)
    x, y = checked("convolve2d", operands)
    if swapped(mode, shape_of(x), shape_of(y), BOTH):
        x, y = y, x
    return bounded(x, y, mode, boundary, fillvalue)


def correlate2d(
    in1: ArrayLike, in2: ArrayLike, mode: str = "full", boundary: str = "fill", fillvalue: ArrayLike = 0
) -> Array:
    """The cross-correlation of two planes, the second conjugated.

    >>> image = np.arange(9.0).reshape(3, 3)
    >>> print(fg.grad(lambda k: fg.scipy.signal.correlate2d(image, k, "valid")[0, 0])(np.ones((2, 2))))
    [[0. 1.]
     [3. 4.]]
    """
    operands = traced_signals(in1, in2)
    if operands is None:
        return scipys("correlate2d")(in1, in2, mode, boundary, fillvalue)
    x, y = checked("correlate2d", operands)
    if swapped(mode, shape_of(x), shape_of(y), BOTH):
        # The larger one stands still: the sums in the opposite order. SciPy conjugates the smaller one.
        return flip(bounded(y, flip(np.conjugate(x), BOTH), mode, boundary, fillvalue), BOTH)
    return bounded(x, flip(np.conjugate(y), BOTH), mode, boundary, fillvalue, middle=0)


def checked(name: str, operands: Sequence[Any]) -> Sequence[Any]:
    """The operands, which must be planes."""
    if any(len(shape_of(v)) != 2 for v in operands):
        raise ValueError(f"{name} inputs must both be 2-D arrays")
    return operands


def bounded(
    x: ArrayLike, y: ArrayLike, mode: str, boundary: str, fillvalue: ArrayLike, middle: int = 1
) -> Array:
    """The part of the convolution that the mode is about, with the boundary around `x`.

    Of a kernel with an even number of elements, the second of the two in the middle is at the place of the
    result; with ``middle=0`` the first one.
    """
    if boundary not in OUTSIDE:
        raise ValueError("Acceptable boundary flags are 'fill', 'circular' (or 'wrap'), and 'symmetric'.")
    sizes, kernel = shape_of(x), shape_of(y)
    if mode == "valid":
        return part(direct(x, y), sizes, kernel, mode, BOTH)
    around = tuple([(n - 1, n - 1) for n in kernel])
    given: dict[str, Any] = {"constant_values": fillvalue} if OUTSIDE[boundary] == "constant" else {}
    padded = np.pad(x, around, mode=OUTSIDE[boundary], **given)  # type: ignore[call-overload]
    full = part(direct(padded, y), shape_of(padded), kernel, "valid", BOTH)
    if mode == "full":
        return full
    first, second = [(k - middle) // 2 for k in kernel]
    return full[first : first + sizes[0], second : second + sizes[1]]
