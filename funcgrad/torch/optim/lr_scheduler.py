"""Learning rates that change: schedulers set ``lr`` in the groups of an optimiser once for each epoch."""

from __future__ import annotations

import math
import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

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
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]

_TOO_EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you "
    "should call them "
    "in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will "
    "result in PyTorch "
    "skipping the first value of the learning rate schedule. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)


class LRScheduler:
    """The base: counts epochs and asks `get_lr` for the rates of the groups."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for k, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{k}] when resuming scheduler with "
                    "last_epoch >= 0.\nThis typically happens when:\n1. You're trying to resume training "
                    "from a "
                    "checkpoint but haven't properly loaded the optimizer state\n2. You're using last_epoch "
                    ">= 0 for a "
                    "fresh training run (not recommended)"
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
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
            rates = self.get_lr()
        else:
            self.last_epoch = epoch
            closed = getattr(self, "_get_closed_form_lr", None)
            rates = closed() if closed is not None else self.get_lr()
        self._set(rates)

    def _set(self, rates: Sequence[Any]) -> None:
        for group, lr in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = lr
        self._last_lr = self.lrs()

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        self.__dict__.update(state_dict)


_LRScheduler = LRScheduler


def for_each_group(given: Any, optimizer: Optimizer, what: str) -> list[Any]:
    """One for each group."""
    count = len(optimizer.param_groups)
    found = list(given) if isinstance(given, list | tuple) else [given] * count
    if len(found) != count:
        raise ValueError(f"Expected {count} {what}, but got {len(found)}")
    return found


class LambdaLR(LRScheduler):
    """The initial rate times a function of the epoch."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        self.lr_lambdas = for_each_group(lr_lambda, optimizer, "lr_lambdas")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        return [base * f(self.last_epoch) for f, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        state = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "lr_lambdas")}
        # Functions are not state; objects that are callable are.
        state["lr_lambdas"] = [
            None if isinstance(f, type(for_each_group)) else dict(f.__dict__) for f in self.lr_lambdas
        ]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        held = dict(state_dict)
        for f, state in zip(self.lr_lambdas, held.pop("lr_lambdas"), strict=True):
            if state is not None:
                f.__dict__.update(state)
        self.__dict__.update(held)


class MultiplicativeLR(LambdaLR):
    """The last rate times a function of the epoch."""

    def get_lr(self) -> list[Any]:
        if self.last_epoch <= 0:
            return self.lrs()
        return [lr * f(self.last_epoch) for lr, f in zip(self.lrs(), self.lr_lambdas, strict=True)]


class StepLR(LRScheduler):
    """The rate times `gamma` every `step_size` epochs.

    >>> from funcgrad import torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> rates = []
    >>> for _ in range(4):
    ...     optimizer.step()
    ...     rates.append(scheduler.get_last_lr()[0])
    ...     scheduler.step()
    >>> rates
    [1.0, 1.0, 0.5, 0.5]
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self.lrs()
        return self.times(self.gamma)

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """The rate times `gamma` at each milestone."""

    def __init__(
        self, optimizer: Optimizer, milestones: Sequence[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        if self.last_epoch not in self.milestones:
            return self.lrs()
        return self.times(self.gamma ** self.milestones[self.last_epoch])

    def _get_closed_form_lr(self) -> list[Any]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """The rate times `factor` for the first `total_iters` epochs."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        if self.last_epoch == 0:
            return self.times(self.factor)
        return self.times(1.0 / self.factor) if self.last_epoch == self.total_iters else self.lrs()

    def _get_closed_form_lr(self) -> list[Any]:
        factor = self.factor if self.last_epoch < self.total_iters else 1.0
        return [base * factor for base in self.base_lrs]


