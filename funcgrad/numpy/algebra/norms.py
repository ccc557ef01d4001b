"""Norms of vectors and matrices.

Where a norm has no derivative, the subgradient of smallest length is taken: at the zero vector that is zero,
for every order, and so are all higher derivatives there. In ``ord=p`` an element that is zero contributes
zero to the gradient, and so does a singular value that is zero. Where several elements or singular values
are the largest, they share the derivative evenly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np

from funcgrad.later import Later
from funcgrad.numpy.dispatch import implements, unsupported
from funcgrad.numpy.elementwise.arithmetic import power
from funcgrad.numpy.reducing.axes import Axes, normalized_axis, refused, with_kept_axes
from funcgrad.numpy.reducing.reductions import max as max_of
from funcgrad.numpy.reducing.reductions import min as min_of
from funcgrad.ops import contraction
from funcgrad.ops.arrays.structure import aval, broadcast, cast, permute, reduce_sum
from funcgrad.ops.elementwise.arithmetic import add, mul
from funcgrad.ops.elementwise.comparison import equal, greater, not_equal
from funcgrad.ops.elementwise.complexes import imag, real, real_dtype
from funcgrad.ops.elementwise.magnitude import absolute
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.reducing.norms import root_of_squares
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, AxisLike, NormOrder

singular = Later("funcgrad.ops.linalg.singular")

Order: TypeAlias = float | Literal["fro", "nuc"] | None
"""Which norm, as NumPy names them."""


@implements(np.linalg.norm)
def norm(x: ArrayLike, ord: Order = None, axis: AxisLike = None, keepdims: bool = False) -> Array:
    """The norm of a vector or matrix, or of each along one or two axes.

    The gradient of a norm at zero is zero.

    >>> print(fg.grad(fg.numpy.linalg.norm)(np.array([3.0, 4.0])))
    [0.6 0.8]
    >>> print(fg.grad(fg.numpy.linalg.norm)(np.zeros(2)))
    [0. 0.]
    """
    x = asoperand(x)
    if not isinstance(x, Tracer):
        return np.linalg.norm(x, ord, axis, keepdims)
    check_order(ord)
    x = as_inexact(x)
    ndim = x.aval.ndim
    axes = tuple(range(ndim)) if axis is None else norm_axes(axis, ndim)
    if axis is None and ord is None:
        found = euclidean(x, axes)
    elif len(axes) == 1:
        found = norm_of_vectors(x, axes, ord)
    elif len(axes) == 2:
        found = norm_of_matrices(x, axes, ord)
    else:
        raise refused(f"norm of {x.aval} over {len(axes)} axes: needs one axis (vectors) or two (matrices)")
    return with_kept_axes(found, x.aval.shape, axes) if keepdims else found


@implements(np.linalg.vector_norm)
def vector_norm(
    x: ArrayLike, /, *, axis: AxisLike = None, keepdims: bool = False, ord: float | None = 2
) -> Array:
    """The norm of vectors, over all elements or along any number of axes.

    >>> print(fg.numpy.linalg.vector_norm(np.array([[3.0, 4.0], [6.0, 8.0]]), axis=1))
    [ 5. 10.]
    """
    x = asoperand(x)
    if not isinstance(x, Tracer):
        return np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
    check_order(ord)
    x = as_inexact(x)
    ndim = x.aval.ndim
    axes = tuple(range(ndim)) if axis is None else norm_axes(axis, ndim)
    found = norm_of_vectors(x, axes, ord)
    return with_kept_axes(found, x.aval.shape, axes) if keepdims else found


@implements(np.linalg.matrix_norm)
def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: Order = "fro") -> Array:
    """The norm of the matrices in the last two axes.

    >>> print(fg.numpy.linalg.matrix_norm(np.array([[1.0, -2.0], [3.0, 4.0]]), ord=1))
    6.0
    """
    return norm(x, ord, (-2, -1), keepdims)


# -- arguments -----------------------------------------------------------------------------------------------


def check_order(order: Order) -> None:
    """Raise for an order that is traced: derivatives by the order do not exist here."""
    if isinstance(order, Tracer):
        raise unsupported("np.linalg.norm with a traced ord")


def as_inexact(x: Tracer) -> Array:
    """Integers and booleans as float64, as NumPy's norms take them."""
    return cast(x, x.aval.dtype if x.aval.inexact else np.float64)


