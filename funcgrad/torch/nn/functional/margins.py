"""Losses that ask for a margin: of several target classes, and of triplets by a distance of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.history import op
from funcgrad.torch.nn.functional.losses import chosen_reduction, reduced
from funcgrad.torch.nn.functional.products import pairwise_distance
from funcgrad.torch.nn.operand import Operand
from funcgrad.torch.operations.registry import FUNCTIONS

__all__ = ["multilabel_margin_loss", "pdist", "triplet_margin_with_distance_loss"]


def pdist(input: Operand, p: float = 2.0) -> Any:
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
def _multilabel_margin(x: Any, is_target: Any, reduction: str) -> Any:
    gaps = 1.0 - np.expand_dims(x, -1) + np.expand_dims(x, -2)
    counted = np.expand_dims(is_target, -1) & ~np.expand_dims(is_target, -2)
    terms = np.where(counted, np.maximum(gaps, 0.0), np.zeros((), x.dtype))
    return reduced(terms.sum((-2, -1)) / x.shape[-1], reduction)


def multilabel_margin_loss(
    input: Operand, target: Operand, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """How far classes that are targets (those before the first -1) lie less than 1 above the others."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    given = target._value
    if given.shape != input._value.shape:
        raise RuntimeError(
            f"inconsistent target size: {list(given.shape)} for input of size: {list(input._value.shape)}"
        )
    before = np.cumsum(given < 0, -1) == 0
    is_target = np.zeros(given.shape, bool)
    rows = np.nonzero(before)
    is_target[(*rows[:-1], given[before])] = True
    return apply(_multilabel_margin, (input, is_target), (reduction,))


def triplet_margin_with_distance_loss(
    anchor: Operand,
    positive: Operand,
    negative: Operand,
    *,
    distance_function: Any = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """As `triplet_margin_loss`, for a distance of one's own."""
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = FUNCTIONS["minimum"](far, distance(positive, negative))
    return reduced((margin + near - far).clamp_min(0), reduction)
