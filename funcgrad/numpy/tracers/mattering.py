"""Which functions may have to be called otherwise while a trace is open, without knowing what is called.

What is called stands in `made_inside`, and when in `instead`.
"""

from __future__ import annotations

import sys
from functools import lru_cache, partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from funcgrad.config import WHEN_PACKAGES_CHANGE
from funcgrad.numpy.dispatch import FUNCTIONS, deferred, implementation_of
from funcgrad.numpy.tracers.draws import is_draw
from funcgrad.numpy.tracers.floating_errors import RAISING, decorated
from funcgrad.source import installed_package

_MAKERS: tuple[Any, ...] = (
    *(np.zeros, np.ones, np.empty, np.full, np.eye, np.identity, np.arange, np.linspace, np.logspace),
    *(np.geomspace, np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.tri, np.vander, np.diag),
    *(np.diagflat, np.tile, np.repeat, np.indices, np.fromfunction, np.hanning, np.hamming, np.bartlett),
    *(np.blackman, np.kaiser, np.tril, np.triu, np.loadtxt, np.genfromtxt, np.fromstring, np.frombuffer),
    np.ndarray,
)
CONSTRUCTORS = frozenset(_MAKERS)
"""Functions whose results are arrays of their own."""

CONVERTED = frozenset(
    [
        *(np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray),
        *(np.asarray_chkfinite, np.require, np.copy, np.fromiter, np.lib.stride_tricks.as_strided),
    ]
)
"""Functions that make or see an array of something."""

WHOLE = frozenset([np.bool_, *(np.dtype(code).type for code in "bBhHiIlLqQ")])
"""Types of whole numbers and truth values, which keep no derivative."""

ASKED = frozenset([np.isscalar, np.nditer, np.broadcast, np.from_dlpack, *RAISING, *WHOLE])
"""Functions that ask what something is, or what is to be done about errors."""


def matters(function: object) -> bool:
    """Whether something else may be called instead of a function of a package's, or of Python's own."""
    try:
        if any(function in known for known in (CONVERTED, CONSTRUCTORS, ASKED)):
            return True
    except TypeError:  # it has no hash, so it is none of them
        return False
    if decorated(function) or (type(function) is MethodType and is_draw(function)):
        return True
    if isinstance(function, np.ufunc) or is_numpys(function):
        return function not in OF_SEVERAL and (
            implementation_of(function) is not None
            or function in FUNCTIONS
            or (isinstance(function, np.ufunc) and deferred(function) is not None)
        )
    module = str(getattr(function, "__module__", None) or type(function).__module__)
    package = module.partition(".")[0]
    return package not in _OURS and (is_installed(package) or is_compiled(function))


_OURS = frozenset({"builtins", "funcgrad", "numpy", ""})


@lru_cache(maxsize=1024)
def is_installed(package: str) -> bool:
    """Whether a package is an installed one: none of the user's, none taken in, and none of Python's own."""
    return bool(installed_package(getattr(sys.modules.get(package), "__file__", None) or ""))


def is_compiled(function: object) -> bool:
    """Whether a function is no Python's: it takes arrays of NumPy's, of a package that is taken in, too."""
    kind = type(function)
    return not issubclass(kind, type) and kind not in _PYTHON and not hasattr(kind.__call__, "__code__")


_PYTHON = (FunctionType, MethodType, partial)

WHEN_PACKAGES_CHANGE.append(is_installed.cache_clear)


def is_numpys(function: object) -> bool:
    """Whether it is one of the functions that NumPy lets arrays of other kinds answer."""
    return type(function).__name__ == "_ArrayFunctionDispatcher"


OF_SEVERAL = frozenset(
    [
        *(np.block, np.broadcast_arrays, np.choose, np.column_stack, np.concatenate, np.dstack, np.einsum),
        *(np.histogramdd, np.hstack, np.ix_, np.lexsort, np.linalg.multi_dot, np.piecewise, np.select),
        *(np.stack, np.vstack),
    ]
)
"""Functions of lists of arrays, in which NumPy itself finds traced ones."""
