"""Interchange by DLPack: ``torch.utils.dlpack``."""

from __future__ import annotations

from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.creating.conversion import from_dlpack

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Tensor) -> object:
    """The capsule that other libraries import."""
    return tensor.__dlpack__()
