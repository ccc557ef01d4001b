"""``torch.nn.modules.module``: another way to classes of ``torch.nn``."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.nn.missing import elsewhere
from funcgrad.torch.nn.module import Module

__all__ = ["Module"]


def __getattr__(name: str) -> Any:
    """Other classes of ``torch.nn``; what is not there says so by name."""
    return elsewhere(__name__, name)
