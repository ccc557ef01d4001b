"""Stochastic gradient descent with momentum."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.torch.optim.optimizer import Bundle, Stepwise, checked, number
from funcgrad.types import Array

__all__ = ["SGD"]


class SGD(Stepwise):
    """``p -= lr * g``, with momentum, dampening, Nesterov's form and weight decay.

    >>> from funcgrad import torch
    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> optimizer = torch.optim.SGD([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.8000], requires_grad=True)
    """

    counts = False

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        checked(
            learning_rate=(lr, lr >= 0.0),
            momentum_value=(momentum, momentum >= 0.0),
            weight_decay_value=(weight_decay, weight_decay >= 0.0),
        )
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
                "foreach": foreach,
                "differentiable": differentiable,
                "fused": fused,
            },
        )

    def names(self, group: dict[str, Any]) -> dict[str, Any]:
        return {"momentum_buffer": 0.0} if group["momentum"] else {}

    def change(self, group: dict[str, Any], bundle: Bundle, g: Array, first: bool) -> Array:
        if group["weight_decay"]:
            g += group["weight_decay"] * bundle.values()
        momentum = group["momentum"]
        if momentum:
            buffer = bundle.arrays["momentum_buffer"]
            buffer *= momentum
            # The first gradient is taken whole.
            share = np.where(first, 1.0, 1 - group["dampening"]).astype(g.dtype)
            buffer += g * share if group["dampening"] else g
            g = g + buffer * momentum if group["nesterov"] else buffer
        return g * -number(group["lr"])
