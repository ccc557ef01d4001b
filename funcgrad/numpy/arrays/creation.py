"""Making arrays of constants: zeros, ones, a number, the identity.

Inside a trace these return traced arrays, which can be assigned into; outside, NumPy's own. Shapes,
counts and steps decide the structure of the computation, so traced ones must have values.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from funcgrad.numpy.arrays.copies import check_device, copied, entered
from funcgrad.numpy.arrays.memory import ROWS, UNKNOWN, layout_of, lie_as, summarised
from funcgrad.numpy.arrays.movement import offsets, whole
from funcgrad.numpy.arrays.shapes import as_array, layout_in
from funcgrad.numpy.arrays.views import broadcast_to
from funcgrad.numpy.dispatch import implements
from funcgrad.ops.arrays.structure import Broadcast, Reshape, aval, cast, shape_of
from funcgrad.tracing.aliasing import view
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.python.standins import stands_in
from funcgrad.tracing.recorder import active_recorder
from funcgrad.tracing.tracer import Tracer, install
from funcgrad.types import Array, ArrayLike, Device, DTypeLike, Number, ShapeLike

__all__ = [
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


def _fill(self: Tracer, value: ArrayLike) -> None:
    self[...] = value  # type: ignore[index]


install({"fill": _fill})


# -- in functions that are compiled -----------------------------------------------------------------------


def numeric_dtype(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether no dtype is asked for that a traced array cannot have."""
    wanted = [*args[1:3], kwargs.get("dtype")]
    names = [x for x in wanted if isinstance(x, type | np.dtype | str) and x not in ("C", "F", "K", "A")]
    return (
        all(np.dtype(x).kind in "fciub" for x in names)
        and not any(names_fields(x) for x in wanted)
        and "like" not in kwargs
    )


def names_fields(dtype: object) -> bool:
    """Whether a dtype of records is written out: ``[("a", float), ("b", int)]``, or a dict."""
    first = dtype[0] if isinstance(dtype, list) and dtype else None
    return isinstance(dtype, dict) or (isinstance(first, tuple) and isinstance(first[0], str))


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
