"""Single precision where SciPy keeps it, double precision where it does not, by one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.signal
import scipy.spatial
import scipy.stats

import funcgrad as fg

F = np.float32
RNG = np.random.default_rng(2)
X = RNG.normal(size=40).astype(F)
POSITIVE = (np.eye(4) * 4 + np.ones((4, 4)) * 0.3).astype(F)
BAND = np.array([[0.0, 0.1, 0.2, 0.3], [3.0, 4.0, 5.0, 6.0]], F)
B, A = np.array([0.3, 0.2, 0.1], F), np.array([1.0, -0.5, 0.3], F)
SOS = scipy.signal.butter(4, 0.3, output="sos").astype(F)
GRID = np.linspace(0, 1, 9)

Row = tuple[Callable[[Any, Any], Any], Any]
"""A function of a library, SciPy or ours, and of an array in single precision; and the array."""


def method(package: str, name: str, *args: Any, **options: Any) -> Callable[[Any, Any], Any]:
    """A function of a package, called on the array first."""

    def call(library: Any, x: Any) -> Any:
        return getattr(getattr(library, package), name)(x, *args, **options)

    return call


def spectrum(name: str, place: int, **options: Any) -> Callable[[Any, Any], Any]:
    """One of the results of a function of spectra."""
    return lambda s, x: getattr(s.signal, name)(x, nperseg=8, **options)[place]


SIGNALS: dict[str, Row] = {
    "hilbert": (method("signal", "hilbert"), X),
    "resample": (method("signal", "resample", 30, window="hann"), X),
    "decimate": (method("signal", "decimate", 2), X),
    "stft": (spectrum("stft", 2), X),
    "stft psd": (spectrum("stft", 2, scaling="psd", detrend="linear", boundary="even"), X),
    "istft": (spectrum("istft", 1), scipy.signal.stft(X, nperseg=8)[2]),
    "welch": (spectrum("welch", 1, average="median"), X),
    "periodogram": (lambda s, x: s.signal.periodogram(x)[1], X),
    "csd": (lambda s, x: s.signal.csd(x, x[:30], nperseg=8)[1], X),
    "coherence": (lambda s, x: s.signal.coherence(x, x[::-1] + x**2, nperseg=8)[1], X),
    "spectrogram": (spectrum("spectrogram", 2, mode="phase"), X),
    "lfilter in doubles": (lambda s, x: s.signal.lfilter([0.3, 0.2], [1.0, 0.5], x), X),
    "filtfilt": (lambda s, x: s.signal.filtfilt(B, A, x), X),
    "sosfiltfilt": (lambda s, x: s.signal.sosfiltfilt(SOS, x), X),
    "lfiltic": (lambda s, x: s.signal.lfiltic(B, A, x[:2]), X),
    "lfilter_zi": (lambda s, x: s.signal.lfilter_zi(x, A), B),
    "freqz": (lambda s, x: s.signal.freqz(x, 1, 8)[1], B),
}
INTEGRALS: dict[str, Row] = {
    f"{name} {key}": (method("integrate", name, **options), X[:9])
    for name in ("trapezoid", "simpson", "cumulative_trapezoid", "cumulative_simpson", "romb")
    for key, options in {"": {}, "dx": {"dx": 0.3}, "initial": {"initial": 0}}.items()
    if key != "initial" or "cumulative" in name
}
OTHERS: dict[str, Row] = {
    **{
        f"{name} of positions": (lambda s, x, n=name: getattr(s.integrate, n)(x**2, x=x), np.sort(X)[:9])
        for name in ("trapezoid", "simpson", "cumulative_trapezoid", "cumulative_simpson")
    },
    "skew": (method("stats", "skew", bias=False), X),
    "interp1d": (lambda s, x: s.interpolate.interp1d(GRID.astype(F), x)(F(0.3)), X[:9]),
    "interp1d in doubles": (lambda s, x: s.interpolate.interp1d(GRID, x)(0.3), X[:9]),
    "nearest on a grid": (
        lambda s, x: s.interpolate.RegularGridInterpolator((GRID,), x, method="nearest")([0.3]),
        X[:9],
    ),
    **{
        name: (lambda s, x, n=name: getattr(s.spatial.distance, n)(x[0], x[1]), POSITIVE + X[:4])
        for name in ("euclidean", "sqeuclidean", "cityblock", "cosine", "correlation", "chebyshev")
    },
    "fht": (method("fft", "fht", 0.1, 0.5), X),
    **{name: (method("linalg", name), POSITIVE) for name in ("logm", "expm", "det")},
    "fractional_matrix_power": (method("linalg", "fractional_matrix_power", 0.4), POSITIVE),
    "solveh_banded": (method("linalg", "solveh_banded", np.ones(4, F)), BAND),
    "cholesky_banded": (method("linalg", "cholesky_banded"), BAND),
    "solve_toeplitz": (method("linalg", "solve_toeplitz", np.ones(4, F)), POSITIVE[0]),
}
ROWS = SIGNALS | INTEGRALS | OTHERS


@pytest.mark.filterwarnings("ignore:logm result may be inaccurate")  # SciPy's own, of its single precision
@pytest.mark.parametrize("name", ROWS)
def test_results_have_the_precision_of_scipys(name: str) -> None:
    call, x = ROWS[name]
    expected = np.asarray(call(scipy, x))
    found = fg.vjp(lambda x: call(fg.scipy, x), x)[0]
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)
