"""Sampling at points between elements: `grid_sample`, the grids of affine maps, bicubic weights."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np

from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import op
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import wrap
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.torch.operations.requiring import kind_of
from funcgrad.types import Array, Arrays, ShapeLike

__all__ = ["affine_grid", "grid_sample"]


# -- weights ----------------------------------------------------------------------------------------------


def cubic(x: Operand, a: float) -> Operand:
    """Keys' cubic kernel (1981)."""
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0.0))


def triangle(x: Operand) -> Operand:
    """The kernel of linear interpolation."""
    return np.maximum(1.0 - np.abs(x), 0.0)


def cubic_weights(n: int, m: int, factor: float, align: bool) -> np.ndarray[Any, Any]:
    """The matrix from `n` elements to `m` of bicubic interpolation, clamped at the edges."""
    scale = (n - 1) / (m - 1) if align and m > 1 else 0.0 if align else factor
    found = np.zeros((m, n))
    for i in range(m):
        at = i * scale if align else (i + 0.5) * scale - 0.5
        first = int(np.floor(at))
        for k in range(first - 1, first + 3):
            found[i, min(max(k, 0), n - 1)] += cubic(at - k, -0.75)
    return found


def smooth_weights(n: int, m: int, factor: float, align: bool, is_cubic: bool) -> np.ndarray[Any, Any]:
    """The matrix of interpolation with a kernel as wide as the elements that it leaves out (antialiasing)."""
    scale = (n - 1) / (m - 1) if align and m > 1 else 0.0 if align else factor
    width = max(scale, 1.0)
    support = width * (2 if is_cubic else 1)
    found = np.zeros((m, n))
    for i in range(m):
        centre = scale * (i + 0.5)
        low = max(int(centre - support + 0.5), 0)
        high = min(int(centre + support + 0.5), n)
        distance = (np.arange(low, high) - centre + 0.5) / width
        weights = cubic(distance, -0.5) if is_cubic else triangle(distance)
        found[i, low:high] = weights / weights.sum()
    return found


@op("UpsampleBicubic2DBackward0")
def _cubic(x: Array, weights: tuple[Any, ...]) -> Array:
    return _mixed(x, weights)


@op("UpsampleBilinear2DAaBackward0")
def _linear_smooth(x: Array, weights: tuple[Any, ...]) -> Array:
    return _mixed(x, weights)


@op("UpsampleBicubic2DAaBackward0")
def _cubic_smooth(x: Array, weights: tuple[Any, ...]) -> Array:
    return _mixed(x, weights)


def _mixed(x: Array, weights: tuple[Any, ...]) -> Array:
    rows, columns = [np.array(w, x.dtype) for w in weights]
    return rows @ x @ columns.T


def resampled(input: Operand, weights: Operand, is_cubic: bool, antialias: bool) -> Operand:
    """The input times a matrix for each of its two spatial dimensions; bytes are rounded."""
    made = (_cubic_smooth if is_cubic else _linear_smooth) if antialias else _cubic
    params = (tuple([tuple(map(tuple, w.tolist())) for w in weights]),)
    if input._value.dtype != np.uint8:
        return apply(made, (input,), params)
    # As PyTorch, along the last dimension first, with bytes in between.
    rows, columns = [np.asarray(w, np.float32) for w in weights]
    wide = np.clip(np.rint(input._value.astype(np.float32) @ columns.T), 0, 255)
    return wrap(np.clip(np.rint(rows @ wide), 0, 255).astype(np.uint8))


# -- grids ------------------------------------------------------------------------------------------------


def _warn_of_corners() -> None:
    """PyTorch's warning where nothing is said of the corners."""
    warnings.warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please "
        "specify align_corners=True if the old behavior is desired. See the documentation of grid_sample for "
        "details.",
        UserWarning,
        stacklevel=4,
    )


def affine_grid(theta: Operand, size: ShapeLike, align_corners: bool | None = None) -> Operand:
    """The points where `grid_sample` has to look for an affine map of an image (or a volume).

    >>> from funcgrad import torch
    >>> torch.nn.functional.affine_grid(torch.eye(2, 3)[None], (1, 1, 1, 2), align_corners=True)
    tensor([[[[-1.,  0.],
              [ 1.,  0.]]]])
    """
    if align_corners is None:
        _warn_of_corners()
    if theta._value.dtype.kind != "f":
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    count = len(size) - 2
    if count not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got "
            f"size {size}."
        )
    if tuple(theta._value.shape) != (size[0], count, count + 1):
        raise ValueError(
            f"Expected a batch of {count}D affine matrices of shape Nx{count}x{count + 1} for size {size}. "
            f"Got {tuple(theta._value.shape)}."
        )
    lines = []
    for n in size[2:]:
        line = np.linspace(-1.0, 1.0, n) if n > 1 else np.zeros(1)
        lines.append(line if align_corners else line * (n - 1) / n)
    mesh = np.meshgrid(*lines, indexing="ij")[::-1]
    points = np.stack([*mesh, np.ones(mesh[0].shape)], -1).astype(theta._value.dtype)
    flat = FUNCTIONS["from_numpy"](points.reshape(1, -1, count + 1))
    return (flat @ theta.transpose(1, 2)).reshape(size[0], *size[2:], count)


