"""Spectral norm by a hook before `forward`; `parametrizations.spectral_norm` is PyTorch's newer way."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.core.backward.grad_mode import no_grad
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.nn.functional import normalize
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.torch.nn.utils.parametrizations import as_matrix
from funcgrad.types import Anything

__all__ = ["remove_spectral_norm", "spectral_norm"]


class _SpectralNorm:
    """The hook: sets the weight to ``weight_orig`` over its largest singular value."""

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        self.name = name
        self.n_power_iterations = n_power_iterations
        self.dim = dim
        self.eps = eps

    def computed(self, module: Module, iterates: bool) -> Operand:
        """The weight; in training the singular vectors are improved first."""
        weight = getattr(module, f"{self.name}_orig")
        u, v = getattr(module, f"{self.name}_u"), getattr(module, f"{self.name}_v")
        matrix = as_matrix(weight, self.dim)
        if iterates:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(normalize(matrix.t().mv(u), dim=0, eps=self.eps))
                    u.copy_(normalize(matrix.mv(v), dim=0, eps=self.eps))
            u, v = u.clone(), v.clone()
        return weight / u.dot(matrix.mv(v))

    def __call__(self, module: Module, inputs: Anything) -> None:
        setattr(module, self.name, self.computed(module, module.training))


def _hook_of(module: Module, name: str) -> tuple[int, _SpectralNorm] | None:
    for key, (hook, *_) in module._forward_pre_hooks.items():
        if isinstance(hook, _SpectralNorm) and hook.name == name:
            return key, hook
    return None


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divide a weight of a module by its largest singular value, from ``weight_orig``."""
    if _hook_of(module, name) is not None:
        raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    if n_power_iterations <= 0:
        raise ValueError(
            f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
        )
    if dim is None:
        dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
    weight: Any = module._parameters[name]
    hook = _SpectralNorm(name, n_power_iterations, dim, eps)
    rows, columns = as_matrix(weight.detach(), dim)._value.shape
    u = normalize(weight.detach().new_empty(rows).normal_(0, 1), dim=0, eps=eps)
    v = normalize(weight.detach().new_empty(columns).normal_(0, 1), dim=0, eps=eps)
    delattr(module, name)
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(f"{name}_u", u)
    module.register_buffer(f"{name}_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Make the weight a parameter again, of its normalised value."""
    found = _hook_of(module, name)
    if found is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    key, hook = found
    with no_grad():
        weight = hook.computed(module, False)
    delattr(module, name)
    for part in ("_u", "_v", "_orig"):
        delattr(module, f"{name}{part}")
    module.register_parameter(name, Parameter(weight.detach()))
    del module._forward_pre_hooks[key]
    return module
