"""NumPy's namespace, as autograd wraps it: ours where we have a name, NumPy's own elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.compat.autograd.numpy import fft, linalg, numpy_boxes, numpy_vjps, numpy_wrapper, random
from funcgrad.compat.autograd.tracer import Box
from funcgrad.types import Array, ArrayLike

__all__ = ["Box", "fft", "linalg", "make_diagonal", "numpy_boxes", "numpy_vjps", "numpy_wrapper", "random"]

numpy_version = np.lib.NumpyVersion(np.__version__)


def make_diagonal(D: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Stacks of matrices with the vectors along the last axis of `D` as diagonals.

    Raises NotImplementedError for other axes than the last two, and for other diagonals.

    >>> print(make_diagonal(np.array([1.0, 2.0]), axis1=-1, axis2=-2))
    [[1. 0.]
     [0. 2.]]
    """
    if (offset, axis1, axis2) not in ((0, -1, -2), (0, -2, -1)):
        raise NotImplementedError("make_diagonal: the main diagonal of the last two axes only")
    return fnp.expand_dims(D, -1) * np.eye(fnp.shape(D)[-1])


def where(condition: ArrayLike, x: ArrayLike = None, y: ArrayLike = None) -> Array:
    """`numpy.where`, whose arguments have names."""
    return fnp.where(condition) if x is None and y is None else fnp.where(condition, x, y)


def __getattr__(name: str) -> object:
    """Our function of this name, or NumPy's."""
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(fnp, name, None)
    return getattr(np, name) if found is None else found


def __dir__() -> list[str]:
    """The public names."""
    return sorted({*__all__, "where", *dir(np), *dir(fnp)})
