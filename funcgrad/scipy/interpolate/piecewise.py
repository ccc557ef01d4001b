"""Piecewise polynomials: `PPoly`, and the interpolators that make them of values and slopes.

Where nothing is traced SciPy computes; otherwise coefficients and evaluation are composed of operations on
arrays, so that positions, values, slopes and knots have derivatives of every order, and evaluation compiles
into a search and a loop.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad.errors import UnsupportedFunctionError
from funcgrad.scipy.interpolate.operands import (
    array,
    beside,
    dims,
    floating_dtype,
    inexact,
    is_traced,
    require_increasing,
    rows,
    scipys,
)
from funcgrad.scipy.linalg.banded import solve_banded
from funcgrad.scipy.originals import at_hand, known_value
from funcgrad.types import Anything, Array, ArrayLike, Option, ScipyResult


class PPoly:
    """A piecewise polynomial: ``sum(c[m, i] * (t - x[i]) ** (k - m))`` between ``x[i]`` and ``x[i + 1]``.

    >>> p = fg.scipy.interpolate.PPoly(np.array([[1.0, -1.0], [0.0, 1.0]]), np.array([0.0, 1.0, 2.0]))
    >>> print(p(np.array([0.5, 1.5])), fg.grad(p)(1.5))
    [0.5 0.5] -1.0
    """

    def __init__(self, c: ArrayLike, x: ArrayLike, extrapolate: Option = None, axis: int = 0) -> None:
        c, x = inexact(c), inexact(x)
        if not is_traced(c, x):
            made = scipys("PPoly")(c, x, extrapolate, axis)
            c, axis = made.c, made.axis
        elif axis:
            c = np.moveaxis(c, (axis, axis + 1), (0, 1))
        self._set(c, x, extrapolate, axis)

    def _set(self, c: Array, x: Array, extrapolate: Option, axis: int) -> None:
        self.c, self.x, self.axis = inexact(c), inexact(x), axis
        self.extrapolate = True if extrapolate is None else extrapolate

    @classmethod
    def construct_fast(cls, c: ArrayLike, x: ArrayLike, extrapolate: object = None, axis: int = 0) -> PPoly:
        """Of coefficients whose first axes are powers and intervals, whatever the axis of the values is."""
        found = object.__new__(PPoly)
        found._set(c, x, extrapolate, axis)
        return found

    def __getattr__(self, name: str) -> Anything:
        """What only SciPy's has, such as `solve`, where nothing is traced."""
        if name.startswith("_") or not hasattr(scipys("PPoly"), name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if is_traced(self.c, self.x):
            raise UnsupportedFunctionError(
                f"{name} of a piecewise polynomial is not supported on traced values"
            )
        return getattr(self._scipys(), name)

    def _scipys(self) -> ScipyResult:
        c, x = np.ascontiguousarray(self.c), np.ascontiguousarray(self.x)
        return scipys("PPoly").construct_fast(c, x, self.extrapolate, self.axis)

    def _with(self, c: Array) -> PPoly:
        return self.construct_fast(c, self.x, self.extrapolate, self.axis)

    def __call__(self, x: ArrayLike, nu: int = 0, extrapolate: Option = None) -> Array:
        """The value at `x`, or a derivative of order `nu`."""
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        if not is_traced(x, self.c, self.x):
            return self._scipys()(x, nu, extrapolate)
        points = inexact(x)
        if nu < 0:
            raise ValueError("Order of derivative cannot be negative")
        if nu:
            return self.derivative(nu)(points, 0, extrapolate)
        flat = points.reshape(-1)
        found = self._at(flat, extrapolate)
        shape = dims(points) + dims(self.c)[2:]
        return moved(found.reshape(shape), len(dims(points)), self.axis)

    def _at(self, t: Array, extrapolate: Option) -> Array:
        last = dims(self.x)[0] - 1
        first, end = self.x[0], self.x[-1]
        if extrapolate == "periodic":
            t = first + np.mod(t - first, end - first)
        way = direction(self.x)
        interval = np.clip(np.searchsorted(way * self.x, way * t, side="right") - 1, 0, last - 1)
        away = beside(t - rows(self.x, interval), self.c[0])
        total = rows(self.c[0], interval)
        for k in range(1, dims(self.c)[0]):
            total = total * away + rows(self.c[k], interval)
        if extrapolate is False or extrapolate == 0:
            inside = (way * t >= way * first) & (way * t <= way * end)
            total = np.where(beside(inside, self.c[0]), total, np.nan)
        return total

    def derivative(self, nu: int = 1) -> PPoly:
        """The derivative, a piecewise polynomial again."""
        if nu < 0:
            return self.antiderivative(-nu)
        c = self.c
        for _ in range(nu):
            degree = dims(c)[0] - 1
            if degree == 0:
                c = c * 0.0
                break
            c = c[:-1] * np.arange(degree, 0.0, -1.0).reshape((degree,) + (1,) * (len(dims(c)) - 1))
        return self._with(c)

    def antiderivative(self, nu: int = 1) -> PPoly:
        """An antiderivative, continuous and zero at the first breakpoint."""
        if nu <= 0:
            return self.derivative(-nu)
        c = self.c
        for _ in range(nu):
            order = dims(c)[0]
            powers = np.arange(order, 0.0, -1.0).reshape((order,) + (1,) * (len(dims(c)) - 1))
            c = c / powers
            width = beside(np.diff(self.x), c[0])
            rise = c[0]
            for k in range(1, order):
                rise = rise * width + c[k]
            ends = np.cumsum(rise * width, axis=0)
            starts = np.concatenate([0.0 * ends[:1], ends[:-1]], axis=0)
            c = np.concatenate([c, starts[None]], axis=0)
        extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
        return self.construct_fast(c, self.x, extrapolate, self.axis)

    def integrate(self, a: ArrayLike, b: ArrayLike, extrapolate: object = None) -> Array:
        """The integral from `a` to `b`."""
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        if not is_traced(self.c, self.x, a, b):
            return self._scipys().integrate(a, b, extrapolate)
        if extrapolate == "periodic":
            raise UnsupportedFunctionError("integrate of a periodic piecewise polynomial is not supported")
        whole = self.antiderivative()
        return whole(b, 0, extrapolate) - whole(a, 0, extrapolate)

    def roots(self, *args: object, **options: object) -> Array:
        """Real roots, by SciPy, where nothing is traced."""
        if is_traced(self.c, self.x):
            raise UnsupportedFunctionError(
                "the roots of a piecewise polynomial are as many as the values say",
                remedy="Find one with fg.scipy.optimize.brentq, which has a derivative.",
            )
        return self._scipys().roots(*args, **options)


def direction(x: ArrayLike) -> Array:
    """1 for breakpoints that rise, -1 for those that fall; a number where it is known."""
    known = known_value(x)
    if known is None:
        return np.where(x[-1] < x[0], -1.0, 1.0)
    return -1.0 if known[-1] < known[0] else 1.0


def moved(found: Array, count: int, axis: int) -> Array:
    """The axes of positions, which come first, put where the interpolated axis of the values was."""
    if not axis:
        return found
    rank = len(dims(found))
    order = [*range(count, count + axis), *range(count), *range(count + axis, rank)]
    return np.transpose(found, order)


def checked(name: str, x: ArrayLike, y: ArrayLike, axis: int) -> tuple[Any, Any, int]:
    """Positions, values with the interpolated axis first, and that axis, as SciPy checks them."""
    x, y = inexact(x), inexact(y)
    axis = axis % max(len(dims(y)), 1)
    if len(dims(x)) != 1:
        raise ValueError("`x` must be 1-dimensional.")
    if dims(x)[0] < 2:
        raise ValueError("`x` must contain at least 2 elements.")
    if dims(x)[0] != dims(y)[axis]:
        raise ValueError(f"The length of `y` along `axis`={axis} doesn't match the length of `x`")
    require_increasing(x, "`x` must be strictly increasing sequence.")
    for words, found in (("x", at_hand(x)), ("y", at_hand(y))):
        if found is not None and not np.all(np.isfinite(found)):
            raise ValueError(f"`{words}` must contain only finite values.")
    return x, np.moveaxis(y, axis, 0), axis


def hermite(x: ArrayLike, y: ArrayLike, slopes: ArrayLike) -> Array:
    """Coefficients of cubics through values with these slopes."""
    width = beside(np.diff(x), y)
    secant = np.diff(y, axis=0) / width
    bend = (slopes[:-1] + slopes[1:] - 2.0 * secant) / width
    return np.stack([bend / width, (secant - slopes[:-1]) / width - bend, slopes[:-1], y[:-1]])


class Made(PPoly):
    """A piecewise polynomial made by one of SciPy's interpolators, or as it would be."""

    def _made_by_scipy(self, name: str, *args: Option, **options: Option) -> None:
        made = scipys(name)(*args, **options)
        self._set(made.c, made.x, made.extrapolate, made.axis)


class CubicHermiteSpline(Made):
    """Cubics through values with given slopes.

    >>> ends = np.array([0.0, 1.0])
    >>> spline = fg.scipy.interpolate.CubicHermiteSpline(ends, ends, np.ones(2))
    >>> print(fg.grad(spline)(0.25))
    1.0
    """

    def __init__(
        self, x: ArrayLike, y: ArrayLike, dydx: ArrayLike, axis: int = 0, extrapolate: Option = None
    ) -> None:
        if not is_traced(x, y, dydx):
            self._made_by_scipy("CubicHermiteSpline", x, y, dydx, axis, extrapolate)
            return
        x, values, axis = checked("CubicHermiteSpline", x, y, axis)
        slopes = np.moveaxis(inexact(dydx), axis, 0)
        self._set(hermite(x, values, slopes), x, extrapolate, axis)


class CubicSpline(Made):
    """A twice continuously differentiable piecewise cubic; `bc_type` as in `scipy.interpolate.CubicSpline`.

    >>> x = np.arange(5.0)
    >>> def middle(y):
    ...     return fg.scipy.interpolate.CubicSpline(x, y)(1.5)
    >>> print(round(float(middle(x**2)), 6), fg.grad(middle)(x**2).round(4))
    2.25 [-0.0469  0.5     0.6562 -0.125   0.0156]
    """

    def __init__(
        self,
        x: ArrayLike,
        y: ArrayLike,
        axis: int = 0,
        bc_type: Option = "not-a-knot",
        extrapolate: Option = None,
    ) -> None:
        if not is_traced(x, y) and not is_traced(*condition_values(bc_type)):
            self._made_by_scipy("CubicSpline", x, y, axis, bc_type, extrapolate)
            return
        x, values, axis = checked("CubicSpline", x, y, axis)
        periodic = isinstance(bc_type, str) and bc_type == "periodic"
        if extrapolate is None:
            extrapolate = "periodic" if periodic else True
        slopes = spline_slopes(x, values, bc_type)
        self._set(hermite(x, values, slopes), x, extrapolate, axis)


def condition_values(bc_type: Option) -> list[Any]:
    """The values of boundary conditions that are given as pairs."""
    if isinstance(bc_type, str):
        return []
    return [c[1] for c in bc_type if not isinstance(c, str)]


def condition_pair(bc_type: Option) -> list[tuple[int, Any]]:
    """Both conditions as order of the derivative and its value; order 0 for not-a-knot."""
    pair = [bc_type, bc_type] if isinstance(bc_type, str) else list(bc_type)
    if len(pair) != 2:
        raise ValueError("`bc_type` must contain 2 elements to specify start and end conditions.")
    named = {"not-a-knot": (0, 0.0), "clamped": (1, 0.0), "natural": (2, 0.0)}
    found = []
    for c in pair:
        if isinstance(c, str):
            if c not in named:
                raise ValueError(f"bc_type={c} is not allowed.")
            found.append(named[c])
        else:
            order, value = c
            if order not in (1, 2):
                raise ValueError("The specified derivative order must be 1 or 2.")
            found.append((order, value))
    return found


def spline_slopes(x: ArrayLike, y: ArrayLike, bc_type: object) -> Array:
    """The slopes that make the second derivative continuous: a tridiagonal system."""
    n = dims(x)[0]
    dx = np.diff(x)
    wide = beside(dx, y)
    secant = np.diff(y, axis=0) / wide
    if isinstance(bc_type, str) and bc_type == "periodic":
        first, last = known_value(y[0]), known_value(y[-1])
        if first is not None and not np.allclose(first, last, rtol=1e-15, atol=1e-15):
            raise ValueError("The first and last `y` must be identical for bc_type='periodic'")
        return periodic_slopes(dx, wide, secant, n)
    start, end = condition_pair(bc_type)
    if n == 2:  # there is no knot for the conditions to be about
        start, end = (c if c[0] else (1, secant[0]) for c in (start, end))
    if n == 3 and not start[0] and not end[0]:
        return parabola_slopes(dx, wide, secant)
    inner = 3.0 * (wide[1:] * secant[:-1] + wide[:-1] * secant[1:])
    first = end_row(dx[:2], wide[:2], secant[:2], start, y[0] - y[0])
    last = end_row(dx[::-1][:2], wide[::-1][:2], secant[::-1][:2], end, y[0] - y[0], sign=-1.0)
    diagonal = np.concatenate([first[0], 2.0 * (dx[:-1] + dx[1:]), last[0]])
    above = np.concatenate([np.zeros(1), first[1], dx[:-1]])
    below = np.concatenate([dx[1:], last[1], np.zeros(1)])
    right = np.concatenate([first[2][None], inner, last[2][None]], axis=0)
    size = math.prod(dims(right)[1:])
    found = solve_banded((1, 1), np.stack([above, diagonal, below]), right.reshape((n, size)))
    return found.reshape(dims(right))


def end_row(
    dx: ArrayLike,
    wide: ArrayLike,
    secant: ArrayLike,
    condition: tuple[int, Any],
    zero: ArrayLike,
    sign: float = 1.0,
) -> tuple[Any, Any, Any]:
    """The equation at an end, seen from it: its diagonal, its other coefficient, its right-hand side."""
    order, value = condition
    if order == 0:
        both = dx[0] + dx[1]
        far = wide[0] + wide[1]
        right = ((wide[0] + 2.0 * far) * wide[1] * secant[0] + wide[0] ** 2 * secant[1]) / far
        return dx[1:2], both.reshape(1), right
    if order == 1:
        return np.ones(1), np.zeros(1), zero + array(value)
    right = -0.5 * sign * array(value) * wide[0] ** 2 + 3.0 * secant[0] * wide[0]
    return 2.0 * dx[:1], dx[:1], right


def parabola_slopes(dx: ArrayLike, wide: ArrayLike, secant: ArrayLike) -> Array:
    """The slopes of the parabola through three points."""
    bend = (secant[1] - secant[0]) / (wide[0] + wide[1])
    first = secant[0] - bend * wide[0]
    return np.stack([first, secant[0] + bend * wide[0], secant[1] + bend * wide[1]])


def periodic_slopes(dx: ArrayLike, wide: ArrayLike, secant: ArrayLike, n: int) -> Array:
    """The slopes where the ends are one point: a cyclic system."""
    if n == 2:
        return np.concatenate([0.0 * secant, 0.0 * secant], axis=0)
    m = n - 1
    k = np.arange(m)
    before, after = (k - 1) % m, (k + 1) % m
    eye = np.eye(m)
    widths = dx[before]
    matrix = (2.0 * (widths + dx))[:, None] * eye + dx[:, None] * eye[before] + widths[:, None] * eye[after]
    right = 3.0 * (wide * secant[before] + wide[before] * secant)
    size = math.prod(dims(right)[1:])
    found = np.linalg.solve(matrix, right.reshape((m, size))).reshape(dims(right))
    return np.concatenate([found, found[:1]], axis=0)


class PchipInterpolator(Made):
    """Cubics that are monotonic where the values are (Fritsch and Butland 1984).

    >>> spline = fg.scipy.interpolate.PchipInterpolator(np.arange(4.0), np.array([0.0, 1.0, 1.5, 4.0]))
    >>> print(round(float(fg.grad(spline)(1.0)), 6))
    0.666667
    """

    def __init__(self, x: ArrayLike, y: ArrayLike, axis: int = 0, extrapolate: Option = None) -> None:
        if not is_traced(x, y):
            self._made_by_scipy("PchipInterpolator", x, y, axis, extrapolate)
            return
        x, values, axis = checked("PchipInterpolator", x, y, axis)
        require_real_values("PchipInterpolator", values)
        self._set(hermite(x, values, pchip_slopes(x, values)), x, extrapolate, axis)


def require_real_values(name: str, values: ArrayLike) -> None:
    """Raise ValueError, as SciPy does, for complex values, which have no order."""
    if floating_dtype(values).kind == "c":
        raise ValueError(
            f"`{name}` only works with real values for `y`. If you are trying to use the real components of "
            "the passed array, use `np.real` on `y`."
        )


def pchip_slopes(x: ArrayLike, y: ArrayLike) -> Array:
    """Weighted harmonic means of secants, zero at a local extremum."""
    width = beside(np.diff(x), y)
    secant = np.diff(y, axis=0) / width
    if dims(x)[0] == 2:
        return np.concatenate([secant, secant], axis=0)
    before, after = secant[:-1], secant[1:]
    flat = (np.sign(before) != np.sign(after)) | (before == 0.0) | (after == 0.0)
    one, other = 2.0 * width[1:] + width[:-1], width[1:] + 2.0 * width[:-1]
    a, b = np.where(flat, 1.0, before), np.where(flat, 1.0, after)
    inner = np.where(flat, 0.0, (one + other) / (one / a + other / b))
    first = pchip_end(width[0], width[1], secant[0], secant[1])
    last = pchip_end(width[-1], width[-2], secant[-1], secant[-2])
    return np.concatenate([first[None], inner, last[None]], axis=0)


def pchip_end(h0: ArrayLike, h1: ArrayLike, m0: ArrayLike, m1: ArrayLike) -> Array:
    """The slope at an end, by three points, kept from overshooting (Moler 2004, section 3.6)."""
    d = ((2.0 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    turned = np.sign(d) != np.sign(m0)
    steep = (np.sign(m0) != np.sign(m1)) & (abs(d) > 3.0 * abs(m0))
    return np.where(turned, 0.0, np.where(steep, 3.0 * m0, d))


class Akima1DInterpolator(Made):
    """Akima's piecewise cubics (1970), or with ``method="makima"`` the modified ones.

    >>> spline = fg.scipy.interpolate.Akima1DInterpolator(np.arange(5.0), np.array([0.0, 0.0, 1.0, 2.0, 2.0]))
    >>> print(round(float(fg.grad(spline)(1.5)), 6))
    1.0
    """

    def __init__(
        self, x: ArrayLike, y: ArrayLike, axis: int = 0, *, method: str = "akima", extrapolate: Option = None
    ) -> None:
        if method not in ("akima", "makima"):
            raise NotImplementedError(f"`method`={method} is unsupported.")
        if not is_traced(x, y):
            self._made_by_scipy("Akima1DInterpolator", x, y, axis, method=method, extrapolate=extrapolate)
            return
        x, values, axis = checked("Akima1DInterpolator", x, y, axis)
        require_real_values("Akima1DInterpolator", values)
        slopes = akima_slopes(x, values, method == "makima")
        self._set(hermite(x, values, slopes), x, bool(extrapolate), axis)


def akima_slopes(x: ArrayLike, y: ArrayLike, modified: bool) -> Array:
    """Means of secants, weighted by how much those on the other side differ."""
    secant = np.diff(y, axis=0) / beside(np.diff(x), y)
    if dims(x)[0] == 2:
        return np.concatenate([secant, secant], axis=0)
    one_before = 2.0 * secant[0] - secant[1]
    one_after = 2.0 * secant[-1] - secant[-2]
    m = np.concatenate(
        [
            (2.0 * one_before - secant[0])[None],
            one_before[None],
            secant,
            one_after[None],
            (2.0 * one_after - secant[-1])[None],
        ],
        axis=0,
    )
    change = abs(np.diff(m, axis=0))
    if modified:
        change = change + 0.5 * abs(m[1:] + m[:-1])
    after, before = change[2:], change[:-2]
    both = after + before
    differs = both > 1e-9 * np.max(both, initial=-np.inf)
    share = np.where(differs, before, 0.0) / np.where(differs, both, 1.0)
    return np.where(differs, m[1:-2] + share * (m[2:-1] - m[1:-2]), 0.5 * (m[3:] + m[:-3]))
