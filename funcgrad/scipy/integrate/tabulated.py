"""Integrals of tabulated functions, and by fixed nodes: composed of sums, so that nothing has a rule here."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from funcgrad.errors import ShapeError
from funcgrad.numpy.arrays.joining import concatenate
from funcgrad.numpy.elementwise.selection import where
from funcgrad.numpy.reducing.cumulative import cumsum, diff
from funcgrad.ops.arrays.structure import cast
from funcgrad.ops.families import aval as aval_of
from funcgrad.scipy.originals import at_hand, originals_of
from funcgrad.scipy.recorded import FLOAT, as_args, is_plain
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, ExtraArguments

__all__ = ["cumulative_simpson", "cumulative_trapezoid", "fixed_quad", "romb", "simpson", "trapezoid"]

scipys = originals_of("integrate")
"""SciPy's functions and classes by name."""


def along(y: ArrayLike, axis: int) -> Array:
    """An array with the axis in question last."""
    value: Any = asoperand(y)
    value = value if isinstance(value, Tracer) else np.asarray(value)
    if not aval_of(value).shape:
        raise ShapeError("samples to integrate need an axis")
    return np.moveaxis(value, axis, -1)


def spacings(x: ArrayLike, dx: ArrayLike, y: ArrayLike, axis: int) -> Array:
    """The distances between samples along the last axis; `dx` for all of them where there is no `x`."""
    if x is None:
        return dx
    points = asoperand(x)
    points = points if isinstance(points, Tracer) else np.asarray(points)
    return diff(points if aval_of(points).ndim == 1 else along(points, axis), axis=-1)


def positions_along(x: ArrayLike, axis: int) -> int:
    """How many positions there are along the axis."""
    shape = aval_of(asoperand(x)).shape
    return int(shape[0] if len(shape) == 1 else shape[axis])


def increasing(x: ArrayLike, axis: int) -> bool:
    """Whether positions increase; where their values are not at hand it is not asked."""
    known = at_hand(asoperand(x))
    if known is None:
        return True
    points = np.asarray(known)
    return bool(np.all(np.diff(points, axis=axis if points.ndim > 1 else 0) > 0))


def samples_apart(values: Array, x: ArrayLike, dx: ArrayLike, y: ArrayLike, axis: int) -> Array:
    """The distances between samples: in double precision where SciPy makes them so, from `x`."""
    if x is not None:
        places = np.shape(x)
        if places[-1 if len(places) == 1 else axis] != aval_of(values).shape[-1]:
            raise ValueError("If given, length of x along axis must be the same as y.")
        return cast(spacings(x, dx, y, axis), FLOAT)
    seen = aval_of(values)
    return np.ones(seen.shape[-1] - 1, seen.dtype if seen.dtype.kind == "f" else FLOAT) * dx


def trapezoid(y: ArrayLike, x: ArrayLike = None, dx: ArrayLike = 1.0, axis: int = -1) -> Array:
    """The integral of samples by the trapezoidal rule.

    >>> print(fg.grad(fg.scipy.integrate.trapezoid)(np.array([1.0, 2.0, 4.0])))
    [0.5 1.  0.5]
    """
    if is_plain(y, x, dx):
        return scipys("trapezoid")(y, x, dx, axis)
    values = along(y, axis)
    total = (spacings(x, dx, y, axis) * (values[..., 1:] + values[..., :-1]) / 2.0).sum(-1)
    single = aval_of(values).dtype == np.float32  # As SciPy: what `y` has, whatever the distances have.
    return cast(total, np.float32) if single and aval_of(total).dtype == np.float64 else total


def cumulative_trapezoid(
    y: ArrayLike, x: ArrayLike = None, dx: ArrayLike = 1.0, axis: int = -1, initial: ArrayLike = None
) -> Array:
    """The integral up to every sample by the trapezoidal rule; with ``initial=0`` from the first on.

    >>> print(fg.scipy.integrate.cumulative_trapezoid(np.array([1.0, 2.0, 4.0]), initial=0))
    [0.  1.5 4.5]
    """
    if is_plain(y, x, dx, initial):
        return scipys("cumulative_trapezoid")(y, x, dx, axis, initial)
    if initial not in (0, None):
        raise ValueError("`initial` must be `None` or `0`.")
    values = along(y, axis)
    if not aval_of(values).shape[-1]:
        raise ValueError("cumulative_trapezoid needs at least one point along `axis`.")
    steps = spacings(x, dx, y, axis) * (values[..., 1:] + values[..., :-1]) / 2.0
    return np.moveaxis(started(cumsum(steps, axis=-1), initial), -1, axis)


