"""``torch.nn.modules.container``: another way to classes of ``torch.nn``."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.nn.containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from funcgrad.torch.nn.missing import missing

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


def __getattr__(name: str) -> Any:
    """What is not here says so by name."""
    raise missing(__name__, name)
