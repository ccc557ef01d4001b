"""Movement that NumPy does without copying: reshaping, reordering axes, flipping, broadcasting, diagonals.

Of a tracer the result is a view: writing into it writes the array it was taken from, and the other way
round. Reshaping gives a view where NumPy's would be one: always, except of a view whose elements do not
stand in memory as the new shape needs them, such as a transposed matrix that is flattened.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ir.avals import Shape
from funcgrad.numpy.axes import normalized_axis, refused
from funcgrad.numpy.dispatch import implements, unsupported
from funcgrad.ops.complexes import imag, make_complex, real
from funcgrad.ops.movement import Flip
from funcgrad.ops.slicing import Slice, whole_index
from funcgrad.ops.structure import Broadcast, Permute, Reshape, aval, shape_of
from funcgrad.tracing.aliasing import Lens, view
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer, install


def as_array(x: Any) -> Any:
    """`x` as a tracer or a NumPy array or scalar, which have a shape."""
    operand = asoperand(x)
    return operand if isinstance(operand, Tracer | np.ndarray | np.generic) else np.asarray(operand)


def seen_through(x: Any, lens: Lens) -> Any:
    """What the lens reads: a view of a tracer, NumPy's own of an array."""
    return view(x, lens) if type(x) is Tracer else lens.get(np.asarray(x))


def ordered_axes(axes: Any, ndim: int, what: str = "axes") -> tuple[int, ...]:
    """One axis or several as ints from 0, in the order given; raises for repeated ones."""
    numbers = tuple(axes) if isinstance(axes, tuple | list | np.ndarray) else (axes,)
    found = tuple([normalized_axis(a, ndim) for a in numbers])
    if len(set(found)) != len(found):
        raise refused(f"{what} {numbers} name an axis twice")
    return found


# -- shapes -----------------------------------------------------------------------------------------------


def new_shape(size: int, shape: Any) -> Shape:
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


def reshaped(x: Any, shape: Shape) -> Any:
    """The same elements in another shape: a view where NumPy's would be one."""
    lens = Reshape(shape)
    if type(x) is not Tracer:
        return np.reshape(x, shape)
    return view(x, lens) if is_viewable(x, shape) else lens.bind(x)


def is_viewable(x: Tracer, shape: Shape) -> bool:
    """Whether NumPy could see the elements of `x` in another shape without copying them."""
    lenses: list[Any] = []
    base = x
    while base._alias is not None and base._alias.base is not None:
        lenses.append(base._alias.lens)
        base = base._alias.base
    if not lenses or not x.aval.size:
        return True
    # NumPy itself decides, on an array of one byte that is made to look like this one and never read.
    steps = [math.prod(base.aval.shape[k + 1 :]) for k in range(base.aval.ndim)]
    layout = np.lib.stride_tricks.as_strided(np.zeros(1, np.int8), base.aval.shape, steps)
    for lens in reversed(lenses):
        layout = lens.evaluate(layout)
    try:
        np.reshape(layout, shape, copy=False)
    except (ValueError, TypeError):  # a TypeError from NumPy 2.0, which has no copy=
        return False
    return True


