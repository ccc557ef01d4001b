"""Layers of pooling, padding and dropout: they have no parameters."""

from __future__ import annotations

from dataclasses import InitVar
from typing import Any, ClassVar

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.nn import functional as F
from funcgrad.torch.nn.declared import declared
from funcgrad.torch.nn.layers.layer import Layer, Windowed
from funcgrad.types import Option

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AlphaDropout",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "FeatureAlphaDropout",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


@declared
class MaxPool(Windowed):
    """The largest element of every window."""

    kernel_size: Option
    stride: Option = None
    padding: Option = 0
    dilation: Option = 1
    return_indices: bool = False
    ceil_mode: bool = False

    function = "max_pool"
    arguments = "kernel_size stride padding dilation ceil_mode return_indices"
    shown = "kernel_size stride padding dilation ceil_mode"

    def take(self, options: dict[str, Any]) -> None:
        super().take(options)
        if self.stride is None:
            self.stride = self.kernel_size


class MaxPool1d(MaxPool):
    """`MaxPool` of signals."""

    ndim = 1


class MaxPool2d(MaxPool):
    """`MaxPool` of images.

    >>> from funcgrad import torch
    >>> torch.nn.MaxPool2d(2)(torch.arange(4.0).reshape(1, 1, 2, 2))
    tensor([[[[3.]]]])
    """

    ndim = 2


class MaxPool3d(MaxPool):
    """`MaxPool` of volumes."""

    ndim = 3


@declared
class AvgPool(Windowed):
    """The mean of every window."""

    kernel_size: Option
    stride: Option = None
    padding: Option = 0
    ceil_mode: bool = False
    count_include_pad: bool = True
    divisor_override: int | None = None

    function = "avg_pool"
    arguments = "kernel_size stride padding ceil_mode count_include_pad divisor_override"
    shown = "kernel_size stride padding"

    def take(self, options: dict[str, Any]) -> None:
        super().take(options)
        if self.stride is None:
            self.stride = self.kernel_size
        if self.ndim == 1:
            for name in self.shown.split():
                value = getattr(self, name)
                setattr(self, name, (value,) if isinstance(value, int) else value)


class AvgPool1d(AvgPool):
    """`AvgPool` of signals."""

    ndim = 1


class AvgPool2d(AvgPool):
    """`AvgPool` of images."""

    ndim = 2


class AvgPool3d(AvgPool):
    """`AvgPool` of volumes."""

    ndim = 3


@declared
class LPPool(Windowed):
    """The norm of every window."""

    norm_type: float
    kernel_size: Option
    stride: Option = None
    ceil_mode: bool = False

    shown = "norm_type kernel_size stride ceil_mode"

    def forward(self, input: Tensor) -> Operand:
        """The norms."""
        pool = getattr(F, f"lp_pool{self.ndim}d")
        return pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool1d(LPPool):
    """`LPPool` of signals."""

    ndim = 1


class LPPool2d(LPPool):
    """`LPPool` of images."""

    ndim = 2


class LPPool3d(LPPool):
    """`LPPool` of volumes."""

    ndim = 3


@declared
class Adaptive(Windowed):
    """Pooling over as many windows as the result is to have."""

    output_size: Option
    return_indices: bool = False

    shown = "output_size"

    def forward(self, input: Tensor) -> Operand:
        """The pooled input."""
        pool = getattr(F, f"{self.function}{self.ndim}d")
        return pool(input, self.output_size, *([True] if self.return_indices else []))


class AdaptiveAvgPool1d(Adaptive):
    """Means over parts of signals."""

    function, ndim = "adaptive_avg_pool", 1


class AdaptiveAvgPool2d(Adaptive):
    """Means over parts of images."""

    function, ndim = "adaptive_avg_pool", 2


class AdaptiveAvgPool3d(Adaptive):
    """Means over parts of volumes."""

    function, ndim = "adaptive_avg_pool", 3


class AdaptiveMaxPool1d(Adaptive):
    """Maxima over parts of signals."""

    function, ndim = "adaptive_max_pool", 1


class AdaptiveMaxPool2d(Adaptive):
    """Maxima over parts of images."""

    function, ndim = "adaptive_max_pool", 2


class AdaptiveMaxPool3d(Adaptive):
    """Maxima over parts of volumes."""

    function, ndim = "adaptive_max_pool", 3


