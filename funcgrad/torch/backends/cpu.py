"""``torch.backends.cpu``."""

from __future__ import annotations

__all__ = ["get_cpu_capability"]


def get_cpu_capability() -> str:
    """Always "DEFAULT": NumPy and Numba choose instructions for themselves."""
    return "DEFAULT"
