"""Schedulers made of schedulers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from funcgrad.torch.optim.lr_scheduler.base import LRScheduler
from funcgrad.torch.optim.lr_scheduler.plateau import ReduceLROnPlateau
from funcgrad.torch.optim.optimizer import Optimizer
from funcgrad.types import Anything

__all__ = ["ChainedScheduler", "SequentialLR"]


def _require_one_optimizer(owner: object, schedulers: Sequence[Any], optimizer: Optimizer) -> None:
    """Raise where a scheduler is for another optimizer, or has to be given more than a step."""
    name = type(owner).__name__
    for k, scheduler in enumerate(schedulers):
        if not hasattr(scheduler, "optimizer"):
            raise TypeError(f"{name} at index {k} should have `optimizer` as its attribute.")
        if isinstance(scheduler, ReduceLROnPlateau):
            raise ValueError(
                f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to "
                "be specified when calling `step`, but got one at index "
                f"{k} in the given schedulers sequence."
            )
        if optimizer is not scheduler.optimizer:
            raise ValueError(
                f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                f"{type(scheduler).__name__} at index {k} has {scheduler.optimizer}, which is different from "
                f"{type(optimizer).__name__}."
            )


def _undo_first_step(scheduler: Anything) -> None:
    """Take back the step that schedulers make when they are made, in all of those inside."""
    if hasattr(scheduler, "_schedulers"):
        for inner in scheduler._schedulers:
            _undo_first_step(inner)
    elif hasattr(scheduler, "last_epoch"):
        scheduler.last_epoch -= 1


class SequentialLR(LRScheduler):
    """One scheduler after the other, changing at milestones."""

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[Any], milestones: Sequence[int], last_epoch: int = -1
    ) -> None:
        if not schedulers:
            raise ValueError(
                "SequentialLR expects at least one scheduler to be chained, but got no scheduler."
            )
        _require_one_optimizer(self, schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number "
                f"of milestone points, but got number of schedulers {len(schedulers)} and the number of "
                f"milestones to be equal to {len(milestones)}"
            )
        self.optimizer = optimizer
        self._schedulers = list(schedulers)
        self._milestones = list(milestones)
        self.last_epoch = last_epoch + 1
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        _undo_first_step(self)
        first = self._schedulers[bisect_right(self._milestones, 0)]
        first._step_count = 0
        first.step()
        self._last_lr = first.get_last_lr()

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch."""
        self.last_epoch += 1
        k = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[k]
        if k > 0 and self._milestones[k - 1] == self.last_epoch:
            scheduler.go_to(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def state_dict(self) -> dict[str, Any]:
        state = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "_schedulers")}
        state["_schedulers"] = [scheduler.state_dict() for scheduler in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        held = dict(state_dict)
        for scheduler, state in zip(self._schedulers, held.pop("_schedulers"), strict=True):
            scheduler.load_state_dict(state)
        self.__dict__.update(held)


class ChainedScheduler(LRScheduler):
    """Several schedulers, all of which change the rate in every epoch."""

    def __init__(self, schedulers: Sequence[Any], optimizer: Optimizer | None = None) -> None:
        if not schedulers:
            raise ValueError(
                "ChainedScheduler expects at least one scheduler to be chained, but got no scheduler."
            )
        self.optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        _require_one_optimizer(self, schedulers, self.optimizer)
        self._schedulers = list(schedulers)
        self._last_lr = self.lrs()

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self.lrs()

    state_dict = SequentialLR.state_dict
    load_state_dict = SequentialLR.load_state_dict
