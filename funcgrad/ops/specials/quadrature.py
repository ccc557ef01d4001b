"""Derivatives of the incomplete gamma and beta functions by their parameters, by quadrature with NumPy.

Both are distribution functions, integrals of a density p. By the parameters, p is differentiated under the
integral: its derivatives are p times Bell polynomials of those of ``log p``. The integral runs over the side
of the argument where p decays, so nothing cancels, and p is taken relative to its peak, so large parameters
lose no digits. Parameters below 1 are raised by 1 first, by the recurrences DLMF 8.8.5 and 8.17.20, whose
other terms are elementary.

The rule is the trapezoidal one in the logarithm of the distance from the argument, which converges
exponentially and sees all scales (Trefethen and Weideman, 2014). Relative errors are near 1e-13; SciPy
has no such derivatives, and knows the functions themselves to as much.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from funcgrad.ops.elementwise.special import Polygamma, gammaln
from funcgrad.ops.specials.gamma import betaln
from funcgrad.types import Array

Orders = tuple[int, ...]

STEP = 0.16
DISTANCES = np.exp(np.arange(-156, 1) * STEP)
"""Nodes, as shares of the whole distance: from 1e-11 to 1."""
WEIGHTS = STEP * DISTANCES
WEIGHTS[0] += STEP * DISTANCES[0] / math.expm1(STEP)  # the geometric series of all nearer ones
BLOCK = 256
"""Elements at a time, so that the nodes of all of them stay in the cache."""
DECAY = 45.0
"""The integrand is followed until it has fallen by the exponential of this."""


def polygamma(n: int, x: Array) -> Array:
    """The polygamma function of order n, of positive numbers."""
    return Polygamma(n)(x)


def bell(orders: Orders, logarithmic: Callable[[Orders], Any]) -> Array:
    """``f^(orders) / f`` from the derivatives of ``log f``: the Bell polynomial of one or two variables.

    >>> bell((2,), lambda orders: {(1,): 3.0, (2,): 5.0}[orders])
    14.0
    """
    found: dict[Orders, Any] = {}
    for index in np.ndindex(*[n + 1 for n in orders]):
        axis = next((k for k, n in enumerate(index) if n), None)
        if axis is None:
            found[index] = 1.0
            continue
        lower = tuple(n - (k == axis) for k, n in enumerate(index))
        total: Any = 0.0
        for part in np.ndindex(*[n + 1 for n in lower]):
            ways = math.prod(math.comb(n, p) for n, p in zip(lower, part, strict=True))
            raised = tuple(p + (k == axis) for k, p in enumerate(part))
            rest = tuple(n - p for n, p in zip(lower, part, strict=True))
            total = total + ways * found[rest] * logarithmic(raised)
        found[index] = total
    return found[orders]


def stirling_error(a: Array) -> Array:
    """``gammaln(a) - ((a - 1/2) log a - a + log(2 pi) / 2)`` for a from 10 on. DLMF 5.11.1."""
    r = 1.0 / (a * a)
    return (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r * (1 / 1188 - r * 691 / 360360))))) / a


def in_blocks(function: Callable[..., Any], *operands: Array) -> Array:
    """`function` of rows of doubles, some elements at a time, in the operands' common shape."""
    arrays = np.broadcast_arrays(*[np.asarray(x, np.float64) for x in operands])
    flat = [x.reshape(-1) for x in arrays]
    out = np.empty(flat[0].shape[0])
    with np.errstate(all="ignore"):
        for start in range(0, out.size, BLOCK):
            part = slice(start, start + BLOCK)
            out[part] = function(*[x[part] for x in flat])
    return out.reshape(arrays[0].shape)


def as_doubles(function: Callable[..., Array], *operands: Array) -> Array:
    """`function` of doubles, in the dtype that the operands have in common."""
    with np.errstate(all="ignore"):
        found = function(*[np.asarray(x, np.float64) for x in operands])
    return found.astype(dtype_of(*operands))[()]


