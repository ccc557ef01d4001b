"""Making arrays: constants, ranges, grids, copies and conversions.

Inside a trace these return traced arrays, which can be assigned into; outside, NumPy's own. Shapes,
counts and steps decide the structure of the computation, so traced ones must have values.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from funcgrad.errors import ShapeError
from funcgrad.numpy.arrays.memory import ROWS, UNKNOWN, layout_of, lie_as, summarised
from funcgrad.numpy.arrays.movement import offsets, whole
from funcgrad.numpy.arrays.shapes import as_array, in_order, laid_out, layout_in, reshaped
from funcgrad.numpy.arrays.views import broadcast_to
from funcgrad.numpy.dispatch import implements, unsupported
from funcgrad.ops.arrays.structure import Broadcast, Reshape, aval, cast, reshape, shape_of
from funcgrad.source import Source, user_location
from funcgrad.tracing.aliasing import is_view, view
from funcgrad.tracing.lists import asoperand, holds_tracer
from funcgrad.tracing.python.standins import stands_in
from funcgrad.tracing.recorder import Recorder, active_recorder
from funcgrad.tracing.tracer import Tracer, install
from funcgrad.types import Array, ArrayLike, Device, DTypeLike, Number, ShapeLike

__all__ = [
    "array",
    "asanyarray",
    "asarray",
    "ascontiguousarray",
    "astype",
    "copy",
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "identity",
    "ones",
    "ones_like",
    "tri",
    "zeros",
    "zeros_like",
]

# -- into the trace ---------------------------------------------------------------------------------------


def entered(array: ArrayLike) -> Array:
    """The array as a traced one, if a trace is open; tracers as they are."""
    recorder = active_recorder()
    if recorder is None or type(array) is Tracer:
        return array
    array = np.asarray(array)
    if not array.shape:
        return as_writable(recorder, array.reshape(1))
    index = recorder.index_of(array)
    return Tracer(recorder, index, recorder.avals[index])


def as_writable(recorder: Recorder, array: ArrayLike) -> Tracer:
    """An array of rank 0: a view of an array of one element, for it can be written, unlike a scalar."""
    index = recorder.index_of(array)
    return view(Tracer(recorder, index, recorder.avals[index]), Reshape(()))


def filled(shape: ShapeLike, value: ArrayLike, dtype: DTypeLike, order: str = "C") -> Array:
    """An array with one scalar everywhere, traced if a trace is open."""
    sizes = shape if isinstance(shape, tuple | list | np.ndarray) else (shape,)
    target = tuple([n if type(n) is int else operator.index(n) for n in sizes])
    recorder = active_recorder()
    dtype = np.dtype(dtype)
    if recorder is None:
        return np.full(target, value, dtype, order)  # type: ignore[call-overload]
    if any(n < 0 for n in target):
        raise ValueError("negative dimensions are not allowed")
    index = recorder.literal(value, dtype, weak=False)
    scalar = Tracer(recorder, index, recorder.avals[index])
    full: Tracer = Broadcast(target or (1,), ()).bind(scalar)
    lie_as(full, layout_in(full, order) if order == "F" else ROWS)
    return full if target else view(full, Reshape(()))


def check_device(device: Device) -> None:
    """Raise ValueError for a device that is not the processor."""
    if device not in (None, "cpu"):
        raise ValueError(f'the only device is "cpu", got {device!r}')


# -- constants --------------------------------------------------------------------------------------------


@implements(np.zeros)
def zeros(shape: ShapeLike, dtype: DTypeLike = float, order: str = "C", *, device: Device = None) -> Array:
    """An array of zeros.

    >>> print(fg.numpy.zeros(3))
    [0. 0. 0.]
    """
    check_device(device)
    return filled(shape, 0, float if dtype is None else dtype, order)


@implements(np.ones)
def ones(shape: ShapeLike, dtype: DTypeLike = None, order: str = "C", *, device: Device = None) -> Array:
    """An array of ones.

    >>> print(fg.numpy.ones(3))
    [1. 1. 1.]
    """
    check_device(device)
    return filled(shape, 1, float if dtype is None else dtype, order)


@implements(np.empty)
def empty(shape: ShapeLike, dtype: DTypeLike = float, order: str = "C", *, device: Device = None) -> Array:
    """An array to be written into; it holds zeros.

    >>> fg.numpy.empty((2, 3)).shape
    (2, 3)
    """
    check_device(device)
    return filled(shape, 0, float if dtype is None else dtype, order)


@implements(np.full)
def full(
    shape: ShapeLike,
    fill_value: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "C",
    *,
    device: Device = None,
) -> Array:
    """An array with one value everywhere, which may be traced, or broadcast to the shape.

    >>> print(fg.numpy.full(2, 7.0))
    [7. 7.]
    """
    check_device(device)
    value = asoperand(fill_value)
    dtype = aval(value).dtype if dtype is None else np.dtype(dtype)
    if type(value) is not Tracer and not shape_of(value):
        return filled(shape, value, dtype, order)
    return copied(broadcast_to(cast(value, dtype), shape), order)


def _like(a: ArrayLike, dtype: DTypeLike, shape: ShapeLike) -> tuple[Any, np.dtype[Any]]:
    seen = aval(as_array(a))
    return (seen.shape if shape is None else shape), (seen.dtype if dtype is None else np.dtype(dtype))


@implements(np.zeros_like)
def zeros_like(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: ShapeLike = None,
    **options: object,
) -> Array:
    """Zeros of the shape and dtype of another array.

    >>> print(fg.numpy.zeros_like(np.arange(2.0)))
    [0. 0.]
    """
    return as_like(a, filled(*_shape_value_dtype(a, 0, dtype, shape)), order)


@implements(np.ones_like)
def ones_like(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: ShapeLike = None,
    **options: object,
) -> Array:
    """Ones of the shape and dtype of another array.

    >>> print(fg.numpy.ones_like(np.arange(2.0)))
    [1. 1.]
    """
    return as_like(a, filled(*_shape_value_dtype(a, 1, dtype, shape)), order)


@implements(np.empty_like)
def empty_like(
    prototype: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: ShapeLike = None,
    **options: object,
) -> Array:
    """An array to be written into, of the shape and dtype of another; it holds zeros.

    >>> fg.numpy.empty_like(np.arange(2.0)).shape
    (2,)
    """
    return as_like(prototype, filled(*_shape_value_dtype(prototype, 0, dtype, shape)), order)


def as_like(a: ArrayLike, made: Array, order: str) -> Array:
    """A fresh array of the shape of another, or of its rank, that lies in memory as the other does."""
    if type(made) is not Tracer or made.aval.ndim < 2 or order == "C":
        return made
    x: Any = as_array(a)
    if order != "F" and (shape_of(x) != made.aval.shape or type(x) is not Tracer):
        if len(shape_of(x)) != made.aval.ndim:
            return made
        picture = np.empty_like(x, np.int8, order, shape=made.aval.shape) if type(x) is not Tracer else None  # type: ignore[call-overload]
        if picture is None and layout_of(x) is not ROWS:
            return lie_as(made, UNKNOWN)
        return made if picture is None else lie_as(made, summarised(picture))
    return lie_as(made, layout_in(made if order == "F" else x, order))


def _shape_value_dtype(a: ArrayLike, value: int, dtype: DTypeLike, shape: ShapeLike) -> tuple[Any, int, Any]:
    target, kind = _like(a, dtype, shape)
    return target, value, kind


@implements(np.full_like)
def full_like(
    a: ArrayLike,
    fill_value: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: ShapeLike = None,
    **options: object,
) -> Array:
    """One value everywhere, in the shape and dtype of another array.

    >>> print(fg.numpy.full_like(np.arange(2), 7))
    [7 7]
    """
    target, kind = _like(a, dtype, shape)
    return as_like(a, full(target, fill_value, kind), order)


@implements(np.eye)
def eye(
    N: Number,
    M: ArrayLike = None,
    k: Number = 0,
    dtype: DTypeLike = float,
    order: str = "C",
    *,
    device: Device = None,
) -> Array:
    """Ones on the k-th diagonal, zeros elsewhere; `k` may be traced.

    >>> print(fg.numpy.eye(2))
    [[1. 0.]
     [0. 1.]]
    """
    check_device(device)
    dtype = float if dtype is None else dtype
    if type(k) is not Tracer:
        return entered(np.eye(N, M, k, dtype))
    return cast(offsets(N, N if M is None else M) == whole(k, "k of eye"), np.dtype(dtype))


@implements(np.identity)
def identity(n: Number, dtype: DTypeLike = None) -> Array:
    """The identity matrix.

    >>> print(fg.numpy.identity(2))
    [[1. 0.]
     [0. 1.]]
    """
    return eye(n, dtype=float if dtype is None else dtype)


@implements(np.tri)
def tri(N: Number, M: ArrayLike = None, k: Number = 0, dtype: DTypeLike = float) -> Array:
    """Ones at and below the k-th diagonal, zeros elsewhere; `k` may be traced.

    >>> print(fg.numpy.tri(2))
    [[1. 0.]
     [1. 1.]]
    """
    if type(k) is not Tracer:
        return entered(np.tri(N, M, k, dtype))
    return cast(offsets(N, N if M is None else M) <= whole(k, "k of tri"), np.dtype(dtype))


# -- copies and conversions -------------------------------------------------------------------------------


def copied(x: ArrayLike, order: str = "C") -> Array:
    """The same values in memory of their own."""
    if type(x) is not Tracer:
        return np.array(x, order=order)  # type: ignore[call-overload]
    fresh = laid_out(x, order)
    # A scalar has no memory; a writable array of rank 0 stays one.
    return fresh if x.aval.shape or x._alias is None else view(reshape(fresh, (1,)), Reshape(()))


@implements(np.array)
def array(
    object: ArrayLike,
    dtype: DTypeLike = None,
    *,
    copy: bool | None = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
    like: object = None,
) -> Array:
    """An array from numbers, arrays, traced values, and nested lists of all of them.

    >>> fg.grad(lambda x: fg.numpy.array([x, [x**2]][1])[0])(3.0)
    np.float64(6.0)
    """
    found = converted(object, dtype)
    copy = {"ALWAYS": True, "NEVER": False, "IF_NEEDED": None}.get(getattr(copy, "name", ""), copy)
    if not copy and found is object:
        found = kept_in_order(found, order, copy)
    if isinstance(found, np.ndarray) and found.dtype.hasobject:
        return np.array(found, copy=copy, ndmin=ndmin)
    if ndmin > len(shape_of(found)):
        found = reshaped(found, (1,) * (ndmin - len(shape_of(found))) + shape_of(found))
    return with_memory(
        copied(found, order) if copy and (found is object or type(found) is not Tracer) else found
    )


def kept_in_order(x: Array, order: str | None, copy: bool | None = None) -> Array:
    """`x` itself where it lies in memory as it is asked to, else a copy; raises where none is allowed."""
    found = in_order(x, order)
    if found is not x and copy is False:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    return found


def with_memory(x: Array) -> Array:
    """The array itself, and for a scalar an array of rank 0, which can be written."""
    if type(x) is not Tracer or x.aval.shape or is_view(x):
        return x
    return view(reshaped(x, (1,)), Reshape(()))


def converted(x: ArrayLike, dtype: DTypeLike = None) -> Array:
    """`x` as an array of the dtype, traced if a trace is open; `x` itself where it is one already."""
    if dtype is None:
        return entered(as_array(x))
    if np.dtype(dtype) == object:
        return objects(x)
    wanted = numeric(dtype)
    if type(x) in (int, float, complex, bool) or (isinstance(x, list | tuple) and not holds_tracer(x)):
        # At once: what the numbers are without a dtype may hold fewer digits, or wrap around.
        return entered(np.asarray(x, wanted))
    return entered(cast(as_array(x), wanted))


def objects(x: ArrayLike) -> Array:
    """An array of objects, traced numbers among them: NumPy's own, as `asoperand` reads it."""
    if type(x) is Tracer:
        found = np.empty(x.aval.shape, object)
        for place in np.ndindex(found.shape):
            found[place] = x[place]  # type: ignore[index]
        return found
    if not (isinstance(x, list | tuple) and holds_tracer(x)):
        return np.array(x, object)
    parts = [objects(item) for item in x]
    shapes = {part.shape for part in parts}
    if len(shapes) > 1:
        raise ShapeError(
            f"a list whose elements have different shapes cannot be an array: {sorted(shapes)}",
            source=Source(*user_location()),
        )
    found = np.empty((len(parts), *shapes.pop()), object)
    for k, part in enumerate(parts):
        found[k] = part if part.shape else part[()]
    return found


