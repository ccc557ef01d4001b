"""Activations under PyTorch's names: array functions of ``funcgrad.nn`` with histories."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import nn
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import Op, op
from funcgrad.torch.core.composed import Composed
from funcgrad.torch.core.errors import dim_of
from funcgrad.torch.core.inplace import assign, require_writeable
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import wrap
from funcgrad.torch.operations.creating.random import generator_of
from funcgrad.torch.operations.pointwise.rows import F16, Row, of_one, op_of_halves
from funcgrad.torch.operations.requiring import kind_of
from funcgrad.types import Anything, Array, AxisLike, DTypeLike

__all__ = [
    "celu",
    "celu_",
    "elu",
    "elu_",
    "gelu",
    "glu",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "leaky_relu_",
    "log_softmax",
    "logsigmoid",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
]


def finished(input: Operand, inplace: bool, found: Operand) -> Operand:
    """The result, or with `inplace` the input that now holds it."""
    if not inplace:
        return found
    require_writeable(input)
    return assign(input, found)


def in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    """The form with an underscore."""

    def changed(input: Operand, *args: Operand, **kwargs: Anything) -> Operand:
        return function(input, *args, inplace=True, **kwargs)

    changed.__name__ = changed.__qualname__ = f"{function.__name__}_"
    changed.__doc__ = f"As `{function.__name__}`, in place."
    return changed


def _activation(name: str, node: str, function: Callable[[Any], Any], doc: str) -> Callable[..., Operand]:
    """A function of each element, which takes ``inplace=``."""
    plain = of_one(Row(name, node, function, doc))

    def activation(input: Operand, inplace: bool = False) -> Operand:
        return finished(input, inplace, plain(input))

    activation.__name__ = activation.__qualname__ = name
    activation.__doc__ = doc
    return activation


hardsigmoid = _activation("hardsigmoid", "HardsigmoidBackward0", nn.hard_sigmoid, "``relu6(input + 3) / 6``.")
mish = _activation("mish", "MishBackward0", nn.mish, "``input * tanh(softplus(input))``.")
selu = _activation("selu", "EluBackward0", nn.selu, "The self-normalising exponential unit.")
silu = _activation("silu", "SiluBackward0", nn.silu, "``input * sigmoid(input)``.")
logsigmoid = of_one(
    Row(
        "logsigmoid",
        "LogSigmoidBackward0",
        nn.log_sigmoid,
        "The logarithm of the sigmoid, without underflow.",
    )
)


def tanh(input: Operand) -> Operand:
    """The hyperbolic tangent."""
    return input.tanh()


def sigmoid(input: Operand) -> Operand:
    """``1 / (1 + exp(-input))``."""
    return input.sigmoid()


def relu(input: Operand, inplace: bool = False) -> Operand:
    """``input`` where it is positive, else 0.

    >>> from funcgrad import torch
    >>> torch.nn.functional.relu(torch.tensor([-1.0, 0.0, 2.0]))
    tensor([0., 0., 2.])
    """
    return finished(input, inplace, input.relu())


@op("HardswishBackward0")
@Composed
def _hardswish(x: Array) -> Array:
    # PyTorch's slopes at 3 and at -3 are those of the lines outside.
    return np.where(x <= -3, x * 0, np.where(x >= 3, x, x * (x + 3) / 6))


def hardswish(input: Operand, inplace: bool = False) -> Operand:
    """``input * relu6(input + 3) / 6``."""
    return finished(input, inplace, apply(_hardswish, (input,)))


@op("EluBackward0")
@Composed
def _elu(x: Array, alpha: float) -> Array:
    return nn.elu(x, alpha)


def elu(input: Operand, alpha: float = 1.0, inplace: bool = False) -> Operand:
    """``input`` where it is positive, else ``alpha * (exp(input) - 1)``."""
    return finished(input, inplace, apply(_elu, (input,), (alpha,)))


@op("CeluBackward0")
def _celu(x: Array, alpha: float) -> Array:
    return nn.celu(x, alpha)


def celu(input: Operand, alpha: float = 1.0, inplace: bool = False) -> Operand:
    """``input`` where it is positive, else ``alpha * (exp(input / alpha) - 1)``."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return finished(input, inplace, apply(_celu, (input,), (alpha,)))


