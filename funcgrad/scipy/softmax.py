"""`logsumexp`, `softmax` and `log_softmax`, as ``scipy.special`` has them; `special` offers them too.

SciPy's own functions of these names take the values of traced arrays, so they cannot be differentiated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.numpy.elementwise.ufuncs import loop_dtypes
from funcgrad.numpy.reducing.axes import normalized_axes, traced, with_kept_axes
from funcgrad.numpy.reducing.reductions import LOGADDEXP, reduced
from funcgrad.ops.arrays.lazy import LazyUfunc
from funcgrad.ops.arrays.structure import aval, broadcast, broadcast_to, cast, reduce_sum, shape_of
from funcgrad.ops.elementwise.arithmetic import add, mul, sub
from funcgrad.ops.elementwise.comparison import equal, isfinite
from funcgrad.ops.elementwise.complexes import real
from funcgrad.ops.elementwise.elementary import exp, log
from funcgrad.ops.elementwise.identity import stop_gradient
from funcgrad.ops.elementwise.magnitude import absolute, sign
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.families import broadcast_shapes
from funcgrad.ops.reducing.reductions import ReduceMax
from funcgrad.ops.reducing.softmax import LogSoftmax, Softmax
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike, Arrays, AxisLike

__all__ = ["log_softmax", "logsumexp", "softmax"]

FLOAT = np.dtype(np.float64)


def scipys(name: str) -> Array:
    """SciPy's function of that name, imported when it is needed."""
    return LazyUfunc("scipy.special", name).resolved


def logsumexp(
    a: ArrayLike,
    axis: AxisLike = None,
    b: ArrayLike = None,
    keepdims: bool = False,
    return_sign: bool = False,
) -> Arrays:
    """``log(sum(b * exp(a)))`` over `axis`, without overflow; with `return_sign` also the sign of the sum.

    Where everything summed is zero, as of elements that are all minus infinity, the result is minus infinity
    and the gradient zero.

    >>> print(fg.scipy.special.logsumexp(np.array([1000.0, 1000.0])))
    1000.6931471805599
    >>> print(fg.grad(fg.scipy.special.logsumexp)(np.array([-np.inf, -np.inf])))
    [0. 0.]
    """
    x = traced(a, b)
    if x is None:
        return scipys("logsumexp")(a, axis, b, keepdims, return_sign)
    if b is None and not return_sign and aval(x).dtype.kind != "c":
        return reduced(LOGADDEXP, x, axis, keepdims)
    x, weights = promoted(x, None if b is None else asoperand(b))
    shape = shape_of(x)
    axes = normalized_axes(axis, len(shape))
    if weights is not None:
        x = where(equal(weights, 0), -np.inf, x)
    shift = largest(x, axes)
    terms = exp(sub(x, broadcast(shift, shape, kept_axes(axes, len(shape)))))
    total = reduce_sum(terms if weights is None else mul(weights, terms), axes)
    found = add(log_or_infinity(absolute(total) if return_sign else total), shift)
    found = with_kept_axes(found, shape, axes) if keepdims else found
    if not return_sign:
        return found
    return found, with_kept_axes(sign(total), shape, axes) if keepdims else sign(total)


def promoted(x: ArrayLike, weights: ArrayLike) -> tuple[Any, Any]:
    """The operands in one floating-point dtype and one shape."""
    operands = [x] if weights is None else [x, weights]
    avals = [aval(y) for y in operands]
    dtype = loop_dtypes(np.multiply, x, x if weights is None else weights)[-1]
    dtype = dtype if dtype.kind in "fc" else FLOAT
    shape = broadcast_shapes("logsumexp", avals)
    full = [broadcast_to(cast(y, dtype), shape) for y in operands]
    return full[0], None if weights is None else full[1]


def largest(x: ArrayLike, axes: tuple[int, ...]) -> Array:
    """The largest element over `axes` as a constant, 0 where it is infinite or there is none."""
    size = stop_gradient(real(x) if aval(x).dtype.kind == "c" else x)
    if 0 in [shape_of(x)[a] for a in axes]:
        left = tuple([shape_of(x)[a] for a in kept_axes(axes, len(shape_of(x)))])
        return broadcast(aval(size).dtype.type(0), left, ())
    top = ReduceMax(axes).bind(size) if axes else size
    return where(isfinite(top), top, 0.0)


def kept_axes(axes: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    """The axes that are not reduced."""
    return tuple([a for a in range(ndim) if a not in axes])


def log_or_infinity(total: Array) -> Array:
    """The logarithm; of zero minus infinity, with derivatives of zero."""
    is_zero = equal(total, 0)
    return where(is_zero, -np.inf, log(where(is_zero, 1.0, total)))


def softmax(x: ArrayLike, axis: AxisLike = None) -> Array:
    """``exp(x) / sum(exp(x))`` over `axis`; infinite elements share the whole evenly.

    >>> print(fg.scipy.special.softmax(np.array([1000.0, 1000.0])))
    [0.5 0.5]
    """
    operand = traced(x)
    if operand is None:
        return scipys("softmax")(x, axis)
    return Softmax(normalized_axes(axis, len(shape_of(operand)))).bind(floating(operand))


def log_softmax(x: ArrayLike, axis: AxisLike = None) -> Array:
    """``x - logsumexp(x)`` over `axis`, without losing the digits of a large `x`.

    >>> print(fg.scipy.special.log_softmax(np.array([1000.0, 0.0])))
    [    0. -1000.]
    """
    operand = traced(x)
    if operand is None:
        return scipys("log_softmax")(x, axis)
    return LogSoftmax(normalized_axes(axis, len(shape_of(operand)))).bind(floating(operand))


def floating(x: ArrayLike) -> Array:
    """Integers and booleans as float64."""
    return x if aval(x).inexact else cast(x, FLOAT)
