"""What the backward rules of packages are written with: sums over axes that were broadcast, and the like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.types import Array, ArrayLike, AxisLike, DTypeLike, ShapeLike


def unbroadcast(x: ArrayLike, target_meta: tuple[Any, ...], broadcast_idx: int = 0) -> Array:
    """`x`, summed over the axes by which it is larger than what has the given ``(shape, ndim, dtype, ...)``.

    >>> print(unbroadcast(np.ones((3, 2)), metadata(np.ones(2))))
    [3. 3.]
    """
    shape, ndim, _, iscomplex = target_meta
    while fnp.ndim(x) > ndim:
        x = fnp.sum(x, axis=broadcast_idx)
    for axis, size in enumerate(shape):
        if size == 1:
            x = fnp.sum(x, axis=axis, keepdims=True)
    return x if iscomplex or not fnp.iscomplexobj(x) else fnp.real(x)


def metadata(a: ArrayLike) -> tuple[Any, int, Any, bool]:
    """The shape, number of axes, dtype of an array, and whether it is complex."""
    dtype = fnp.result_type(a)
    return fnp.shape(a), fnp.ndim(a), dtype, dtype.kind == "c"


def unbroadcast_f(target: ArrayLike, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`f`, whose results are summed to the shape of `target`."""
    target_meta = metadata(target)
    return lambda g: unbroadcast(f(g), target_meta)


def replace_zero(x: ArrayLike, val: ArrayLike) -> Array:
    """`x`, with another number where it is zero."""
    return fnp.where(x, x, val)


def balanced_eq(x: ArrayLike, z: ArrayLike, y: ArrayLike) -> Array:
    """Where `x` equals `z`: one half where `y` does as well."""
    return (x == z) / (1.0 + (x == y))


def match_complex(target: ArrayLike, x: ArrayLike) -> Array:
    """`x` as a real or a complex array, as `target` is."""
    target_iscomplex, x_iscomplex = fnp.iscomplexobj(target), fnp.iscomplexobj(x)
    if x_iscomplex and not target_iscomplex:
        return fnp.real(x)
    return x + 0j if target_iscomplex and not x_iscomplex else x


def repeat_to_match_shape(
    g: ArrayLike, shape: ShapeLike, dtype: DTypeLike, axis: AxisLike, keepdims: bool
) -> tuple[Any, Any]:
    """`g` broadcast to a shape that was reduced over `axis`, and how many elements each one stands for."""
    if shape == ():
        return g, 1
    axes = tuple(range(len(shape))) if axis is None else tuple(np.atleast_1d(axis) % len(shape))
    kept = [1 if k in axes else n for k, n in enumerate(shape)]
    count = np.prod([shape[k] for k in axes])
    return fnp.broadcast_to(fnp.reshape(g, kept), shape), count


__all__ = [
    "balanced_eq",
    "match_complex",
    "metadata",
    "repeat_to_match_shape",
    "replace_zero",
    "unbroadcast",
    "unbroadcast_f",
]
