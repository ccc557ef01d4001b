"""Steps scaled by the size of past gradients: RMSprop, Adagrad, Adadelta, and signs alone: Rprop."""

from __future__ import annotations

from dataclasses import KW_ONLY, InitVar
from typing import Any

import numpy as np

from funcgrad.torch.core.tensor import wrap
from funcgrad.torch.nn.declared import declared
from funcgrad.torch.optim.adam import averaged
from funcgrad.torch.optim.options import number
from funcgrad.torch.optim.stepwise import Bundle, Stepwise
from funcgrad.types import Array, Number

__all__ = ["Adadelta", "Adagrad", "RMSprop", "Rprop"]


@declared
class RMSprop(Stepwise):
    """Steps divided by the root of a running average of squares (Hinton's lecture)."""

    lr: InitVar[Number] = 1e-2
    alpha: InitVar[float] = 0.99
    eps: InitVar[float] = 1e-8
    weight_decay: InitVar[float] = 0
    momentum: InitVar[float] = 0
    centered: InitVar[bool] = False
    capturable: InitVar[bool] = False
    foreach: InitVar[bool | None] = None
    maximize: InitVar[bool] = False
    differentiable: InitVar[bool] = False

    checks = ("lr", "eps", "momentum", "weight_decay", "alpha")
    printed = "lr momentum alpha eps centered weight_decay capturable foreach maximize differentiable"

    def names(self, group: dict[str, Any]) -> dict[str, Any]:
        names = {"square_avg": 0.0}
        if group["momentum"] > 0:
            names["momentum_buffer"] = 0.0
        if group["centered"]:
            names["grad_avg"] = 0.0
        return names

    def change(self, group: dict[str, Any], bundle: Bundle, g: Array, first: bool) -> Array:
        if group["weight_decay"]:
            g += group["weight_decay"] * bundle.values()
        square = averaged(bundle.arrays["square_avg"], g * g, group["alpha"])
        if group["centered"]:
            mean = averaged(bundle.arrays["grad_avg"], g, group["alpha"])
            square = square - mean * mean
        found = g / (np.sqrt(square) + group["eps"])
        if group["momentum"] > 0:
            buffer = bundle.arrays["momentum_buffer"]
            buffer *= group["momentum"]
            buffer += found
            found = buffer
        return found * -number(group["lr"])


@declared
class Adagrad(Stepwise):
    """Steps divided by the root of the sum of squares (Duchi et al., 2011)."""

    lr: InitVar[Number] = 1e-2
    lr_decay: InitVar[float] = 0
    weight_decay: InitVar[float] = 0
    initial_accumulator_value: InitVar[float] = 0
    eps: InitVar[float] = 1e-10
    foreach: InitVar[bool | None] = None
    _: KW_ONLY
    maximize: InitVar[bool] = False
    differentiable: InitVar[bool] = False
    fused: InitVar[bool | None] = None

    checks = ("lr", "lr_decay", "weight_decay", "initial_accumulator_value", "eps")
    printed = "lr lr_decay eps weight_decay initial_accumulator_value foreach maximize differentiable fused"

    def take(self, options: dict[str, Any]) -> None:
        super().take(options)
        for group in self.param_groups:
            for p in group["params"]:
                first = group["initial_accumulator_value"]
                self.state[p] = {
                    "step": wrap(np.array(0.0, np.float32)),
                    "sum": wrap(np.full_like(p._value, first * (1 + 1j) if p.is_complex() else first)),
                }

    def share_memory(self) -> None:
        """Not supported."""
        raise NotImplementedError("funcgrad.torch does not support share_memory")

    def names(self, group: dict[str, Any]) -> dict[str, Any]:
        return {"sum": group["initial_accumulator_value"]}

    def change(self, group: dict[str, Any], bundle: Bundle, g: Array, first: bool) -> Array:
        if group["weight_decay"]:
            g += group["weight_decay"] * bundle.values()
        lr = number(group["lr"]) / (1 + (bundle.count - 1) * group["lr_decay"])
        total = bundle.arrays["sum"]
        total += g * g
        return g / (np.sqrt(total) + group["eps"]) * -lr


@declared
class Adadelta(Stepwise):
    """Steps with the units of the parameters (Zeiler, 2012)."""

    lr: InitVar[Number] = 1.0
    rho: InitVar[float] = 0.9
    eps: InitVar[float] = 1e-6
    weight_decay: InitVar[float] = 0
    foreach: InitVar[bool | None] = None
    _: KW_ONLY
    maximize: InitVar[bool] = False
    capturable: InitVar[bool] = False
    differentiable: InitVar[bool] = False

    checks = ("lr", "rho", "eps", "weight_decay")
    slots = ("square_avg", "acc_delta")
    printed = "lr rho eps weight_decay maximize capturable foreach differentiable"

    def change(self, group: dict[str, Any], bundle: Bundle, g: Array, first: bool) -> Array:
        if group["weight_decay"]:
            g += group["weight_decay"] * bundle.values()
        rho, eps = group["rho"], group["eps"]
        square = averaged(bundle.arrays["square_avg"], g * g, rho)
        moved = bundle.arrays["acc_delta"]
        delta = np.sqrt(moved + eps) / np.sqrt(square + eps) * g
        averaged(moved, delta * delta, rho)
        return delta * -number(group["lr"])


@declared
class Rprop(Stepwise):
    """Steps by the signs of gradients, longer while they stay the same (Riedmiller and Braun, 1993)."""

    lr: InitVar[Number] = 1e-2
    etas: InitVar[tuple[float, float]] = (0.5, 1.2)
    step_sizes: InitVar[tuple[float, float]] = (1e-6, 50)
    _: KW_ONLY
    foreach: InitVar[bool | None] = None
    maximize: InitVar[bool] = False
    differentiable: InitVar[bool] = False
    capturable: InitVar[bool] = False

    def check(self, options: dict[str, Any]) -> None:
        super().check(options)
        smaller, larger = options["etas"][0], options["etas"][1]
        if not 0.0 < smaller < 1.0 < larger:
            raise ValueError(f"Invalid eta values: {smaller}, {larger}")

    def names(self, group: dict[str, Any]) -> dict[str, Any]:
        return {"prev": 0.0, "step_size": number(group["lr"])}

    def change(self, group: dict[str, Any], bundle: Bundle, g: Array, first: bool) -> Array:
        smaller, larger = group["etas"]
        previous, size = bundle.arrays["prev"], bundle.arrays["step_size"]
        same = previous * g
        size *= np.where(same > 0, larger, np.where(same < 0, smaller, 1.0)).astype(size.dtype)
        np.clip(size, *group["step_sizes"], out=size)
        g[same < 0] = 0.0
        previous[...] = g
        return -np.sign(g) * size
