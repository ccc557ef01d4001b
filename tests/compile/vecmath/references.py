"""What the vector mathematics is compared with: functions of many digits, and the arguments to try."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from mpmath import mp, mpf

Range = tuple[float, float]
Array = np.ndarray[Any, Any]

type_of = {"float64": np.float64, "float32": np.float32}


@dataclass(frozen=True)
class Case:
    """A function of one number, the ranges to draw arguments from, and the error allowed.

    Errors are in units of the last place of the exact result, but never of one smaller than ``floor``: near a
    zero of the function that is no zero of a factor no formula has small relative errors.
    """

    reference: Callable[..., Any]
    double: tuple[Range, ...]
    single: tuple[Range, ...]
    ulps: float = 2.0
    floor: float = 0.0

    def ranges(self, dtype: str) -> tuple[Range, ...]:
        """The ranges for one format."""
        return self.double if dtype == "float64" else self.single


def both(reference: Callable[..., Any], *ranges: Range, ulps: float = 2.0, floor: float = 0.0) -> Case:
    """A function for which the same ranges serve both formats."""
    return Case(reference, ranges, ranges, ulps, floor)


def cube_root(x: Any) -> Any:
    """The real cube root."""
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


def logistic(x: Any) -> Any:
    """The logistic function."""
    return 1 / (1 + mpmath.exp(-x))


def log_expit(x: Any) -> Any:
    """Its logarithm."""
    return -mpmath.log1p(mpmath.exp(-x))


def logit(x: Any) -> Any:
    """The inverse of the logistic function."""
    return mpmath.log(x / (1 - x))


def growing_erfc(x: Any) -> Any:
    """``exp(x**2) erfc(x)``."""
    return mpmath.exp(x * x) * mpmath.erfc(x)


def normal_distribution(x: Any) -> Any:
    """The standard normal distribution's function."""
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def log_ndtr(x: Any) -> Any:
    """Its logarithm."""
    return mpmath.log(normal_distribution(x)) if x < 0 else mpmath.log1p(-normal_distribution(-x))


def log_gamma(x: Any) -> Any:
    """The logarithm of the size of the gamma function."""
    return mpmath.re(mpmath.loggamma(x))


def power(x: Any, y: Any) -> Any:
    """A power of a positive number."""
    return x**y


def length(x: Any, y: Any) -> Any:
    """The length of a vector."""
    return mpmath.sqrt(x * x + y * y)


def logaddexp(x: Any, y: Any) -> Any:
    """The logarithm of a sum of exponentials."""
    return max(x, y) + mpmath.log1p(mpmath.exp(-abs(x - y)))


def logaddexp2(x: Any, y: Any) -> Any:
    """The same to base 2."""
    return max(x, y) + mpmath.log1p(mpmath.power(2, -abs(x - y))) / mpmath.log(2)


def exp2(x: Any) -> Any:
    """Two to a power."""
    return mpmath.power(2, x)


def log2(x: Any) -> Any:
    """The logarithm to base 2."""
    return mpmath.log(x) / mpmath.log(2)


ALL, ALL_SINGLE = (5e-324, 1.7e308), (1.5e-45, 3.4e38)
UNIT, FEW = (-1.0, 1.0), (-10.0, 10.0)
POSITIVE = ((ALL, (0.5, 2.0), (0.95, 1.05)), (ALL_SINGLE, (0.5, 2.0), (0.95, 1.05)))
ANGLES = ((UNIT, FEW, (-1e4, 1e4), (-2e9, 2e9), (1e3, 1e300)), (UNIT, FEW, (-3e4, 3e4), (1e3, 3e38)))
GROWING = ((UNIT, (-4.0, 4.0), (-711.0, 711.0)), (UNIT, (-4.0, 4.0), (-90.0, 90.0)))
GAMMA = (
    ((1e-300, 8.0), (2.0, 1e300), (-20.5, -0.1)),
    ((1e-30, 8.0), (2.0, 1e30), (-8.5, -0.1)),
)

