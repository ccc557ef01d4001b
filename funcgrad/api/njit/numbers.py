"""Numbers as Numba types them: what is read from an array of small numbers computes in 64 bits.

In Numba ``x[i] * 2`` of an ``int32`` array is an ``int64``, and of a ``float32`` array a ``float64``; NumPy
keeps the dtype of the array. Two elements of a ``float32`` array would be multiplied in 32 bits by Numba;
here they are in 64, which is nearer to what is meant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.api.python.blocks.items import Zipped
from funcgrad.ops.arrays.structure import cast
from funcgrad.tracing.tracer import Tracer

_WIDE = {
    **dict.fromkeys(("int8", "int16", "int32", "uint8", "uint16", "uint32"), np.dtype(np.int64)),
    **dict.fromkeys(("float16", "float32"), np.dtype(np.float64)),
    "complex64": np.dtype(np.complex128),
}


def widened(x: object) -> object:
    """A number that was read from an array, in 64 bits; anything else as it is.

    >>> widened(np.int32(7)).dtype, widened(np.ones(2, np.float32)).dtype
    (dtype('int64'), dtype('float32'))
    """
    if type(x) is Tracer:
        wide = _WIDE.get(x.aval.dtype.name) if not x.aval.shape else None
        return x if wide is None else cast(x, wide)
    if isinstance(x, np.generic):
        wide = _WIDE.get(x.dtype.name)
        return x if wide is None else x.astype(wide)
    return x


def with_wide_items(x: object) -> object:
    """What a ``for`` goes over, with numbers in 64 bits."""
    if isinstance(x, Zipped):
        return Zipped([with_wide_items(part) for part in x.parts], x.counts_from)
    if isinstance(x, Tracer | np.ndarray) and len(x.shape) == 1:
        wide = _WIDE.get(x.dtype.name)
        return x if wide is None else cast(x, wide)
    return x


def as_argument(x: object) -> object:
    """An argument as Numba has it: Python's whole numbers have 64 bits, and wrap."""
    if type(x) is int and -(2**63) <= x < 2**63:
        return np.int64(x)
    return of_items(x, as_argument) if isinstance(x, tuple) else x


def of_items(x: tuple[Any, ...], function: Callable[[Any], Any]) -> tuple[Any, ...]:
    """The tuple of what a function makes of each item; a named one of the same names.

    >>> of_items((1, 2), float)
    (1.0, 2.0)
    """
    items = [function(item) for item in x]
    return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
