"""Layers of convolutions, and of what moves pixels."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.nn import functional as F
from funcgrad.torch.nn import init
from funcgrad.torch.nn.declared import declared
from funcgrad.torch.nn.functional.convolution import numbers
from funcgrad.torch.nn.layers.layer import Applied
from funcgrad.torch.nn.layers.linear import empty_parameter
from funcgrad.torch.nn.module import Module
from funcgrad.types import Anything, Device, DTypeLike, Padding, ShapeLike

__all__ = [
    "ChannelShuffle",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "Fold",
    "PixelShuffle",
    "PixelUnshuffle",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
]


class Convolving(Module):
    """What all convolutions share: sizes, parameters, first values, and the printed form."""

    bias: Any
    ndim: ClassVar[int]
    transposed: ClassVar[bool] = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: ShapeLike,
        stride: ShapeLike,
        padding: Padding,
        dilation: ShapeLike,
        output_padding: ShapeLike,
        groups: int,
        bias: bool,
        padding_mode: str,
        dtype: DTypeLike,
    ) -> None:
        super().__init__()
        check_layer(in_channels, out_channels, groups, padding, stride, padding_mode, self.transposed)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = numbers(kernel_size, self.ndim)
        self.stride = numbers(stride, self.ndim)
        self.padding: Any = padding if isinstance(padding, str) else numbers(padding, self.ndim)
        self.dilation = numbers(dilation, self.ndim)
        self.output_padding = numbers(output_padding, self.ndim)
        self.groups = groups
        self.padding_mode = padding_mode
        ends = (
            (in_channels, out_channels // groups)
            if self.transposed
            else (out_channels, in_channels // groups)
        )
        self.weight = empty_parameter(*ends, *self.kernel_size, dtype=dtype)
        if bias:
            self.bias = empty_parameter(out_channels, dtype=dtype)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw first values."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init.fans(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        shown = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        )
        if isinstance(self.padding, str) or any(self.padding):
            shown += f", padding={self.padding}"
        if any(d != 1 for d in self.dilation):
            shown += f", dilation={self.dilation}"
        if any(self.output_padding):
            shown += f", output_padding={self.output_padding}"
        if self.groups != 1:
            shown += f", groups={self.groups}"
        if self.bias is None:
            shown += ", bias=False"
        if self.padding_mode != "zeros":
            shown += f", padding_mode={self.padding_mode}"
        return shown


def check_layer(
    inner: int, outer: int, groups: int, padding: ShapeLike, stride: ShapeLike, mode: str, transposed: bool
) -> None:
    """Raise ValueError for sizes that do not fit, in PyTorch's words."""
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if inner % groups:
        raise ValueError("in_channels must be divisible by groups")
    if outer % groups:
        raise ValueError("out_channels must be divisible by groups")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'valid', 'same'}}")
        strides = (stride,) if isinstance(stride, int) else stride
        if padding == "same" and any(s != 1 for s in strides):
            raise ValueError("padding='same' is not supported for strided convolutions")
    modes = ("zeros",) if transposed else ("zeros", "reflect", "replicate", "circular")
    if mode not in modes:
        if transposed:
            raise ValueError('Only "zeros" padding mode is supported for ConvTranspose')
        raise ValueError(f"padding_mode must be one of {set(modes)}, but got padding_mode='{mode}'")


