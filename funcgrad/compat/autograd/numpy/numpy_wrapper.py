"""What packages use to wrap further functions of NumPy's: they trace as they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.compat.autograd.overriding import current
from funcgrad.compat.autograd.primitives import primitive
from funcgrad.compat.autograd.tracer import notrace_primitive
from funcgrad.types import Anything, Array


def wrap_namespace(old: dict[str, Any], new: dict[str, Any]) -> None:
    """Put the functions and constants of a namespace of NumPy's into another one, ours where there are."""
    for name, thing in old.items():
        if not name.startswith("_"):
            new[name] = getattr(fnp, name, thing)


def concatenate_args(axis: int, *args: object) -> Array:
    """The arrays, joined along an axis."""
    return fnp.concatenate(args, axis)


def array_from_args(array_args: tuple[Any, ...], array_kwargs: dict[str, Any], *args: object) -> Array:
    """An array of the given elements."""
    return fnp.array(args, *array_args, **array_kwargs)


def __getattr__(name: str) -> Anything:
    """A function of NumPy's, traced."""
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(fnp, name, None)
    return current(getattr(np, name) if found is None else found)


__all__ = ["array_from_args", "concatenate_args", "notrace_primitive", "primitive", "wrap_namespace"]
