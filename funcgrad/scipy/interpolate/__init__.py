"""The interpolators of ``scipy.interpolate``, with SciPy's signatures, and derivatives of every order.

By positions, by values, and by the knots. Made of plain arrays they are SciPy's; at traced positions, or of
traced values, they are composed of array operations, which compile into a search and a loop.
"""

from typing import NoReturn

from funcgrad.scipy.absent import missing
from funcgrad.scipy.interpolate import bsplines
from funcgrad.scipy.interpolate.bsplines import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.interpolate.fitpack import splantider, splder, splev, splint, splrep
from funcgrad.scipy.interpolate.grids import RegularGridInterpolator, interpn
from funcgrad.scipy.interpolate.lines import interp1d
from funcgrad.scipy.interpolate.piecewise import (
    Akima1DInterpolator,
    CubicHermiteSpline,
    CubicSpline,
    PchipInterpolator,
    PPoly,
)
from funcgrad.scipy.interpolate.scattered import (
    LinearNDInterpolator,
    NearestNDInterpolator,
    RBFInterpolator,
    griddata,
)
from funcgrad.scipy.interpolate.smoothing import make_smoothing_spline

__all__ = [  # noqa: PLE0604 - the lists that are joined hold strings
    "Akima1DInterpolator",
    "CubicHermiteSpline",
    "CubicSpline",
    "LinearNDInterpolator",
    "NearestNDInterpolator",
    "PPoly",
    "PchipInterpolator",
    "RBFInterpolator",
    "RegularGridInterpolator",
    "griddata",
    "interp1d",
    "interpn",
    "make_smoothing_spline",
    "splantider",
    "splder",
    "splev",
    "splint",
    "splrep",
    *bsplines.__all__,
]


def __getattr__(name: str) -> NoReturn:
    """Say what there is instead of a name that is not here."""
    raise missing(__name__, name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