def numeric(dtype: DTypeLike) -> np.dtype[Any]:
    """A dtype of numbers or booleans; raises for others."""
    found: np.dtype[Any] = np.dtype(dtype)
    if found.kind not in "fciub":
        raise unsupported(f"an array of dtype {found}")
    return found


@implements(np.asarray)
def asarray(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: str | None = None,
    *,
    copy: bool | None = None,
    device: Device = None,
    like: object = None,
) -> Array:
    """As `array`, but what is a traced array already is not copied.

    Raises ValueError where ``copy=False`` cannot be kept.

    >>> print(fg.numpy.asarray([1.0, 2.0]))
    [1. 2.]
    """
    check_device(device)
    found = converted(a, dtype)
    if copy is False and found is not a and not (isinstance(a, np.ndarray) and np.may_share_memory(found, a)):
        raise ValueError("asarray: what is no array of this dtype already cannot be had with copy=False")
    if found is a and not copy:
        found = kept_in_order(found, order, copy)
    return with_memory(copied(found, order or "K") if copy and found is a else found)


@implements(np.asanyarray)
def asanyarray(
    a: ArrayLike, dtype: DTypeLike = None, order: str | None = None, *, copy: bool | None = None
) -> Array:
    """As `asarray`.

    >>> print(fg.numpy.asanyarray([1.0, 2.0]))
    [1. 2.]
    """
    return asarray(a, dtype, order, copy=copy)