def _reflected(x: Array, low: float, high: float) -> Array:
    """Coordinates folded back between two bounds."""
    span = high - low
    if span == 0:
        return np.zeros_like(x)
    x = np.abs(x - low)
    turns = np.floor(x / span)
    rest = x - turns * span
    return np.where(turns % 2 == 0, rest + low, span - rest + low)


def _within(x: Array, n: int, padding: str, align: bool) -> Array:
    """Coordinates after the padding that says where they stand outside."""
    if padding == "border":
        return np.clip(x, 0, n - 1)
    if padding == "reflection":
        x = _reflected(x, 0.0, n - 1.0) if align else _reflected(x, -0.5, n - 0.5)
        return np.clip(x, 0, n - 1)
    return x


def _picked(flat: Array, corner: list[Any], sizes: tuple[int, ...]) -> Array:
    """The elements at whole coordinates, zero outside; (N, C, points)."""
    index: Any = 0
    inside: Any = True
    for at, n in zip(corner, sizes, strict=True):
        inside = inside & (at >= 0) & (at <= n - 1)
        index = index * n + np.clip(at, 0, n - 1)
    batch, channels = flat.shape[:2]
    index = np.broadcast_to(index[:, None].astype(np.int64), (batch, channels, index.shape[-1]))
    return np.where(inside[:, None], np.take_along_axis(flat, index, 2), np.zeros((), flat.dtype))


@op("GridSamplerBackward0")
def _sampled(x: Array, grid: Array, mode: str, padding: str, align: bool) -> Array:
    sizes = x.shape[2:]
    count = len(sizes)
    flat = np.reshape(x, (*x.shape[:2], -1))
    points = np.reshape(grid, (grid.shape[0], -1, count))
    places = []
    for k, n in enumerate(sizes):
        g = points[..., count - 1 - k]
        places.append((g + 1) / 2 * (n - 1) if align else ((g + 1) * n - 1) / 2)
    if mode == "bicubic":
        found = _by_cubic(flat, places, sizes, padding, align)
    else:
        places = [_within(p, n, padding, align) for p, n in zip(places, sizes, strict=True)]
        found = _by_nearest(flat, places, sizes) if mode == "nearest" else _by_linear(flat, places, sizes)
    return np.reshape(found, (*x.shape[:2], *grid.shape[1:-1]))


def _by_nearest(flat: Array, places: list[Any], sizes: tuple[int, ...]) -> Arrays:
    return _picked(flat, [np.rint(p) for p in places], sizes)


def _by_linear(flat: Array, places: list[Any], sizes: tuple[int, ...]) -> Arrays:
    lows = [np.floor(p) for p in places]
    shares = [p - low for p, low in zip(places, lows, strict=True)]
    found: Any = 0.0
    for corner in itertools.product((0, 1), repeat=len(sizes)):
        weight: Any = 1.0
        for high, share in zip(corner, shares, strict=True):
            weight = weight * (share if high else 1.0 - share)
        at = [low + high for low, high in zip(lows, corner, strict=True)]
        found = found + _picked(flat, at, sizes) * weight[:, None]
    return found


def _by_cubic(flat: Array, places: list[Any], sizes: tuple[int, ...], padding: str, align: bool) -> Arrays:
    lows = [np.floor(p) for p in places]
    shares = [p - low for p, low in zip(places, lows, strict=True)]
    found: Any = 0.0
    for corner in itertools.product((-1, 0, 1, 2), repeat=len(sizes)):
        weight: Any = 1.0
        at = []
        for k, share, low, n in zip(corner, shares, lows, sizes, strict=True):
            weight = weight * _cubic_of(share, k)
            at.append(_within(low + k, n, padding, align))
        found = found + _picked(flat, at, sizes) * weight[:, None]
    return found


def _cubic_of(t: Array, k: int) -> Array:
    """The weight of the neighbour `k`, for a point at `t` between neighbours 0 and 1."""
    a = -0.75
    x = t - k if k <= 0 else k - t
    if k in (0, 1):
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a


def grid_sample(
    input: Operand,
    grid: Operand,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Operand:
    """The input at the points of a grid, whose coordinates go from -1 to 1 across it."""
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "
            f"but got: '{mode}'"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', "
            f"but got: '{padding_mode}'"
        )
    if align_corners is None:
        _warn_of_corners()
    ndim = len(input._value.shape)
    if ndim not in (4, 5) or len(grid._value.shape) != ndim or grid._value.shape[-1] != ndim - 2:
        raise RuntimeError(
            "grid_sampler(): expected a 4D or 5D input and a grid of as many dimensions with points of "
            f"{ndim - 2} coordinates, but got input with sizes {list(input._value.shape)} and grid with "
            f"sizes {list(grid._value.shape)}"
        )
    if input._value.shape[0] != grid._value.shape[0]:
        raise RuntimeError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
            f"{list(input._value.shape)} and grid with sizes {list(grid._value.shape)}"
        )
    if mode == "bicubic" and ndim == 5:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if input._value.dtype != grid._value.dtype:
        raise RuntimeError(f"expected scalar type {kind_of(input)} but found {kind_of(grid)}")
    return apply(_sampled, (input, grid), (mode, padding_mode, bool(align_corners)))
