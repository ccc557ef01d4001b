"""Steps scaled by the size of past gradients: RMSprop, Adagrad, Adadelta, and signs alone: Rprop."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.torch.core.tensor import wrap
from funcgrad.torch.optim.adam import averaged
from funcgrad.torch.optim.optimizer import Bundle, Stepwise, checked, number
from funcgrad.types import Array

__all__ = ["Adadelta", "Adagrad", "RMSprop", "Rprop"]


class RMSprop(Stepwise):
    """Steps divided by the root of a running average of squares (Hinton's lecture)."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        checked(
            learning_rate=(lr, lr >= 0.0),
            epsilon_value=(eps, eps >= 0.0),
            momentum_value=(momentum, momentum >= 0.0),
            weight_decay_value=(weight_decay, weight_decay >= 0.0),
            alpha_value=(alpha, alpha >= 0.0),
        )
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "alpha": alpha,
                "eps": eps,
                "centered": centered,
                "weight_decay": weight_decay,
                "capturable": capturable,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
            },
        )

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


class Adagrad(Stepwise):
    """Steps divided by the root of the sum of squares (Duchi et al., 2011)."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        checked(
            learning_rate=(lr, lr >= 0.0),
            lr_decay_value=(lr_decay, lr_decay >= 0.0),
            weight_decay_value=(weight_decay, weight_decay >= 0.0),
            initial_accumulator_value_value=(initial_accumulator_value, initial_accumulator_value >= 0.0),
            epsilon_value=(eps, eps >= 0.0),
        )
        super().__init__(
            params,
            {
                "lr": lr,
                "lr_decay": lr_decay,
                "eps": eps,
                "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "fused": fused,
            },
        )
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


class Adadelta(Stepwise):
    """Steps with the units of the parameters (Zeiler, 2012)."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        checked(
            learning_rate=(lr, lr >= 0.0),
            rho_value=(rho, 0.0 <= rho <= 1.0),
            epsilon_value=(eps, eps >= 0.0),
            weight_decay_value=(weight_decay, weight_decay >= 0.0),
        )
        super().__init__(
            params,
            {
                "lr": lr,
                "rho": rho,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                "capturable": capturable,
                "foreach": foreach,
                "differentiable": differentiable,
            },
        )

    def names(self, group: dict[str, Any]) -> dict[str, Any]:
        return {"square_avg": 0.0, "acc_delta": 0.0}

    def change(self, group: dict[str, Any], bundle: Bundle, g: Array, first: bool) -> Array:
        if group["weight_decay"]:
            g += group["weight_decay"] * bundle.values()
        rho, eps = group["rho"], group["eps"]
        square = averaged(bundle.arrays["square_avg"], g * g, rho)
        moved = bundle.arrays["acc_delta"]
        delta = np.sqrt(moved + eps) / np.sqrt(square + eps) * g
        averaged(moved, delta * delta, rho)
        return delta * -number(group["lr"])


class Rprop(Stepwise):
    """Steps by the signs of gradients, longer while they stay the same (Riedmiller and Braun, 1993)."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        checked(learning_rate=(lr, lr >= 0.0))
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(
            params,
            {
                "lr": lr,
                "etas": etas,
                "step_sizes": step_sizes,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

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