@implements(np.ascontiguousarray)
def ascontiguousarray(a: ArrayLike, dtype: DTypeLike = None) -> Array:
    """As `asarray`, with at least one axis; a copy of what does not lie in memory row by row.

    >>> fg.numpy.ascontiguousarray(3.0).shape
    (1,)
    """
    found = asarray(a, dtype, "C")
    return found if shape_of(found) else reshaped(found, (1,))


@implements(np.copy)
def copy(a: ArrayLike, order: str = "K", subok: bool = False) -> Array:
    """A copy, which can be written without changing the original.

    >>> print(fg.numpy.copy([1.0, 2.0]))
    [1. 2.]
    """
    return copied(entered(as_array(a)), order)


@implements(np.astype)
def astype(x: ArrayLike, dtype: DTypeLike, /, *, copy: bool = True, device: Device = None) -> Array:
    """The values in another dtype; complex to real keeps the real part.

    >>> print(fg.numpy.astype(np.array([1.5]), int))
    [1]
    """
    check_device(device)
    found = cast(x, numeric(dtype))
    return copied(found, "K") if copy and found is x else found


# -- methods ----------------------------------------------------------------------------------------------


def _astype(
    self: Tracer,
    dtype: DTypeLike,
    order: str = "K",
    casting: str = "unsafe",
    subok: bool = True,
    copy: bool = True,
) -> Array:
    if not np.can_cast(self.aval.dtype, dtype, casting):  # type: ignore[arg-type]
        raise TypeError(
            f"cannot cast from {self.aval.dtype} to {np.dtype(dtype)} according to the rule {casting!r}"
        )
    found = astype(self, dtype, copy=copy)
    if found is self:
        return kept_in_order(found, order)
    return found if order == "K" or type(found) is not Tracer else in_order(found, order)


