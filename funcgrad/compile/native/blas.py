"""Where BLAS is in this process: addresses of its routines, without a library of our own.

NumPy's extension modules are linked to a BLAS, and the dynamic linker finds its symbols through them; only where
that fails is SciPy's asked, which takes longer to import.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import NamedTuple

import numpy as np

from funcgrad.compile.native.external import External, Overload

__all__ = ["Routine", "externals", "integer_type", "routine"]

_SPELLINGS = (
    ("scipy_cblas_{}64_", "i64"),
    ("cblas_{}64_", "i64"),
    ("scipy_cblas_{}", "i32"),
    ("cblas_{}", "i32"),
)
"""How builds of NumPy name a routine of CBLAS, and the type of its integers."""


class Routine(NamedTuple):
    """A routine of BLAS: where it is, and the type of its integers."""

    address: int
    integer: str


@cache
def routine(name: str) -> Routine | None:
    """A routine of CBLAS by its plain name, such as ``dgemm``; None where there is none.

    >>> routine("no_such_routine") is None
    True
    """
    for library in _libraries():
        for spelling, integer in _SPELLINGS:
            try:
                function = getattr(library, spelling.format(name))
            except AttributeError:
                continue
            return Routine(ctypes.cast(function, ctypes.c_void_p).value or 0, integer)
    return None


@cache
def integer_type() -> str:
    """The type of the integers of this process's BLAS, which compiled calls depend on."""
    found = routine("dgemm")
    return "" if found is None else found.integer


@cache
def _libraries() -> tuple[ctypes.CDLL, ...]:
    from numpy._core import _multiarray_umath  # noqa: PLC0415 - private to NumPy, but for its file alone

    found = []
    for module in (_multiarray_umath, np.linalg._umath_linalg):
        try:
            found.append(ctypes.CDLL(module.__file__))
        except OSError:
            continue
    return tuple(found)


_ENUM = "i32"


def _gemm(kind: str, integer: str) -> Overload:
    flags = (_ENUM,) * 3
    sizes = (integer,) * 3
    matrices = (kind, "ptr", integer, "ptr", integer, kind, "ptr", integer)
    return Overload("", ("i64", *flags, *sizes, *matrices), "none")


def _gemv(kind: str, integer: str) -> Overload:
    flags = (_ENUM,) * 2
    sizes = (integer,) * 2
    matrices = (kind, "ptr", integer, "ptr", integer, kind, "ptr", integer)
    return Overload("", ("i64", *flags, *sizes, *matrices), "none")


@cache
def externals() -> dict[str, External]:
    """The calls of BLAS that kernels may make; the first argument is the address."""
    made = {}
    for name, make in (("gemm", _gemm), ("gemv", _gemv)):
        for letter, kind in (("d", "f64"), ("s", "f32")):
            found = routine(letter + name)
            if found is not None:
                made[letter + name] = External(letter + name, (make(kind, found.integer),))
    return made
