"""Movement that copies: repeating, rolling, taking along an axis, triangles and diagonals.

Counts and shifts shape the computation, so they must have values; traced ones are asked for theirs.
"""

from __future__ import annotations

import math
import operator

import numpy as np

from funcgrad.errors import DtypeError
from funcgrad.ir.steps import as_source
from funcgrad.later import Later
from funcgrad.numpy.arrays.shapes import as_array, atleast_1d, ravel
from funcgrad.numpy.arrays.views import diagonal
from funcgrad.numpy.dispatch import implements
from funcgrad.numpy.reducing.axes import normalized_axis, refused
from funcgrad.ops.arrays.indexing import Gather
from funcgrad.ops.arrays.movement import concatenate as concatenated
from funcgrad.ops.arrays.movement import take_span
from funcgrad.ops.arrays.slicing import Pad
from funcgrad.ops.arrays.structure import aval, broadcast, broadcast_to, permute, reshape, shape_of
from funcgrad.ops.elementwise.selection import where
from funcgrad.source import user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer, install
from funcgrad.types import Array, ArrayLike, AxisLike, Number, ShapeLike

# Asked with `size` or `total_repeat_length`, mostly under `jit`.
counted = Later("funcgrad.numpy.picking.counted")

__all__ = ["diag", "diagflat", "repeat", "resize", "roll", "tile", "tril", "triu"]

# -- repeating and rolling --------------------------------------------------------------------------------


@implements(np.repeat)
def repeat(
    a: ArrayLike, repeats: ArrayLike, axis: int | None = None, *, total_repeat_length: int | None = None
) -> Array:
    """Each element repeated, all of them as often or each as often as `repeats` says.

    `repeats` may be traced where `total_repeat_length` says how many elements there are in the end.

    >>> print(fg.numpy.repeat(np.arange(2), [1, 3]))
    [0 1 1 1]
    """
    x = as_array(a)
    if axis is None:
        x, axis = reshape(x, (aval(x).size,)), 0
    x = atleast_1d(x)
    axis = normalized_axis(axis, len(shape_of(x)))
    shape = shape_of(x)
    if total_repeat_length is not None:
        return counted.repeated(x, repeats, axis, total_repeat_length)
    counts = np.asarray(repeats)
    if counts.size != 1:
        if counts.shape != (shape[axis],):
            raise refused(
                f"operands could not be broadcast together with shape ({shape[axis]},) {counts.shape}"
            )
        return take_along(x, np.repeat(np.arange(shape[axis]), counts), axis)
    count = operator.index(counts.reshape(())[()])
    if count < 0:
        raise refused("repeats may not contain negative values.")
    wide = broadcast(
        x,
        (*shape[: axis + 1], count, *shape[axis + 1 :]),
        (*range(axis + 1), *range(axis + 2, len(shape) + 1)),
    )
    return reshape(wide, (*shape[:axis], shape[axis] * count, *shape[axis + 1 :]))


@implements(np.tile)
def tile(A: ArrayLike, reps: ArrayLike) -> Array:
    """The whole array repeated along each axis.

    >>> print(fg.numpy.tile([1, 2], 2))
    [1 2 1 2]
    """
    x = as_array(A)
    counts = [operator.index(n) for n in (reps if hasattr(reps, "__len__") else (reps,))]
    shape = (1,) * (len(counts) - len(shape_of(x))) + shape_of(x)
    counts = [1] * (len(shape) - len(counts)) + counts
    both = [size for pair in zip(counts, shape, strict=True) for size in pair]
    wide = broadcast(reshape(x, shape), tuple(both), tuple(range(1, 2 * len(shape), 2)))
    found = reshape(wide, tuple([n * m for n, m in zip(counts, shape, strict=True)]))
    return found.copy() if found is x else found


