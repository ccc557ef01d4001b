"""Splines through images: their coefficients, and their values at coordinates.

A spline of an order from 0 to 5 is a sum of products of its coefficients with bells of the distances,
piecewise polynomials; coordinates and positions beyond the image are brought inside as the mode says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.numpy.reducing.axes import normalized_axis
from funcgrad.ops.arrays.structure import cast, shape_of
from funcgrad.ops.elementwise.identity import stop_gradient
from funcgrad.ops.interpolation.splines import SplineFilter
from funcgrad.scipy.ndimage.arguments import image, is_traced, padded, scipys
from funcgrad.types import Array, ArrayLike, Number

MODES = (
    *("reflect", "grid-mirror", "constant", "grid-constant"),
    *("nearest", "mirror", "grid-wrap", "wrap"),
)
PREPADDED = 12
"""Elements by which an image is continued where SciPy's filter knows no exact beginning."""


def coefficients(x: ArrayLike, order: int, mode: str) -> Array:
    """The coefficients of the spline through an array, over all axes."""
    if order < 2:
        return x
    for axis in range(len(shape_of(x))):
        x = SplineFilter(axis, order, mode, False).bind(x)
    return x


def prepared(x: ArrayLike, order: int, mode: str, cval: Number, prefilter: bool) -> tuple[Any, int]:
    """Coefficients for an interpolation, and by how much the array was continued before."""
    if order < 0 or order > 5:
        raise RuntimeError("spline order not supported")
    if mode not in MODES:
        raise RuntimeError("boundary mode not supported")
    if not prefilter or order < 2:
        return x, 0
    reach = PREPADDED if mode in ("nearest", "grid-constant") else 0
    wide = padded(x, [(reach, reach)] * len(shape_of(x)), mode, cval)
    return coefficients(wide, order, mode), reach


def spline_filter1d(
    input: ArrayLike, order: int = 3, axis: int = -1, output: object = np.float64, mode: str = "mirror"
) -> Array:
    """The coefficients of a spline along an axis.

    >>> print(fg.grad(lambda x: fg.scipy.ndimage.spline_filter1d(x)[1])(np.ones(3)).round(3))
    [-0.5  2.  -0.5]
    """
    if not is_traced(input):
        return scipys("spline_filter1d")(input, order, axis, output, mode)
    if order < 0 or order > 5:
        raise RuntimeError("spline order not supported")
    x, dtype = image("spline_filter1d", input, output)
    if order < 2:
        return cast(x, dtype)
    return cast(SplineFilter(normalized_axis(axis, len(shape_of(x))), order, mode, False).bind(x), dtype)


def spline_filter(
    input: ArrayLike, order: int = 3, output: object = np.float64, mode: str = "mirror"
) -> Array:
    """The coefficients of a spline over all axes.

    >>> fg.grad(lambda x: fg.scipy.ndimage.spline_filter(x)[1, 1])(np.ones((3, 3))).shape
    (3, 3)
    """
    if not is_traced(input):
        return scipys("spline_filter")(input, order, output, mode)
    if order < 2 or order > 5:
        raise RuntimeError("spline order not supported")
    x, dtype = image("spline_filter", input, output)
    return cast(coefficients(x, order, mode), dtype)


# -- coordinates -------------------------------------------------------------------------------------------


def periods(c: ArrayLike, size: int) -> Array:
    """How many whole times a number that is not negative contains a size."""
    return fnp.trunc(stop_gradient(c) / size)


def inside(c: ArrayLike, n: int, mode: str) -> Array:
    """Coordinates along an axis of n elements, brought inside as the mode says (SciPy's `map_coordinate`)."""
    below, above = c < 0.0, c > n - 1.0
    low, high = fnp.where(below, c, -1.0), fnp.where(above, c, float(n))
    if mode in ("constant", "grid-constant", "nearest"):
        # In the last it is positions that are brought inside.
        return c
    if n <= 1 and mode != "grid-wrap":
        first, last = 0.0 * low, 0.0 * high
    elif mode == "mirror":
        first, last = mirrored(low, high, n)
    elif mode in ("reflect", "grid-mirror"):
        first, last = reflected(low, high, n)
    else:
        size = n - 1 if mode == "wrap" else n
        first = low + size * (periods(-low, size) + 1.0)
        last = high - size * periods(high, size)
    return fnp.where(below, first, fnp.where(above, last, c))


