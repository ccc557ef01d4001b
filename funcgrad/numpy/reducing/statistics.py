"""Averages and spreads: mean, variance, standard deviation, weighted average, covariance, correlation.

Results have NumPy's dtypes: float64 of integers and booleans, otherwise that of the input. The standard
deviation of equal elements is zero and has no derivative there; its gradient is taken as zero.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad.errors import DtypeError
from funcgrad.ir.avals import Shape
from funcgrad.ir.steps import as_source
from funcgrad.numpy.dispatch import implements
from funcgrad.numpy.reducing.axes import (
    Axes,
    existing_axes,
    given,
    is_given,
    mask_for,
    normalized_axes,
    refused,
    stored,
    traced,
    with_kept_axes,
)
from funcgrad.numpy.reducing.reductions import SUM, reduced, reduced_with_options
from funcgrad.ops import contraction
from funcgrad.ops.arrays.indexing import Gather
from funcgrad.ops.arrays.movement import concatenate
from funcgrad.ops.arrays.structure import (
    aval,
    broadcast,
    broadcast_to,
    cast,
    permute,
    reduce_sum,
    reshape,
    shape_of,
)
from funcgrad.ops.elementwise.arithmetic import add, div, integer_pow, mul, sub
from funcgrad.ops.elementwise.complexes import conj, imag, make_complex, real
from funcgrad.ops.elementwise.elementary import sqrt
from funcgrad.ops.reducing.extremes import clip, maximum
from funcgrad.ops.reducing.norms import root_of_squares
from funcgrad.source import user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer, install
from funcgrad.types import Array, ArrayLike, Arrays, AxisLike, DTypeLike, Number

__all__ = ["average", "corrcoef", "cov", "mean", "std", "var"]

FLOAT, HALF, SINGLE = (np.dtype(t) for t in (np.float64, np.float16, np.float32))

# -- mean ---------------------------------------------------------------------------------------------------


@implements(np.mean)
def mean(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: Array = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
) -> Array:
    """The mean over `axis`, by default of all elements; NaN of none.

    >>> print(fg.grad(fg.numpy.mean)(np.array([1.0, 2.0, 3.0, 6.0])))
    [0.25 0.25 0.25 0.25]
    """
    if type(a) is Tracer and dtype is None and out is None and where is True:
        return plain_mean(a, axis, keepdims)
    x = traced(a, out, where)
    if x is None:
        return np.mean(a, axis, dtype, out, keepdims, where=where)
    return stored(mean_of(x, axis, dtype, keepdims, where), out, "np.mean")


def plain_mean(x: Tracer, axis: AxisLike, keepdims: bool) -> Array:
    """The mean without further options, on the shortest path where there is anything to take it of."""
    seen = x.aval
    if seen.inexact and seen.ndim and seen.dtype is not HALF:
        total = reduced(SUM, x, axis, keepdims)
        if total.aval.size:
            return div(total, seen.size / total.aval.size)
    return mean_of(x, axis, None, keepdims, True)


def mean_of(x: ArrayLike, axis: AxisLike, dtype: DTypeLike, keepdims: bool, where: ArrayLike) -> Array:
    """The mean of a traced array."""
    seen = aval(x)
    axes = existing_axes(axis, seen.ndim)
    count = count_of(seen.shape, axes, keepdims, where)
    wide = accumulator(seen.dtype) if dtype is None else np.dtype(dtype)
    total = reduced_with_options(SUM, x, axes, wide, keepdims, None, where)
    result = div(total, count if wide.kind in "fc" or type(count) is not float else np.float64(count))
    return cast(result, HALF if dtype is None and seen.dtype is HALF else wide)


def accumulator(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which NumPy takes the mean."""
    if dtype is HALF:
        return SINGLE
    return dtype if dtype.kind in "fc" else FLOAT


def count_of(shape: Shape, axes: Axes, keepdims: bool, where: ArrayLike) -> Array:
    """How many elements make one: a Python float, or with a mask an array of them."""
    if where is True:
        return float(math.prod([shape[a] for a in axes]))
    mask = broadcast_to(mask_for(where, shape), shape)
    return cast(reduced(SUM, mask, axes, keepdims), FLOAT)


# -- variance -----------------------------------------------------------------------------------------------


@implements(np.var)
def var(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: Array = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
    mean: ArrayLike = None,
    correction: float | None = None,
) -> Array:
    """The variance over `axis`: the mean square of the distance from the mean, divided by ``n - ddof``.

    >>> print(fg.grad(fg.numpy.var)(np.array([1.0, 3.0])))
    [-1.  1.]
    """
    x = traced(a, out, where, mean)
    if x is None:
        options = given(mean=mean, correction=correction)
        return np.var(a, axis, dtype, out, ddof, keepdims, where=where, **options)
    ddof = freedom(ddof, correction)
    return stored(variance_of(x, axis, dtype, ddof, keepdims, where, mean), out, "np.var")


