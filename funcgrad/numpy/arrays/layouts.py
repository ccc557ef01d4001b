"""What is asked of an array before it goes elsewhere: its layout, its values, its dtype; zeros cut off.

NumPy asks nobody about `asfortranarray`, `require`, `isfortran` and `asarray_chkfinite`, so traced arrays
need the functions of this module.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.numpy.algebra.operands import traced
from funcgrad.numpy.arrays.copies import asarray, copied, entered
from funcgrad.numpy.arrays.shapes import as_array, lies_in_order, reshaped
from funcgrad.numpy.dispatch import implements, unsupported
from funcgrad.numpy.picking.sorting import known_value, needed_value
from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.arrays.movement import take_span
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.tracing.aliasing import is_view
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, AxisLike, DTypeLike, Option


def asfortranarray(a: ArrayLike, dtype: DTypeLike = None) -> Array:
    """As `asarray`; a copy of what does not lie in memory column by column.

    >>> print(fg.numpy.asfortranarray([1.0, 2.0]))
    [1. 2.]
    """
    x = as_array(a)
    if type(x) is not Tracer:
        return entered(np.asfortranarray(x, dtype))
    found = asarray(x, dtype, "F")
    return found if shape_of(found) else reshaped(found, (1,))


def isfortran(a: ArrayLike) -> bool:
    """Whether the array is laid out column by column and not row by row.

    >>> fg.numpy.isfortran(np.ones((2, 3)).T)
    True
    """
    if type(a) is Tracer:
        return lies_in_order(a, "F") and not lies_in_order(a, "C")
    return np.isfortran(a)


REQUIREMENTS = {
    **dict.fromkeys(("C", "C_CONTIGUOUS", "CONTIGUOUS"), "C"),
    **dict.fromkeys(("F", "F_CONTIGUOUS", "FORTRAN"), "F"),
    **dict.fromkeys(("O", "OWNDATA"), "O"),
    **dict.fromkeys(("A", "ALIGNED", "W", "WRITEABLE", "E", "ENSUREARRAY"), ""),
}
"""What `require` asks for by all of its names; what every traced array is has none."""


def require(a: ArrayLike, dtype: DTypeLike = None, requirements: Option = None) -> Array:
    """As `asarray`; a copy of what does not lie in memory as it is required to.

    A view that may not be written is refused when it is, and not copied for ``"W"``.

    >>> print(fg.numpy.require([1.0, 2.0], np.float32))
    [1. 2.]
    """
    x = as_array(a)
    if type(x) is not Tracer:
        return entered(np.require(x, dtype, requirements))
    asked = {REQUIREMENTS[str(name).upper()] for name in requirements or ()}
    if {"C", "F"} <= asked:
        raise ValueError('Cannot specify both "C" and "F" order')
    found = asarray(x, dtype, "F" if "F" in asked else "C" if "C" in asked else None)
    return copied(found) if "O" in asked and is_view(found) else found


def asarray_chkfinite(a: ArrayLike, dtype: DTypeLike = None, order: object = None) -> Array:
    """As `asarray`, and raises ValueError for infinities and NaN; values are looked at where they exist.

    >>> print(fg.numpy.asarray_chkfinite([1.0, 2.0]))
    [1. 2.]
    """
    found = asarray(a, dtype)
    known = known_value(found)
    if known is not None and known.dtype.kind in "fc" and not np.all(np.isfinite(known)):
        raise ValueError("array must not contain infs or NaNs")
    return found


@implements(np.min_scalar_type)
def min_scalar_type(a: ArrayLike) -> np.dtype[Any]:
    """The smallest dtype that holds a number; of an array its dtype.

    >>> fg.numpy.min_scalar_type(10)
    dtype('uint8')
    """
    if type(a) is not Tracer:
        return np.min_scalar_type(a)
    return a.dtype if a.shape else np.min_scalar_type(needed_value(a, "np.min_scalar_type")[()])


@implements(np.trim_zeros)
def trim_zeros(filt: ArrayLike, trim: Option = "fb", axis: AxisLike = None) -> Array:
    """Without the zeros in front (``f``) and at the back (``b``) of a vector, whose values must be known.

    >>> print(fg.numpy.trim_zeros(np.array([0.0, 1.0, 2.0, 0.0])))
    [1. 2.]
    """
    operands = traced(filt)
    if operands is None:
        return np.trim_zeros(filt, trim) if axis is None else np.trim_zeros(filt, trim, axis)
    [x] = operands
    if len(shape_of(x)) != 1:
        raise unsupported("np.trim_zeros of an array with several axes")
    sides = trim.lower()
    if sides not in ("fb", "bf", "f", "b"):
        raise refused(f"unexpected character(s) in `trim`: {trim!r}")
    if isinstance(axis, tuple) and not axis:
        return x
    nonzero = np.flatnonzero(needed_value(x, "np.trim_zeros"))
    count = shape_of(x)[0]
    if not len(nonzero):
        return take_span(x, 0, 0, 0)
    first = int(nonzero[0]) if "f" in sides else 0
    last = int(nonzero[-1]) if "b" in sides else count - 1
    return take_span(x, 0, first, last - first + 1)
