"""``torch.backends.opt_einsum``: the order of contractions is chosen here without it."""

from __future__ import annotations

__all__ = ["enabled", "is_available", "strategy"]

enabled = False
strategy: str | None = None


def is_available() -> bool:
    """False."""
    return False
