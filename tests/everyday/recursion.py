"""Recursion: adaptive quadrature that divides where it must, and a tree of prices with memory."""

import numpy as np

start = np.array([0.8, 1.7, 0.3])


def adaptive_simpson(f, a, b, fa, fm, fb, whole, tol, depth):
    m = (a + b) / 2
    flm = f((a + m) / 2)
    frm = f((m + b) / 2)
    left = (m - a) / 6 * (fa + 4 * flm + fm)
    right = (b - m) / 6 * (fm + 4 * frm + fb)
    if depth <= 0 or abs(left + right - whole) <= 15 * tol:
        return left + right + (left + right - whole) / 15
    return adaptive_simpson(f, a, m, fa, flm, fm, left, tol / 2, depth - 1) + adaptive_simpson(
        f, m, b, fm, frm, fb, right, tol / 2, depth - 1
    )


def integrate(f, a, b, tol=1e-7):
    fa, fm, fb = f(a), f((a + b) / 2), f(b)
    return adaptive_simpson(f, a, b, fa, fm, fb, (b - a) / 6 * (fa + 4 * fm + fb), tol, 12)


def tree_price(spot, up, steps, strike=1.0, cache=None, level=0, ups=0):
    """An American put on a binomial tree, by recursion with a dictionary as its memory."""
    if cache is None:
        cache = {}
    if (level, ups) in cache:
        return cache[level, ups]
    price = spot * up ** (2 * ups - level)
    exercise = max(strike - price, 0.0)
    if level == steps:
        return exercise
    q = (1 - 1 / up) / (up - 1 / up)
    hold = q * tree_price(spot, up, steps, strike, cache, level + 1, ups + 1)
    hold += (1 - q) * tree_price(spot, up, steps, strike, cache, level + 1, ups)
    cache[level, ups] = max(exercise, hold)
    return cache[level, ups]


def objective(p):
    area = integrate(lambda x: np.exp(-p[0] * x) * np.sin(p[1] * x) ** 2, 0.0, 4.0)
    return area + tree_price(1.0 + 0.1 * p[2], 1.0 + 0.2 * p[2], 8)
