"""What interpolators share: operands as arrays, whether anything is traced, axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.numpy.picking.positions import take
from funcgrad.ops.arrays.structure import cast
from funcgrad.ops.families import aval as aval_of
from funcgrad.scipy.originals import known_value, originals_of
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import recorder_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, DTypeLike, Index

scipys = originals_of("interpolate")
"""SciPy's functions and classes by name."""


def array(x: ArrayLike) -> Array:
    """An operand as an array, traced or not."""
    value = asoperand(x)
    return value if isinstance(value, Tracer) else np.asarray(value)


def inexact(x: ArrayLike) -> Array:
    """An operand as an array of floating-point numbers, doubles where it has others."""
    value = array(x)
    return value if aval_of(value).dtype.kind == "c" else cast(value, np.float64)


def floating_dtype(x: ArrayLike) -> DTypeLike:
    """The dtype of an array of floating-point numbers; double precision for others."""
    dtype = aval_of(x).dtype
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)


def is_traced(*values: object) -> bool:
    """Whether any of the values is traced, as it stands or in a list."""
    found = [asoperand(x) if isinstance(x, list | tuple) and x else x for x in values]
    return recorder_of(found) is not None


def require_increasing(x: ArrayLike, words: str) -> None:
    """Raise ValueError, in these words of SciPy's, for positions that are known not to rise."""
    found = known_value(x)
    if found is not None and not np.all(np.diff(found) > 0.0):
        raise ValueError(words)


def dims(x: ArrayLike) -> tuple[int, ...]:
    """The shape of an array, traced or not."""
    return aval_of(x).shape


def beside(x: ArrayLike, like: object) -> Array:
    """A vector with as many further axes as the values have, so that both broadcast along the first axis."""
    return x.reshape(dims(x) + (1,) * (len(dims(like)) - 1))


def rows(x: ArrayLike, index: Index) -> Array:
    """The rows at positions, of which either may be traced."""
    return take(x, index, axis=0)


def elements(x: ArrayLike, indices: ArrayLike) -> Array:
    """``x[indices]``, of which either may be traced; an index for each of the first axes."""
    shape = dims(x)
    flat: Any = 0
    for size, index in zip(shape, indices, strict=False):
        flat = flat * size + index
    return rows(x.reshape((-1, *shape[len(indices) :])), flat)