def dtype_of(*operands: Array) -> np.dtype[Any]:
    """The floating-point dtype that arrays and scalars have in common.

    >>> dtype_of(np.float32(1.0), np.ones(2, np.float32)), dtype_of(1)
    (dtype('float32'), dtype('float64'))
    """
    return np.result_type(*[np.asarray(x) for x in operands], np.float16)


# -- gamma -------------------------------------------------------------------------------------------------


def gamma_peak(a: Array) -> Array:
    """The logarithm of the density of ``log(t / a)`` at its peak, of t with the gamma distribution."""
    large = np.where(a >= 10.0, a, 10.0)
    small = np.where(a >= 10.0, 1.0, a)
    return np.where(
        a >= 10.0,
        0.5 * np.log(large / (2 * np.pi)) - stirling_error(large),
        small * np.log(small) - small - gammaln(small),
    )


def log_ratio(x: Array, a: Array) -> Array:
    """``log(x / a)``, exact where they are close."""
    return np.where(np.abs(x - a) < 0.5 * a, np.log1p((x - a) / a), np.log(x) - np.log(a))


def gammainc_slope(a: Array, x: Array) -> Array:
    """The derivative of ``gammainc(a, x)`` by x, ``x**(a-1) exp(-x) / gamma(a)``.

    >>> print(gammainc_slope(np.array([1.0, 2.0]), np.array([0.0, 1.0])))
    [1.         0.36787944]
    """
    return as_doubles(gamma_density, a, x)


def gamma_density(a: Array, x: Array) -> Array:
    """`gammainc_slope` of doubles."""
    w = log_ratio(x, a)
    found = np.exp(gamma_peak(a) + a * (w - np.expm1(w)) - np.log(x))
    at_zero = np.where(a < 1.0, np.inf, np.where(a == 1.0, 1.0, 0.0))
    found = np.where(x == 0.0, at_zero, np.where(x == np.inf, 0.0, found))
    found = np.where((a == 0.0) & (x > 0.0), 0.0, found)
    return np.where((a >= 0.0) & (x >= 0.0), found, np.nan)


def gammainc_by_a(order: int, a: Array, x: Array) -> Array:
    """The derivative of ``gammainc(a, x)`` by a, `order` times.

    >>> print(gammainc_by_a(1, np.array([2.0]), np.array([1.0])))
    [-0.27619605]
    """
    return in_blocks(partial(gamma_integral, (order,)), a, x).astype(dtype_of(a, x))[()]


def gamma_integral(orders: Orders, a: Array, x: Array) -> Array:
    """`gammainc_by_a` of doubles: to the left of the peak from 0 to x, else minus that from x to infinity."""
    low = (a < 1.0) & ((x < 2.0) | (a < 0.1))  # beyond, the step cancels against the rest
    p = np.where(low, a + 1.0, a)
    left = x < p
    rate = np.where(left, p - x, (x - p) / x)
    reach = np.where(left, DECAY / p + 10.0 / np.sqrt(p), DECAY + 10.0 * np.sqrt(x))
    reach = np.where(rate > 0.0, np.minimum(reach, DECAY / np.where(rate > 0.0, rate, 1.0)), reach)
    p_, x_, left_ = [v[..., None] for v in (p, x, left)]
    shift = reach[..., None] * DISTANCES
    # Over log(x / t) on the left, over t - x on the right.
    w = log_ratio(x, p)[..., None] + np.where(left_, -shift, np.log1p(np.where(left_, 0.0, shift / x_)))
    excess = np.where(
        left_, np.expm1(np.where(left_, w, 0.0)), ((x - p)[..., None] + shift) / p_
    )  # t / p - 1
    density = np.exp(gamma_peak(p)[..., None] + p_ * (w - excess))
    density = density / np.where(left_, 1.0, -(x_ + shift))
    weights = bell(orders, gamma_logarithmic(p_, w + np.log(p)[..., None]))
    found = reach * (density * weights * WEIGHTS).sum(-1)
    found = found + np.where(low, gamma_step(orders, np.where(low, a, 0.5), x), 0.0)
    found = np.where((x == 0.0) & (a > 0.0) | (x == np.inf), 0.0, found)
    return np.where((a >= 0.0) & (x >= 0.0), found, np.nan)


