"""Making arrays: constants, ranges, grids, copies and conversions.

Inside a trace these return traced arrays, which can be assigned into; outside, NumPy's own. Shapes,
counts and steps decide the structure of the computation, so traced ones must have values.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.numpy.axes import refused
from funcgrad.numpy.dispatch import implements, unsupported
from funcgrad.numpy.movement import concatenate, stack
from funcgrad.numpy.views import as_array, broadcast_to, moveaxis, reshaped
from funcgrad.ops.arithmetic import add, div, integer_pow, mul, sub
from funcgrad.ops.structure import Broadcast, Reshape, aval, broadcast, cast, reshape, shape_of
from funcgrad.tracing.aliasing import view
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import Recorder, active_recorder, recorder_of
from funcgrad.tracing.tracer import Tracer, install

_np: Any = np
"""NumPy's own makers, whose overloads know no `Any`."""

# -- into the trace ---------------------------------------------------------------------------------------


def entered(array: Any) -> Any:
    """The array as a traced one, if a trace is open; tracers as they are."""
    recorder = active_recorder()
    if recorder is None or type(array) is Tracer:
        return array
    array = np.asarray(array)
    if not array.shape:
        return as_writable(recorder, array.reshape(1))
    index = recorder.index_of(array)
    return Tracer(recorder, index, recorder.avals[index])


def as_writable(recorder: Recorder, array: Any) -> Tracer:
    """An array of rank 0: a view of an array of one element, for it can be written, unlike a scalar."""
    index = recorder.index_of(array)
    return view(Tracer(recorder, index, recorder.avals[index]), Reshape(()))


def filled(shape: Any, value: Any, dtype: Any) -> Any:
    """An array with one scalar everywhere, traced if a trace is open."""
    sizes = shape if isinstance(shape, tuple | list | np.ndarray) else (shape,)
    target = tuple([n if type(n) is int else operator.index(n) for n in sizes])
    recorder = active_recorder()
    dtype = np.dtype(dtype)
    if recorder is None:
        return np.full(target, value, dtype)
    if any(n < 0 for n in target):
        raise ValueError("negative dimensions are not allowed")
    index = recorder.literal(value, dtype, weak=False)
    scalar = Tracer(recorder, index, recorder.avals[index])
    full: Tracer = Broadcast(target or (1,), ()).bind(scalar)
    return full if target else view(full, Reshape(()))


# -- constants --------------------------------------------------------------------------------------------


@implements(np.zeros)
def zeros(shape: Any, dtype: Any = float, order: str = "C") -> Any:
    """An array of zeros.

    >>> print(fg.numpy.zeros(3))
    [0. 0. 0.]
    """
    return filled(shape, 0, dtype)


@implements(np.ones)
def ones(shape: Any, dtype: Any = None, order: str = "C") -> Any:
    """An array of ones.

    >>> print(fg.numpy.ones(3))
    [1. 1. 1.]
    """
    return filled(shape, 1, float if dtype is None else dtype)


@implements(np.empty)
def empty(shape: Any, dtype: Any = float, order: str = "C") -> Any:
    """An array to be written into; it holds zeros.

    >>> fg.numpy.empty((2, 3)).shape
    (2, 3)
    """
    return filled(shape, 0, dtype)


@implements(np.full)
def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> Any:
    """An array with one value everywhere, which may be traced, or broadcast to the shape.

    >>> print(fg.numpy.full(2, 7.0))
    [7. 7.]
    """
    value = asoperand(fill_value)
    dtype = aval(value).dtype if dtype is None else np.dtype(dtype)
    if type(value) is not Tracer and not shape_of(value):
        return filled(shape, value, dtype)
    return copied(broadcast_to(cast(value, dtype), shape))


def _like(a: Any, dtype: Any, shape: Any) -> tuple[Any, np.dtype[Any]]:
    seen = aval(as_array(a))
    return (seen.shape if shape is None else shape), (seen.dtype if dtype is None else np.dtype(dtype))


