"""Where BLAS and LAPACK are in this process: addresses of their routines, without a library of our own.

NumPy's extension modules are linked to a BLAS, and the dynamic linker finds its symbols through them; only
where that fails is SciPy's asked, which takes longer to import. Matrices of CBLAS may lie by rows (its
order 101); those of LAPACK lie by columns.
"""

from __future__ import annotations

import ctypes
import glob
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from funcgrad.compile.runtime.addresses.address import Address
from funcgrad.later import Later

linalg = Later("scipy.linalg")

_SPELLINGS = (
    ("scipy_cblas_{}64_", "i64"),
    ("cblas_{}64_", "i64"),
    ("cblas_{}_64", "i64"),
    ("cblas_{}$NEWLAPACK$ILP64", "i64"),
    ("scipy_cblas_{}", "i32"),
    ("cblas_{}$NEWLAPACK", "i32"),
    ("cblas_{}", "i32"),
)
"""How builds of NumPy name a routine of CBLAS, and the type of its integers."""

_LAPACK_SPELLINGS = (
    ("scipy_{}_64_", "i64"),
    ("{}_64_", "i64"),
    ("{}64_", "i64"),
    ("{}$NEWLAPACK$ILP64", "i64"),
    ("scipy_{}_", "i32"),
    ("{}$NEWLAPACK", "i32"),
    ("{}_", "i32"),
)
_THREAD_SPELLINGS = (
    ("scipy_openblas_{}_num_threads64_", "i32"),
    ("openblas_{}_num_threads64_", "i32"),
    ("scipy_openblas_{}_num_threads", "i32"),
    ("openblas_{}_num_threads", "i32"),
)


class Routine(NamedTuple):
    """A routine: where it is, and the type of its integers."""

    address: Address
    integer: str


@cache
def routine(name: str) -> Routine | None:
    """A routine of CBLAS by its plain name, such as ``dgemm``; None where there is none.

    >>> routine("no_such_routine") is None
    True
    """
    return _found("blas", name, _SPELLINGS)


@cache
def lapack_routine(name: str) -> Routine | None:
    """A routine of LAPACK by its plain name, such as ``dpotrf``; None where there is none.

    All its arguments are pointers. Pointers to 64-bit integers serve narrower ones too, on machines that
    store the low byte first; integers that it writes are of the type that the result names.
    """
    return _found("lapack", name, _LAPACK_SPELLINGS)


@cache
def integer_type() -> str:
    """The type of the integers of this process's BLAS, which compiled calls depend on."""
    found = routine("dgemm")
    return "" if found is None else found.integer


def blas_threads() -> int | None:
    """The number of threads that BLAS uses, where it is an OpenBLAS."""
    functions = _thread_functions()
    return None if functions is None else int(functions[0]())


def set_blas_threads(count: int) -> None:
    """Let BLAS use so many threads, where it is an OpenBLAS."""
    functions = _thread_functions()
    if functions is not None:
        functions[1](count)


@cache
def _thread_functions() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """What says and what sets the number of threads."""
    addresses = thread_routines()
    if addresses is None:
        return None
    get, put = addresses
    return ctypes.CFUNCTYPE(ctypes.c_int)(get), ctypes.CFUNCTYPE(None, ctypes.c_int)(put)


@cache
def thread_routines() -> tuple[Address, Address] | None:
    """The addresses of the functions that say and set the number of threads, where it is an OpenBLAS."""
    get, put = thread_routine("get"), thread_routine("set")
    return None if get is None or put is None else (get.address, put.address)


def thread_routine(word: str) -> Routine | None:
    """What gets or sets (the word) the number of threads, where it is an OpenBLAS."""
    return _found("threads", word, _THREAD_SPELLINGS)


def _found(kind: str, name: str, spellings: tuple[tuple[str, str], ...]) -> Routine | None:
    for library in _libraries():
        for spelling, integer in spellings:
            try:
                function = getattr(library, spelling.format(name))
            except AttributeError:
                continue
            place = ctypes.cast(function, ctypes.c_void_p).value or 0
            return Routine(Address(place, kind, name), integer)
    return None


def _libraries() -> Iterator[Any]:
    """Libraries to ask, in order; SciPy's only when the others do not know."""
    yield from _numpy_libraries()
    yield from _scipy_libraries()


@cache
def _numpy_libraries() -> tuple[ctypes.CDLL, ...]:
    names = ("numpy._core._multiarray_umath", "numpy.linalg._umath_linalg")
    # Where NumPy has them by other names, SciPy is asked.
    paths = [str(sys.modules[name].__file__) for name in names if name in sys.modules]
    if sys.platform == "win32":  # where a library does not lead to those that it needs
        root = os.path.dirname(np.__file__)
        paths += glob.glob(os.path.join(f"{root}.libs", "*openblas*"))
    return _opened(paths)


@cache
def _scipy_libraries() -> tuple[ctypes.CDLL, ...]:
    return _opened([linalg._fblas.__file__, linalg._flapack.__file__])


def _opened(paths: list[str]) -> tuple[ctypes.CDLL, ...]:
    found = []
    for path in paths:
        try:
            found.append(ctypes.CDLL(path))
        except OSError:
            continue
    return tuple(found)
