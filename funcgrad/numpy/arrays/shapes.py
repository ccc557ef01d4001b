"""The same elements in another shape, and what all functions that move elements need of their arguments.

Of a tracer the result is a view: writing into it writes the array it was taken from, and the other way
round. Reshaping gives a view where NumPy's would be one: always, except of a view whose elements do not
stand in memory as the new shape needs them, such as a transposed matrix that is flattened.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.errors import UnsupportedFunctionError
from funcgrad.ir.avals import Shape
from funcgrad.numpy.arrays.memory import (
    ROWS,
    UNKNOWN,
    Layout,
    combined,
    distinct,
    layout_of,
    lie_as,
    lies_flat,
    pictured,
    sees_as,
    sees_flat,
    summarised,
)
from funcgrad.numpy.dispatch import implements, unsupported
from funcgrad.numpy.reducing.axes import normalized_axis, refused
from funcgrad.ops.arrays.structure import Permute, Reshape, aval, shape_of
from funcgrad.source import Source, user_location
from funcgrad.tracing.aliasing import Lens, memory_of, view
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer, install
from funcgrad.types import Array, ArrayLike, Arrays, AxisLike, ShapeLike

__all__ = ["atleast_1d", "atleast_2d", "atleast_3d", "expand_dims", "ravel", "reshape", "squeeze"]


def as_array(x: ArrayLike) -> Array:
    """`x` as a tracer or a NumPy array or scalar, which have a shape."""
    operand = asoperand(x)
    return operand if isinstance(operand, Tracer | np.ndarray | np.generic) else np.asarray(operand)


def seen_through(x: ArrayLike, lens: Lens) -> Array:
    """What the lens reads: a view of a tracer, NumPy's own of an array."""
    return view(x, lens) if type(x) is Tracer else lens.get(np.asarray(x))


def ordered_axes(axes: AxisLike, ndim: int, what: str = "axes") -> tuple[int, ...]:
    """One axis or several as ints from 0, in the order given; raises for repeated ones."""
    numbers = tuple(axes) if isinstance(axes, tuple | list | np.ndarray) else (axes,)
    found = tuple([normalized_axis(a, ndim) for a in numbers])
    if len(set(found)) != len(found):
        raise refused(f"{what} {numbers} name an axis twice")
    return found


# -- shapes -----------------------------------------------------------------------------------------------


def new_shape(size: int, shape: ShapeLike) -> Shape:
    """The shape asked for, with -1 worked out; raises ShapeError when `size` elements do not fit."""
    asked = tuple(shape) if isinstance(shape, tuple | list | np.ndarray) else (shape,)
    sizes = [n if type(n) is int else operator.index(n) for n in asked]
    if -1 in sizes:
        rest = -math.prod(sizes)
        if sizes.count(-1) == 1 and rest > 0 and size % rest == 0:
            sizes[sizes.index(-1)] = size // rest
    if any(n < 0 for n in sizes) or math.prod(sizes) != size:
        raise refused(f"cannot reshape array of size {size} into shape {asked}")
    return tuple(sizes)


def reshaped(x: ArrayLike, shape: Shape) -> Array:
    """The same elements in another shape: a view where NumPy's would be one."""
    lens = Reshape(shape)
    if type(x) is not Tracer:
        return np.reshape(x, shape)
    return view(x, lens, sees_as)


def lies_in_order(x: Tracer, order: str) -> bool:
    """Whether the elements lie without gaps, with the last index changing fastest (C) or the first (F)."""
    found = lies_flat(x, order)
    if found is None:
        raise UnsupportedFunctionError(
            f"this asks how a traced {x.aval} lies in memory, which is not known here",
            source=Source(*user_location()),
            remedy="Ask a copy, x.copy(), which lies row by row.",
        )
    return found


def in_order(x: ArrayLike, order: str | None) -> Array:
    """`x` itself where it lies in memory in the order that is asked for, a copy where it does not."""
    if order not in ("C", "F", "K", "A", None):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    if type(x) is not Tracer or order in ("K", "A", None):
        return x
    lies = lies_flat(x, order)
    if lies is None:
        return lie_as(view(x, Reshape(x.aval.shape), nobody_knows), layout_in(x, order))
    return x if lies else laid_out(x, order)


def nobody_knows(part: Tracer) -> None:
    """Whether a part shares memory with what it was taken from."""


def layout_in(x: Tracer, order: str | None) -> Layout:
    """How a copy of `x` lies in an order: in C's, in Fortran's, or in its own (K, A)."""
    shape = x.aval.shape
    if order in ("K", "A"):
        found = layout_of(x)
        if order == "K" or found is UNKNOWN:
            return found if isinstance(found, str) else combined([found])
        order = "F" if lies_flat(x, "F") and not lies_flat(x, "C") else "C"
    return ROWS if order != "F" else summarised(pictured(shape[::-1]).T)


def laid_out(x: Tracer, order: str | None) -> Tracer:
    """A copy whose elements lie in memory in an order; `K` and `A` are its own."""
    if x.aval.ndim < 2:
        return x.frozen()
    wanted = layout_in(x, order)
    if wanted is ROWS and layout_of(x) is ROWS:
        return x.frozen()
    return lie_as(distinct(x), wanted)


