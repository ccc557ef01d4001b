"""Choice: `where` and its relatives, extremes, `clip`, and replacing what is not a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.errors import DtypeError, FuncgradError, ShapeError
from funcgrad.later import Later
from funcgrad.numpy.dispatch import FUNCTIONS, implements, unsupported
from funcgrad.numpy.elementwise.ufuncs import Operand, elementwise, loop_dtypes, own, untraced
from funcgrad.ops.arrays.structure import aval, cast, reshape
from funcgrad.ops.elementwise import comparison, complexes, floats, selection
from funcgrad.ops.reducing import extremes
from funcgrad.source import user_location
from funcgrad.tracing.aliasing import is_view, written_into
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import located
from funcgrad.tracing.tracer import Tracer, install
from funcgrad.types import Array, ArrayLike, UfuncOption

# Asked with `size` or `total_repeat_length`, mostly under `jit`.
counted = Later("funcgrad.numpy.picking.counted")

__all__ = [
    "clip",
    "fmax",
    "fmin",
    "heaviside",
    "maximum",
    "minimum",
    "nan_to_num",
    "piecewise",
    "select",
    "where",
]


@elementwise(np.maximum, extremes.maximum)
def maximum(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The larger of two numbers, NaN if either is; equal ones share the derivative evenly.

    With a Python number it is a clip from below: ``maximum(x, 0)`` has the derivative 1/2 at 0.

    >>> print(fg.numpy.maximum([1.0, np.nan, 3.0], 2.0))
    [ 2. nan  3.]
    """


