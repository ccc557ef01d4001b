"""Attention."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad import nn
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import Op
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.nn.functional.activations import softmax
from funcgrad.torch.nn.functional.products import linear
from funcgrad.torch.nn.functional.sampling import dropout
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.torch.operations.requiring import long_word
from funcgrad.types import Anything, Array, DTypeLike, Padding

__all__ = ["multi_head_attention_forward", "scaled_dot_product_attention"]


def _attention(q: Array, k: Anything, v: Array, *rest: Array) -> Array:
    *mask, is_causal, scale = rest
    given: dict[str, Any] = {}
    if mask:
        given["mask" if mask[0].dtype.kind == "b" else "bias"] = mask[0]
    return nn.scaled_dot_product_attention(q, k, v, is_causal=is_causal, scale=scale, **given)


_NAMES = ("query", "key", "value", "attn_mask")
_OF_HEADS = Op("ScaledDotProductFlashAttentionForCpuBackward0", _attention, input_names=_NAMES)
_OTHERS = Op("UnsafeViewBackward0", _attention, input_names=_NAMES)


def _require_fitting(query: Operand, key: Operand, value: Operand) -> None:
    """Raise RuntimeError where queries and keys differ in length, or there are not as many keys as values."""
    q, k, v = (t._value.shape for t in (query, key, value))
    if min(map(len, (q, k, v))) < 2:
        return
    for first, second in (((q[-2], q[-1]), (k[-1], k[-2])), ((q[-2], k[-2]), v[-2:])):
        if first[1] == second[0]:
            continue
        if len(q) == 2:
            raise RuntimeError(
                "mat1 and mat2 shapes cannot be multiplied "
                f"({first[0]}x{first[1]} and {second[0]}x{second[1]})"
            )
        batch = math.prod(q[:-2])
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{batch}, {first[1]}] but got: "
            f"[{batch}, {second[0]}]."
        )


def scaled_dot_product_attention(
    query: Operand,
    key: Operand,
    value: Operand,
    attn_mask: Operand | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Operand:
    """``softmax(query @ key.T * scale + mask) @ value``; a boolean mask says who takes part.

    >>> from funcgrad import torch
    >>> q, k, v = torch.zeros(1, 2), torch.ones(2, 2), torch.tensor([[1.0], [3.0]])
    >>> torch.nn.functional.scaled_dot_product_attention(q, k, v)
    tensor([[2.]])
    """
    if is_causal and attn_mask is not None:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        )
    if not query._value.dtype == key._value.dtype == value._value.dtype:
        words = [long_word(t) for t in (query, key, value)]
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{words[0]} key.dtype: {words[1]} and value.dtype: {words[2]} instead."
        )
    _require_fitting(query, key, value)
    if attn_mask is not None and attn_mask._value.dtype not in (np.bool_, np.float32, query._value.dtype):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{long_word(attn_mask)} and  query.dtype: {long_word(query)} instead."
        )
    if enable_gqa:
        times = query._value.shape[-3] // key._value.shape[-3]
        key, value = key.repeat_interleave(times, -3), value.repeat_interleave(times, -3)
    if dropout_p > 0.0:
        return _with_dropout(query, key, value, attn_mask, dropout_p, is_causal, scale)
    tensors = (query, key, value) if attn_mask is None else (query, key, value, attn_mask)
    return apply(_OF_HEADS if len(query._value.shape) == 4 else _OTHERS, tensors, (is_causal, scale))


def _with_dropout(
    query: Operand, key: Operand, value: Operand, mask: Array, p: float, is_causal: bool, scale: float | None
) -> Array:
    depth = query._value.shape[-1]
    scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(depth) if scale is None else scale)
    if is_causal:
        mask = wrap(np.tri(*scores._value.shape[-2:], dtype=np.bool_))
    if mask is not None and mask._value.dtype.kind == "b":
        scores = scores.masked_fill(~mask, float("-inf"))
    elif mask is not None:
        scores = scores + mask
    return dropout(softmax(scores, -1), p) @ value


def added_mask(mask: Operand, dtype: np.dtype[Any]) -> Operand:
    """A mask as numbers to add: minus infinity where a boolean one holds, which leaves out."""
    value = mask._value
    if value.dtype.kind == "b":
        return wrap(np.where(value, dtype.type(-np.inf), dtype.type(0)))
    return mask


def _of_heads(x: Operand, heads: int) -> Array:
    """``[steps, batch, features]`` as ``[batch, heads, steps, depth]``."""
    steps, batch, width = x._value.shape
    return x.reshape(steps, batch, heads, width // heads).permute(1, 2, 0, 3)


def _joint_mask(mask: Array, padding: Padding, heads: int, dtype: DTypeLike, more: int) -> Operand:
    """What is added to scores: a mask of queries and keys, one of keys, and `more` keys that all may see."""
    if mask is not None:
        mask = added_mask(mask, dtype)
        if len(mask._value.shape) == 3:
            mask = mask.reshape(-1, heads, *mask._value.shape[1:])
    if padding is not None:
        padding = added_mask(padding, dtype)
        padding = padding.reshape(padding._value.shape[0], 1, 1, -1)
        mask = padding if mask is None else mask + padding
    if mask is not None and more:
        mask = FUNCTIONS["cat"]([mask, mask.new_zeros((*mask._value.shape[:-1], more))], -1)
    return mask


def _in_heads(
    given: Sequence[Operand], weights: Sequence[Operand], biases: Operand, more: Sequence[Operand], heads: int
) -> list[Operand]:
    """Query, key and value, projected, each by heads; the last two with `more`, one step of each, if any."""
    parts = (None,) * 3 if biases is None else biases.chunk(3)
    q, k, v = [linear(t, w, b) for t, w, b in zip(given, weights, parts, strict=True)]
    if more:
        batch = q._value.shape[1]
        k, v = [FUNCTIONS["cat"]([t, b.expand(1, batch, -1)]) for t, b in zip((k, v), more, strict=True)]
    return [_of_heads(t, heads) for t in (q, k, v)]


def multi_head_attention_forward(
    query: Operand,
    key: Operand,
    value: Operand,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Operand,
    in_proj_bias: Operand,
    bias_k: Operand,
    bias_v: Operand,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Operand,
    out_proj_bias: Operand,
    training: bool = True,
    key_padding_mask: Operand = None,
    need_weights: bool = True,
    attn_mask: Operand = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Operand = None,
    k_proj_weight: Operand = None,
    v_proj_weight: Operand = None,
    static_k: Operand = None,
    static_v: Operand = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> Operands:
    """Attention in several heads on ``[steps, batch, features]``: what is attended to, and weights or None.

    `static_k` and `static_v`, ``[batch * heads, steps, depth]``, stand for the projected keys and values.
    """
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    width = query._value.shape[-1]
    if width != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {width}")
    is_batch = len(query._value.shape) == 3
    if not is_batch:
        query, key, value = [t.unsqueeze(1) for t in (query, key, value)]
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    if attn_mask is not None:
        _require_fitting_mask(attn_mask, query, key, num_heads, is_batch)
    own = (q_proj_weight, k_proj_weight, v_proj_weight)
    weights = own if use_separate_proj_weight else in_proj_weight.chunk(3)
    more = () if bias_k is None or bias_v is None else (bias_k, bias_v)
    heads = _in_heads((query, key, value), weights, in_proj_bias, more, num_heads)
    q, k, v = _with_static_keys(heads, static_k, static_v, add_zero_attn)
    added_keys = bool(more) + bool(add_zero_attn)
    mask = _joint_mask(attn_mask, key_padding_mask, num_heads, q._value.dtype, added_keys)
    share = dropout_p if training else 0.0
    attend = _with_weights if need_weights else _without_weights
    out, found = attend(q, k, v, mask, share)
    if found is not None and average_attn_weights:
        found = found.mean(1)
    out = linear(out.permute(2, 0, 1, 3).flatten(2), out_proj_weight, out_proj_bias)
    if is_batch:
        return out, found
    return out.squeeze(1), None if found is None else found.squeeze(0)


def _require_fitting_mask(mask: Tensor, query: Tensor, key: Tensor, heads: int, is_batch: bool) -> None:
    """Raise for a mask of another shape than the scores, also for one that could be broadcast."""
    rank = len(mask._value.shape)
    if rank not in (2, 3):
        kind = "batched (3-D)" if is_batch else "unbatched (2-D)"
        raise AssertionError(
            f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D "
            f"but found {rank}-D tensor instead"
        )
    steps, batch, _ = query._value.shape
    scores: tuple[int, ...] = (steps, key._value.shape[0])
    wanted = scores if rank == 2 else (batch * heads, *scores)
    if tuple(mask._value.shape) != wanted:
        raise RuntimeError(f"The shape of the {rank}D attn_mask is {mask.shape}, but should be {wanted}.")


def _with_static_keys(
    heads: Sequence[Tensor], static_k: Operand, static_v: Operand, add_zero: bool
) -> Sequence[Tensor]:
    """Queries, keys and values in heads, with keys and values given otherwise, and a key of zeros."""
    q, k, v = heads
    batch, count, _, depth = q._value.shape
    k = k if static_k is None else static_k.reshape(batch, count, -1, depth)
    v = v if static_v is None else static_v.reshape(batch, count, -1, depth)
    if add_zero:
        k, v = [FUNCTIONS["cat"]([t, t.new_zeros((batch, count, 1, depth))], 2) for t in (k, v)]
    return q, k, v


def _without_weights(q: Operand, k: Operand, v: Operand, mask: Operand, share: float) -> tuple[Operand, None]:
    """What is attended to."""
    return scaled_dot_product_attention(q, k, v, mask, share), None


def _with_weights(q: Operand, k: Operand, v: Operand, mask: Operand, share: float) -> tuple[Operand, Operand]:
    """What is attended to, and the weights of it in every head."""
    scores = q / math.sqrt(q._value.shape[-1]) @ k.transpose(-2, -1)
    found = softmax(scores if mask is None else scores + mask, -1)
    found = dropout(found, share) if share else found
    return found @ v, found
