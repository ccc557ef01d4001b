"""Interpolation on a regular grid: `RegularGridInterpolator` and `interpn`."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from funcgrad.errors import ConcretizationError, TracedBranchError, UnsupportedFunctionError
from funcgrad.ops.arrays.structure import cast
from funcgrad.scipy.interpolate.bsplines import basis, make_interp_spline
from funcgrad.scipy.interpolate.operands import (
    array,
    beside,
    dims,
    elements,
    floating_dtype,
    inexact,
    is_traced,
    rows,
    scipys,
)
from funcgrad.scipy.originals import known_value
from funcgrad.types import Array, ArrayLike, Option

__all__ = ["RegularGridInterpolator", "interpn"]

DEGREES = {"slinear": 1, "cubic": 3, "quintic": 5}


def rises(points: ArrayLike, k: int) -> bool:
    """Whether points are known to rise, or have no values yet; False where they fall, which SciPy allows."""
    steps = known_value(points)
    if steps is None or np.all(np.diff(steps) > 0.0):
        return True
    if not np.all(np.diff(steps) < 0.0):
        raise ValueError(f"The points in dimension {k} must be strictly ascending or descending")
    return False


def check_method(method: str) -> None:
    """Raise ValueError for a method that SciPy has none of; the legacy ones compute the same."""
    if method not in ("linear", "nearest", "pchip", *DEGREES, *[f"{name}_legacy" for name in DEGREES]):
        raise ValueError(f"Method '{method}' is not defined")


class RegularGridInterpolator:
    """Values on a rectangular grid, in between linear, nearest, or splines along every axis.

    Differentiable by positions, values and the grid. Where SciPy would raise for positions outside of the
    grid, so does this if the positions are known; under `jit` and `vmap` they are not, and NaN stands there.

    >>> x, y = np.arange(3.0), np.arange(4.0)
    >>> f = fg.scipy.interpolate.RegularGridInterpolator((x, y), np.outer(x, y))
    >>> print(f([1.5, 2.0]), fg.grad(lambda p: f(p)[0])(np.array([1.5, 2.5])))
    [3.] [2.5 1.5]
    """

    def __init__(
        self,
        points: ArrayLike,
        values: ArrayLike,
        method: str = "linear",
        bounds_error: bool = True,
        fill_value: Option = np.nan,
        *,
        solver: Option = None,
        solver_args: Option = None,
    ) -> None:
        self._plain: Any = None
        traced = is_traced(*points, values)
        if not traced:
            self._plain = scipys("RegularGridInterpolator")(
                points, values, method, bounds_error, fill_value, solver=solver, solver_args=solver_args
            )
        check_method(method)
        self.grid = tuple([inexact(p) for p in points])
        self.values = inexact(values)
        self._dtype = floating_dtype(array(values))
        self.method, self.bounds_error, self.fill_value = method, bounds_error, fill_value
        if len(self.grid) > len(dims(self.values)):
            raise ValueError(
                f"There are {len(self.grid)} point arrays, but values has {len(dims(self.values))} dimensions"
            )
        for k, p in enumerate(self.grid):
            if dims(p)[0] != dims(self.values)[k]:
                raise ValueError(
                    f"There are {dims(p)[0]} points and {dims(self.values)[k]} values on dimension {k}"
                )
            if not rises(p, k):
                self.grid = (*self.grid[:k], p[::-1], *self.grid[k + 1 :])
                self.values = np.flip(self.values, k)

    def __call__(self, xi: Array, method: str | None = None, *, nu: Array = None) -> Array:
        """Values at positions, which are in the last axis of `xi`, or a tuple of coordinates."""
        method = self.method if method is None else method
        check_method(method)
        parts = xi if isinstance(xi, tuple) else ()
        if self._plain is not None and not is_traced(xi, *parts):
            return self._plain(xi, method) if nu is None else self._plain(xi, method, nu=nu)
        if nu is not None and np.any(nu):
            raise UnsupportedFunctionError("nu inside a trace: take the derivative by fg.grad or fg.jacfwd")
        if parts:
            points = np.stack(np.broadcast_arrays(*[inexact(p) for p in parts]), axis=-1)
        else:
            points = inexact(xi)
        rank = len(self.grid)
        if not dims(points) or dims(points)[-1] != rank:
            raise ValueError(f"The requested sample points xi have another dimension than {rank}")
        flat = points.reshape((-1, rank))
        found = self._bounded(flat, self._at(flat, method))
        shape = dims(points)[:-1] if len(dims(points)) > 1 else (1,)
        return found.reshape(shape + dims(self.values)[rank:])

    def _at(self, p: Array, method: str) -> Array:
        if method == "nearest":
            nearest = elements(self.values, [self._nearest(g, p[:, k]) for k, g in enumerate(self.grid)])
            return cast(nearest, self._dtype)
        if method == "linear":
            return self._weighted([self._line(g, p[:, k]) for k, g in enumerate(self.grid)], self.values)
        if method == "pchip":
            raise UnsupportedFunctionError("RegularGridInterpolator with method='pchip' on traced values")
        degree = DEGREES[method.removesuffix("_legacy")]
        coefficients, sides = self.values, []
        for k, g in enumerate(self.grid):
            spline = make_interp_spline(g, np.moveaxis(coefficients, k, 0), degree)
            coefficients = np.moveaxis(inexact(spline.c), 0, k)
            weights, i = basis(inexact(spline.t), degree, p[:, k])
            sides.append([(weights[:, j], i - degree + j) for j in range(degree + 1)])
        return self._weighted(sides, coefficients)

    @staticmethod
    def _nearest(grid: Array, x: Array) -> Array:
        last = dims(grid)[0] - 1
        if not last:
            return np.zeros(dims(x), int)
        k = np.clip(np.searchsorted(grid, x) - 1, 0, last - 1)
        start = rows(grid, k)
        away = (x - start) / (rows(grid, k + 1) - start)
        return np.where(away <= 0.5, k, k + 1)

    @staticmethod
    def _line(grid: Array, x: Array) -> list[tuple[Any, Any]]:
        last = dims(grid)[0] - 1
        if not last:
            return [(np.ones(dims(x)), np.zeros(dims(x), int))]
        k = np.clip(np.searchsorted(grid, x) - 1, 0, last - 1)
        start = rows(grid, k)
        away = (x - start) / (rows(grid, k + 1) - start)
        return [(1.0 - away, k), (away, k + 1)]

    @staticmethod
    def _weighted(sides: Array, values: Array) -> Array:
        total: Any = 0.0
        for corner in product(*sides):
            weight: Any = 1.0
            for part, _ in corner:
                weight = weight * part
            taken = elements(values, [index for _, index in corner])
            total = total + beside(weight, taken) * taken
        return total

    def _bounded(self, p: Array, found: Array) -> Array:
        outside: Any = False
        for k, g in enumerate(self.grid):
            outside = outside | ~((p[:, k] >= g[0]) & (p[:, k] <= g[-1]))
        if self.bounds_error:
            try:
                beyond = bool(np.any(outside))
            except (ConcretizationError, TracedBranchError):
                beyond = False
            if beyond:
                raise ValueError("One of the requested xi is out of bounds")
            return np.where(beside(outside, found), np.nan, found)
        if self.fill_value is not None:
            found = np.where(beside(outside, found), self.fill_value, found)
        nowhere = np.any(np.isnan(p), axis=1)
        return np.where(beside(nowhere, found), np.nan, found)


def interpn(
    points: ArrayLike,
    values: ArrayLike,
    xi: ArrayLike,
    method: str = "linear",
    bounds_error: bool = True,
    fill_value: ArrayLike = np.nan,
) -> Array:
    """Values on a rectangular grid at other positions; see `RegularGridInterpolator`.

    >>> x = np.arange(3.0)
    >>> print(fg.scipy.interpolate.interpn((x,), x**2, np.array([1.5])))
    [2.5]
    """
    if not is_traced(*points, values, *(xi if isinstance(xi, tuple) else (xi,))):
        return scipys("interpn")(points, values, xi, method, bounds_error, fill_value)
    if method == "splinef2d":
        raise UnsupportedFunctionError(
            "interpn with method='splinef2d' on traced values", remedy="Use method='cubic'."
        )
    return RegularGridInterpolator(points, values, method, bounds_error, fill_value)(xi)