class Forward(Convolving):
    """A convolution."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: ShapeLike,
        stride: ShapeLike = 1,
        padding: Padding = 0,
        dilation: ShapeLike = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            0,
            groups,
            bias,
            padding_mode,
            dtype,
        )

    def forward(self, input: Tensor) -> Operand:
        """The convolution of the input."""
        function = getattr(F, f"conv{self.ndim}d")
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._around(), mode=self.padding_mode)
            padding = 0
        return function(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)

    def _around(self) -> list[int]:
        """The padding as `pad` takes it."""
        pairs = []
        for k, d in zip(reversed(self.kernel_size), reversed(self.dilation), strict=True):
            total = d * (k - 1)
            pairs += [total // 2, total - total // 2]
        if self.padding == "valid":
            return [0] * len(pairs)
        if self.padding != "same":
            pairs = [p for p in reversed(self.padding) for _ in range(2)]
        return pairs


class Conv1d(Forward):
    """A convolution of signals (batch, channels, length)."""

    ndim = 1


class Conv2d(Forward):
    """A convolution of images (batch, channels, height, width).

    >>> from funcgrad import torch
    >>> torch.nn.Conv2d(3, 8, 3, padding=1)(torch.zeros(1, 3, 5, 5)).shape
    torch.Size([1, 8, 5, 5])
    """

    ndim = 2


class Conv3d(Forward):
    """A convolution of volumes (batch, channels, depth, height, width)."""

    ndim = 3


class Backward(Convolving):
    """A transposed convolution."""

    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: ShapeLike,
        stride: ShapeLike = 1,
        padding: Padding = 0,
        output_padding: ShapeLike = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: ShapeLike = 1,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            output_padding,
            groups,
            bias,
            padding_mode,
            dtype,
        )

    def forward(self, input: Tensor, output_size: ShapeLike = None) -> Operand:
        """The transposed convolution of the input, of the size asked for if one is."""
        extra = self.output_padding
        if output_size is not None:
            extra = self._extra(input._value.shape[-self.ndim :], tuple(output_size)[-self.ndim :])
        function = getattr(F, f"conv_transpose{self.ndim}d")
        return function(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )

    def _extra(self, sizes: ShapeLike, wanted: Anything) -> tuple[int, ...]:
        least = [
            (n - 1) * s - 2 * p + d * (k - 1) + 1
            for n, s, p, d, k in zip(
                sizes, self.stride, self.padding, self.dilation, self.kernel_size, strict=True
            )
        ]
        most = [n + s - 1 for n, s in zip(least, self.stride, strict=True)]
        if any(not a <= w <= b for a, w, b in zip(least, wanted, most, strict=True)):
            raise ValueError(
                f"requested an output size of {list(wanted)}, but valid sizes range from {least} to {most} "
                f"(for an input of {list(sizes)})"
            )
        return tuple([w - a for a, w in zip(least, wanted, strict=True)])


class ConvTranspose1d(Backward):
    """The transpose of `Conv1d`."""

    ndim = 1


class ConvTranspose2d(Backward):
    """The transpose of `Conv2d`."""

    ndim = 2


class ConvTranspose3d(Backward):
    """The transpose of `Conv3d`."""

    ndim = 3


@declared
class Unfold(Applied):
    """Windows of images as columns."""

    kernel_size: ShapeLike
    dilation: ShapeLike = 1
    padding: Padding = 0
    stride: ShapeLike = 1

    function = staticmethod(F.unfold)


@declared
class Fold(Applied):
    """Images from columns of windows."""

    output_size: ShapeLike
    kernel_size: ShapeLike
    dilation: ShapeLike = 1
    padding: Padding = 0
    stride: ShapeLike = 1

    function = staticmethod(F.fold)


@declared
class PixelShuffle(Applied):
    """Channels moved into space."""

    upscale_factor: int

    function = staticmethod(F.pixel_shuffle)


@declared
class PixelUnshuffle(Applied):
    """Space moved into channels."""

    downscale_factor: int

    function = staticmethod(F.pixel_unshuffle)


class Upsample(Module):
    """Interpolation to another size."""

    def __init__(
        self,
        size: ShapeLike = None,
        scale_factor: ShapeLike = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.size = size
        if isinstance(scale_factor, tuple):
            scale_factor = tuple([float(s) for s in scale_factor])
        self.scale_factor = float(scale_factor) if isinstance(scale_factor, int | float) else scale_factor
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Operand:
        """The input in its new size."""
        return F.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )

    def extra_repr(self) -> str:
        what = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor!r}"
        return f"{what}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """`Upsample` of images by the nearest elements."""

    def __init__(self, size: ShapeLike = None, scale_factor: ShapeLike = None) -> None:
        super().__init__(size, scale_factor)


class UpsamplingBilinear2d(Upsample):
    """`Upsample` of images, linear between corners."""

    def __init__(self, size: ShapeLike = None, scale_factor: ShapeLike = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


@declared
class ChannelShuffle(Applied):
    """Channels of groups taken in turn."""

    groups: int

    function = staticmethod(F.channel_shuffle)
