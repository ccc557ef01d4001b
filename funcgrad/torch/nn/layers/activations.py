"""Activations as modules: a function and its options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.nn import functional as F
from funcgrad.torch.nn.declared import declared
from funcgrad.torch.nn.layers.layer import Layer
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


class Elementwise(Layer):
    """A function with options, which are printed; one that is done in place says so."""

    function: ClassVar[Callable[..., Any]]

    def forward(self, input: Tensor) -> Operand:
        """The function of the input."""
        return type(self).function(input, *[getattr(self, option) for option in self._fields])

    def extra_repr(self) -> str:
        shown = [f"{k}={getattr(self, k)!r}" for k in self._fields if k != "inplace"]
        if getattr(self, "inplace", False):
            shown.append("inplace=True")
        return ", ".join(shown)


@declared
class ReLU(Elementwise):
    """``x`` where it is positive, else 0.

    >>> from funcgrad import torch
    >>> torch.nn.ReLU()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    inplace: bool = False

    function = staticmethod(F.relu)


@declared
class ReLU6(Elementwise):
    """`ReLU` that ends at 6."""

    inplace: bool = False

    function = staticmethod(F.relu6)


@declared
class RReLU(Elementwise):
    """`LeakyReLU` with a random slope in training."""

    lower: float = 1.0 / 8
    upper: float = 1.0 / 3
    inplace: bool = False

    def forward(self, input: Tensor) -> Operand:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


@declared
class LeakyReLU(Elementwise):
    """``x`` where it is positive, else ``negative_slope * x``."""

    negative_slope: float = 1e-2
    inplace: bool = False

    function = staticmethod(F.leaky_relu)


@declared
class ELU(Elementwise):
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``."""

    alpha: float = 1.0
    inplace: bool = False

    function = staticmethod(F.elu)


@declared
class CELU(Elementwise):
    """`ELU`, smooth for every alpha."""

    alpha: float = 1.0
    inplace: bool = False

    function = staticmethod(F.celu)


@declared
class SELU(Elementwise):
    """The self-normalising exponential unit."""

    inplace: bool = False

    function = staticmethod(F.selu)


@declared
class GELU(Elementwise):
    """``x`` times the normal distribution's cumulative probability of ``x``."""

    approximate: str = "none"

    function = staticmethod(F.gelu)


@declared
class SiLU(Elementwise):
    """``x * sigmoid(x)``."""

    inplace: bool = False

    function = staticmethod(F.silu)


@declared
class Mish(Elementwise):
    """``x * tanh(softplus(x))``."""

    inplace: bool = False

    function = staticmethod(F.mish)


class Sigmoid(Elementwise):
    """``1 / (1 + exp(-x))``."""

    function = staticmethod(F.sigmoid)


class LogSigmoid(Elementwise):
    """The logarithm of the sigmoid."""

    function = staticmethod(F.logsigmoid)


class Tanh(Elementwise):
    """The hyperbolic tangent."""

    function = staticmethod(F.tanh)


class Tanhshrink(Elementwise):
    """``x - tanh(x)``."""

    function = staticmethod(F.tanhshrink)


class Softsign(Elementwise):
    """``x / (1 + |x|)``."""

    function = staticmethod(F.softsign)


@declared
class Softplus(Elementwise):
    """``log(1 + exp(beta * x)) / beta``."""

    beta: float = 1.0
    threshold: float = 20.0

    function = staticmethod(F.softplus)


@declared
class Hardtanh(Elementwise):
    """``x`` between two bounds."""

    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False

    function = staticmethod(F.hardtanh)


@declared
class Hardsigmoid(Elementwise):
    """``relu6(x + 3) / 6``."""

    inplace: bool = False

    function = staticmethod(F.hardsigmoid)


@declared
class Hardswish(Elementwise):
    """``x * hardsigmoid(x)``."""

    inplace: bool = False

    function = staticmethod(F.hardswish)


@declared
class Shrinking(Elementwise):
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
class Threshold(Elementwise):
    """``x`` where it is above the threshold, else a value."""

    threshold: float
    value: float
    inplace: bool = False

    function = staticmethod(F.threshold)


@declared
class GLU(Elementwise):
    """The first half times the sigmoid of the second."""

    dim: int = -1

    function = staticmethod(F.glu)


@declared
class Softmax(Elementwise):
    """``exp(x) / sum(exp(x))`` along a dimension."""

    dim: int | None = None

    function = staticmethod(F.softmax)


@declared
class Softmin(Elementwise):
    """`Softmax` of the negative."""

    dim: int | None = None

    function = staticmethod(F.softmin)


@declared
class LogSoftmax(Elementwise):
    """The logarithm of `Softmax`."""

    dim: int | None = None

    function = staticmethod(F.log_softmax)


class Softmax2d(Elementwise):
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
