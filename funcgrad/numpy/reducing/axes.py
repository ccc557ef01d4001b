"""The arguments that reductions share: which axes, whether they are kept, and where the result goes."""

from __future__ import annotations

import operator
from functools import lru_cache
from typing import Any

import numpy as np

from funcgrad.errors import ShapeError
from funcgrad.ir.avals import Shape
from funcgrad.ir.steps import as_source
from funcgrad.later import Later
from funcgrad.ops.arrays.structure import cast, reshape, shape_of
from funcgrad.source import user_location
from funcgrad.tracing.aliasing import written_into
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import recorder_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, AxisLike

Axes = tuple[int, ...]

# Where the last axes are refused.
matrices = Later("funcgrad.ops.linalg.matrices")


class AxisError(ShapeError, np.exceptions.AxisError):
    """Raised for an axis that the array does not have."""


def normalized_axes(axis: AxisLike, ndim: int) -> Axes:
    """The `axis` argument of a reduction as ascending numbers from 0; None means all axes.

    Raises AxisError for an axis that is not there, ShapeError for one named twice.

    >>> normalized_axes(None, 2), normalized_axes(-1, 2), normalized_axes((1, 0), 3)
    ((0, 1), (1,), (0, 1))
    """
    if axis is None:
        return _all_axes(ndim)
    if isinstance(axis, tuple):
        return _distinct_axes(tuple([operator.index(a) for a in axis]), ndim)
    number = axis if type(axis) is int else operator.index(axis)
    if not ndim and number in (0, -1):
        return ()  # as NumPy: a number may be reduced along its only axis, which it does not have
    return _distinct_axes((number,), ndim)


def existing_axes(axis: AxisLike, ndim: int) -> Axes:
    """As `normalized_axes`, for functions to which a number has no axis at all."""
    if not ndim and axis is not None and not isinstance(axis, tuple):
        raise no_such_axis(operator.index(axis), ndim)
    return normalized_axes(axis, ndim)


def normalized_axis(axis: AxisLike, ndim: int) -> int:
    """A single axis as a number from 0; raises AxisError where there is no such axis.

    >>> normalized_axis(-1, 2)
    1
    """
    number = operator.index(axis)
    if not -ndim <= number < ndim:
        raise no_such_axis(number, ndim)
    return number % ndim


@lru_cache(maxsize=64)
def _all_axes(ndim: int) -> Axes:
    return tuple(range(ndim))


@lru_cache(maxsize=1024)
def _distinct_axes(numbers: Axes, ndim: int) -> Axes:
    found = tuple(sorted([normalized_axis(a, ndim) for a in numbers]))
    if len(set(found)) != len(found):
        raise ShapeError("duplicate value in 'axis'", source=as_source(user_location()))
    return found


def no_such_axis(axis: int, ndim: int) -> AxisError:
    """The error for an axis out of bounds, at the user's line."""
    return AxisError(
        f"axis {axis} is out of bounds for array of dimension {ndim}", source=as_source(user_location())
    )


def with_kept_axes(found: ArrayLike, shape: Shape, axes: Axes) -> Array:
    """The result of reducing an array of `shape`, with its lost axes back, of size one."""
    return reshape(found, tuple([1 if a in axes else n for a, n in enumerate(shape)]))


def traced(a: ArrayLike, *others: ArrayLike) -> Tracer | None:
    """`a` as a tracer if it is or holds one; where another argument is traced, `a` as an array.

    None where nothing is traced: then NumPy itself is to answer.
    """
    x = asoperand(a)
    if type(x) is Tracer:
        return x
    operands = [asoperand(y) if isinstance(y, list | tuple) else y for y in others]
    if recorder_of(operands) is None:
        return None
    return np.asarray(x)  # type: ignore[return-value] # rules take arrays as they take tracers


def strong(x: ArrayLike) -> Array:
    """`x` as a value of its own; where it stands for a Python number, as an array of its dtype."""
    if type(x) is not Tracer:
        return x
    return cast(x, x.aval.dtype) if x.aval.weak else x.frozen()


def stored(result: object, out: Array, name: str) -> Array:
    """The result, written to `out` where one is given; a real array cannot take a traced result."""
    target = out[0] if isinstance(out, tuple) else out
    if target is None:
        return result
    target = written_into(target, f"{name} with out=")
    target[...] = result
    return target


def mask_for(where: ArrayLike, shape: Shape) -> Array:
    """The `where` argument as booleans that broadcast to `shape`."""
    mask = cast(asoperand(where), np.bool_)
    own = shape_of(mask)
    if len(own) > len(shape) or any(m not in (1, n) for m, n in zip(own[::-1], shape[::-1], strict=False)):
        raise refused(f"a where mask of shape {own} does not broadcast to the array's shape {shape}")
    return mask


def refused(message: str, remedy: str | None = None) -> ShapeError:
    """A ShapeError at the user's line."""
    return ShapeError(message, source=as_source(user_location()), remedy=remedy)


def refused_matrix(message: str) -> ShapeError:
    """A MatrixShapeError at the user's line."""
    refusal: ShapeError = matrices.MatrixShapeError(message, source=as_source(user_location()))
    return refusal


def is_given(option: object) -> bool:
    """Whether an argument is neither None nor NumPy's sign for no value."""
    return option is not None and option is not np._NoValue


def given(**options: object) -> dict[str, Any]:
    """The options that are not None, for NumPy functions that tell the two apart.

    >>> given(initial=None, where=True)
    {'where': True}
    """
    return {name: value for name, value in options.items() if value is not None}
