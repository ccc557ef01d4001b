"""SciPy's functions of one number, by address: for kernels whose results must have SciPy's last digits.

``scipy.special.cython_special`` exists so that compiled code can call them: it names each C function with its
type. They touch no Python object. What is found is compared with the ufunc before it is used.
"""

from __future__ import annotations

import ctypes
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad.compile.differs import say

__all__ = ["function_of_number"]

TYPES = (b"double (double)", b"double (double, int __pyx_skip_dispatch)")
"""Functions of one number; the flag of the second is for Cython's own calls, and C ignores it."""

SAMPLES = np.concatenate([np.arange(1.0, 200.0), np.geomspace(1.0, 1e15, 301), np.linspace(-9.0, 9.0, 301)])


@cache
def function_of_number(name: str) -> int | None:
    """The address of ``double f(double)`` that a ufunc of SciPy's applies; None where none is known.

    >>> function_of_number("no_such_function") is None
    True
    """
    try:
        special: Any = import_module("scipy.special.cython_special")
    except ImportError:
        return None
    type_of = _of_capsule("PyCapsule_GetName", ctypes.c_char_p, ctypes.py_object)
    # A function of several types of numbers has a name for each.
    spellings = [name, *[f"__pyx_fuse_{k}{name}" for k in range(3)]]
    capsules = [special.__pyx_capi__[word] for word in spellings if word in special.__pyx_capi__]
    if not capsules:
        return None
    for capsule, kind in [(c, type_of(c)) for c in capsules if type_of(c) in TYPES]:
        address = int(
            _of_capsule("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
                capsule, kind
            )
        )
        function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)
        wanted = getattr(import_module("scipy.special"), name)(SAMPLES)
        if np.array([function(x) for x in SAMPLES]).tobytes() == wanted.tobytes():
            return address
    say(f"SciPy's {name} at its address is not the ufunc's: it is not called from machine code")
    return None


def _of_capsule(name: str, result: Any, *arguments: Any) -> Any:
    """One of CPython's functions of capsules."""
    function = getattr(ctypes.pythonapi, name)
    function.restype, function.argtypes = result, arguments
    return function
