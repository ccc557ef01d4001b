"""What ``torch.nn``, its functions and ``torch.optim`` have and this package does not: said by name."""

from __future__ import annotations

from importlib import import_module

from funcgrad.torch.core.unsupported import reason_for
from funcgrad.types import Anything

__all__ = ["elsewhere", "missing"]


def missing(module: str, name: str) -> AttributeError:
    """The error for an attribute that a module here does not have."""
    reason = reason_for(name)
    if reason is not None:
        return AttributeError(f"{module} does not support {name!r}: {reason}")
    return AttributeError(f"module {module!r} has no attribute {name!r}")


def elsewhere(module: str, name: str) -> Anything:
    """A public class of ``torch.nn``; AttributeError where there is none of this name."""
    front = import_module("funcgrad.torch.nn")
    if name in front.__all__:
        return getattr(front, name)
    raise missing(module, name)
