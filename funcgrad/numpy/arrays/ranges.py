"""Ranges and grids: arange, linspace and its kin, meshgrid, index arrays, powers of a vector.

Inside a trace these return traced arrays, which can be assigned into; outside, NumPy's own. Ends may be
traced and are differentiable; counts, and the ends of `arange`, must have values.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.numpy.arrays.copies import check_device, copied, entered
from funcgrad.numpy.arrays.creation import filled
from funcgrad.numpy.arrays.joining import concatenate, stack
from funcgrad.numpy.arrays.shapes import as_array, expand_dims, reshaped, seen_through
from funcgrad.numpy.arrays.views import moveaxis
from funcgrad.numpy.dispatch import implements
from funcgrad.numpy.elementwise.ufuncs import loop_dtypes
from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.arrays.structure import Broadcast, aval, broadcast, cast, reshape, shape_of
from funcgrad.ops.elementwise.arithmetic import add, div, integer_pow, mul, sub
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import recorder_of
from funcgrad.types import Array, ArrayLike, Arrays, Device, DTypeLike, Number, ShapeLike

__all__ = ["arange", "fromfunction", "geomspace", "indices", "linspace", "logspace", "meshgrid", "vander"]

_np: Any = np
"""NumPy's own makers, whose overloads know no `Any`."""

# -- ranges -----------------------------------------------------------------------------------------------


@implements(np.arange)
def arange(
    start: ArrayLike = None,
    stop: ArrayLike = None,
    step: ArrayLike = None,
    dtype: DTypeLike = None,
    *,
    device: Device = None,
) -> Array:
    """Numbers from `start` up to, not including, `stop`. Traced bounds must have values.

    >>> print(fg.numpy.arange(2, 8, 3))
    [2 5]
    """
    check_device(device)
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    if recorder_of((start, stop, step)) is None:
        return entered(_np.arange(start, stop, step, dtype))
    count = max(0, math.ceil(div(sub(stop, start), step)))
    numbers = add(start, mul(step, np.arange(count)))
    return numbers if dtype is None else cast(numbers, dtype)


@implements(np.linspace)
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: Number = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    device: Device = None,
) -> Arrays:
    """Evenly spaced numbers from `start` to `stop`, which may be traced, or arrays.

    >>> print(fg.numpy.linspace(0.0, 1.0, 3))
    [0.  0.5 1. ]
    """
    check_device(device)
    count = operator.index(num)
    start, stop = asoperand(start), asoperand(stop)
    if recorder_of((start, stop)) is None:
        numbers, step = _np.linspace(start, stop, count, endpoint, True, dtype, axis)
        return (entered(numbers), step) if retstep else entered(numbers)
    if count < 0:
        raise ValueError(f"Number of samples, {count}, must be non-negative.")
    sections = count - 1 if endpoint else count
    wide = loop_dtypes(np.true_divide, start, stop)[-1]
    start, stop = cast(start, wide), cast(stop, wide)
    delta = sub(stop, start)
    step = div(delta, float(sections)) if sections > 0 else mul(delta, np.nan)
    rank = len(shape_of(delta))
    places = _np.arange(count, dtype=aval(delta).dtype).reshape((count,) + (1,) * rank)
    # As NumPy: the step is formed first, and the last number is exactly `stop`.
    numbers = add(start, mul(places, step)) if sections > 0 else add(start, mul(places, delta))
    if endpoint and count > 1:
        own = len(shape_of(stop))
        last = broadcast(stop, (1, *shape_of(delta)), tuple(range(1 + rank - own, rank + 1)))
        numbers = concatenate([numbers[:-1], cast(last, aval(numbers).dtype)])
    if axis:
        numbers = _first_axis_to(numbers, axis)
    if dtype is not None:
        numbers = cast(np.floor(numbers) if np.issubdtype(dtype, np.integer) else numbers, dtype)
    return (numbers, step) if retstep else numbers


def _first_axis_to(x: Array, axis: int) -> Array:
    return moveaxis(x, 0, axis)


