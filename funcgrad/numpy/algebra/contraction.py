"""``dot`` and its relatives: inner and outer products, ``tensordot``, Kronecker and cross products, traces.

Everything here is composed from one contraction primitive. As in NumPy, Python scalars count as arrays of
their default dtype in these functions: ``np.dot(2.0, x)`` of a float32 `x` is float64.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.numpy.algebra.operands import conjugated, sizes_differ, stored, traced
from funcgrad.numpy.algebra.products import MATMULS, recorded_as_before
from funcgrad.numpy.arrays.views import diagonal
from funcgrad.numpy.dispatch import implements, implements_method
from funcgrad.numpy.reducing.axes import normalized_axis, refused
from funcgrad.numpy.reducing.reductions import sum as sum_of
from funcgrad.ops import contraction
from funcgrad.ops.arrays.movement import stack, take_axis
from funcgrad.ops.arrays.structure import aval, permute, reshape
from funcgrad.ops.elementwise.arithmetic import mul, neg, sub
from funcgrad.source import user_stacklevel
from funcgrad.tracing.tracer import Tracer, install
from funcgrad.types import Array, ArrayLike, AxisLike, DTypeLike

__all__ = ["cross", "dot", "inner", "kron", "outer", "tensordot", "trace", "vdot"]


@implements(np.dot)
def dot(a: ArrayLike, b: ArrayLike, out: Array = None) -> Array:
    """The sum over the last axis of `a` and the second to last of `b`; a product where one is a scalar.

    >>> print(fg.grad(lambda x: fg.numpy.dot(x, x))(np.array([1.0, 2.0])))
    [2. 4.]
    """
    known = recorded_as_before(a, b) if getattr(b, "ndim", 3) <= 2 else None
    if known is not None:
        return stored(known, out, "np.dot")
    operands = traced(a, b)
    if operands is None:
        return stored(np.dot(a, b), out, "np.dot")
    x, y = operands
    x_aval, y_aval = aval(x), aval(y)
    if not x_aval.shape or not y_aval.shape:
        return stored(mul(x, y), out, "np.dot")
    y_axis = max(y_aval.ndim - 2, 0)
    if x_aval.shape[-1] != y_aval.shape[y_axis]:
        raise sizes_differ("dot", x_aval, y_aval, x_aval.shape[-1], y_aval.shape[y_axis])
    result = contraction.dot(x, y, ((x_aval.ndim - 1,), (y_axis,)))
    return stored(result, out, "np.dot")


@implements(np.inner)
def inner(a: ArrayLike, b: ArrayLike, /) -> Array:
    """The sum over the last axes of both; a product where one is a scalar.

    >>> print(fg.numpy.inner(np.array([1.0, 2.0]), np.array([[3.0, 4.0], [5.0, 6.0]])))
    [11. 17.]
    """
    operands = traced(a, b)
    if operands is None:
        return np.inner(a, b)
    x, y = operands
    x_aval, y_aval = aval(x), aval(y)
    if not x_aval.shape or not y_aval.shape:
        return mul(x, y)
    if x_aval.shape[-1] != y_aval.shape[-1]:
        raise sizes_differ("inner", x_aval, y_aval, x_aval.shape[-1], y_aval.shape[-1])
    return contraction.dot(x, y, ((x_aval.ndim - 1,), (y_aval.ndim - 1,)))


@implements(np.vdot)
def vdot(a: ArrayLike, b: ArrayLike, /) -> Array:
    """The dot product of all elements of both, with the first operand conjugated.

    >>> print(fg.numpy.vdot(np.array([1.0, 2.0j]), np.array([3.0, 4.0j])))
    (11+0j)
    """
    operands = traced(a, b)
    if operands is None:
        return np.vdot(a, b)
    x, y = operands
    x_aval, y_aval = aval(x), aval(y)
    if x_aval.size != y_aval.size:
        raise sizes_differ("vdot", x_aval, y_aval, x_aval.size, y_aval.size)
    return MATMULS[1, 1].bind(raveled(conjugated(x)), raveled(y))


@implements(np.outer)
def outer(a: ArrayLike, b: ArrayLike, out: Array = None) -> Array:
    """All products of an element of `a` and an element of `b`, as a matrix.

    >>> print(fg.numpy.outer([1.0, 2.0], [3.0, 4.0]))
    [[3. 4.]
     [6. 8.]]
    """
    operands = traced(a, b)
    if operands is None:
        return stored(np.outer(a, b), out, "np.outer")
    x, y = operands
    return stored(contraction.dot(raveled(x), raveled(y), ((), ())), out, "np.outer")


@implements_method(np.multiply, "outer")
def multiply_outer(a: ArrayLike, b: ArrayLike, /) -> Array:
    """All products of an element of `a` and an element of `b`, with the axes of both.

    >>> print(fg.make_program(np.multiply.outer)(np.ones((2, 3)), np.ones(4)).out_avals)
    (f64[2,3,4],)
    """
    operands = traced(a, b)
    if operands is None:
        return np.multiply.outer(a, b)
    return contraction.dot(operands[0], operands[1], ((), ()))


def raveled(x: ArrayLike) -> Array:
    """`x` as a vector."""
    return reshape(x, (aval(x).size,))


@implements(np.tensordot)
def tensordot(a: ArrayLike, b: ArrayLike, axes: AxisLike = 2) -> Array:
    """The sum over pairs of axes: the last `axes` of `a` and the first of `b`, or two lists of axes.

    >>> print(fg.numpy.tensordot(np.ones((2, 3, 4)), np.ones((3, 4, 5)), axes=2).shape)
    (2, 5)
    """
    operands = traced(a, b)
    if operands is None:
        return np.tensordot(a, b, axes)
    x, y = operands
    x_aval, y_aval = aval(x), aval(y)
    x_axes, y_axes = tensordot_axes(axes)
    if len(x_axes) != len(y_axes):
        raise refused(f"tensordot: axes {list(x_axes)} and {list(y_axes)} are not pairs")
    x_axes = tuple([normalized_axis(k, x_aval.ndim) for k in x_axes])
    y_axes = tuple([normalized_axis(k, y_aval.ndim) for k in y_axes])
    if len(set(x_axes)) != len(x_axes) or len(set(y_axes)) != len(y_axes):
        raise refused(f"tensordot: axes {list(x_axes)} and {list(y_axes)} are not distinct")
    for j, k in zip(x_axes, y_axes, strict=True):
        if x_aval.shape[j] != y_aval.shape[k]:
            raise sizes_differ("tensordot", x_aval, y_aval, x_aval.shape[j], y_aval.shape[k])
    return contraction.dot(x, y, (x_axes, y_axes))


def tensordot_axes(axes: AxisLike) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The `axes` argument of tensordot as two tuples."""
    if not isinstance(axes, list | tuple) and np.ndim(axes) == 0:
        return tuple(range(-int(axes), 0)), tuple(range(int(axes)))
    first, second = axes
    return (
        tuple(int(k) for k in first) if np.ndim(first) else (int(first),),
        tuple(int(k) for k in second) if np.ndim(second) else (int(second),),
    )


