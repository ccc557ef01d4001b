"""Reductions: sum, mean, products, extrema, and what is composed of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.numpy.dispatch import implements
from funcgrad.ops.families import aval, cast, reduce_sum, reshape


def normalized_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """The `axis` argument of a reduction as a sorted tuple of non-negative ints."""
    if axis is None:
        return tuple(range(ndim))
    axes = (axis,) if np.ndim(axis) == 0 else tuple(axis)
    return tuple(sorted(np.lib.array_utils.normalize_axis_tuple(axes, ndim)))


@implements(np.sum)
def sum(a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False) -> Any:
    """The sum over `axis`."""
    x = aval(a)
    axes = normalized_axes(axis, x.ndim)
    if dtype is None and x.dtype.kind in "biu":
        dtype = np.add.reduce(np.zeros(1, x.dtype)).dtype
    total = reduce_sum(a if dtype is None else cast(a, dtype), axes)
    if keepdims:
        return reshape(total, tuple([1 if k in axes else n for k, n in enumerate(x.shape)]))
    return total
