"""B-splines: evaluation by de Boor's algorithm, and splines through and near values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad.errors import UnsupportedFunctionError
from funcgrad.scipy.interpolate.operands import (
    beside,
    dims,
    elements,
    inexact,
    is_traced,
    require_increasing,
    rows,
    scipys,
)
from funcgrad.scipy.interpolate.piecewise import moved
from funcgrad.scipy.linalg.banded import solve_banded
from funcgrad.scipy.originals import at_hand, known_value
from funcgrad.types import Array, ArrayLike, Foreign, Number, Option, ShapeLike

__all__ = [
    "BSpline",
    "InterpolatedUnivariateSpline",
    "LSQUnivariateSpline",
    "UnivariateSpline",
    "make_interp_spline",
    "make_lsq_spline",
]


def intervals(t: ArrayLike, k: int, x: ArrayLike) -> Array:
    """The last knot that is not beyond each position, among those that begin an interval of the spline."""
    n = dims(t)[0] - k - 1
    return np.clip(np.searchsorted(t, x, side="right") - 1, k, n - 1)


def ends_meet(t: ArrayLike, k: int) -> bool:
    """Whether the first or the last interval may be without length: the spline is 0 in it, as in SciPy."""
    known, n = at_hand(t), dims(t)[0] - k - 1
    return known is None or bool(known[k] == known[k + 1] or known[n - 1] == known[n])


def basis(t: ArrayLike, k: int, x: ArrayLike, nu: int = 0) -> tuple[Any, Any]:
    """The ``k + 1`` B-splines that are not zero at each position (or derivatives), and the interval.

    By the recurrence of Cox and de Boor; column j belongs to coefficient ``interval - k + j``.
    """
    i = intervals(t, k, x)
    values = [np.ones(dims(x))]
    guarded = ends_meet(t, k)
    for degree in range(1, k + 1):
        last = degree > k - nu
        raised: list[Any] = [0.0] * (degree + 1)
        for j, value in enumerate(values):
            left, right = rows(t, i + j + 1 - degree), rows(t, i + j + 1)
            width = right - left
            if guarded:
                closed = width == 0.0
                part = np.where(closed, 0.0, value / np.where(closed, 1.0, width))
            else:
                part = value / width
            if last:
                raised[j] = raised[j] - degree * part
                raised[j + 1] = raised[j + 1] + degree * part
            else:
                raised[j] = raised[j] + (right - x) * part
                raised[j + 1] = raised[j + 1] + (x - left) * part
        values = raised
    if nu > k:
        values = [0.0 * v for v in values]
    return np.stack(values, axis=-1), i


class BSpline:
    """A spline of degree `k` with knots `t` and coefficients `c`, as `scipy.interpolate.BSpline`.

    >>> t, c = np.array([0.0, 0.0, 0.0, 1.0, 2.0, 2.0, 2.0]), np.array([0.0, 1.0, 3.0, 2.0])
    >>> print(round(float(fg.grad(lambda x: fg.scipy.interpolate.BSpline(t, c, 2)(x))(1.0)), 6))
    2.0
    """

    def __init__(self, t: ArrayLike, c: ArrayLike, k: int, extrapolate: Option = True, axis: int = 0) -> None:
        self.t, self.k, self.extrapolate = inexact(t), int(k), extrapolate
        c = inexact(c)
        self.axis = axis % max(len(dims(c)), 1)
        self.c = np.moveaxis(c, self.axis, 0) if self.axis else c
        if self.k < 0:
            raise ValueError("Spline order cannot be negative.")
        n = dims(self.t)[0] - self.k - 1
        if n < self.k + 1:
            raise ValueError(f"Need at least {2 * self.k + 2} knots for degree {self.k}")
        if dims(self.c)[0] < n:
            raise ValueError("Knots, coefficients and degree are inconsistent.")

    @classmethod
    def _of_first_axis(cls, t: ArrayLike, c: ArrayLike, k: int, extrapolate: Option, axis: int) -> BSpline:
        made = cls(t, c, k, extrapolate)
        made.axis = axis
        return made

    def __call__(self, x: Array, nu: int = 0, extrapolate: Option = None) -> Array:
        """The value at `x`, or a derivative of order `nu`."""
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        if not is_traced(x, self.t, self.c):
            plain = scipys("BSpline").construct_fast(
                self.t, np.ascontiguousarray(self.c), self.k, self.extrapolate, self.axis
            )
            return plain(x, nu, extrapolate)
        points = inexact(x)
        flat = points.reshape(-1)
        first, last = self.t[self.k], self.t[dims(self.t)[0] - self.k - 1]
        if extrapolate == "periodic":
            flat = first + np.mod(flat - first, last - first)
        values, i = basis(self.t, self.k, flat, nu)
        total: Any = 0.0
        for j in range(self.k + 1):
            total = total + beside(values[:, j], self.c) * rows(self.c, i - self.k + j)
        if extrapolate is False or extrapolate == 0:
            inside = (flat >= first) & (flat <= last)
            total = np.where(beside(inside, self.c), total, np.nan)
        found = total.reshape(dims(points) + dims(self.c)[1:])
        return moved(found, len(dims(points)), self.axis)

    def derivative(self, nu: int = 1) -> BSpline:
        """The derivative, a spline of a lower degree."""
        t, c, k = self.t, self.c, self.k
        for _ in range(nu):
            n = dims(t)[0] - k - 1
            width = t[k + 1 : n + k] - t[1:n]
            safe = np.where(width == 0.0, 1.0, width)
            c = np.diff(c[:n], axis=0) * beside(np.where(width == 0.0, 0.0, k / safe), c)
            t, k = t[1:-1], k - 1
        return self._of_first_axis(t, c, k, self.extrapolate, self.axis)

    def antiderivative(self, nu: int = 1) -> BSpline:
        """An antiderivative, a spline of a higher degree."""
        t, c, k = self.t, self.c, self.k
        for _ in range(nu):
            n = dims(t)[0] - k - 1
            steps = c[:n] * beside((t[k + 1 :] - t[:n]) / (k + 1), c)
            c = np.concatenate([0.0 * steps[:1], np.cumsum(steps, axis=0)], axis=0)
            t, k = np.concatenate([t[:1], t, t[-1:]]), k + 1
        extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
        return self._of_first_axis(t, c, k, extrapolate, self.axis)

    def integrate(self, a: ArrayLike, b: ArrayLike, extrapolate: object = None) -> Array:
        """The integral from `a` to `b`."""
        whole = self.antiderivative()
        return whole(b, 0, extrapolate) - whole(a, 0, extrapolate)


# -- through values ------------------------------------------------------------------------------------------


def of_scipy(made: Foreign) -> BSpline:
    """One of SciPy's splines as one of ours."""
    return BSpline._of_first_axis(made.t, made.c, made.k, made.extrapolate, made.axis)


