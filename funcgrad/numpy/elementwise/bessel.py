"""The modified Bessel function of order zero, and the window made of it."""

from __future__ import annotations

import operator

import numpy as np

from funcgrad.later import Later
from funcgrad.numpy.algebra.operands import traced
from funcgrad.numpy.arrays.copies import entered
from funcgrad.numpy.dispatch import implements
from funcgrad.ops.arrays.structure import aval, cast
from funcgrad.ops.elementwise.arithmetic import div, mul
from funcgrad.tracing.recorder import recorder_of
from funcgrad.types import Array, ArrayLike, Number

special = Later("funcgrad.scipy.special")


@implements(np.i0)
def i0(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind, of order 0.

    >>> print(fg.numpy.i0(0.0))
    1.0
    """
    operands = traced(x)
    if operands is None:
        return np.i0(x)
    [at] = operands
    if aval(at).dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    wide = cast(at, np.float64) if aval(at).dtype.kind != "f" or aval(at).dtype.itemsize < 4 else at
    return cast(special.i0(wide), aval(at).dtype) if aval(at).inexact else special.i0(wide)


@implements(np.kaiser)
def kaiser(M: ArrayLike, beta: Number) -> Array:
    """The Kaiser window of `M` points, whose shape `beta` may be traced.

    >>> print(fg.numpy.kaiser(3, 0.0))
    [1. 1. 1.]
    """
    if recorder_of((M, beta)) is None:
        return entered(np.kaiser(M, beta))
    count = operator.index(M)
    if count == 1:
        return entered(np.ones(1))
    half = (count - 1) / 2.0
    arc = np.sqrt(1.0 - ((np.arange(count) - half) / half) ** 2.0)
    return div(i0(mul(beta, arc)), i0(mul(beta, 1.0)))
