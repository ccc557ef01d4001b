"""Functions of Python's module `math` where they are given a traced number: NumPy's of the same meaning.

Where the number is known Python's own runs first, for what it raises: ``math.log(-1.0)`` is an error there,
and NaN to NumPy. Under `jit` and `vmap` nothing is known, and NaN or inf stands where Python would raise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad.tracing.constants import is_constant
from funcgrad.tracing.tracer import Tracer

__all__ = ["MATHEMATICS", "of_numbers"]

Function = Callable[..., Any]


def logarithm(x: Any, base: Any = None) -> Any:
    """``math.log``, of any base."""
    return np.log(x) if base is None else np.log(x) / np.log(base)


def product(iterable: Any, *, start: Any = 1) -> Any:
    """``math.prod``"""
    for x in iterable:
        start = start * x
    return start


def total(iterable: Any) -> Any:
    """``math.fsum``"""
    return np.sum(np.stack([1.0 * x for x in iterable]))


def length(*coordinates: Any) -> Any:
    """``math.hypot``, of any number of coordinates."""
    if len(coordinates) == 2:
        return np.hypot(*coordinates)
    return np.linalg.norm(np.stack([1.0 * x for x in coordinates]))


def distance(p: Any, q: Any) -> Any:
    """``math.dist``"""
    return length(*[a - b for a, b in zip(p, q, strict=True)])


def products_added(p: Any, q: Any) -> Any:
    """``math.sumprod``"""
    return total([a * b for a, b in zip(p, q, strict=True)])


def from_library(name: str) -> Function:
    """A function of `funcgrad.scipy.special`, which is imported when one is called."""

    def call(x: Any) -> Any:
        return getattr(import_module("funcgrad.scipy.special"), name)(x)

    return call


_SAME = (
    *("exp", "expm1", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "sinh", "cosh", "tanh"),
    *("degrees", "radians", "copysign", "fmod", "fabs", "exp2"),
)
_OTHERS: dict[str, Function] = {
    "log": logarithm,
    "pow": np.power,
    "acos": np.arccos,
    "asin": np.arcsin,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "acosh": np.arccosh,
    "asinh": np.arcsinh,
    "atanh": np.arctanh,
    "hypot": length,
    "dist": distance,
    "fsum": total,
    "prod": product,
    "sumprod": products_added,
    "erf": from_library("erf"),
    "erfc": from_library("erfc"),
    "gamma": from_library("gamma"),
    "lgamma": from_library("gammaln"),
}
MATHEMATICS: dict[Any, Function] = {
    getattr(math, name): getattr(np, name) for name in _SAME if hasattr(math, name)
} | {getattr(math, name): ours for name, ours in _OTHERS.items() if hasattr(math, name)}
"""Functions of `math`, and what computes them of traced numbers."""


_OF_ITERABLES = frozenset({"dist", "fsum", "prod", "sumprod"})


def of_numbers(function: Function) -> Function:
    """A function of `math`, or NumPy's where something traced is among its arguments."""
    ours = MATHEMATICS[function]

    goes_through = function.__name__ in _OF_ITERABLES

    def call(*args: Any, **kwargs: Any) -> Any:
        if goes_through:
            args = tuple([list(x) if type(x) is Tracer and x.aval.shape else x for x in args])
        flat = [y for x in args for y in (x if isinstance(x, list | tuple) else (x,))]
        traced = [x for x in flat if type(x) is Tracer]
        if not traced:
            return function(*args, **kwargs)
        if any(x.aval.shape for x in traced):
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        if all(x.has_value() for x in traced):
            found = function(*[known(x) for x in args], **kwargs)
            if all(is_constant(x) for x in traced):
                return found
        return ours(*args, **kwargs)

    return call


def known(x: Any) -> Any:
    """The value of a traced number, for what Python's own function says of it; also in lists."""
    if type(x) is Tracer:
        x = x.frozen()
        return np.asarray(x._recorder.value_of(x._index)).item()
    return [known(y) for y in x] if isinstance(x, list | tuple) else x
