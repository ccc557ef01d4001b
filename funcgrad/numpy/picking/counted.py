"""Selections of as many elements as the caller says: what `size` and `fill_value` of `jax.numpy` ask for.

How many elements hold decides no shape then, so the values may be traced, also under `jit` and `vmap`. Too
many are cut off, too few are filled up. Written with NumPy's functions, for arrays and traced ones alike.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from funcgrad.numpy.reducing.axes import refused
from funcgrad.numpy.reducing.segments import segment_sum
from funcgrad.ops.arrays.structure import aval, shape_of
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike, Arrays


def places_of_true(flags: ArrayLike, size: int) -> tuple[Any, Any]:
    """The positions of the first `size` true elements of a vector, and which of them there are.

    Positions that there are not are the length of the vector.
    """
    count = operator.index(size)
    if not shape_of(flags)[0]:
        return np.zeros(count, np.intp), np.zeros(count, np.bool_)
    so_far = np.cumsum(flags)
    return np.searchsorted(so_far, np.arange(1, count + 1)), np.arange(count) < so_far[-1]


def positions(a: ArrayLike, size: int, fill_value: ArrayLike) -> tuple[Any, ...]:
    """What `nonzero` returns, of `size` elements; the others are `fill_value`, a number or one an axis."""
    x = asoperand(a)
    shape = shape_of(x)
    if not shape:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero().")
    fills = fill_value if isinstance(fill_value, tuple | list) else [fill_value] * len(shape)
    if len(fills) != len(shape):
        raise refused(f"fill_value has {len(fills)} numbers for {len(shape)} axes")
    places, there = places_of_true(np.ravel(x != 0), size)
    found = []
    for axis, (length, fill) in enumerate(zip(shape, fills, strict=True)):
        step = math.prod(shape[axis + 1 :])
        found.append(np.where(there, places // max(step, 1) % max(length, 1), 0 if fill is None else fill))
    return tuple(found)


def taken_where(condition: ArrayLike, x: ArrayLike, axis: int, size: int, fill_value: ArrayLike) -> Array:
    """The elements along an axis where a vector holds, `size` of them."""
    length = shape_of(x)[axis]
    flags = asoperand(condition)[:length] != 0
    places, there = places_of_true(flags, size)
    shape = [1] * len(shape_of(x))
    shape[axis] = size
    taken = np.take(x, np.minimum(places, shape_of(flags)[0] - 1), axis=axis)
    return np.where(np.reshape(there, shape), taken, np.asarray(fill_value, aval(x).dtype))


# -- sets ---------------------------------------------------------------------------------------------------


def first_of_equals(ordered: ArrayLike, equal_nan: bool) -> Array:
    """Which elements of a sorted vector differ from the one before."""
    before, after = ordered[:-1], ordered[1:]
    fresh = before != after
    if equal_nan and aval(ordered).inexact:
        fresh = fresh & ~(np.isnan(before) & np.isnan(after))
    return np.concatenate([np.ones(min(1, shape_of(ordered)[0]), np.bool_), fresh])


def kept(ordered: ArrayLike, keep: object, size: int, fill_value: ArrayLike) -> tuple[Any, Any, Any]:
    """The kept elements of a sorted vector, `size` of them, where they stand, and which of them there are.

    The others are `fill_value`, or the first element for None.
    """
    places, there = places_of_true(keep, size)
    if not shape_of(ordered)[0]:
        if size and fill_value is None:
            raise refused("an array without elements has none to fill with: pass fill_value=")
        return np.full(size, 0 if fill_value is None else fill_value, aval(ordered).dtype), places, there
    places = np.where(there, places, 0)
    values = np.take(ordered, places)
    if fill_value is not None:
        values = np.where(there, values, np.asarray(fill_value, aval(ordered).dtype))
    return values, places, there


def unique_values_of(
    ar: ArrayLike, size: int, fill_value: ArrayLike, index: bool, inverse: bool, counts: bool, equal_nan: bool
) -> Arrays:
    """What `unique` returns, of `size` values."""
    x = asoperand(ar)
    flat = np.ravel(x)
    order = np.argsort(flat, kind="stable")
    ordered = np.take(flat, order)
    fresh = first_of_equals(ordered, equal_nan)
    values, places, _ = kept(ordered, fresh, size, fill_value)
    found = [values]
    if index:
        found.append(np.take(order, places))
    if inverse:
        found.append(np.reshape(np.take(np.cumsum(fresh) - 1, np.argsort(order)), shape_of(x)))
    if counts:
        bounds, _ = places_of_true(fresh, size + 1)
        found.append(bounds[1:] - bounds[:-1])
    return found[0] if len(found) == 1 else tuple(found)


def among_two(name: str, ar1: ArrayLike, ar2: ArrayLike, size: int, fill_value: ArrayLike) -> Arrays:
    """What `intersect1d`, `setdiff1d` or `setxor1d` returns, of `size` values."""
    first, second = np.ravel(asoperand(ar1)), np.ravel(asoperand(ar2))
    both = np.concatenate([first, second]) if name == "setxor1d" else first
    ordered = np.sort(both)
    keep = first_of_equals(ordered, True)
    if name == "setxor1d":
        keep = keep & (np.isin(ordered, first) != np.isin(ordered, second))
    else:
        keep = keep & (np.isin(ordered, second) == (name == "intersect1d"))
    if fill_value is not None or name == "setdiff1d" or not shape_of(ordered)[0]:
        return kept(ordered, keep, size, 0 if fill_value is None else fill_value)[0]
    values, _, there = kept(ordered, keep, size, None)
    # As there: the smallest that is found fills up, and 0 where none is.
    return np.where(there, values, np.where(there[:1], values[:1], np.zeros((), aval(ordered).dtype)))


# -- counts -------------------------------------------------------------------------------------------------


def counted(x: ArrayLike, weights: ArrayLike, length: int) -> Array:
    """What `bincount` returns, of `length` numbers: negative ones count as 0, larger ones not at all."""
    numbers = np.maximum(asoperand(x), 0)
    terms = np.ones(shape_of(numbers), np.intp) if weights is None else asoperand(weights)
    if shape_of(terms) != shape_of(numbers):
        raise refused("The weights and list don't have the same length.")
    return segment_sum(terms, numbers, operator.index(length))


def repeated(x: ArrayLike, repeats: ArrayLike, axis: int, total: int) -> Array:
    """What `repeat` returns, of `total` elements: too many are cut off, the last one fills up."""
    length = shape_of(x)[axis]
    counts = np.broadcast_to(asoperand(repeats), (length,))
    owners = np.searchsorted(np.cumsum(counts), np.arange(operator.index(total)), side="right")
    return np.take(x, np.minimum(owners, length - 1), axis=axis)
