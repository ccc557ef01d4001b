"""Operands that must be real, in double precision: a complex one is refused, where a cast would halve it."""

from __future__ import annotations

import numpy as np

from funcgrad.errors import DtypeError
from funcgrad.ops.arrays.structure import aval, cast
from funcgrad.source import Source, user_location
from funcgrad.types import Array, ArrayLike

FLOAT = np.dtype(np.float64)


def require_real(x: ArrayLike, what: str) -> None:
    """Raise DtypeError for a complex operand."""
    seen = aval(x)
    if seen.dtype.kind == "c":
        raise DtypeError(
            f"{what} takes real numbers, got {seen}",
            source=Source(*user_location()),
            remedy="Pass x.real and x.imag one after the other, or their parts that are meant.",
        )


def as_doubles(x: ArrayLike, what: str) -> Array:
    """`x` in double precision; raises DtypeError where it is complex.

    >>> print(as_doubles(np.float32(0.5), "cdist").dtype)
    float64
    """
    require_real(x, what)
    return cast(x, FLOAT)
