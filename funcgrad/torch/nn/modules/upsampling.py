"""``torch.nn.modules.upsampling``: another way to classes of ``torch.nn``."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.nn.layers.convolution import Upsample, UpsamplingBilinear2d, UpsamplingNearest2d
from funcgrad.torch.nn.missing import elsewhere

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


def __getattr__(name: str) -> Any:
    """Other classes of ``torch.nn``; what is not there says so by name."""
    return elsewhere(__name__, name)
