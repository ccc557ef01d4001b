"""``torch.nn.modules.batchnorm``: another way to classes of ``torch.nn``."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.nn.layers import normalization
from funcgrad.torch.nn.layers.normalization import BatchNorm1d, BatchNorm2d, BatchNorm3d
from funcgrad.torch.nn.missing import elsewhere

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d"]

_BatchNorm = normalization.BatchNorm
_NormBase = normalization.Normalising


def __getattr__(name: str) -> Any:
    """Other classes of ``torch.nn``; what is not there says so by name."""
    return elsewhere(__name__, name)
