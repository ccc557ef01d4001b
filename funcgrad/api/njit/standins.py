"""What Numba's code calls, and what is called instead where a traced value meets it.

Numba takes functions of `math` and `cmath`, its own types as casts, and its own `prange`. NumPy's functions
are as in any traced function.
"""

from __future__ import annotations

import cmath
import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from funcgrad.api.njit.numbers import widened
from funcgrad.api.python.builtin_functions import total
from funcgrad.api.python.cells import is_undecided
from funcgrad.ir.catalog import CATALOG
from funcgrad.ops.structure import cast as converted
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer

__all__ = ["CASTS", "MATHEMATICS", "cast_to", "enumerated"]

Function = Callable[..., Any]
COMPLEX = np.dtype(np.complex128)


def of_catalog(name: str) -> Function:
    """An operation of the catalog as a function of numbers."""

    def operation(*args: Any) -> Any:
        return CATALOG[name]().bind(*[asoperand(x) for x in args])

    return operation


def whole(function: np.ufunc) -> Function:
    """Rounding as `math` has it: the result is an integer."""

    def rounded(x: Any) -> Any:
        return function(x).astype(np.int64)

    return rounded


def power(x: Any, y: Any) -> Any:
    """``math.pow``, which computes in floating point."""
    return np.power(as_float(x), as_float(y))


def as_float(x: Any) -> Any:
    """A number as a floating-point one."""
    return x * 1.0 if np.result_type(x).kind in "iub" else x


def logarithm(x: Any, *base: Any) -> Any:
    """``math.log``, of any base."""
    return np.log(x) / np.log(base[0]) if base else np.log(x)


def folded(function: np.ufunc) -> Function:
    """A function of any number of numbers; a third argument of NumPy's would be what it writes into."""

    def of_all(*args: Any) -> Any:
        return functools.reduce(function, args) if len(args) > 1 else np.abs(*args)

    return of_all


def distance(p: Any, q: Any) -> Any:
    """``math.dist``"""
    return np.sqrt(total([(a - b) * (a - b) for a, b in zip(p, q, strict=True)]))


_SAME = (
    *("exp", "exp2", "expm1", "log1p", "log2", "log10", "sqrt", "cbrt", "sin", "cos", "tan", "sinh", "cosh"),
    *("tanh", "degrees", "radians", "copysign", "fmod", "ldexp", "isnan", "isinf", "isfinite"),
    "nextafter",
)
_RENAMED = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "fabs": np.abs,
    "gcd": folded(np.gcd),
    "hypot": folded(np.hypot),
    "floor": whole(np.floor),
    "ceil": whole(np.ceil),
    "trunc": whole(np.trunc),
    "pow": power,
    "log": logarithm,
    "dist": distance,
    "erf": of_catalog("erf"),
    "erfc": of_catalog("erfc"),
    "lgamma": of_catalog("gammaln"),
}
_COMPLEX = {
    **{name: getattr(np, name) for name in ("exp", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "log": logarithm,
    "log10": np.log10,
    "phase": np.angle,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
}


def table() -> dict[Any, Any]:
    """Ours by the function of `math` and `cmath`, as far as this Python has it."""
    found: dict[Any, Any] = {}
    for name in _SAME:
        if hasattr(math, name) and hasattr(np, name):
            found[getattr(math, name)] = getattr(np, name)
    for name, ours in _RENAMED.items():
        found[getattr(math, name)] = ours
    for name, ours in _COMPLEX.items():
        found[getattr(cmath, name)] = ours
    return found


def on_traced(theirs: Function, ours: Function) -> Function:
    """Ours where an argument is traced, and theirs otherwise."""

    def either(*args: Any) -> Any:
        return ours(*args) if any(holds_traced(x) for x in args) else theirs(*args)

    return either


def holds_traced(x: Any) -> bool:
    """Whether `x` is traced, or a list or tuple with something traced in it."""
    return type(x) is Tracer or (isinstance(x, list | tuple) and any(holds_traced(y) for y in x))


MATHEMATICS: dict[Any, Function] = {theirs: on_traced(theirs, ours) for theirs, ours in table().items()}
"""What is called instead of a function of `math` or `cmath`."""


def cast_to(dtype: np.dtype[Any], theirs: Function) -> Function:
    """A type called as a function: the number or array in that type."""

    def cast(x: Any = 0, *others: Any) -> Any:
        if type(x) is not Tracer or others:
            return theirs(x, *others)
        return x if x.aval.dtype == dtype and not x.aval.weak else converted(x, dtype)

    return cast


def enumerated(x: Any) -> Iterator[Any]:
    """``np.ndenumerate``, whose elements stay traced."""
    for index in np.ndindex(x.shape):
        yield index, widened(x[index])


def complex_of(x: Any = 0, y: Any = 0) -> Any:
    """``complex``"""
    if not (is_undecided(x) or is_undecided(y)):
        return complex(x, y)
    return converted(x + 1j * y, COMPLEX)


CASTS: dict[Any, Function] = {
    complex: complex_of,
    **{
        kind: cast_to(np.dtype(kind), kind)
        for kind in (
            *(np.float16, np.float32, np.float64, np.complex64, np.complex128, np.bool_),
            *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
        )
    },
}
"""What is called instead of a type."""
