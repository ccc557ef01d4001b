"""Losses that ask for a margin: between scores, pairs, triplets, and classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import op
from funcgrad.torch.core.inplace import require_castable
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.nn.functional.activations import logsigmoid
from funcgrad.torch.nn.functional.losses import chosen_reduction, reduced
from funcgrad.torch.nn.functional.products import pairwise_distance
from funcgrad.torch.operations.pointwise.arithmetic import of_one_dtype
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.torch.operations.requiring import kind_of
from funcgrad.types import Anything, Array

__all__ = [
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "pdist",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]


@op("SoftMarginLossBackward0", input_names=("self", "target"))
def _soft_margin(x: Array, y: Array, reduction: str) -> Array:
    return reduced(np.log1p(np.exp(-y * x)), reduction)


def soft_margin_loss(
    input: Operand,
    target: Operand,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Operand:
    """``log(1 + exp(-target * input))`` for targets 1 and -1."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    if input._value.dtype.kind == "b":
        -input  # noqa: B018 - it raises
    pair = of_one_dtype(input, target)
    require_castable(pair[0]._value.dtype, input._value.dtype)
    if pair[0]._value.dtype == input._value.dtype:
        return apply(_soft_margin, pair, (reduction,))
    # The loss has the dtype of the input.
    return reduced(apply(_soft_margin, pair, ("none",)).to(input.dtype), reduction)


def margin_ranking_loss(
    input1: Operand,
    input2: Operand,
    target: Operand,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Operand:
    """``max(0, -target * (input1 - input2) + margin)``."""
    if len({len(t._value.shape) for t in (input1, input2, target)}) > 1:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{input1.shape}, input2: {input2.shape}, target: {target.shape} "
        )
    difference = input1 - input2
    losses = (-target * difference + float(margin)).clamp_min(0)
    return reduced(losses, chosen_reduction(reduction, size_average, reduce))


