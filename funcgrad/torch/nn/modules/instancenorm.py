"""``torch.nn.modules.instancenorm``: another way to classes of ``torch.nn``."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.nn.layers import normalization
from funcgrad.torch.nn.layers.normalization import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from funcgrad.torch.nn.missing import missing

__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]

_InstanceNorm = normalization.InstanceNorm


def __getattr__(name: str) -> Any:
    """What is not here says so by name."""
    raise missing(__name__, name)
