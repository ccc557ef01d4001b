"""The functions of ``scipy.fft``, with SciPy's signatures, and derivatives of every order.

``scipy.fft.fft(t)`` of a traced array runs these, through SciPy's own mechanism for other libraries. Fourier
transforms are those of `fg.numpy.fft`; cosine, sine and Hankel transforms are composed of them.
"""

from typing import NoReturn

from funcgrad.scipy.absent import missing
from funcgrad.scipy.fft import fourier, trigonometric
from funcgrad.scipy.fft.fourier import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.fft.hankel import fht, ifht
from funcgrad.scipy.fft.trigonometric import *  # noqa: F403 - what its __all__ names

__all__ = [  # noqa: PLE0604 - the lists that are joined hold strings
    "fht",
    "ifht",
    *fourier.__all__,
    *trigonometric.__all__,
]


def __getattr__(name: str) -> NoReturn:
    """Say what there is instead of a name that is not here."""
    raise missing(__name__, name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