class LinearLR(LRScheduler):
    """A factor that goes from one value to another in `total_iters` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal to 1."
            )
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        if self.last_epoch == 0:
            return self.times(self.start_factor)
        if self.last_epoch > self.total_iters:
            return self.lrs()
        rise = self.end_factor - self.start_factor
        return self.times(1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise))

    def _get_closed_form_lr(self) -> list[Any]:
        share = min(self.total_iters, self.last_epoch) / self.total_iters
        return [
            base * (self.start_factor + (self.end_factor - self.start_factor) * share)
            for base in self.base_lrs
        ]


class ExponentialLR(LRScheduler):
    """The rate times `gamma` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        return self.lrs() if self.last_epoch == 0 else self.times(self.gamma)

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """The rate along a polynomial to 0 in `total_iters` epochs."""

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        n, total = self.last_epoch, self.total_iters
        if n == 0 or n > total:
            return self.lrs()
        return self.times(((1.0 - n / total) / (1.0 - (n - 1) / total)) ** self.power)

    def _get_closed_form_lr(self) -> list[Any]:
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * left**self.power for base in self.base_lrs]


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

    def step(self, epoch: Any = None) -> None:
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

    def _go_to(self, epoch: Any) -> None:
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
        base_lr: Any,
        max_lr: Any,
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
                group["lr"] = lr
        self.max_lrs = for_each_group(max_lr, optimizer, "values for max_lr")
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up + down)
        self.step_ratio = step_size_up / self.total_size
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = "iterations" if mode == "exp_range" and scale_fn is None else scale_mode
        self.cycle_momentum = cycle_momentum
        self.use_beta1 = cycle_momentum and "betas" in optimizer.defaults
        if cycle_momentum:
            if not {"momentum", "betas"} & set(optimizer.defaults):
                raise ValueError(
                    "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
                )
            self.base_momentums = for_each_group(base_momentum, optimizer, "values for base_momentum")
            self.max_momentums = for_each_group(max_momentum, optimizer, "values for max_momentum")
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lows

    def scale_fn(self, x: Any) -> float:
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


def set_momentum(group: dict[str, Any], momentum: float) -> None:
    """Set the momentum of a group, which is the first beta where there are betas."""
    if "betas" in group:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum


class OneCycleLR(LRScheduler):
    """The rate up to `max_lr` and down to far below where it began (Smith and Topin, 2019)."""

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Any,
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
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
            total_steps = epochs * steps_per_epoch
        if total_steps <= 0:
            raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
        if not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self.total_steps = total_steps
        self._anneal_func_type = anneal_strategy
        rise = float(pct_start * total_steps) - 1
        last = total_steps - 1
        phases = [(rise, "initial_lr", "max_lr", "max_momentum", "base_momentum")]
        if three_phase:
            phases.append((2 * rise, "max_lr", "initial_lr", "base_momentum", "max_momentum"))
            phases.append((last, "initial_lr", "min_lr", "max_momentum", "max_momentum"))
        else:
            phases.append((last, "max_lr", "min_lr", "base_momentum", "max_momentum"))
        words = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
        self._schedule_phases: list[dict[str, Any]] = [
            dict(zip(words, phase, strict=True)) for phase in phases
        ]
        self.cycle_momentum = cycle_momentum
        self.use_beta1 = cycle_momentum and "betas" in optimizer.defaults
        highs = for_each_group(max_lr, optimizer, "values for max_lr")
        if last_epoch == -1:
            for group, high in zip(optimizer.param_groups, highs, strict=True):
                group["initial_lr"] = high / div_factor
                group["max_lr"] = high
                group["min_lr"] = group["initial_lr"] / final_div_factor
        if cycle_momentum:
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


class SequentialLR(LRScheduler):
    """One scheduler after the other, changing at milestones."""

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[Any], milestones: Sequence[int], last_epoch: int = -1
    ) -> None:
        if not schedulers:
            raise ValueError(
                "SequentialLR expects at least one scheduler to be chained, but got no scheduler."
            )
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number "
                "of milestone "
                f"points, but got number of schedulers {len(schedulers)} and the number of milestones to be "
                "equal to "
                f"{len(milestones)}"
            )
        self.optimizer = optimizer
        self._schedulers = list(schedulers)
        self._milestones = list(milestones)
        self.last_epoch = last_epoch + 1
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for scheduler in self._schedulers:
            scheduler.last_epoch -= 1
        self._restart(self._schedulers[0])
        self._last_lr = self._schedulers[0].get_last_lr()

    @staticmethod
    def _restart(scheduler: Any) -> None:
        scheduler._step_count = 0
        scheduler.step()

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch."""
        self.last_epoch += 1
        k = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[k]
        if k > 0 and self._milestones[k - 1] == self.last_epoch:
            scheduler.step(0)
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
        self._schedulers = list(schedulers)
        self.optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        self._last_lr = self.lrs()

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self.lrs()

    state_dict = SequentialLR.state_dict
    load_state_dict = SequentialLR.load_state_dict


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
        min_lr: Any = 0,
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
        self._last_lr = self.lrs()
        self._reset()

    def _reset(self) -> None:
        self.best = math.inf if self.mode == "min" else -math.inf
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

    def step(self, metrics: Any = None, epoch: int | None = None) -> None:  # type: ignore[override]
        """Take the measure of an epoch."""
        value = float(metrics)
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
                    group["lr"] = reduced
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = self.lrs()
