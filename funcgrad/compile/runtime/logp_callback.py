"""Log-densities as C functions for samplers. Imports Numba."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import carray, types  # type: ignore[attr-defined]

from funcgrad.types import Anything

_DOUBLES = types.CPointer(types.float64)  # type: ignore[no-untyped-call]
SIGNATURE = types.int64(types.uintp, _DOUBLES, _DOUBLES, _DOUBLES, types.voidptr)
"""``int (size_t n, const double *x, double *grad, double *logp, void *user)``, however wide an int is."""

_C_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, *[ctypes.c_void_p] * 4)

OF_ANOTHER_SIZE, RAISED, SLOPE_NOT_FINITE, NOT_FINITE = -1, 1, 3, 4
"""What the function returns where it has no answer; the numbers are those of nutpie's own functions."""


class LogpCallback:
    """A C function that writes a log-density and its gradient. The memory is alive while this object is."""

    def __init__(self, value_and_gradient: Anything, size: int) -> None:
        """Of a Numba function of a vector of that size, which returns the value and the gradient."""

        def logp(n, x, grad, value, user):  # type: ignore[no-untyped-def]
            if n != size:
                return OF_ANOTHER_SIZE
            try:
                found, slope = value_and_gradient(carray(x, (size,)))
            except Exception:  # noqa: BLE001 - there is nobody to raise it to: the sampler reads numbers
                return RAISED
            value[0] = found
            finite = True
            for k in range(size):
                grad[k] = slope[k]
                finite &= np.isfinite(slope[k])
            if not finite:
                return SLOPE_NOT_FINITE
            return 0 if np.isfinite(found) else NOT_FINITE

        self._function = numba.cfunc(SIGNATURE)(logp)
        self._held = value_and_gradient
        self.size = size
        """The length of the vector."""

    @property
    def address(self) -> int:
        """Where the function is."""
        return int(self._function.address or 0)

    @property
    def ctypes(self) -> Callable[..., Any]:
        """The function as `ctypes` calls it; pointers are addresses."""
        return _C_FUNCTION(self.address)

    def __repr__(self) -> str:
        return f"<C function of a log-density of {self.size} numbers at {self.address:#x}>"
