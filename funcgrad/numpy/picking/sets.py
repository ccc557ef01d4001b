"""Arrays as sets: membership, unions, intersections, differences, and unique values as the standard has them.

How many values there are decides the shape of a result, so the values must be known, except for `isin`, and
where `size` says how many: others are cut off, or filled up with `fill_value`.
The derivative of each value is that of its first occurrence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from funcgrad.numpy.algebra.operands import promoted, traced
from funcgrad.numpy.dispatch import implements, unsupported
from funcgrad.numpy.picking.counted import among_two
from funcgrad.numpy.picking.positions import extract
from funcgrad.numpy.picking.sorting import needed_value, taken, unique
from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.arrays.indexing import Gather
from funcgrad.ops.arrays.movement import concatenate
from funcgrad.ops.arrays.sorting import SearchSorted, Sort
from funcgrad.ops.arrays.structure import aval, broadcast, reshape, shape_of
from funcgrad.ops.elementwise.comparison import equal
from funcgrad.ops.elementwise.logic import logical_not
from funcgrad.ops.reducing.extremes import clip
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike, Arrays, Option

_np: Any = np
"""NumPy's own functions, whose overloads know no `Any`."""

# -- membership ---------------------------------------------------------------------------------------------


@implements(np.isin)
def isin(
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: Option = None,
) -> Array:
    """Whether each element is among others.

    >>> print(fg.numpy.isin(np.array([1.0, 2.0, 5.0]), [5.0, 1.0]))
    [ True False  True]
    """
    operands = traced(element, test_elements)
    if operands is None:
        return np.isin(element, test_elements, assume_unique, invert, kind=kind)
    x, others = operands
    count = aval(others).size
    if not count:
        return broadcast(np.bool_(invert), shape_of(x), ())
    ordered = Sort(0).bind(flattened(others))
    place = clip(SearchSorted("left").bind(ordered, x), 0, count - 1)
    found = equal(Gather((0,)).bind(ordered, place), x)
    return logical_not(found) if invert else found


def flattened(x: ArrayLike) -> Array:
    """The elements as a vector."""
    return reshape(x, (aval(x).size,))


# -- two sets -----------------------------------------------------------------------------------------------


@implements(np.union1d)
def union1d(
    ar1: ArrayLike, ar2: ArrayLike, *, size: int | None = None, fill_value: ArrayLike = None
) -> Array:
    """The sorted values that are in either array.

    >>> print(fg.numpy.union1d(np.array([3.0, 1.0]), np.array([1.0, 2.0])))
    [1. 2. 3.]
    """
    if size is not None:
        both = np.concatenate([np.ravel(asoperand(ar1)), np.ravel(asoperand(ar2))])
        return unique(both, size=size, fill_value=fill_value)
    operands = traced(ar1, ar2)
    return np.union1d(ar1, ar2) if operands is None else chosen(np.union1d, operands)


@implements(np.intersect1d)
def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    size: int | None = None,
    fill_value: ArrayLike = None,
) -> Arrays:
    """The sorted values that are in both arrays; with ``return_indices`` where they stand first in each.

    >>> print(fg.numpy.intersect1d(np.array([3.0, 1.0]), np.array([1.0, 2.0])))
    [1.]
    """
    if size is not None:
        if return_indices:
            raise unsupported("np.intersect1d with size= and return_indices=True")
        return among_two("intersect1d", ar1, ar2, size, fill_value)
    operands = traced(ar1, ar2)
    if operands is None:
        return _np.intersect1d(ar1, ar2, assume_unique, return_indices)
    known = [needed_value(x, "np.intersect1d") for x in operands]
    _, first, second = _np.intersect1d(*known, assume_unique=assume_unique, return_indices=True)
    values = taken(flattened(operands[0]), first, 0)
    return (values, first, second) if return_indices else values


