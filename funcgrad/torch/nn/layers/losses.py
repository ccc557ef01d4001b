"""Losses as modules: a function, its options, and a reduction."""

from __future__ import annotations

from dataclasses import KW_ONLY, InitVar
from typing import Any

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.nn import functional as F
from funcgrad.torch.nn.declared import declared
from funcgrad.torch.nn.functional.losses import chosen_reduction
from funcgrad.torch.nn.layers.layer import Layer

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "NLLLoss2d",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class Loss(Layer):
    """A loss with a reduction: ``"mean"``, ``"sum"`` or ``"none"``; weights, if it takes any, are buffers."""

    reduction: str

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        self.take({"size_average": size_average, "reduce": reduce, "reduction": reduction})

    def take(self, options: dict[str, Any]) -> None:
        super().take(options)
        for name in ("weight", "pos_weight"):
            if name in options:
                self.register_buffer(name, options[name])
        self.reduction = options["reduction"]
        size_average, reduce = options.get("size_average"), options.get("reduce")
        if size_average is not None or reduce is not None:
            self.reduction = chosen_reduction(self.reduction, size_average, reduce, stacklevel=5)


class Weighted(Loss):
    """A loss with weights."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        self.take({"weight": weight, "size_average": size_average, "reduce": reduce, "reduction": reduction})


class L1Loss(Loss):
    """The mean of the absolute differences."""

    def forward(self, input: Tensor, target: Tensor) -> Operand:
        """The loss."""
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(Loss):
    """The mean of the squared differences.

    >>> from funcgrad import torch
    >>> torch.nn.MSELoss()(torch.tensor([1.0, 4.0]), torch.tensor([1.0, 2.0]))
    tensor(2.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Operand:
        """The loss."""
        return F.mse_loss(input, target, reduction=self.reduction)


@declared
class SmoothL1Loss(Loss):
    """The squared difference near 0, the absolute one beyond `beta`."""

    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"
    beta: float = 1.0

    def forward(self, input: Tensor, target: Tensor) -> Operand:
        """The loss."""
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


@declared
class HuberLoss(Loss):
    """The squared difference near 0, a straight line beyond `delta`."""

    reduction: str = "mean"
    delta: float = 1.0

    def forward(self, input: Tensor, target: Tensor) -> Operand:
        """The loss."""
        return F.huber_loss(input, target, self.reduction, self.delta)


@declared
class NLLLoss(Weighted):
    """Minus the log-probability of the right class."""

    weight: InitVar[Tensor | None] = None
    size_average: InitVar[bool | None] = None
    ignore_index: int = -100
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"

    def forward(self, input: Tensor, target: Tensor) -> Operand:
        """The loss."""
        return F.nll_loss(
            input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


@declared
class CrossEntropyLoss(Weighted):
    """The cross entropy between scores and classes (integers, or probabilities)."""

    weight: InitVar[Tensor | None] = None
    size_average: InitVar[bool | None] = None
    ignore_index: int = -100
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"
    label_smoothing: float = 0.0

    def forward(self, input: Tensor, target: Tensor) -> Operand:
        """The loss."""
        return F.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


@declared
class KLDivLoss(Loss):
    """The divergence of a distribution, given by log-probabilities, from the target."""

    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"
    log_target: bool = False

    def forward(self, input: Tensor, target: Tensor) -> Operand:
        """The loss."""
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class BCELoss(Weighted):
    """The cross entropy of probabilities."""

    def forward(self, input: Tensor, target: Tensor) -> Operand:
        """The loss."""
        return F.binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


@declared
class BCEWithLogitsLoss(Weighted):
    """The cross entropy of the sigmoid of scores."""

    weight: InitVar[Tensor | None] = None
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"
    pos_weight: InitVar[Tensor | None] = None

    def forward(self, input: Tensor, target: Tensor) -> Operand:
        """The loss."""
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, reduction=self.reduction, pos_weight=self.pos_weight
        )


@declared
class PoissonNLLLoss(Loss):
    """Minus the log-likelihood of counts."""

    log_input: bool = True
    full: bool = False
    size_average: InitVar[bool | None] = None
    eps: float = 1e-8
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"

    def forward(self, log_input: Tensor, target: Tensor) -> Operand:
        """The loss."""
        return F.poisson_nll_loss(
            log_input, target, self.log_input, self.full, eps=self.eps, reduction=self.reduction
        )


@declared
class GaussianNLLLoss(Loss):
    """Minus the log-likelihood under normal distributions."""

    _: KW_ONLY
    full: bool = False
    eps: float = 1e-6
    reduction: str = "mean"

    def forward(self, input: Tensor, target: Tensor, var: Operand) -> Operand:
        """The loss."""
        return F.gaussian_nll_loss(input, target, var, self.full, self.eps, self.reduction)


class SoftMarginLoss(Loss):
    """``log(1 + exp(-target * input))``."""

    def forward(self, input: Tensor, target: Tensor) -> Operand:
        """The loss."""
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(Weighted):
    """The mean over classes of the cross entropy of each."""

    def forward(self, input: Tensor, target: Tensor) -> Operand:
        """The loss."""
        return F.multilabel_soft_margin_loss(input, target, self.weight, reduction=self.reduction)


@declared
class MultiMarginLoss(Weighted):
    """What the scores of wrong classes lack of a margin below that of the right one."""

    p: int = 1
    margin: float = 1.0
    weight: InitVar[Tensor | None] = None
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"

    def take(self, options: dict[str, Any]) -> None:
        super().take(options)
        if self.p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")

    def forward(self, input: Tensor, target: Tensor) -> Operand:
        """The loss."""
        return F.multi_margin_loss(input, target, self.p, self.margin, self.weight, reduction=self.reduction)


@declared
class Margin(Loss):
    """A loss with a margin."""

    margin: float = 0.0
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"


class MarginRankingLoss(Margin):
    """``max(0, -target * (input1 - input2) + margin)``."""

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Operand:
        """The loss."""
        return F.margin_ranking_loss(input1, input2, target, self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(Margin):
    """One less the cosine for pairs that belong together, the cosine for others."""

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Operand:
        """The loss."""
        return F.cosine_embedding_loss(input1, input2, target, self.margin, reduction=self.reduction)


@declared
class HingeEmbeddingLoss(Margin):
    """A distance for pairs that belong together, what it lacks of the margin for others."""

    margin: float = 1.0

    def forward(self, input: Tensor, target: Tensor) -> Operand:
        """The loss."""
        return F.hinge_embedding_loss(input, target, self.margin, reduction=self.reduction)


@declared
class TripletMarginLoss(Loss):
    """``max(0, distance to positive - distance to negative + margin)``."""

    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Operand:
        """The loss."""
        return F.triplet_margin_loss(
            anchor, positive, negative, self.margin, self.p, self.eps, self.swap, reduction=self.reduction
        )


class NLLLoss2d(NLLLoss):
    """`NLLLoss`, under its old name for images."""


@declared
class CTCLoss(Loss):
    """``-log`` of the probability of a sequence, over all its alignments."""

    blank: int = 0
    reduction: str = "mean"
    zero_infinity: bool = False

    def forward(
        self, log_probs: Tensor, targets: Tensor, input_lengths: Operand, target_lengths: Operand
    ) -> Operand:
        """The loss."""
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )


class MultiLabelMarginLoss(Loss):
    """How far several target classes lie less than 1 above the others."""

    def forward(self, input: Tensor, target: Tensor) -> Operand:
        """The loss."""
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


@declared
class TripletMarginWithDistanceLoss(Loss):
    """As `TripletMarginLoss`, for a distance of one's own."""

    _: KW_ONLY
    distance_function: Any = None
    margin: float = 1.0
    swap: bool = False
    reduction: str = "mean"

    def take(self, options: dict[str, Any]) -> None:
        super().take(options)
        if self.margin <= 0:
            raise ValueError(
                "TripletMarginWithDistanceLoss: expected margin to be greater than 0, "
                f"got {self.margin} instead"
            )

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Operand:
        """The loss."""
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )
