"""The functions of ``scipy.ndimage`` with derivatives by images, weights, widths, coordinates and angles.

On arrays alone SciPy answers. Images are computed in double precision, as SciPy does, and keep their dtype.
"""

from typing import NoReturn

from funcgrad.scipy.absent import missing
from funcgrad.scipy.ndimage.filters import (
    convolve,
    convolve1d,
    correlate,
    correlate1d,
    gaussian_filter,
    gaussian_filter1d,
    gaussian_laplace,
    laplace,
    prewitt,
    sobel,
    uniform_filter,
    uniform_filter1d,
)
from funcgrad.scipy.ndimage.geometry import affine_transform, map_coordinates, rotate, shift, zoom
from funcgrad.scipy.ndimage.splines import spline_filter, spline_filter1d

__all__ = [
    "affine_transform",
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "gaussian_filter",
    "gaussian_filter1d",
    "gaussian_laplace",
    "laplace",
    "map_coordinates",
    "prewitt",
    "rotate",
    "shift",
    "sobel",
    "spline_filter",
    "spline_filter1d",
    "uniform_filter",
    "uniform_filter1d",
    "zoom",
]


def __getattr__(name: str) -> NoReturn:
    """Say what there is instead of a name that is not here."""
    raise missing(__name__, name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