def started(total: Array, initial: ArrayLike) -> Array:
    """The sums with `initial` before them, where it is given."""
    if initial is None:
        return total
    seen = aval_of(total)
    return concatenate(
        [np.broadcast_to(np.asarray(initial, seen.dtype), (*seen.shape[:-1], 1)), total], axis=-1
    )


def simpson(y: ArrayLike, x: ArrayLike = None, *, dx: ArrayLike = 1.0, axis: int = -1) -> Array:
    """The integral of samples by Simpson's rule, also for an even number of them and at any distances.

    For an even number the last interval is Cartwright's (2017), as in SciPy.

    >>> print(fg.grad(fg.scipy.integrate.simpson)(np.array([1.0, 2.0, 4.0])) * 3)
    [1. 4. 1.]
    """
    if is_plain(y, x, dx):
        return scipys("simpson")(y, x, dx=dx, axis=axis)
    values = along(y, axis)
    count = aval_of(values).shape[-1]
    if x is not None and positions_along(x, axis) != count:
        raise ValueError("If given, length of x along axis must be the same as y.")
    h = samples_apart(values, x, dx, y, axis)
    if count < 3:
        return (h * (values[..., 1:] + values[..., :-1]) / 2.0).sum(-1)
    odd = count if count % 2 else count - 1
    total = simpson_odd(values[..., :odd], h[..., : odd - 1])
    if count % 2:
        return total
    return total + last_interval(values[..., -3:], h[..., -2], h[..., -1])


def ratio(a: ArrayLike, b: ArrayLike) -> Array:
    """``a / b``, and 0 where b is 0, as SciPy has it for samples at one place."""
    zero = b == 0.0
    return where(zero, 0.0, a / where(zero, 1.0, b))


def simpson_odd(y: ArrayLike, h: Array) -> Array:
    """Simpson's rule over pairs of intervals."""
    h0, h1 = h[..., 0::2], h[..., 1::2]
    both, product, quotient = h0 + h1, h0 * h1, ratio(h0, h1)
    first, middle, last = y[..., 0:-2:2], y[..., 1:-1:2], y[..., 2::2]
    parts = (
        first * (2.0 - ratio(1.0, quotient))
        + middle * (both * ratio(both, product))
        + last * (2.0 - quotient)
    )
    return (both / 6.0 * parts).sum(-1)


def last_interval(y: ArrayLike, h0: Array, h1: Array) -> Array:
    """The integral over the last of two intervals of the parabola through three samples."""
    alpha = ratio(2.0 * h1**2 + 3.0 * h0 * h1, 6.0 * (h1 + h0))
    beta = ratio(h1**2 + 3.0 * h0 * h1, 6.0 * h0)
    eta = ratio(h1**3, 6.0 * h0 * (h0 + h1))
    return alpha * y[..., -1] + beta * y[..., -2] - eta * y[..., -3]


def cumulative_simpson(
    y: ArrayLike, *, x: ArrayLike = None, dx: ArrayLike = 1.0, axis: int = -1, initial: ArrayLike = None
) -> Array:
    """The integral up to every sample, each interval by the parabola through three samples.

    >>> print(fg.scipy.integrate.cumulative_simpson(np.array([0.0, 1.0, 4.0, 9.0]), initial=0).round(6))
    [0.       0.333333 2.666667 9.      ]
    """
    if is_plain(y, x, dx, initial):
        return scipys("cumulative_simpson")(y, x=x, dx=dx, axis=axis, initial=initial)
    values = along(y, axis)
    count = aval_of(values).shape[-1]
    if not count:
        raise ValueError("At least one point is required along `axis`.")
    if x is not None and not increasing(x, axis):
        raise ValueError("Input x must be strictly increasing.")
    first = None if initial is None else one_along("initial", initial, y, axis)
    if count < 3:
        total = np.moveaxis(cumulative_trapezoid(y, x, dx, axis), axis, -1)
    else:
        h = one_along("dx", dx, y, axis) if x is None else spacings(x, dx, y, axis)
        total = cumsum(parabolas(values, h, x is None), axis=-1)
    if first is not None:
        first = cast(first, np.result_type(aval_of(first).dtype, aval_of(total).dtype))
        total = concatenate([first, total + first], axis=-1)
    return np.moveaxis(total, -1, axis)


