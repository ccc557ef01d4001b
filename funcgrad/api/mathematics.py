"""What computes the functions of Python's modules `math` and `cmath` of traced numbers: NumPy's, mostly.

What is done of numbers that are known is the caller's: plain code has Python's own function read them first,
for what it raises. Under `jit` and `vmap` nothing is known, and NaN or inf stands where Python would raise;
but where the user's code waits for the exception, what would raise it is asked as a branch is.
"""

from __future__ import annotations

import cmath
import functools
import math
from collections.abc import Callable, Iterable, Sequence
from sys import _getframe
from typing import Any

import numpy as np

from funcgrad.later import Later
from funcgrad.ops.elementwise.special import erf, erfc, gammaln
from funcgrad.tracing.guarded import is_awaited
from funcgrad.types import ArrayLike, Number, Result

# Half of the special functions, which few programs need.
special = Later("funcgrad.ops.specials.gamma")

Function = Callable[..., Any]


def logarithm(x: Number, base: Number = None) -> Number:
    """``math.log``, of any base."""
    return np.log(x) if base is None else np.log(x) / np.log(base)


def power(x: Number, y: Number) -> Number:
    """``math.pow``, which computes in floating point."""
    return np.power(as_float(x), as_float(y))


def as_float(x: Number) -> Number:
    """A number as a floating-point one."""
    return x * 1.0 if np.result_type(x).kind in "iub" else x


def product(iterable: Iterable[Any], *, start: Number = 1) -> Number:
    """``math.prod``"""
    for x in iterable:
        start = start * x
    return start


def total(iterable: Iterable[Any]) -> Number:
    """``math.fsum``"""
    return np.sum(np.stack([1.0 * x for x in iterable]))


def length(*coordinates: Number) -> Number:
    """``math.hypot``, of any number of coordinates."""
    if len(coordinates) == 2:
        return np.hypot(*coordinates)
    return np.linalg.norm(np.stack([1.0 * x for x in coordinates]))


def distance(p: Iterable[Any], q: Iterable[Any]) -> Number:
    """``math.dist``"""
    return length(*[a - b for a, b in zip(p, q, strict=True)])


def products_added(p: Iterable[Any], q: Iterable[Any]) -> Number:
    """``math.sumprod``"""
    return total([a * b for a, b in zip(p, q, strict=True)])


def gamma(x: Number) -> Number:
    """``math.gamma``"""
    return special.gamma(x)


def whole(function: np.ufunc) -> Function:
    """Rounding as `math` has it: the result is an integer."""

    def rounded(x: Number) -> Number:
        return function(x).astype(np.int64)

    return rounded


def common_divisor(*numbers: Number) -> Number:
    """``math.gcd``, of any number of integers."""
    return functools.reduce(np.gcd, numbers) if len(numbers) > 1 else np.abs(*numbers)


def remainder(x: Number, y: Number) -> Number:
    """``math.remainder``: what is left of `x` beside the nearest multiple of `y`, the even one of two.

    The steps are exact, as in CPython's own.
    """
    sign, size = np.copysign(1.0, x), as_float(y) * np.copysign(1.0, y)
    above = np.fmod(x * sign, size)
    missing = size - above
    even = above - 2.0 * np.fmod(0.5 * (x * sign - above), size)
    return sign * np.where(above < missing, above, np.where(above > missing, -missing, even))


def by_function(module: object, same: str, others: dict[str, Function]) -> dict[Any, Function]:
    """Ours by the function of a module, as far as this Python and this NumPy have it."""
    ours = {name: getattr(np, name) for name in same.split() if hasattr(np, name)} | others
    return {getattr(module, name): function for name, function in ours.items() if hasattr(module, name)}


REAL = by_function(
    math,
    "exp exp2 expm1 log1p log2 log10 sqrt cbrt sin cos tan sinh cosh tanh degrees radians copysign fmod fabs "
    "frexp ldexp modf",
    {
        "acos": np.arccos,
        "acosh": np.arccosh,
        "asin": np.arcsin,
        "asinh": np.arcsinh,
        "atan": np.arctan,
        "atan2": np.arctan2,
        "atanh": np.arctanh,
        "dist": distance,
        "erf": erf,
        "erfc": erfc,
        "fsum": total,
        "gamma": gamma,
        "hypot": length,
        "lgamma": gammaln,
        "log": logarithm,
        "pow": power,
        "prod": product,
        "remainder": remainder,
        "sumprod": products_added,
    },
)
"""Functions with a derivative."""

QUESTIONS = by_function(
    math,
    "isnan isinf isfinite nextafter",
    {"floor": whole(np.floor), "ceil": whole(np.ceil), "trunc": whole(np.trunc), "gcd": common_divisor},
)
"""What plain code has Python's own answer, by the value."""


def of_complex(function: Function) -> Function:
    """A function of complex numbers, which takes real ones as such: the root of -1.0 is no NaN."""

    @functools.wraps(function, assigned=("__name__",), updated=())
    def call(*numbers: Number) -> Result:
        return function(*[as_complex(x) for x in numbers])

    return call


def as_complex(x: Number) -> Number:
    """A number as a complex one; zeros of complex numbers keep their signs."""
    return x if np.result_type(x).kind == "c" else x + 0j


def polar(z: Number) -> tuple[Number, Number]:
    """``cmath.polar``"""
    return np.abs(z), np.angle(z)


def rectangular(r: Number, phi: Number) -> Number:
    """``cmath.rect``"""
    return r * np.cos(phi) + 1j * (r * np.sin(phi))


COMPLEX = by_function(cmath, "isnan isinf isfinite", {"polar": polar, "rect": rectangular}) | {
    theirs: of_complex(ours)
    for theirs, ours in by_function(
        cmath,
        "exp sqrt sin cos tan sinh cosh tanh log10",
        {
            "acos": np.arccos,
            "acosh": np.arccosh,
            "asin": np.arcsin,
            "asinh": np.arcsinh,
            "atan": np.arctan,
            "atanh": np.arctanh,
            "log": logarithm,
            "phase": np.angle,
        },
    ).items()
}
"""Functions of `cmath`."""


POLES = frozenset({"log", "log2", "log10", "log1p", "atanh"})
"""Functions of `math` that are infinite at points where they raise a ValueError."""
TOO_LARGE = frozenset({"exp", "exp2", "expm1", "sinh", "cosh", "pow", "gamma", "lgamma"})
"""Functions that raise an OverflowError, and some a ValueError at poles."""
NO_NUMBER = (
    POLES | TOO_LARGE | {"sqrt", "acos", "asin", "acosh", "fmod", "remainder", "sin", "cos", "tan", "tanh"}
)
"""Functions that raise a ValueError rather than make NaN."""


def raised_as_by_python(function: Function, found: ArrayLike, args: Sequence[ArrayLike]) -> None:
    """Raise what Python's own function would, if the user's code waits for it: values are asked for.

    Of numbers that are none `math` makes no NaN (a ValueError), and of finite ones no infinity (a ValueError
    at a pole, an OverflowError where the result is too large).
    """
    name = function.__name__
    if name not in NO_NUMBER or not is_awaited((ValueError, OverflowError), _getframe(1)):
        return
    if np.isnan(found) and not any(np.isnan(x) for x in args):
        raise ValueError("math domain error")
    if np.isinf(found) and all(np.isfinite(x) for x in args):
        at_a_pole = name in POLES or (name in ("pow", "gamma", "lgamma") and args[0] <= 0.0)
        if at_a_pole and not (name == "pow" and args[0] < 0.0):
            raise ValueError("math domain error")
        raise OverflowError("math range error")