CASES: dict[str, Case] = {
    "exp": Case(mpmath.exp, (UNIT, (-746.0, 709.8)), (UNIT, (-104.0, 88.7))),
    "exp2": Case(exp2, (UNIT, (-1076.0, 1024.0)), (UNIT, (-150.0, 128.0))),
    "expm1": Case(mpmath.expm1, (UNIT, (-40.0, 709.8)), (UNIT, (-20.0, 88.7))),
    "log": Case(mpmath.log, *POSITIVE),
    "log2": Case(log2, *POSITIVE),
    "log10": Case(mpmath.log10, *POSITIVE),
    "log1p": Case(mpmath.log1p, ((-0.9999, 2.0), ALL), ((-0.9999, 2.0), ALL_SINGLE)),
    "sin": Case(mpmath.sin, *ANGLES),
    "cos": Case(mpmath.cos, *ANGLES),
    "tan": Case(mpmath.tan, *ANGLES),
    "sinh": Case(mpmath.sinh, *GROWING),
    "cosh": Case(mpmath.cosh, *GROWING),
    "tanh": both(mpmath.tanh, UNIT, (-20.0, 20.0)),
    "arcsin": both(mpmath.asin, UNIT, (0.45, 0.55), (0.99, 1.0)),
    "arccos": both(mpmath.acos, UNIT, (0.45, 0.55), (0.99, 1.0)),
    "arctan": both(mpmath.atan, UNIT, FEW, (1.0, 1e30)),
    "arcsinh": both(mpmath.asinh, UNIT, FEW, (1.0, 1e30)),
    "arccosh": both(mpmath.acosh, (1.0, 1.1), (1.0, 10.0), (1.0, 1e30)),
    "arctanh": both(mpmath.atanh, UNIT, (0.9, 0.99999)),
    "cbrt": Case(cube_root, *POSITIVE),
    "logistic": Case(logistic, (FEW, (-745.0, 40.0)), (FEW, (-103.0, 20.0))),
    "log_expit": Case(log_expit, (FEW, (-1000.0, 744.0)), (FEW, (-1000.0, 103.0))),
    "logit": both(logit, (0.001, 0.999), (0.45, 0.55), (1e-30, 0.1)),
    "erfcx": Case(growing_erfc, (UNIT, (-26.0, 30.0), (1.0, 1e6)), (UNIT, (-9.0, 30.0), (1.0, 1e6))),
    "erfinv": both(mpmath.erfinv, UNIT, (0.9, 0.999), (-1e-3, 1e-3), ulps=3.0),
    "erf": both(mpmath.erf, UNIT, (-6.5, 6.5)),
    "erfc": Case(mpmath.erfc, (UNIT, (-6.0, 27.0)), (UNIT, (-4.0, 10.0))),
    "ndtr": Case(normal_distribution, (UNIT, (-38.0, 9.0)), (UNIT, (-14.0, 6.0))),
    "log_ndtr": Case(log_ndtr, (UNIT, (-1e3, 37.0)), (UNIT, (-1e3, 13.0))),
    "gammaln": Case(log_gamma, *GAMMA, ulps=6.0, floor=2.0),
    "digamma": Case(mpmath.digamma, *GAMMA, ulps=6.0, floor=2.0),
}

PAIRS: dict[str, tuple[Callable[..., Any], float]] = {
    "pow": (power, 0.0),
    "hypot": (length, 0.0),
    "arctan2": (mpmath.atan2, 0.0),
    "logaddexp": (logaddexp, 1.0),
    "logaddexp2": (logaddexp2, 1.0),
}


def drawn(rng: np.random.Generator, interval: Range, count: int, dtype: str) -> Array:
    """Numbers from an interval: half of them even in the numbers, half even in their exponents."""
    low, high = interval
    even = rng.uniform(low, high, count - count // 2)
    top = max(abs(low), abs(high))
    bottom = low if low > 0 else max(float(np.finfo(type_of[dtype]).tiny), top * 1e-20)
    spread = np.exp(rng.uniform(math.log(bottom), math.log(top), count // 2))
    if low < 0:
        spread = np.clip(np.where(rng.random(count // 2) < 0.5, -spread, spread), low, high)
    return np.concatenate([even, spread]).astype(type_of[dtype])


def drawn_pairs(rng: np.random.Generator, name: str, count: int, dtype: str) -> tuple[Array, Array]:
    """Pairs of numbers for a function of two."""
    wide, kind = (700.0 if dtype == "float64" else 85.0), type_of[dtype]
    if name == "pow":
        exponents = np.concatenate([rng.uniform(-wide, wide, count // 2), rng.normal(0, 0.3, count // 2)])
        base = np.exp(exponents).astype(kind)
        return base, (rng.uniform(-wide, wide, base.size) / np.log(base.astype(float))).astype(kind)
    if name.startswith("log"):
        return drawn(rng, (-wide, wide), count, dtype), drawn(rng, (-wide, wide), count, dtype)
    size = np.exp(rng.uniform(-wide / 2, wide / 2, count))
    angle = rng.uniform(-np.pi, np.pi, count)
    ratio = np.exp(rng.uniform(-20, 20, count))
    return (size * np.sin(angle)).astype(kind), (size * ratio * np.cos(angle)).astype(kind)


def error_in_ulps(got: float, exact: Any, dtype: str, floor: float = 0.0) -> float:
    """The distance between a result and the exact number, in units of the last place."""
    info = np.finfo(type_of[dtype])
    if math.isnan(got):
        return math.inf
    if math.isinf(got):
        return 0.0 if exact * mpmath.sign(got) > float(info.max) else math.inf
    if exact == 0:
        return 0.0 if got == 0 else math.inf
    exponent = max(int(mpmath.mag(max(abs(exact), floor))) - 1, int(info.minexp)) - int(info.nmant)
    return float(abs(mpf(got) - exact) / mpmath.ldexp(1, exponent))


def worst(name: str, arguments: tuple[Array, ...], results: Array) -> tuple[float, Any]:
    """The largest error of a function's results, and where it is."""
    mp.prec = 150
    rows = zip(*[a.tolist() for a in arguments], results.tolist(), strict=True)
    return max(errors_of(name, rows, results.dtype.name), key=first)


def errors_of(name: str, rows: Iterator[Any], dtype: str) -> Iterator[tuple[float, Any]]:
    """The error of each result."""
    reference, floor = PAIRS[name] if name in PAIRS else (CASES[name].reference, CASES[name].floor)
    for *point, got in rows:
        yield error_in_ulps(got, reference(*map(mpf, point)), dtype, floor), (*point, got)


def first(pair: tuple[float, Any]) -> float:
    """The error."""
    return pair[0]