@implements(np.reshape)
def reshape(a: Any, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> Any:
    """The same elements in another shape; one size may be -1.

    ``order="F"`` reads and writes them with the first index changing fastest.

    >>> print(fg.numpy.reshape(np.arange(6), (2, -1)))
    [[0 1 2]
     [3 4 5]]
    """
    x = as_array(a)
    seen = aval(x)
    target = new_shape(seen.size, shape)
    if order == "F":
        reversed_axes = tuple(range(seen.ndim))[::-1]
        flat = reshaped(seen_through(x, Permute(reversed_axes)), target[::-1])
        found = seen_through(flat, Permute(tuple(range(len(target)))[::-1]))
    elif order in ("C", "A"):
        found = reshaped(x, target)
    else:
        raise unsupported(f"np.reshape with order={order!r}")
    return found.copy() if copy else found


@implements(np.ravel)
def ravel(a: Any, order: str = "C") -> Any:
    """All elements in one axis.

    >>> print(fg.numpy.ravel([[1, 2], [3, 4]]))
    [1 2 3 4]
    """
    return reshape(a, (-1,), "A" if order == "K" else order)


@implements(np.squeeze)
def squeeze(a: Any, axis: Any = None) -> Any:
    """Without axes of size one, or without those named, which must have size one.

    >>> fg.numpy.squeeze(np.zeros((1, 3, 1))).shape
    (3,)
    """
    x = as_array(a)
    shape = shape_of(x)
    axes = [k for k, n in enumerate(shape) if n == 1] if axis is None else ordered_axes(axis, len(shape))
    if any(shape[k] != 1 for k in axes):
        raise refused("cannot select an axis to squeeze out which has size not equal to one")
    return reshaped(x, tuple([n for k, n in enumerate(shape) if k not in axes]))


@implements(np.expand_dims)
def expand_dims(a: Any, axis: Any) -> Any:
    """With new axes of size one at the given places of the result.

    >>> fg.numpy.expand_dims(np.zeros(3), (0, 2)).shape
    (1, 3, 1)
    """
    x = as_array(a)
    count = len(axis) if isinstance(axis, tuple | list) else 1
    axes = ordered_axes(axis, len(shape_of(x)) + count)
    sizes = iter(shape_of(x))
    ndim = len(shape_of(x)) + count
    return reshaped(x, tuple([1 if k in axes else next(sizes) for k in range(ndim)]))


def _at_least(arrays: tuple[Any, ...], added: Any) -> Any:
    found = tuple([reshaped(x, added(shape_of(x))) for x in map(as_array, arrays)])
    return found[0] if len(found) == 1 else found


def _shape_1d(shape: Shape) -> Shape:
    return shape or (1,)


def _shape_2d(shape: Shape) -> Shape:
    return (1,) * (2 - len(shape)) + shape


def _shape_3d(shape: Shape) -> Shape:
    return (*_shape_2d(shape), 1) if len(shape) < 3 else shape


@implements(np.atleast_1d)
def atleast_1d(*arys: Any) -> Any:
    """With at least one axis; a tuple for several arrays.

    >>> fg.numpy.atleast_1d(3.0).shape
    (1,)
    """
    return _at_least(arys, _shape_1d)


@implements(np.atleast_2d)
def atleast_2d(*arys: Any) -> Any:
    """With at least two axes, new ones first; a tuple for several arrays.

    >>> fg.numpy.atleast_2d(np.zeros(3)).shape
    (1, 3)
    """
    return _at_least(arys, _shape_2d)


@implements(np.atleast_3d)
def atleast_3d(*arys: Any) -> Any:
    """With at least three axes; a matrix gets a last one. A tuple for several arrays.

    >>> fg.numpy.atleast_3d(np.zeros((2, 3))).shape
    (2, 3, 1)
    """
    return _at_least(arys, _shape_3d)


# -- the order of axes ------------------------------------------------------------------------------------


def permuted(x: Any, order: Sequence[int]) -> Any:
    """`x` with its axes in another order."""
    return seen_through(x, Permute(tuple(order)))


@implements(np.transpose, np.permute_dims)
def transpose(a: Any, axes: Any = None) -> Any:
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
def matrix_transpose(x: Any, /) -> Any:
    """With the last two axes exchanged.

    >>> fg.numpy.matrix_transpose(np.zeros((2, 3, 4))).shape
    (2, 4, 3)
    """
    x = as_array(x)
    if len(shape_of(x)) < 2:
        raise refused(f"matrix transpose needs at least two axes, got {aval(x)}")
    return swapaxes(x, -1, -2)


@implements(np.swapaxes)
def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
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
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
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
def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """With one axis moved before the axis `start`.

    >>> fg.numpy.rollaxis(np.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    x = as_array(a)
    ndim = len(shape_of(x))
    origin = normalized_axis(axis, ndim)
    target = normalized_axis(start, ndim + 1)
    return moveaxis(x, origin, target - (origin < target))


# -- reversal, broadcasting, diagonals --------------------------------------------------------------------


@implements(np.flip)
def flip(m: Any, axis: Any = None) -> Any:
    """With the elements in reverse order along the axes, along all by default.

    >>> print(fg.numpy.flip(np.arange(3)))
    [2 1 0]
    """
    x = as_array(m)
    ndim = len(shape_of(x))
    axes = tuple(range(ndim)) if axis is None else ordered_axes(axis, ndim)
    return seen_through(x, Flip(tuple(sorted(axes))))


@implements(np.flipud)
def flipud(m: Any) -> Any:
    """Upside down: reversed along the first axis.

    >>> print(fg.numpy.flipud(np.arange(3)))
    [2 1 0]
    """
    return flip(m, 0)


@implements(np.fliplr)
def fliplr(m: Any) -> Any:
    """Left to right: reversed along the second axis.

    >>> print(fg.numpy.fliplr([[1, 2], [3, 4]]))
    [[2 1]
     [4 3]]
    """
    return flip(m, 1)


@implements(np.rot90)
def rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
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
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
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


@implements(np.broadcast_arrays)
def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Any, ...]:
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

    def get(self, base: Any) -> Any:
        """The part of the base."""
        return self._slice.get(base)

    def put(self, base: Any, part: Any) -> Any:
        """Refuse."""
        raise ValueError("assignment destination is read-only: np.diagonal gives a read-only view")

    def evaluate(self, x: Any) -> Any:
        """The part of an array."""
        return self._slice.evaluate(x)


@implements(np.diagonal)
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
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


def diagonal_of_last(x: Any, offset: int) -> Any:
    """A diagonal of the last two axes: every (m + 1)-th element of the flattened n × m matrix."""
    *outer, n, m = shape_of(x)
    spans = [(0, size, 1) for size in outer]
    size = max(0, min(n, m - offset) if offset >= 0 else min(n + offset, m))
    start = offset if offset >= 0 else -offset * m
    flat = seen_through(x, Reshape((*outer, n * m)))
    return seen_through(flat, ReadOnlySlice(Slice((*spans, (start, size, m + 1) if size else (0, 0, 1)))))


class ComplexPart:
    """The real or the imaginary part of complex numbers, as something to write into."""

    def __init__(self, read: Any, *, is_real: bool) -> None:
        self._read = read
        self._is_real = is_real

    def get(self, base: Any) -> Any:
        """The part of the base."""
        return self._read(base)

    def put(self, base: Any, part: Any) -> Any:
        """The base with another part."""
        return make_complex(part, imag(base)) if self._is_real else make_complex(real(base), part)

    def evaluate(self, x: Any) -> Any:
        """An array whose elements stand as far apart from each other, compared with one another."""
        return x


REAL_PART = ComplexPart(real, is_real=True)
IMAGINARY_PART = ComplexPart(imag, is_real=False)


def _real(self: Tracer) -> Any:
    """The real part; a view."""
    return view(self, REAL_PART if self.aval.dtype.kind == "c" else Slice(whole_index(self.aval.shape)))


def _imag(self: Tracer) -> Any:
    """The imaginary part; a view of complex numbers, zeros otherwise."""
    if self.aval.dtype.kind == "c":
        return view(self, IMAGINARY_PART)
    return broadcast_from(self, self.aval.dtype.type(0))


def broadcast_from(x: Tracer, scalar: Any) -> Any:
    """A scalar spread over the shape of a tracer, in its trace."""
    index = x._recorder.literal(scalar, x.aval.dtype, weak=False)
    one = Tracer(x._recorder, index, x._recorder.avals[index])
    return Broadcast(x.aval.shape, ()).bind(one) if x.aval.shape else one


def _write_real(self: Tracer, value: Any) -> None:
    _real(self)[...] = value


def _write_imag(self: Tracer, value: Any) -> None:
    if self.aval.dtype.kind != "c":
        raise TypeError("array does not have imaginary part to set")
    view(self, IMAGINARY_PART)[...] = value  # type: ignore[index]


# -- methods ----------------------------------------------------------------------------------------------


def _reversed_axes(self: Tracer) -> Any:
    """The array with its axes in reverse order."""
    return view(self, Permute(tuple(range(self.aval.ndim))[::-1]))


def _reshape(self: Tracer, *shape: Any, order: str = "C", copy: bool | None = None) -> Any:
    return reshape(self, shape[0] if len(shape) == 1 else shape, order, copy=copy)


def _transpose(self: Tracer, *axes: Any) -> Any:
    if not axes or axes == (None,):
        return transpose(self)
    return transpose(self, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes)


install(
    {
        "reshape": _reshape,
        "transpose": _transpose,
        "T": property(_reversed_axes),
        "mT": property(matrix_transpose),
        "ravel": ravel,
        "squeeze": squeeze,
        "swapaxes": swapaxes,
        "diagonal": diagonal,
        "real": property(_real, _write_real),
        "imag": property(_imag, _write_imag),
    }
)
