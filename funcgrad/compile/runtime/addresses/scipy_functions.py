"""SciPy's functions of numbers, by address: for kernels whose results must have SciPy's last digits.

``scipy.special.cython_special`` exists so that compiled code can call them: it names each C function with its
type. They touch no Python object. What is found is compared with the ufunc before it is used.
"""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from threading import Lock
from typing import Any

import numpy as np

from funcgrad.compile.differs import say
from funcgrad.compile.runtime.addresses.address import Address
from funcgrad.shared import keep_through_forks
from funcgrad.types import Anything, Array, UfuncLike

FLAG = b", int __pyx_skip_dispatch"
"""An argument of some functions, for Cython's own calls; C ignores it."""

SAMPLES = {
    1: np.concatenate([np.arange(1.0, 200.0), np.geomspace(1.0, 1e15, 301), np.linspace(-9.0, 9.0, 301)]),
    2: np.concatenate([np.geomspace(1e-3, 0.9, 9), np.geomspace(1.5, 60.0, 9)]),
    3: np.concatenate([np.geomspace(1e-2, 0.9, 5), np.geomspace(1.5, 30.0, 4)]),
    4: np.concatenate([np.geomspace(1e-2, 0.9, 3), np.geomspace(1.5, 9.0, 2)]),
}
"""By the number of arguments, the numbers of which all combinations are tried."""


def function_of_number(name: str) -> Address | None:
    """The address of ``double f(double)`` that a ufunc of SciPy's applies; None where none is known.

    >>> function_of_number("no_such_function") is None
    True
    """
    return function_of_numbers(name, 1)


@cache
def function_of_numbers(name: str, count: int) -> Address | None:
    """The same of so many numbers: ``double f(double, double)``."""
    try:
        special: Any = import_module("scipy.special.cython_special")
        ufunc = getattr(import_module("scipy.special._ufuncs"), name)
    except (ImportError, AttributeError):
        return None
    type_of = _of_capsule("PyCapsule_GetName", ctypes.c_char_p, ctypes.py_object)
    doubles = b", ".join([b"double"] * count)
    types = (b"double (" + doubles + b")", b"double (" + doubles + FLAG + b")")
    # A function of several types of numbers has a name for each.
    spellings = [name, *[f"__pyx_fuse_{k}{name}" for k in range(3)]]
    capsules = [special.__pyx_capi__[word] for word in spellings if word in special.__pyx_capi__]
    pointer_of = _of_capsule("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    addresses = [int(pointer_of(c, type_of(c))) for c in capsules if type_of(c) in types]
    addresses = addresses or _of_boost(name, type_of, pointer_of)
    if not addresses:
        return None
    grid = [x.ravel() for x in np.meshgrid(*[SAMPLES[count]] * count, indexing="ij")]
    wanted, warns = tried(ufunc, grid)
    if warns:
        return None  # a function that warns needs the interpreter
    for address in addresses:
        function = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * count)(address)
        found = np.array([function(*at) for at in zip(*grid, strict=True)])
        if np.array_equal(found, wanted, equal_nan=True):
            return Address(address, "scipy", name, str(count))
    say(f"SciPy's {name} at its address is not the ufunc's: it is not called from machine code")
    return None


_TURN = Lock()
keep_through_forks(_TURN)


def tried(ufunc: UfuncLike, operands: Sequence[Array]) -> tuple[Array, bool]:
    """What a ufunc gives, and whether it warns; what other threads warn of meanwhile they still do.

    Who catches warnings changes a module that all share: of two at once, the last to end would leave it to
    the first.
    """
    with _TURN, np.errstate(all="ignore"), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = ufunc(*operands)
    others = [each for each in said if each.filename != __file__]
    for each in others:
        warnings.warn_explicit(each.message, each.category, each.filename, each.lineno, source=each.source)
    return found, len(others) < len(said)


def _of_boost(name: str, type_of: Anything, pointer_of: Anything) -> list[int]:
    """Where ``scipy.special._ufuncs_cxx`` keeps the address of one of Boost's functions of doubles."""
    exported: Any = import_module("scipy.special._ufuncs_cxx").__pyx_capi__
    capsule = exported.get(f"_export{name}_double")
    if capsule is None or type_of(capsule) != b"void *":
        return []
    return [int(ctypes.c_void_p.from_address(pointer_of(capsule, b"void *")).value or 0)]


def _of_capsule(name: str, result: Anything, *arguments: Anything) -> Anything:
    """One of CPython's functions of capsules."""
    function = getattr(ctypes.pythonapi, name)
    function.restype, function.argtypes = result, arguments
    return function