def gamma_step(orders: Orders, a: Array, x: Array) -> Array:
    """The derivative of ``gammainc(a, x) - gammainc(a + 1, x) = x**a exp(-x) / gamma(a + 1)``."""
    log_x = np.log(x)
    step = np.exp(a * log_x - x - gammaln(a + 1.0))
    return step * bell(orders, gamma_logarithmic(a + 1.0, log_x))


def gamma_logarithmic(a: Array, log_t: Array) -> Callable[[Orders], Any]:
    """The derivatives of ``a log(t) - gammaln(a)`` by a."""

    def logarithmic(orders: Orders) -> Array:
        (k,) = orders
        return log_t - polygamma(0, a) if k == 1 else -polygamma(k - 1, a)

    return logarithmic


# -- beta --------------------------------------------------------------------------------------------------


def log_mixture(share: Array, w: Array) -> Array:
    """``log(1 + share * (exp(w) - 1))`` without overflow."""
    large = w > 30.0
    far = np.where(large, w, 30.0)
    tail = np.log(share) + far + np.log1p((1.0 - share) / share * np.exp(-far))
    return np.where(large, tail, np.log1p(share * np.expm1(np.where(large, 0.0, w))))


def beta_peak(a: Array, b: Array) -> Array:
    """``a log(a / (a + b)) + b log(b / (a + b)) - betaln(a, b)``."""
    both = (a >= 10.0) & (b >= 10.0)
    p, q = np.where(both, a, 10.0), np.where(both, b, 10.0)
    errors = stirling_error(p) + stirling_error(q) - stirling_error(p + q)
    large = 0.5 * np.log(p / (2 * np.pi) * (q / (p + q))) - errors
    p, q = np.where(both, 1.0, a), np.where(both, 1.0, b)
    small = p * np.log(p / (p + q)) + q * np.log1p(-p / (p + q)) - betaln(p, q)
    flipped = p * np.log1p(-q / (p + q)) + q * np.log(q / (p + q)) - betaln(p, q)
    return np.where(both, large, np.where(p < q, small, flipped))


def log_odds_ratio(a: Array, b: Array, x: Array, y: Array) -> Array:
    """``log((x / y) / (a / b))`` for ``y = 1 - x``, exact where it is small."""
    ratio = (x * b - y * a) / (a * y)
    return np.where(np.abs(ratio) < 0.5, np.log1p(ratio), np.log(x) - np.log(y) + np.log(b) - np.log(a))


def betainc_slope(a: Array, b: Array, x: Array) -> Array:
    """The derivative of ``betainc(a, b, x)`` by x, ``x**(a-1) (1-x)**(b-1) / beta(a, b)``.

    >>> print(betainc_slope(2.0, 2.0, np.array([0.0, 0.5])))
    [0.  1.5]
    """
    return as_doubles(beta_density, a, b, x)


def beta_density(a: Array, b: Array, x: Array) -> Array:
    """`betainc_slope` of doubles."""
    y = 1.0 - x
    w = log_odds_ratio(a, b, x, y)
    total = a + b
    logs = a * log_mixture(b / total, -w) + b * log_mixture(a / total, w)
    found = np.exp(beta_peak(a, b) - logs - np.log(x) - np.log1p(-x))
    found = np.where(x == 0.0, np.where(a < 1.0, np.inf, np.where(a == 1.0, b, 0.0)), found)
    found = np.where(x == 1.0, np.where(b < 1.0, np.inf, np.where(b == 1.0, a, 0.0)), found)
    inside = (a > 0.0) & (b > 0.0) & (x >= 0.0) & (x <= 1.0)
    return np.where(inside, found, np.nan)


