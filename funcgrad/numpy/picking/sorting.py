"""Order: sorting, partial sorting, searching in what is sorted, unique values, and elements along an axis.

All sorting is stable, whatever ``kind`` says: equal elements keep their order, and with it their
derivatives. NaN comes last, complex numbers are ordered by real part and then by imaginary part.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from funcgrad.errors import ConcretizationError, DtypeError, IndexingError
from funcgrad.ir.avals import Shape
from funcgrad.ir.steps import as_source
from funcgrad.later import Later
from funcgrad.numpy.dispatch import implements, unsupported
from funcgrad.numpy.reducing.axes import normalized_axis, refused, traced
from funcgrad.ops.arrays import sorting as ops
from funcgrad.ops.arrays.structure import aval, broadcast, broadcast_to, cast, reshape, shape_of
from funcgrad.ops.elementwise.arithmetic import sub
from funcgrad.source import user_location
from funcgrad.tracing.aliasing import assign
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer, install
from funcgrad.types import AnyPrimitive, Array, ArrayLike, Arrays, AxisLike, Index, Option

# Asked with `size` or `total_repeat_length`, mostly under `jit`.
counted = Later("funcgrad.numpy.picking.counted")

__all__ = [
    "argpartition",
    "argsort",
    "bincount",
    "digitize",
    "lexsort",
    "partition",
    "searchsorted",
    "sort",
    "sort_complex",
    "take_along_axis",
    "unique",
]

# -- sorting ------------------------------------------------------------------------------------------------


def ordered(primitive: AnyPrimitive, x: ArrayLike, axis: AxisLike) -> Array:
    """A sorting primitive along one axis, or along the flattened array."""
    if axis is None:
        return primitive(0).bind(reshape(x, (aval(x).size,)))
    return primitive(normalized_axis(axis, len(shape_of(x)))).bind(x)


def refuse_order(order: object, name: str) -> None:
    """Raise for `order`, which names the fields of structured arrays: tracers have none."""
    if order is not None:
        raise unsupported(f"{name} with order=")


@implements(np.sort)
def sort(
    a: ArrayLike,
    axis: AxisLike = -1,
    kind: Option = None,
    order: Option = None,
    *,
    stable: Option = None,
    descending: bool = False,
) -> Array:
    """The elements along `axis` in ascending (or descending) order; their derivatives go where they go.

    >>> x = np.array([3.0, 1.0, 2.0])
    >>> print(fg.grad(lambda x: fg.numpy.sort(x)[0] + 10 * fg.numpy.sort(x)[2])(x))
    [10.  1.  0.]
    """
    x = traced(a)
    if x is None:
        found = np.sort(a, axis, kind, order, stable=stable)
    else:
        refuse_order(order, "np.sort")
        found = ordered(ops.Sort, x, axis)
    return reversed_along(found, axis) if descending else found


def reversed_along(x: ArrayLike, axis: AxisLike) -> Array:
    """The elements in the other direction along an axis; with None `x` is a vector."""
    return np.flip(x, -1 if axis is None else axis)


@implements(np.argsort)
def argsort(
    a: ArrayLike,
    axis: AxisLike = -1,
    kind: Option = None,
    order: Option = None,
    *,
    stable: Option = None,
    descending: bool = False,
) -> Array:
    """The positions that sort the elements along `axis`, in ascending or descending order.

    Of equal elements the first comes first, unless another `kind` or ``stable=False`` is asked for.

    >>> print(fg.numpy.argsort(np.array([3.0, 1.0, 2.0])))
    [1 2 0]
    """
    x = traced(a)
    if descending:
        # Of equal elements the first comes first, so they are looked at from the other end.
        whole: Any = np.asarray(a) if x is None else x
        whole = whole.reshape(-1) if axis is None else whole
        turned = argsort(reversed_along(whole, axis), -1 if axis is None else axis, kind, order, stable=True)
        last = np.shape(whole)[-1 if axis is None else axis] - 1
        return sub(last, reversed_along(turned, axis))
    if x is None:
        # As traced, and as the Array API standard asks, unless the caller has a preference.
        return np.argsort(a, axis, kind, order, stable=True if kind is None and stable is None else stable)
    refuse_order(order, "np.argsort")
    return ordered(ops.ArgSort, x if shape_of(x) else reshape(x, (1,)), axis)


@implements(np.partition)
def partition(
    a: ArrayLike, kth: ArrayLike, axis: AxisLike = -1, kind: Option = "introselect", order: Option = None
) -> Array:
    """The elements along `axis` with the `kth` in its place and no larger ones before it: traced ones sorted.

    >>> print(fg.numpy.partition(np.array([3.0, 1.0, 2.0]), 1)[1])
    2.0
    """
    x = traced(a)
    if x is None:
        return np.partition(a, kth, axis, kind, order)
    refuse_order(order, "np.partition")
    check_kth(kth, x, axis)
    return ordered(ops.Sort, x, axis)


@implements(np.argpartition)
def argpartition(
    a: ArrayLike, kth: ArrayLike, axis: AxisLike = -1, kind: Option = "introselect", order: Option = None
) -> Array:
    """The positions that partition the elements along `axis`: those that sort, of traced ones.

    >>> print(fg.numpy.argpartition(np.array([3.0, 1.0, 2.0]), 1)[1])
    2
    """
    x = traced(a)
    if x is None:
        return np.argpartition(a, kth, axis, kind, order)
    refuse_order(order, "np.argpartition")
    check_kth(kth, x, axis)
    return ordered(ops.ArgSort, x, axis)


def check_kth(kth: ArrayLike, x: ArrayLike, axis: AxisLike) -> None:
    """Raise unless every `kth` is a position along the axis."""
    shape = shape_of(x)
    size = aval(x).size if axis is None else shape[normalized_axis(axis, len(shape))]
    for k in np.atleast_1d(kth).tolist():
        if not -size <= operator.index(k) < size:
            raise refused(f"kth(={k}) out of bounds ({size})")


@implements(np.sort_complex)
def sort_complex(a: ArrayLike) -> Array:
    """The elements along the last axis as complex numbers, by real part and then by imaginary part.

    >>> print(fg.numpy.sort_complex(np.array([2.0, 1.0])))
    [1.+0.j 2.+0.j]
    """
    x = traced(a)
    if x is None:
        return np.sort_complex(a)
    kind, size = aval(x).dtype.kind, aval(x).dtype.itemsize
    is_narrow = kind in "iu" and size <= 2
    dtype = aval(x).dtype if kind == "c" else np.dtype(np.complex64 if is_narrow else np.complex128)
    return ordered(ops.Sort, cast(x, dtype), -1)


@implements(np.lexsort)
def lexsort(keys: ArrayLike, axis: int = -1) -> Array:
    """The positions that sort by several keys, of which the last counts most.

    >>> print(fg.numpy.lexsort((np.array([1.0, 0.0, 2.0]), np.array([5.0, 5.0, 4.0]))))
    [2 1 0]
    """
    columns = [asoperand(key) for key in keys]
    if not any(type(key) is Tracer for key in columns):
        return np.lexsort(keys, axis)
    axis = normalized_axis(axis, len(shape_of(columns[0])))
    found = ops.ArgSort(axis).bind(columns[0])
    take = ops.TakeAlongAxis(axis, True)
    for key in columns[1:]:
        found = take.bind(found, ops.ArgSort(axis).bind(take.bind(key, found)))
    return found


# -- searching ----------------------------------------------------------------------------------------------


@implements(np.searchsorted)
def searchsorted(a: ArrayLike, v: ArrayLike, side: Option = "left", sorter: ArrayLike = None) -> Array:
    """Where the values `v` belong in the sorted vector `a`: before equal elements, or after with ``right``.

    >>> print(fg.numpy.searchsorted(np.array([1.0, 2.0, 4.0]), np.array([2.0, 3.0])))
    [1 2]
    """
    table = traced(a, v, sorter)
    if table is None:
        return np.searchsorted(a, v, side, sorter)
    if len(shape_of(table)) != 1:
        raise refused(f"searchsorted needs a vector to search in, got {aval(table)}")
    if side not in ("left", "right"):
        raise refused(f"search side must be 'left' or 'right' (got {side!r})")
    if sorter is not None:
        table = take_along_axis(table, sorter, 0)
    values = asoperand(v)
    dtype = np.result_type(aval(table).dtype, aval(values).dtype)
    return ops.SearchSorted(side).bind(cast(table, dtype), cast(values, dtype))


@implements(np.digitize)
def digitize(x: ArrayLike, bins: ArrayLike, right: bool = False) -> Array:
    """The number of the bin that each value of `x` falls in; bin k starts at ``bins[k - 1]``.

    >>> print(fg.numpy.digitize(np.array([0.5, 1.0, 9.0]), np.array([0.0, 1.0, 2.0])))
    [1 2 3]
    """
    values = traced(x, bins)
    if values is None:
        return np.digitize(x, bins, right)
    if aval(values).dtype.kind == "c":
        raise DtypeError("x may not be complex", source=as_source(user_location()))
    side = "left" if right else "right"
    known = known_value(asoperand(bins))
    if known is None:
        # Their order cannot be looked at, so it is taken to be the usual one.
        return searchsorted(bins, values, side)
    steps = np.diff(known)
    if np.all(steps >= 0):
        return searchsorted(bins, values, side)
    if not np.all(steps <= 0):
        raise refused("bins must be monotonically increasing or decreasing")
    return sub(len(known), searchsorted(asoperand(bins)[::-1], values, side))


def known_value(x: ArrayLike) -> Array:
    """The value of a tracer, None where there is none."""
    if type(x) is not Tracer:
        return np.asarray(x)
    try:
        return np.asarray(x.concrete())
    except ConcretizationError:
        return None


def needed_value(x: ArrayLike, what: str) -> Array:
    """The value of a tracer that decides the shape of a result; raises ConcretizationError without one."""
    if type(x) is not Tracer:
        return np.asarray(x)
    try:
        return np.asarray(x.concrete())
    except ConcretizationError as error:
        raise ConcretizationError(
            f"{what} needs the value of a traced {x.aval}, because it decides the shape of the result, "
            f"and {error.seen}",
            source=as_source(user_location()),
            remedy="Compute it outside of the traced function and pass it in.",
        ).on_one_path() from None


# -- unique values and counts -------------------------------------------------------------------------------


@implements(np.unique)
def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
    size: int | None = None,
    fill_value: ArrayLike = None,
) -> Arrays:
    """The sorted values without repetitions; the derivative of each is that of its first occurrence.

    How many there are decides the shape, so the values must be known, unless `size` says how many: others
    are cut off, or filled up with `fill_value`, the smallest value for None.

    >>> print(fg.numpy.unique(np.array([2.0, 1.0, 2.0])))
    [1. 2.]
    """
    if size is not None:
        if axis is not None:
            raise unsupported("np.unique with size= and axis=")
        return counted.unique_values_of(
            ar, size, fill_value, return_index, return_inverse, return_counts, equal_nan
        )
    x = traced(ar)
    numpys: Any = np.unique  # which has an overload for every combination of literal options
    found = numpys(
        ar if x is None else needed_value(x, "np.unique"),
        return_index=return_index or x is not None,
        return_inverse=return_inverse,
        return_counts=return_counts,
        axis=axis,
        equal_nan=equal_nan,
    )
    if x is None:
        return found
    index = found[1]
    flat = x if axis is not None else reshape(x, (aval(x).size,))
    axis = 0 if axis is None else normalized_axis(axis, len(shape_of(x)))
    values = taken(flat, index, axis)
    rest = found[1:] if return_index else found[2:]
    return (values, *rest) if rest else values


def taken(x: ArrayLike, index: Index, axis: int) -> Array:
    """The elements at positions along an axis."""
    shape = shape_of(x)
    full = (*shape[:axis], len(index), *shape[axis + 1 :])
    return ops.TakeAlongAxis(axis, True).bind(x, broadcast(index, full, (axis,)))


@implements(np.bincount)
def bincount(
    x: ArrayLike, /, weights: ArrayLike = None, minlength: int = 0, *, length: int | None = None
) -> Array:
    """How often each number from 0 occurs in `x`, or the sum of its `weights`, which may be differentiated.

    The largest number decides the shape, so the values of `x` must be known, unless `length` says how many
    numbers are counted.

    >>> print(fg.numpy.bincount(np.array([0, 2, 2]), weights=np.array([1.0, 2.0, 3.0])))
    [1. 0. 5.]
    """
    if length is not None:
        return counted.counted(x, weights, length)
    numbers = traced(x, weights)
    if numbers is None:
        return np.bincount(x, weights, minlength)
    known = needed_value(numbers, "np.bincount")
    counts = np.bincount(known, minlength=minlength)
    if weights is None:
        return counts
    terms = asoperand(weights)
    if shape_of(terms) != known.shape:
        raise refused("The weights and list don't have the same length.")
    if aval(terms).dtype.kind == "c":
        raise DtypeError("bincount needs real weights", source=as_source(user_location()))
    zeros = np.zeros(len(counts))
    return ops.AddAlongAxis(0, False).bind(zeros, cast(terms, np.float64), known.astype(np.intp))


# -- elements along an axis ---------------------------------------------------------------------------------


@implements(np.take_along_axis)
def take_along_axis(arr: ArrayLike, indices: ArrayLike, axis: int | None = -1) -> Array:
    """For each position in `indices` along `axis`, the element there; all other axes broadcast.

    >>> x = np.array([[3.0, 1.0], [0.0, 5.0]])
    >>> print(fg.numpy.take_along_axis(x, np.argmax(x, axis=1, keepdims=True), axis=1))
    [[3.]
     [5.]]
    """
    x = traced(arr, indices)
    if x is None:
        return np.take_along_axis(arr, indices, axis)
    index = asoperand(indices)
    if aval(index).dtype.kind not in "iu":
        raise IndexingError("`indices` must be an integer array", source=as_source(user_location()))
    if axis is None:
        x = reshape(x, (aval(x).size,))
        axis = 0
    shape, own = shape_of(x), shape_of(index)
    if len(shape) != len(own):
        raise refused("`indices` and `arr` must have the same number of dimensions")
    axis = normalized_axis(axis, len(shape))
    x, index = matched(x, index, axis)
    check_positions(index, shape[axis], axis)
    return ops.TakeAlongAxis(axis, False).bind(x, index)


def matched(x: ArrayLike, index: Index, axis: int) -> tuple[Any, Any]:
    """The array and the positions, broadcast against each other in all axes but one."""
    shape, own = shape_of(x), shape_of(index)
    try:
        common = np.broadcast_shapes(ops.without(shape, axis), ops.without(own, axis))
    except ValueError:
        raise IndexingError(
            f"shape mismatch: positions {aval(index)} and array {aval(x)} do not broadcast",
            source=as_source(user_location()),
        ) from None
    with_axis: list[Shape] = [(*common[:axis], n, *common[axis:]) for n in (shape[axis], own[axis])]
    return broadcast_to(x, with_axis[0]), broadcast_to(index, with_axis[1])


def check_positions(index: Index, size: int, axis: int) -> None:
    """Raise IndexingError for positions that are known and out of bounds."""
    if type(index) is Tracer or not index.size:
        return
    for extreme in (int(index.min()), int(index.max())):
        if not -size <= extreme < size:
            raise IndexingError(
                f"index {extreme} is out of bounds for axis {axis} with size {size}",
                source=as_source(user_location()),
            )


# -- methods ------------------------------------------------------------------------------------------------


def _sort(
    self: Tracer, axis: AxisLike = -1, kind: Option = None, order: Option = None, *, stable: Option = None
) -> None:
    assign(self, sort(self, operator.index(axis), kind, order, stable=stable))


def _partition(
    self: Tracer, kth: ArrayLike, axis: AxisLike = -1, kind: Option = "introselect", order: Option = None
) -> None:
    assign(self, partition(self, kth, operator.index(axis), kind, order))


install(
    {
        "sort": _sort,
        "argsort": argsort,
        "partition": _partition,
        "argpartition": argpartition,
        "searchsorted": searchsorted,
    }
)
