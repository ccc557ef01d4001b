"""The rate that falls when a measure no longer improves."""

from __future__ import annotations

import math
import warnings

from funcgrad.torch.optim.lr_scheduler.base import EPOCH_GIVEN, LRScheduler, copied, for_each_group, set_rate
from funcgrad.torch.optim.optimizer import Optimizer
from funcgrad.types import Anything, Number

__all__ = ["ReduceLROnPlateau"]


class ReduceLROnPlateau(LRScheduler):
    """The rate times `factor` when a measure has not improved for `patience` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Anything = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        self.factor = factor
        self.min_lrs = for_each_group(min_lr, optimizer, "min_lrs")
        self.default_min_lr = None if isinstance(min_lr, list | tuple) else min_lr
        self.patience = patience
        self.cooldown = cooldown
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = [copied(lr) for lr in self.lrs()]
        self._reset()

    def _reset(self) -> None:
        self.mode_worse = math.inf if self.mode == "min" else -math.inf
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def is_better(self, value: float, best: float) -> bool:
        """Whether a measure is better than the best by more than the threshold."""
        sign = -1 if self.mode == "min" else 1
        if self.threshold_mode == "rel":
            return sign * value > sign * best * (1.0 + sign * self.threshold)
        return sign * value > sign * best + self.threshold

    @property
    def in_cooldown(self) -> bool:
        """Whether the rate was reduced so lately that nothing is counted."""
        return self.cooldown_counter > 0

    def step(self, metrics: Number, epoch: int | None = None) -> None:  # type: ignore[override]
        """Take the measure of an epoch."""
        value = float(metrics)
        if epoch is not None:
            warnings.warn(EPOCH_GIVEN, UserWarning, stacklevel=2)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(value, self.best):
            self.best = value
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
                reduced = max(float(group["lr"]) * self.factor, least)
                if float(group["lr"]) - reduced > self.eps:
                    set_rate(group, reduced)
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = [copied(lr) for lr in self.lrs()]
