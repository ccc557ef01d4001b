"""Invertible maps onto triangular and positive definite matrices."""

from __future__ import annotations

import math

from funcgrad import torch
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.distributions import constraints
from funcgrad.torch.distributions.maps import Transform, softplus
from funcgrad.types import ShapeLike

__all__ = ["CorrCholeskyTransform", "LowerCholeskyTransform", "PositiveDefiniteTransform"]


class LowerCholeskyTransform(Transform):
    """From a matrix to a lower triangular one with a positive diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LowerCholeskyTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Operand) -> Operand:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Operand) -> Operand:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """From a matrix to a positive definite one, by way of its Cholesky factor."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PositiveDefiniteTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Operand) -> Operand:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Operand) -> Operand:
        return LowerCholeskyTransform().inv(torch.linalg.cholesky(y))


class CorrCholeskyTransform(Transform):
    """From a vector to the Cholesky factor of a correlation matrix (Lewandowski and others, 2009)."""

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Operand) -> Operand:
        x = torch.tanh(x)
        eps = torch.finfo(x.dtype).eps
        x = x.clamp(min=-1 + eps, max=1 - eps)
        r = _lower_of(x, diag=-1)
        # What is left of a row's unit length after each of its elements.
        left = (1 - r * r).sqrt().cumprod(-1)
        r = r + torch.eye(r.shape[-1], dtype=r.dtype)
        return r * torch.nn.functional.pad(left[..., :-1], (1, 0), value=1.0)

    def _inverse(self, y: Operand) -> Operand:
        left = 1 - torch.cumsum(y * y, dim=-1)
        shifted = torch.nn.functional.pad(left[..., :-1], (1, 0), value=1.0)
        t = _vector_of(y, -1) / _vector_of(shifted, -1).sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Operand, y: Operand, intermediates: Operand = None) -> Operand:
        left = 1 - (y * y).cumsum(-1)
        of_rows = 0.5 * _vector_of(left, -2).log().sum(-1)
        of_tanh = -2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)
        return of_rows + of_tanh

    def forward_shape(self, shape: ShapeLike) -> ShapeLike:
        count = shape[-1]
        size = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return (*shape[:-1], size, size)

    def inverse_shape(self, shape: ShapeLike) -> ShapeLike:
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return (*shape[:-2], shape[-1] * (shape[-1] - 1) // 2)


def _lower_of(x: Operand, diag: int) -> Operand:
    """A lower triangular matrix with the elements of a vector in rows, below the diagonal."""
    size = round((0.25 + 2 * x.shape[-1]) ** 0.5 + 0.5)
    rows, columns = torch.tril_indices(size, size, diag)
    found = torch.zeros((*x.shape[:-1], size * size), dtype=x.dtype)
    index = (rows * size + columns).expand(x.shape)
    return found.scatter(-1, index, x).reshape((*x.shape[:-1], size, size))


def _vector_of(matrix: Operand, diag: int) -> Operand:
    """The elements of a matrix below a diagonal, row by row."""
    rows, columns = torch.tril_indices(matrix.shape[-2], matrix.shape[-1], diag)
    return matrix[..., rows, columns]
