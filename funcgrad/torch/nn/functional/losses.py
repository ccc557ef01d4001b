"""Losses: how far predictions are from targets, and how that is reduced to one number."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from funcgrad import nn
from funcgrad.api.rules.custom import custom_jvp
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import op
from funcgrad.torch.core.errors import broadcast_error
from funcgrad.torch.core.inplace import require_castable
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.nn.functional.activations import log_softmax
from funcgrad.torch.operations.pointwise.arithmetic import of_one_dtype
from funcgrad.torch.operations.requiring import kind_of, long_word
from funcgrad.types import Array, Arrays

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "gaussian_nll_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "mse_loss",
    "nll_loss",
    "poisson_nll_loss",
    "smooth_l1_loss",
]


def chosen_reduction(
    reduction: str, size_average: bool | None = None, reduce: bool | None = None, stacklevel: int = 4
) -> str:
    """The reduction by its name; the two old arguments still count."""
    if size_average is not None or reduce is not None:
        by_mean = (size_average is None or size_average) and (reduce is None or reduce)
        reduction = "mean" if by_mean else "sum" if reduce is None or reduce else "none"
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
            UserWarning,
            stacklevel=stacklevel,
        )
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def reduced(x: Operand, reduction: str) -> Operand:
    """The mean, the sum, or all."""
    return x.mean() if reduction == "mean" else x.sum() if reduction == "sum" else x


def warn_of_sizes(input: Operand, target: Operand, stacklevel: int = 4) -> None:
    """PyTorch's warning where shapes differ and broadcasting makes something else of them, or its error."""
    if target._value.shape != input._value.shape:
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). "
            "This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            UserWarning,
            stacklevel=stacklevel,
        )
        try:
            np.broadcast_shapes(input._value.shape, target._value.shape)
        except ValueError as error:
            raise broadcast_error(input, target, error) from None


# -- differences ----------------------------------------------------------------------------------------


@op("MseLossBackward0", input_names=("self", "target"))
def _mse(x: Array, y: Array, reduction: str) -> Array:
    d = x - y
    return reduced(d * d, reduction)


def mse_loss(
    input: Operand,
    target: Operand,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Operand | None = None,
) -> Operand:
    """The mean of the squared differences.

    >>> from funcgrad import torch
    >>> torch.nn.functional.mse_loss(torch.tensor([1.0, 4.0]), torch.tensor([1.0, 2.0]))
    tensor(2.)
    """
    warn_of_sizes(input, target)
    reduction = chosen_reduction(reduction, size_average, reduce)
    if weight is not None:
        errors = apply(_mse, of_one_dtype(input, target), ("none",)) * weight
        return errors.sum() / weight.sum() if reduction == "mean" else reduced(errors, reduction)
    return apply(_mse, of_one_dtype(input, target), (reduction,))


def l1_loss(
    input: Operand,
    target: Operand,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Operand | None = None,
) -> Operand:
    """The mean of the absolute differences."""
    warn_of_sizes(input, target)
    reduction = chosen_reduction(reduction, size_average, reduce)
    errors = (input - target).abs()
    if weight is not None:
        errors = errors * weight
        return errors.sum() / weight.sum() if reduction == "mean" else reduced(errors, reduction)
    return reduced(errors, reduction)


@op("SmoothL1LossBackward0", input_names=("self", "target"))
def _smooth_l1(x: Array, y: Array, reduction: str, beta: float) -> Array:
    d = x - y
    size = np.abs(d)
    return reduced(np.where(size < beta, d * d * (0.5 / beta), size - 0.5 * beta), reduction)