@implements(np.logspace)
def logspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: Number = 50,
    endpoint: bool = True,
    base: Number = 10.0,
    dtype: DTypeLike = None,
    axis: int = 0,
) -> Array:
    """Numbers evenly spaced on a logarithmic scale: powers of `base`.

    >>> print(fg.numpy.logspace(0.0, 2.0, 3))
    [  1.  10. 100.]
    """
    if recorder_of((start, stop, base)) is None:
        return entered(_np.logspace(start, stop, num, endpoint, base, dtype, axis))
    if shape_of(as_array(base)):
        # As NumPy: an array of bases has a say in how many axes the result has, and so in what `axis` means.
        operands = [as_array(x) for x in (start, stop, base)]
        rank = max([len(shape_of(x)) for x in operands])
        start, stop, base = [reshape(x, (1,) * (rank - len(shape_of(x))) + shape_of(x)) for x in operands]
        base = expand_dims(base, axis)
    numbers = np.power(base, linspace(start, stop, num, endpoint, axis=axis))
    return numbers if dtype is None else cast(numbers, dtype)


@implements(np.geomspace)
def geomspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: Number = 50,
    endpoint: bool = True,
    dtype: DTypeLike = None,
    axis: int = 0,
) -> Array:
    """Numbers whose ratio is constant, from `start` to `stop`.

    >>> print(fg.numpy.geomspace(1.0, 4.0, 3))
    [1. 2. 4.]
    """
    if recorder_of((start, stop)) is None:
        return entered(_np.geomspace(start, stop, num, endpoint, dtype, axis))
    # Powers of the ratio serve both signs and complex numbers, as long as it is not negative.
    ratio = div(mul(stop, 1.0), start)
    exponents = _np.linspace(0.0, 1.0, operator.index(num), endpoint)
    rank = len(shape_of(ratio))
    numbers = mul(start, np.power(ratio, exponents.reshape(exponents.shape + (1,) * rank)))
    if axis:
        numbers = _first_axis_to(numbers, axis)
    return numbers if dtype is None else cast(numbers, dtype)


# -- grids ------------------------------------------------------------------------------------------------


@implements(np.meshgrid)
def meshgrid(
    *xi: ArrayLike, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Any, ...]:
    """Coordinate arrays of the grid spanned by vectors.

    >>> print(fg.numpy.meshgrid([1, 2], [3, 4])[1])
    [[3 3]
     [4 4]]
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    shaped = reshape if copy else reshaped  # the latter gives views
    vectors = [shaped(x, (aval(x).size,)) for x in map(as_array, xi)]
    places = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) > 1:
        places[:2] = 1, 0
    shape = [0] * len(vectors)
    for x, place in zip(vectors, places, strict=True):
        shape[place] = aval(x).size
    if sparse:
        ones = [1] * len(vectors)
        found = [
            shaped(x, (*ones[:place], aval(x).size, *ones[place + 1 :]))
            for x, place in zip(vectors, places, strict=True)
        ]
    elif copy:
        found = [broadcast(x, tuple(shape), (place,)) for x, place in zip(vectors, places, strict=True)]
    elif len(vectors) > 1:
        lenses = [Broadcast(tuple(shape), (place,)) for place in places]
        found = [seen_through(x, lens) for x, lens in zip(vectors, lenses, strict=True)]
    else:
        found = vectors
    return tuple([copied(x) if copy else x for x in found])


def indices(dimensions: ArrayLike, dtype: DTypeLike = int, sparse: bool = False) -> Arrays:
    """The indices of the elements of an array of the given shape, one array for each axis.

    >>> fg.numpy.indices((2, 3)).shape
    (2, 2, 3)
    """
    found = _np.indices(dimensions, dtype, sparse)
    return tuple([entered(x) for x in found]) if sparse else entered(found)


@implements(np.fromfunction)
def fromfunction(
    function: Callable[..., Any], shape: ShapeLike, *, dtype: DTypeLike = float, **kwargs: object
) -> Array:
    """An array from a function of the index arrays.

    >>> print(fg.numpy.fromfunction(lambda i, j: i + j, (2, 2)))
    [[0. 1.]
     [1. 2.]]
    """
    return function(*[entered(x) for x in np.indices(shape, dtype)], **kwargs)


@implements(np.vander)
def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> Array:
    """The powers of the elements of a vector as columns, the highest first.

    >>> print(fg.numpy.vander([2.0, 3.0]))
    [[2. 1.]
     [3. 1.]]
    """
    vector = as_array(x)
    if len(shape_of(vector)) != 1:
        raise refused("x must be a one-dimensional array or sequence.")
    count = shape_of(vector)[0] if N is None else operator.index(N)
    vector = cast(vector, np.promote_types(aval(vector).dtype, int))
    powers = [integer_pow(vector, k) for k in range(count)]
    if not powers:
        return filled((shape_of(vector)[0], 0), 0, aval(vector).dtype)
    return stack(powers if increasing else powers[::-1], axis=1)
