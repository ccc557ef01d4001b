"""Operands that are neither tracers nor arrays: lists of numbers, and arrays of tracers.

``np.array([t0, t1])`` cannot be intercepted: NumPy asks each element for its array. A tracer inside a
list answers with itself, so the result is an object array whose elements are tracers; this module turns
such arrays (and nested lists) back into one tracer when they next meet an operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval, aval_of, refuse_other_arithmetic
from funcgrad.ir.catalog import CATALOG
from funcgrad.source import Source, user_location
from funcgrad.tracing.labelled import is_labelled, values_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, ArrayLike

_PLAIN = (Tracer, float, int, np.ndarray, complex, bool)
_NUMERIC = "fciub"


def asoperand(x: ArrayLike) -> Array:
    """`x` as a tracer, a NumPy array or scalar, or a Python scalar.

    Raises DtypeError for what is not numeric, ShapeError for lists of unequal lengths.
    """
    if type(x) in _PLAIN and not (type(x) is np.ndarray and x.dtype.kind not in _NUMERIC):
        return x
    if isinstance(x, np.generic) and x.dtype.kind in _NUMERIC:
        return x
    if isinstance(x, list | tuple):
        return _joined(x) if holds_tracer(x) else _numeric(np.asarray(x), x)
    if is_labelled(x):
        return asoperand(values_of(x))
    if isinstance(x, np.ndarray):
        try:
            refuse_other_arithmetic(x)
        except TypeError as error:
            raise DtypeError(str(error), source=Source(*user_location())) from None
    array = np.asarray(x)
    return _stacked(array) if array.dtype == object else _numeric(array, x)


def holds_tracer(items: Sequence[Any]) -> bool:
    """Whether a tracer, or an array of tracers, stands anywhere in nested lists."""
    return any(
        type(x) is Tracer
        or (isinstance(x, list | tuple) and holds_tracer(x))
        or (isinstance(x, np.ndarray) and x.dtype == object)
        for x in items
    )


def _numeric(array: Array, x: Anything) -> Array:
    if array.dtype.kind not in _NUMERIC:
        raise DtypeError(f"a {type(x).__name__} of dtype {array.dtype} is not numeric")
    return array


def _joined(items: Sequence[Any]) -> Array:
    """One tracer from nested lists; Python numbers count with their default dtypes, as in ``np.array``."""
    operands = [asoperand(x) for x in items]
    avals = [_aval(x) for x in operands]
    shapes = {x.shape for x in avals}
    if len(shapes) > 1:
        found = ", ".join(str(shape) for shape in sorted(shapes))
        raise ShapeError(f"a list whose elements have different shapes cannot be an array: {found}")
    dtype = np.result_type(*[x.dtype for x in avals])
    if len(operands) > FEW:
        rows = rows_of_one(operands)
        if rows is not None:
            return rows if rows.aval.dtype == dtype else CATALOG["cast"](dtype).bind(rows)
    return CATALOG["stack"](0).bind(*[_cast(x, aval, dtype) for x, aval in zip(operands, avals, strict=True)])


FEW = 16
"""Up to so many elements nobody asks whether they are rows of one array."""


def rows_of_one(items: Sequence[Any], few: int = FEW) -> Array:
    """The array whose rows end the list, with what stands before them; None where fewer are rows of one."""
    first = len(items)
    base: tuple[Any, int] | None = None
    expected = -1
    while first and type(items[first - 1]) is Tracer:
        place = row_place(items[first - 1])
        if place is None or (base is not None and place != (*base, expected)):
            break
        base, expected = place[:2], place[2] - 1
        first -= 1
    if base is None or len(items) - first <= few:
        return None
    recorder, index = base
    array = Tracer(recorder, index, recorder.avals[index])
    shape = array.aval.shape
    start = expected + 1
    count = len(items) - first
    rest = [(0, n, 1) for n in shape[1:]]
    rows = array if count == shape[0] else CATALOG["slice"](((start, count, 1), *rest)).bind(array)
    if not first:
        return rows
    head = _joined(items[:first])
    dtype = np.result_type(_aval(head).dtype, rows.aval.dtype)
    parts = [_cast(head, _aval(head), dtype), _cast(rows, rows.aval, dtype)]
    return CATALOG["concatenate"](0).bind(*parts)


def row_place(x: Tracer) -> tuple[Any, int, int] | None:
    """The recorder and the index of the array that `x` is a row of, and which; None where it is none."""
    if x._view is not None:
        return None
    recorder, index = x._recorder, x._index
    while type(step := recorder.steps[index]) is not tuple:
        outer = recorder.captured_at(index)
        if outer is None:
            return None
        recorder, index = outer._recorder, outer._index
    if step[0].name != "slice":
        return None
    row, *rest = step[0].index
    shape = recorder.avals[step[1]].shape
    whole = all(entry == (0, n, 1) for entry, n in zip(rest, shape[1:], strict=True))
    return (recorder, step[1], row) if type(row) is int and whole else None


def _stacked(array: Array) -> Array:
    """One tracer from an object array whose elements are tracers and numbers."""
    for item in array.flat:
        if not isinstance(item, Tracer | np.ndarray | np.generic | float | int | complex):
            raise DtypeError(f"an array that holds a {type(item).__name__} is not numeric")
    if array.ndim == 0:
        return array[()]
    stacked = _joined(list(array.flat))
    return (
        stacked if array.ndim == 1 else CATALOG["reshape"](array.shape + stacked.aval.shape[1:]).bind(stacked)
    )


def _aval(x: Anything) -> Aval:
    return x.aval if type(x) is Tracer else aval_of(x)


def _cast(x: Anything, aval: Aval, dtype: np.dtype[Any]) -> Array:
    if type(x) is not Tracer:
        return np.asarray(x, dtype)[()]
    return x if aval.dtype == dtype and not aval.weak else CATALOG["cast"](dtype).bind(x)
