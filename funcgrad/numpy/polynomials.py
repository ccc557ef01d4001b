"""Polynomials as vectors of coefficients, the highest power first: values, arithmetic, calculus, fits, roots.

Leading zeros decide the length of some results, as in NumPy; where that is so, the values must be known.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from funcgrad.numpy.algebra.convolution import convolve
from funcgrad.numpy.algebra.operands import promoted, traced
from funcgrad.numpy.arrays.ranges import vander
from funcgrad.numpy.arrays.shapes import as_array, atleast_1d
from funcgrad.numpy.dispatch import implements, unsupported
from funcgrad.numpy.picking.sorting import needed_value
from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.arrays.movement import concatenate, take_axis, take_span
from funcgrad.ops.arrays.structure import aval, broadcast, cast, permute, reduce_sum, reshape, shape_of
from funcgrad.ops.elementwise.arithmetic import add, div, mul, neg, sub
from funcgrad.ops.elementwise.elementary import sqrt
from funcgrad.types import Array, ArrayLike, Arrays, Number

_np: Any = np
"""NumPy's own functions, whose overloads know no `Any`."""


def coefficients(p: ArrayLike) -> Array:
    """A polynomial as a vector; of a ``poly1d`` its coefficients."""
    return atleast_1d(p.coeffs if isinstance(p, np.poly1d) else as_array(p))


def untraced(*operands: ArrayLike) -> bool:
    """Whether NumPy alone can answer."""
    return traced(*[x for x in operands if x is not None and not isinstance(x, np.poly1d)]) is None


# -- values -------------------------------------------------------------------------------------------------


@implements(np.polyval)
def polyval(p: ArrayLike, x: ArrayLike) -> Array:
    """The value of a polynomial at `x`, by Horner's rule.

    >>> print(fg.grad(lambda x: fg.numpy.polyval([3.0, 2.0, 1.0], x))(2.0))
    14.0
    """
    if isinstance(x, np.poly1d) or untraced(p, x):
        return np.polyval(p, x)
    factors, at = promoted([coefficients(p), as_array(x)])
    total: Any = mul(at, 0)
    for k in range(shape_of(factors)[0]):
        total = add(mul(total, at), take_axis(factors, 0, k))
    return total


# -- arithmetic ---------------------------------------------------------------------------------------------


