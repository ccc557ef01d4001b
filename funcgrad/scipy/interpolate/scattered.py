"""Interpolation of scattered data: radial basis functions, triangles, nearest neighbours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from funcgrad.errors import UnsupportedFunctionError
from funcgrad.ir.avals import Aval
from funcgrad.scipy.interpolate.lines import interp1d
from funcgrad.scipy.interpolate.operands import array, beside, dims, inexact, is_traced, rows, scipys
from funcgrad.scipy.optimize.options import Held, found
from funcgrad.scipy.originals import original
from funcgrad.transforms.solved.method import Method, Programs
from funcgrad.types import Array, ArrayLike, Option


def root_of(square: ArrayLike) -> Array:
    """The square root, with a derivative of 0 at 0: even powers of a distance are smooth there."""
    zero = square == 0.0
    return np.where(zero, 0.0, np.sqrt(np.where(zero, 1.0, square)))


def thin_plate(square: ArrayLike) -> Array:
    """``r**2 * log(r)``"""
    zero = square == 0.0
    return np.where(zero, 0.0, 0.5 * square * np.log(np.where(zero, 1.0, square)))


KERNELS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "linear": (lambda s: -root_of(s), 0),
    "thin_plate_spline": (thin_plate, 1),
    "cubic": (lambda s: s * root_of(s), 1),
    "quintic": (lambda s: -s * s * root_of(s), 2),
    "multiquadric": (lambda s: -np.sqrt(s + 1.0), 0),
    "inverse_multiquadric": (lambda s: 1.0 / np.sqrt(s + 1.0), -1),
    "inverse_quadratic": (lambda s: 1.0 / (s + 1.0), -1),
    "gaussian": (lambda s: np.exp(-s), -1),
}
"""Functions of the squared distance, and the least degree of the polynomial beside them, or -1."""

SCALE_INVARIANT = ("linear", "thin_plate_spline", "cubic", "quintic")


class RBFInterpolator:
    """Radial basis functions through scattered values, as `scipy.interpolate.RBFInterpolator`.

    Differentiable by positions, values, data sites, `smoothing` and `epsilon`.

    >>> sites, values = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 4.0])
    >>> f = fg.scipy.interpolate.RBFInterpolator(sites, values, kernel="cubic")
    >>> print(fg.grad(lambda x: f(x[None])[0])(np.array([1.0])).round(6))
    [2.]
    """

    def __init__(
        self,
        y: ArrayLike,
        d: ArrayLike,
        neighbors: int | None = None,
        smoothing: ArrayLike = 0.0,
        kernel: str = "thin_plate_spline",
        epsilon: ArrayLike = None,
        degree: int | None = None,
    ) -> None:
        self._plain: Any = None
        self._neighbors: int | None = None
        if not is_traced(y, d, smoothing, epsilon):
            self._plain = scipys("RBFInterpolator")(y, d, neighbors, smoothing, kernel, epsilon, degree)
        kernel = kernel.lower()
        if kernel not in KERNELS:
            raise ValueError(f"`kernel` must be one of {set(KERNELS)}.")
        if epsilon is None:
            if kernel not in SCALE_INVARIANT:
                raise ValueError(
                    f"`epsilon` must be specified if `kernel` is not one of {set(SCALE_INVARIANT)}."
                )
            epsilon = 1.0
        self._function, least = KERNELS[kernel]
        degree = max(least, 0) if degree is None else degree
        self.y, values = inexact(y), inexact(d)
        self._shape = dims(values)[1:]
        count, rank = dims(self.y)
        self.epsilon = epsilon
        self._powers = powers_up_to(rank, degree)
        if neighbors is not None:
            self._neighbors = min(int(neighbors), count)
            self._values, self._smoothing = values.reshape((count, -1)), np.zeros(count) + smoothing
            return
        low, high = np.min(self.y, axis=0), np.max(self.y, axis=0)
        self._shift, half = (low + high) / 2.0, (high - low) / 2.0
        self._scale = np.where(half == 0.0, 1.0, half)
        kernel_matrix = self._distances(self.y) + np.eye(count) * smoothing
        side = self._polynomial(self.y)
        extra = len(self._powers)
        matrix = np.concatenate(
            [
                np.concatenate([kernel_matrix, side], axis=1),
                np.concatenate([side.T, np.zeros((extra, extra))], axis=1),
            ],
            axis=0,
        )
        flat = values.reshape((count, -1))
        right = np.concatenate([flat, np.zeros((extra, dims(flat)[1]))], axis=0)
        self._weights = np.linalg.solve(matrix, right)

    def _distances(self, x: Array) -> Array:
        apart = (x[:, None, :] - self.y[None, :, :]) * self.epsilon
        return self._function(np.sum(apart * apart, axis=-1))

    def _polynomial(self, x: Array) -> Array:
        """Monomials of positions that are scaled to the data, for the condition of the system."""
        return self._monomials((x - self._shift) / self._scale)

    def __call__(self, x: Array) -> Array:
        """Values at positions, one in each row."""
        if self._plain is not None and not is_traced(x):
            return self._plain(x)
        points = inexact(x)
        if len(dims(points)) != 2:
            raise ValueError("`x` must be a 2-dimensional array.")
        if self._neighbors is not None:
            return self._by_neighbors(points).reshape(dims(points)[:1] + self._shape)
        basis = np.concatenate([self._distances(points), self._polynomial(points)], axis=1)
        return (basis @ self._weights).reshape(dims(points)[:1] + self._shape)

    def _by_neighbors(self, points: Array) -> Array:
        """A system of its own for each position, of the data sites next to it."""
        nearest = nearest_sites(self.y, points, self._neighbors)
        sites, values, smoothing = self.y[nearest], self._values[nearest], self._smoothing[nearest]
        count, kept, _ = dims(sites)
        low, high = np.min(sites, axis=1), np.max(sites, axis=1)
        shift, half = (low + high)[:, None, :] / 2.0, (high - low)[:, None, :] / 2.0
        scale = np.where(half == 0.0, 1.0, half)
        between = (sites[:, :, None, :] - sites[:, None, :, :]) * self.epsilon
        smooth = np.eye(kept) * smoothing[:, :, None]
        kernel_matrix = self._function(np.sum(between * between, axis=-1)) + smooth
        side = self._monomials((sites - shift) / scale)
        extra = len(self._powers)
        below = np.concatenate([np.swapaxes(side, 1, 2), np.zeros((count, extra, extra))], axis=2)
        matrix = np.concatenate([np.concatenate([kernel_matrix, side], axis=2), below], axis=1)
        right = np.concatenate([values, np.zeros((count, extra, dims(values)[2]))], axis=1)
        apart = (points[:, None, :] - sites) * self.epsilon
        near = self._function(np.sum(apart * apart, axis=-1))
        polynomial = self._monomials((points[:, None, :] - shift) / scale)[:, 0]
        basis = np.concatenate([near, polynomial], axis=1)
        return np.matmul(basis[:, None, :], np.linalg.solve(matrix, right))[:, 0]

    def _monomials(self, scaled: Array) -> Array:
        """Products of the coordinates in the last axis, which becomes one of the monomials."""
        columns = []
        for chosen in self._powers:
            term: Any = 0.0 * scaled[..., 0] + 1.0
            for k in chosen:
                term = term * scaled[..., k]
            columns.append(term)
        return np.stack(columns, axis=-1) if columns else np.zeros((*dims(scaled)[:-1], 0))


def powers_up_to(rank: int, degree: int) -> list[tuple[int, ...]]:
    """The monomials of a degree: which coordinates are multiplied."""
    return [c for n in range(degree + 1) for c in combinations_with_replacement(range(rank), n)]


# -- triangles and neighbours --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Located(Method):
    """The simplex that holds each position, or the nearest data site: numbers, which have no derivative."""

    search: Held

    differentiable = False

    def results(self, programs: Programs, avals: tuple[Aval, ...]) -> tuple[Aval, ...]:
        return (Aval(avals[0].shape[:-1], np.int64),)

    def solve(self, programs: Programs, values: Sequence[Any]) -> Sequence[Any]:
        return (self.search.value(np.asarray(values[0])),)


@dataclass(frozen=True)
class Nearest(Method):
    """The numbers of the data sites next to each position, which have no derivative."""

    count: int

    differentiable = False

    def results(self, programs: Programs, avals: tuple[Aval, ...]) -> tuple[Aval, ...]:
        return (Aval((avals[1].shape[0], self.count), np.int64),)

    def solve(self, programs: Programs, values: Sequence[Any]) -> Sequence[Any]:
        sites, points = [np.asarray(v, float) for v in values]
        found = original("spatial", "KDTree")(sites).query(points, self.count)[1]
        return (np.sort(found.reshape(len(points), self.count), axis=1),)


def nearest_sites(sites: ArrayLike, points: ArrayLike, count: int | None) -> Array:
    """The numbers of so many data sites next to each position, ascending."""
    return found(Nearest(int(count or 1)), (), [sites, points])[0]


def located(search: object, points: ArrayLike) -> Array:
    """What a search finds for positions, which may be traced."""
    return found(Located(Held(search)), (), [points])[0]


def plain_sites(points: ArrayLike, name: str) -> Array:
    """Data sites, which must not be traced: how they are joined has no derivative."""
    if is_traced(points, *(points if isinstance(points, tuple) else ())):
        raise UnsupportedFunctionError(
            f"{name} has no derivative by its data sites: they decide on the triangles",
            remedy="Use fg.scipy.interpolate.RBFInterpolator, or fg.stop_gradient of the sites.",
        )
    if isinstance(points, tuple):
        points = np.stack([np.asarray(p, float).ravel() for p in np.broadcast_arrays(*points)], axis=-1)
    sites = np.asarray(points, float)
    return sites[:, None] if sites.ndim == 1 else sites


def positions(args: tuple[Any, ...]) -> Array:
    """Positions in the last axis, from one array or a coordinate each."""
    if len(args) == 1 and not isinstance(args[0], tuple):
        return inexact(args[0])
    parts = args[0] if len(args) == 1 else args
    return np.stack(np.broadcast_arrays(*[inexact(p) for p in parts]), axis=-1)


class LinearNDInterpolator:
    """Linear interpolation between scattered values, over Delaunay's triangles.

    Differentiable by positions and values.

    >>> sites = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> f = fg.scipy.interpolate.LinearNDInterpolator(sites, sites @ np.array([2.0, 3.0]))
    >>> print(fg.grad(lambda p: f(p))(np.array([0.2, 0.3])).round(6))
    [2. 3.]
    """

    def __init__(
        self, points: ArrayLike, values: ArrayLike, fill_value: Option = np.nan, rescale: bool = False
    ) -> None:
        made = original("spatial", "Delaunay")
        self._triangles: Any = points if isinstance(points, made) else None
        sites = points.points if self._triangles is not None else plain_sites(points, "LinearNDInterpolator")
        self._shift, self._scale = np.zeros(sites.shape[1]), np.ones(sites.shape[1])
        if rescale:
            self._shift, self._scale = sites.mean(0), np.ptp(sites, axis=0)
            self._scale[self._scale == 0.0] = 1.0
        if self._triangles is None:
            self._triangles = made((sites - self._shift) / self._scale)
        self.values, self.fill_value = inexact(values), fill_value

    def __call__(self, *args: ArrayLike) -> Array:
        """Values at positions: one array, or a coordinate each."""
        points = positions(args)
        triangles = self._triangles
        rank = dims(points)[-1]
        flat = (points.reshape((-1, rank)) - self._shift) / self._scale
        simplex = located(triangles.find_simplex, flat)
        outside = simplex < 0
        simplex = np.where(outside, 0, simplex)
        transform = np.ascontiguousarray(triangles.transform)
        corners = np.ascontiguousarray(triangles.simplices).astype(np.int64)
        linear = rows(transform[:, :rank, :], simplex)
        share = np.sum(linear * (flat - rows(transform[:, rank, :], simplex))[:, None, :], axis=-1)
        last = 1.0 - np.sum(share, axis=-1)
        total = beside(last, self.values) * rows(self.values, rows(corners[:, rank], simplex))
        for k in range(rank):
            total = total + beside(share[:, k], self.values) * rows(self.values, rows(corners[:, k], simplex))
        total = np.where(beside(outside, total), self.fill_value, total)
        return total.reshape(dims(points)[:-1] + dims(self.values)[1:])


class NearestNDInterpolator:
    """The value of the nearest data site.

    >>> f = fg.scipy.interpolate.NearestNDInterpolator(np.array([[0.0], [1.0]]), np.array([3.0, 5.0]))
    >>> print(f(np.array([[0.9]])))
    [5.]
    """

    def __init__(
        self, x: ArrayLike, y: ArrayLike, rescale: bool = False, tree_options: Option = None
    ) -> None:
        sites = plain_sites(x, "NearestNDInterpolator")
        if len(sites) != dims(array(y))[0]:
            raise ValueError("different number of values and points")
        self._shift, self._scale = np.zeros(sites.shape[1]), np.ones(sites.shape[1])
        if rescale:
            self._shift, self._scale = sites.mean(0), np.ptp(sites, axis=0)
            self._scale[self._scale == 0.0] = 1.0
        self._tree = original("spatial", "cKDTree")(
            (sites - self._shift) / self._scale, **(tree_options or {})
        )
        self.values = inexact(y)

    def __call__(self, *args: ArrayLike, **query_options: Option) -> Array:
        """Values at positions: one array, or a coordinate each; NaN where the tree finds no site."""
        points = positions(args)
        sites = dims(self.values)[0]
        nearest = located(
            lambda p: self._tree.query(p, **query_options)[1], (points - self._shift) / self._scale
        )
        if not query_options:
            return rows(self.values, nearest)
        found = rows(self.values, np.minimum(nearest, sites - 1))
        missing = (nearest == sites).reshape(dims(nearest) + (1,) * (len(dims(self.values)) - 1))
        return np.where(missing, np.nan, found)


def griddata(
    points: ArrayLike,
    values: ArrayLike,
    xi: ArrayLike,
    method: str = "linear",
    fill_value: ArrayLike = np.nan,
    rescale: bool = False,
) -> Array:
    """Scattered values at other positions, by `LinearNDInterpolator` or `NearestNDInterpolator`.

    >>> sites = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> where = np.array([[0.2, 0.3]])
    >>> print(fg.scipy.interpolate.griddata(sites, np.array([0.0, 2.0, 3.0]), where).round(6))
    [1.3]
    """
    if not is_traced(points, values, *(xi if isinstance(xi, tuple) else (xi,))):
        return scipys("griddata")(points, values, xi, method, fill_value, rescale)
    sites = plain_sites(points, "griddata")
    if sites.shape[1] == 1 and method in ("nearest", "linear", "cubic"):
        fill = "extrapolate" if method == "nearest" else fill_value
        line = interp1d(sites[:, 0], values, kind=method, axis=0, bounds_error=False, fill_value=fill)
        return line(xi[0] if isinstance(xi, tuple) else xi)
    if method == "nearest":
        return NearestNDInterpolator(sites, values, rescale)(*(xi if isinstance(xi, tuple) else (xi,)))
    if method == "linear":
        return LinearNDInterpolator(sites, values, fill_value, rescale)(
            *(xi if isinstance(xi, tuple) else (xi,))
        )
    if method != "cubic":
        raise ValueError(f"Unknown interpolation method {method!r} for {sites.shape[1]} dimensional data")
    raise UnsupportedFunctionError(
        "griddata with method='cubic' in several dimensions is not supported on traced values",
        remedy="Use fg.scipy.interpolate.RBFInterpolator, which is smooth.",
    )