@implements(np.kron)
def kron(a: ArrayLike, b: ArrayLike) -> Array:
    """The Kronecker product: `b` once for each element of `a`, times that element.

    >>> print(fg.numpy.kron([1.0, 10.0], [1.0, 2.0]))
    [ 1.  2. 10. 20.]
    """
    operands = traced(a, b)
    if operands is None:
        return np.kron(a, b)
    x, y = operands
    x_shape, y_shape = aval(x).shape, aval(y).shape
    if not x_shape or not y_shape:
        return mul(x, y)
    ndim = max(len(x_shape), len(y_shape))
    x_shape = (1,) * (ndim - len(x_shape)) + x_shape
    y_shape = (1,) * (ndim - len(y_shape)) + y_shape
    products = contraction.dot(reshape(x, x_shape), reshape(y, y_shape), ((), ()))
    interleaved = permute(products, tuple([k + half for k in range(ndim) for half in (0, ndim)]))
    return reshape(interleaved, tuple([m * n for m, n in zip(x_shape, y_shape, strict=True)]))


@implements(np.cross)
def cross(
    a: ArrayLike, b: ArrayLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Array:
    """The cross product of vectors of three elements (or, deprecated in NumPy, two).

    >>> print(fg.numpy.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]))
    [0. 0. 1.]
    """
    operands = traced(a, b)
    if operands is None:
        return np.cross(a, b, axisa, axisb, axisc, axis)
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = operands
    x_axis = normalized_axis(axisa, aval(x).ndim)
    y_axis = normalized_axis(axisb, aval(y).ndim)
    n, m = aval(x).shape[x_axis], aval(y).shape[y_axis]
    if {n, m} - {2, 3}:
        raise refused(f"cross of {aval(x)} and {aval(y)}: vectors of {n} and {m} elements, and not 2 or 3")
    if 2 in (n, m):
        if np.lib.NumpyVersion(np.__version__) >= "2.5.0":
            raise refused(
                "Both input arrays must be (arrays of) 3-dimensional vectors, "
                f"but they are {n} and {m} dimensional instead.",
                "Append a zero to each, or write a[0] * b[1] - a[1] * b[0].",
            )
        warnings.warn(
            "np.cross of vectors of two elements is deprecated in NumPy 2.0: append a zero to each",
            DeprecationWarning,
            stacklevel=user_stacklevel(),
        )
    xs = [take_axis(x, x_axis, i) for i in range(n)]
    ys = [take_axis(y, y_axis, i) for i in range(m)]
    if n == m == 2:
        return cross_component(xs, ys, 0, 1)
    parts = [cross_component(xs, ys, i, j) for i, j in ((1, 2), (2, 0), (0, 1))]
    ndim = aval(parts[0]).ndim + 1
    if not -ndim <= axisc < ndim:
        raise refused(f"cross: axisc={axisc} is not an axis of the result, which has {ndim}")
    return stack(parts, axisc % ndim)


def cross_component(x: Sequence[Any], y: Sequence[Any], i: int, j: int) -> Array:
    """``x[i] * y[j] - x[j] * y[i]``, where a missing third element is zero."""
    first = mul(x[i], y[j]) if i < len(x) and j < len(y) else None
    second = mul(x[j], y[i]) if j < len(x) and i < len(y) else None
    if first is None:
        return neg(second)
    return first if second is None else sub(first, second)


# -- traces --------------------------------------------------------------------------------------------------


@implements(np.trace)
def trace(
    a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike = None, out: Array = None
) -> Array:
    """The sum along a diagonal of two axes.

    >>> print(fg.grad(fg.numpy.trace)(np.ones((2, 2))))
    [[1. 0.]
     [0. 1.]]
    """
    operands = traced(a)
    if operands is None:
        return stored(np.trace(a, offset, axis1, axis2, dtype), out, "np.trace")
    (x,) = operands
    if aval(x).ndim < 2:
        raise refused(f"trace of {aval(x)}: needs at least two axes")
    return stored(sum_of(diagonal(x, offset, axis1, axis2), axis=-1, dtype=dtype), out, "np.trace")


# -- the tracer ----------------------------------------------------------------------------------------------


def _dot(self: Tracer, b: Array, out: Array = None) -> Array:
    """``np.dot(self, b)``."""
    return dot(self, b, out)


def _trace(
    self: Tracer, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike = None, out: Array = None
) -> Array:
    """``np.trace(self)``."""
    return trace(self, offset, axis1, axis2, dtype, out)


install({"dot": _dot, "trace": _trace})