@implements(np.std)
def std(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: Array = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
    mean: ArrayLike = None,
    correction: float | None = None,
) -> Array:
    """The standard deviation over `axis`; where all elements are equal, its gradient is zero.

    >>> print(fg.grad(fg.numpy.std)(np.array([1.0, 3.0])), fg.grad(fg.numpy.std)(np.ones(2)))
    [-0.5  0.5] [0. 0.]
    """
    x = traced(a, out, where, mean)
    if x is None:
        options = given(mean=mean, correction=correction)
        return np.std(a, axis, dtype, out, ddof, keepdims, where=where, **options)
    ddof = freedom(ddof, correction)
    squared = variance_of(x, axis, dtype, ddof, keepdims, where, mean)
    return stored(cast(root_of_squares(squared), aval(squared).dtype), out, "np.std")


def freedom(ddof: float, correction: Number) -> Array:
    """What is taken from the number of elements, under either of its names."""
    if not is_given(correction):
        return ddof
    if ddof != 0:
        raise refused("ddof and correction can't be provided simultaneously.")
    return correction


def variance_of(
    x: ArrayLike,
    axis: AxisLike,
    dtype: DTypeLike,
    ddof: float,
    keepdims: bool,
    where: ArrayLike,
    mean: ArrayLike,
) -> Array:
    """The variance of a traced array."""
    seen = aval(x)
    axes = existing_axes(axis, seen.ndim)
    if dtype is None and seen.dtype.kind in "biu":
        dtype = FLOAT
    count = count_of(seen.shape, axes, False, where)
    # The primitive of a single axis is remembered; that of all axes too.
    axis = None if len(axes) == seen.ndim else axes[0] if len(axes) == 1 else axes
    if is_given(mean):
        center = asoperand(mean)
    else:
        total = reduced_with_options(SUM, x, axis, dtype, False, None, where)
        kept = tuple([a for a in range(seen.ndim) if a not in axes])
        center = broadcast(cast(div(total, count), aval(total).dtype), seen.shape, kept)
    squares = squared_size(sub(x, center))
    spread = reduced_with_options(SUM, squares, axis, dtype, False, None, where)
    free = max(count - ddof, 0.0) if type(count) is float else maximum(sub(count, float(ddof)), 0.0)
    found = cast(div(spread, free), aval(spread).dtype)
    return with_kept_axes(found, seen.shape, axes) if keepdims else found


def squared_size(x: ArrayLike) -> Array:
    """The square of a real number, the squared absolute value of a complex one."""
    if aval(x).dtype.kind != "c":
        return integer_pow(x, 2)
    return add(integer_pow(real(x), 2), integer_pow(imag(x), 2))


# -- weighted average ---------------------------------------------------------------------------------------


