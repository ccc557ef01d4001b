"""Attention, and dropout with a mask that the caller draws."""

from __future__ import annotations

import math

import numpy as np

from funcgrad.nn.activations import floating
from funcgrad.nn.normalization import masked, softmax
from funcgrad.numpy.algebra.products import matmul
from funcgrad.numpy.arrays.movement import repeat
from funcgrad.numpy.arrays.shapes import as_array
from funcgrad.numpy.arrays.views import swapaxes
from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.arrays.structure import aval, shape_of
from funcgrad.ops.elementwise.selection import where
from funcgrad.random import bernoulli
from funcgrad.types import Array, ArrayLike, Number


def scaled_dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    mask: ArrayLike = None,
    *,
    bias: ArrayLike = None,
    is_causal: bool = False,
    scale: ArrayLike = None,
) -> Array:
    """``softmax(query @ key.T * scale + bias) @ value``, over leading axes that broadcast.

    `query` is (..., targets, depth), `key` (..., sources, depth), `value` (..., sources, width). A source
    takes part where the boolean `mask` (..., targets, sources) holds and, if `is_causal`, where it is not
    later than the target. `scale` is one over the root of the depth unless it is given.

    >>> q, k, v = np.zeros((1, 2)), np.ones((2, 2)), np.array([[1.0], [3.0]])
    >>> print(fg.nn.scaled_dot_product_attention(q, k, v))
    [[2.]]
    """
    query, key, value = floating(query), floating(key), floating(value)
    depth = shape_of(query)[-1]
    if shape_of(key)[-1] != depth:
        raise refused(f"attention of {aval(query)} to {aval(key)}: their last axes differ")
    scores = matmul(query * (1.0 / math.sqrt(depth) if scale is None else scale), swapaxes(key, -1, -2))
    if bias is not None:
        scores = scores + as_array(bias)
    if is_causal:
        scores = masked(scores, np.tri(*shape_of(scores)[-2:], dtype=np.bool_))
    return matmul(softmax(masked(scores, mask)), value)


def dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    bias: ArrayLike = None,
    mask: ArrayLike = None,
    *,
    scale: ArrayLike = None,
    is_causal: bool = False,
) -> Array:
    """Attention of arrays (..., length, heads, depth), as ``jax.nn.dot_product_attention``.

    `bias` and the boolean `mask` broadcast to (..., heads, targets, sources). Each head of `key` and `value`
    may serve several neighbouring ones of `query`.

    >>> q = np.ones((4, 2, 3))
    >>> fg.nn.dot_product_attention(q, q, q, is_causal=True).shape
    (4, 2, 3)
    """
    query, key, value = [swapaxes(floating(x), -2, -3) for x in (query, key, value)]
    heads, served = shape_of(query)[-3], shape_of(key)[-3]
    if heads % served:
        raise refused(f"attention with {heads} heads of the query and {served} of the key")
    if heads != served:
        key, value = [repeat(x, heads // served, axis=-3) for x in (key, value)]
    found = scaled_dot_product_attention(query, key, value, mask, bias=bias, is_causal=is_causal, scale=scale)
    return swapaxes(found, -2, -3)


def dropout(x: ArrayLike, rate: Number, *, mask: ArrayLike = None, key: ArrayLike = None) -> Array:
    """`x` with a share `rate` of its elements set to 0 and the others divided by ``1 - rate``.

    Which elements stay is said by a boolean `mask`, or drawn with a `key` of ``fg.random``.

    >>> print(fg.nn.dropout([1.0, 2.0, 3.0], 0.5, mask=np.array([True, False, True])))
    [2. 0. 6.]
    """
    x = floating(x)
    if not 0.0 <= rate <= 1.0:
        raise ValueError(f"dropout rate must be between 0 and 1, got {rate}")
    if (mask is None) == (key is None):
        raise TypeError("dropout needs either a mask or a key")
    if rate == 0.0:
        return x
    if mask is None:
        mask = bernoulli(key, 1.0 - rate, shape_of(x))
    if rate == 1.0:
        return where(False, x, 0.0)
    return where(as_array(mask), x * (1.0 / (1.0 - rate)), 0.0)