def betainc_by_parameters(orders: Orders, a: Array, b: Array, x: Array) -> Array:
    """The derivative of ``betainc(a, b, x)`` by a and b, `orders` times.

    >>> print(betainc_by_parameters((1, 0), 1.0, 1.0, np.array([0.0, 0.5, 1.0])))
    [ 0.         -0.34657359  0.        ]
    """
    return in_blocks(partial(beta_integral, orders), a, b, x).astype(dtype_of(a, b, x))[()]


def beta_integral(orders: Orders, a: Array, b: Array, x: Array) -> Array:
    """`betainc_by_parameters` of doubles."""
    y = 1.0 - x
    p, q = np.where(a < 1.0, a + 1.0, a), np.where(b < 1.0, b + 1.0, b)
    found = beta_side(orders, p, q, x, y)
    found = found - np.where(b < 1.0, beta_step(orders[::-1], np.where(b < 1.0, b, 0.5), p, y, x), 0.0)
    found = found + np.where(a < 1.0, beta_step(orders, np.where(a < 1.0, a, 0.5), b, x, y), 0.0)
    found = np.where((x == 0.0) | (x == 1.0), 0.0, found)
    inside = (a > 0.0) & (b > 0.0) & (x >= 0.0) & (x <= 1.0)
    return np.where(inside, found, np.nan)


def beta_step(orders: Orders, a: Array, b: Array, x: Array, y: Array) -> Array:
    """The derivative of ``betainc(a, b, x) - betainc(a + 1, b, x) = x**a y**b / (a beta(a, b))``."""
    log_x, log_y = np.log(x), np.log(y)
    step = np.exp(a * log_x + b * log_y - betaln(a, b)) / a
    return step * bell(orders, beta_logarithmic(a + 1.0, b, a + b, log_x, log_y))


def beta_logarithmic(
    a: Array, b: Array, total: Array, log_t: Array, log_rest: Array
) -> Callable[[Orders], Any]:
    """The derivatives of ``a log(t) + b log(1 - t) - log(beta(a, b))`` by a and b; total is their sum."""

    def logarithmic(orders: Orders) -> Array:
        m, n = orders
        found = polygamma(m + n - 1, total)
        if not n:
            found = found - polygamma(m - 1, a)
        if not m:
            found = found - polygamma(n - 1, b)
        return found + (log_t if orders == (1, 0) else log_rest if orders == (0, 1) else 0.0)

    return logarithmic


def beta_side(orders: Orders, a: Array, b: Array, x: Array, y: Array) -> Array:
    """The integral from 0 to x over ``log(x / t)``, or minus that from x to 1, where everything is exchanged.

    For parameters from 1 on, on the side of the peak on which x is; ``y = 1 - x``.
    """
    right: Array = x * b > y * a
    p: Array = np.where(right, b, a)
    q: Array = np.where(right, a, b)
    near: Array = np.where(right, y, x)
    far: Array = np.where(right, x, y)
    slope = p - (q - 1.0) * near / far
    reach = DECAY / p + 10.0 / np.sqrt(p)
    reach = np.where(slope > 0.0, np.minimum(reach, DECAY / np.where(slope > 0.0, slope, 1.0)), reach)
    distance = reach[..., None] * DISTANCES
    mean, rest = p / (p + q), q / (p + q)
    gone = -(near[..., None] * np.expm1(-distance))
    towards = log_ratio(near, mean)[..., None] - distance
    away = log_ratio(far, rest)[..., None] + np.log1p(gone / far[..., None])
    density = np.exp(beta_peak(p, q)[..., None] + p[..., None] * towards + q[..., None] * away)
    towards, away = towards + np.log(mean)[..., None], away + np.log(rest)[..., None]
    swap = right[..., None]
    logs = np.where(swap, away, towards), np.where(swap, towards, away)
    weights = bell(orders, beta_logarithmic(a[..., None], b[..., None], (a + b)[..., None], *logs))
    found = reach * (density / (far[..., None] + gone) * weights * WEIGHTS).sum(-1)
    return np.where(right, -found, found)
