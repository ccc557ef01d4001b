"""Losses: how far predictions are from targets, and how that is reduced to one number."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import op
from funcgrad.torch.core.errors import broadcast_error
from funcgrad.torch.core.inplace import require_castable
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.nn.functional.activations import log_softmax
from funcgrad.torch.operations.pointwise.arithmetic import of_one_dtype
from funcgrad.torch.operations.requiring import kind_of
from funcgrad.types import Array

__all__ = [
    "cross_entropy",
    "huber_loss",
    "l1_loss",
    "mse_loss",
    "nll_loss",
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