@implements(np.zeros_like)
def zeros_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, **options: Any
) -> Any:
    """Zeros of the shape and dtype of another array.

    >>> print(fg.numpy.zeros_like(np.arange(2.0)))
    [0. 0.]
    """
    return filled(*_shape_value_dtype(a, 0, dtype, shape))


@implements(np.ones_like)
def ones_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, **options: Any
) -> Any:
    """Ones of the shape and dtype of another array.

    >>> print(fg.numpy.ones_like(np.arange(2.0)))
    [1. 1.]
    """
    return filled(*_shape_value_dtype(a, 1, dtype, shape))


@implements(np.empty_like)
def empty_like(
    prototype: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, **options: Any
) -> Any:
    """An array to be written into, of the shape and dtype of another; it holds zeros.

    >>> fg.numpy.empty_like(np.arange(2.0)).shape
    (2,)
    """
    return filled(*_shape_value_dtype(prototype, 0, dtype, shape))


def _shape_value_dtype(a: Any, value: int, dtype: Any, shape: Any) -> tuple[Any, int, Any]:
    target, kind = _like(a, dtype, shape)
    return target, value, kind


@implements(np.full_like)
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    **options: Any,
) -> Any:
    """One value everywhere, in the shape and dtype of another array.

    >>> print(fg.numpy.full_like(np.arange(2), 7))
    [7 7]
    """
    target, kind = _like(a, dtype, shape)
    return full(target, fill_value, kind)


@implements(np.eye)
def eye(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, order: str = "C") -> Any:
    """Ones on the k-th diagonal, zeros elsewhere.

    >>> print(fg.numpy.eye(2))
    [[1. 0.]
     [0. 1.]]
    """
    return entered(np.eye(N, M, k, dtype))


@implements(np.identity)
def identity(n: Any, dtype: Any = None) -> Any:
    """The identity matrix.

    >>> print(fg.numpy.identity(2))
    [[1. 0.]
     [0. 1.]]
    """
    return eye(n, dtype=float if dtype is None else dtype)


@implements(np.tri)
def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = float) -> Any:
    """Ones at and below the k-th diagonal, zeros elsewhere.

    >>> print(fg.numpy.tri(2))
    [[1. 0.]
     [1. 1.]]
    """
    return entered(np.tri(N, M, k, dtype))


# -- ranges -----------------------------------------------------------------------------------------------


@implements(np.arange)
def arange(start: Any = None, stop: Any = None, step: Any = None, dtype: Any = None) -> Any:
    """Numbers from `start` up to, not including, `stop`. Traced bounds must have values.

    >>> print(fg.numpy.arange(2, 8, 3))
    [2 5]
    """
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    if recorder_of((start, stop, step)) is None:
        return entered(_np.arange(start, stop, step, dtype))
    count = max(0, math.ceil((float(stop) - float(start)) / float(step)))
    numbers = add(start, mul(step, np.arange(count)))
    return numbers if dtype is None else cast(numbers, dtype)


