"""SciPy's functions on arrays and tracers alike. Importing this imports no SciPy, and no function yet."""

from importlib import import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

from funcgrad.errors import did_you_mean

if _TYPE_CHECKING:
    from funcgrad.scipy import fft as fft
    from funcgrad.scipy import integrate as integrate
    from funcgrad.scipy import interpolate as interpolate
    from funcgrad.scipy import linalg as linalg
    from funcgrad.scipy import ndimage as ndimage
    from funcgrad.scipy import optimize as optimize
    from funcgrad.scipy import signal as signal
    from funcgrad.scipy import sparse as sparse
    from funcgrad.scipy import spatial as spatial
    from funcgrad.scipy import special as special
    from funcgrad.scipy import stats as stats

__all__ = [
    "fft",
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "sparse",
    "spatial",
    "special",
    "stats",
]


def __getattr__(name: str) -> object:
    """Import a module of this package when it is first asked for."""
    if name in __all__:
        return import_module(f"funcgrad.scipy.{name}")
    hint = did_you_mean(name, __all__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}. {hint}".rstrip())


def __dir__() -> list[str]:
    """The modules of this package, whether they have been imported or not."""
    return sorted(__all__)