@implements(np.resize)
def resize(a: ArrayLike, new_shape: ShapeLike) -> Array:
    """The elements in order, repeated from the first until they fill the new shape.

    >>> print(fg.numpy.resize(np.arange(3), (2, 2)))
    [[0 1]
     [2 0]]
    """
    x = as_array(a)
    sizes = tuple(new_shape) if isinstance(new_shape, tuple | list) else (new_shape,)
    size, own = math.prod(sizes), aval(x).size
    if own == 0:
        return broadcast_to(aval(x).dtype.type(0), sizes)
    flat = tile(reshape(x, (own,)), -(-size // own))
    return reshape(take_span(flat, 0, 0, size), sizes)


@implements(np.roll)
def roll(a: ArrayLike, shift: ArrayLike, axis: AxisLike = None) -> Array:
    """Elements moved along axes; those that leave at one end come in at the other. Shifts may be traced.

    >>> print(fg.numpy.roll(np.arange(4), 1))
    [3 0 1 2]
    """
    x = as_array(a)
    if axis is None:
        return reshape(roll(reshape(x, (aval(x).size,)), shift, 0), shape_of(x))
    shifts, axes = np.broadcast_arrays(np.atleast_1d(asoperand(shift)), np.atleast_1d(axis))
    for amount, k in zip(shifts, axes, strict=True):
        x = rolled(x, amount, normalized_axis(int(k), len(shape_of(x))))
    return x.copy() if x is a else x


def rolled(x: ArrayLike, shift: ArrayLike, axis: int) -> Array:
    """`x` rolled along one axis."""
    n = shape_of(x)[axis]
    if type(shift) is Tracer:
        return take_along(x, np.mod(np.arange(n) - whole(shift, "the shift of roll"), max(n, 1)), axis)
    shift = int(shift)
    shift = shift % n if n else 0
    if not shift:
        return x
    return concatenated([take_span(x, axis, n - shift, shift), take_span(x, axis, 0, n - shift)], axis)


def take_along(x: ArrayLike, positions: ArrayLike, axis: int) -> Array:
    """The elements at positions along an axis; the axes of `positions` stand in its place."""
    found = Gather((axis,)).bind(x, positions)
    rank = len(shape_of(positions))
    rest = len(shape_of(x)) - 1
    return permute(found, (*range(rank, rank + axis), *range(rank), *range(rank + axis, rank + rest)))


# -- triangles and diagonals ------------------------------------------------------------------------------


def offsets(n: int, m: int) -> Array:
    """How far above the diagonal each element of a matrix stands."""
    return np.arange(m) - np.arange(n)[:, None]


def whole(k: Number, what: str) -> Number:
    """A number of elements, traced or not; raises DtypeError for one that is no integer."""
    if type(k) is Tracer and k.dtype.kind not in "iu":
        raise DtypeError(f"{what} must be an integer, got {k.aval}", source=as_source(user_location()))
    return k


def _triangle(m: Array, k: int, *, lower: bool) -> Array:
    x = as_array(m)
    shape = shape_of(x)
    if len(shape) == 1:
        x, shape = broadcast_to(x, (*shape, *shape)), (*shape, *shape)
    reach = offsets(shape[-2], shape[-1]) - whole(k, "k")
    mask = np.broadcast_to(reach <= 0 if lower else reach >= 0, shape)
    return where(mask, x, aval(x).dtype.type(0))


@implements(np.tril)
def tril(m: ArrayLike, k: int = 0) -> Array:
    """The lower triangle of the last two axes, zero above the k-th diagonal.

    >>> print(fg.numpy.tril(np.ones((2, 2))))
    [[1. 0.]
     [1. 1.]]
    """
    return _triangle(m, k, lower=True)


@implements(np.triu)
def triu(m: ArrayLike, k: int = 0) -> Array:
    """The upper triangle of the last two axes, zero below the k-th diagonal.

    >>> print(fg.numpy.triu(np.ones((2, 2))))
    [[1. 1.]
     [0. 1.]]
    """
    return _triangle(m, k, lower=False)


@implements(np.diag)
def diag(v: ArrayLike, k: int = 0) -> Array:
    """The k-th diagonal of a matrix, or a matrix with the vector `v` as its k-th diagonal.

    >>> print(fg.numpy.diag([1.0, 2.0]))
    [[1. 0.]
     [0. 2.]]
    """
    x = as_array(v)
    shape = shape_of(x)
    if len(shape) == 2:
        return diagonal(x, k)
    if len(shape) != 1:
        raise refused("Input must be 1- or 2-d.")
    return on_diagonal(x, k)


@implements(np.diagflat)
def diagflat(v: ArrayLike, k: int = 0) -> Array:
    """A matrix with the elements of `v`, flattened, as its k-th diagonal.

    >>> print(fg.numpy.diagflat([[1, 2]], 1))
    [[0 1 0]
     [0 0 2]
     [0 0 0]]
    """
    return on_diagonal(ravel(v), k)


def on_diagonal(x: ArrayLike, k: int) -> Array:
    """A square matrix with a vector as its k-th diagonal, which is a regular part of the flat matrix."""
    count = shape_of(x)[0]
    n = count + abs(k)
    start = k if k >= 0 else -k * n
    index = (start, count, n + 1) if count else (0, 0, 1)
    return reshape(Pad((n * n,), (index,)).bind(x), (n, n))


# -- methods ----------------------------------------------------------------------------------------------


def _flatten(self: Tracer, order: str = "C") -> Array:
    flat = ravel(self, order)
    return flat.frozen() if type(flat) is Tracer else flat


install({"flatten": _flatten, "repeat": repeat})