def default_knots(x: ArrayLike, k: int) -> Array:
    """Knots for as many coefficients as there are positions: not-a-knot for odd degrees."""
    if k % 2:
        m = (k + 1) // 2
        inner = x[m : dims(x)[0] - m]
    else:
        m = k // 2
        middles = (x[1:] + x[:-1]) / 2.0
        inner = middles[m : dims(middles)[0] - m]
    return clamped_knots(x[0], inner, x[-1], k)


def clamped_knots(first: ArrayLike, inner: ArrayLike, last: ArrayLike, k: int) -> Array:
    """The inner knots with ends that are repeated."""
    ends = np.ones(k + 1)
    return np.concatenate([first * ends, inner, last * ends])


def make_interp_spline(
    x: ArrayLike,
    y: ArrayLike,
    k: int = 3,
    t: ArrayLike = None,
    bc_type: object = None,
    axis: int = 0,
    check_finite: bool = True,
) -> BSpline:
    """The spline of degree `k` through values, by `scipy.interpolate.make_interp_spline`.

    >>> x = np.arange(6.0)
    >>> def middle(y):
    ...     return fg.scipy.interpolate.make_interp_spline(x, y)(2.5)
    >>> print(round(float(middle(x**3)), 6), round(float(fg.grad(middle)(x**3).sum()), 6))
    15.625 1.0
    """
    if not is_traced(x, y, t):
        return of_scipy(scipys("make_interp_spline")(x, y, k, t, bc_type, axis, check_finite))
    x, y = inexact(x), inexact(y)
    require_increasing(x, "Expect x to be a 1D strictly increasing sequence.")
    if k < 0:
        raise ValueError("Expect non-negative k.")
    axis = axis % len(dims(y))
    values = np.moveaxis(y, axis, 0)
    start, end = end_conditions(bc_type, k)
    if k == 0:
        t = np.concatenate([x, x[-1:]]) if t is None else inexact(t)
        return BSpline._of_first_axis(t, values, 0, True, axis)
    if t is None:
        t = clamped_knots(x[0], x[1:-1], x[-1], k) if bc_type is not None else default_knots(x, k)
    t = inexact(t)
    if not start and not end:
        c = banded_coefficients(t, k, x, values)
    else:
        c = coefficients(t, k, x, values, start, end)
    return BSpline._of_first_axis(t, c, k, True, axis)


