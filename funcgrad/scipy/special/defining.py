"""How a special function becomes public: under the calling convention of ufuncs, with SciPy's promotion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from funcgrad.later import Later
from funcgrad.numpy.elementwise.ufuncs import elementwise, loop_dtypes
from funcgrad.ops.arrays.lazy import LazyUfunc
from funcgrad.ops.arrays.structure import aval
from funcgrad.ops.arrays.structure import cast as cast_to
from funcgrad.types import Array

# What the most common special functions do without: its import is that of every other.
table = Later("funcgrad.ops.specials.table")

F = TypeVar("F", bound=Callable[..., Any])

FULL_PRECISION = frozenset({np.dtype(np.float32), np.dtype(np.float64)})
"""Dtypes that every function here keeps; what the others become is asked of SciPy."""


def scipys(name: str, nin: int = 1) -> LazyUfunc:
    """SciPy's ufunc of that name."""
    return LazyUfunc("scipy.special", name, nin)


def tabled(described: F) -> F:
    """Make the described function of the table public, and answer SciPy's ufunc of its name with it."""
    name = described.__name__
    return elementwise(table.TABLE[name].ufunc, table.Special(name))(described)


def composed(name: str, nin: int = 1) -> Callable[[F], F]:
    """Make the decorated function stand in for SciPy's ufunc of that name, with SciPy's promotion."""
    ufunc = scipys(name, nin)

    def public(body: F) -> F:
        @wraps(body)
        def promoted(*operands: Array) -> Array:
            return body(*in_loop_dtypes(ufunc, operands))

        return cast(F, elementwise(ufunc)(promoted))

    return public


def in_loop_dtypes(ufunc: LazyUfunc, operands: Sequence[Any]) -> list[Any]:
    """The operands in the dtypes of SciPy's loop for them."""
    dtypes = {aval(x).dtype for x in operands}
    if len(dtypes) == 1 and dtypes <= FULL_PRECISION:
        return list(operands)
    return [cast_to(x, dtype) for x, dtype in zip(operands, loop_dtypes(ufunc, *operands), strict=False)]
