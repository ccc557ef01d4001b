"""The functions of `scipy.stats.gamma`."""

from __future__ import annotations

from typing import Any

from funcgrad.scipy import stats


def __getattr__(name: str) -> Any:
    """A method of the distribution."""
    return getattr(stats.gamma, name)
