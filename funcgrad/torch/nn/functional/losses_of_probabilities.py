"""Losses of probabilities: divergences, cross-entropies of two outcomes, likelihoods of numbers."""

from __future__ import annotations

import math
import warnings

import numpy as np

from funcgrad import nn
from funcgrad.api.rules.custom import custom_jvp
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import op
from funcgrad.torch.core.inplace import require_castable
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.nn.functional.losses import chosen_reduction, reduced
from funcgrad.torch.operations.pointwise.arithmetic import of_one_dtype
from funcgrad.torch.operations.requiring import kind_of, long_word
from funcgrad.types import Array, Arrays

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "gaussian_nll_loss",
    "kl_div",
    "poisson_nll_loss",
]


def kl_div(
    input: Operand,
    target: Operand,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Operand:
    """The divergence of the distribution with log-probabilities `input` from `target`, element by element.

    The mean is over all elements; ``reduction="batchmean"`` is the mathematical divergence.
    """
    is_batchmean = reduction == "batchmean"
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
            "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
            UserWarning,
            stacklevel=3,
        )
    reduction = "sum" if is_batchmean else chosen_reduction(reduction, size_average, reduce)
    for kinds, word in (("biu", "Integral"), ("c", "Complex")):
        if any(t._value.dtype.kind in kinds for t in (input, target)):
            raise RuntimeError(f"kl_div: {word} inputs not supported.")
    terms = target.exp() * (target - input) if log_target else apply(_xlogy, (target,)) - target * input
    found = reduced(terms, reduction)
    rows = input._value.shape[0] if input._value.shape else 1
    return found / rows if is_batchmean and rows else found


@op("XlogyBackward0")
def _xlogy(x: Array) -> Array:
    safe = np.where(x == 0, 1, x)
    return np.where(x == 0, 0 * x, x * np.log(safe))


@op("BinaryCrossEntropyBackward0", input_names=("self", "target", "weight"))
def _bce(x: Array, y: Array, *rest: Array) -> Array:
    *weight, reduction = rest
    # PyTorch's logarithms end at -100.
    losses = _cross_entropies(x, y)
    return reduced(losses * weight[0] if weight else losses, reduction)


@custom_jvp
def _cross_entropies(x: Array, y: Array) -> Array:
    # A logarithm that is minus infinity is -100, also times zero.
    first, second = np.maximum(np.log(x), -100), np.maximum(np.log1p(-x), -100)
    return (y - 1) * second - y * first


@_cross_entropies.defjvp
def _cross_entropies_jvp(primals: Arrays, tangents: Arrays) -> Arrays:
    (x, y), (dx, dy) = primals, tangents
    # PyTorch's slope by the probability, which is finite everywhere, and by the target, which is not.
    slope = (x - y) / np.maximum((1 - x) * x, 1e-12)
    return _cross_entropies(x, y), slope * dx + (np.log1p(-x) - np.log(x)) * dy


def binary_cross_entropy(
    input: Operand,
    target: Operand,
    weight: Operand | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Operand:
    """The cross entropy of probabilities `input` with `target`; logarithms end at -100."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    if target._value.shape != input._value.shape:
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            "deprecated. Please ensure they have the same size."
        )
    value = input._value
    if weight is not None:
        require_castable(weight._value.dtype, value.dtype)
    if target._value.dtype != value.dtype:
        raise RuntimeError(f"Found dtype {kind_of(target)} but expected {kind_of(input)}")
    if (
        isinstance(value, np.ndarray | np.generic)
        and value.size
        and not (value.min() >= 0 and value.max() <= 1)
    ):
        raise RuntimeError("all elements of input should be between 0 and 1")
    inputs = (input, target) if weight is None else (input, target, weight.to(input.dtype).expand_as(input))
    return apply(_bce, inputs, (reduction,))


@op("BinaryCrossEntropyWithLogitsBackward0", input_names=("self", "target", "weight", "pos_weight"))
def _bce_with_logits(x: Array, y: Array, *rest: Array) -> Array:
    *others, has_weight, reduction = rest
    weight = others.pop(0) if has_weight else None
    if others:
        log_weight = (others[0] - 1) * y + 1
        losses = (1 - y) * x - log_weight * nn.log_sigmoid(x)
    else:
        losses = (1 - y) * x - nn.log_sigmoid(x)
    return reduced(losses if weight is None else losses * weight, reduction)


def binary_cross_entropy_with_logits(
    input: Operand,
    target: Operand,
    weight: Operand | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Operand | None = None,
) -> Operand:
    """The cross entropy of ``sigmoid(input)`` with `target`, without underflow.

    >>> from funcgrad import torch
    >>> torch.nn.functional.binary_cross_entropy_with_logits(torch.zeros(2), torch.tensor([0.0, 1.0]))
    tensor(0.6931)
    """
    reduction = chosen_reduction(reduction, size_average, reduce)
    if target._value.shape != input._value.shape:
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    if target._value.dtype.kind == "b":
        target - target
    require_castable(input._value.dtype, target._value.dtype)
    inputs = list(of_one_dtype(input, target))
    # Weights have no say in the dtype of the loss, which is the target's.
    inputs += [w.to(inputs[0].dtype) for w in (weight, pos_weight) if w is not None]
    if target._value.dtype == inputs[0]._value.dtype:
        return apply(_bce_with_logits, inputs, (weight is not None, reduction))
    losses = apply(_bce_with_logits, inputs, (weight is not None, "none")).to(target.dtype)
    return reduced(losses, reduction)


def poisson_nll_loss(
    input: Operand,
    target: Operand,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Operand:
    """Minus the log-likelihood of counts `target` under rates (or their logarithms) `input`."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    losses = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + (target * (2 * math.pi)).log() * 0.5
        losses = losses + stirling.masked_fill(target <= 1, 0)
    return reduced(losses, reduction)


def _variance_of(var: Operand, shape: tuple[int, ...]) -> Operand:
    """Variances in the shape of the input but for one dimension: ValueError for other shapes."""
    given = tuple(var._value.shape)
    if given == shape[:-1] != shape:
        return var.unsqueeze(-1)
    if given != shape:
        others = [m for n, m in zip(shape, given, strict=False) if n != m]
        if len(given) != len(shape) or sum(others) != 1:
            raise ValueError("var is of incorrect size")
    return var


def gaussian_nll_loss(
    input: Operand,
    target: Operand,
    var: Operand,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Operand:
    """Minus the log-likelihood of `target` under normal distributions with these means and variances."""
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = input.detach() * 0 + var
    else:
        var = _variance_of(var, tuple(input._value.shape))
        if bool((var < 0).any()):
            raise ValueError("var has negative entry/entries")
    if var._value.dtype.kind in "biu":
        raise RuntimeError(f"result type Float can't be cast to the desired output type {long_word(var)}")
    kept = var + (var.detach().clamp(min=eps) - var.detach())
    losses = (kept.log() + (input - target) ** 2 / kept) * 0.5
    if full:
        losses = losses + 0.5 * math.log(2 * math.pi)
    return reduced(losses, chosen_reduction(reduction))