def hinge_embedding_loss(
    input: Operand,
    target: Operand,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Operand:
    """``input`` where the target is 1, ``max(0, margin - input)`` where it is -1."""
    is_integer = input._value.dtype.kind in "biu"
    distance = (FUNCTIONS["full_like"](input, margin) if is_integer else margin) - input
    far = distance.clamp_min(0).where(target != 1, input * 0)
    near = input.where(target != -1, input * 0)
    return reduced(far + near, chosen_reduction(reduction, size_average, reduce))


def cosine_embedding_loss(
    input1: Operand,
    input2: Operand,
    target: Operand,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Operand:
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1."""
    rank, sizes = len(target._value.shape), f"{list(input1.shape)} and {list(input2.shape)}."
    if rank > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if len(input1._value.shape) != rank + 1 or len(input2._value.shape) != rank + 1:
        raise RuntimeError(
            f"{rank}D target tensor expects {rank + 1}D input tensors, but found inputs with sizes {sizes}"
        )
    eps = 1e-12
    lengths = ((input1 * input1).sum(-1) + eps) * ((input2 * input2).sum(-1) + eps)
    cosine = (input1 * input2).sum(-1) / lengths.sqrt()
    near = (1 - cosine).where(target == 1, cosine * 0)
    far = (cosine - margin).clamp_min(0).where(target == -1, cosine * 0)
    return reduced(near + far, chosen_reduction(reduction, size_average, reduce))


@op("MultiMarginLossBackward0", input_names=("self", "target", "weight"))
def _multi_margin(x: Array, target: Array, *rest: Array) -> Array:
    *weights, p, margin, reduction = rest
    rows, index = (x, target) if x.ndim == 2 else (np.reshape(x, (1, -1)), np.reshape(target, (1,)))
    terms = margin - np.take_along_axis(rows, index[:, None], 1) + rows
    # As PyTorch's: the derivative where a margin is met exactly is zero.
    counts = (terms > 0) & (np.arange(rows.shape[1]) != index[:, None])
    terms = np.where(counts, terms if p == 1 else terms * terms, 0)
    if weights:
        terms = terms * np.take(weights[0], index)[:, None]
    losses = terms.sum(1) / rows.shape[1]
    return reduced(losses if x.ndim == 2 else losses[0], reduction)


def multi_margin_loss(
    input: Operand,
    target: Operand,
    p: int = 1,
    margin: float = 1.0,
    weight: Operand | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Operand:
    """The mean over classes of ``max(0, margin - score of the right class + score) ** p``."""
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    shape = input._value.shape
    rows = shape[0] if len(shape) == 2 else 1
    if target._value.size != rows or len(target._value.shape) > 1:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples "
            f"(batch size). Expected target size [{rows}], but got {list(target.shape)}. Input has shape "
            f"{list(shape)}."
        )
    if target._value.dtype != np.int64:
        raise RuntimeError(f"expected scalar type Long but found {kind_of(target)}")
    if np.any((target._value < 0) | (target._value >= (shape[-1] if shape else 1))):
        raise RuntimeError("target out of range")
    tensors = (input, target) if weight is None else (input, target, weight)
    return apply(_multi_margin, tensors, (p, margin, chosen_reduction(reduction, size_average, reduce)))


def triplet_margin_loss(
    anchor: Operand,
    positive: Operand,
    negative: Operand,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Operand:
    """``max(0, distance to positive - distance to negative + margin)``."""
    if margin <= 0:
        raise ValueError(f"Expected margin to be greater than 0, got {margin}")
    ranks = [len(t._value.shape) for t in (anchor, positive, negative)]
    if len(set(ranks)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, "
            f"but got: anchor {ranks[0]}D, positive {ranks[1]}D, and negative {ranks[2]}D inputs"
        )
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = FUNCTIONS["minimum"](far, pairwise_distance(positive, negative, p, eps))
    return reduced((margin + near - far).clamp_min(0), chosen_reduction(reduction, size_average, reduce))


def multilabel_soft_margin_loss(
    input: Operand,
    target: Operand,
    weight: Operand | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Operand:
    """The mean over classes of the cross entropy of each, from logits."""
    losses = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        losses = losses * weight
    dim = len(input._value.shape) - 1
    per_example = losses.sum(dim) / input._value.shape[dim]
    return reduced(per_example, chosen_reduction(reduction, size_average, reduce))


def pdist(input: Operand, p: float = 2.0) -> Operand:
    """The distances between every two rows, those of the first row first.

    >>> from funcgrad import torch
    >>> torch.nn.functional.pdist(torch.tensor([[0.0], [1.0], [3.0]]))
    tensor([1., 3., 2.])
    """
    if len(input._value.shape) != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {len(input._value.shape)}D")
    i, j = np.triu_indices(input._value.shape[0], 1)
    first, second = [FUNCTIONS["from_numpy"](k) for k in (i, j)]
    return FUNCTIONS["norm"](input[first] - input[second], p, -1)


@op("MultilabelMarginLossBackward0", visible=1)
def _multilabel_margin(x: Array, times: Anything, reduction: str) -> Array:
    gaps = 1.0 - np.expand_dims(x, -1) + np.expand_dims(x, -2)
    counted = np.where(np.expand_dims(times, -2) > 0, 0, np.expand_dims(times, -1)).astype(x.dtype)
    terms = np.where(gaps > 0, gaps, 0) * counted
    return reduced(terms.sum((-2, -1)) / x.shape[-1], reduction)


def multilabel_margin_loss(
    input: Operand,
    target: Operand,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Operand:
    """How far classes that are targets (those before the first -1) lie less than 1 above the others."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    given = target._value
    if given.shape != input._value.shape:
        raise RuntimeError(
            f"inconsistent target size: {list(given.shape)} for input of size: {list(input._value.shape)}"
        )
    if not given.shape:
        input, given = input.reshape(1), given.reshape(1)
    if np.any((given < -1) | (given >= given.shape[-1])):
        raise RuntimeError("argument #2 'target' is out of range")
    if given.dtype != np.int64:
        raise RuntimeError(f"expected scalar type Long but found {kind_of(target)}")
    before = np.cumsum(given < 0, -1) == 0
    times = np.zeros(given.shape, np.int64)
    np.add.at(times, (*np.nonzero(before)[:-1], given[before]), 1)
    return apply(_multilabel_margin, (input, times), (reduction,))


def triplet_margin_with_distance_loss(
    anchor: Operand,
    positive: Operand,
    negative: Operand,
    *,
    distance_function: Callable[..., Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Operand:
    """As `triplet_margin_loss`, for a distance of one's own."""
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = FUNCTIONS["minimum"](far, distance(positive, negative))
    return reduced((margin + near - far).clamp_min(0), chosen_reduction(reduction))