@implements(np.polyadd)
def polyadd(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The sum of two polynomials.

    >>> print(fg.numpy.polyadd(np.array([1.0, 2.0]), np.array([9.0, 5.0, 4.0])))
    [9. 6. 6.]
    """
    return np.polyadd(a1, a2) if untraced(a1, a2) else add(*of_one_length(a1, a2))


@implements(np.polysub)
def polysub(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The difference of two polynomials.

    >>> print(fg.numpy.polysub(np.array([2.0, 10.0, -2.0]), np.array([3.0, 10.0, -4.0])))
    [-1.  0.  2.]
    """
    return np.polysub(a1, a2) if untraced(a1, a2) else sub(*of_one_length(a1, a2))


def of_one_length(*polynomials: ArrayLike) -> list[Any]:
    """The coefficients with zeros before those of the shorter polynomial."""
    vectors = promoted([coefficients(p) for p in polynomials])
    longest = max(shape_of(v)[0] for v in vectors)
    return [with_leading_zeros(v, longest - shape_of(v)[0]) for v in vectors]


def with_leading_zeros(v: ArrayLike, count: int) -> Array:
    """`count` zeros and then the vector."""
    return concatenate([np.zeros(count, aval(v).dtype), v], 0) if count else v


@implements(np.polymul)
def polymul(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The product of two polynomials.

    >>> print(fg.numpy.polymul(np.array([1.0, 2.0]), np.array([9.0, 5.0])))
    [ 9. 23. 10.]
    """
    if untraced(a1, a2):
        return np.polymul(a1, a2)
    return convolve(coefficients(a1), coefficients(a2))


@implements(np.polydiv)
def polydiv(u: ArrayLike, v: ArrayLike) -> tuple[Any, Any]:
    """The quotient and the remainder of two polynomials; the remainder without leading zeros.

    >>> quotient, remainder = fg.numpy.polydiv(np.array([3.0, 5.0, 2.0]), np.array([2.0, 1.0]))
    >>> print(quotient, remainder)
    [1.5  1.75] [0.25]
    """
    if untraced(u, v):
        return np.polydiv(u, v)
    rest, divisor = promoted([add(coefficients(u), 0.0), add(coefficients(v), 0.0)])
    m, n = shape_of(rest)[0] - 1, shape_of(divisor)[0] - 1
    scale = div(1.0, take_axis(divisor, 0, 0))
    quotients = []
    for _ in range(m - n + 1):
        # Each step removes the leading power.
        quotient = mul(scale, take_axis(rest, 0, 0))
        quotients.append(reshape(quotient, (1,)))
        size = shape_of(rest)[0]
        head = sub(take_span(rest, 0, 0, n + 1), mul(quotient, divisor))
        rest = concatenate([take_span(head, 0, 1, n), take_span(rest, 0, n + 1, size - n - 1)], 0)
    zero = np.zeros(1, aval(divisor).dtype)
    if not shape_of(rest)[0]:
        rest = zero
    found = needed_value(rest, "np.polydiv")
    first = 0
    while first < len(found) - 1 and np.allclose(found[first], 0, rtol=1e-14):
        first += 1
    remainder = take_span(rest, 0, first, len(found) - first)
    return concatenate(quotients, 0) if quotients else zero, remainder


# -- calculus -----------------------------------------------------------------------------------------------


@implements(np.polyder)
def polyder(p: ArrayLike, m: int = 1) -> Array:
    """The derivative of order `m` of a polynomial.

    >>> print(fg.numpy.polyder(np.array([1.0, 1.0, 1.0, 1.0])))
    [3. 2. 1.]
    """
    if untraced(p):
        return np.polyder(p, m)
    order, v = operator.index(m), coefficients(p)
    if order < 0:
        raise refused("Order of derivative must be positive (see polyint)")
    for _ in range(order):
        degree = shape_of(v)[0] - 1
        v = mul(take_span(v, 0, 0, degree), np.arange(degree, 0, -1)) if degree > 0 else take_span(v, 0, 0, 0)
    return v


@implements(np.polyint)
def polyint(p: ArrayLike, m: int = 1, k: Number = None) -> Array:
    """The antiderivative of order `m` of a polynomial, with the integration constants `k` (zeros by default).

    >>> print(fg.numpy.polyint(np.array([3.0, 2.0, 1.0])))
    [1. 1. 1. 0.]
    """
    if untraced(p, k):
        return np.polyint(p, m, k)
    order = operator.index(m)
    if order < 0:
        raise refused("Order of integral must be positive (see polyder)")
    constants = atleast_1d(as_array(0.0 if k is None else k))
    if shape_of(constants)[0] == 1 and order > 1:
        constants = broadcast(reshape(constants, ()), (order,), ())
    if shape_of(constants)[0] < order:
        raise refused("k must be a scalar or a rank-1 array of length 1 or >m.")
    v = coefficients(p)
    for i in range(order):
        degrees = np.arange(shape_of(v)[0], 0, -1)
        v = concatenate(promoted([div(v, degrees), reshape(take_axis(constants, 0, i), (1,))]), 0)
    return v


# -- roots and fits -----------------------------------------------------------------------------------------


@implements(np.poly)
def poly(seq_of_zeros: ArrayLike) -> Array:
    """The polynomial with the given zeros and leading coefficient 1; of a matrix, its characteristic one.

    >>> print(fg.numpy.poly(np.array([1.0, 2.0])))
    [ 1. -3.  2.]
    """
    if untraced(seq_of_zeros):
        return np.poly(seq_of_zeros)
    zeros = atleast_1d(as_array(seq_of_zeros))
    shape = shape_of(zeros)
    if len(shape) == 2 and shape[0] == shape[1] != 0:
        zeros = _np.linalg.eigvals(zeros)
    elif len(shape) != 1:
        raise refused("input must be 1d or non-empty square 2d array.")
    dtype = np.result_type(aval(zeros).dtype, np.float64)
    product: Any = np.ones(1, dtype)
    for k in range(shape_of(zeros)[0]):
        factor = concatenate([np.ones(1, dtype), cast(neg(reshape(take_axis(zeros, 0, k), (1,))), dtype)], 0)
        product = convolve(product, factor)
    return product


@implements(np.roots)
def roots(p: ArrayLike) -> Array:
    """The roots of a polynomial, complex; how many there are depends on leading zeros, which must be known.

    >>> print(np.sort(fg.numpy.roots(np.array([1.0, -3.0, 2.0]))))
    [1. 2.]
    """
    if untraced(p):
        return np.roots(p)
    v = coefficients(p)
    if len(shape_of(v)) != 1:
        raise refused("Input must be a rank-1 array.")
    nonzero = np.flatnonzero(needed_value(v, "np.roots"))
    if not len(nonzero):
        return np.array([])
    first, last = int(nonzero[0]), int(nonzero[-1])
    zeros_at_origin = shape_of(v)[0] - 1 - last
    v = mul(take_span(v, 0, first, last - first + 1), 1.0)
    n = last - first
    at_origin = np.zeros(zeros_at_origin, np.complex128)
    if not n:
        return at_origin
    head = neg(div(take_span(v, 0, 1, n), take_axis(v, 0, 0)))
    below = np.eye(n - 1, n, dtype=aval(head).dtype)
    found = _np.linalg.eigvals(concatenate([reshape(head, (1, n)), below], 0))
    return concatenate([cast(found, np.complex128), at_origin], 0) if zeros_at_origin else found


@implements(np.polyfit)
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: Number,
    rcond: ArrayLike = None,
    full: bool = False,
    w: ArrayLike = None,
    cov: object = False,
) -> Arrays:
    """The polynomial of degree `deg` that is closest to the points, in the sense of least squares.

    `w` weighs the residuals. With ``cov`` the covariance of the coefficients comes too.

    >>> x = np.array([0.0, 1.0, 2.0, 3.0])
    >>> jacobian = fg.jacobian(lambda y: fg.numpy.polyfit(x, y, 1))(2 * x + 1)
    >>> print(np.round(jacobian[0], 3))  # the slope is linear in y
    [-0.3 -0.1  0.1  0.3]
    """
    if untraced(x, y, w):
        return _np.polyfit(x, y, deg, rcond, full, w, cov)
    if np.ndim(deg) or full:
        raise unsupported("np.polyfit with full=True or a list of degrees")
    order = operator.index(deg) + 1
    at, heights = add(as_array(x), 0.0), add(as_array(y), 0.0)
    check_points(order, at, heights)
    lhs, rhs = vander(at, order), heights
    if w is not None:
        weights = add(as_array(w), 0.0)
        if len(shape_of(weights)) != 1 or shape_of(weights) != shape_of(at):
            raise refused("expected w and y to have the same length")
        lhs = mul(lhs, reshape(weights, (*shape_of(weights), 1)))
        rhs = mul(rhs, reshape(weights, (*shape_of(weights), *[1] * (len(shape_of(rhs)) - 1))))
    # Columns of length one: least squares by singular values need them alike.
    scale = sqrt(reduce_sum(mul(lhs, lhs), (0,)))
    basis = div(lhs, scale)
    cutoff = shape_of(at)[0] * np.finfo(aval(at).dtype).eps if rcond is None else rcond
    inverse = _np.linalg.pinv(basis, cutoff)
    found = div(inverse @ rhs, reshape(scale, (order, *[1] * (len(shape_of(rhs)) - 1))))
    return (found, covariance(lhs, basis, scale, rhs, found, cov)) if cov else found


def check_points(order: int, at: ArrayLike, heights: ArrayLike) -> None:
    """Raise as NumPy does for degrees and points that do not fit."""
    if order < 1:
        raise refused("expected deg >= 0")
    if len(shape_of(at)) != 1 or not shape_of(at)[0]:
        raise refused("expected non-empty vector for x")
    if len(shape_of(heights)) not in (1, 2):
        raise refused("expected 1D or 2D array for y")
    if shape_of(at)[0] != shape_of(heights)[0]:
        raise refused("expected x and y to have same length")


def covariance(
    lhs: ArrayLike, basis: ArrayLike, scale: ArrayLike, rhs: ArrayLike, found: ArrayLike, cov: object
) -> Array:
    """The covariance matrix of the coefficients, one for each column of the data."""
    order = shape_of(scale)[0]
    base = div(_np.linalg.inv(permute(basis, (1, 0)) @ basis), mul(reshape(scale, (order, 1)), scale))
    factor: Any = 1.0
    if isinstance(cov, str) and cov != "unscaled":
        raise refused(f"cov must be a boolean or 'unscaled', got {cov!r}")
    if cov != "unscaled":
        free = shape_of(lhs)[0] - order
        if free <= 0:
            raise refused("the number of data points must exceed order to scale the covariance matrix")
        residuals = sub(rhs, lhs @ found)
        factor = div(reduce_sum(mul(residuals, residuals), (0,)), float(free))
    if len(shape_of(rhs)) == 1:
        return mul(base, factor)
    return mul(reshape(base, (order, order, 1)), factor)