@implements(np.linspace)
def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Evenly spaced numbers from `start` to `stop`, which may be traced, or arrays.

    >>> print(fg.numpy.linspace(0.0, 1.0, 3))
    [0.  0.5 1. ]
    """
    count = operator.index(num)
    start, stop = as_array(start), as_array(stop)
    if recorder_of((start, stop)) is None:
        numbers, step = _np.linspace(start, stop, count, endpoint, True, dtype, axis)
        return (entered(numbers), step) if retstep else entered(numbers)
    if count < 0:
        raise ValueError(f"Number of samples, {count}, must be non-negative.")
    sections = count - 1 if endpoint else count
    delta = sub(mul(stop, 1.0), start)
    step = div(delta, float(sections)) if sections > 0 else mul(delta, np.nan)
    rank = len(shape_of(delta))
    places = _np.arange(count, dtype=aval(delta).dtype).reshape((count,) + (1,) * rank)
    # As NumPy: the step is formed first, and the last number is exactly `stop`.
    numbers = add(start, mul(places, step)) if sections > 0 else add(start, mul(places, delta))
    if endpoint and count > 1:
        last = broadcast(mul(stop, 1.0), (1, *shape_of(delta)), tuple(range(1, rank + 1)))
        numbers = concatenate([numbers[:-1], cast(last, aval(numbers).dtype)])
    if axis:
        numbers = _first_axis_to(numbers, axis)
    if dtype is not None:
        numbers = cast(numbers, dtype)
    return (numbers, step) if retstep else numbers


def _first_axis_to(x: Any, axis: int) -> Any:
    return moveaxis(x, 0, axis)


@implements(np.logspace)
def logspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Numbers evenly spaced on a logarithmic scale: powers of `base`.

    >>> print(fg.numpy.logspace(0.0, 2.0, 3))
    [  1.  10. 100.]
    """
    if recorder_of((start, stop, base)) is None:
        return entered(_np.logspace(start, stop, num, endpoint, base, dtype, axis))
    numbers = np.power(base, linspace(start, stop, num, endpoint, axis=axis))
    return numbers if dtype is None else cast(numbers, dtype)


@implements(np.geomspace)
def geomspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Any:
    """Numbers whose ratio is constant, from `start` to `stop`.

    >>> print(fg.numpy.geomspace(1.0, 4.0, 3))
    [1. 2. 4.]
    """
    if recorder_of((start, stop)) is None:
        return entered(_np.geomspace(start, stop, num, endpoint, dtype, axis))
    # Powers of the ratio serve both signs and complex numbers, as long as it is not negative.
    ratio = div(mul(stop, 1.0), start)
    exponents = _np.linspace(0.0, 1.0, operator.index(num), endpoint)
    rank = len(shape_of(ratio))
    numbers = mul(start, np.power(ratio, exponents.reshape(exponents.shape + (1,) * rank)))
    if axis:
        numbers = _first_axis_to(numbers, axis)
    return numbers if dtype is None else cast(numbers, dtype)


# -- grids ------------------------------------------------------------------------------------------------


