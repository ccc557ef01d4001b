"""Draws of gamma variables that are differentiable by their shape.

The draw `z` of shape `a` solves ``P(a, z) = u`` for a fixed `u`, so that ``dz/da = -(dP/da) / p(z)``
(implicit reparameterisation, Figurnov and others, 2018). As PyTorch's, it has no second derivative.
"""

from __future__ import annotations

import numpy as np

from funcgrad import torch
from funcgrad.torch.autograd.function import Function
from funcgrad.torch.core.backward.underived import underived
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.operations.creating.random import default_generator
from funcgrad.types import Anything

__all__ = ["standard_gamma"]


class _StandardGamma(Function):
    @staticmethod
    def forward(ctx: Anything, shape: Operand) -> Operand:
        rng = default_generator.bits
        found = rng.gamma(shape.detach().double().numpy())
        value = torch.as_tensor(np.asarray(found)).to(shape.dtype)
        value = value.clamp(min=torch.finfo(shape.dtype).tiny)
        ctx.save_for_backward(shape, value)
        return value

    @staticmethod
    def backward(ctx: Anything, g: Operand) -> Operand:
        shape, value = ctx.saved_tensors
        a = shape.detach().double().requires_grad_()
        z = value.detach().double()
        with torch.enable_grad():
            below = torch.special.gammainc(a, z)
            (slope,) = torch.autograd.grad(below.sum(), a)
        a = a.detach()
        density = ((a - 1) * z.log() - z - torch.lgamma(a)).exp()
        found = (-slope / density).to(g.dtype)
        return g * underived(found, shape, "_standard_gamma_grad")


def standard_gamma(shape: Operand) -> Operand:
    """Draws of gamma variables of scale one, a function of their shape that can be differentiated once.

    >>> a = fg.torch.tensor([2.0, 3.0], requires_grad=True)
    >>> standard_gamma(a).requires_grad
    True
    """
    return _StandardGamma.apply(shape)
