"""Methods of every ufunc that few programs call: ``np.subtract.outer`` and ``np.add.reduceat``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from funcgrad.numpy.arrays.shapes import as_array
from funcgrad.numpy.dispatch import FUNCTIONS, UFUNC_METHODS, deferred, unsupported
from funcgrad.numpy.picking.sorting import needed_value
from funcgrad.numpy.reducing.axes import normalized_axis, refused, stored
from funcgrad.ops.arrays.movement import stack, take_span
from funcgrad.ops.arrays.structure import reshape, shape_of
from funcgrad.types import Array, ArrayLike, DTypeLike, UfuncLike, UfuncOption


def method_of(ufunc: UfuncLike, name: str) -> Callable[..., Any] | None:
    """The method of a ufunc on tracers, None where there is none."""
    call = FUNCTIONS.get(ufunc) or deferred(ufunc)
    if name == "outer" and call is not None and ufunc.nin == 2 and ufunc.signature is None:
        return partial(outer, call)
    if name == "reduceat" and (ufunc, "reduce") in UFUNC_METHODS:
        return partial(reduceat, ufunc)
    return None


def outer(call: Callable[..., Any], a: ArrayLike, b: ArrayLike, /, **options: UfuncOption) -> Array:
    """The ufunc of every element of the first operand with every one of the second."""
    if options:
        raise unsupported(f"ufunc.outer with {', '.join(sorted(options))}")
    x, y = as_array(a), as_array(b)
    return call(reshape(x, shape_of(x) + (1,) * len(shape_of(y))), y)


def reduceat(
    ufunc: UfuncLike,
    array: ArrayLike,
    indices: ArrayLike,
    axis: int = 0,
    dtype: DTypeLike = None,
    out: Array = None,
) -> Array:
    """The reductions of the slices from each index to the next; one element where that is no larger."""
    x = as_array(array)
    axis = normalized_axis(axis, len(shape_of(x)))
    starts = np.asarray(needed_value(as_array(indices), f"np.{ufunc.__name__}.reduceat"), int).tolist()
    count = shape_of(x)[axis]
    for k in starts:
        if not 0 <= k < count:
            raise refused(f"index {k} is out of bounds for an axis of {count} elements")
    reduce = UFUNC_METHODS[ufunc, "reduce"]
    parts = []
    for first, end in pairwise([*starts, count]):
        # One element is reduced as well: its dtype becomes that of the others.
        parts.append(reduce(take_span(x, axis, first, max(end - first, 1)), axis, dtype))
    if not parts:
        return take_span(x, axis, 0, 0)
    return stored(stack(parts, axis), out, f"np.{ufunc.__name__}.reduceat")
