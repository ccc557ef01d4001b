"""Integrals and derivatives of sampled functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import op
from funcgrad.torch.core.errors import dim_of, dims_of
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import SETTINGS
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.registry import published
from funcgrad.types import Anything, Array, AxisLike, Number

__all__: list[str] = []


@published("trapezoid", "trapz")
def trapezoid(y: Tensor, x: Operand = None, *, dx: Number = 1, dim: int = -1) -> Operand:
    """The integral by the trapezoidal rule."""
    size = y._value.shape[dim]
    if x is not None:
        return ((y.narrow(dim, 1, size - 1) + y.narrow(dim, 0, size - 1)) * _widths(x, y, dim)).sum(dim) / 2.0
    total = y.sum(dim) * 2 - y.select(dim, 0) - y.select(dim, size - 1)
    return total * (dx / 2.0)


@published()
def cumulative_trapezoid(y: Tensor, x: Operand = None, *, dx: Number = 1, dim: int = -1) -> Operand:
    """The running integral by the trapezoidal rule."""
    size = y._value.shape[dim]
    pairs = y.narrow(dim, 1, size - 1) + y.narrow(dim, 0, size - 1)
    if x is None:
        return (pairs * (dx / 2.0)).cumsum(dim)
    return (pairs * _widths(x, y, dim) / 2.0).cumsum(dim)


def _widths(x: Tensor, y: Tensor, dim: int) -> Operand:
    found = x.diff(dim=-1 if len(x._value.shape) == 1 else dim)
    if len(x._value.shape) == 1:
        ndim = len(y._value.shape)
        shape = [1] * ndim
        shape[dim_of(dim, ndim)] = -1
        found = found.reshape(shape)
    return found


@published()
def gradient(
    input: Tensor, *, spacing: Number = 1, dim: AxisLike = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    """Derivatives along dimensions by finite differences."""
    ndim = len(input._value.shape)
    dims = dims_of(dim, ndim)
    if input._value.dtype.kind in "iu":
        input = input.to(SETTINGS.default_dtype)
    spacing = 1 if spacing is None else spacing
    if isinstance(spacing, int | float):
        steps: Any = [spacing] * len(dims)
    else:
        steps = [x._value if isinstance(x, Tensor) else x for x in spacing]
    return tuple(
        [apply(_gradient, (input,), (k, _static(h), edge_order)) for k, h in zip(dims, steps, strict=True)]
    )


def _static(h: Array) -> Anything:
    return tuple(h.tolist()) if isinstance(h, np.ndarray) and h.shape else float(h)


@op("CatBackward0")
def _gradient(x: Array, axis: int, spacing: Anything, edge_order: int) -> Array:
    step = np.array(spacing) if isinstance(spacing, tuple) else spacing
    gradient_of: Any = np.gradient
    return gradient_of(x, step, axis=axis, edge_order=edge_order).astype(x.dtype)
