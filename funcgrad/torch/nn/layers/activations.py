"""Activations as modules: a function and its options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.nn import functional as F
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.torch.operations.questions import get_default_dtype
from funcgrad.torch.operations.registry import FUNCTIONS

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

REQUIRED: Any = object()


class Elementwise(Module):
    """A function with options: arguments of the constructor, attributes, and part of what is printed."""

    function: ClassVar[Callable[..., Any]]
    options: ClassVar[dict[str, Any]] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        name = type(self).__name__
        if len(args) > len(self.options):
            raise TypeError(
                f"{name}.__init__() takes from 1 to {len(self.options) + 1} positional arguments but "
                f"{len(args) + 1} were given"
            )
        given = dict(zip(self.options, args, strict=False)) | kwargs
        for option, default in self.options.items():
            value = given.pop(option, default)
            if value is REQUIRED:
                raise TypeError(f"{name}.__init__() missing 1 required positional argument: '{option}'")
            setattr(self, option, value)
        if given:
            raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{next(iter(given))}'")

    def forward(self, input: Tensor) -> Operand:
        """The function of the input."""
        return type(self).function(input, *[getattr(self, option) for option in self.options])

    def extra_repr(self) -> str:
        shown = [f"{k}={getattr(self, k)!r}" for k in self.options if k != "inplace"]
        if getattr(self, "inplace", False):
            shown.append("inplace=True")
        return ", ".join(shown)


class ReLU(Elementwise):
    """``x`` where it is positive, else 0.

    >>> from funcgrad import torch
    >>> torch.nn.ReLU()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    function = staticmethod(F.relu)
    options: ClassVar[dict[str, Any]] = {"inplace": False}


class ReLU6(Elementwise):
    """`ReLU` that ends at 6."""

    function = staticmethod(F.relu6)
    options: ClassVar[dict[str, Any]] = {"inplace": False}


class RReLU(Elementwise):
    """`LeakyReLU` with a random slope in training."""

    options: ClassVar[dict[str, Any]] = {"lower": 1.0 / 8, "upper": 1.0 / 3, "inplace": False}

    def forward(self, input: Tensor) -> Operand:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class LeakyReLU(Elementwise):
    """``x`` where it is positive, else ``negative_slope * x``."""

    function = staticmethod(F.leaky_relu)
    options: ClassVar[dict[str, Any]] = {"negative_slope": 1e-2, "inplace": False}


class ELU(Elementwise):
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``."""

    function = staticmethod(F.elu)
    options: ClassVar[dict[str, Any]] = {"alpha": 1.0, "inplace": False}


class CELU(Elementwise):
    """`ELU`, smooth for every alpha."""

    function = staticmethod(F.celu)
    options: ClassVar[dict[str, Any]] = {"alpha": 1.0, "inplace": False}


class SELU(Elementwise):
    """The self-normalising exponential unit."""

    function = staticmethod(F.selu)
    options: ClassVar[dict[str, Any]] = {"inplace": False}


class GELU(Elementwise):
    """``x`` times the normal distribution's cumulative probability of ``x``."""

    function = staticmethod(F.gelu)
    options: ClassVar[dict[str, Any]] = {"approximate": "none"}


class SiLU(Elementwise):
    """``x * sigmoid(x)``."""

    function = staticmethod(F.silu)
    options: ClassVar[dict[str, Any]] = {"inplace": False}


class Mish(Elementwise):
    """``x * tanh(softplus(x))``."""

    function = staticmethod(F.mish)
    options: ClassVar[dict[str, Any]] = {"inplace": False}


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


class Softplus(Elementwise):
    """``log(1 + exp(beta * x)) / beta``."""

    function = staticmethod(F.softplus)
    options: ClassVar[dict[str, Any]] = {"beta": 1.0, "threshold": 20.0}


class Hardtanh(Elementwise):
    """``x`` between two bounds."""

    function = staticmethod(F.hardtanh)
    options: ClassVar[dict[str, Any]] = {"min_val": -1.0, "max_val": 1.0, "inplace": False}


class Hardsigmoid(Elementwise):
    """``relu6(x + 3) / 6``."""

    function = staticmethod(F.hardsigmoid)
    options: ClassVar[dict[str, Any]] = {"inplace": False}


class Hardswish(Elementwise):
    """``x * hardsigmoid(x)``."""

    function = staticmethod(F.hardswish)
    options: ClassVar[dict[str, Any]] = {"inplace": False}


class Shrinking(Elementwise):
    """An activation whose one option is printed without its name."""

    options: ClassVar[dict[str, Any]] = {"lambd": 0.5}

    def extra_repr(self) -> str:
        return str(self.lambd)


class Softshrink(Shrinking):
    """``x`` moved towards 0, and 0 near it."""

    function = staticmethod(F.softshrink)


class Hardshrink(Shrinking):
    """``x``, but 0 near 0."""

    function = staticmethod(F.hardshrink)


class Threshold(Elementwise):
    """``x`` where it is above the threshold, else a value."""

    function = staticmethod(F.threshold)
    options: ClassVar[dict[str, Any]] = {"threshold": REQUIRED, "value": REQUIRED, "inplace": False}


class GLU(Elementwise):
    """The first half times the sigmoid of the second."""

    function = staticmethod(F.glu)
    options: ClassVar[dict[str, Any]] = {"dim": -1}


class Softmax(Elementwise):
    """``exp(x) / sum(exp(x))`` along a dimension."""

    function = staticmethod(F.softmax)
    options: ClassVar[dict[str, Any]] = {"dim": None}


class Softmin(Elementwise):
    """`Softmax` of the negative."""

    function = staticmethod(F.softmin)
    options: ClassVar[dict[str, Any]] = {"dim": None}


class LogSoftmax(Elementwise):
    """The logarithm of `Softmax`."""

    function = staticmethod(F.log_softmax)
    options: ClassVar[dict[str, Any]] = {"dim": None}


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
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
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
