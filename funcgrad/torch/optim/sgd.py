"""Stochastic gradient descent with momentum."""

from __future__ import annotations

from dataclasses import KW_ONLY, InitVar
from typing import Any

import numpy as np

from funcgrad.torch.nn.declared import declared
from funcgrad.torch.optim.options import number
from funcgrad.torch.optim.stepwise import Bundle, Stepwise
from funcgrad.types import Array, Number

__all__ = ["SGD"]


@declared
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

    lr: InitVar[Number] = 1e-3
    momentum: InitVar[float] = 0
    dampening: InitVar[float] = 0
    weight_decay: InitVar[float] = 0
    nesterov: InitVar[bool] = False
    _: KW_ONLY
    maximize: InitVar[bool] = False
    foreach: InitVar[bool | None] = None
    differentiable: InitVar[bool] = False
    fused: InitVar[bool | None] = None

    checks = ("lr", "momentum", "weight_decay")

    def check(self, options: dict[str, Any]) -> None:
        super().check(options)
        if options["nesterov"] and (options["momentum"] <= 0 or options["dampening"] != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")

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