def mirrored(low: ArrayLike, high: ArrayLike, n: int) -> tuple[Any, Any]:
    """Below and above, mirrored at the end elements."""
    size = 2 * n - 2
    low = low + size * periods(-low, size)
    high = high - size * periods(high, size)
    return fnp.where(low <= 1 - n, low + size, -low), fnp.where(high >= n, size - high, high)


def reflected(low: ArrayLike, high: ArrayLike, n: int) -> tuple[Any, Any]:
    """Below and above, mirrored half an element beyond the end elements."""
    size = 2 * n
    low = fnp.where(low < -size, low + size * periods(-low, size), low)
    first = fnp.where(low < -n, low + size, fnp.where(low > -1e-15, 1e-15, -low) - 1.0)
    high = high - size * periods(high, size)
    return first, fnp.where(high >= n, size - high - 1.0, high)


def positions(start: ArrayLike, n: int, mode: str) -> Array:
    """Whole positions brought inside; those of a constant surrounding are cut to the nearest."""
    if mode in ("constant", "wrap"):
        mode = "mirror"
    if mode == "grid-constant":
        return np.clip(start, 0, n - 1)
    if mode == "nearest" or n <= 1:
        return np.clip(start, 0, n - 1)
    if mode == "mirror":
        turn = abs(start) % (2 * n - 2)
        return fnp.where(turn >= n, 2 * n - 2 - turn, turn)
    if mode == "grid-wrap":
        return start % n
    turn = start % (2 * n)
    return fnp.where(turn >= n, 2 * n - 1 - turn, turn)


# -- bells -------------------------------------------------------------------------------------------------


def bells(y: ArrayLike, order: int) -> list[Any]:
    """The weights of the neighbours of a point, by its distance from the first inner one."""
    if order == 0:
        return [1.0 + 0.0 * y]
    if order == 1:
        return [1.0 - y, y]
    if order == 2:
        middle, last = 0.75 - y * y, 0.5 * (y + 0.5) ** 2
        return [1.0 - middle - last, middle, last]
    if order == 3:
        z = 1.0 - y
        found = [z**3 / 6.0, (y * y * (y - 2.0) * 3.0 + 4.0) / 6.0, (z * z * (z - 2.0) * 3.0 + 4.0) / 6.0]
        return [*found, 1.0 - found[0] - found[1] - found[2]]
    if order == 4:
        return [
            quartic_tail(y - 0.5),
            quartic_side(y + 1.0),
            quartic_middle(y),
            quartic_side(1.0 - y),
            quartic_tail(y + 0.5),
        ]
    return [
        (1.0 - y) ** 5 / 120.0,
        quintic_side(1.0 + y),
        quintic_middle(y),
        quintic_middle(1.0 - y),
        quintic_side(2.0 - y),
        y**5 / 120.0,
    ]


def quartic_tail(t: ArrayLike) -> Array:
    """The bell of order 4 beyond 3/2, by the distance from its end."""
    return t**4 / 24.0


def quartic_middle(t: ArrayLike) -> Array:
    """The bell of order 4 up to 1/2."""
    s = t * t
    return s * s / 4.0 - 5.0 * s / 8.0 + 115.0 / 192.0


def quartic_side(t: ArrayLike) -> Array:
    """The bell of order 4 from 1/2 to 3/2."""
    return (((-4.0 * t + 20.0) * t - 30.0) * t + 5.0) * t / 24.0 + 55.0 / 96.0


