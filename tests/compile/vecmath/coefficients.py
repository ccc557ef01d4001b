"""Derives the polynomials of `funcgrad.compile.vecmath`: run as a script it prints
`coefficients.json`.

A polynomial is the minimax approximation found by Remez's second algorithm (E. Ya. Remez, 1934; see N.
Brisebarre and S. Chevillard, "Efficient polynomial L-infinity approximations", 2007) in fifty digits, its
coefficients then rounded. What is approximated is always the *tail* of a function after its leading terms,
which are exact, so that rounding the coefficients costs nothing that counts.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from mpmath import mp, mpf

DIGITS = 60


@dataclass(frozen=True)
class Fit:
    """A function on an interval, and the degrees that suffice for double and single precision."""

    function: Callable[[Any], Any]
    low: Any
    high: Any
    degrees: tuple[int, int]
    weight: Callable[[Any], Any] = lambda x: mpf(1)


def minimax(fit: Fit, degree: int, rounds: int = 6) -> list[Any]:
    """The coefficients of the polynomial of least weighted error, the constant one first."""
    low, high = mpf(fit.low), mpf(fit.high)
    samples = [mid(low, high, -mpmath.cos(mpmath.pi * (i + mpf(1) / 2) / 400)) for i in range(400)]
    values = [fit.function(x) for x in samples]
    weights = [fit.weight(x) for x in samples]
    points = [round((i + 0.5) * 400 / (degree + 2) - 0.5) for i in range(degree + 2)]
    for _ in range(rounds):
        rows = [
            [scaled_power(samples[p], low, high, j) for j in range(degree + 1)] + [(-1) ** i / weights[p]]
            for i, p in enumerate(points)
        ]
        solution = mpmath.lu_solve(mpmath.matrix(rows), mpmath.matrix([values[p] for p in points]))
        inner = list(solution)[: degree + 1]
        errors = [
            (v - polynomial_at(inner, centred(x, low, high))) * w
            for x, v, w in zip(samples, values, weights, strict=True)
        ]
        points = alternation(errors, degree + 2)
    return expanded(inner, low, high)


def polynomial_at(coefficients: Sequence[Any], x: Any) -> Any:
    """A polynomial by Horner's rule; the constant term comes first."""
    total = mpmath.mpf(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def mid(low: Any, high: Any, t: Any) -> Any:
    """The point of an interval at ``t`` of [-1, 1]."""
    return (low + high) / 2 + t * (high - low) / 2


def centred(x: Any, low: Any, high: Any) -> Any:
    """Where a point of an interval lies in [-1, 1]."""
    return (2 * x - low - high) / (high - low)


def scaled_power(x: Any, low: Any, high: Any, j: int) -> Any:
    """A basis function, on [-1, 1] for the sake of the linear system's condition."""
    return centred(x, low, high) ** j


def alternation(errors: list[Any], count: int) -> list[int]:
    """The indices of ``count`` extremes of alternating sign."""
    extremes: list[int] = []
    for i, error in enumerate(errors):
        if extremes and (errors[extremes[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[extremes[-1]]):
                extremes[-1] = i
        else:
            extremes.append(i)
    while len(extremes) > count:
        ends = (0, len(extremes) - 1)
        extremes.pop(min(ends, key=lambda e: abs(errors[extremes[e]])))
    if len(extremes) < count:
        raise ValueError(f"{len(extremes)} extremes of the error, not {count}: use a lower degree")
    return extremes


def expanded(inner: list[Any], low: Any, high: Any) -> list[Any]:
    """The coefficients in powers of x of a polynomial in powers of its centred argument."""
    scale, shift = 2 / (high - low), -(low + high) / (high - low)
    total = [mpf(0)]
    for coefficient in reversed(inner):
        shifted, raised = [shift * t for t in total] + [mpf(0)], [mpf(0)] + [scale * t for t in total]
        total = [a + b for a, b in zip(shifted, raised, strict=True)]
        total[0] += coefficient
    return total[: len(inner)]


def exponential_tail(r: Any) -> Any:
    """The rest of ``exp(r)`` after ``1 + r``, over ``r**2``."""
    return (mpmath.exp(r) - 1 - r) / r**2


def logarithm_tail(z: Any) -> Any:
    """The rest of ``log((1 + s) / (1 - s)) / s`` after 2, over ``z = s**2``."""
    s = mpmath.sqrt(z)
    return (2 * mpmath.atanh(s) / s - 2) / z


def logarithm_tail_of_tail(z: Any) -> Any:
    """The rest of `logarithm_tail` after 2/3, over ``z``."""
    return (logarithm_tail(z) - mpf(2) / 3) / z


def sine_tail(z: Any) -> Any:
    """The rest of ``sin(x) / x`` after 1, over ``z = x**2``."""
    x = mpmath.sqrt(z)
    return (mpmath.sin(x) / x - 1) / z


def cosine_tail(z: Any) -> Any:
    """The rest of ``cos(x)`` after ``1 - z / 2``, over ``z**2``."""
    return (mpmath.cos(mpmath.sqrt(z)) - 1 + z / 2) / z**2


def hyperbolic_tangent_tail(z: Any) -> Any:
    """The rest of ``tanh(x) / x`` after 1, over ``z = x**2``."""
    x = mpmath.sqrt(z)
    return (mpmath.tanh(x) / x - 1) / z


def power_of_two_tail(r: Any) -> Any:
    """The rest of ``2**r`` after 1, over ``r``."""
    return (mpmath.power(2, r) - 1) / r


def hyperbolic_sine_tail(z: Any) -> Any:
    """The rest of ``sinh(x) / x`` after 1, over ``z = x**2``."""
    x = mpmath.sqrt(z)
    return (mpmath.sinh(x) / x - 1) / z


def hyperbolic_cosine_tail(z: Any) -> Any:
    """The rest of ``cosh(x)`` after 1, over ``z = x**2``."""
    return (mpmath.cosh(mpmath.sqrt(z)) - 1) / z


def arcsine_tail(z: Any) -> Any:
    """The rest of ``arcsin(x) / x`` after 1, over ``z = x**2``."""
    x = mpmath.sqrt(z)
    return (mpmath.asin(x) / x - 1) / z


def arctangent_tail(z: Any) -> Any:
    """The rest of ``arctan(x) / x`` after 1, over ``z = x**2``."""
    x = mpmath.sqrt(z)
    return (mpmath.atan(x) / x - 1) / z


def inverse_cube_root(m: Any) -> Any:
    """``m ** (-1 / 3)``."""
    return 1 / mpmath.cbrt(m)


def scaled_erfc(t: Any) -> Any:
    """``(1 + 2 y) exp(y**2) erfc(y)`` where ``t = (y - 4) / (y + 4)``: all positive numbers in [-1, 1]."""
    y = 4 * (1 + t) / (1 - t)
    return (1 + 2 * y) * growing_erfc(y)


def scaled_mills(t: Any) -> Any:
    """``(1 + 5/4 y) exp(y**2 / 2) ndtr(-y)`` where ``t = (y - 4) / (y + 4)``."""
    y = 4 * (1 + t) / (1 - t)
    return (1 + 5 * y / 4) * growing_erfc(y / mpmath.sqrt(2)) / 2


def normal_distribution_quotient(z: Any) -> Any:
    """``(ndtr(x) - 1/2) / x`` at ``z = x**2``."""
    x = mpmath.sqrt(z)
    return mpmath.erf(x / mpmath.sqrt(2)) / (2 * x)


def growing_erfc(y: Any) -> Any:
    """``exp(y**2) erfc(y)``."""
    if y < 200:
        return mpmath.exp(y * y) * mpmath.erfc(y)
    return mpmath.re(mpmath.hyperu(mpf(1) / 2, mpf(1) / 2, y * y)) / mpmath.sqrt(mpmath.pi)


def error_function_tail(z: Any) -> Any:
    """The rest of ``erf(x) / x`` after 1, at ``z = x**2``."""
    x = mpmath.sqrt(z)
    return mpmath.erf(x) / x - 1


def error_function_rest(u: Any) -> Any:
    """``exp(y**2) erfc(y)`` at ``u = 1 / (y + 2)``."""
    return growing_erfc(1 / u - 2)


def weight_of_rest(u: Any) -> Any:
    """What an error of `error_function_rest` is in the error function."""
    y = 1 / u - 2
    return mpmath.exp(-y * y) / mpmath.erf(y)


def log_gamma_quotient(u: Any) -> Any:
    """``log(gamma(y))`` over ``(y - 1) (y - 2)``, which vanishes with it, at ``y = 3/2 + u``."""
    return mpmath.loggamma(mpf(3) / 2 + u) / ((u + mpf(1) / 2) * (u - mpf(1) / 2))


def digamma_quotient(u: Any) -> Any:
    """The digamma function over the distance from its root, at ``2 + u``."""
    return mpmath.digamma(2 + u) / (2 + u - digamma_root())


def digamma_root() -> Any:
    """Where the digamma function vanishes."""
    return mpmath.findroot(mpmath.digamma, mpf("1.4616321449683623"))


def stirling_tail(w: Any) -> Any:
    """The rest of Stirling's approximation of log(gamma(x)) times x, at ``w = 1 / x**2``."""
    x = 1 / mpmath.sqrt(w)
    main = (x - mpf(1) / 2) * mpmath.log(x) - x + mpmath.log(2 * mpmath.pi) / 2
    return (mpmath.loggamma(x) - main) * x


def digamma_tail(w: Any) -> Any:
    """The rest of ``digamma(x) = log(x) - 1 / (2 x)`` times ``x**2``, at ``w = 1 / x**2``."""
    x = 1 / mpmath.sqrt(w)
    return (mpmath.digamma(x) - mpmath.log(x) + 1 / (2 * x)) * x * x


def inverse_error_quotient(w: Any) -> Any:
    """``erfinv(x) / x`` at ``w = -log(1 - x**2)``."""
    x = mpmath.sqrt(-mpmath.expm1(-w))
    return mpmath.erfinv(x) / x


def central_quotient(u: Any) -> Any:
    """The same at ``w = 25/8 + u``."""
    return inverse_error_quotient(u + mpf("3.125"))


def outer_quotient(u: Any) -> Any:
    """The same at ``w = (4.35 + u)**2``."""
    return inverse_error_quotient((u + mpf("4.35")) ** 2)


def single_outer_quotient(u: Any) -> Any:
    """The same at ``w = (3.25 + u)**2``, where numbers of single precision are."""
    return inverse_error_quotient((u + mpf("3.25")) ** 2)


FITS = {
    "ERFINV": Fit(central_quotient, "-3.12499999", "3.1251", (24, 11)),
    "ERFINV_OUTER": Fit(outer_quotient, "-1.86", "1.75", (29, 13)),
    "ERFINV_OUTER_SINGLE": Fit(single_outer_quotient, "-0.76", "0.8", (13, 8)),
    "ERFCX": Fit(scaled_erfc, "-0.778", "0.99999", (22, 11)),
    "MILLS": Fit(scaled_mills, "-0.74", "0.99999", (23, 11)),
    "NDTR": Fit(normal_distribution_quotient, "1e-30", "0.361", (8, 4)),
    "ERF": Fit(error_function_tail, "1e-30", "0.82", (11, 6)),
    "ERF_REST": Fit(error_function_rest, "0.125", "0.345", (13, 5), weight_of_rest),
    "LOG_GAMMA": Fit(log_gamma_quotient, "-0.75001", "0.75", (28, 12)),
    "STIRLING": Fit(stirling_tail, "1e-20", "0.015626", (8, 3)),
    "DIGAMMA": Fit(digamma_quotient, "-1.00001", "1", (30, 13)),
    "DIGAMMA_TAIL": Fit(digamma_tail, "1e-20", "0.02778", (9, 3)),
    "EXP2": Fit(power_of_two_tail, "-0.501", "0.5", (10, 5)),
    "SINH": Fit(hyperbolic_sine_tail, "1e-30", "0.1205", (4, 2)),
    "COSH": Fit(hyperbolic_cosine_tail, "1e-30", "0.1205", (5, 2)),
    "ARCSIN": Fit(arcsine_tail, "1e-30", "0.2501", (11, 4)),
    "ARCTAN": Fit(arctangent_tail, "1e-30", "0.172", (11, 4)),
    "CBRT": Fit(inverse_cube_root, "0.707", "1.4143", (7, 3)),
    "EXP": Fit(exponential_tail, "-0.347", "0.347", (9, 4)),
    "LOG": Fit(logarithm_tail, "1e-30", "0.02945", (6, 2)),
    "LOG_PRECISE": Fit(logarithm_tail_of_tail, "1e-20", "0.02945", (7, 3)),
    "SIN": Fit(sine_tail, "1e-30", "0.622", (5, 2)),
    "COS": Fit(cosine_tail, "1e-30", "0.622", (5, 2)),
    "TANH": Fit(hyperbolic_tangent_tail, "1e-30", "0.303", (10, 4)),
}

PARTS = {
    "LN2": (lambda: mpmath.log(2), 3),
    "HALF_PI": (lambda: mpmath.pi / 2, 4),
    "LOG2E": (lambda: 1 / mpmath.log(2), 2),
    "LOG10E": (lambda: 1 / mpmath.log(10), 2),
    "LOG10_2": (lambda: mpmath.log(2) / mpmath.log(10), 2),
    "DIGAMMA_ROOT": (digamma_root, 2),
    "HALF_LOG_2PI": (lambda: mpmath.log(2 * mpmath.pi) / 2, 2),
    "TWO_THIRDS": (lambda: mpf(2) / 3, 2),
}


def split(value: Any, count: int, kind: Any) -> list[float]:
    """A number as a sum of numbers of one format, each nearest to what the earlier ones leave."""
    parts = []
    for _ in range(count):
        parts.append(nearest(value, kind))
        value -= mpf(parts[-1])
    return parts


def nearest(value: Any, kind: Any) -> float:
    """The number of a format nearest to a number of many digits."""
    return float(kind(float(value)))


def rows(name: str, numbers: dict[str, list[float]]) -> str:
    """One table as text: a line for each format, every number by the digits that give it back."""
    lines = [f'  "{format}": {json.dumps(values)}' for format, values in numbers.items()]
    return f'"{name}": {{\n' + ",\n".join(lines) + "\n}"


def fitted(fit: Fit) -> dict[str, list[float]]:
    """The polynomials of a function for both formats."""
    mp.dps = DIGITS
    kinds = {"f64": np.float64, "f32": np.float32}
    return {
        name: [nearest(c, kind) for c in minimax(fit, degree)]
        for (name, kind), degree in zip(kinds.items(), fit.degrees, strict=True)
    }


def constants(name: str) -> dict[str, list[float]]:
    """A constant in parts for both formats."""
    mp.dps = DIGITS
    value, count = PARTS[name]
    return {"f64": split(value(), count, np.float64), "f32": split(value(), count, np.float32)}


def text() -> str:
    """The text of the file of coefficients."""
    tables = [rows(name, constants(name)) for name in PARTS]
    tables += [rows(name, fitted(fit)) for name, fit in FITS.items()]
    return "{\n" + ",\n".join(tables) + "\n}\n"


if __name__ == "__main__":
    sys.stdout.write(text())
