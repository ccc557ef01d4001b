"""Orders of a kernel's dimensions in memory, which change no number: accepted, and nothing is moved."""

from __future__ import annotations

from typing import TypeVar

from funcgrad.torch.nn.module import Module

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]

M = TypeVar("M", bound=Module)


def convert_conv2d_weight_memory_format(module: M, memory_format: object) -> M:
    """The module itself: memory is in rows here, whatever order is asked for, as by `Tensor.to`."""
    return module


convert_conv3d_weight_memory_format = convert_conv2d_weight_memory_format