def quintic_middle(t: ArrayLike) -> Array:
    """The bell of order 5 up to 1."""
    s = t * t
    return 11.0 / 20.0 + s * (-0.5 + s * (0.25 - t / 12.0))


def quintic_side(t: ArrayLike) -> Array:
    """The bell of order 5 from 1 to 2."""
    return 17.0 / 40.0 + t * (5.0 / 8.0 + t * (-7.0 / 4.0 + t * (5.0 / 4.0 + t * (-3.0 / 8.0 + t / 24.0))))


# -- values ------------------------------------------------------------------------------------------------


class AlongAxis:
    """Where points meet one axis: positions, weights, and whether they are within the image."""

    def __init__(self, c: Array, n: int, order: int, mode: str) -> None:
        self.outside = None
        if mode == "constant":
            self.outside = fnp.logical_not(fnp.logical_and(c >= 0.0, c <= n - 1.0))
            c = fnp.where(self.outside, 0.0, c)
        c = inside(c, n, mode)
        nearest = fnp.floor(c if order % 2 else c + 0.5)
        first = nearest.astype(np.int64) - order // 2
        self.weights = bells(c - stop_gradient(nearest), order)
        self.places = []
        self.missing: list[Any] = []
        for k in range(order + 1):
            start = first + k
            self.places.append(positions(start, n, mode))
            if mode == "grid-constant":
                self.missing.append(fnp.logical_or(start < 0, start > n - 1))


def values_at(x: ArrayLike, coordinates: Sequence[Any], order: int, mode: str, cval: Number) -> Array:
    """The values of a spline at points, of coefficients over as many axes as there are coordinates."""
    axes = [AlongAxis(c, n, order, mode) for c, n in zip(coordinates, shape_of(x), strict=True)]

    def summed(axis: int, index: tuple[Any, ...], missing: Array) -> Array:
        if axis == len(axes):
            read = elements(x, index)
            return read if missing is None else fnp.where(missing, cval, read)
        line = axes[axis]
        total: Any = None
        for k, (weight, place) in enumerate(zip(line.weights, line.places, strict=True)):
            gone = line.missing[k] if line.missing else None
            gone = missing if gone is None else gone if missing is None else fnp.logical_or(missing, gone)
            term = weight * summed(axis + 1, (*index, place), gone)
            total = term if total is None else total + term
        return total

    found = summed(0, (), None)
    return outside_is(found, [line.outside for line in axes], cval)


def elements(x: ArrayLike, index: tuple[Any, ...]) -> Array:
    """The elements of an image at positions along each of its axes, of which any may be traced."""
    if is_traced(x) or not is_traced(*index):
        return x[index]
    flat: Any = 0
    for place, n in zip(index, np.shape(x), strict=True):
        flat = flat * n + place
    return fnp.take(np.ravel(x), flat)


def outside_is(found: ArrayLike, outside: Sequence[Any], cval: Number) -> Array:
    """The values, and a constant where an axis was missed."""
    for mask in outside:
        if mask is not None:
            found = fnp.where(mask, cval, found)
    return found


def values_on_grid(x: ArrayLike, coordinates: Sequence[Any], order: int, mode: str, cval: Number) -> Array:
    """The values of a spline on a grid of coordinates for each axis: one axis after the other."""
    ndim = len(shape_of(x))
    if mode == "grid-constant":
        every = np.meshgrid(*[np.arange(shape_of(c)[0]) for c in coordinates], indexing="ij")
        return values_at(x, [c[k] for c, k in zip(coordinates, every, strict=True)], order, mode, cval)
    outside = []
    for axis, c in enumerate(coordinates):
        line = AlongAxis(c, shape_of(x)[axis], order, mode)
        across = tuple([slice(None) if a == axis else None for a in range(ndim)])
        terms = [
            w[across] * fnp.take(x, p, axis=axis) for w, p in zip(line.weights, line.places, strict=True)
        ]
        x = sum(terms[1:], terms[0])
        outside.append(None if line.outside is None else line.outside[across])
    return outside_is(x, outside, cval)
