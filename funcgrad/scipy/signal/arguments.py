"""What functions of signals share: who answers, dtypes, axes, and what SciPy says of shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.numpy.reducing.axes import normalized_axis
from funcgrad.ops.arrays.structure import aval, cast, shape_of
from funcgrad.scipy.originals import originals_of
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import recorder_of
from funcgrad.types import Array, ArrayLike

scipys = originals_of("signal")
"""SciPy's functions and classes by name."""


def traced_signals(*arrays: ArrayLike) -> list[Any] | None:
    """The arrays as floating-point operands of one dtype, None kept; None where nothing is traced."""
    operands = [None if x is None else asoperand(x) for x in arrays]
    if recorder_of([x for x in operands if x is not None]) is None:
        return None
    number = int | float | complex
    dtype = np.result_type(
        *[x if isinstance(x, number) else aval(x).dtype for x in operands if x is not None]
    )
    dtype = dtype if dtype.kind in "fc" and dtype.itemsize >= 4 else np.dtype(np.float64)
    return [None if x is None else cast(array(x), dtype) for x in operands]


def array(x: ArrayLike) -> Array:
    """A Python number as an array; anything else as it is."""
    return np.asarray(x) if isinstance(x, int | float | complex) else x


def real_of(x: ArrayLike) -> np.dtype[Any]:
    """The dtype of the real part."""
    return np.empty(0, aval(x).dtype).real.dtype


def last(x: ArrayLike, axis: int) -> Array:
    """The array with this axis moved to the end."""
    axis = normalized_axis(axis, len(shape_of(x)))
    return x if axis == len(shape_of(x)) - 1 else np.moveaxis(x, axis, -1)


def back(x: ArrayLike, axis: int) -> Array:
    """The array with its last axis moved to where it was."""
    return np.moveaxis(x, -1, axis)
