"""Operands that are neither tracers nor arrays: lists of numbers, and arrays of tracers.

``np.array([t0, t1])`` cannot be intercepted: NumPy asks each element for its array. A tracer inside a
list answers with itself, so the result is an object array whose elements are tracers; this module turns
such arrays (and nested lists) back into one tracer when they next meet an operation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.errors import DtypeError
from funcgrad.tracing.tracer import Tracer

_PLAIN = (Tracer, float, int, np.ndarray, complex, bool)


def asoperand(x: Any) -> Any:
    """`x` as a tracer, a NumPy array or scalar, or a Python scalar.

    Raises DtypeError for what is not numeric.
    """
    if type(x) in _PLAIN and not (type(x) is np.ndarray and x.dtype.kind not in "fciub"):
        return x
    if isinstance(x, np.generic) and x.dtype.kind in "fciub":
        return x
    array = np.asarray(x) if not isinstance(x, list | tuple) else _array_of_list(x)
    if array.dtype == object:
        return stacked(array)
    if array.dtype.kind not in "fciub":
        raise DtypeError(f"a {type(x).__name__} of dtype {array.dtype} is not numeric")
    return array


def _array_of_list(items: Any) -> Any:
    if any(isinstance(x, Tracer) for x in items):
        array = np.empty(len(items), dtype=object)
        for i, x in enumerate(items):
            array[i] = x
        return array
    return np.array([_array_of_list(x) if isinstance(x, list | tuple) else x for x in items])


def stacked(array: Any) -> Any:
    """One tracer from an object array whose elements are tracers and numbers."""
    from funcgrad.ops.movement import stack_elements  # the layer above knows how to concatenate

    for item in array.ravel():
        if not isinstance(item, Tracer | np.ndarray | np.generic | float | int | complex):
            raise DtypeError(f"an array that holds a {type(item).__name__} is not numeric")
    return stack_elements(array)
