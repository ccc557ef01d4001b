"""Questions that need no values (shape, dtype, shared memory), printing, and functions along axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.numpy.algebra.operands import promoted
from funcgrad.numpy.arrays.joining import concatenate, stack
from funcgrad.numpy.arrays.ranges import arange, linspace
from funcgrad.numpy.arrays.shapes import as_array, expand_dims, reshape
from funcgrad.numpy.arrays.views import moveaxis
from funcgrad.numpy.dispatch import implements, unsupported
from funcgrad.numpy.picking.indexing import known_mask
from funcgrad.numpy.reducing.axes import normalized_axis, refused
from funcgrad.ops.arrays.indexing import Chosen, Gather
from funcgrad.ops.arrays.structure import aval, cast, shape_of
from funcgrad.tracing.conversion import Digits
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer, install
from funcgrad.types import Anything, Array, ArrayLike, AxisLike, DTypeLike, Index, Option, UfuncOption

__all__ = [
    "apply_along_axis",
    "apply_over_axes",
    "c_",
    "can_cast",
    "choose",
    "common_type",
    "diag_indices_from",
    "ndim",
    "r_",
    "result_type",
    "shape",
    "shares_memory",
    "size",
    "tril_indices_from",
    "triu_indices_from",
]


@implements(np.shape)
def shape(a: ArrayLike) -> tuple[int, ...]:
    """The shape of an array.

    >>> fg.numpy.shape([[1, 2]])
    (1, 2)
    """
    return shape_of(asoperand(a))


@implements(np.ndim)
def ndim(a: ArrayLike) -> int:
    """The number of axes of an array.

    >>> fg.numpy.ndim([[1, 2]])
    2
    """
    return len(shape_of(asoperand(a)))


@implements(np.size)
def size(a: ArrayLike, axis: AxisLike = None) -> int:
    """The number of elements of an array, or along axes.

    >>> fg.numpy.size([[1, 2]], 1)
    2
    """
    own = shape_of(asoperand(a))
    axes = range(len(own)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return int(np.prod([own[normalized_axis(k, len(own))] for k in axes], dtype=int))


def _typed(x: Anything) -> Anything:
    """What stands for an operand in a question about dtypes: itself, its dtype, or a Python number."""
    if not isinstance(x, Tracer):
        return x
    weak: Aval = x.aval
    return {"b": False, "i": 0, "f": 0.0, "c": 0j}[weak.dtype.kind] if weak.weak else weak.dtype


@implements(np.result_type)
def result_type(*arrays_and_dtypes: ArrayLike) -> np.dtype[Any]:
    """The dtype that NumPy's promotion gives the operands.

    >>> fg.numpy.result_type(np.float32(1), 2.0)
    dtype('float32')
    """
    return np.result_type(*map(_typed, arrays_and_dtypes))


@implements(np.can_cast)
def can_cast(from_: DTypeLike, to: DTypeLike, casting: UfuncOption = "safe") -> bool:
    """Whether a dtype, or that of an array, can be cast to another under a rule.

    >>> fg.numpy.can_cast(np.int32, np.float64)
    True
    """
    return np.can_cast(from_.dtype if isinstance(from_, Tracer) else from_, to, casting)


@implements(np.common_type)
def common_type(*arrays: ArrayLike) -> type[Any]:
    """The inexact scalar type that the arrays have in common.

    >>> fg.numpy.common_type(np.ones(2, np.float32)).__name__
    'float32'
    """
    return np.common_type(*[np.empty(0, aval(as_array(x)).dtype) for x in arrays])


@implements(np.shares_memory, np.may_share_memory)
def shares_memory(a: ArrayLike, b: ArrayLike, max_work: object = None) -> bool:
    """Whether one array is a view of the other, or both of a third: writing one may change the other.

    >>> fg.numpy.shares_memory(np.ones(2), np.ones(2))
    False
    """
    if isinstance(a, Tracer) and isinstance(b, Tracer):
        return base_of(a) is base_of(b)
    return not isinstance(a, Tracer) and not isinstance(b, Tracer) and np.shares_memory(a, b)


def base_of(x: Tracer) -> Tracer:
    """The array that a view is of in the end."""
    while x._alias is not None and x._alias.base is not None:
        x = x._alias.base
    return x


def _printing(function: Callable[..., str]) -> None:
    @implements(function)
    def printed(a: ArrayLike, *args: Option, **kwargs: Option) -> str:
        return Digits(function(np.asarray(a.concrete()), *args, **kwargs)) if a.has_value() else repr(a)


for _function in (np.array_repr, np.array_str, np.array2string):
    _printing(_function)


@implements(np.tril_indices_from)
def tril_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Any, Any]:
    """The positions of the lower triangle of a matrix.

    >>> print(*fg.numpy.tril_indices_from(np.ones((2, 2)))[1])
    0 0 1
    """
    n, m = shape_of(as_array(arr))
    return np.tril_indices(n, k, m)


@implements(np.triu_indices_from)
def triu_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Any, Any]:
    """The positions of the upper triangle of a matrix.

    >>> print(*fg.numpy.triu_indices_from(np.ones((2, 2)))[1])
    0 1 1
    """
    n, m = shape_of(as_array(arr))
    return np.triu_indices(n, k, m)


@implements(np.diag_indices_from)
def diag_indices_from(arr: ArrayLike) -> tuple[Any, ...]:
    """The positions of the diagonal of an array whose axes have one size.

    >>> print(*fg.numpy.diag_indices_from(np.ones((2, 2)))[1])
    0 1
    """
    own = shape_of(as_array(arr))
    if len(own) < 2 or len(set(own)) != 1:
        raise refused("diag_indices_from needs at least two axes, all of one size")
    return np.diag_indices(own[0], len(own))


# -- functions along axes ---------------------------------------------------------------------------------


@implements(np.apply_along_axis)
def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: ArrayLike, *args: object, **kwargs: object
) -> Array:
    """A function of vectors applied to each line of an array along an axis.

    >>> print(fg.numpy.apply_along_axis(np.sum, 0, np.ones((2, 3))))
    [2. 2. 2.]
    """
    x = as_array(arr)
    axis = normalized_axis(axis, len(shape_of(x)))
    if not isinstance(x, Tracer):
        return np.apply_along_axis(func1d, axis, x, *args, **kwargs)
    lines = moveaxis(x, axis, -1)
    outer = shape_of(lines)[:-1]
    found = [asoperand(func1d(lines[place], *args, **kwargs)) for place in np.ndindex(outer)]
    if not found:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    inner = shape_of(found[0])
    joined = reshape(stack(found), outer + inner)
    for k in range(len(inner)):
        joined = moveaxis(joined, len(outer) + k, axis + k)
    return joined


@implements(np.apply_over_axes)
def apply_over_axes(func: Callable[..., Any], a: ArrayLike, axes: AxisLike) -> Array:
    """A function of an array and an axis applied over one axis after the other; axes are kept.

    >>> fg.numpy.apply_over_axes(np.sum, np.ones((2, 3)), [0, 1]).shape
    (1, 1)
    """
    x = as_array(a)
    for axis in np.atleast_1d(axes):
        found = func(x, int(axis))
        x = found if len(shape_of(found)) == len(shape_of(x)) else expand_dims(found, int(axis))
    return x


@implements(np.choose)
def choose(a: ArrayLike, choices: ArrayLike, out: None = None, mode: str = "raise") -> Array:
    """For each element the choice that an array of positions names.

    >>> print(fg.numpy.choose([0, 1], [[1.0, 2.0], [3.0, 4.0]]))
    [1. 4.]
    """
    if out is not None:
        raise unsupported("np.choose with out=")
    options = promoted([asoperand(x) for x in choices])
    positions = as_array(a)
    if mode == "wrap":
        positions = np.remainder(positions, len(options))
    elif mode == "clip":
        positions = np.clip(positions, 0, len(options) - 1)
    elif mode != "raise":
        raise ValueError(f"mode must be 'raise', 'wrap' or 'clip', got {mode!r}")
    elif is_known(positions) and not np.all(known_mask((positions >= 0) & (positions < len(options)))):
        raise ValueError("invalid entry in choice array")
    if aval(positions).dtype.kind == "b":
        positions = cast(positions, np.intp)
    if mode == "raise":
        positions = Chosen(len(options)).bind(positions)
    full = np.broadcast_shapes(shape_of(positions), *[shape_of(x) for x in options])
    table = stack([np.broadcast_to(x, full) for x in options])
    places = [np.arange(n).reshape((-1,) + (1,) * (len(full) - k - 1)) for k, n in enumerate(full)]
    axes = tuple(range(len(full) + 1))
    return Gather(axes).bind(table, np.broadcast_to(positions, full), *places)


def is_known(x: ArrayLike) -> bool:
    """Whether the values exist."""
    return not isinstance(x, Tracer) or x.has_value()


# -- joining by brackets ----------------------------------------------------------------------------------


class Joiner:
    """``r_[a, b, 0:3]`` and ``c_[a, b]``: arrays, numbers and ranges one after the other.

    A slice is a range, with a complex step ``5j`` a linspace of 5 numbers. A text in front says along which
    axis, with how many axes at least, and where the axes of an array with fewer go among them: ``"0,2,-1"``.

    >>> print(fg.numpy.r_[0:3, 7.0])
    [0. 1. 2. 7.]
    >>> print(fg.numpy.c_[[1, 2], [3, 4]])
    [[1 3]
     [2 4]]
    """

    def __init__(self, axis: int, ndim: int, place: int) -> None:
        self._settings = axis, ndim, place

    def __getitem__(self, items: Index) -> Array:
        given = items if isinstance(items, tuple) else (items,)
        axis, ndim, place = self._settings
        if isinstance(given[0], str):
            try:
                settings = [int(number) for number in given[0].split(",")]
            except ValueError:
                raise unsupported(f"r_ and c_ with {given[0]!r}, which makes a matrix") from None
            axis, ndim, place = (*settings, *self._settings[len(settings) :])
            given = given[1:]
        return concatenate([with_axes(ranged(x), ndim, place) for x in given], axis=axis)


def with_axes(x: ArrayLike, ndim: int, place: int) -> Array:
    """An array with at least so many axes, its own at a place among the new ones; -1 is behind them."""
    x = as_array(x)
    own = shape_of(x)
    new = ndim - len(own)
    if new <= 0:
        return x
    before = place if place >= 0 else place + new + 1
    if not 0 <= before <= new:
        raise refused(f"an array of {len(own)} axes has no place {place} among {ndim}")
    return reshape(x, (1,) * before + own + (1,) * (new - before))


def ranged(item: Index) -> Array:
    """A slice as the numbers it stands for; anything else as it is."""
    if not isinstance(item, slice):
        return item
    start = 0 if item.start is None else item.start
    if isinstance(item.step, complex):
        return linspace(start, item.stop, int(abs(item.step)))
    return arange(start, item.stop, item.step)


r_ = Joiner(0, 1, -1)
c_ = Joiner(-1, 2, 0)

install({"choose": choose})