def smooth_l1_loss(
    input: Operand,
    target: Operand,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Operand:
    """Half the squared difference over `beta` up to `beta`, then the absolute one less half of it."""
    warn_of_sizes(input, target)
    reduction = chosen_reduction(reduction, size_average, reduce)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    return apply(_smooth_l1, of_one_dtype(input, target), (reduction, beta))


@op("HuberLossBackward0", input_names=("self", "target"))
def _huber(x: Array, y: Array, reduction: str, delta: float) -> Array:
    d = x - y
    size = np.abs(d)
    return reduced(np.where(size <= delta, d * d * 0.5, (size - 0.5 * delta) * delta), reduction)


def huber_loss(
    input: Operand,
    target: Operand,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Operand | None = None,
) -> Operand:
    """Half the squared difference up to `delta`, and a straight line from there."""
    warn_of_sizes(input, target)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is not None:
        errors = apply(_huber, of_one_dtype(input, target), ("none", delta)) * weight
        return errors.sum() / weight.sum() if reduction == "mean" else reduced(errors, reduction)
    pair, reduction = of_one_dtype(input, target), chosen_reduction(reduction)
    require_castable(pair[0]._value.dtype, input._value.dtype)
    if pair[0]._value.dtype == input._value.dtype:
        return apply(_huber, pair, (reduction, delta))
    # The loss has the dtype of the input.
    return reduced(apply(_huber, pair, ("none", delta)).to(input.dtype), reduction)


# -- classes --------------------------------------------------------------------------------------------


def _picked(log_p: Array, target: Array, weight: Operand, ignore: int) -> tuple[Any, Any]:
    """Minus the weighted log-probabilities of the classes, and their weights."""
    counted = target != ignore
    index = np.where(counted, target, 0)
    found = np.take_along_axis(
        log_p, np.expand_dims(index, 1 if log_p.ndim > 1 else 0), 1 if log_p.ndim > 1 else 0
    )
    found = found.reshape(target.shape)
    weights = counted.astype(log_p.dtype) if weight is None else np.where(counted, weight[index], 0)
    return np.where(counted, -found * weights, 0), weights


def _nll(log_p: Array, target: Array, *rest: Array) -> Array:
    *weight, reduction, ignore = rest
    losses, weights = _picked(log_p, target, weight[0] if weight else None, ignore)
    if reduction == "mean":
        return losses.sum() / weights.sum()
    return reduced(losses, reduction)


_NLL = op("NllLossBackward0", input_names=("self", "target", "weight"), visible=1)(_nll)
_NLL_2D = op("NllLoss2DBackward0", input_names=("self", "target", "weight"), visible=1)(_nll)


def nll_loss(
    input: Operand,
    target: Operand,
    weight: Operand | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Operand:
    """Minus the log-probability of the right class, weighted, averaged over what is not ignored."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    shape, at = input._value.shape, target._value.shape
    if len(shape) == 1 and at not in ((), (1,)):
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {at[0]}")
    if len(shape) == 1 and at:
        target, at = target.reshape(()), ()
    if len(shape) == 2 and len(at) > 1 and at[0] == shape[0]:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    _check_classes(shape, target, ignore_index)
    made, frame = (_NLL, "nll_loss") if len(shape) < 3 else (_NLL_2D, "nll_loss2d_forward")
    if input._value.dtype.kind != "f":
        raise NotImplementedError(f"\"{frame}_out_frame\" not implemented for '{kind_of(input)}'")
    if weight is not None:
        _require_classes(weight, shape[1] if len(shape) > 1 else shape[0])
    if weight is not None and weight._value.dtype != input._value.dtype:
        raise RuntimeError(f"expected scalar type {kind_of(input)} but found {kind_of(weight)}")
    if len(shape) > 1 and (len(at) != len(shape) - 1 or at[0] != shape[0] or at[1:] != shape[2:]):
        if len(shape) == 2 or at[:1] != shape[:1]:
            raise ValueError(
                f"Expected input batch_size ({shape[0]}) to match target batch_size ({at[0] if at else 1})."
            )
        raise RuntimeError(f"Expected target size {[shape[0], *shape[2:]]}, got {list(at)}")
    inputs = (input, target) if weight is None else (input, target, weight)
    return apply(made, inputs, (reduction, ignore_index))


def _check_classes(shape: tuple[int, ...], target: Operand, ignore: int) -> None:
    value = target._value
    if value.dtype not in (np.int64, np.uint8):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {kind_of(target)}")
    if not isinstance(value, np.ndarray | np.generic):
        return  # traced: its values are not known
    classes = shape[1] if len(shape) > 1 else shape[0]
    flat = np.asarray(value).reshape(-1)
    counted = flat[flat != ignore]
    if counted.size and (counted.min() < 0 or counted.max() >= classes):
        wrong = counted[(counted < 0) | (counted >= classes)][0]
        raise IndexError(f"Target {int(wrong)} is out of bounds.")


def _require_classes(weight: Operand, classes: int) -> None:
    """Raise RuntimeError for weights that are not one for each class."""
    if weight._value.shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight "
            f"tensor of shape: {list(weight._value.shape)}"
        )


def cross_entropy(
    input: Operand,
    target: Operand,
    weight: Operand | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Operand:
    """The cross entropy between scores (logits) and classes, given as integers or as probabilities.

    >>> from funcgrad import torch
    >>> torch.nn.functional.cross_entropy(torch.zeros(1, 4), torch.tensor([2]))
    tensor(1.3863)
    """
    reduction = chosen_reduction(reduction, size_average, reduce)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    dim = 1 if len(input._value.shape) > 1 else 0
    by_probabilities = target._value.shape == input._value.shape
    if by_probabilities and target._value.dtype.kind != "f":
        raise RuntimeError(
            f"Expected floating point type for target with class probabilities, got {kind_of(target)}"
        )
    log_p = log_softmax(input, dim)
    classes = input._value.shape[dim] if input._value.shape else 1
    if weight is not None:
        _require_classes(weight, classes)
    if by_probabilities:
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return _entropy_of_probabilities(log_p, target, weight, reduction, label_smoothing, dim)
    found = nll_loss(log_p, target, weight, ignore_index=ignore_index, reduction=reduction)
    if not label_smoothing:
        return found
    return _smoothed(log_p, target, weight, ignore_index, reduction, label_smoothing, found)


def _entropy_of_probabilities(
    log_p: Operand, target: Operand, weight: Operand | None, reduction: str, smoothing: float, dim: int
) -> Array:
    classes = log_p._value.shape[dim]
    if smoothing:
        target = target * (1 - smoothing) + smoothing / classes
    terms = log_p * target if weight is None else log_p * target * _spread(weight, log_p, dim)
    if reduction == "mean":
        count = log_p._value.size // classes
        return -(terms.sum() / count)
    return -(terms.sum() if reduction == "sum" else terms.sum(dim))


def _spread(weight: Operand, like: Operand, dim: int) -> Array:
    """The weights of classes with axes of size one around them."""
    return weight.reshape([-1 if k == dim else 1 for k in range(len(like._value.shape))])


def _smoothed(
    log_p: Operand,
    target: Operand,
    weight: Operand | None,
    ignore: int,
    reduction: str,
    smoothing: float,
    nll: Array,
) -> Array:
    dim = 1 if len(log_p._value.shape) > 1 else 0
    classes = log_p._value.shape[dim]
    terms = log_p if weight is None else log_p * _spread(weight, log_p, dim)
    spread = -terms.sum(dim)
    counted = target != ignore
    spread = spread * counted.to(spread.dtype)
    if reduction == "mean":
        if weight is None:
            total = spread.sum() / counted.sum()
        else:
            index = target * counted.to(target.dtype)
            weights = weight[index.reshape(-1)].reshape(target.shape) * counted.to(weight.dtype)
            total = spread.sum() / weights.sum()
    else:
        total = reduced(spread, reduction)
    return nll * (1 - smoothing) + total * (smoothing / classes)


# -- probabilities --------------------------------------------------------------------------------------


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