@implements(np.setdiff1d)
def setdiff1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: ArrayLike = None,
) -> Array:
    """The sorted values of the first array that are not in the second.

    >>> print(fg.numpy.setdiff1d(np.array([3.0, 1.0]), np.array([1.0, 2.0])))
    [3.]
    """
    if size is not None:
        if assume_unique:
            absent = np.isin(np.ravel(ar1), ar2, invert=True)
            return extract(absent, ar1, size=size, fill_value=fill_value or 0)
        return among_two("setdiff1d", ar1, ar2, size, fill_value)
    operands = traced(ar1, ar2)
    if operands is None:
        return np.setdiff1d(ar1, ar2, assume_unique)
    known = [needed_value(x, "np.setdiff1d") for x in operands]
    first = np.arange(known[0].size) if assume_unique else np.unique(known[0], return_index=True)[1]
    absent = np.isin(known[0].reshape(-1)[first], known[1], invert=True)
    return taken(flattened(operands[0]), first[absent], 0)


@implements(np.setxor1d)
def setxor1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: ArrayLike = None,
) -> Array:
    """The sorted values that are in one of the arrays only.

    >>> print(fg.numpy.setxor1d(np.array([3.0, 1.0]), np.array([1.0, 2.0])))
    [2. 3.]
    """
    if size is not None:
        return among_two("setxor1d", ar1, ar2, size, fill_value)
    operands = traced(ar1, ar2)
    return np.setxor1d(ar1, ar2, assume_unique) if operands is None else chosen(np.setxor1d, operands)


def chosen(function: Callable[..., Any], operands: list[Any]) -> Array:
    """The values that `function` finds among two arrays, from where they stand first."""
    name = f"np.{function.__name__}"
    known = [np.ravel(needed_value(x, name)) for x in operands]
    values, first = np.unique(np.concatenate(known), return_index=True)
    wanted = function(*known)
    keep = np.isin(values, wanted) | (np.isnan(values) & np.any(np.isnan(wanted)))
    if np.count_nonzero(keep) != len(wanted):
        raise refused(f"{name} of arrays that both hold NaN, which equals nothing")
    return taken(concatenate([flattened(x) for x in promoted(operands)], 0), first[keep], 0)


# -- unique values, as the standard has them ----------------------------------------------------------------


class UniqueAll(NamedTuple):
    """What `unique_all` finds."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """What `unique_counts` finds."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """What `unique_inverse` finds."""

    values: Any
    inverse_indices: Any


@implements(np.unique_all)
def unique_all(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike = None) -> UniqueAll:
    """The sorted values, where each stands first, where each element is among them, how often they occur.

    >>> print(fg.numpy.unique_all(np.array([2.0, 1.0, 2.0])).counts)
    [1 2]
    """
    return UniqueAll(*unique(x, True, True, True, equal_nan=False, size=size, fill_value=fill_value))


@implements(np.unique_counts)
def unique_counts(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike = None) -> UniqueCounts:
    """The sorted values, and how often each occurs.

    >>> print(fg.numpy.unique_counts(np.array([2.0, 1.0, 2.0])).values)
    [1. 2.]
    """
    return UniqueCounts(*unique(x, return_counts=True, equal_nan=False, size=size, fill_value=fill_value))


@implements(np.unique_inverse)
def unique_inverse(
    x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike = None
) -> UniqueInverse:
    """The sorted values, and where each element is among them.

    >>> print(fg.numpy.unique_inverse(np.array([2.0, 1.0, 2.0])).inverse_indices)
    [1 0 1]
    """
    return UniqueInverse(*unique(x, return_inverse=True, equal_nan=False, size=size, fill_value=fill_value))


@implements(np.unique_values)
def unique_values(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike = None) -> Array:
    """The sorted values without repetitions; every NaN is one of its own.

    >>> print(fg.numpy.unique_values(np.array([2.0, 1.0, 2.0])))
    [1. 2.]
    """
    return unique(x, equal_nan=False, size=size, fill_value=fill_value)
