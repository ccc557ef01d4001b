"""Adam and its kin: steps scaled by running averages of gradients and of their squares."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad.extend import Tracer
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.optim.optimizer import Bundle, Stepwise, check_both_betas, checked, number, root
from funcgrad.types import Array, Number

__all__ = ["Adam", "AdamW", "Adamax", "NAdam", "RAdam"]


def check_betas(lr: Number, betas: tuple[float, float], eps: float, weight_decay: float) -> None:
    """Raise ValueError for options out of range."""
    checked(learning_rate=(lr, lr >= 0.0), epsilon_value=(eps, eps >= 0.0))
    check_both_betas(betas)
    checked(weight_decay_value=(weight_decay, weight_decay >= 0.0))


def check_tensors(foreach: bool | None, capturable: bool, lr: object, betas: tuple[object, ...]) -> None:
    """Raise ValueError where Adam's options are tensors in places that PyTorch's takes none in."""
    tensors = [isinstance(x, Tensor) for x in (lr, *betas)]
    if any(tensors[1:]) and not all(tensors[1:]):
        raise ValueError("betas must be either both floats or both Tensors")
    for name, found in zip(("lr", "betas[0]", "betas[1]"), tensors, strict=True):
        if found and foreach and not capturable:
            raise ValueError(f"{name} as a Tensor is not supported for capturable=False and foreach=True")


def averaged(average: Array, x: Array, beta: float) -> Array:
    """Move a running average towards `x`, in place."""
    average *= beta
    average += x * (1 - beta)
    return average


class Adam(Stepwise):
    """Adam (Kingma and Ba, 2015), with AMSGrad and either kind of weight decay.

    >>> from funcgrad import torch
    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> optimizer = torch.optim.Adam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.9000], requires_grad=True)
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_betas(lr, betas, eps, weight_decay)
        check_tensors(foreach, capturable, lr, betas)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
                "fused": fused,
                "decoupled_weight_decay": decoupled_weight_decay,
            },
        )

    def names(self, group: dict[str, Any]) -> dict[str, Any]:
        names = {"exp_avg": 0.0, "exp_avg_sq": 0.0}
        return names | {"max_exp_avg_sq": 0.0} if group["amsgrad"] else names

    def change(self, group: dict[str, Any], bundle: Bundle, g: Array, first: bool) -> Array:
        beta1, beta2 = group["betas"]
        lr, decay = number(group["lr"]), group["weight_decay"]
        if decay and not group["decoupled_weight_decay"]:
            g += decay * bundle.values()
        mean = averaged(bundle.arrays["exp_avg"], g, beta1)
        square = averaged(bundle.arrays["exp_avg_sq"], np.multiply(g, g, out=g), beta2)
        if group["amsgrad"]:
            square = np.maximum(bundle.arrays["max_exp_avg_sq"], square, out=bundle.arrays["max_exp_avg_sq"])
        size = np.sqrt(square, out=g)
        size /= root(1 - beta2**bundle.count)
        size += group["eps"]
        found = np.divide(mean, size, out=size)
        found *= -(lr / (1 - beta1**bundle.count))
        if decay and group["decoupled_weight_decay"]:
            found -= bundle.values() * (lr * decay)
        return found


class AdamW(Adam):
    """`Adam` with decoupled weight decay (Loshchilov and Hutter, 2019)."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )


class Adamax(Stepwise):
    """Adam by the largest gradients in place of their squares."""

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_betas(lr, betas, eps, weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def names(self, group: dict[str, Any]) -> dict[str, Any]:
        return {"exp_avg": 0.0, "exp_inf": 0.0}

    def change(self, group: dict[str, Any], bundle: Bundle, g: Array, first: bool) -> Array:
        beta1, beta2 = group["betas"]
        if group["weight_decay"]:
            g += group["weight_decay"] * bundle.values()
        mean = averaged(bundle.arrays["exp_avg"], g, beta1)
        largest = bundle.arrays["exp_inf"]
        np.maximum(largest * beta2, np.abs(g) + group["eps"], out=largest)
        return mean / largest * -(number(group["lr"]) / (1 - beta1**bundle.count))


class NAdam(Stepwise):
    """Adam with Nesterov's momentum (Dozat, 2016)."""

    is_traceable = False

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_betas(lr, betas, eps, weight_decay)
        checked(momentum_decay_value=(momentum_decay, momentum_decay >= 0.0))
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "momentum_decay": momentum_decay,
                "decoupled_weight_decay": decoupled_weight_decay,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
            },
        )

    def names(self, group: dict[str, Any]) -> dict[str, Any]:
        return {"exp_avg": 0.0, "exp_avg_sq": 0.0}

    def change(self, group: dict[str, Any], bundle: Bundle, g: Array, first: bool) -> Array:
        beta1, beta2 = group["betas"]
        lr, decay, n = number(group["lr"]), group["weight_decay"], bundle.count
        change = 0.0
        if decay and group["decoupled_weight_decay"]:
            change = bundle.values() * -(lr * decay)
        elif decay:
            g += decay * bundle.values()
        product = 1.0
        for k in range(1, n + 1):
            product *= _momentum(beta1, k, group["momentum_decay"])
        for p in bundle.params:
            self.state[p]["mu_product"] = wrap(np.array(product, np.float32))
        now, following = (_momentum(beta1, k, group["momentum_decay"]) for k in (n, n + 1))
        mean = averaged(bundle.arrays["exp_avg"], g, beta1)
        square = averaged(bundle.arrays["exp_avg_sq"], g * g, beta2)
        size = np.sqrt(square / (1 - beta2**n)) + group["eps"]
        change = change - g / size * (lr * (1.0 - now) / (1.0 - product))
        return change - mean / size * (lr * following / (1.0 - product * following))


def _momentum(beta: float, step: int, decay: float) -> float:
    """Dozat's schedule of the momentum."""
    return beta * (1.0 - 0.5 * math.pow(0.96, step * decay))


class RAdam(Stepwise):
    """Adam that waits until the variance of its step is known (Liu et al., 2020)."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_betas(lr, betas, eps, weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "decoupled_weight_decay": decoupled_weight_decay,
                "differentiable": differentiable,
            },
        )

    def names(self, group: dict[str, Any]) -> dict[str, Any]:
        return {"exp_avg": 0.0, "exp_avg_sq": 0.0}

    def change(self, group: dict[str, Any], bundle: Bundle, g: Array, first: bool) -> Array:
        beta1, beta2 = group["betas"]
        lr, decay, n = number(group["lr"]), group["weight_decay"], bundle.count
        change: Any = 0.0
        if decay and group["decoupled_weight_decay"]:
            change = bundle.values() * -(lr * decay)
        elif decay:
            g += decay * bundle.values()
        mean = averaged(bundle.arrays["exp_avg"], g, beta1)
        square = averaged(bundle.arrays["exp_avg_sq"], g * g, beta2)
        unknown = 1 - beta2**n
        most = 2 / (1 - beta2) - 1
        length = most - 2 * n * beta2**n / unknown
        step = mean * (lr / (1 - beta1**n))
        if type(n) is not Tracer and length <= 5.0:
            return change - step
        rectified = root((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length))
        scaled = step * (root(unknown) * rectified) / (np.sqrt(square) + group["eps"])
        return change - (np.where(length > 5.0, scaled, step) if type(n) is Tracer else scaled)
