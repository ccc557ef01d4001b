"""The functions of ``scipy.signal`` with derivatives by signals, coefficients, windows and frequencies.

On arrays alone SciPy answers. Recursions are loops in compiled code.
"""

from typing import NoReturn

from funcgrad.scipy.absent import missing
from funcgrad.scipy.signal.convolutions import convolve, correlate, fftconvolve, oaconvolve
from funcgrad.scipy.signal.design import bessel, bilinear, butter, cheby1, cheby2, ellip, firwin, freqz
from funcgrad.scipy.signal.filters import (
    filtfilt,
    lfilter,
    lfilter_zi,
    lfiltic,
    sosfilt,
    sosfilt_zi,
    sosfiltfilt,
)
from funcgrad.scipy.signal.planes import convolve2d, correlate2d
from funcgrad.scipy.signal.smoothing import decimate, detrend, hilbert, medfilt, resample, savgol_filter
from funcgrad.scipy.signal.spectra import (
    coherence,
    csd,
    istft,
    periodogram,
    spectrogram,
    stft,
    welch,
)

__all__ = [
    "bessel",
    "bilinear",
    "butter",
    "cheby1",
    "cheby2",
    "coherence",
    "convolve",
    "convolve2d",
    "correlate",
    "correlate2d",
    "csd",
    "decimate",
    "detrend",
    "ellip",
    "fftconvolve",
    "filtfilt",
    "firwin",
    "freqz",
    "hilbert",
    "istft",
    "lfilter",
    "lfilter_zi",
    "lfiltic",
    "medfilt",
    "oaconvolve",
    "periodogram",
    "resample",
    "savgol_filter",
    "sosfilt",
    "sosfilt_zi",
    "sosfiltfilt",
    "spectrogram",
    "stft",
    "welch",
]


def __getattr__(name: str) -> NoReturn:
    """Say what there is instead of a name that is not here."""
    raise missing(__name__, name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
