"""The functions of ``scipy.fft``, with SciPy's signatures, and derivatives of every order.

``scipy.fft.fft(t)`` of a traced array runs these, through SciPy's own mechanism for other libraries. Fourier
transforms are those of `fg.numpy.fft`; cosine, sine and Hankel transforms are composed of them.
"""

from typing import NoReturn

from funcgrad.scipy.absent import missing
from funcgrad.scipy.fft.fourier import (
    fft,
    fft2,
    fftfreq,
    fftn,
    fftshift,
    hfft,
    ifft,
    ifft2,
    ifftn,
    ifftshift,
    ihfft,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftfreq,
    rfftn,
)
from funcgrad.scipy.fft.hankel import fht, ifht
from funcgrad.scipy.fft.trigonometric import dct, dctn, dst, dstn, idct, idctn, idst, idstn

__all__ = [
    "dct",
    "dctn",
    "dst",
    "dstn",
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "fht",
    "hfft",
    "idct",
    "idctn",
    "idst",
    "idstn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ifht",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]


def __getattr__(name: str) -> NoReturn:
    """Say what there is instead of a name that is not here."""
    raise missing(__name__, name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
