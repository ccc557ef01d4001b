"""Layers for inference made of two: a normalisation in evaluation mode is a scale and a shift.

They go into the weight and the bias of the layer before it.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import funcgrad.torch as torch
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.types import Anything

if TYPE_CHECKING:
    from funcgrad.torch.core.operand import Operand
    from funcgrad.torch.nn.module import Module

__all__ = [
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
    "skip_init",
]


def _fused(
    axis: int,
    weight: Operand,
    bias: Operand,
    mean: Operand,
    var: Operand,
    eps: float,
    scale: Operand,
    shift: Operand,
) -> tuple[Parameter, Parameter]:
    bias = torch.zeros_like(mean) if bias is None else bias
    scale = torch.ones_like(mean) if scale is None else scale
    shift = torch.zeros_like(mean) if shift is None else shift
    factor = scale * torch.rsqrt(var + eps)
    shape = [1] * weight.dim()
    shape[axis] = -1
    found = (weight * factor.reshape(shape)).to(weight.dtype)
    moved = ((bias - mean) * factor + shift).to(bias.dtype)
    return Parameter(found, weight.requires_grad), Parameter(moved, bias.requires_grad)


def fuse_conv_bn_weights(
    conv_w: Operand,
    conv_b: Operand,
    bn_rm: Operand,
    bn_rv: Operand,
    bn_eps: float,
    bn_w: Operand,
    bn_b: Operand,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """The weight and the bias of a convolution that normalises as well."""
    return _fused(1 if transpose else 0, conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def fuse_linear_bn_weights(
    linear_w: Operand,
    linear_b: Operand,
    bn_rm: Operand,
    bn_rv: Operand,
    bn_eps: float,
    bn_w: Operand,
    bn_b: Operand,
) -> tuple[Parameter, Parameter]:
    """The weight and the bias of a linear layer that normalises as well."""
    return _fused(0, linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def _evaluated(layer: Module, bn: Module, axis: int) -> Module:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = deepcopy(layer)
    of_bn = (bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias)
    fused.weight, fused.bias = _fused(axis, fused.weight, fused.bias, *of_bn)
    return fused


def fuse_conv_bn_eval(conv: Module, bn: Module, transpose: bool = False) -> Module:
    """One convolution that does what it and the normalisation after it do, both in evaluation mode.

    >>> conv, bn = torch.nn.Conv1d(1, 2, 1).eval(), torch.nn.BatchNorm1d(2).eval()
    >>> x = torch.ones(1, 1, 3)
    >>> torch.allclose(fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)))
    True
    """
    return _evaluated(conv, bn, 1 if transpose else 0)


def fuse_linear_bn_eval(linear: Module, bn: Module) -> Module:
    """One linear layer that does what it and the normalisation after it do, both in evaluation mode."""
    if bn.num_features not in (linear.out_features, 1):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, "
            f"got linear.out_features={linear.out_features} and bn.num_features={bn.num_features}"
        )
    return _evaluated(linear, bn, 0)


def skip_init(module_cls: type[Module], *args: Anything, **kwargs: Anything) -> Module:
    """A module whose parameters are there to be loaded: making them draws no random numbers."""
    state = torch.get_rng_state()
    try:
        return module_cls(*args, **kwargs)
    finally:
        torch.set_rng_state(state)
