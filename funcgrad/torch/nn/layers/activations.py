"""Activations as modules: a function and its options."""

from __future__ import annotations

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.nn import functional as F
from funcgrad.torch.nn.declared import declared
from funcgrad.torch.nn.layers.layer import Applied
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.torch.operations.questions import get_default_dtype
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Device, DTypeLike

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]


@declared
class ReLU(Applied):
    """``x`` where it is positive, else 0.

    >>> from funcgrad import torch
    >>> torch.nn.ReLU()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    inplace: bool = False

    function = staticmethod(F.relu)


@declared
class ReLU6(Applied):
    """`ReLU` that ends at 6."""

    inplace: bool = False

    function = staticmethod(F.relu6)


@declared
class RReLU(Applied):
    """`LeakyReLU` with a random slope in training."""

    lower: float = 1.0 / 8
    upper: float = 1.0 / 3
    inplace: bool = False

    def forward(self, input: Tensor) -> Operand:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


@declared
class LeakyReLU(Applied):
    """``x`` where it is positive, else ``negative_slope * x``."""

    negative_slope: float = 1e-2
    inplace: bool = False

    function = staticmethod(F.leaky_relu)


@declared
class ELU(Applied):
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``."""

    alpha: float = 1.0
    inplace: bool = False

    function = staticmethod(F.elu)


@declared
class CELU(Applied):
    """`ELU`, smooth for every alpha."""

    alpha: float = 1.0
    inplace: bool = False

    function = staticmethod(F.celu)


@declared
class SELU(Applied):
    """The self-normalising exponential unit."""

    inplace: bool = False

    function = staticmethod(F.selu)


@declared
class GELU(Applied):
    """``x`` times the normal distribution's cumulative probability of ``x``."""

    approximate: str = "none"

    function = staticmethod(F.gelu)


@declared
class SiLU(Applied):
    """``x * sigmoid(x)``."""

    inplace: bool = False

    function = staticmethod(F.silu)


@declared
class Mish(Applied):
    """``x * tanh(softplus(x))``."""

    inplace: bool = False

    function = staticmethod(F.mish)


class Sigmoid(Applied):
    """``1 / (1 + exp(-x))``."""

    function = staticmethod(F.sigmoid)


class LogSigmoid(Applied):
    """The logarithm of the sigmoid."""

    function = staticmethod(F.logsigmoid)


class Tanh(Applied):
    """The hyperbolic tangent."""

    function = staticmethod(F.tanh)


class Tanhshrink(Applied):
    """``x - tanh(x)``."""

    function = staticmethod(F.tanhshrink)


class Softsign(Applied):
    """``x / (1 + |x|)``."""

    function = staticmethod(F.softsign)


@declared
class Softplus(Applied):
    """``log(1 + exp(beta * x)) / beta``."""

    beta: float = 1.0
    threshold: float = 20.0

    function = staticmethod(F.softplus)


@declared
class Hardtanh(Applied):
    """``x`` between two bounds."""

    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False

    function = staticmethod(F.hardtanh)


@declared
class Hardsigmoid(Applied):
    """``relu6(x + 3) / 6``."""

    inplace: bool = False

    function = staticmethod(F.hardsigmoid)


@declared
class Hardswish(Applied):
    """``x * hardsigmoid(x)``."""

    inplace: bool = False

    function = staticmethod(F.hardswish)


@declared
class Shrinking(Applied):
    """An activation whose one option is printed without its name."""

    lambd: float = 0.5

    def extra_repr(self) -> str:
        return str(self.lambd)


@declared
class Softshrink(Shrinking):
    """``x`` moved towards 0, and 0 near it."""

    function = staticmethod(F.softshrink)


@declared
class Hardshrink(Shrinking):
    """``x``, but 0 near 0."""

    function = staticmethod(F.hardshrink)


@declared
class Threshold(Applied):
    """``x`` where it is above the threshold, else a value."""

    threshold: float
    value: float
    inplace: bool = False

    function = staticmethod(F.threshold)


@declared
class GLU(Applied):
    """The first half times the sigmoid of the second."""

    dim: int = -1

    function = staticmethod(F.glu)


@declared
class Softmax(Applied):
    """``exp(x) / sum(exp(x))`` along a dimension."""

    dim: int | None = None

    function = staticmethod(F.softmax)


@declared
class Softmin(Applied):
    """`Softmax` of the negative."""

    dim: int | None = None

    function = staticmethod(F.softmin)


@declared
class LogSoftmax(Applied):
    """The logarithm of `Softmax`."""

    dim: int | None = None

    function = staticmethod(F.log_softmax)


class Softmax2d(Applied):
    """`Softmax` over the channels of images."""

    def forward(self, input: Tensor) -> Operand:
        if len(input._value.shape) not in (3, 4):
            raise ValueError(
                f"Softmax2d: expected input to be 3D or 4D, got {len(input._value.shape)}D instead"
            )
        return F.softmax(input, -3)


class PReLU(Module):
    """`LeakyReLU` with learnt slopes."""

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Device = None, dtype: DTypeLike = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(
            FUNCTIONS["full"]((num_parameters,), init, dtype=dtype or get_default_dtype())
        )

    def forward(self, input: Tensor) -> Operand:
        """The function of the input."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"
