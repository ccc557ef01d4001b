"""`interp1d`: lines, steps and splines through values."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.errors import ConcretizationError, TracedBranchError
from funcgrad.ops.arrays.structure import cast
from funcgrad.scipy.interpolate.bsplines import make_interp_spline
from funcgrad.scipy.interpolate.operands import (
    array,
    beside,
    dims,
    floating_dtype,
    inexact,
    is_traced,
    rows,
    scipys,
)
from funcgrad.scipy.interpolate.piecewise import moved
from funcgrad.types import Array, ArrayLike, Option

DEGREES = {"zero": 0, "slinear": 1, "quadratic": 2, "cubic": 3}
STEPS = ("nearest", "nearest-up", "previous", "next")


class interp1d:
    """A function through values, as `scipy.interpolate.interp1d`.

    Outside of the values ``fill_value`` stands, or with ``"extrapolate"`` the function goes on. Where SciPy
    would raise for positions outside, so does this if the positions are known; under `jit` and `vmap` they
    are not, and NaN stands there.

    >>> f = fg.scipy.interpolate.interp1d(np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 0.0]))
    >>> print(f(2.0), fg.grad(f)(2.0))
    1.0 -1.0
    """

    def __init__(
        self,
        x: ArrayLike,
        y: ArrayLike,
        kind: Option = "linear",
        axis: int = -1,
        copy: bool = True,
        bounds_error: bool | None = None,
        fill_value: Option = np.nan,
        assume_sorted: bool = False,
    ) -> None:
        self._plain: Any = None
        if not is_traced(x, y):
            self._plain = scipys("interp1d")(x, y, kind, axis, copy, bounds_error, fill_value, assume_sorted)
        given = array(x), array(y)
        x, y = inexact(x), given[1]
        if len(dims(x)) != 1:
            raise ValueError("the x array must have exactly one dimension.")
        if dims(y)[axis] != dims(x)[0]:
            raise ValueError("x and y arrays must be equal in length along interpolation axis.")
        self.axis = axis % len(dims(y))
        values = np.moveaxis(inexact(y), self.axis, 0)
        if not assume_sorted:
            order = np.argsort(x)
            x, values = rows(x, order), rows(values, order)
        self.x, self._values = x, values
        self._dtypes = [floating_dtype(v) for v in given]
        self._kind = {0: "zero", 1: "slinear", 2: "quadratic", 3: "cubic"}.get(kind, kind)
        self._fill = fill_value
        goes_on = isinstance(fill_value, str)
        if goes_on and fill_value != "extrapolate":
            raise ValueError(f"fill_value {fill_value!r} is not 'extrapolate'")
        if isinstance(fill_value, list):  # Two in a tuple are those below and above.
            np.broadcast_to(np.asarray(fill_value), dims(values)[1:])
        filled = not isinstance(fill_value, float) or not np.isnan(fill_value)
        self._raises = bounds_error if bounds_error is not None else not filled
        if self._kind in DEGREES:
            self._spline = make_interp_spline(x, values, DEGREES[self._kind])
        elif self._kind not in (*STEPS, "linear"):
            raise NotImplementedError(f"{kind} is unsupported: Use fitpack routines for other types.")

    def __call__(self, x: Array) -> Array:
        """The value at `x`."""
        if self._plain is not None and not is_traced(x):
            return self._plain(x)
        points = inexact(x)
        flat = points.reshape(-1)
        found = cast(self._at(flat), self._dtype_at(x))
        if not isinstance(self._fill, str):
            found = self._bounded(flat, found)
        elif self._kind in ("previous", "next"):  # There is nothing before the first, or behind the last.
            beyond = flat < self.x[0] if self._kind == "previous" else flat > self.x[-1]
            found = np.where(beside(beyond, found), np.nan, found)
        return moved(found.reshape(dims(points) + dims(self._values)[1:]), len(dims(points)), self.axis)

    def _dtype_at(self, x: Array) -> np.dtype[Any]:
        """The precision of results: splines are made of doubles, lines and steps of what is given."""
        if self._kind in DEGREES:
            return np.result_type(np.float64, self._dtypes[1])
        if self._kind in STEPS:
            given: np.dtype[Any] = self._dtypes[1]
            return given
        return np.result_type(*self._dtypes, floating_dtype(array(x)))

    def _at(self, t: Array) -> Array:
        x, y = self.x, self._values
        last = dims(x)[0] - 1
        if self._kind in DEGREES:
            return self._spline(t)
        if self._kind == "previous":
            return rows(y, np.clip(np.searchsorted(x, t, side="right") - 1, 0, last))
        if self._kind == "next":
            return rows(y, np.clip(np.searchsorted(x, t, side="left"), 0, last))
        if self._kind in STEPS:
            side: Any = "left" if self._kind == "nearest" else "right"
            return rows(y, np.clip(np.searchsorted((x[1:] + x[:-1]) / 2.0, t, side=side), 0, last))
        k = np.clip(np.searchsorted(x, t), 1, last)
        low, start = rows(y, k - 1), rows(x, k - 1)
        slope = (rows(y, k) - low) / beside(rows(x, k) - start, y)
        return slope * beside(t - start, y) + low

    def _bounded(self, t: Array, found: Array) -> Array:
        below, above = t < self.x[0], t > self.x[-1]
        if self._raises:
            try:
                outside = bool(np.any(below)), bool(np.any(above))
            except (ConcretizationError, TracedBranchError):
                outside = False, False
            for beyond, name in zip(outside, ("below", "above"), strict=True):
                if beyond:
                    raise ValueError(f"A value in x_new is {name} the interpolation range.")
        low, high = self._fill if isinstance(self._fill, tuple) else (self._fill, self._fill)
        found = np.where(beside(below, found), low, found)
        return np.where(beside(above, found), high, found)