@elementwise(np.minimum, extremes.minimum)
def minimum(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The smaller of two numbers, NaN if either is; equal ones share the derivative evenly.

    >>> print(fg.numpy.minimum([1.0, np.nan, 3.0], 2.0))
    [ 1. nan  2.]
    """


@elementwise(np.fmax, extremes.fmax)
def fmax(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The larger of two numbers, or the one that is not NaN; equal ones share the derivative evenly.

    >>> print(fg.numpy.fmax([1.0, np.nan, 3.0], 2.0))
    [2. 2. 3.]
    """


@elementwise(np.fmin, extremes.fmin)
def fmin(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The smaller of two numbers, or the one that is not NaN; equal ones share the derivative evenly.

    >>> print(fg.numpy.fmin([1.0, np.nan, 3.0], 2.0))
    [1. 2. 2.]
    """


@elementwise(np.heaviside, floats.heaviside)
def heaviside(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """0 for negative x, 1 for positive x, y for 0; the derivative by x is 0.

    >>> print(fg.numpy.heaviside([-1.0, 0.0, 2.0], 0.5))
    [0.  0.5 1. ]
    """


@implements(np.where)
def where(
    condition: Operand,
    x: Operand | None = None,
    y: Operand | None = None,
    /,
    *,
    size: int | None = None,
    fill_value: ArrayLike = 0,
) -> Array:
    """``x`` where the condition holds, else ``y``; the branch not taken leaks no NaN into derivatives.

    With the condition alone, the indices of its true elements, as `nonzero` with `size` and `fill_value`.

    >>> print(fg.numpy.where([True, False], [1.0, 2.0], 0.0))
    [1. 0.]
    >>> print(fg.grad(lambda x: fg.numpy.where(x > 0, np.sqrt(x), 0.0))(0.0))
    0.0
    """
    if x is None or y is None:
        if x is not None or y is not None:
            raise ValueError("where takes either both or neither of x and y")
        return nonzero_of(condition) if size is None else counted.positions(condition, size, fill_value)
    if size is not None:
        raise ValueError("size of where is for a condition alone")
    mask = condition if type(condition) is Tracer else asoperand(condition)
    if aval(mask).dtype.kind != "b":
        mask = comparison.not_equal(mask, 0)
    return selection.where(mask, x, y)


def nonzero_of(condition: Operand) -> Array:
    """The indices of the true elements."""
    if untraced(asoperand(condition)):
        return np.nonzero(asoperand(condition))
    ours = FUNCTIONS.get(np.nonzero)
    if ours is None:
        raise unsupported("np.where with one argument")
    return ours(condition)


@implements(np.select)
def select(condlist: Sequence[Operand], choicelist: Sequence[Operand], default: Operand = 0) -> Array:
    """The choice of the first condition that holds, else the default; other choices leak no NaN.

    >>> x = np.array([-2.0, 0.5, 3.0])
    >>> print(fg.numpy.select([x < 0, x < 1], [0.0, x], 1.0))
    [0.  0.5 1. ]
    """
    conditions = [asoperand(c) for c in condlist]
    choices = [asoperand(c) for c in choicelist]
    out = asoperand(default)
    if untraced(*conditions, *choices, out):
        return np.select(conditions, choices, out)
    if len(conditions) != len(choices) or not conditions:
        raise at_user_line(
            ShapeError(
                f"select needs as many choices as conditions, and at least one: "
                f"got {len(conditions)} conditions and {len(choices)} choices"
            )
        )
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        if aval(condition).dtype.kind != "b":
            raise at_user_line(DtypeError(f"a condition of select is {aval(condition)}, not boolean"))
        out = selection.where(condition, choice, out)
    return out


@implements(np.piecewise)
def piecewise(x: Operand, condlist: ArrayLike, funclist: Sequence[Any], *args: object, **kw: object) -> Array:
    """Functions or values by condition: the last condition that holds decides, in the dtype of ``x``.

    Traced, every function runs on the whole array, and those not chosen leak no NaN into derivatives. One
    function more than conditions is for where none holds.

    >>> print(fg.numpy.piecewise([-4.0, 9.0], [[True, False]], [0.0, np.sqrt]))
    [0. 3.]
    """
    value = asoperand(x)
    conditions = conditions_of(condlist, aval(value).ndim)
    if untraced(value, *conditions):
        return np.piecewise(value, condlist, list(funclist), *args, **kw)
    functions = list(funclist)
    if len(functions) - len(conditions) not in (0, 1):
        n = len(conditions)
        raise at_user_line(
            ShapeError(f"piecewise with {n} conditions needs {n} or {n + 1} functions, got {len(functions)}")
        )
    pieces = [f(value, *args, **kw) if callable(f) else f for f in functions]
    pieces = [cast(asoperand(piece), aval(value).dtype) for piece in pieces]
    out = pieces.pop() if len(pieces) > len(conditions) else aval(value).dtype.type(0)
    for condition, piece in zip(conditions, pieces, strict=True):
        # A condition is a mask: it says which leading axes of `x` it is about.
        shape = aval(condition).shape
        mask = reshape(condition, shape + (1,) * (aval(value).ndim - len(shape)))
        out = where(mask, piece, out)
    return out


def conditions_of(condlist: ArrayLike, ndim: int) -> list[Any]:
    """The conditions of `piecewise` on an array of that rank; a row of truth values is a single one."""
    if not isinstance(condlist, list | tuple):
        condlist = asoperand(condlist)
        if aval(condlist).ndim == 0:
            return [condlist]
    entries = [asoperand(entry) for entry in condlist]
    if ndim and entries and aval(entries[0]).ndim == 0:
        return [asoperand(condlist)]
    return entries


def at_user_line(error: FuncgradError) -> FuncgradError:
    """The error with the line of the user's that is running."""
    return located(error, user_location())


@implements(np.clip)
def clip(
    a: Operand,
    a_min: Operand | None = None,
    a_max: Operand | None = None,
    out: Array = None,
    *,
    min: Operand | None = None,
    max: Operand | None = None,
) -> Array:
    """``a``, but ``a_min`` where it is below and ``a_max`` where it is above; None means no bound.

    The derivative by ``a`` is 1 between the bounds and on them, 0 outside.

    >>> print(fg.numpy.clip([-1.0, 0.5, 2.0], 0.0, 1.0))
    [0.  0.5 1. ]
    >>> print(fg.grad(lambda x: fg.numpy.clip(x, 0.0, 1.0))(1.0))
    1.0
    """
    x = asoperand(a)
    low = asoperand(a_min if min is None else min) if a_min is not None or min is not None else None
    high = asoperand(a_max if max is None else max) if a_max is not None or max is not None else None
    if untraced(x, low, high, out):
        return np.clip(x, low, high, out=out)
    clipped = _clipped(x, low, high)
    if out is None:
        return clipped
    target = written_into(out, "np.clip with out=")
    target[...] = clipped
    return target


def _clip_method(self: Tracer, min: ArrayLike = None, max: ArrayLike = None, out: Array = None) -> Array:
    return clip(self, min, max, out)


install({"clip": _clip_method})


def _clipped(x: Array, low: Array, high: Array) -> Array:
    dtype = aval(x).dtype
    if dtype.kind in "iu":
        # As NumPy: a Python integer that the dtype does not hold is no bound.
        limits = np.iinfo(dtype)
        low = None if type(low) is int and low <= limits.min else low
        high = None if type(high) is int and high >= limits.max else high
    if low is None and high is None:
        return own(x)
    if low is not None and high is not None:
        return extremes.clip(x, low, high)
    bounded = loop_dtypes(np.maximum, x, high if low is None else low)[-1]
    if bounded.kind not in "fiu":
        return extremes.minimum(x, high) if low is None else extremes.maximum(x, low)
    least, most = limits_of(bounded)
    return extremes.clip(x, least if low is None else low, most if high is None else high)


def limits_of(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """The least and the greatest number of a real dtype, infinities where it has them.

    >>> print(*limits_of(np.dtype(np.int8)), *limits_of(np.dtype(np.float32)))
    -128 127 -inf inf
    """
    if dtype.kind == "f":
        return dtype.type(-np.inf), dtype.type(np.inf)
    info = np.iinfo(dtype)
    return dtype.type(info.min), dtype.type(info.max)


@implements(np.nan_to_num)
def nan_to_num(
    x: Operand,
    copy: bool = True,
    nan: Operand = 0.0,
    posinf: Operand | None = None,
    neginf: Operand | None = None,
) -> Array:
    """``x`` with numbers for NaN and infinities, by default 0 and the greatest and least finite numbers.

    The derivative is 1 where ``x`` stays and 0 where it is replaced.
    With ``copy=False`` an array is changed itself.

    >>> print(fg.numpy.nan_to_num([1.0, np.nan, np.inf], posinf=9.0))
    [1. 0. 9.]
    """
    value = asoperand(x)
    numbers: tuple[Any, ...] = (nan, posinf, neginf)
    if untraced(value, *numbers):
        return np.nan_to_num(value, copy, *numbers)
    found = _all_numbers(value, *numbers)
    if copy or type(x) is not Tracer or not (x.aval.shape or is_view(x)):
        return own(value) if found is value else found
    if found is not value:
        x[...] = found  # type: ignore[index]
    return x


def _all_numbers(x: Array, *numbers: ArrayLike) -> Array:
    kind = aval(x).dtype.kind
    if kind == "c":
        return complexes.make_complex(
            _numbers_only(complexes.real(x), *numbers), _numbers_only(complexes.imag(x), *numbers)
        )
    return _numbers_only(x, *numbers) if kind == "f" else x


def _numbers_only(x: Array, nan: Array, posinf: Array, neginf: Array) -> Array:
    dtype = aval(x).dtype
    limits = np.finfo(dtype)
    most = limits.max if posinf is None else posinf
    least = limits.min if neginf is None else neginf
    found = selection.where(comparison.isnan(x), cast(nan, dtype), x)
    found = selection.where(comparison.equal(x, np.inf), cast(most, dtype), found)
    return selection.where(comparison.equal(x, -np.inf), cast(least, dtype), found)
