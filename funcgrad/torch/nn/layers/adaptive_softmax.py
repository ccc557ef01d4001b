"""A softmax over many classes: the frequent ones at once, others by clusters (Grave and others, 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.nn import functional as F
from funcgrad.torch.nn.containers import ModuleList, Sequential
from funcgrad.torch.nn.layers.linear import Linear
from funcgrad.torch.nn.module import Module
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Device, DTypeLike

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class ASMoutput(NamedTuple):
    """The log-probabilities of the targets, and the mean of what is lost."""

    output: Any
    loss: Any


ASMoutput.__name__ = ASMoutput.__qualname__ = "_ASMoutput"


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of classes sorted by how frequent they are, and the loss.

    >>> from funcgrad import torch
    >>> layer = torch.nn.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs=[5, 10])
    >>> out, loss = layer(torch.ones(3, 16), torch.tensor([1, 7, 19]))
    >>> out.shape, layer.log_prob(torch.ones(3, 16)).shape
    (torch.Size([3]), torch.Size([3, 20]))
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Device = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        bounds = list(cutoffs)
        if not bounds:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            bounds != sorted(set(bounds))
            or min(bounds) <= 0
            or max(bounds) > n_classes - 1
            or any(int(c) != c for c in bounds)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
                "where each value is between 1 and n_classes-1"
            )
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*bounds, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = bounds[0], len(bounds)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, dtype=dtype)
        self.tail = ModuleList()
        for k in range(self.n_clusters):
            inner = int(in_features // div_value ** (k + 1))
            size = self.cutoffs[k + 1] - self.cutoffs[k]
            first, last = (
                Linear(in_features, inner, False, dtype=dtype),
                Linear(inner, size, False, dtype=dtype),
            )
            self.tail.append(Sequential(first, last))

    def reset_parameters(self) -> None:
        """Draw first values."""
        self.head.reset_parameters()
        for first, last in self.tail:
            first.reset_parameters()
            last.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> Operand:
        """The log-probability of each target, and minus their mean."""
        rank = len(target_._value.shape)
        if rank == 1:
            if input_._value.shape[0] != target_._value.shape[0]:
                raise RuntimeError("Input and target should have the same size in the batch dimension.")
            if len(input_._value.shape) != 2:
                raise RuntimeError(
                    f"1D target tensor expects 2D input tensors, but found inputs with size {input_.shape}"
                )
        elif rank:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        elif len(input_._value.shape) != 1:
            raise RuntimeError(
                f"0D target tensor expects 1D input tensors, but found inputs with size {input_.shape}"
            )
        x, target = (input_, target_) if rank else (input_.unsqueeze(0), target_.unsqueeze(0))
        wanted = target._value
        if wanted.size and (wanted.min() < 0 or wanted.max() >= self.n_classes):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{wanted.min()}, {wanted.max()}] were found. "
            )
        head = F.log_softmax(self.head(x), 1)
        cluster = np.searchsorted(self.cutoffs, wanted, "right")
        column = np.where(cluster == 0, wanted, self.shortlist_size + cluster - 1)
        out = head.new_zeros(wanted.shape)
        for k, tail in enumerate(self.tail):
            rows = np.flatnonzero(cluster == k + 1)
            if rows.size:
                within = wrap((wanted[rows] - self.cutoffs[k])[:, None])
                found = F.log_softmax(tail(x.index_select(0, wrap(rows))), 1).gather(1, within)
                out = out.index_add(0, wrap(rows), found.squeeze(1))
        out = out + head.gather(1, wrap(column[:, None])).squeeze(1)
        loss = (-out).mean()
        return ASMoutput(out if rank else out.squeeze(0), loss)

    def log_prob(self, input: Tensor) -> Operand:
        """The log-probabilities of all classes, a row for each input."""
        head = F.log_softmax(self.head(input), 1)
        parts = [head[:, : self.shortlist_size]]
        for k, tail in enumerate(self.tail):
            at = self.shortlist_size + k
            parts.append(F.log_softmax(tail(input), 1) + head[:, at : at + 1])
        return FUNCTIONS["cat"](parts, 1)

    def predict(self, input: Tensor) -> Operand:
        """The most probable class of each input."""
        return self.log_prob(input).argmax(1)
