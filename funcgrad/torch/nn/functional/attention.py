"""Attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad import nn
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.history import Op
from funcgrad.torch.core.tensor import wrap
from funcgrad.torch.nn.functional.activations import softmax
from funcgrad.torch.nn.functional.sampling import dropout
from funcgrad.torch.nn.operand import Operand

__all__ = ["scaled_dot_product_attention"]


def _attention(q: Any, k: Any, v: Any, *rest: Any) -> Any:
    *mask, is_causal, scale = rest
    given: dict[str, Any] = {}
    if mask:
        given["mask" if mask[0].dtype.kind == "b" else "bias"] = mask[0]
    return nn.scaled_dot_product_attention(q, k, v, is_causal=is_causal, scale=scale, **given)


_NAMES = ("query", "key", "value", "attn_mask")
_OF_HEADS = Op("ScaledDotProductFlashAttentionForCpuBackward0", _attention, input_names=_NAMES)
_OTHERS = Op("UnsafeViewBackward0", _attention, input_names=_NAMES)


def scaled_dot_product_attention(
    query: Operand,
    key: Operand,
    value: Operand,
    attn_mask: Operand | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
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
    if enable_gqa:
        times = query._value.shape[-3] // key._value.shape[-3]
        key, value = key.repeat_interleave(times, -3), value.repeat_interleave(times, -3)
    if dropout_p > 0.0:
        return _with_dropout(query, key, value, attn_mask, dropout_p, is_causal, scale)
    tensors = (query, key, value) if attn_mask is None else (query, key, value, attn_mask)
    return apply(_OF_HEADS if len(query._value.shape) == 4 else _OTHERS, tensors, (is_causal, scale))


def _with_dropout(
    query: Operand, key: Operand, value: Operand, mask: Any, p: float, is_causal: bool, scale: float | None
) -> Any:
    depth = query._value.shape[-1]
    scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(depth) if scale is None else scale)
    if is_causal:
        mask = wrap(np.tri(*scores._value.shape[-2:], dtype=np.bool_))
    if mask is not None and mask._value.dtype.kind == "b":
        scores = scores.masked_fill(~mask, float("-inf"))
    elif mask is not None:
        scores = scores + mask
    return dropout(softmax(scores, -1), p) @ value
