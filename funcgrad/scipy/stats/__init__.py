"""Distributions and statistics of ``scipy.stats`` with derivatives.

A distribution has SciPy's methods: densities, distribution functions and their complements, logarithms of all
of them, quantiles, moments, entropy; by points, location, scale and every shape parameter they are
differentiable.
"""

from typing import Any

from funcgrad.scipy.absent import missing
from funcgrad.scipy.stats import descriptive as _descriptive
from funcgrad.scipy.stats import laws as laws
from funcgrad.scipy.stats import multivariate as _multivariate
from funcgrad.scipy.stats import summaries as _summaries
from funcgrad.scipy.stats.accumulated import complete as _complete
from funcgrad.scipy.stats.distributions import distribution as _distribution
from funcgrad.scipy.stats.law import LAWS as _LAWS
from funcgrad.scipy.stats.of_samples import FUNCTIONS as _OF_SAMPLES
from funcgrad.types import Anything

_complete()

_FUNCTIONS = {
    name: getattr(module, name)
    for module, names in (
        (_descriptive, ("gaussian_kde", "kurtosis", "rankdata", "skew", "zscore")),
        (_summaries, tuple(_summaries.__all__)),
        (_multivariate, ("dirichlet", "multinomial", "multivariate_normal", "multivariate_t", "wishart")),
    )
    for name in names
}
_OFFERED: dict[str, Any] = {name: _distribution(name) for name in sorted(_LAWS)} | _FUNCTIONS | _OF_SAMPLES

__all__ = list(_OFFERED)


def __getattr__(name: str) -> Anything:
    """A distribution or a function by its name."""
    if name in _OFFERED:
        return _OFFERED[name]
    raise missing(__name__, name)


def __dir__() -> list[str]:
    """The distributions and functions, whether they have been asked for or not."""
    return sorted(_OFFERED)
