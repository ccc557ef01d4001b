"""Rates that go up and down: cosines, triangles, one cycle."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.optim.lr_scheduler.base import LRScheduler, for_each_group, set_momentum, set_rate
from funcgrad.torch.optim.optimizer import Optimizer
from funcgrad.types import Anything, Number

__all__ = ["CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "OneCycleLR"]


class CosineAnnealingLR(LRScheduler):
    """The rate along half a cosine to `eta_min` in `T_max` epochs, and back."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        n, most, least = self.last_epoch, self.T_max, self.eta_min
        if n == 0:
            return self.lrs()
        if self._step_count == 1 and n > 0:
            return self._at(n)
        if (n - 1 - most) % (2 * most) == 0:
            half = (1 - math.cos(math.pi / most)) / 2
            return [lr + (base - least) * half for base, lr in zip(self.base_lrs, self.lrs(), strict=True)]
        ratio = (1 + math.cos(math.pi * n / most)) / (1 + math.cos(math.pi * (n - 1) / most))
        return [ratio * (lr - least) + least for lr in self.lrs()]

    def _at(self, epoch: int) -> list[Any]:
        share = (1 + math.cos(math.pi * epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]

    def _get_closed_form_lr(self) -> list[Any]:
        return self._at(self.last_epoch)


class CosineAnnealingWarmRestarts(LRScheduler):
    """`CosineAnnealingLR` that starts again, each time after `T_mult` times as many epochs."""

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: Any = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        share = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]

    def step(self, epoch: Number = None) -> None:
        """Go on to the next epoch, or to any part of one."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        elif epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        else:
            self._go_to(epoch)
        self._step_count += 1
        self.last_epoch = math.floor(epoch)
        self._set(self.get_lr())

    def _go_to(self, epoch: Anything) -> None:
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_i, self.T_cur = self.T_0, epoch % self.T_0
        else:
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**n


class CyclicLR(LRScheduler):
    """The rate up and down between two bounds (Smith, 2017); called after every batch."""

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Anything,
        max_lr: Anything,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[Any], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        lows = for_each_group(base_lr, optimizer, "values for base_lr")
        if last_epoch == -1:
            for group, lr in zip(optimizer.param_groups, lows, strict=True):
                set_rate(group, lr)
        self.max_lrs = for_each_group(max_lr, optimizer, "values for max_lr")
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up + down)
        self.step_ratio = step_size_up / self.total_size
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = "iterations" if mode == "exp_range" and scale_fn is None else scale_mode
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = "betas" in optimizer.defaults
            if not {"momentum", "betas"} & set(optimizer.defaults):
                raise ValueError(
                    "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
                )
            self.base_momentums = for_each_group(base_momentum, optimizer, "values for base_momentum")
            self.max_momentums = for_each_group(max_momentum, optimizer, "values for max_momentum")
            for group, low, high in zip(
                optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True
            ):
                set_momentum(group, low)
                group["max_momentum"], group["base_momentum"] = high, low
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lows

    def scale_fn(self, x: Operand) -> float:
        """The height of a cycle, or of an iteration."""
        if self._scale_fn_custom is not None:
            return float(self._scale_fn_custom(x))
        if self.mode == "triangular2":
            return math.pow(2.0, 1 - x)
        return math.pow(self.gamma, x) if self.mode == "exp_range" else 1.0

    def get_lr(self) -> list[Any]:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        share = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for group, low, high in zip(
                self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True
            ):
                set_momentum(group, high - (high - low) * share * scale)
        return [
            low + (high - low) * share * scale for low, high in zip(self.base_lrs, self.max_lrs, strict=True)
        ]


def _steps_in_all(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    """How many steps there are, given one way or the other."""
    if total_steps is None:
        if epochs is None or steps_per_epoch is None:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        total_steps = epochs * steps_per_epoch
    if total_steps <= 0:
        raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
    return total_steps


def _phases(rise: float, last: int, three: bool) -> list[dict[str, Any]]:
    """The phases of one cycle, by their last step: up, down, and in a third far below the beginning."""
    phases: list[tuple[float | str, ...]] = [(rise, "initial_lr", "max_lr", "max_momentum", "base_momentum")]
    if three:
        phases.append((2 * rise, "max_lr", "initial_lr", "base_momentum", "max_momentum"))
        phases.append((last, "initial_lr", "min_lr", "max_momentum", "max_momentum"))
    else:
        phases.append((last, "max_lr", "min_lr", "base_momentum", "max_momentum"))
    words = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
    return [dict(zip(words, phase, strict=True)) for phase in phases]


class OneCycleLR(LRScheduler):
    """The rate up to `max_lr` and down to far below where it began (Smith and Topin, 2019)."""

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Anything,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float = 0.85,
        max_momentum: float = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        total_steps = _steps_in_all(total_steps, epochs, steps_per_epoch)
        if not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self.total_steps = total_steps
        self._anneal_func_type = anneal_strategy
        self._schedule_phases = _phases(float(pct_start * total_steps) - 1, total_steps - 1, three_phase)
        self.cycle_momentum = cycle_momentum
        highs = for_each_group(max_lr, optimizer, "values for max_lr")
        if last_epoch == -1:
            for group, high in zip(optimizer.param_groups, highs, strict=True):
                group["initial_lr"] = high / div_factor
                group["max_lr"] = high
                group["min_lr"] = group["initial_lr"] / final_div_factor
        if cycle_momentum:
            self.use_beta1 = "betas" in optimizer.defaults
            if not {"momentum", "betas"} & set(optimizer.defaults):
                raise ValueError(
                    "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
                )
            for group in optimizer.param_groups:
                set_momentum(group, max_momentum)
                group["max_momentum"], group["base_momentum"] = max_momentum, base_momentum
        super().__init__(optimizer, last_epoch)

    def _between(self, start: float, end: float, share: float) -> float:
        if self._anneal_func_type == "linear":
            return (end - start) * share + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)

    def get_lr(self) -> list[Any]:
        if self.last_epoch > self.total_steps:
            raise ValueError(
                f"Tried to step {self.last_epoch} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        rates = []
        for group in self.optimizer.param_groups:
            begin = 0.0
            for k, phase in enumerate(self._schedule_phases):
                end, low, high, first, second = phase.values()
                if self.last_epoch <= end or k == len(self._schedule_phases) - 1:
                    share = (self.last_epoch - begin) / (end - begin)
                    rates.append(self._between(group[low], group[high], share))
                    if self.cycle_momentum:
                        set_momentum(group, self._between(group[first], group[second], share))
                    break
                begin = end
        return rates