@implements(np.meshgrid)
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Any, ...]:
    """Coordinate arrays of the grid spanned by vectors.

    >>> print(fg.numpy.meshgrid([1, 2], [3, 4])[1])
    [[3 3]
     [4 4]]
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    vectors = [reshape(x, (aval(x).size,)) for x in map(as_array, xi)]
    places = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) > 1:
        places[:2] = 1, 0
    shape = [0] * len(vectors)
    for x, place in zip(vectors, places, strict=True):
        shape[place] = aval(x).size
    if sparse:
        ones = [1] * len(vectors)
        found = [
            reshape(x, (*ones[:place], aval(x).size, *ones[place + 1 :]))
            for x, place in zip(vectors, places, strict=True)
        ]
    else:
        found = [broadcast(x, tuple(shape), (place,)) for x, place in zip(vectors, places, strict=True)]
    return tuple([copied(x) if copy else x for x in found])


def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """The indices of the elements of an array of the given shape, one array for each axis.

    >>> fg.numpy.indices((2, 3)).shape
    (2, 2, 3)
    """
    found = _np.indices(dimensions, dtype, sparse)
    return tuple([entered(x) for x in found]) if sparse else entered(found)


@implements(np.fromfunction)
def fromfunction(function: Callable[..., Any], shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    """An array from a function of the index arrays.

    >>> print(fg.numpy.fromfunction(lambda i, j: i + j, (2, 2)))
    [[0. 1.]
     [1. 2.]]
    """
    return function(*[entered(x) for x in np.indices(shape, dtype)], **kwargs)


@implements(np.vander)
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """The powers of the elements of a vector as columns, the highest first.

    >>> print(fg.numpy.vander([2.0, 3.0]))
    [[2. 1.]
     [3. 1.]]
    """
    vector = as_array(x)
    if len(shape_of(vector)) != 1:
        raise refused("x must be a one-dimensional array or sequence.")
    count = shape_of(vector)[0] if N is None else operator.index(N)
    powers = [integer_pow(vector, k) for k in range(count)]
    if not powers:
        return filled((shape_of(vector)[0], 0), 0, aval(vector).dtype)
    return stack(powers if increasing else powers[::-1], axis=1)


# -- copies and conversions -------------------------------------------------------------------------------


def copied(x: Any) -> Any:
    """The same values in memory of their own."""
    if type(x) is not Tracer:
        return np.array(x)
    fresh = x.frozen()
    # A scalar has no memory; a writable array of rank 0 stays one.
    return fresh if x.aval.shape or x._alias is None else view(reshape(fresh, (1,)), Reshape(()))


@implements(np.array)
def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
    like: Any = None,
) -> Any:
    """An array from numbers, arrays, traced values, and nested lists of all of them.

    >>> fg.grad(lambda x: fg.numpy.array([x, [x**2]][1])[0])(3.0)
    np.float64(6.0)
    """
    found = converted(object, dtype)
    if ndmin > len(shape_of(found)):
        found = reshaped(found, (1,) * (ndmin - len(shape_of(found))) + shape_of(found))
    return copied(found) if copy and (found is object or type(found) is not Tracer) else found


def converted(x: Any, dtype: Any = None) -> Any:
    """`x` as an array of the dtype, traced if a trace is open; `x` itself where it is one already."""
    operand = as_array(x)
    if dtype is not None:
        operand = cast(operand, numeric(dtype))
    return entered(operand)


def numeric(dtype: Any) -> np.dtype[Any]:
    """A dtype of numbers or booleans; raises for others."""
    found: np.dtype[Any] = np.dtype(dtype)
    if found.kind not in "fciub":
        raise unsupported(f"an array of dtype {found}")
    return found


@implements(np.asarray)
def asarray(
    a: Any,
    dtype: Any = None,
    order: str | None = None,
    *,
    copy: bool | None = None,
    device: Any = None,
    like: Any = None,
) -> Any:
    """As `array`, but what is a traced array already is not copied.

    >>> print(fg.numpy.asarray([1.0, 2.0]))
    [1. 2.]
    """
    found = converted(a, dtype)
    return copied(found) if copy and found is a else found


@implements(np.asanyarray)
def asanyarray(a: Any, dtype: Any = None, order: str | None = None, *, copy: bool | None = None) -> Any:
    """As `asarray`.

    >>> print(fg.numpy.asanyarray([1.0, 2.0]))
    [1. 2.]
    """
    return asarray(a, dtype, copy=copy)


@implements(np.ascontiguousarray)
def ascontiguousarray(a: Any, dtype: Any = None) -> Any:
    """As `asarray`, with at least one axis: traced arrays have no layout.

    >>> fg.numpy.ascontiguousarray(3.0).shape
    (1,)
    """
    found = asarray(a, dtype)
    return found if shape_of(found) else reshaped(found, (1,))


@implements(np.copy)
def copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    """A copy, which can be written without changing the original.

    >>> print(fg.numpy.copy([1.0, 2.0]))
    [1. 2.]
    """
    return copied(entered(as_array(a)))


@implements(np.astype)
def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """The values in another dtype; complex to real keeps the real part.

    >>> print(fg.numpy.astype(np.array([1.5]), int))
    [1]
    """
    found = cast(x, numeric(dtype))
    return copied(found) if copy and found is x else found


# -- methods ----------------------------------------------------------------------------------------------


def _astype(
    self: Tracer, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
) -> Any:
    if not np.can_cast(self.aval.dtype, dtype, casting):  # type: ignore[arg-type]
        raise TypeError(
            f"cannot cast from {self.aval.dtype} to {np.dtype(dtype)} according to the rule {casting!r}"
        )
    return astype(self, dtype, copy=copy)


def _copy(self: Tracer, order: str = "C") -> Tracer:
    found: Tracer = copied(self)
    return found


def _fill(self: Tracer, value: Any) -> None:
    self[...] = value  # type: ignore[index]


install({"astype": _astype, "copy": _copy, "fill": _fill})
