"""Layers that put elements back to where a pooling took them from."""

from __future__ import annotations

from typing import ClassVar

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.nn import functional as F
from funcgrad.torch.nn.module import Module
from funcgrad.types import Padding, ShapeLike

__all__ = ["MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"]


class _MaxUnpool(Module):
    ndim: ClassVar[int]

    def __init__(self, kernel_size: ShapeLike, stride: ShapeLike = None, padding: Padding = 0) -> None:
        super().__init__()
        self.kernel_size = self._several(kernel_size)
        self.stride = self._several(stride if stride is not None else kernel_size)
        self.padding = self._several(padding)

    def _several(self, given: Operand) -> tuple[int, ...]:
        return (given,) * self.ndim if isinstance(given, int) else tuple(given)

    def forward(self, input: Tensor, indices: Tensor, output_size: ShapeLike = None) -> Operand:
        """The elements at their old places, zero elsewhere."""
        unpool = getattr(F, f"max_unpool{self.ndim}d")
        return unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """The partial inverse of `MaxPool1d`."""

    ndim = 1


class MaxUnpool2d(_MaxUnpool):
    """The partial inverse of `MaxPool2d`.

    >>> from funcgrad import torch
    >>> pooled, indices = torch.nn.MaxPool2d(2, return_indices=True)(torch.ones(1, 1, 2, 2))
    >>> torch.nn.MaxUnpool2d(2)(pooled, indices)
    tensor([[[[1., 0.],
              [0., 0.]]]])
    """

    ndim = 2


class MaxUnpool3d(_MaxUnpool):
    """The partial inverse of `MaxPool3d`."""

    ndim = 3
