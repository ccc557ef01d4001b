"""Reordered axes, reversal, broadcasting, diagonals and complex parts: views, as NumPy's are.

Of a tracer the result is a view: writing into it writes the array it was taken from, and the other way
round. What NumPy makes read-only (a broadcast array, a diagonal) refuses to be written.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from funcgrad.numpy.arrays.shapes import as_array, ordered_axes, seen_through
from funcgrad.numpy.dispatch import implements, unsupported
from funcgrad.numpy.reducing.axes import no_such_axis, normalized_axis, refused
from funcgrad.ops.arrays.indexing import Gather
from funcgrad.ops.arrays.movement import Flip
from funcgrad.ops.arrays.slicing import Slice, whole_index
from funcgrad.ops.arrays.structure import Broadcast, Permute, Reshape, aval, shape_of
from funcgrad.ops.elementwise.complexes import imag, make_complex, real
from funcgrad.tracing.aliasing import view
from funcgrad.tracing.tracer import Tracer, install
from funcgrad.types import Array, ArrayLike, AxisLike, ShapeLike

__all__ = [
    "broadcast_arrays",
    "broadcast_to",
    "diagonal",
    "flip",
    "fliplr",
    "flipud",
    "matrix_transpose",
    "moveaxis",
    "permute_dims",
    "rollaxis",
    "rot90",
    "swapaxes",
    "transpose",
]

# -- the order of axes ------------------------------------------------------------------------------------


def permuted(x: ArrayLike, order: Sequence[int]) -> Array:
    """`x` with its axes in another order."""
    return seen_through(x, Permute(tuple(order)))


@implements(np.transpose, np.permute_dims)
def transpose(a: ArrayLike, axes: AxisLike = None) -> Array:
    """With the axes in another order, reversed by default.

    >>> fg.numpy.transpose(np.zeros((2, 3, 4)), (1, 0, 2)).shape
    (3, 2, 4)
    """
    x = as_array(a)
    ndim = len(shape_of(x))
    if axes is None:
        return permuted(x, tuple(range(ndim))[::-1])
    order = ordered_axes(axes, ndim)
    if len(order) != ndim:
        raise refused(f"axes {tuple(axes)} don't match array of {ndim} axes")
    return permuted(x, order)


permute_dims = transpose


@implements(np.matrix_transpose)
def matrix_transpose(x: ArrayLike, /) -> Array:
    """With the last two axes exchanged.

    >>> fg.numpy.matrix_transpose(np.zeros((2, 3, 4))).shape
    (2, 4, 3)
    """
    x = as_array(x)
    if len(shape_of(x)) < 2:
        raise refused(f"matrix transpose needs at least two axes, got {aval(x)}")
    return swapaxes(x, -1, -2)


@implements(np.swapaxes)
def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> Array:
    """With two axes exchanged.

    >>> fg.numpy.swapaxes(np.zeros((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    x = as_array(a)
    ndim = len(shape_of(x))
    order = list(range(ndim))
    i, j = normalized_axis(axis1, ndim), normalized_axis(axis2, ndim)
    order[i], order[j] = j, i
    return permuted(x, order)


@implements(np.moveaxis)
def moveaxis(a: ArrayLike, source: ArrayLike, destination: ArrayLike) -> Array:
    """With axes moved to other places, the others in their order.

    >>> fg.numpy.moveaxis(np.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    x = as_array(a)
    ndim = len(shape_of(x))
    sources = ordered_axes(source, ndim, "source")
    targets = ordered_axes(destination, ndim, "destination")
    if len(sources) != len(targets):
        raise refused("moveaxis: source and destination must name as many axes as each other")
    order = [k for k in range(ndim) if k not in sources]
    for target, origin in sorted(zip(targets, sources, strict=True)):
        order.insert(target, origin)
    return permuted(x, order)


@implements(np.rollaxis)
def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> Array:
    """With one axis moved before the axis `start`.

    >>> fg.numpy.rollaxis(np.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    x = as_array(a)
    ndim = len(shape_of(x))
    origin = normalized_axis(axis, ndim)
    # Counted from the end, `start` is an axis of the array, and not a place between axes.
    place = operator.index(start)
    target = place + ndim if place < 0 else place
    if not 0 <= target <= ndim:
        raise no_such_axis(place, ndim)
    return moveaxis(x, origin, target - (origin < target))


# -- reversal, broadcasting, diagonals --------------------------------------------------------------------


@implements(np.flip)
def flip(m: ArrayLike, axis: AxisLike = None) -> Array:
    """With the elements in reverse order along the axes, along all by default.

    >>> print(fg.numpy.flip(np.arange(3)))
    [2 1 0]
    """
    x = as_array(m)
    ndim = len(shape_of(x))
    axes = tuple(range(ndim)) if axis is None else ordered_axes(axis, ndim)
    return seen_through(x, Flip(tuple(sorted(axes))))


@implements(np.flipud)
def flipud(m: ArrayLike) -> Array:
    """Upside down: reversed along the first axis.

    >>> print(fg.numpy.flipud(np.arange(3)))
    [2 1 0]
    """
    return flip(m, 0)


@implements(np.fliplr)
def fliplr(m: ArrayLike) -> Array:
    """Left to right: reversed along the second axis.

    >>> print(fg.numpy.fliplr([[1, 2], [3, 4]]))
    [[2 1]
     [4 3]]
    """
    return flip(m, 1)


@implements(np.rot90)
def rot90(m: ArrayLike, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array:
    """Turned by `k` times 90 degrees, from the first towards the second axis.

    >>> print(fg.numpy.rot90([[1, 2], [3, 4]]))
    [[2 4]
     [1 3]]
    """
    x = as_array(m)
    first, second = ordered_axes(axes, len(shape_of(x)))
    turns = operator.index(k) % 4
    if turns == 0:
        return permuted(x, range(len(shape_of(x))))
    if turns == 1:
        return swapaxes(flip(x, second), first, second)
    if turns == 2:
        return flip(x, (first, second))
    return flip(swapaxes(x, first, second), second)


@implements(np.broadcast_to)
def broadcast_to(array: ArrayLike, shape: ShapeLike, subok: bool = False) -> Array:
    """Repeated to a larger shape; the result is read-only.

    >>> print(fg.numpy.broadcast_to(np.arange(2), (2, 2)))
    [[0 1]
     [0 1]]
    """
    x = as_array(array)
    sizes = tuple(shape) if isinstance(shape, tuple | list | np.ndarray) else (shape,)
    target = tuple([operator.index(n) for n in sizes])
    own = shape_of(x)
    first = len(target) - len(own)
    if first < 0 or any(n not in (1, m) for n, m in zip(own, target[first:], strict=True)):
        raise refused(f"an array of shape {own} cannot be broadcast to shape {target}")
    return seen_through(x, Broadcast(target, tuple(range(first, len(target)))))


class Windows:
    """How windows that slide over an array hang on it: read-only, as they overlap."""

    __slots__ = ("_options",)

    def __init__(self, window_shape: ShapeLike, axis: AxisLike) -> None:
        self._options = window_shape, axis

    def evaluate(self, layout: ArrayLike) -> Array:
        """NumPy's windows, with its errors."""
        return np.lib.stride_tricks.sliding_window_view(layout, *self._options)

    def get(self, base: ArrayLike) -> Array:
        """The windows, whose axes are the last."""
        window_shape, axis = self._options
        sizes = window_shape if isinstance(window_shape, Iterable) else (window_shape,)
        rank = len(shape_of(base))
        axes = range(rank) if axis is None else [int(k) % rank for k in np.atleast_1d(axis)]
        for k, size in zip(axes, sizes, strict=True):
            starts = np.arange(shape_of(base)[k] - size + 1)
            windows = Gather((k,)).bind(base, starts[:, None] + np.arange(size))
            base = moveaxis(windows, (0, 1), (k, -1))
        return base

    def put(self, base: ArrayLike, part: ArrayLike) -> Array:
        """Refused, as by NumPy."""
        raise ValueError("assignment destination is read-only")


@implements(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(
    x: ArrayLike,
    window_shape: ShapeLike,
    axis: AxisLike = None,
    *,
    subok: bool = False,
    writeable: bool = False,
) -> Array:
    """Every window of a shape, as further axes; read-only. Raises ValueError for windows that do not fit.

    >>> x = np.arange(4.0)
    >>> print(fg.grad(lambda x: np.sum(np.max(np.lib.stride_tricks.sliding_window_view(x, 2), axis=1)))(x))
    [0. 1. 1. 1.]
    """
    if writeable:
        raise unsupported("np.lib.stride_tricks.sliding_window_view with writeable=True")
    seen, lens = as_array(x), Windows(window_shape, axis)
    lens.evaluate(np.broadcast_to(np.int8(0), shape_of(seen)))
    return view(seen, lens) if type(seen) is Tracer else lens.evaluate(seen)


@implements(np.broadcast_arrays)
def broadcast_arrays(*args: object, subok: bool = False) -> tuple[Any, ...]:
    """All arrays repeated to their common shape.

    >>> [x.shape for x in fg.numpy.broadcast_arrays(np.zeros((3, 1)), 1.0)]
    [(3, 1), (3, 1)]
    """
    operands = [as_array(x) for x in args]
    try:
        shape = np.broadcast_shapes(*[shape_of(x) for x in operands])
    except ValueError as error:
        raise refused(str(error)) from None
    return tuple([broadcast_to(x, shape) for x in operands])


class ReadOnlySlice:
    """A slice that NumPy does not let one write into: a diagonal."""

    def __init__(self, primitive: Slice) -> None:
        self._slice = primitive

    def get(self, base: ArrayLike) -> Array:
        """The part of the base."""
        return self._slice.get(base)

    def put(self, base: ArrayLike, part: ArrayLike) -> Array:
        """Refuse."""
        raise ValueError("assignment destination is read-only: np.diagonal gives a read-only view")

    def evaluate(self, x: ArrayLike) -> Array:
        """The part of an array."""
        return self._slice.evaluate(x)


@implements(np.diagonal)
def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The elements whose indices along two axes differ by `offset`, along a new last axis; read-only.

    >>> print(fg.numpy.diagonal(np.arange(9).reshape(3, 3), 1))
    [1 5]
    """
    x = as_array(a)
    ndim = len(shape_of(x))
    if ndim < 2:
        raise refused("diag requires an array of at least two dimensions")
    first, second = normalized_axis(axis1, ndim), normalized_axis(axis2, ndim)
    if first == second:
        raise refused("axis1 and axis2 cannot be the same")
    last = permuted(x, [*(k for k in range(ndim) if k not in (first, second)), first, second])
    return diagonal_of_last(last, operator.index(offset))


def diagonal_of_last(x: ArrayLike, offset: int) -> Array:
    """A diagonal of the last two axes: every (m + 1)-th element of the flattened n × m matrix."""
    *outer, n, m = shape_of(x)
    spans = [(0, size, 1) for size in outer]
    size = max(0, min(n, m - offset) if offset >= 0 else min(n + offset, m))
    start = offset if offset >= 0 else -offset * m
    flat = seen_through(x, Reshape((*outer, n * m)))
    return seen_through(flat, ReadOnlySlice(Slice((*spans, (start, size, m + 1) if size else (0, 0, 1)))))


class ComplexPart:
    """The real or the imaginary part of complex numbers, as something to write into."""

    def __init__(self, read: Callable[..., Any], *, is_real: bool) -> None:
        self._read = read
        self._is_real = is_real

    def get(self, base: ArrayLike) -> Array:
        """The part of the base."""
        return self._read(base)

    def put(self, base: ArrayLike, part: ArrayLike) -> Array:
        """The base with another part."""
        return make_complex(part, imag(base)) if self._is_real else make_complex(real(base), part)

    def evaluate(self, x: ArrayLike) -> Array:
        """An array whose elements lie like those of the part: each beside one of the other part."""
        return np.lib.stride_tricks.as_strided(x, np.shape(x), tuple([2 * n for n in np.asarray(x).strides]))


REAL_PART = ComplexPart(real, is_real=True)
IMAGINARY_PART = ComplexPart(imag, is_real=False)


def _real(self: Tracer) -> Array:
    """The real part; a view."""
    return view(self, REAL_PART if self.aval.dtype.kind == "c" else Slice(whole_index(self.aval.shape)))


def _imag(self: Tracer) -> Array:
    """The imaginary part; a view of complex numbers, zeros otherwise."""
    if self.aval.dtype.kind == "c":
        return view(self, IMAGINARY_PART)
    return broadcast_from(self, self.aval.dtype.type(0))


def broadcast_from(x: Tracer, scalar: ArrayLike) -> Array:
    """A scalar spread over the shape of a tracer, in its trace."""
    index = x._recorder.literal(scalar, x.aval.dtype, weak=False)
    one = Tracer(x._recorder, index, x._recorder.avals[index])
    return Broadcast(x.aval.shape, ()).bind(one) if x.aval.shape else one


def _write_real(self: Tracer, value: Array) -> None:
    _real(self)[...] = value


def _write_imag(self: Tracer, value: Array) -> None:
    if self.aval.dtype.kind != "c":
        raise TypeError("array does not have imaginary part to set")
    view(self, IMAGINARY_PART)[...] = value  # type: ignore[index]


# -- methods ----------------------------------------------------------------------------------------------


def _reversed_axes(self: Tracer) -> Array:
    """The array with its axes in reverse order."""
    return view(self, Permute(tuple(range(self.aval.ndim))[::-1]))


def _transpose(self: Tracer, *axes: AxisLike) -> Array:
    if not axes or axes == (None,):
        return transpose(self)
    return transpose(self, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes)


install(
    {
        "transpose": _transpose,
        "T": property(_reversed_axes),
        "mT": property(matrix_transpose),
        "swapaxes": swapaxes,
        "diagonal": diagonal,
        "real": property(_real, _write_real),
        "imag": property(_imag, _write_imag),
    }
)
