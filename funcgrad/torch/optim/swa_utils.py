"""Averages of weights along training: ``torch.optim.swa_utils`` (Izmailov et al., 2018)."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from funcgrad.torch.core.backward.grad_mode import no_grad
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.nn.layers.normalization import BatchNorm
from funcgrad.torch.nn.module import Module
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.torch.optim.lr_scheduler.base import LRScheduler, for_each_group
from funcgrad.torch.optim.optimizer import Optimizer
from funcgrad.types import Anything, Device

if TYPE_CHECKING:
    from funcgrad.torch.core.operand import Operands

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


def _require_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_avg_fn(decay: float = 0.999) -> Callable[..., Any]:
    """The function of an exponentially decaying average, for one parameter."""
    _require_decay(decay)

    @no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Anything) -> Anything:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Callable[..., Any]:
    """The function of an average of all that came, for one parameter."""

    @no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Anything) -> Anything:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def _of_several(update: Callable[..., Any]) -> Callable[..., Any]:
    def update_all(averages: Iterable[Tensor], params: Iterable[Tensor], num_averaged: Anything) -> None:
        for mean, p in zip(averages, params, strict=True):
            mean.detach().copy_(update(mean.detach(), p.detach(), num_averaged))

    return update_all


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., Any]:
    """As `get_ema_avg_fn`, for lists of parameters, whose averages are changed in place."""
    return _of_several(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> Callable[..., Any]:
    """As `get_swa_avg_fn`, for lists of parameters, whose averages are changed in place."""
    return _of_several(get_swa_avg_fn())


class AveragedModel(Module):
    """A copy of a module whose parameters are averages of the module's.

    >>> from funcgrad import torch
    >>> model = torch.nn.Linear(1, 1)
    >>> mean = torch.optim.swa_utils.AveragedModel(model)
    >>> mean.update_parameters(model)
    >>> mean.n_averaged
    tensor(1)
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Anything = None,
        avg_fn: Callable[..., Any] | None = None,
        multi_avg_fn: Callable[..., Any] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        self.register_buffer("n_averaged", FUNCTIONS["tensor"](0))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Anything, **kwargs: Anything) -> Operands:
        """What the averaged module computes."""
        return self.module(*args, **kwargs)

    def _averaged(self, module: Anything) -> list[Any]:
        return [*module.parameters(), *(module.buffers() if self.use_buffers else ())]

    def _update(self) -> Callable[..., Any]:
        if self.multi_avg_fn is not None:
            return self.multi_avg_fn
        return _of_several(get_swa_avg_fn() if self.avg_fn is None else self.avg_fn)

    def update_parameters(self, model: Module) -> None:
        """Take the parameters of `model` into the average."""
        means, given = self._averaged(self.module), self._averaged(model)
        several = self._update()
        with no_grad():
            if int(self.n_averaged) == 0:
                for mean, p in zip(means, given, strict=True):
                    mean.detach().copy_(p.detach())
            else:
                several(means, given, self.n_averaged)
            if not self.use_buffers:
                for mean, b in zip(self.module.buffers(), model.buffers(), strict=True):
                    mean.detach().copy_(b.detach())
            self.n_averaged += 1


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Device = None) -> None:
    """Set the running statistics of batch normalisation to those of the batches of `loader`."""
    layers = [m for m in model.modules() if isinstance(m, BatchNorm)]
    if not layers:
        return
    momenta = [m.momentum for m in layers]
    was_training = model.training
    model.train()
    for m in layers:
        m.reset_running_stats()
        m.momentum = None
    for batch in loader:
        model(batch[0] if isinstance(batch, list | tuple) else batch)
    for m, momentum in zip(layers, momenta, strict=True):
        m.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Rates that go to those of averaging in some epochs, and stay."""

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: Anything,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        for group, lr in zip(
            optimizer.param_groups, for_each_group(swa_lr, optimizer, "values for swa_lr"), strict=True
        ):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must by one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        if anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, t: float) -> float:
        t = max(0.0, min(1.0, t))
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def get_lr(self) -> list[Any]:
        """The rates on their way: each step undoes the share of the one before."""
        step, epochs = self._step_count - 1, max(1, self.anneal_epochs)
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(max(0.0, min(1.0, (step - 1) / epochs))), self._share(step / epochs)
        rates = []
        for group in self.optimizer.param_groups:
            lr, end = group["lr"], group["swa_lr"]
            first = end if before == 1 else (lr - before * end) / (1 - before)
            rates.append(end * now + first * (1 - now))
        return rates
