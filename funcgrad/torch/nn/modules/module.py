"""``torch.nn.modules.module``: another way to classes of ``torch.nn``."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.nn.missing import elsewhere
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.module_calls import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
)

__all__ = [
    "Module",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
]


def __getattr__(name: str) -> Any:
    """Other classes of ``torch.nn``; what is not there says so by name."""
    return elsewhere(__name__, name)