NAMED_ENDS: dict[str, list[tuple[int, Any]]] = {
    "clamped": [(1, 0.0)],
    "natural": [(2, 0.0)],
    "not-a-knot": [],
}


def end_conditions(bc_type: Option, k: int) -> tuple[list[tuple[int, Any]], list[tuple[int, Any]]]:
    """Derivatives that are given at both ends, as pairs of order and value."""
    if bc_type in (None, "not-a-knot", (None, None)):
        return [], []
    if bc_type == "periodic":
        raise UnsupportedFunctionError(
            "make_interp_spline with periodic ends is not supported on traced values",
            remedy="Use fg.scipy.interpolate.CubicSpline with bc_type='periodic'.",
        )
    pair = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
    found: list[list[tuple[int, Any]]] = []
    for c in pair:
        if isinstance(c, str):
            if c not in NAMED_ENDS:
                raise ValueError(f"Unknown boundary condition : {c}")
            found.append(NAMED_ENDS[c])
        else:
            found.append([] if c is None else list(c))
    return found[0], found[1]


def coefficients(t: ArrayLike, k: int, x: ArrayLike, y: ArrayLike, start: ArrayLike, end: ArrayLike) -> Array:
    """Coefficients by collocation with derivatives at the ends: one system of the full size."""
    n = dims(t)[0] - k - 1
    rows, right = [dense_rows(t, k, x, n)], [y]
    for conditions, place in ((start, x[:1]), (end, x[-1:])):
        for order, value in conditions:
            rows.append(dense_rows(t, k, place, n, order))
            right.append(0.0 * y[:1] + value)
    matrix, sides = np.concatenate(rows, axis=0), np.concatenate(right, axis=0)
    if dims(matrix)[0] != n:
        raise ValueError(f"The number of derivatives at boundaries does not match: expected {n - dims(x)[0]}")
    size = math.prod(dims(sides)[1:])
    return np.linalg.solve(matrix, sides.reshape((n, size))).reshape(dims(sides))


def dense_rows(t: ArrayLike, k: int, x: ArrayLike, n: int, nu: int = 0) -> Array:
    """The values of all `n` B-splines at each position."""
    values, i = basis(t, k, x, nu)
    column = np.arange(n)[None, :] - (i[:, None] - k)
    inside = (column >= 0) & (column <= k)
    taken = elements(values, (np.arange(dims(x)[0])[:, None], np.clip(column, 0, k)))
    return np.where(inside, taken, 0.0)


def banded_coefficients(t: ArrayLike, k: int, x: ArrayLike, y: ArrayLike) -> Array:
    """Coefficients by collocation at as many positions: a system with `k` diagonals on either side."""
    n = dims(x)[0]
    if dims(t)[0] != n + k + 1:
        raise ValueError("The number of knots does not match the number of positions.")
    values, i = basis(t, k, x)
    row = np.arange(n)[None, :] + np.arange(-k, k + 1)[:, None]
    exists = (row >= 0) & (row < n)
    row = np.clip(row, 0, n - 1)
    column = np.arange(n)[None, :] - (rows(i, row) - k)
    inside = exists & (column >= 0) & (column <= k)
    bands = np.where(inside, elements(values, (row, np.clip(column, 0, k))), 0.0)
    size = math.prod(dims(y)[1:])
    return solve_banded((k, k), bands, y.reshape((n, size))).reshape(dims(y))