@op("GeluBackward0")
@Composed
def _gelu(x: Array, approximate: bool) -> Array:
    return nn.gelu(x, approximate)


def gelu(input: Operand, approximate: str = "none") -> Operand:
    """``input`` times the normal distribution's cumulative probability of it; or, with ``"tanh"``, nearly."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    made = op_of_halves(_gelu) if input._value.dtype == F16 else _gelu
    return apply(made, (input,), (approximate == "tanh",))


@op("LeakyReluBackward0")
def _leaky_relu(x: Array, slope: float) -> Array:
    return nn.leaky_relu(x, slope)


def leaky_relu(input: Operand, negative_slope: float = 0.01, inplace: bool = False) -> Operand:
    """``input`` where it is positive, else ``negative_slope * input``."""
    return finished(input, inplace, apply(_leaky_relu, (input,), (negative_slope,)))


@op("PreluKernelBackward0")
def _prelu(x: Array, slope: Array) -> Array:
    shape = (1,) * x.ndim if x.ndim < 2 or slope.size == 1 else (1, slope.shape[0], *(1,) * (x.ndim - 2))
    return nn.prelu(x, slope.reshape(shape))


def prelu(input: Operand, weight: Operand) -> Operand:
    """`leaky_relu` with a learnt slope, one for all or one for each channel."""
    slopes, rank = weight._value, len(input._value.shape)
    if slopes.dtype != input._value.dtype:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {kind_of(input)} and {kind_of(weight)}")
    if slopes.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {slopes.ndim}"
        )
    if slopes.size != 1:
        if not rank:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input._value.shape[1] if rank > 1 else 1
        if channels != slopes.size:
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{slopes.size} and channel size = {channels}."
            )
    return apply(_prelu, (input, weight))


def rrelu(
    input: Operand,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Operand:
    """`leaky_relu` with slopes drawn between two bounds in training, else with their mean."""
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    value = input._value
    below = value <= 0
    slopes = np.ones(value.shape, value.dtype)
    # A slope is drawn for each of the elements that take one.
    slopes[below] = generator_of(None).doubles(int(below.sum())) * (upper - lower) + lower
    return finished(input, inplace, apply(_leaky_by, (input, wrap(slopes))))


@op("RreluWithNoiseBackward0")
def _leaky_by(x: Array, slopes: Array) -> Array:
    return np.where(x > 0, x, x * slopes)


@op("HardtanhBackward0")
def _hardtanh(x: Array, low: float, high: float) -> Array:
    return nn.hard_tanh(x, low, high)


def hardtanh(input: Operand, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Operand:
    """``input`` between two bounds."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if input._value.dtype.kind in "iu":
        if input._value.dtype.kind == "u" and min_val < 0:
            raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
        return finished(input, inplace, input.clamp(int(min_val), int(max_val)))
    return finished(input, inplace, apply(_hardtanh, (input,), (min_val, max_val)))


def relu6(input: Operand, inplace: bool = False) -> Operand:
    """`relu` that ends at 6."""
    return hardtanh(input, 0.0, 6.0, inplace)


@op("SoftplusBackward0")
@Composed
def _softplus(x: Array, beta: float, threshold: float) -> Array:
    scaled = x * beta
    is_linear = scaled > threshold
    return np.where(is_linear, x, nn.softplus(np.where(is_linear, 0, scaled)) / beta)


def softplus(input: Operand, beta: float = 1, threshold: float = 20) -> Operand:
    """``log(1 + exp(beta * input)) / beta``; the input where ``beta * input`` is above the threshold."""
    return apply(_softplus, (input,), (beta, threshold))


def softsign(input: Operand) -> Operand:
    """``input / (1 + |input|)``."""
    return input / (input.abs() + 1)


def tanhshrink(input: Operand) -> Operand:
    """``input - tanh(input)``."""
    return input - input.tanh()


@op("SoftshrinkBackward0")
def _softshrink(x: Array, size: float) -> Array:
    return nn.soft_shrink(x, size)


