"""Normalisation of layers, batches, groups and instances."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import nn
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import op
from funcgrad.torch.core.composed import Composed
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.operations.pointwise.rows import F16, op_of_halves
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Anything, Array, ShapeLike

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "rms_norm"]


def require_same(input: Operand, *parameters: Operand | None) -> None:
    """Raise RuntimeError for parameters of another dtype than the input's, or float32 for half precision."""
    dtype = input._value.dtype
    for t in parameters:
        if t is None or t._value.dtype == dtype or (dtype == F16 and t._value.dtype == np.float32):
            continue
        fits = t._value.dtype == np.float32
        said = (
            "all inputs must share same datatype."
            if fits
            else "expect parameter to have scalar type of Float"
        )
        raise RuntimeError(f"mixed dtype (CPU): {said}")


def with_parameters(
    made: Anything, input: Operand, weight: Operand, bias: Operand, *params: Anything
) -> Operand:
    """The operation on the input and the parameters that are not None, which it is told.

    In half precision it is computed in single and rounded at the end, as PyTorch's.
    """
    if input._value.dtype == F16:
        made = op_of_halves(made)
    inputs = [t for t in (input, weight, bias) if t is not None]
    return apply(made, inputs, (weight is not None, bias is not None, *params))


def parameters(rest: tuple[Any, ...]) -> tuple[Any, Any, tuple[Any, ...]]:
    """Weight, bias and the static parameters out of what an operation is given after its input."""
    held = [x for x in rest if hasattr(x, "shape") and not isinstance(x, bool)]
    has_weight, has_bias, *params = rest[len(held) :]
    weight = held[0] if has_weight else None
    return weight, held[-1] if has_bias else None, tuple(params)


@op("NativeLayerNormBackward0", input_names=("input", "weight", "bias"), visible=3)
@Composed
def _layer_norm(x: Array, *rest: Array) -> Array:
    weight, bias, (count, eps) = parameters(rest)
    return nn.layer_norm(x, weight, bias, axis=tuple(range(x.ndim - count, x.ndim)), epsilon=eps)


def layer_norm(
    input: Operand,
    normalized_shape: ShapeLike,
    weight: Operand = None,
    bias: Operand = None,
    eps: float = 1e-5,
) -> Operand:
    """Mean 0 and variance 1 over the last dimensions, then times `weight` plus `bias`.

    >>> from funcgrad import torch
    >>> torch.nn.functional.layer_norm(torch.tensor([[1.0, 3.0]]), (2,))
    tensor([[-1.0000,  1.0000]])
    """
    shape = tuple([int(n) for n in normalized_shape])
    if not shape or tuple(input._value.shape[-len(shape) :]) != shape:
        listed = ", ".join(map(str, shape))
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, {listed}], but got input "
            f"of size{list(input._value.shape)}"
        )
    require_same(input, weight, bias)
    return with_parameters(_layer_norm, input, weight, bias, len(shape), eps)


def rms_norm(
    input: Operand, normalized_shape: ShapeLike, weight: Operand = None, eps: float | None = None
) -> Operand:
    """``input / sqrt(mean(input ** 2) + eps)`` over the last dimensions, times `weight`."""
    wanted, shape = tuple(normalized_shape), tuple(input._value.shape)
    if not wanted:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
            "but got normalized_shape = []"
        )
    if shape[-len(wanted) :] != wanted:
        inner = "*" + ", ".join(map(str, wanted))
        raise RuntimeError(
            f"Given normalized_shape={list(wanted)}, expected input with shape [{inner}], but got input of "
            f"size{list(shape)}"
        )
    if eps is None:
        dtype = input._value.dtype
        eps = float(np.finfo(np.float32 if dtype == F16 else dtype).eps)
    return with_parameters(_rms_norm, input, weight, None, len(tuple(normalized_shape)), eps)


@op("MulBackward0", in_rows=True)
@Composed
def _rms_norm(x: Array, *rest: Array) -> Array:
    weight, _, (count, eps) = parameters(rest)
    return nn.rms_norm(x, weight, axis=tuple(range(x.ndim - count, x.ndim)), epsilon=eps)


@op("NativeGroupNormBackward0", input_names=("input", "weight", "bias"), visible=3)
@Composed
def _group_norm(x: Array, *rest: Array) -> Array:
    weight, bias, (groups, eps) = parameters(rest)
    return nn.group_norm(x, groups, weight, bias, axis=1, epsilon=eps)


def group_norm(
    input: Operand, num_groups: int, weight: Operand = None, bias: Operand = None, eps: float = 1e-5
) -> Operand:
    """Mean 0 and variance 1 in every group of channels of every example, then times `weight` plus `bias`."""
    shape = input._value.shape
    if len(shape) < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    if shape[1] % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(shape)} and num_groups={num_groups}"
        )
    require_same(input, weight, bias)
    return with_parameters(_group_norm, input, weight, bias, num_groups, eps)


