"""Smoothing splines, and how smooth generalized cross-validation has them be."""

from __future__ import annotations

import math

import numpy as np

from funcgrad.api.derivatives.differentiate import jvp
from funcgrad.scipy.interpolate.bsplines import BSpline, make_interp_spline, of_scipy
from funcgrad.scipy.interpolate.operands import beside, dims, inexact, is_traced, require_increasing, scipys
from funcgrad.scipy.linalg.banded import cholesky_banded, solve_banded
from funcgrad.scipy.optimize.minima import minimize_scalar
from funcgrad.scipy.originals import known_value
from funcgrad.types import Array, ArrayLike


def make_smoothing_spline(
    x: ArrayLike, y: ArrayLike, w: ArrayLike = None, lam: ArrayLike = None, *, axis: int = 0
) -> BSpline:
    """The natural cubic spline that balances distance and curvature, by SciPy's function of this name.

    Without `lam` the one that generalized cross-validation prefers (Wahba 1990), for each column of `y`; its
    derivative is that of the minimum. Computed as by Reinsch (1967).

    >>> x = np.arange(7.0)
    >>> def start(y):
    ...     return fg.scipy.interpolate.make_smoothing_spline(x, y, lam=0.1)(0.0)
    >>> print(round(float(fg.grad(start)(np.sin(x)).sum()), 6))
    1.0
    """
    if not is_traced(x, y, w, lam):
        options = {} if not axis else {"axis": axis}
        return of_scipy(scipys("make_smoothing_spline")(x, y, w, lam, **options))
    x, y = inexact(x), inexact(y)
    n = dims(x)[0] if len(dims(x)) == 1 else 0
    if len(dims(x)) != 1 or n != dims(y)[axis]:
        raise ValueError(f"x must be a vector as long as y along axis {axis}, not of shape {dims(x)}")
    if n < 5:
        raise ValueError("x and y length must be at least 5")
    require_increasing(x, "`x` should be an ascending array")
    known_weights, known_lam = known_value(w), known_value(lam)
    if known_weights is not None and np.any(np.asarray(known_weights) <= 0.0):
        raise ValueError("Invalid vector of weights: they must be positive")
    if known_lam is not None and known_lam < 0.0:
        raise ValueError("Regularization parameter should be non-negative")
    axis = axis % len(dims(y))
    values, weights = np.moveaxis(y, axis, 0), np.ones(n) if w is None else inexact(w)
    smooth = searched(x, values, weights) if lam is None else smoothed(x, values, weights, lam)
    made = make_interp_spline(x, smooth, 3, None, "natural")
    made.axis = axis
    return made


def searched(x: Array, values: Array, weights: Array) -> Array:
    """`smoothed` by what generalized cross-validation prefers, for each column of the values."""
    columns = values.reshape((dims(x)[0], math.prod(dims(values)[1:])))
    smooth = [
        smoothed(x, column, weights, preferred(x, column, weights))
        for column in (columns[:, j] for j in range(dims(columns)[1]))
    ]
    return np.stack(smooth, axis=1).reshape(dims(values))


def preferred(x: Array, column: Array, weights: Array) -> Array:
    """Where the distance from the values is smallest, over the share of them that the curve does not follow.

    That share is ``lam`` times the derivative of the logarithm of the determinant of the system.
    """
    n = dims(x)[0]

    def logarithm(lam: Array) -> Array:
        factor = cholesky_banded(bands(np.diff(x), weights, lam))
        return 2.0 * np.sum(np.log(factor[-1]))

    def criterion(lam: Array) -> Array:
        off = column - smoothed(x, column, weights, lam)
        free = lam * jvp(logarithm, (lam,), (1.0,))[1]
        return n * np.sum(off**2) / free**2

    found: Array = minimize_scalar(criterion, bounds=(0.0, float(n)), method="bounded").x
    return found


def smoothed(x: Array, values: Array, weights: Array, lam: ArrayLike) -> Array:
    """The values of the natural cubic spline that balances distance and curvature, at its knots `x`."""
    n, h = dims(x)[0], np.diff(x)
    second = np.diff(np.diff(values, axis=0) / beside(h, values), axis=0)
    a, b, c = differences(h)
    far, near, main = bands(h, weights, lam)
    rows = [far, near, main, np.concatenate([near[1:], near[:1]]), np.concatenate([far[2:], far[:2]])]
    size = math.prod(dims(values)[1:])
    bend = solve_banded((2, 2), np.stack(rows), second.reshape((n - 2, size))).reshape(dims(second))
    pad = 0.0 * bend[:1]
    pulled = (
        np.concatenate([beside(a, bend) * bend, pad, pad], axis=0)
        + np.concatenate([pad, beside(b, bend) * bend, pad], axis=0)
        + np.concatenate([pad, pad, beside(c, bend) * bend], axis=0)
    )
    return values - lam * pulled / beside(weights, values)


def differences(h: Array) -> tuple[Array, Array, Array]:
    """How the difference of neighbouring slopes is made of three values."""
    a, c = 1.0 / h[:-1], 1.0 / h[1:]
    return a, -(a + c), c


def bands(h: Array, weights: Array, lam: ArrayLike) -> Array:
    """The upper bands of the symmetric system for the second derivatives, as `cholesky_banded` takes them."""
    a, b, c = differences(h)
    va, vb, vc = (1.0 / weights[s : dims(weights)[0] - 2 + s] for s in range(3))
    main = (h[:-1] + h[1:]) / 3.0 + lam * (a * a * va + b * b * vb + c * c * vc)
    near = h[1:-1] / 6.0 + lam * (b[:-1] * a[1:] * vb[:-1] + c[:-1] * b[1:] * vc[:-1])
    far = lam * (c[:-2] * a[2:] * vc[:-2])
    zero = np.zeros(2)
    return np.stack([np.concatenate([zero, far]), np.concatenate([zero[:1], near]), main])