def softshrink(input: Operand, lambd: float = 0.5) -> Operand:
    """``input`` moved by `lambd` towards 0, and 0 within `lambd` of it."""
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    return apply(_softshrink, (input,), (lambd,))


@op("HardshrinkBackward0")
def _hardshrink(x: Array, size: float) -> Array:
    return nn.hard_shrink(x, size)


def hardshrink(input: Operand, lambd: float = 0.5) -> Operand:
    """``input``, but 0 within `lambd` of 0."""
    return apply(_hardshrink, (input,), (lambd,))


@op("ThresholdBackward0")
def _threshold(x: Array, threshold: float, value: float) -> Array:
    return np.where(x <= threshold, x.dtype.type(value), x)


def threshold(input: Operand, threshold: float, value: float, inplace: bool = False) -> Operand:
    """``input`` where it is above the threshold, else `value`."""
    return finished(input, inplace, apply(_threshold, (input,), (threshold, value)))


@op("GluBackward0")
def _glu(x: Array, axis: int) -> Array:
    return nn.glu(x, axis)


def glu(input: Operand, dim: int = -1) -> Operand:
    """The first half along `dim` times the sigmoid of the second half."""
    shape = input._value.shape
    if not shape:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    k = dim_of(dim, len(shape))
    if shape[k] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {k} is size {shape[k]}")
    return apply(_glu, (input,), (k,))


# -- softmax --------------------------------------------------------------------------------------------


@op("SoftmaxBackward0", keeps_result=True)
@Composed
def _softmax(x: Array, axis: int) -> Array:
    return nn.softmax(x, axis)


@op("LogSoftmaxBackward0", keeps_result=True)
@Composed
def _log_softmax(x: Array, axis: int) -> Array:
    return nn.log_softmax(x, axis)


def _along(made: Op, name: str, input: Operand, dim: AxisLike, stacklevel: int, dtype: DTypeLike) -> Operand:
    ndim = len(input._value.shape)
    if dim is None:
        dim = softmax_dim(name, ndim, stacklevel)
    if dtype is not None:
        input = input.to(dtype)
    at = dim_of(dim, ndim)
    if input._value.dtype.kind != "f":
        last = "_lastdim" if at == max(ndim - 1, 0) else ""
        raise NotImplementedError(f"\"{name}{last}_kernel_impl\" not implemented for '{kind_of(input)}'")
    if input._value.dtype == F16:
        made = op_of_halves(made)
    if not ndim:
        return apply(made, (input.reshape(1),), (0,)).reshape(())
    return apply(made, (input,), (at,))


def softmax_dim(name: str, ndim: int, stacklevel: int) -> int:
    """The dimension that PyTorch takes, with a warning, where none is named."""
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
        "argument.",
        UserWarning,
        stacklevel=stacklevel + 3,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Operand, dim: int | None = None, _stacklevel: int = 3, dtype: DTypeLike = None) -> Operand:
    """``exp(input) / sum(exp(input))`` along `dim`.

    >>> from funcgrad import torch
    >>> torch.nn.functional.softmax(torch.tensor([0.0, 0.0]), dim=0)
    tensor([0.5000, 0.5000])
    """
    return _along(_softmax, "softmax", input, dim, _stacklevel, dtype)


def softmin(input: Operand, dim: int | None = None, _stacklevel: int = 3, dtype: DTypeLike = None) -> Operand:
    """`softmax` of the negative."""
    if dim is None:
        dim = softmax_dim("softmin", len(input._value.shape), _stacklevel)
    return _along(_softmax, "softmax", -input, dim, _stacklevel, dtype)


def log_softmax(
    input: Operand, dim: int | None = None, _stacklevel: int = 3, dtype: DTypeLike = None
) -> Operand:
    """``input - logsumexp(input)`` along `dim`."""
    return _along(_log_softmax, "log_softmax", input, dim, _stacklevel, dtype)


relu_ = in_place(relu)
elu_ = in_place(elu)
celu_ = in_place(celu)
selu_ = in_place(selu)
leaky_relu_ = in_place(leaky_relu)
hardtanh_ = in_place(hardtanh)
threshold_ = in_place(threshold)
rrelu_ = in_place(rrelu)
