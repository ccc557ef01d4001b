"""The functions of ``scipy.ndimage`` with derivatives by images, weights, widths, coordinates and angles.

On arrays alone SciPy answers. Images are computed in double precision, as SciPy does, and keep their dtype.
"""

from typing import NoReturn

from funcgrad.scipy.absent import missing
from funcgrad.scipy.ndimage import filters, measurements, ranks
from funcgrad.scipy.ndimage.filters import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.ndimage.geometry import affine_transform, map_coordinates, rotate, shift, zoom
from funcgrad.scipy.ndimage.measurements import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.ndimage.ranks import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.ndimage.splines import spline_filter, spline_filter1d

__all__ = [  # noqa: PLE0604 - the lists that are joined hold strings
    "affine_transform",
    "map_coordinates",
    "rotate",
    "shift",
    "spline_filter",
    "spline_filter1d",
    "zoom",
    *filters.__all__,
    *measurements.__all__,
    *ranks.__all__,
]


def __getattr__(name: str) -> NoReturn:
    """Say what there is instead of a name that is not here."""
    raise missing(__name__, name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
