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

_PLAIN = (Tracer, float, int, np.ndarray, complex, bool)
_NUMERIC = "fciub"


def asoperand(x: Any) -> Any:
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


def _numeric(array: Any, x: Any) -> Any:
    if array.dtype.kind not in _NUMERIC:
        raise DtypeError(f"a {type(x).__name__} of dtype {array.dtype} is not numeric")
    return array


def _joined(items: Sequence[Any]) -> Any:
    """One tracer from nested lists; Python numbers count with their default dtypes, as in ``np.array``."""
    operands = [asoperand(x) for x in items]
    avals = [_aval(x) for x in operands]
    shapes = {x.shape for x in avals}
    if len(shapes) > 1:
        found = ", ".join(str(shape) for shape in sorted(shapes))
        raise ShapeError(f"a list whose elements have different shapes cannot be an array: {found}")
    dtype = np.result_type(*[x.dtype for x in avals])
    return CATALOG["stack"](0).bind(*[_cast(x, aval, dtype) for x, aval in zip(operands, avals, strict=True)])


def _stacked(array: Any) -> Any:
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


def _aval(x: Any) -> Aval:
    return x.aval if type(x) is Tracer else aval_of(x)


def _cast(x: Any, aval: Aval, dtype: np.dtype[Any]) -> Any:
    if type(x) is not Tracer:
        return np.asarray(x, dtype)[()]
    return x if aval.dtype == dtype and not aval.weak else CATALOG["cast"](dtype).bind(x)
