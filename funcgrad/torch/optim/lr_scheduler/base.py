"""What all schedulers share: they count epochs and set the rates of the groups."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from funcgrad.torch.core.backward.grad_mode import no_grad
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.optim.optimizer import Optimizer
from funcgrad.types import Number

__all__ = ["LRScheduler"]


_TOO_EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you "
    "should call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to "
    "do this will result in PyTorch skipping the first value of the learning rate schedule. See more "
    "details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)


EPOCH_GIVEN = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. "
    "Please use `scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from "
    "None, the closed form is used instead of the new chainable form, where available. Please open an issue "
    "if you are unable to replicate your use case: https://github.com/pytorch/pytorch/issues/new/choose."
)


class LRScheduler:
    """The base: counts epochs and asks `get_lr` for the rates of the groups."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for k, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{k}] when resuming scheduler with "
                    "last_epoch >= 0.\nThis typically happens when:\n1. You're trying to resume training "
                    "from a checkpoint but haven't properly loaded the optimizer state\n2. You're using "
                    "last_epoch >= 0 for a fresh training run (not recommended)"
                )
        self.base_lrs = [copied(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._step_count = 0
        self._is_initial = self._get_lr_called_within_step = False
        self._last_lr: list[Any] = []
        self.step()

    def get_lr(self) -> list[Any]:
        """The rates of the groups in this epoch."""
        raise NotImplementedError

    def get_last_lr(self) -> list[Any]:
        """The rates that were set last."""
        return self._last_lr

    def lrs(self) -> list[Any]:
        """The rates as they stand in the groups."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def times(self, factor: float) -> list[Any]:
        """The rates multiplied."""
        return [lr * factor for lr in self.lrs()]

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch."""
        if self._step_count == 1 and not getattr(self.optimizer, "_opt_called", False):
            warnings.warn(_TOO_EARLY, UserWarning, stacklevel=2)
        self._step_count += 1
        if epoch is None:
            self.last_epoch += 1
            self._set(self.get_lr())
        else:
            warnings.warn(EPOCH_GIVEN, UserWarning, stacklevel=2)
            self.go_to(epoch)

    def go_to(self, epoch: int) -> None:
        """Set the rates to those of an epoch, by the closed form where there is one."""
        self.last_epoch = epoch
        closed = getattr(self, "_get_closed_form_lr", None)
        self._set(closed() if closed is not None else self.get_lr())

    def _set(self, rates: Sequence[Any]) -> None:
        for group, lr in zip(self.optimizer.param_groups, rates, strict=True):
            set_rate(group, lr)
        self._last_lr = [copied(lr) for lr in self.lrs()]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        self.__dict__.update(state_dict)


_LRScheduler = LRScheduler


def copied(lr: Number) -> Number:
    """A rate that stays as it is: of one that is a tensor a copy."""
    return lr.clone() if isinstance(lr, Tensor) else lr


def set_rate(group: dict[str, Any], lr: Number) -> None:
    """Set the rate of a group; one that is a tensor is filled, as others may hold it."""
    held = group["lr"]
    if isinstance(held, Tensor):
        with no_grad():
            held.fill_(lr)
    else:
        group["lr"] = lr


def for_each_group(given: Operand, optimizer: Optimizer, what: str) -> list[Any]:
    """One for each group."""
    count = len(optimizer.param_groups)
    found = list(given) if isinstance(given, list | tuple) else [given] * count
    if len(found) != count:
        raise ValueError(f"Expected {count} {what}, but got {len(found)}")
    return found


def set_momentum(group: dict[str, Any], momentum: float) -> None:
    """Set the momentum of a group, which is the first beta where there are betas."""
    if "betas" in group:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum
