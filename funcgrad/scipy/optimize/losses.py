"""Losses of `least_squares`: functions of squared residuals, as SciPy defines them."""

from __future__ import annotations

from funcgrad.numpy.elementwise.elementary import arctan, log1p, sqrt
from funcgrad.numpy.elementwise.selection import where
from funcgrad.types import Array


def linear(z: Array) -> Array:
    """The square itself."""
    return z


def soft_l1(z: Array) -> Array:
    """A smooth approximation of the absolute value."""
    return 2.0 * (sqrt(1.0 + z) - 1.0)


def huber(z: Array) -> Array:
    """The square up to 1, linear beyond."""
    return where(z <= 1.0, z, 2.0 * sqrt(where(z <= 1.0, 1.0, z)) - 1.0)


def cauchy(z: Array) -> Array:
    """The logarithm, which weakens outliers severely."""
    return log1p(z)


def arctan_loss(z: Array) -> Array:
    """Bounded for a single residual."""
    return arctan(z)


LOSSES = {"linear": linear, "soft_l1": soft_l1, "huber": huber, "cauchy": cauchy, "arctan": arctan_loss}
