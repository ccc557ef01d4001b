"""``torch.nn.modules.flatten``: another way to classes of ``torch.nn``."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.nn.layers.linear import Flatten, Unflatten
from funcgrad.torch.nn.missing import elsewhere

__all__ = ["Flatten", "Unflatten"]


def __getattr__(name: str) -> Any:
    """Other classes of ``torch.nn``; what is not there says so by name."""
    return elsewhere(__name__, name)
