"""The functions of ``scipy.signal`` with derivatives by signals, coefficients, windows and frequencies.

On arrays alone SciPy answers. Recursions are loops in compiled code.
"""

from typing import NoReturn

from funcgrad.scipy.absent import missing
from funcgrad.scipy.signal import design, filters, smoothing, spectra
from funcgrad.scipy.signal.convolutions import convolve, correlate, fftconvolve, oaconvolve
from funcgrad.scipy.signal.design import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.signal.filters import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.signal.planes import convolve2d, correlate2d
from funcgrad.scipy.signal.smoothing import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.signal.spectra import *  # noqa: F403 - what its __all__ names

__all__ = [  # noqa: PLE0604 - the lists that are joined hold strings
    "convolve",
    "convolve2d",
    "correlate",
    "correlate2d",
    "fftconvolve",
    "oaconvolve",
    *design.__all__,
    *filters.__all__,
    *smoothing.__all__,
    *spectra.__all__,
]


def __getattr__(name: str) -> NoReturn:
    """Say what there is instead of a name that is not here."""
    raise missing(__name__, name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
