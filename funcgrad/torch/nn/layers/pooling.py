"""Layers of pooling, padding and dropout: they have no parameters."""

from __future__ import annotations

from typing import Any, ClassVar

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.nn import functional as F
from funcgrad.torch.nn.module import Module

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


class MaxPool(Module):
    """The largest element of every window."""

    ndim: ClassVar[int]

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Operand:
        """The maxima."""
        return getattr(F, f"max_pool{self.ndim}d")(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


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


class AvgPool(Module):
    """The mean of every window."""

    ndim: ClassVar[int]

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = self._numbers(kernel_size)
        self.stride = self._numbers(kernel_size if stride is None else stride)
        self.padding = self._numbers(padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def _numbers(self, given: Any) -> Any:
        return (given,) if self.ndim == 1 and isinstance(given, int) else given

    def forward(self, input: Tensor) -> Operand:
        """The means."""
        return getattr(F, f"avg_pool{self.ndim}d")(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(AvgPool):
    """`AvgPool` of signals."""

    ndim = 1


class AvgPool2d(AvgPool):
    """`AvgPool` of images."""

    ndim = 2


class AvgPool3d(AvgPool):
    """`AvgPool` of volumes."""

    ndim = 3


class LPPool(Module):
    """The norm of every window."""

    ndim: ClassVar[int]

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Operand:
        """The norms."""
        pool = getattr(F, f"lp_pool{self.ndim}d")
        return pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(LPPool):
    """`LPPool` of signals."""

    ndim = 1


class LPPool2d(LPPool):
    """`LPPool` of images."""

    ndim = 2


class LPPool3d(LPPool):
    """`LPPool` of volumes."""

    ndim = 3


class Adaptive(Module):
    """Pooling over as many windows as the result is to have."""

    pool: ClassVar[str]

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Operand:
        """The pooled input."""
        function = getattr(F, self.pool)
        if self.return_indices:
            return function(input, self.output_size, True)
        return function(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(Adaptive):
    """Means over parts of signals."""

    pool = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(Adaptive):
    """Means over parts of images."""

    pool = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(Adaptive):
    """Means over parts of volumes."""

    pool = "adaptive_avg_pool3d"


class AdaptiveMaxPool1d(Adaptive):
    """Maxima over parts of signals."""

    pool = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(Adaptive):
    """Maxima over parts of images."""

    pool = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(Adaptive):
    """Maxima over parts of volumes."""

    pool = "adaptive_max_pool3d"


class FractionalMaxPool(Module):
    """Maxima over windows at random distances."""

    ndim: ClassVar[int]

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        super().__init__()
        self.kernel_size = (kernel_size,) * self.ndim if isinstance(kernel_size, int) else tuple(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        name = type(self).__name__
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        self.output_size = (output_size,) * self.ndim if isinstance(output_size, int) else output_size
        self.output_ratio = (output_ratio,) * self.ndim if isinstance(output_ratio, float) else output_ratio
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Operand:
        """The pooled input."""
        pool = getattr(F, f"fractional_max_pool{self.ndim}d")
        return pool(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            self._random_samples,
        )


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


class Dropping(Module):
    """In training, a share `p` of the elements set to 0."""

    function: ClassVar[str]

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def forward(self, input: Tensor) -> Operand:
        """The input, in training with elements set to 0."""
        return getattr(F, self.function)(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


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


class Padding(Module):
    """Elements around the last dimensions."""

    ndim: ClassVar[int]
    mode: ClassVar[str] = "constant"

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = (padding,) * (2 * self.ndim) if isinstance(padding, int) else tuple(padding)

    def forward(self, input: Tensor) -> Operand:
        """The padded input."""
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ConstantPad(Padding):
    """One number around the last dimensions."""

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

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
