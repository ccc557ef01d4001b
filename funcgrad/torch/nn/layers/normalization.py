"""Layers that normalise, with running statistics where there are such."""

from __future__ import annotations

from typing import Any, ClassVar

from funcgrad.torch.core.dtypes import ALL_DTYPES
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.nn import functional as F
from funcgrad.torch.nn import init
from funcgrad.torch.nn.declared import declared
from funcgrad.torch.nn.layers.layer import Applied
from funcgrad.torch.nn.layers.linear import empty_parameter
from funcgrad.torch.nn.module import Module
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Device, DTypeLike, ShapeLike

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "CrossMapLRN2d",
    "GroupNorm",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
    "LocalResponseNorm",
    "RMSNorm",
    "SyncBatchNorm",
]


class Normalising(Module):
    """What batch and instance normalisation share: parameters and running statistics of channels."""

    ranks: ClassVar[tuple[int, ...]]
    _version = 2

    def __init__(
        self,
        num_features: int,
        eps: float,
        momentum: float | None,
        affine: bool,
        track_running_stats: bool,
        dtype: DTypeLike,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, empty_parameter(num_features, dtype=dtype) if wanted else None)
        if track_running_stats:
            self.register_buffer("running_mean", FUNCTIONS["zeros"](num_features, dtype=dtype))
            self.register_buffer("running_var", FUNCTIONS["ones"](num_features, dtype=dtype))
            self.register_buffer("num_batches_tracked", FUNCTIONS["zeros"]((), dtype=ALL_DTYPES["int64"]))
        else:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, None)
        self.reset_parameters()

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        *noted: list[str],
    ) -> None:
        key = f"{prefix}num_batches_tracked"
        # States of before version 2 did not count batches.
        if local_metadata.get("version", 1) < 2 and self.track_running_stats and key not in state_dict:
            state_dict[key] = self.num_batches_tracked
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, *noted)

    def reset_running_stats(self) -> None:
        """Forget the batches seen."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Set first values: weights 1, biases 0."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def check_input(self, input: Tensor) -> None:
        """Raise ValueError for a number of dimensions that the layer does not take."""
        ndim = len(input._value.shape)
        if ndim not in self.ranks:
            wanted = " or ".join([f"{k}D" for k in self.ranks])
            raise ValueError(f"expected {wanted} input (got {ndim}D input)")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class BatchNorm(Normalising):
    """Mean 0 and variance 1 in every channel: of the batch in training, by running statistics otherwise."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device = None,
        dtype: DTypeLike = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype, bias)

    def forward(self, input: Tensor) -> Operand:
        """The normalised input."""
        self.check_input(input)
        share = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                share = 1.0 / float(self.num_batches_tracked)
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        tracked = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if tracked else None,
            self.running_var if tracked else None,
            self.weight,
            self.bias,
            by_batch,
            share,
            self.eps,
        )


class BatchNorm1d(BatchNorm):
    """`BatchNorm` of vectors or signals."""

    ranks = (2, 3)


class BatchNorm2d(BatchNorm):
    """`BatchNorm` of images.

    >>> from funcgrad import torch
    >>> torch.nn.BatchNorm2d(4)
    BatchNorm2d(4, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    ranks = (4,)


class BatchNorm3d(BatchNorm):
    """`BatchNorm` of volumes."""

    ranks = (5,)


class SyncBatchNorm(BatchNorm):
    """`BatchNorm` by the batches of all processes: here there is one, so it is `BatchNorm`.

    >>> from funcgrad import torch
    >>> torch.nn.SyncBatchNorm.convert_sync_batchnorm(torch.nn.BatchNorm1d(2))
    SyncBatchNorm(2, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: object = None,
        device: Device = None,
        dtype: DTypeLike = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def check_input(self, input: Tensor) -> None:
        """Raise ValueError for a vector."""
        if len(input._value.shape) < 2:
            raise ValueError(f"expected at least 2D input (got {len(input._value.shape)}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: object = None) -> Module:
        """A module with layers of this class, of the same parameters and statistics, for each `BatchNorm`."""
        if isinstance(module, BatchNorm) and not isinstance(module, SyncBatchNorm):
            found = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
            )
            found.training = module.training
            found.__dict__["_parameters"] = module._parameters
            found.__dict__["_buffers"] = module._buffers
            return found
        for name, child in module.named_children():
            module.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return module


class InstanceNorm(Normalising):
    """Mean 0 and variance 1 in every channel of every example."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Device = None,
        dtype: DTypeLike = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype, bias)

    def forward(self, input: Tensor) -> Operand:
        """The normalised input."""
        self.check_input(input)
        is_batch = len(input._value.shape) == self.ranks[-1]
        x = input if is_batch else input.unsqueeze(0)
        by_input = self.training or not self.track_running_stats
        out = F.instance_norm(
            x,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            by_input,
            self.momentum or 0.0,
            self.eps,
        )
        return out if is_batch else out.squeeze(0)


class InstanceNorm1d(InstanceNorm):
    """`InstanceNorm` of signals."""

    ranks = (2, 3)


class InstanceNorm2d(InstanceNorm):
    """`InstanceNorm` of images."""

    ranks = (3, 4)


class InstanceNorm3d(InstanceNorm):
    """`InstanceNorm` of volumes."""

    ranks = (4, 5)


class LayerNorm(Module):
    """Mean 0 and variance 1 over the last dimensions.

    >>> from funcgrad import torch
    >>> torch.nn.LayerNorm(2)(torch.tensor([[1.0, 3.0]]))
    tensor([[-1.0000,  1.0000]], grad_fn=<NativeLayerNormBackward0>)
    """

    def __init__(
        self,
        normalized_shape: ShapeLike,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Device = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape = shape
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        for name, wanted in (("weight", elementwise_affine), ("bias", elementwise_affine and bias)):
            self.register_parameter(name, empty_parameter(*shape, dtype=dtype) if wanted else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set first values: weights 1, biases 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Operand:
        """The normalised input."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """The root of the mean square over the last dimensions made 1."""

    def __init__(
        self,
        normalized_shape: ShapeLike,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Device = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape = shape
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.register_parameter(
            "weight", empty_parameter(*shape, dtype=dtype) if elementwise_affine else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set first values: weights 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input: Tensor) -> Operand:
        """The normalised input."""
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """Mean 0 and variance 1 in every group of channels of every example."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Device = None,
        dtype: DTypeLike = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, empty_parameter(num_channels, dtype=dtype) if wanted else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set first values: weights 1, biases 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Operand:
        """The normalised input."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


@declared
class LocalResponseNorm(Applied):
    """Division by a power of the mean square of neighbouring channels."""

    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1.0

    function = staticmethod(F.local_response_norm)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


@declared
class CrossMapLRN2d(LocalResponseNorm):
    """`LocalResponseNorm` of images, under its old name."""

    k: float = 1
