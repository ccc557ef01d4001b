"""Parametrisations of PyTorch's own: spectral norm, weight norm, orthogonal matrices."""

from __future__ import annotations

from typing import Any

from funcgrad.torch import linalg
from funcgrad.torch.core.backward.grad_mode import no_grad
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.nn.functional import normalize
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.utils.parametrize import register_parametrization
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Anything

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def as_matrix(weight: Tensor, dim: int) -> Operand:
    """A weight as a matrix with the rows of one dimension."""
    if dim:
        weight = weight.movedim(dim, 0)
    return weight.flatten(1) if len(weight._value.shape) > 1 else weight.unsqueeze(0)


class _SpectralNorm(Module):
    """A matrix over its largest singular value, found by the power method (Miyato and others, 2018)."""

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = len(weight._value.shape)
        if not -ndim <= dim < ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + ndim
        self.eps = eps
        self.is_vector = ndim <= 1
        if not self.is_vector:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight.detach(), self.dim)
            rows, columns = matrix._value.shape
            u = matrix.new_empty(rows).normal_(0, 1)
            v = matrix.new_empty(columns).normal_(0, 1)
            self.register_buffer("_u", normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", normalize(v, dim=0, eps=eps))
            self._iterate(matrix, 15)

    def _iterate(self, matrix: Anything, times: int) -> None:
        with no_grad():
            for _ in range(times):
                self._u.copy_(normalize(matrix.mv(self._v), dim=0, eps=self.eps))
                self._v.copy_(normalize(matrix.H.mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Operand:
        if self.is_vector:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        return weight / u.vdot(matrix.mv(v))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divide a weight of a module by its largest singular value."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))


def _norm_except(v: Tensor, dim: int) -> Anything:
    if dim == -1:
        return v.norm()
    axes = [k for k in range(len(v._value.shape)) if k != dim % len(v._value.shape)]
    return v.norm(2, axes, keepdim=True) if axes else v.abs()


class _WeightNorm(Module):
    """A direction times a length, for each entry of a dimension (Salimans and Kingma, 2016)."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, g: Tensor, v: Tensor) -> Operand:
        return v * (g / _norm_except(v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Any, Any]:
        return _norm_except(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Compute a weight from a direction (``original1``) and lengths (``original0``)."""
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    return module


class _Orthogonal(Module):
    """An orthogonal matrix (or one with orthonormal columns or rows), by way of a skew-symmetric one."""

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool = True) -> None:
        super().__init__()
        self.shape = tuple(weight._value.shape)
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def _tall(self, x: Anything) -> Anything:
        return x if self.shape[-2] >= self.shape[-1] else x.mT

    def forward(self, x: Tensor) -> Operand:
        x = self._tall(x)
        n, k = x._value.shape[-2:]
        skew = x.tril()
        if n != k:
            zeros = x.new_zeros((*x._value.shape[:-2], n, n - k))
            skew = FUNCTIONS["cat"]([skew, zeros], -1)
        skew = skew - skew.mH
        if self.orthogonal_map == "matrix_exp":
            q = FUNCTIONS["matrix_exp"](skew)
        else:
            one = FUNCTIONS["eye"](n, dtype=x.dtype)
            q = linalg.solve(one - 0.5 * skew, one + 0.5 * skew)
        q = q[..., :k]
        base = getattr(self, "base", None)
        if base is not None:
            q = base @ q if base._value.shape[-1] == n else base[..., :n] @ q
        return self._tall(q)

    def right_inverse(self, q: Tensor) -> Operand:
        tall = self._tall(q.detach())
        n, k = tall._value.shape[-2:]
        if "base" not in self._buffers:
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                "use_trivialization=False."
            )
        found, r = linalg.qr(tall, "complete" if n != k else "reduced")
        signs = r.diagonal(dim1=-2, dim2=-1).sgn()
        first = found[..., :k] * signs.unsqueeze(-2)
        self.base = FUNCTIONS["cat"]([first, found[..., k:]], -1) if n != k else first
        return self._tall(FUNCTIONS["zeros_like"](tall))


def orthogonal(
    module: Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Module:
    """Keep a matrix of a module orthogonal."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    shape = weight._value.shape
    if len(shape) < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {len(shape)} dimensions.")
    orthogonal_map = orthogonal_map or "matrix_exp"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    if orthogonal_map == "householder" or not use_trivialization:
        raise NotImplementedError(
            "funcgrad.torch does not support orthogonal by reflections; give "
            "orthogonal_map='matrix_exp' or 'cayley'"
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)
