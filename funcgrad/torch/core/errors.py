"""Errors in PyTorch's words."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.torch.core.dtypes import LONG_NAMES
from funcgrad.types import AxisLike

__all__ = ["broadcast_error", "dim_of", "dims_of", "require_one_dtype", "value_shape"]


def value_shape(x: object) -> tuple[int, ...]:
    """The shape of a tensor, array or number."""
    return tuple(getattr(getattr(x, "_value", x), "shape", ()))


def broadcast_error(a: object, b: object, error: Exception) -> Exception:
    """PyTorch's error for shapes that do not broadcast; `error` itself where they do."""
    x, y = value_shape(a), value_shape(b)
    for k in range(1, min(len(x), len(y)) + 1):
        if x[-k] != y[-k] and 1 not in (x[-k], y[-k]):
            dim = max(len(x), len(y)) - k
            return RuntimeError(
                f"The size of tensor a ({x[-k]}) must match the size of tensor b ({y[-k]}) at non-singleton "
                f"dimension {dim}"
            )
    return error


def dim_of(dim: AxisLike, ndim: int) -> int:
    """A dimension counted from the front; IndexError, as PyTorch raises it, where there is none."""
    if not isinstance(dim, int | np.integer):
        raise TypeError(f"dim must be an int, not {type(dim).__name__}")
    span = max(ndim, 1)
    if not -span <= dim < span:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], but got {dim})"
        )
    return int(dim) % span


def dims_of(dim: AxisLike, ndim: int) -> tuple[int, ...]:
    """Dimensions given as None (all), one, or several; each once."""
    if dim is None:
        return tuple(range(ndim))
    if isinstance(dim, int | np.integer):
        found_one = dim_of(dim, ndim)
        return (found_one,) if ndim else ()
    found = tuple([dim_of(d, ndim) for d in dim])
    if not ndim:
        return ()
    if len(set(found)) != len(found):
        twice = next(d for d in found if found.count(d) > 1)
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    return found or tuple(range(ndim))


def require_one_dtype(x: np.dtype[Any], y: np.dtype[Any]) -> None:
    """Raise RuntimeError for the factors of a product that have different dtypes."""
    if x != y:
        a, b = [LONG_NAMES.get(dtype.name, dtype.name) for dtype in (x, y)]
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {a} != {b}")