def make_lsq_spline(
    x: ArrayLike,
    y: ArrayLike,
    t: ArrayLike,
    k: int = 3,
    w: ArrayLike = None,
    axis: int = 0,
    check_finite: bool = True,
    *,
    method: str = "qr",
) -> BSpline:
    """The spline with knots `t` nearest to values, by `scipy.interpolate.make_lsq_spline`.

    >>> x, t = np.linspace(0.0, 1.0, 9), np.array([0.0, 0.0, 1.0, 1.0])
    >>> def end(y):
    ...     return fg.scipy.interpolate.make_lsq_spline(x, y, t, 1)(1.0)
    >>> print(round(float(end(x)), 6), round(float(fg.grad(end)(x)[-1]), 6))
    1.0 0.377778
    """
    if not is_traced(x, y, t, w):
        return of_scipy(scipys("make_lsq_spline")(x, y, t, k, w, axis, check_finite))
    x, y, t = inexact(x), inexact(y), inexact(t)
    axis = axis % len(dims(y))
    values = np.moveaxis(y, axis, 0)
    matrix = dense_rows(t, k, x, dims(t)[0] - k - 1)
    if w is not None:
        weights = inexact(w)
        matrix, values = matrix * weights[:, None], values * beside(weights, values)
    size = math.prod(dims(values)[1:])
    q, r = np.linalg.qr(matrix)
    c = np.linalg.solve(r, q.T @ values.reshape((dims(x)[0], size)))
    return BSpline._of_first_axis(t, c.reshape(dims(c)[:1] + dims(values)[1:]), k, True, axis)


# -- the older names -----------------------------------------------------------------------------------------


def check_univariate(
    x: ArrayLike,
    y: ArrayLike,
    w: ArrayLike,
    bbox: ArrayLike,
    k: int,
    s: Number,
    ext: object,
    check_finite: bool,
) -> None:
    """Raise what SciPy raises for these arguments, of which those without a value count by their shape."""
    known = [known_value(v) for v in (x, y, w)]
    like = np.arange(float(dims(inexact(x))[0]))
    given = [like if known[0] is None else known[0]]
    for value, v in zip(known[1:], (y, w), strict=True):
        given.append(np.ones(dims(v)) if value is None and v is not None else value)
    scipys("UnivariateSpline").validate_input(*given, bbox, k, s, ext, check_finite)