def one_along(name: str, given: ArrayLike, y: ArrayLike, axis: int) -> Array:
    """A number, or one for every line of samples, as an array with one element along its last axis."""
    x, seen = asoperand(given), aval_of(asoperand(y))
    at = axis % seen.ndim
    wanted = (*seen.shape[:at], 1, *seen.shape[at + 1 :])
    if np.shape(x) not in ((), wanted):
        raise ValueError(
            f"If provided, `{name}` must either be a scalar or have the same shape as `y` but with only 1 "
            "point along `axis`."
        )
    return np.moveaxis(np.broadcast_to(x if isinstance(x, Tracer) else np.asarray(x, float), wanted), at, -1)


def parabolas(y: ArrayLike, h: ArrayLike, even: bool) -> Array:
    """The integrals over all intervals, each under a parabola that goes through a third sample."""
    if even:
        forwards, backwards = first_of_even(y, h), first_of_even(y[..., ::-1], h)
    else:
        forwards, backwards = first_intervals(y, h), first_intervals(y[..., ::-1], h[..., ::-1])
    backwards = backwards[..., ::-1]
    full = concatenate([forwards, backwards[..., -1:]], axis=-1)
    other = concatenate([forwards[..., :1], backwards], axis=-1)
    return where(np.arange(aval_of(y).shape[-1] - 1) % 2 == 0, full, other)


def first_of_even(y: ArrayLike, h: ArrayLike) -> Array:
    """The integral over the first of every two intervals of one length."""
    return h / 3.0 * (1.25 * y[..., :-2] + 2.0 * y[..., 1:-1] - 0.25 * y[..., 2:])


def first_intervals(y: ArrayLike, h: Array) -> Array:
    """The integral over the first of every two intervals of the parabola through three samples."""
    h0, h1 = h[..., :-1], h[..., 1:]
    both = h0 + h1
    a = 3.0 - h0 / both
    b = 3.0 + h0**2 / (h1 * both) + h0 / both
    c = -(h0**2) / (h1 * both)
    return h0 / 6.0 * (a * y[..., :-2] + b * y[..., 1:-1] + c * y[..., 2:])


def romb(y: ArrayLike, dx: ArrayLike = 1.0, axis: int = -1, show: bool = False) -> Array:
    """The integral of ``2**k + 1`` samples by Romberg's rule.

    >>> print(fg.scipy.integrate.romb(np.arange(5.0) ** 3))
    64.0
    """
    if is_plain(y, dx):
        return scipys("romb")(y, dx, axis, show)
    values = along(y, axis)
    values = values if aval_of(values).dtype.kind == "c" else cast(values, FLOAT)
    intervals = aval_of(values).shape[-1] - 1
    levels = intervals.bit_length() - 1
    if intervals < 1 or 2**levels != intervals:
        raise ValueError("Number of samples must be one plus a non-negative power of 2.")
    rows = [
        (values[..., :: 2**k].sum(-1) - (values[..., 0] + values[..., -1]) / 2.0) * (dx * 2**k)
        for k in range(levels, -1, -1)
    ]
    for order in range(1, levels + 1):
        rows = [fine + (fine - coarse) / (4.0**order - 1.0) for coarse, fine in pairwise(rows)]
    return rows[0]


def fixed_quad(
    func: Callable[..., Any], a: ArrayLike, b: ArrayLike, args: ExtraArguments = (), n: int = 5
) -> Array:
    """The integral of a function of arrays by Gauss' rule with `n` nodes; returns it and None.

    >>> def area(s):
    ...     return fg.scipy.integrate.fixed_quad(lambda x: np.exp(-s * x), 0.0, 1.0, n=8)[0]
    >>> print(round(fg.grad(area)(0.0), 6))
    -0.5
    """
    if is_plain(a, b, args):
        return scipys("fixed_quad")(func, a, b, as_args(args), n)
    if any(not isinstance(end, Tracer) and np.isinf(end) for end in (a, b)):
        raise ValueError("Gaussian quadrature is only available for finite limits.")
    nodes, weights = np.polynomial.legendre.leggauss(n)
    half = (b - a) / 2.0
    values = func(half * (nodes + 1.0) + a, *as_args(args))
    return half * (weights * values).sum(-1), None
