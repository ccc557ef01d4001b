"""Adam and its kin: steps scaled by running averages of gradients and of their squares."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, InitVar
from typing import Any

import numpy as np

from funcgrad.extend import Tracer
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.nn.declared import declared, fixed
from funcgrad.torch.optim.options import number, root
from funcgrad.torch.optim.stepwise import Bundle, Stepwise
from funcgrad.types import Array, Number

__all__ = ["Adam", "AdamW", "Adamax", "NAdam", "RAdam"]


def require_numbers(options: dict[str, Any]) -> None:
    """Raise ValueError where Adam's options are tensors in places that PyTorch's takes none in."""
    tensors = [isinstance(x, Tensor) for x in (options["lr"], *options["betas"])]
    if any(tensors[1:]) and not all(tensors[1:]):
        raise ValueError("betas must be either both floats or both Tensors")
    for name, found in zip(("lr", "betas[0]", "betas[1]"), tensors, strict=True):
        if found and options["foreach"] and not options["capturable"]:
            raise ValueError(f"{name} as a Tensor is not supported for capturable=False and foreach=True")


def averaged(average: Array, x: Array, beta: float) -> Array:
    """Move a running average towards `x`, in place."""
    average *= beta
    average += x * (1 - beta)
    return average


@declared
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

    lr: InitVar[Number] = 1e-3
    betas: InitVar[tuple[float, float]] = (0.9, 0.999)
    eps: InitVar[float] = 1e-8
    weight_decay: InitVar[float] = 0
    amsgrad: InitVar[bool] = False
    _: KW_ONLY
    maximize: InitVar[bool] = False
    foreach: InitVar[bool | None] = None
    capturable: InitVar[bool] = False
    differentiable: InitVar[bool] = False
    fused: InitVar[bool | None] = None
    decoupled_weight_decay: InitVar[bool] = False

    checks = ("lr", "eps", "betas", "weight_decay")

    def check(self, options: dict[str, Any]) -> None:
        super().check(options)
        require_numbers(options)

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


@declared
class AdamW(Adam):
    """`Adam` with decoupled weight decay (Loshchilov and Hutter, 2019)."""

    weight_decay: InitVar[float] = 1e-2
    decoupled_weight_decay: InitVar[bool] = fixed(True)


@declared
class Adamax(Stepwise):
    """Adam by the largest gradients in place of their squares."""

    lr: InitVar[Number] = 2e-3
    betas: InitVar[tuple[float, float]] = (0.9, 0.999)
    eps: InitVar[float] = 1e-8
    weight_decay: InitVar[float] = 0
    foreach: InitVar[bool | None] = None
    _: KW_ONLY
    maximize: InitVar[bool] = False
    differentiable: InitVar[bool] = False
    capturable: InitVar[bool] = False

    checks = ("lr", "eps", "betas", "weight_decay")
    slots = ("exp_avg", "exp_inf")

    def change(self, group: dict[str, Any], bundle: Bundle, g: Array, first: bool) -> Array:
        beta1, beta2 = group["betas"]
        if group["weight_decay"]:
            g += group["weight_decay"] * bundle.values()
        mean = averaged(bundle.arrays["exp_avg"], g, beta1)
        largest = bundle.arrays["exp_inf"]
        np.maximum(largest * beta2, np.abs(g) + group["eps"], out=largest)
        return mean / largest * -(number(group["lr"]) / (1 - beta1**bundle.count))


@declared
class NAdam(Stepwise):
    """Adam with Nesterov's momentum (Dozat, 2016)."""

    is_traceable = False

    lr: InitVar[Number] = 2e-3
    betas: InitVar[tuple[float, float]] = (0.9, 0.999)
    eps: InitVar[float] = 1e-8
    weight_decay: InitVar[float] = 0
    momentum_decay: InitVar[float] = 4e-3
    decoupled_weight_decay: InitVar[bool] = False
    _: KW_ONLY
    maximize: InitVar[bool] = False
    foreach: InitVar[bool | None] = None
    capturable: InitVar[bool] = False
    differentiable: InitVar[bool] = False

    checks = ("lr", "eps", "betas", "weight_decay", "momentum_decay")
    slots = ("exp_avg", "exp_avg_sq")

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


@declared
class RAdam(Stepwise):
    """Adam that waits until the variance of its step is known (Liu et al., 2020)."""

    lr: InitVar[Number] = 1e-3
    betas: InitVar[tuple[float, float]] = (0.9, 0.999)
    eps: InitVar[float] = 1e-8
    weight_decay: InitVar[float] = 0
    decoupled_weight_decay: InitVar[bool] = False
    _: KW_ONLY
    maximize: InitVar[bool] = False
    foreach: InitVar[bool | None] = None
    capturable: InitVar[bool] = False
    differentiable: InitVar[bool] = False

    checks = ("lr", "eps", "betas", "weight_decay")
    slots = ("exp_avg", "exp_avg_sq")
    printed = "lr betas eps weight_decay maximize foreach capturable decoupled_weight_decay differentiable"

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
