"""Weight normalisation: a parameter as a direction and its length (Salimans and Kingma, 2016)."""

from __future__ import annotations

import warnings

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.types import Anything

__all__ = ["remove_weight_norm", "weight_norm"]


def _lengths(v: Tensor, dim: int | None) -> Anything:
    """The norm over every dimension but `dim`, which stays; over all where that is None."""
    if dim is None or dim == -1:
        return (v * v).sum().sqrt()
    others = [k for k in range(v.ndim) if k != dim % v.ndim]
    return (v * v).sum(others, keepdim=True).sqrt() if others else v.abs()


class WeightNorm:
    """The hook that computes a weight from its length ``g`` and direction ``v`` before each call."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = dim

    def weight(self, module: Module) -> Operand:
        """``g * v / |v|``."""
        g, v = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        return v * (g / _lengths(v, self.dim))

    def __call__(self, module: Module, inputs: Anything) -> None:
        setattr(module, self.name, self.weight(module))


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Operand:
    """Replace a parameter by its lengths along `dim`, ``name_g``, and its direction, ``name_v``.

    Returns the module. Warns as PyTorch does, whose newer form works by parametrisations.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     layer = weight_norm(fg.torch.nn.Linear(3, 2))
    >>> sorted((name, tuple(p.shape)) for name, p in layer.named_parameters())
    [('bias', (2,)), ('weight_g', (2, 1)), ('weight_v', (2, 3))]
    """
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of "
        "`torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    if _hook_of(module, name) is not None:
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    hook = WeightNorm(name, dim)
    weight = getattr(module, name)
    del module._parameters[name]
    module.register_parameter(f"{name}_g", Parameter(_lengths(weight, dim).detach()))
    module.register_parameter(f"{name}_v", Parameter(weight.detach()))
    setattr(module, name, hook.weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: Anything, name: str = "weight") -> Operand:
    """Undo `weight_norm`: the weight is a parameter again. Returns the module."""
    key = _hook_of(module, name)
    if key is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    weight = module._forward_pre_hooks[key].call.weight(module).detach()
    delattr(module, name)
    del module._parameters[f"{name}_g"], module._parameters[f"{name}_v"], module._forward_pre_hooks[key]
    setattr(module, name, Parameter(weight))
    return module


def _hook_of(module: Anything, name: str) -> Anything:
    for key, (hook, *_) in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            return key
    return None
