"""The fast Hankel transform on logarithmic scales, `fht` and `ifht` (Hamilton 2000)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from funcgrad.numpy.fft import irfft, rfft
from funcgrad.ops.arrays.structure import aval, cast
from funcgrad.scipy.fft.fourier import scipys, traced_array
from funcgrad.types import Array, ArrayLike

__all__ = ["fht", "ifht"]


def fht(a: ArrayLike, dln: float, mu: float, offset: float = 0.0, bias: float = 0.0) -> Array:
    """The fast Hankel transform of samples at distances that grow by a factor, as `scipy.fft.fht`.

    Differentiable in the samples; the other arguments are plain numbers.

    >>> r = np.logspace(-3, 3, 32)
    >>> dln = np.log(r[1] / r[0])
    >>> a = r * np.exp(-r**2 / 2.0)
    >>> print(round(float(fg.grad(lambda a: fg.scipy.fft.fht(a, dln, 0.0).sum())(a).sum()), 4))
    32.0
    """
    value = traced_array(a)
    if value is None:
        return scipys("fht")(a, dln, mu, offset, bias)
    n = value.shape[-1]
    away = np.arange(n) - (n - 1) / 2
    if bias:
        value = value * np.exp(-bias * away * dln)
    found = irfft(rfft(value) * coefficients(n, dln, mu, offset, bias, False), n)[..., ::-1]
    return cast(found * np.exp(-bias * (away * dln + offset)) if bias else found, precision_of(value))


def ifht(A: ArrayLike, dln: float, mu: float, offset: float = 0.0, bias: float = 0.0) -> Array:
    """The inverse of `fht`.

    >>> r = np.logspace(-3, 3, 32)
    >>> dln = np.log(r[1] / r[0])
    >>> print(round(float(fg.grad(lambda a: fg.scipy.fft.ifht(a, dln, 0.0).sum())(r).sum()), 4))
    32.0
    """
    value = traced_array(A)
    if value is None:
        return scipys("ifht")(A, dln, mu, offset, bias)
    n = value.shape[-1]
    away = np.arange(n) - (n - 1) / 2
    if bias:
        value = value * np.exp(bias * (away * dln + offset))
    factors = np.conj(coefficients(n, dln, mu, offset, bias, True))
    found = irfft(rfft(value) / factors, n)[..., ::-1]
    return cast(found * np.exp(bias * away * dln) if bias else found, precision_of(value))


def precision_of(x: ArrayLike) -> np.dtype[Any]:
    """The precision of the result: that of the samples."""
    return aval(x).dtype if aval(x).dtype.kind == "f" else np.dtype(np.float64)


def coefficients(n: int, dln: float, mu: float, offset: float, bias: float, inverse: bool) -> Array:
    """SciPy's factors between the spectra of samples and transform."""
    made = import_module("scipy.fft._fftlog_backend").fhtcoeff
    return made(n, dln, mu, offset=offset, bias=bias, inverse=inverse)
