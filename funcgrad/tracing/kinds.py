"""What a traced value is to code that asks for its type: what the plain value would have been."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from funcgrad.tracing.python.inside import INSIDE
from funcgrad.tracing.tracer import Tracer

__all__ = ["KINDS", "is_instance", "plain_type"]

_PYTHONS = {"f": float, "i": int, "c": complex, "b": bool}


def plain_type(x: Any, *more: Any) -> Any:
    """``type``; of a traced value that of the array or number that it stands for."""
    if more:
        return builtins.type(x, *more)
    if INSIDE.is_open(x):
        return np.ndarray
    if type(x) is not Tracer:
        return builtins.type(x)
    if x.aval.shape:
        return np.ndarray
    return _PYTHONS[x.aval.dtype.kind] if x.aval.weak else x.aval.dtype.type


def is_instance(x: Any, kinds: Any) -> bool:
    """``isinstance``, for which a traced number is a number, and a traced array an array."""
    if isinstance(x, kinds):
        return True
    return type(x) is Tracer and issubclass(plain_type(x), kinds)


KINDS: dict[Any, Any] = {builtins.isinstance: is_instance, builtins.type: plain_type}
"""What is called instead in functions that have been rewritten."""