# -- batches --------------------------------------------------------------------------------------------


@op("NativeBatchNormBackward0", input_names=("input", "weight", "bias"), visible=3)
@Composed
def _batch_norm(x: Array, *rest: Array) -> Array:
    weight, bias, (eps,) = parameters(rest)
    return nn.batch_norm(x, weight, bias, axis=1, epsilon=eps)


@op("NativeBatchNormBackward0", input_names=("input", "running_mean", "running_var", "weight", "bias"))
@Composed
def _batch_norm_by(x: Array, mean: Array, variance: Array, *rest: Array) -> Array:
    weight, bias, (eps,) = parameters(rest)
    return nn.batch_norm(x, weight, bias, mean=mean, variance=variance, axis=1, epsilon=eps)


def batch_norm(
    input: Operand,
    running_mean: Operand | None,
    running_var: Operand | None,
    weight: Operand | None = None,
    bias: Operand | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Operand:
    """Mean 0 and variance 1 in every channel, by the batch in training, else by the running statistics.

    In training the running statistics, if given, are changed in place.
    """
    channels = input._value.shape[1] if len(input._value.shape) > 1 else 0
    for name, t in (
        ("running_mean", running_mean),
        ("running_var", running_var),
        ("weight", weight),
        ("bias", bias),
    ):
        if t is not None and t._value.size != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {t._value.size}")
    if not training:
        if running_mean is None or running_var is None:
            missing = "running_mean" if running_mean is None else "running_var"
            raise RuntimeError(f"{missing} must be defined in evaluation mode")
        if eps < 0:
            raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
        tensors = [t for t in (input, running_mean, running_var, weight, bias) if t is not None]
        require_same(*tensors)
        return apply(_batch_norm_by, tensors, (weight is not None, bias is not None, eps))
    if eps <= 0:
        raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    shape = input._value.shape
    count = shape[0]
    for n in shape[2:]:
        count *= n
    if count == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {input.size()}"
        )
    require_same(input, weight, bias, running_mean, running_var)
    if running_mean is not None or running_var is not None:
        update_running(input, running_mean, running_var, momentum, count)
    return with_parameters(_batch_norm, input, weight, bias, eps)


def update_running(input: Operand, mean: Operand, variance: Operand, momentum: float, count: int) -> None:
    """Move the running statistics towards those of a batch, in place."""
    if not count:
        return
    axes = (0, *range(2, len(input._value.shape)))
    x = input.detach()
    if mean is not None:
        mean.mul_(1 - momentum).add_(x.mean(axes) * momentum)
    if variance is not None:
        variance.mul_(1 - momentum).add_(x.var(axes, correction=1) * momentum)


def instance_norm(
    input: Operand,
    running_mean: Operand | None = None,
    running_var: Operand | None = None,
    weight: Operand | None = None,
    bias: Operand | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Operand:
    """Mean 0 and variance 1 in every channel of every example."""
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    n, c, *sizes = input._value.shape
    if running_mean is not None or running_var is not None:
        update_running_of_instances(input, running_mean, running_var, momentum)
    flat = input.reshape(1, n * c, *sizes)
    weight, bias = (None if t is None else t.repeat(n) for t in (weight, bias))
    return batch_norm(flat, None, None, weight, bias, training=True, eps=eps).reshape(n, c, *sizes)


def update_running_of_instances(input: Operand, mean: Operand, variance: Operand, momentum: float) -> None:
    """Move the running statistics towards the mean of those of the examples, in place."""
    axes = tuple(range(2, len(input._value.shape)))
    x = input.detach()
    if mean is not None:
        mean.mul_(1 - momentum).add_(x.mean(axes).mean(0) * momentum)
    if variance is not None:
        variance.mul_(1 - momentum).add_(x.var(axes, correction=1).mean(0) * momentum)


def local_response_norm(
    input: Operand, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Operand:
    """``input / (k + alpha * mean of squares over neighbouring channels) ** beta``."""
    if len(input._value.shape) < 3:
        raise ValueError(
            "Expected 3D or higher dimensionality                          input (got "
            f"{len(input._value.shape)} dimensions)"
        )
    squares = input * input
    n, c, *sizes = input._value.shape
    before, after = size // 2, (size - 1) // 2
    zeros = [squares.new_zeros((n, m, *sizes)) for m in (before, after)]
    padded = FUNCTIONS["cat"]([zeros[0], squares, zeros[1]], 1)
    total = sum([padded.narrow(1, start, c) for start in range(1, size)], padded.narrow(1, 0, c))
    # As PyTorch's: the mean of integers is one.
    mean = total / size if total._value.dtype.kind in "fc" else total.div(size, rounding_mode="trunc")
    return input / (mean * alpha + k) ** beta
