"""Selecting by position: take, compress, delete, insert, the positions of what is not zero, and writing.

Which elements are meant shapes the result, so masks and the objects of `delete` and `insert` must have
values; the indices of `take` need none.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from funcgrad.errors import DtypeError
from funcgrad.later import Later
from funcgrad.numpy.arrays.copies import array
from funcgrad.numpy.arrays.joining import concatenate
from funcgrad.numpy.arrays.movement import take_along
from funcgrad.numpy.arrays.shapes import as_array, atleast_1d, reshaped
from funcgrad.numpy.arrays.views import broadcast_to, moveaxis
from funcgrad.numpy.dispatch import implements, unsupported
from funcgrad.numpy.picking.assignment import setitem
from funcgrad.numpy.picking.indexing import check_bounds, getitem, known_mask
from funcgrad.numpy.reducing.axes import normalized_axis
from funcgrad.ops.arrays.structure import Reshape, aval, cast, reshape, shape_of
from funcgrad.ops.elementwise.arithmetic import add, mul
from funcgrad.ops.elementwise.comparison import not_equal
from funcgrad.ops.elementwise.rounding import floor_divide, remainder
from funcgrad.ops.elementwise.selection import where
from funcgrad.tracing.aliasing import view, written_into
from funcgrad.tracing.lists import asoperand, holds_tracer
from funcgrad.tracing.recorder import recorder_of
from funcgrad.tracing.tracer import Tracer, install
from funcgrad.types import Anything, Array, ArrayLike, Option, ShapeLike

# Asked with `size` or `total_repeat_length`, mostly under `jit`.
counted = Later("funcgrad.numpy.picking.counted")
# For `take` with a mode.
modes = Later("funcgrad.numpy.picking.modes")
# Asked how arrays lie in memory.
strided = Later("funcgrad.numpy.arrays.strided")
# What is refused, and in which words.
refusals = Later("funcgrad.tracing.refusals")

__all__ = [
    "argwhere",
    "compress",
    "copyto",
    "delete",
    "extract",
    "fill_diagonal",
    "flatnonzero",
    "insert",
    "ix_",
    "nonzero",
    "place",
    "put",
    "put_along_axis",
    "putmask",
    "ravel_multi_index",
    "take",
    "unravel_index",
]

# -- reading ----------------------------------------------------------------------------------------------


@implements(np.take)
def take(
    a: ArrayLike,
    indices: ArrayLike,
    axis: int | None = None,
    out: None = None,
    mode: str = "raise",
    fill_value: ArrayLike = None,
) -> Array:
    """The elements at positions along an axis, of the flattened array for ``axis=None``.

    ``mode`` says what positions out of bounds mean: an error, the nearest end (``clip``), counting on
    from the other end (``wrap``), or ``fill``: `fill_value`, else NaN or the extreme integer.

    >>> print(fg.numpy.take([4.0, 5.0, 6.0], [0, -1]))
    [4. 6.]
    """
    if out is not None:
        raise unsupported("np.take with out=")
    x = as_array(a)
    if axis is None:
        x, axis = reshape(x, (aval(x).size,)), 0
    x = atleast_1d(x)
    axis = normalized_axis(axis, len(shape_of(x)))
    positions = as_array(indices) if not isinstance(indices, list) or indices else np.zeros(0, np.intp)
    if aval(positions).dtype.kind == "b":
        positions = cast(positions, np.intp)
    if aval(positions).dtype.kind not in "iu":
        raise DtypeError(f"positions must be integers, got {aval(positions)}")
    n = shape_of(x)[axis]
    if mode == "wrap":
        positions = remainder(positions, n)
    elif mode == "clip":
        positions = np.clip(positions, 0, n - 1)
    elif mode == "fill":
        places, inside = modes.from_start(positions, n)
        found = take_along(x, np.clip(places, 0, n - 1), axis)
        fill = modes.filling(aval(x).dtype) if fill_value is None else fill_value
        return where(
            reshape(inside, (*shape_of(inside), *[1] * (len(shape_of(x)) - axis - 1))),
            found,
            aval(x).dtype.type(fill),
        )
    elif mode != "raise":
        raise ValueError(f"mode must be 'raise', 'wrap', 'clip' or 'fill', got {mode!r}")
    return take_along(x, check_bounds(positions, axis, n), axis)


@implements(np.compress)
def compress(
    condition: ArrayLike,
    a: ArrayLike,
    axis: int | None = None,
    out: None = None,
    *,
    size: int | None = None,
    fill_value: ArrayLike = 0,
) -> Array:
    """The elements along an axis at which a vector of booleans, whose values must be known, holds.

    With `size` they may be traced: that many elements are found, or filled up with `fill_value`.

    >>> print(fg.numpy.compress([False, True], [4.0, 5.0]))
    [5.]
    """
    if out is not None:
        raise unsupported("np.compress with out=")
    if size is None:
        return take(a, np.flatnonzero(truth(condition)), axis)
    x = as_array(a)
    x, axis = (np.ravel(x), 0) if axis is None else (x, normalized_axis(axis, len(shape_of(x))))
    return counted.taken_where(condition, x, axis, size, fill_value)


@implements(np.extract)
def extract(
    condition: ArrayLike, arr: ArrayLike, *, size: int | None = None, fill_value: ArrayLike = 0
) -> Array:
    """The elements at which a condition holds; `size` and `fill_value` are as of `compress`.

    >>> print(fg.numpy.extract([[True, False]], [[4.0, 5.0]]))
    [4.]
    """
    if size is None:
        return take(arr, np.flatnonzero(truth(condition)))
    return counted.taken_where(np.ravel(condition), np.ravel(arr), 0, size, fill_value)


def truth(condition: ArrayLike) -> Array:
    """The values of a condition, of which numbers are true unless they are zero."""
    x = as_array(condition)
    return known_mask(x if aval(x).dtype.kind == "b" else not_equal(x, 0))


def known(x: ArrayLike) -> Array:
    """Positions as NumPy takes them: traced ones are asked for their values."""
    return np.asarray(x.concrete()) if type(x) is Tracer else x


@implements(np.delete)
def delete(arr: ArrayLike, obj: ArrayLike, axis: int | None = None) -> Array:
    """Without the elements at the given positions along an axis.

    >>> print(fg.numpy.delete([4.0, 5.0, 6.0], 1))
    [4. 6.]
    """
    x = as_array(arr)
    if axis is None:
        x, axis = reshape(x, (aval(x).size,)), 0
    axis = normalized_axis(axis, len(shape_of(x)))
    return take_along(x, np.delete(np.arange(shape_of(x)[axis]), known(obj)), axis)


@implements(np.insert)
def insert(arr: ArrayLike, obj: ArrayLike, values: ArrayLike, axis: int | None = None) -> Array:
    """With values inserted before the given positions along an axis.

    >>> print(fg.numpy.insert([4.0, 6.0], 1, 5.0))
    [4. 5. 6.]
    """
    x, added = as_array(arr), as_array(values)
    if axis is None:
        x, axis = reshape(x, (aval(x).size,)), 0
    axis = normalized_axis(axis, len(shape_of(x)))
    shape = shape_of(x)
    where = known(obj)
    if np.ndim(where) == 0 and not isinstance(where, slice):
        # One position takes as many slices as there are, and NumPy lets them come with the axis first.
        added = moveaxis(
            reshaped(added, (1,) * (len(shape) - len(shape_of(added))) + shape_of(added)), 0, axis
        )
        count = shape_of(added)[axis]
    else:
        count = int(np.insert(np.zeros(shape[axis], np.intp), where, 1).sum())
    added = broadcast_to(cast(added, aval(x).dtype), (*shape[:axis], count, *shape[axis + 1 :]))
    order = np.insert(np.arange(shape[axis]), where, shape[axis] + np.arange(count))
    return take_along(concatenate([x, added], axis), order, axis)


# -- positions --------------------------------------------------------------------------------------------


@implements(np.nonzero)
def nonzero(a: ArrayLike, *, size: int | None = None, fill_value: ArrayLike = 0) -> tuple[Any, ...]:
    """The positions of the elements that are not zero, an array for each axis; the values must be known.

    With `size` they may be traced: that many positions are found, or filled up with `fill_value`, a number or
    one for each axis.

    >>> print(*fg.numpy.nonzero([0.0, 3.0, 4.0]))
    [1 2]
    >>> print(*fg.jit(lambda a: fg.numpy.nonzero(a, size=3, fill_value=-1))([0.0, 3.0, 4.0]))
    [ 1  2 -1]
    """
    return np.nonzero(truth(a)) if size is None else counted.positions(a, size, fill_value)


@implements(np.argwhere)
def argwhere(a: ArrayLike, *, size: int | None = None, fill_value: ArrayLike = 0) -> Array:
    """The positions of the elements that are not zero, as rows; `size` and `fill_value` are as of `nonzero`.

    >>> print(fg.numpy.argwhere([0.0, 3.0]))
    [[1]]
    """
    if size is None:
        return np.argwhere(truth(a))
    return np.stack(counted.positions(a, size, fill_value), axis=-1)


@implements(np.flatnonzero)
def flatnonzero(a: ArrayLike, *, size: int | None = None, fill_value: ArrayLike = 0) -> Array:
    """The positions in the flattened array of what is not zero; `size` and `fill_value` are as of `nonzero`.

    >>> print(fg.numpy.flatnonzero([[0.0, 3.0]]))
    [1]
    """
    return np.flatnonzero(truth(a)) if size is None else counted.positions(np.ravel(a), size, fill_value)[0]


@implements(np.ix_)
def ix_(*args: object) -> tuple[Any, ...]:
    """Index arrays that select the rows, columns and so on that the vectors name.

    >>> [x.shape for x in fg.numpy.ix_([0, 1], [2])]
    [(2, 1), (1, 1)]
    """
    found = []
    for k, item in enumerate(args):
        x = as_array(item)
        if len(shape_of(x)) != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if aval(x).dtype.kind == "b":
            x = np.flatnonzero(known_mask(x))
        elif not aval(x).size:
            x = np.zeros(0, np.intp)
        found.append(reshape(x, (1,) * k + (aval(x).size,) + (1,) * (len(args) - k - 1)))
    return tuple(found)


@implements(np.unravel_index)
def unravel_index(indices: ArrayLike, shape: ShapeLike, order: str = "C") -> tuple[Any, ...]:
    """Positions in the flattened array as positions along each axis.

    >>> [int(x) for x in fg.numpy.unravel_index(5, (2, 3))]
    [1, 2]
    """
    x = as_array(indices)
    if recorder_of((x,)) is None:
        return np.unravel_index(x, shape, order)  # type: ignore[call-overload, no-any-return]
    sizes = [shape] if isinstance(shape, int) else list(shape)
    found = []
    for n in reversed(sizes) if order == "C" else sizes:
        found.append(remainder(x, n))
        x = floor_divide(x, n)
    return tuple(found[::-1] if order == "C" else found)


@implements(np.ravel_multi_index)
def ravel_multi_index(
    multi_index: ArrayLike, dims: ShapeLike, mode: object = "raise", order: str = "C"
) -> Array:
    """Positions along each axis as positions in the flattened array.

    >>> int(fg.numpy.ravel_multi_index((1, 2), (2, 3)))
    5
    """
    items = [as_array(x) for x in multi_index]
    if recorder_of(items) is None:
        return np.ravel_multi_index(tuple(items), dims, mode, order)  # type: ignore[call-overload]
    if mode != "raise":
        raise unsupported(f"np.ravel_multi_index with mode={mode!r}")
    pairs = list(zip(items, dims, strict=True))
    total: Any = 0
    for x, n in pairs if order == "C" else pairs[::-1]:
        total = add(mul(total, n), x)
    return total


# -- writing ----------------------------------------------------------------------------------------------


def writes(write: Callable[..., None]) -> Callable[..., Array | None]:
    """What writes into traced arrays: NumPy's function where nothing is traced.

    With ``inplace=False`` a copy is written and returned, as by JAX's function of the name.
    """
    numpys = getattr(np, write.__name__)

    @wraps(write)
    def either(a: ArrayLike, *args: Anything, inplace: bool = True, **options: Anything) -> Array | None:
        target = a if inplace else array(a)
        plain = type(target) is np.ndarray and not holds_tracer((*args, *options.values()))
        (numpys if plain else write)(target, *args, **options)
        return None if inplace else target

    return either


@implements(np.copyto)
@writes
def copyto(dst: ArrayLike, src: ArrayLike, casting: str = "same_kind", where: ArrayLike = True) -> None:
    """Write the values of one array into a traced one, where a condition holds.

    >>> def f(x):
    ...     y = 2.0 * x
    ...     np.copyto(y, 7.0, where=x < 2.0)
    ...     return y.sum()
    >>> print(fg.grad(f)(np.array([1.0, 3.0])))
    [0. 2.]
    """
    target = written_into(dst, "np.copyto")
    if not np.can_cast(aval(as_array(src)).dtype, target.dtype, casting):  # type: ignore[arg-type]
        raise TypeError(
            f"cannot cast {aval(as_array(src))} to {target.aval} according to the rule {casting!r}"
        )
    setitem(target, ..., src if where is True else np.where(where, src, target))


@implements(np.put)
@writes
def put(a: ArrayLike, ind: ArrayLike, v: ArrayLike, mode: str = "raise") -> None:
    """Write values at positions of the flattened array; too few values are repeated.

    >>> def f(x):
    ...     y = 2.0 * x
    ...     np.put(y, [0], x[1] ** 2)
    ...     return y.sum()
    >>> print(fg.grad(f)(np.array([1.0, 3.0])))
    [0. 8.]
    """
    if mode != "raise":
        raise unsupported(f"np.put with mode={mode!r}")
    flat = flat_view(written_into(a, "np.put"))
    positions = np.ravel(as_array(ind))
    values = as_array(v)
    same = aval(values).size == aval(positions).size
    setitem(flat, positions, np.ravel(values) if same else np.resize(values, shape_of(positions)))


@implements(np.place)
@writes
def place(arr: ArrayLike, mask: ArrayLike, vals: ArrayLike) -> None:
    """Write values in turn where a mask, whose values must be known, holds; too few are repeated.

    >>> def f(x):
    ...     y = 2.0 * x
    ...     np.place(y, [True, False, True], [x[1], 7.0])
    ...     return y.sum()
    >>> print(fg.grad(f)(np.ones(3)))
    [0. 3. 0.]
    """
    flat = flat_view(written_into(arr, "np.place"))
    positions = np.flatnonzero(truth(mask))
    if len(positions) and not aval(as_array(vals)).size:
        raise ValueError("Cannot insert from an empty array!")
    setitem(flat, positions, np.resize(as_array(vals), len(positions)))


@implements(np.putmask)
@writes
def putmask(a: ArrayLike, mask: ArrayLike, values: ArrayLike) -> None:
    """Write values where a mask, whose values must be known, holds: at each place the one that stands there.

    Too few values are repeated.

    >>> def f(x):
    ...     y = 2.0 * x
    ...     np.putmask(y, [True, False, True], x[::-1] ** 2)
    ...     return y.sum()
    >>> print(fg.grad(f)(np.ones(3)))
    [2. 2. 2.]
    """
    flat = flat_view(written_into(a, "np.putmask"))
    positions = np.flatnonzero(truth(mask))
    setitem(flat, positions, np.resize(values, a.shape).reshape(-1)[positions])


@implements(np.put_along_axis)
@writes
def put_along_axis(arr: ArrayLike, indices: ArrayLike, values: ArrayLike, axis: int | None = -1) -> None:
    """Write values at positions along an axis, one set of positions for each line along it.

    >>> def f(x):
    ...     y = 2.0 * x
    ...     np.put_along_axis(y, np.argmax(x, axis=1)[:, None], 0.0, axis=1)
    ...     return y.sum()
    >>> print(fg.grad(f)(np.array([[1.0, 3.0], [4.0, 2.0]])))
    [[2. 0.]
     [0. 2.]]
    """
    target = written_into(arr, "np.put_along_axis")
    if axis is None:
        target, axis = flat_view(target), 0
    axis = normalized_axis(axis, len(shape_of(target)))
    positions = as_array(indices)
    ndim = len(shape_of(target))
    lines = [
        positions if k == axis else np.arange(n).reshape((1,) * k + (n,) + (1,) * (ndim - k - 1))
        for k, n in enumerate(shape_of(target))
    ]
    setitem(target, tuple(lines), values)


@implements(np.fill_diagonal)
@writes
def fill_diagonal(a: ArrayLike, val: ArrayLike, wrap: bool = False) -> None:
    """Write values on the diagonal of a matrix, or of an array whose axes have one size.

    >>> def f(x):
    ...     y = 2.0 * x
    ...     np.fill_diagonal(y, 0.0)
    ...     return y.sum()
    >>> print(fg.grad(f)(np.ones((2, 2))))
    [[0. 2.]
     [2. 0.]]
    """
    target = written_into(a, "np.fill_diagonal")
    shape = shape_of(target)
    if len(shape) < 2:
        raise ValueError("array must be at least 2-d")
    if len(shape) == 2:
        step, end = shape[1] + 1, None if wrap else shape[1] * shape[1]
    else:
        if len(set(shape)) != 1:
            raise ValueError("All dimensions of input must be of equal length")
        step, end = 1 + int(np.cumprod(shape[:-1]).sum()), None
    flat = flat_view(target)
    count = len(range(*slice(None, end, step).indices(aval(flat).size)))
    values = as_array(val)
    setitem(flat, slice(None, end, step), np.resize(values, count) if shape_of(values) else values)


def flat_view(x: Tracer) -> Tracer:
    """All elements in one axis, as a view even where NumPy's would be a copy: what ``x.flat`` writes to."""
    return view(x, Reshape((x.aval.size,)))


def set_flat(x: Tracer, value: ArrayLike) -> None:
    """``x.flat = value``: all elements in order, the value repeated as often as it takes."""
    given = asoperand(value)
    setitem(flat_view(x), ..., np.resize(given, x.aval.size) if shape_of(given) else given)


# -- methods ----------------------------------------------------------------------------------------------


def _compress(self: Tracer, condition: ArrayLike, axis: int | None = None, out: None = None) -> Array:
    return compress(condition, self, axis, out)


def _view(self: Tracer, *args: Option, **kwargs: Option) -> Array:
    return strided.seen_as(self, *args, **kwargs) if args or kwargs else getitem(self, ...)


def _strides(self: Tracer) -> tuple[int, ...]:
    """Bytes between neighbours; SciPy's own code, which asks where it takes the memory, is refused."""
    refusals.refuse_inside_scipy(self, False, sys._getframe(1))
    found: tuple[int, ...] = strided.strides_of(self)
    return found


install(
    {
        "take": take,
        "compress": _compress,
        "nonzero": nonzero,
        "put": put,
        "flat": property(flat_view, set_flat),
        "strides": property(_strides),
        "view": _view,
    }
)
