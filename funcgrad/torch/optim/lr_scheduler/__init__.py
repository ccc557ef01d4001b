"""Learning rates that change: schedulers set ``lr`` in the groups of an optimiser once for each epoch."""

from funcgrad.torch.optim.lr_scheduler.base import LRScheduler
from funcgrad.torch.optim.lr_scheduler.base import _LRScheduler as _LRScheduler
from funcgrad.torch.optim.lr_scheduler.combined import ChainedScheduler, SequentialLR
from funcgrad.torch.optim.lr_scheduler.cycles import (
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    CyclicLR,
    OneCycleLR,
)
from funcgrad.torch.optim.lr_scheduler.decays import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from funcgrad.torch.optim.lr_scheduler.plateau import ReduceLROnPlateau
from funcgrad.torch.optim.optimizer import Optimizer

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "Optimizer",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
