"""Attention with several heads, and the layers of transformers."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.nn import functional as F
from funcgrad.torch.nn import init
from funcgrad.torch.nn.containers import ModuleList
from funcgrad.torch.nn.layers.linear import Linear, empty_parameter
from funcgrad.torch.nn.layers.normalization import LayerNorm
from funcgrad.torch.nn.layers.pooling import Dropout
from funcgrad.torch.nn.module import Module
from funcgrad.types import Anything, Array, Device, DTypeLike

__all__ = [
    "MultiheadAttention",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]


class NonDynamicallyQuantizableLinear(Linear):
    """A `Linear` under the name by which PyTorch prints it here."""


class MultiheadAttention(Module):
    """Attention of queries to keys in several heads.

    >>> from funcgrad import torch
    >>> out, weights = torch.nn.MultiheadAttention(8, 2)(*[torch.zeros(5, 3, 8)] * 3)
    >>> out.shape, weights.shape
    (torch.Size([5, 3, 8]), torch.Size([3, 5, 5]))
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Device = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        sizes = {"q_proj_weight": embed_dim, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        if self._qkv_same_embed_dim:
            self.in_proj_weight = empty_parameter(3 * embed_dim, embed_dim, dtype=dtype)
        for name, size in sizes.items():
            one = None if self._qkv_same_embed_dim else empty_parameter(embed_dim, size, dtype=dtype)
            self.register_parameter(name, one)
        if not self._qkv_same_embed_dim:
            self.register_parameter("in_proj_weight", None)
        self.register_parameter("in_proj_bias", empty_parameter(3 * embed_dim, dtype=dtype) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, dtype=dtype)
        for name in ("bias_k", "bias_v"):
            one = empty_parameter(1, 1, embed_dim, dtype=dtype) if add_bias_kv else None
            self.register_parameter(name, one)
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)  # type: ignore[arg-type]
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal_(extra)

    def forward(
        self,
        query: Operand,
        key: Operand,
        value: Operand,
        key_padding_mask: Operand | None = None,
        need_weights: bool = True,
        attn_mask: Operand | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:
        """The attended values and, unless ``need_weights=False``, the weights."""
        is_turned = self.batch_first and len(query._value.shape) == 3
        if is_turned:
            query, key, value = [t.transpose(0, 1) for t in (query, key, value)]
        out, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            self.training,
            key_padding_mask,
            need_weights,
            attn_mask,
            not self._qkv_same_embed_dim,
            self.q_proj_weight,
            self.k_proj_weight,
            self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return out.transpose(0, 1) if is_turned else out, weights


_ACTIVATIONS: dict[str, Callable[..., Any]] = {"relu": F.relu, "gelu": F.gelu}


def activation_called(activation: Anything) -> Callable[..., Any]:
    """The activation by its name."""
    if not isinstance(activation, str):
        return activation  # type: ignore[no-any-return]
    if activation not in _ACTIVATIONS:
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return _ACTIVATIONS[activation]


class TransformerLayer(Module):
    """What layers of encoders and decoders share: a feed-forward part, and where norms stand."""

    linear1: Linear
    linear2: Linear
    dropout: Dropout

    def _feed_forward(self, x: Operand) -> Anything:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))

    def _block(self, x: Operand, norm: Module, dropout: Module, inner: Callable[[Any], Any]) -> Anything:
        """A part with its residual connection, normalised before or after."""
        if self.norm_first:
            return x + dropout(inner(norm(x)))
        return norm(x + dropout(inner(x)))


class TransformerEncoderLayer(TransformerLayer):
    """Self-attention and a feed-forward part, each with a residual connection and a norm."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Anything = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout, bias, batch_first=batch_first, dtype=dtype
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, dtype=dtype)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = activation_called(activation)

    def forward(
        self,
        src: Tensor,
        src_mask: Operand = None,
        src_key_padding_mask: Operand = None,
        is_causal: bool = False,
    ) -> Operand:
        """The encoded sequence."""

        def attended(x: Array) -> Array:
            return self.self_attn(x, x, x, src_key_padding_mask, False, src_mask)[0]

        x = self._block(src, self.norm1, self.dropout1, attended)
        return self._block(x, self.norm2, self.dropout2, self._feed_forward)


class TransformerDecoderLayer(TransformerLayer):
    """Self-attention, attention to what was encoded, and a feed-forward part."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Anything = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        for name in ("self_attn", "multihead_attn"):
            made = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, dtype=dtype)
            setattr(self, name, made)
        self.linear1 = Linear(d_model, dim_feedforward, bias, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, dtype=dtype)
        self.norm_first = norm_first
        for k in (1, 2, 3):
            setattr(self, f"norm{k}", LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype))
        for k in (1, 2, 3):
            setattr(self, f"dropout{k}", Dropout(dropout))
        self.activation = activation_called(activation)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Operand = None,
        memory_mask: Operand = None,
        tgt_key_padding_mask: Operand = None,
        memory_key_padding_mask: Operand = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Operand:
        """The decoded sequence."""

        def to_itself(x: Array) -> Array:
            return self.self_attn(x, x, x, tgt_key_padding_mask, False, tgt_mask)[0]

        def to_memory(x: Array) -> Array:
            return self.multihead_attn(x, memory, memory, memory_key_padding_mask, False, memory_mask)[0]

        x = self._block(tgt, self.norm1, self.dropout1, to_itself)
        x = self._block(x, self.norm2, self.dropout2, to_memory)
        return self._block(x, self.norm3, self.dropout3, self._feed_forward)


class Stack(Module):
    """Copies of a layer, one after the other, and perhaps a norm."""

    def __init__(self, layer: Module, num_layers: int, norm: Module | None) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm


class TransformerEncoder(Stack):
    """Several layers of an encoder."""

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    def forward(
        self,
        src: Tensor,
        mask: Operand = None,
        src_key_padding_mask: Operand = None,
        is_causal: bool | None = None,
    ) -> Operand:
        """The encoded sequence."""
        out: Any = src
        for layer in self.layers:
            out = layer(out, src_mask=mask, src_key_padding_mask=src_key_padding_mask)
        return out if self.norm is None else self.norm(out)


class TransformerDecoder(Stack):
    """Several layers of a decoder."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(self, tgt: Tensor, memory: Tensor, *args: Anything, **kwargs: Anything) -> Operand:
        """The decoded sequence."""
        out: Any = tgt
        for layer in self.layers:
            out = layer(out, memory, *args, **kwargs)
        return out if self.norm is None else self.norm(out)


class Transformer(Module):
    """An encoder and a decoder (Vaswani et al., 2017)."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Anything = F.relu,
        custom_encoder: Anything = None,
        custom_decoder: Anything = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps)
        more = {"batch_first": batch_first, "norm_first": norm_first, "bias": bias, "dtype": dtype}

        def norm() -> LayerNorm:
            return LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)

        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*options, **more), num_encoder_layers, norm()
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*options, **more), num_decoder_layers, norm()
        )
        for p in self.parameters():
            if len(p._value.shape) > 1:
                init.xavier_uniform_(p)
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Device = None, dtype: DTypeLike = None) -> Tensor:
        """Minus infinity above the diagonal, 0 elsewhere."""
        mask = wrap(np.triu(np.full((sz, sz), -np.inf, np.float32), 1))
        return mask if dtype is None else mask.to(dtype)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Operand = None,
        tgt_mask: Operand = None,
        memory_mask: Operand = None,
        src_key_padding_mask: Operand = None,
        tgt_key_padding_mask: Operand = None,
        memory_key_padding_mask: Operand = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Operand:
        """The decoded sequence."""
        memory = self.encoder(src, src_mask, src_key_padding_mask)
        return self.decoder(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
