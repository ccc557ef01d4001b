"""Logarithms of the probabilities of large counts, where factorials and powers would cancel their digits.

After Loader, Fast and accurate computation of binomial probabilities, 2000: Stirling's formula takes out what
cancels, and what is left is an error of that formula and how far a count is from what is expected.
"""

from __future__ import annotations

import math

from funcgrad.numpy import log, log1p, where
from funcgrad.types import Array, ArrayLike

__all__ = ["LARGE", "binomial", "poisson"]

LARGE = 16.0
"""From here on `stirling_error` has all digits."""


def stirling_error(n: ArrayLike) -> Array:
    """The logarithm of n! less Stirling's formula for it, as a series (Abramowitz and Stegun 6.1.41)."""
    square = 1.0 / (n * n)
    inner = 1.0 / 1260.0 - square * (1.0 / 1680.0 - square / 1188.0)
    return (1.0 / 12.0 - square * (1.0 / 360.0 - square * inner)) / n


def deviance(x: ArrayLike, expected: ArrayLike) -> Array:
    """``x * log(x / expected) + expected - x``, from the difference of both."""
    off = (x - expected) / expected
    return expected * ((1.0 + off) * log1p(off) - off)


def binomial(k: ArrayLike, m: ArrayLike, p: ArrayLike, otherwise: Array) -> Array:
    """The logarithm of the probability of k successes and m failures, where both are large."""
    large = (k >= LARGE) & (m >= LARGE) & (p > 0) & (p < 1)
    k, m, p = where(large, k, LARGE), where(large, m, LARGE), where(large, p, 0.5)
    n = k + m
    errors = stirling_error(n) - stirling_error(k) - stirling_error(m)
    away = deviance(k, n * p) + deviance(m, n * (1.0 - p))
    found = errors - away - 0.5 * log((2.0 * math.pi) * k * (m / n))
    return where(large, found, otherwise)


def poisson(k: ArrayLike, mu: ArrayLike, otherwise: Array) -> Array:
    """The logarithm of the probability of k events where mu are expected and k is large."""
    large = (k >= LARGE) & (mu > 0)
    k, mu = where(large, k, LARGE), where(large, mu, LARGE)
    found = -stirling_error(k) - deviance(k, mu) - 0.5 * log((2.0 * math.pi) * k)
    return where(large, found, otherwise)
