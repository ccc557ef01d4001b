"""Copies: how they lie in memory, in which order they are filled, and which may be written into.

Like PyTorch's, they keep the order in which the dimensions of what they are made from lie.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import funcgrad as fg
from funcgrad.extend import Tracer
from funcgrad.torch.core.meta import is_shape_only
from funcgrad.types import Array, ArrayLike


def _lies_otherwise(x: ArrayLike) -> bool:
    """Whether an array is not in rows, and its order is one that a copy can have."""
    return type(x) is np.ndarray and not x.flags.c_contiguous and 0 not in x.strides


def copied(x: ArrayLike) -> Array:
    """A copy, with its dimensions in the same order in memory."""
    return x.copy("K") if _lies_otherwise(x) else x.copy()


def laid_as(made: Array, like: ArrayLike) -> Array:
    """A new array in rows, or its elements in the order of another array of the same shape."""
    if not _lies_otherwise(like) or type(made) is not np.ndarray:
        return made
    found = np.empty_like(like, dtype=made.dtype)
    found[...] = made
    return found


def laid_as_leaf(g: ArrayLike, leaf: ArrayLike) -> Array:
    """A gradient in the memory order of its leaf: that of the leaf where it has no gaps, else in rows."""
    if type(g) is not np.ndarray or type(leaf) is not np.ndarray or g.strides == leaf.strides:
        return g
    found = np.empty_like(leaf, dtype=g.dtype) if _lies_otherwise(leaf) else np.empty(g.shape, g.dtype)
    if found.strides != leaf.strides:
        if g.flags.c_contiguous:
            return g
        found = np.empty(g.shape, g.dtype)
    found[...] = g
    return found


def filled_as(like: ArrayLike, draw: Callable[..., Array], *operands: ArrayLike) -> Array:
    """``draw(shape, *operands)``, its elements in the order in which those of another array lie in memory.

    That is the order in which PyTorch fills a tensor with what comes one after the other.
    """
    if is_shape_only(like):
        # Nothing is drawn: generators stay as they are.
        return like.copy()
    if not _lies_otherwise(like):
        return draw(like.shape, *operands)
    axes = sorted(range(like.ndim), key=lambda k: -like.strides[k])
    turned = [np.broadcast_to(x, like.shape).transpose(axes) if np.ndim(x) else x for x in operands]
    drawn = draw(tuple([like.shape[k] for k in axes]), *turned)
    return drawn.transpose(np.argsort(axes))


def own_copy(x: ArrayLike, *written: ArrayLike) -> Array:
    """A copy of `x` that takes the values `written`: traced where one of them is."""
    if type(x) is not Tracer and any(type(v) is Tracer for v in written):
        x = np.asarray(x)
        empty = fg.numpy.zeros(x.shape, x.dtype)
        return np.logical_or(empty, x) if x.dtype.kind == "b" else empty + x
    return x.copy()