def _copy(self: Tracer, order: str = "C") -> Tracer:
    found: Tracer = copied(self, order)
    return found


def _fill(self: Tracer, value: ArrayLike) -> None:
    self[...] = value  # type: ignore[index]


install({"astype": _astype, "copy": _copy, "fill": _fill})


# -- in functions that are compiled -----------------------------------------------------------------------


def numeric_dtype(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether no dtype is asked for that a traced array cannot have."""
    wanted = [*args[1:3], kwargs.get("dtype")]
    names = [x for x in wanted if isinstance(x, type | np.dtype | str) and x not in ("C", "F", "K", "A")]
    return all(np.dtype(x).kind in "fciub" for x in names) and "like" not in kwargs


def allocated(shape: ShapeLike, dtype: DTypeLike = float, *_: object, order: str | None = None) -> Array:
    """``np.ndarray`` without a buffer."""
    return empty(shape, dtype, order or "C")


def owns_its_memory(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether ``np.ndarray`` is asked for memory of its own."""
    others = {"buffer", "offset", "strides"}
    return len(args) <= 2 and others.isdisjoint(kwargs) and numeric_dtype(args, kwargs)


stands_in(np.ndarray, allocated, owns_its_memory)
for _theirs, _ours in {
    np.zeros: zeros,
    np.ones: ones,
    np.empty: empty,
    np.full: full,
    np.zeros_like: zeros_like,
    np.ones_like: ones_like,
    np.empty_like: empty_like,
    np.full_like: full_like,
    np.eye: eye,
    np.identity: identity,
}.items():
    stands_in(_theirs, _ours, numeric_dtype)
