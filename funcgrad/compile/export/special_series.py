"""Derivatives of special functions, and broken lines, as functions of Python that modules copy.

They are written for Numba and run without it; `library` says the rules. The formulas are those of the rows in
`funcgrad.ops.specials`, element by element.
"""
# mypy: disable-error-code="no-untyped-def, no-untyped-call, name-defined"
# ruff: noqa: F821 - what begins with special_ is defined in the modules

import math

import numpy as np


def erfcx_derivative(x, order):
    """A derivative of ``exp(x*x) erfc(x)``: by a continued fraction from 2 on, by its recursion below."""
    found = special_erfcx(x)
    if x > 2.0:
        ratio, product = 0.0, 1.0
        for k in range(80 + order, 0, -1):
            ratio = (0.5 * k) / (x + ratio)
            if k <= order:
                product = product * ratio
        return (-2.0) ** order * found * product
    if x == -np.inf:
        return (-1.0) ** order * np.inf
    last, found = found, 2.0 * x * found - 1.1283791670955126
    for k in range(1, order):
        last, found = found, 2.0 * x * found + 2.0 * k * last
    return found


def dawsn_derivative(x, order):
    """A derivative of Dawson's function: far from 0 by its asymptotic series (DLMF 7.12.1)."""
    if abs(x) > 7.0:
        total, inverse = 0.0, 1.0 / (x * x)
        for k in range(21, -1, -1):
            term = 0.5
            for j in range(k):
                term *= (2 * j + 1) / 2.0
            for j in range(2 * k + 1, 2 * k + 1 + order):
                term *= j
            total = total * inverse + term
        return (-1.0) ** order * total / x ** (order + 1)
    last = special_dawsn(x)
    found = 1.0 - 2.0 * x * last
    for k in range(1, order):
        last, found = found, -2.0 * x * found - 2.0 * k * last
    return found


def exprel_derivative(x, order):
    """The integral of ``s**order exp(x s)`` for s from 0 to 1."""
    if np.isnan(x):
        return x
    if x < -1.0:
        return special_gammainc(order + 1.0, -x) * math.gamma(order + 1.0) / (-x) ** (order + 1)
    if x > order + 2.0:
        if x == np.inf:
            return np.inf
        share = -math.expm1(-x) / x
        for k in range(1, order + 1):
            share = (1.0 - k * share) / x
        return np.exp(x) * share
    total, factorial = 0.0, 1.0
    for k in range(30 + 4 * order):
        total += factorial / (k + order + 1)
        factorial *= x / (k + 1)
    return total


def zeta_term(order, decay, series):
    """The coefficient of an order in the product of two power series."""
    total = 0.0
    for i in range(order + 1):
        total += decay[i] * series[order - i]
    return total


def zeta_derivative(x, q, order):
    """A derivative by x of ``zeta(x, q)``: Euler's and Maclaurin's formula (DLMF 25.11.7), term by term."""
    if not ((q > 0.0) & ((x > 1.0) | (q == 1.0))):
        return np.nan
    ratios = np.array([
        0.08333333333333333, -0.001388888888888889, 3.306878306878307e-05, -8.267195767195768e-07,
        2.08767569878681e-08, -5.284190138687493e-10, 1.3382536530684679e-11, -3.3896802963225827e-13,
        8.586062056277845e-15, -2.174868698558062e-16, 5.5090028283602295e-18, -1.3954464685812522e-19,
    ])  # fmt: skip
    found = 0.0
    for k in range(14):
        found += (-np.log(q + k)) ** order * (q + k) ** -x
    end = q + 14.0
    decay, pole, rising = np.zeros(order + 1), np.zeros(order + 1), np.zeros(order + 1)
    for k in range(order + 1):
        decay[k] = end**-x * (-np.log(end)) ** k / math.gamma(k + 1.0)
        pole[k] = (-1.0) ** k / (x - 1.0) ** (k + 1)
    rising[0] = 1.0
    total = 0.5 * decay[order] + end * zeta_term(order, decay, pole)
    for j in range(1, 13):
        for shift in range(max(2 * j - 3, 0), 2 * j - 1):
            for k in range(order, -1, -1):
                rising[k] = (x + shift) * rising[k] + (rising[k - 1] if k > 0 else 0.0)
        total += ratios[j - 1] * end ** (1.0 - 2.0 * j) * zeta_term(order, decay, rising)
    return found + math.gamma(order + 1.0) * total


def hurwitz_zeta(x, q):
    """The sum of ``(q + k)**-x`` over k from 0 on, where SciPy has it."""
    if x == 1.0:
        return np.inf
    if not x > 1.0:
        return np.nan
    if q <= 0.0 and q == np.floor(q):
        return np.inf
    if q <= 0.0 and x != np.floor(x):
        return np.nan
    total = 0.0
    while q <= 0.0:
        total, q = total + q**-x, q + 1.0
    return total + zeta_derivative(x, q, 0)


def elliptic_part(part, m, power, order):
    """An integral from 0 on of a derivative by m of ``(1 - m sin(t)**2)**power``, but for its factor.

    By Gauss's rule in quarters.
    """
    nodes = np.array([0.1834346424956498, 0.525532409916329, 0.7966664774136267, 0.9602898564975363])
    weights = np.array([0.362683783378362, 0.31370664587788727, 0.22238103445337448, 0.10122853629037626])
    total = 0.0
    for piece in range(4):
        for k in range(4):
            for side in (-1.0, 1.0):
                square = math.sin(part * (piece + 0.5 + 0.5 * side * nodes[k]) / 4.0) ** 2
                value = square**order * (1.0 - m * square) ** (power - order)
                total += weights[k] * value
    return total * part / 8.0


def elliptic_by_parameter(phi, m, power, order):
    """A derivative by m of the integral of ``(1 - m sin(t)**2)**power`` from 0 to phi, for small m."""
    factor = 1.0
    for k in range(order):
        factor *= k - power
    periods = np.rint(phi / math.pi)
    rest = elliptic_part(phi - periods * math.pi, m, power, order)
    return factor * (rest + 2.0 * periods * elliptic_part(math.pi / 2.0, m, power, order))


# -- broken lines --------------------------------------------------------------------------------------------


def slope_of_piece(points, heights, piece, count):
    """The slope of a broken line on a piece: 0 before the first point, after the last, and where two meet."""
    if piece <= 0 or piece >= count:
        return 0.0 * heights[0]
    run = points[piece] - points[piece - 1]
    return 0.0 * heights[0] if run == 0.0 else (heights[piece] - heights[piece - 1]) / run


def heights_on_line(positions, pieces, points, heights, out, size, count):
    """The heights of a broken line at positions of which the pieces are known; level at both ends."""
    for i in range(size):
        piece = pieces[i]
        start = max(piece - 1, 0)
        at = min(max(positions[i], points[0]), points[count - 1])
        if np.isnan(positions[i]):
            at = positions[i]
        out[i] = heights[start] + slope_of_piece(points, heights, piece, count) * (at - points[start])


def spread_on_line(values, positions, pieces, points, out, size, count):
    """For each point the sum of the values beside it, each shared between its two points."""
    for k in range(count):
        out[k] = 0.0
    for i in range(size):
        piece = pieces[i]
        if piece <= 0 or piece >= count:
            out[min(max(piece, 0), count - 1)] += values[i]
            continue
        run = points[piece] - points[piece - 1]
        share = 0.0 if run == 0.0 else (positions[i] - points[piece - 1]) / run
        out[piece] += values[i] * share
        out[piece - 1] += values[i] * (1.0 - share)