@implements(np.average)
def average(
    a: ArrayLike,
    axis: AxisLike = None,
    weights: ArrayLike = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Arrays:
    """The average over `axis` with `weights`, and with `returned` also the sum of the weights.

    >>> print(fg.numpy.average(np.array([1.0, 4.0]), weights=np.array([2.0, 1.0])))
    2.0
    """
    x = traced(a, weights)
    if x is None:
        numpys: Any = np.average
        return numpys(a, axis, weights, returned, keepdims=keepdims)
    axes = normalized_axes(axis, len(shape_of(x)))
    if weights is None:
        found = mean_of(x, axes, None, keepdims, True)
        total: Any = aval(found).dtype.type(aval(x).size / aval(found).size)
    else:
        wide = as_weights(asoperand(weights), shape_of(x), axis)
        dtype = np.result_type(aval(x).dtype, aval(wide).dtype)
        dtype = np.result_type(dtype, FLOAT) if aval(x).dtype.kind in "biu" else dtype
        wide = cast(wide, dtype)
        total = reduced(SUM, broadcast_to(wide, shape_of(x)), axes, keepdims)
        refuse_zero(total)
        found = div(reduced(SUM, mul(cast(x, dtype), wide), axes, keepdims), total)
    return (found, broadcast_to(total, shape_of(found))) if returned else found


def as_weights(weights: ArrayLike, shape: Shape, axis: AxisLike) -> Array:
    """The weights in a shape that broadcasts to `shape`: they may run along `axis` alone."""
    own = shape_of(weights)
    if own == shape:
        return weights
    if axis is None:
        raise DtypeError(
            "Axis must be specified when shapes of a and weights differ.", source=as_source(user_location())
        )
    named = [a % len(shape) for a in (axis if isinstance(axis, tuple) else (axis,))]
    if own != tuple([shape[a] for a in named]):
        raise refused("Shape of weights must be consistent with shape of a along specified axis.")
    order = tuple(sorted(range(len(named)), key=named.__getitem__))
    return reshape(permute(weights, order), tuple([n if a in named else 1 for a, n in enumerate(shape)]))


def refuse_zero(total: ArrayLike) -> None:
    """Raise ZeroDivisionError, as NumPy does, for weights that sum to zero; traced ones are not looked at."""
    if type(total) is not Tracer and np.any(np.equal(total, 0.0)):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")


# -- covariance ---------------------------------------------------------------------------------------------


@implements(np.cov)
def cov(
    m: ArrayLike,
    y: ArrayLike = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: ArrayLike = None,
    aweights: ArrayLike = None,
    *,
    dtype: DTypeLike = None,
) -> Array:
    """The covariance matrix of variables in rows (or columns), whose observations are the other axis.

    >>> print(fg.numpy.cov(np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])))
    [[ 1. -1.]
     [-1.  1.]]
    """
    first = traced(m, y, fweights, aweights)
    if first is None:
        return np.cov(m, y, rowvar, bias, ddof, fweights, aweights, dtype=dtype)
    if ddof is not None and ddof != int(ddof):
        raise refused("ddof must be integer")
    variables = [first] if y is None else [first, asoperand(y)]
    dtype = np.result_type(*[aval(x).dtype for x in variables], FLOAT) if dtype is None else np.dtype(dtype)
    rows = [as_rows(cast(x, dtype), rowvar, is_first=k == 0) for k, x in enumerate(variables)]
    observed = concatenate(rows, 0)
    weights = observation_weights(fweights, aweights, shape_of(observed)[1])
    ddof = int(not bias) if ddof is None else int(ddof)
    center, fact = center_and_normalization(observed, weights, aweights, ddof)
    x = sub(observed, broadcast(center, shape_of(observed), (0,)))
    weighted = x if weights is None else mul(x, cast(weights, dtype))
    products = contraction.dot(x, conj(weighted) if dtype.kind == "c" else weighted, ((1,), (1,)), ((), ()))
    scaled = mul(products, cast(div(1.0, fact), dtype))
    return reshape(scaled, tuple([n for n in shape_of(scaled) if n != 1]))


def as_rows(x: ArrayLike, rowvar: bool, *, is_first: bool) -> Array:
    """Variables as the rows of a matrix."""
    shape = shape_of(x)
    if len(shape) > 2:
        raise refused(f"covariance of {aval(x)}: more than 2 dimensions")
    rows = x if len(shape) == 2 else reshape(x, (1, aval(x).size))
    turned = not rowvar and (len(shape) == 2 if is_first else shape_of(rows)[0] != 1)
    return permute(rows, (1, 0)) if turned else rows


def observation_weights(fweights: ArrayLike, aweights: ArrayLike, count: int) -> Array:
    """The product of the two kinds of weights, None where there are none."""
    product = None
    for name, given_weights in (("fweights", fweights), ("aweights", aweights)):
        if given_weights is None:
            continue
        weights = cast(asoperand(given_weights), FLOAT)
        check_weights(name, weights, count)
        product = weights if product is None else mul(product, weights)
    return product


def check_weights(name: str, weights: ArrayLike, count: int) -> None:
    """Raise unless there is a weight for each observation, and what is known of them makes sense."""
    if len(shape_of(weights)) > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if shape_of(weights) != (count,):
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    if type(weights) is Tracer:
        return
    if np.any(weights < 0):
        raise ValueError(f"{name} cannot be negative")
    if name == "fweights" and np.any(weights != np.rint(weights)):
        raise TypeError("fweights must be integer")


def center_and_normalization(
    x: ArrayLike, weights: ArrayLike, aweights: ArrayLike, ddof: int
) -> tuple[Any, Any]:
    """The mean of each row, and what the sum of products is divided by."""
    count = shape_of(x)[1]
    if weights is None:
        return mean_of(x, 1, None, False, True), max(float(count - ddof), 0.0)
    total = reduce_sum(weights, (0,))
    center = div(reduce_sum(mul(x, cast(weights, aval(x).dtype)), (1,)), total)
    if ddof == 0:
        return center, total
    if aweights is None:
        return center, maximum(sub(total, float(ddof)), 0.0)
    squares = reduce_sum(mul(weights, cast(asoperand(aweights), FLOAT)), (0,))
    return center, maximum(sub(total, mul(float(ddof), div(squares, total))), 0.0)


@implements(np.corrcoef)
def corrcoef(x: ArrayLike, y: ArrayLike = None, rowvar: bool = True, *, dtype: DTypeLike = None) -> Array:
    """The correlation matrix of variables in rows (or columns): the covariance of variables of unit spread.

    >>> print(fg.numpy.corrcoef(np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])))
    [[ 1. -1.]
     [-1.  1.]]
    """
    if traced(x, y) is None:
        return np.corrcoef(x, y, rowvar, dtype=dtype)
    products = cov(x, y, rowvar, dtype=dtype)
    if not shape_of(products):
        return div(products, products)
    count = shape_of(products)[0]
    index = np.arange(count)
    variance = Gather((0, 1)).bind(products, index, index)
    if aval(products).dtype.kind == "c":
        variance = real(variance)
    spread = cast(sqrt(variance), aval(products).dtype)
    found = products
    for axis in (0, 1):
        found = div(found, broadcast(spread, shape_of(products), (axis,)))
    if aval(found).dtype.kind == "c":
        return make_complex(clip(real(found), -1.0, 1.0), clip(imag(found), -1.0, 1.0))
    return clip(found, -1.0, 1.0)


install({"mean": mean, "var": var, "std": std})
