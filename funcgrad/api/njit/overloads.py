"""Functions that mean something else in Numba's code than in Python: those with an overload.

``numba.extending.overload`` says what Numba compiles instead of a function of Python, by the types of the
arguments. The function itself is often empty, or does for Python what the overload does for Numba.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import modules
from types import FunctionType
from typing import Any

import numpy as np

from funcgrad.api.calling.arguments import here
from funcgrad.api.njit.numbers import of_items
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.source import is_library_code
from funcgrad.tracing.tracer import Tracer

Overload = Callable[..., Any]
"""A function of types that gives the function to compile, or None."""


def overloads_of(function: object) -> list[Overload]:
    """The overloads of a user's function, the last one first; none of one that is compiled as it is.

    >>> overloads_of(len)
    []
    """
    templates = modules.get("numba.core.typing.templates")
    if templates is None or type(function) is not FunctionType or is_library_code(function.__code__):
        return []
    found = [
        template._overload_func
        for value, kind in templates.builtin_registry.globals
        if value is function
        for template in getattr(kind, "templates", ())
        if hasattr(template, "_overload_func")
    ]
    return [] if any(is_itself(overload) for overload in found) else found[::-1]


def is_itself(overload: Overload) -> bool:
    """Whether it is what ``register_jitable`` makes, by which Numba compiles the function as it stands."""
    return overload.__qualname__.startswith("register_jitable.")


def replacement(
    function: FunctionType, overloads: Sequence[Overload], args: Sequence[Any], kwargs: dict[str, Any]
) -> FunctionType:
    """The function that Numba compiles for these arguments."""
    typeof = modules["numba"].typeof
    types = [typeof(example(x)) for x in args]
    named = {key: typeof(example(x)) for key, x in kwargs.items()}
    for overload in overloads:
        found = overload(*types, **named)
        if type(found) is FunctionType:
            return found
    raise UnsupportedFunctionError(
        f"{function.__name__} has an overload of Numba's, which gives no function for these arguments",
        source=here(),
        remedy="Call the function that it is to stand for; or declare the function around it with "
        "fg.custom_vjp, with its derivative.",
    )


def example(x: object) -> object:
    """A value of the type that Numba sees."""
    if type(x) is Tracer:
        shape = (0,) * len(x.shape)
        return np.empty(shape, x.dtype) if shape else x.dtype.type(0)
    return of_items(x, example) if isinstance(x, tuple) else x
