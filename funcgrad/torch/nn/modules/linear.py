"""``torch.nn.modules.linear``: another way to classes of ``torch.nn``."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.nn.layers.linear import Bilinear, Identity, Linear
from funcgrad.torch.nn.missing import elsewhere

__all__ = ["Bilinear", "Identity", "Linear"]


def __getattr__(name: str) -> Any:
    """Other classes of ``torch.nn``; what is not there says so by name."""
    return elsewhere(__name__, name)
