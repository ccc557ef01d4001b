"""``torch.nn.modules.module``: another way to classes of ``torch.nn``."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.nn.missing import missing
from funcgrad.torch.nn.module import Module

__all__ = ["Module"]


def __getattr__(name: str) -> Any:
    """What is not here says so by name."""
    raise missing(__name__, name)