def lies_in_one_order(x: ArrayLike, order: str) -> bool:
    """Whether the elements can lie in memory in one order only; raises UnsupportedFunctionError if not."""
    if np.sum(np.asarray(shape_of(x)) > 1) > 1:
        raise UnsupportedFunctionError(
            f"order={order!r} asks how a traced {aval(x)} lies in memory, which is not recorded",
            source=Source(*user_location()),
            remedy="Say order='C' where the last index changes fastest, and order='F' where the first does.",
        )
    return True


@implements(np.reshape)
def reshape(a: ArrayLike, /, shape: ShapeLike, order: str = "C", *, copy: bool | None = None) -> Array:
    """The same elements in another shape; one size may be -1.

    ``order="F"`` reads and writes them with the first index changing fastest.

    >>> print(fg.numpy.reshape(np.arange(6), (2, -1)))
    [[0 1 2]
     [3 4 5]]
    """
    x = as_array(a)
    seen = aval(x)
    target = new_shape(seen.size, shape)
    if type(x) is not Tracer and order == "A":
        found = np.reshape(x, target, "A")
    elif order == "F":
        reversed_axes = tuple(range(seen.ndim))[::-1]
        flat = reshaped(seen_through(x, Permute(reversed_axes)), target[::-1])
        found = seen_through(flat, Permute(tuple(range(len(target)))[::-1]))
    elif order == "C" or (order == "A" and lies_in_one_order(x, order)):
        found = reshaped(x, target)
    else:
        raise unsupported(f"np.reshape with order={order!r}")
    if copy is False and type(x) is Tracer and memory_of(as_array(found)) is not memory_of(x):
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    return found.copy() if copy else found


@implements(np.ravel)
def ravel(a: ArrayLike, order: str = "C") -> Array:
    """All elements in one axis: a view where they lie one after the other, else a copy, as NumPy's.

    >>> print(fg.numpy.ravel([[1, 2], [3, 4]]))
    [1 2 3 4]
    """
    x: Any = as_array(a)
    said: Any = order
    if type(x) is not Tracer:
        return np.ravel(x, said)
    flat: Any = reshape(x, (-1,), "C" if order == "K" and lies_in_one_order(x, order) else order)
    if flat._alias is not None and flat._alias.lens is not None:
        flat._alias.shares = sees_flat
    return flat


@implements(np.squeeze)
def squeeze(a: ArrayLike, axis: AxisLike = None) -> Array:
    """Without axes of size one, or without those named, which must have size one.

    >>> fg.numpy.squeeze(np.zeros((1, 3, 1))).shape
    (3,)
    """
    x = as_array(a)
    shape = shape_of(x)
    if axis is None:
        axes = [k for k, n in enumerate(shape) if n == 1]
    elif not shape and axis in (0, -1):
        axes = []  # as NumPy: the only axis, which a number does not have
    else:
        axes = list(ordered_axes(axis, len(shape)))
    if any(shape[k] != 1 for k in axes):
        raise refused("cannot select an axis to squeeze out which has size not equal to one")
    return reshaped(x, tuple([n for k, n in enumerate(shape) if k not in axes]))


@implements(np.expand_dims)
def expand_dims(a: ArrayLike, axis: AxisLike) -> Array:
    """With new axes of size one at the given places of the result.

    >>> fg.numpy.expand_dims(np.zeros(3), (0, 2)).shape
    (1, 3, 1)
    """
    x = as_array(a)
    axis = axis if isinstance(axis, tuple | list) else operator.index(axis)
    count = len(axis) if isinstance(axis, tuple | list) else 1
    axes = ordered_axes(axis, len(shape_of(x)) + count)
    sizes = iter(shape_of(x))
    ndim = len(shape_of(x)) + count
    return reshaped(x, tuple([1 if k in axes else next(sizes) for k in range(ndim)]))


def _at_least(arrays: tuple[Any, ...], added: Callable[..., Any]) -> Arrays:
    found = tuple([reshaped(x, added(shape_of(x))) for x in map(as_array, arrays)])
    return found[0] if len(found) == 1 else found


def _shape_1d(shape: Shape) -> Shape:
    return shape or (1,)


def _shape_2d(shape: Shape) -> Shape:
    return (1,) * (2 - len(shape)) + shape


def _shape_3d(shape: Shape) -> Shape:
    return (*_shape_2d(shape), 1) if len(shape) < 3 else shape


@implements(np.atleast_1d)
def atleast_1d(*arys: ArrayLike) -> Arrays:
    """With at least one axis; a tuple for several arrays.

    >>> fg.numpy.atleast_1d(3.0).shape
    (1,)
    """
    return _at_least(arys, _shape_1d)


@implements(np.atleast_2d)
def atleast_2d(*arys: ArrayLike) -> Arrays:
    """With at least two axes, new ones first; a tuple for several arrays.

    >>> fg.numpy.atleast_2d(np.zeros(3)).shape
    (1, 3)
    """
    return _at_least(arys, _shape_2d)


@implements(np.atleast_3d)
def atleast_3d(*arys: ArrayLike) -> Arrays:
    """With at least three axes; a matrix gets a last one. A tuple for several arrays.

    >>> fg.numpy.atleast_3d(np.zeros((2, 3))).shape
    (2, 3, 1)
    """
    return _at_least(arys, _shape_3d)


# -- methods -----------------------------------------------------------------------------------------------


def _reshape(self: Tracer, *shape: ShapeLike, order: str = "C", copy: bool | None = None) -> Array:
    return reshape(self, shape[0] if len(shape) == 1 else shape, order, copy=copy)


install({"reshape": _reshape, "ravel": ravel, "squeeze": squeeze})