def norm_axes(axis: AxisLike, ndim: int) -> Axes:
    """The `axis` argument as distinct axes that are not negative, in the order given."""
    axes = tuple(axis) if isinstance(axis, tuple | list) else (axis,)
    axes = tuple([normalized_axis(a, ndim) for a in axes])
    if len(set(axes)) != len(axes):
        raise refused(f"norm: axes {axis} are not distinct")
    return axes


# -- norms ---------------------------------------------------------------------------------------------------


def norm_of_vectors(x: ArrayLike, axes: Axes, order: NormOrder) -> Array:
    """The norm over all of `axes` together."""
    if isinstance(order, str):
        raise refused(f"norm: ord={order!r} is not an order for vectors")
    if order is None or order == 2:
        return euclidean(x, axes)
    if order == 0:
        return reduce_sum(cast(not_equal(x, 0), real_dtype(aval(x).dtype)), axes)
    size = absolute(x)
    if order == 1:
        return reduce_sum(size, axes)
    if order in (math.inf, -math.inf):
        return extreme(size, axes, order > 0)
    return power_norm(size, axes, float(order))


def norm_of_matrices(x: ArrayLike, axes: Axes, order: Order) -> Array:
    """The norm of matrices whose rows and columns run along these axes."""
    if order is None or order in ("fro", "f"):
        return euclidean(x, axes)
    if order in (2, -2, "nuc"):
        return norm_of_singular_values(x, axes, order)
    if order not in (1, -1, math.inf, -math.inf):
        raise refused(f"norm: ord={order!r} is not an order for matrices")
    summed, compared = axes if abs(order) == 1 else (axes[1], axes[0])
    sums = reduce_sum(absolute(x), (summed,))
    return extreme(sums, (compared - (summed < compared),), order > 0)


def norm_of_singular_values(x: ArrayLike, axes: Axes, order: Order) -> Array:
    """The largest or smallest singular value, or the sum of all."""
    shape = aval(x).shape
    rest = [a for a in range(len(shape)) if a not in axes]
    s = singular.svdvals.bind(permute(x, (*rest, *axes)))
    last = (len(rest),)
    if order == -2:
        return min_of(s, last)
    if not aval(s).shape[-1]:
        return reduce_sum(s, last)
    largest = broadcast(max_of(s, last), aval(s).shape, tuple(range(len(rest))))
    rounding = float(np.finfo(aval(s).dtype).eps) * max(shape[a] for a in axes)
    # A singular value has a corner at zero, as a magnitude has.
    found = where(greater(s, mul(largest, rounding)), s, aval(s).dtype.type(0))
    return reduce_sum(found, last) if order == "nuc" else max_of(found, last)


def extreme(size: Array, axes: Axes, is_largest: bool) -> Array:
    """The largest or smallest over `axes`; the largest of nothing is zero."""
    shape = aval(size).shape
    if not is_largest:
        return min_of(size, axes)
    if 0 in [shape[a] for a in axes]:
        left = tuple([n for a, n in enumerate(shape) if a not in axes])
        return broadcast(aval(size).dtype.type(0), left, ())
    return max_of(size, axes)


def euclidean(x: ArrayLike, axes: Axes) -> Array:
    """The square root of the sum of squares."""
    return root_of_squares(sum_of_squares(x, axes))


def sum_of_squares(x: ArrayLike, axes: Axes) -> Array:
    """The sum of the squared magnitudes over `axes`."""
    if aval(x).dtype.kind == "c":
        return add(sum_of_squares(real(x), axes), sum_of_squares(imag(x), axes))
    rest = tuple([a for a in range(aval(x).ndim) if a not in axes])
    return contraction.dot(x, x, (axes, axes), (rest, rest))


def power_norm(size: Array, axes: Axes, p: float) -> Array:
    """``sum(size ** p) ** (1 / p)``, where elements that are zero are constant to every derivative."""

    def powered(x: Array) -> Array:
        return power(x, int(p) if p.is_integer() else p)

    def unpowered(x: Array) -> Array:
        return power(x, 1.0 / p)

    at_zero = 0.0 if p > 0 else math.inf
    return zero_aside(reduce_sum(zero_aside(size, powered, at_zero), axes), unpowered, at_zero)


def zero_aside(x: ArrayLike, function: Callable[..., Any], at_zero: float) -> Array:
    """``function(x)``, and `at_zero` where `x` is zero, constant there to every derivative."""
    is_zero = equal(x, 0.0)
    return where(is_zero, at_zero, function(where(is_zero, 1.0, x)))
