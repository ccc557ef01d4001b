"""Distributions and statistics of ``scipy.stats`` with derivatives.

A distribution has SciPy's methods: densities, distribution functions and their complements, logarithms of all
of them, quantiles, moments, entropy; by points, location, scale and every shape parameter they are
differentiable.
"""

from typing import Any

from funcgrad.scipy.stats import laws as laws
from funcgrad.scipy.stats.distributions import distribution as _distribution
from funcgrad.scipy.stats.law import LAWS as _LAWS

_DISTRIBUTIONS = {name: _distribution(name) for name in sorted(_LAWS)}

__all__ = list(_DISTRIBUTIONS)


def __getattr__(name: str) -> Any:
    """A distribution by its name."""
    if name in _DISTRIBUTIONS:
        return _DISTRIBUTIONS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
