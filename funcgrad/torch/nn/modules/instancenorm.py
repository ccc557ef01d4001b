"""``torch.nn.modules.instancenorm``: another way to classes of ``torch.nn``."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.nn.layers import normalization
from funcgrad.torch.nn.layers.normalization import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from funcgrad.torch.nn.missing import elsewhere

__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]

_InstanceNorm = normalization.InstanceNorm


def __getattr__(name: str) -> Any:
    """Other classes of ``torch.nn``; what is not there says so by name."""
    return elsewhere(__name__, name)
