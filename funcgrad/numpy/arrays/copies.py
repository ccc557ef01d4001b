"""Arrays from what is there: into the trace, copied, converted to another dtype or order."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.errors import ShapeError
from funcgrad.numpy.arrays.shapes import as_array, in_order, laid_out, reshaped
from funcgrad.numpy.dispatch import implements, unsupported
from funcgrad.ops.arrays.structure import Reshape, cast, reshape, shape_of
from funcgrad.source import Source, user_location
from funcgrad.tracing.aliasing import is_view, view
from funcgrad.tracing.lists import holds_tracer
from funcgrad.tracing.recorder import Recorder, active_recorder
from funcgrad.tracing.tracer import Tracer, install
from funcgrad.types import Array, ArrayLike, Device, DTypeLike

__all__ = [
    "array",
    "asanyarray",
    "asarray",
    "ascontiguousarray",
    "astype",
    "copy",
]


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


def check_device(device: Device) -> None:
    """Raise ValueError for a device that is not the processor."""
    if device not in (None, "cpu"):
        raise ValueError(f'the only device is "cpu", got {device!r}')


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


install({"astype": _astype, "copy": _copy})