@declared
class FractionalMaxPool(Windowed):
    """Maxima over windows at random distances."""

    kernel_size: Option
    output_size: Option = None
    output_ratio: Option = None
    return_indices: bool = False
    _random_samples: InitVar[Tensor | None] = None

    function = "fractional_max_pool"
    arguments = "kernel_size output_size output_ratio return_indices _random_samples"

    def take(self, options: dict[str, Any]) -> None:
        super().take(options)
        kernel = self.kernel_size
        self.kernel_size = (kernel,) * self.ndim if isinstance(kernel, int) else tuple(kernel)
        self.register_buffer("_random_samples", options["_random_samples"])
        size, ratio = self.output_size, self.output_ratio
        if size is None and ratio is None:
            name = type(self).__name__
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if size is not None and ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        self.output_size = (size,) * self.ndim if isinstance(size, int) else size
        self.output_ratio = (ratio,) * self.ndim if isinstance(ratio, float) else ratio
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {ratio})")


class FractionalMaxPool2d(FractionalMaxPool):
    """Maxima over windows of images at random distances.

    >>> from funcgrad import torch
    >>> torch.nn.FractionalMaxPool2d(2, output_ratio=0.5)(torch.zeros(1, 3, 8, 8)).shape
    torch.Size([1, 3, 4, 4])
    """

    ndim = 2


class FractionalMaxPool3d(FractionalMaxPool):
    """Maxima over windows of volumes at random distances."""

    ndim = 3


# -- dropout --------------------------------------------------------------------------------------------


@declared
class Dropping(Layer):
    """In training, a share `p` of the elements set to 0."""

    p: float = 0.5
    inplace: bool = False

    function: ClassVar[str]
    shown = "p inplace"

    def take(self, options: dict[str, Any]) -> None:
        super().take(options)
        if self.p < 0 or self.p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {self.p}")

    def forward(self, input: Tensor) -> Operand:
        """The input, in training with elements set to 0."""
        return getattr(F, self.function)(input, self.p, self.training, self.inplace)


class Dropout(Dropping):
    """Dropout of elements.

    >>> from funcgrad import torch
    >>> torch.nn.Dropout(0.2).eval()(torch.ones(2))
    tensor([1., 1.])
    """

    function = "dropout"


class Dropout1d(Dropping):
    """Dropout of channels of signals."""

    function = "dropout1d"


class Dropout2d(Dropping):
    """Dropout of channels of images."""

    function = "dropout2d"


class Dropout3d(Dropping):
    """Dropout of channels of volumes."""

    function = "dropout3d"


class AlphaDropout(Dropping):
    """Dropout that keeps mean and variance after `SELU`."""

    function = "alpha_dropout"


class FeatureAlphaDropout(Dropping):
    """`AlphaDropout` of channels."""

    function = "feature_alpha_dropout"


# -- padding --------------------------------------------------------------------------------------------


@declared
class Padding(Layer):
    """Elements around the last dimensions."""

    padding: Option

    ndim: ClassVar[int]
    mode: ClassVar[str] = "constant"

    def take(self, options: dict[str, Any]) -> None:
        super().take(options)
        given = self.padding
        self.padding = (given,) * (2 * self.ndim) if isinstance(given, int) else tuple(given)

    def forward(self, input: Tensor) -> Operand:
        """The padded input."""
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


@declared
class ConstantPad(Padding):
    """One number around the last dimensions."""

    value: float

    def forward(self, input: Tensor) -> Operand:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(ConstantPad):
    """A number around signals."""

    ndim = 1


class ConstantPad2d(ConstantPad):
    """A number around images."""

    ndim = 2


class ConstantPad3d(ConstantPad):
    """A number around volumes."""

    ndim = 3


class ZeroPad1d(Padding):
    """Zeros around signals."""

    ndim = 1


class ZeroPad2d(Padding):
    """Zeros around images."""

    ndim = 2


class ZeroPad3d(Padding):
    """Zeros around volumes."""

    ndim = 3


class ReflectionPad1d(Padding):
    """Signals reflected at their ends."""

    ndim, mode = 1, "reflect"


class ReflectionPad2d(Padding):
    """Images reflected at their edges."""

    ndim, mode = 2, "reflect"


class ReflectionPad3d(Padding):
    """Volumes reflected at their faces."""

    ndim, mode = 3, "reflect"


class ReplicationPad1d(Padding):
    """Signals with their ends repeated."""

    ndim, mode = 1, "replicate"


class ReplicationPad2d(Padding):
    """Images with their edges repeated."""

    ndim, mode = 2, "replicate"


class ReplicationPad3d(Padding):
    """Volumes with their faces repeated."""

    ndim, mode = 3, "replicate"


class CircularPad1d(Padding):
    """Signals repeated."""

    ndim, mode = 1, "circular"


class CircularPad2d(Padding):
    """Images repeated."""

    ndim, mode = 2, "circular"


class CircularPad3d(Padding):
    """Volumes repeated."""

    ndim, mode = 3, "circular"
