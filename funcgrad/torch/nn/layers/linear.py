"""Layers of products with weights, embeddings, and changes of shape."""

from __future__ import annotations

import math

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.nn import functional as F
from funcgrad.torch.nn import init
from funcgrad.torch.nn.declared import declared
from funcgrad.torch.nn.layers.layer import Applied, Layer
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Anything, Device, DTypeLike

__all__ = [
    "Bilinear",
    "CosineSimilarity",
    "Embedding",
    "EmbeddingBag",
    "Flatten",
    "Identity",
    "Linear",
    "PairwiseDistance",
    "Unflatten",
]


def empty_parameter(*shape: int, dtype: DTypeLike = None) -> Parameter:
    """A parameter whose first values are still to be set."""
    return Parameter(FUNCTIONS["empty"](*shape, dtype=dtype))


class Identity(Module):
    """The input itself, whatever the arguments."""

    def __init__(self, *args: Operand, **kwargs: Anything) -> None:
        super().__init__()

    def forward(self, input: Operand) -> Operand:
        """The input."""
        return input


class Linear(Module):
    """``x @ weight.T + bias``.

    >>> from funcgrad import torch
    >>> layer = torch.nn.Linear(3, 2)
    >>> layer
    Linear(in_features=3, out_features=2, bias=True)
    >>> layer(torch.zeros(5, 3)).shape
    torch.Size([5, 2])
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Device = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = empty_parameter(out_features, in_features, dtype=dtype)
        if bias:
            self.bias = empty_parameter(out_features, dtype=dtype)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw first values."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Operand:
        """The affine function of the last dimension."""
        parameters = self.__dict__["_parameters"]
        if "weight" not in parameters or "bias" not in parameters:
            # A parameter has been replaced by a tensor that is computed.
            return F.linear(input, self.weight, self.bias)
        return F.linear(input, parameters["weight"], parameters["bias"])

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"
        )


class Bilinear(Module):
    """``x1 @ weight[k] @ x2 + bias[k]`` for every k."""

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Device = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = empty_parameter(out_features, in1_features, in2_features, dtype=dtype)
        if bias:
            self.bias = empty_parameter(out_features, dtype=dtype)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw first values."""
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Operand:
        """The bilinear function."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class Embedding(Module):
    """A table of vectors, looked up by integers.

    >>> from funcgrad import torch
    >>> torch.nn.Embedding(10, 3)(torch.tensor([1, 2])).shape
    torch.Size([2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Device = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError("Padding_idx must be within num_embeddings")
            padding_idx %= num_embeddings
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        if _weight is None:
            self.weight = empty_parameter(num_embeddings, embedding_dim, dtype=dtype)
            self.reset_parameters()
        else:
            self.weight = Parameter(_weight)
        self.weight.requires_grad_(not _freeze)

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None, **options: Anything
    ) -> Embedding:
        """A table with these vectors, which are not trained unless ``freeze=False``."""
        if len(embeddings._value.shape) != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings._value.shape
        return cls(rows, columns, padding_idx, _weight=embeddings, _freeze=freeze, **options)

    def reset_parameters(self) -> None:
        """Draw first values; the padding's are zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight._value[self.padding_idx] = 0

    def forward(self, input: Tensor) -> Operand:
        """The vectors that the integers name."""
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        shown = f"{self.num_embeddings}, {self.embedding_dim}"
        for name, default in (
            ("padding_idx", None),
            ("max_norm", None),
            ("norm_type", 2),
            ("scale_grad_by_freq", False),
        ):
            value = getattr(self, name)
            if value != default:
                shown += f", {name}={value}"
        return shown + (", sparse=True" if self.sparse else "")


class EmbeddingBag(Module):
    """Sums, means or maxima of the vectors that integers name: those of each row, or of each part of a list.

    >>> from funcgrad import torch
    >>> torch.nn.EmbeddingBag(10, 3)(torch.tensor([1, 2, 4]), torch.tensor([0, 2])).shape
    torch.Size([2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Operand = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Device = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self.mode, self.include_last_offset = mode, include_last_offset
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError("padding_idx must be within num_embeddings")
            padding_idx %= num_embeddings
        self.padding_idx = padding_idx
        if _weight is None:
            self.weight = empty_parameter(num_embeddings, embedding_dim, dtype=dtype)
            self.reset_parameters()
        else:
            if tuple(_weight._value.shape) != (num_embeddings, embedding_dim):
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(_weight)

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, max_norm: float | None = None, **options: Anything
    ) -> EmbeddingBag:
        """A layer with these vectors, which stay as they are unless ``freeze=False``."""
        rows, width = embeddings._value.shape
        layer = cls(rows, width, max_norm, _weight=embeddings, **options)
        layer.weight.requires_grad = not freeze
        return layer

    def reset_parameters(self) -> None:
        """Draw first values."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight.data[self.padding_idx] = 0

    def forward(self, input: Tensor, offsets: Operand = None, per_sample_weights: Operand = None) -> Operand:
        """The reduced vectors."""
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        shown = f"{self.num_embeddings}, {self.embedding_dim}"
        for name, usual in (("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False)):
            if getattr(self, name) != usual:
                shown += f", {name}={getattr(self, name)}"
        shown += f", mode={self.mode!r}"
        return shown if self.padding_idx is None else f"{shown}, padding_idx={self.padding_idx}"


@declared
class Flatten(Applied):
    """Several dimensions made one: all but the first, unless told otherwise."""

    start_dim: int = 1
    end_dim: int = -1

    function = staticmethod(Tensor.flatten)


@declared
class Unflatten(Applied):
    """One dimension made several."""

    dim: int
    unflattened_size: Anything

    function = staticmethod(Tensor.unflatten)


@declared
class CosineSimilarity(Layer):
    """The cosine of the angle between vectors."""

    dim: int = 1
    eps: float = 1e-8

    def forward(self, x1: Tensor, x2: Tensor) -> Operand:
        """The cosines."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The norms of differences of vectors."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Operand:
        """The distances."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