class UnivariateSpline:
    """A spline through values (``s=0``), as `scipy.interpolate.UnivariateSpline`.

    With smoothing the knots are chosen by the values, which has no derivative: inside a trace use
    `make_smoothing_spline`, or `LSQUnivariateSpline` with knots of your own.

    >>> x = np.arange(5.0)
    >>> print(round(float(fg.scipy.interpolate.UnivariateSpline(x, x**2, s=0)(1.5)), 6))
    2.25
    """

    def __init__(
        self,
        x: ArrayLike,
        y: ArrayLike,
        w: ArrayLike = None,
        bbox: Option = (None, None),
        k: int = 3,
        s: ShapeLike = None,
        ext: Option = 0,
        check_finite: bool = False,
    ) -> None:
        if not is_traced(x, y, w):
            made = scipys("UnivariateSpline")(x, y, w, bbox, k, s, ext, check_finite)
            self._of_knots(made._eval_args, ext)
            return
        check_univariate(x, y, w, bbox, k, s, ext, check_finite)
        if tuple(bbox) != (None, None):
            raise UnsupportedFunctionError(
                "UnivariateSpline with a bbox is not supported on traced values",
                remedy="Leave it out, or use LSQUnivariateSpline, which has one.",
            )
        if s != 0:
            raise UnsupportedFunctionError(
                "UnivariateSpline chooses its knots by the values, which has no derivative",
                remedy="Give s=0, or use fg.scipy.interpolate.make_smoothing_spline or LSQUnivariateSpline.",
            )
        self._ext = ext
        self._spline = make_interp_spline(x, y, k)

    @classmethod
    def of_knots(cls, knots: ArrayLike, ext: object) -> UnivariateSpline:
        """The spline of knots, coefficients and degree; `ext` says what stands outside."""
        made = cls.__new__(cls)
        made._of_knots(knots, ext)
        return made

    def _of_knots(self, knots: ArrayLike, ext: Option) -> None:
        t, c, k = knots
        self._ext = ext
        self._spline = BSpline(t, c[: len(t) - k - 1], k)

    def __call__(self, x: Array, nu: int = 0, ext: Option = None) -> Array:
        """The value at `x`, or a derivative."""
        spline, chosen = self._spline, self._ext if ext is None else ext
        first, last = spline.t[spline.k], spline.t[dims(spline.t)[0] - spline.k - 1]
        points = inexact(x)
        if chosen in (3, "const"):
            return spline(np.clip(points, first, last), nu)
        found = spline(points, nu)
        if chosen in (1, "zeros"):
            return np.where((points >= first) & (points <= last), found, 0.0)
        if chosen in (2, "raise") and bool(np.any((points < first) | (points > last))):
            raise ValueError("x is out of the range of the spline")
        return found

    def derivative(self, n: int = 1) -> BSpline:
        """The derivative, a spline."""
        return self._spline.derivative(n)

    def antiderivative(self, n: int = 1) -> BSpline:
        """An antiderivative, a spline."""
        return self._spline.antiderivative(n)

    def integral(self, a: ArrayLike, b: ArrayLike) -> Array:
        """The integral from `a` to `b`, zero outside of the knots."""
        spline = self._spline
        first, last = spline.t[spline.k], spline.t[dims(spline.t)[0] - spline.k - 1]
        return spline.integrate(np.clip(inexact(a), first, last), np.clip(inexact(b), first, last))

    def get_coeffs(self) -> Array:
        """The coefficients."""
        return self._spline.c

    def get_knots(self) -> Array:
        """The knots, without those repeated at the ends."""
        spline = self._spline
        return spline.t[spline.k : dims(spline.t)[0] - spline.k]


class InterpolatedUnivariateSpline(UnivariateSpline):
    """A spline through values.

    >>> x = np.arange(5.0)
    >>> print(round(float(fg.scipy.interpolate.InterpolatedUnivariateSpline(x, x**2)(1.5)), 6))
    2.25
    """

    def __init__(
        self,
        x: ArrayLike,
        y: ArrayLike,
        w: ArrayLike = None,
        bbox: Option = (None, None),
        k: int = 3,
        ext: Option = 0,
        check_finite: bool = False,
    ) -> None:
        super().__init__(x, y, w, bbox, k, 0, ext, check_finite)


class LSQUnivariateSpline(UnivariateSpline):
    """The spline with inner knots `t` nearest to values.

    >>> x = np.arange(7.0)
    >>> print(round(float(fg.scipy.interpolate.LSQUnivariateSpline(x, x**2, [3.0])(1.5)), 6))
    2.25
    """

    def __init__(
        self,
        x: ArrayLike,
        y: ArrayLike,
        t: ArrayLike,
        w: ArrayLike = None,
        bbox: Option = (None, None),
        k: int = 3,
        ext: Option = 0,
        check_finite: bool = False,
    ) -> None:
        check_univariate(x, y, w, bbox, k, None, ext, check_finite)
        x, inner = inexact(x), inexact(t)
        first = x[0] if bbox[0] is None else bbox[0]
        last = x[-1] if bbox[1] is None else bbox[1]
        known = [known_value(v) for v in (first, inner, last)]
        if all(v is not None for v in known) and np.any(np.diff(np.hstack(known)) <= 0.0):
            raise ValueError("Interior knots t must rise inside of the interval of x (Schoenberg-Whitney)")
        self._ext = ext
        self._spline = make_lsq_spline(x, y, clamped_knots(first, inner, last, k), k, w)
