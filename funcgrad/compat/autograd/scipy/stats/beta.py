"""The functions of `scipy.stats.beta`."""

from __future__ import annotations

from funcgrad.scipy import stats
from funcgrad.types import Anything


def __getattr__(name: str) -> Anything:
    """A method of the distribution."""
    return getattr(stats.beta, name)
