"""Loops that apply one function of the vector mathematics to arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

# The modules beside this one are imported by name.
sys.path.insert(0, str(Path(__file__).parent))


@cache
def compiled(name: str, dtype: str, flags: str) -> Any:
    """A compiled loop over one function, by Numba."""
    import numba

    from funcgrad.compile.vecmath import VECTOR_MATH
    from funcgrad.compile.vecmath.registry import FUNCTIONS

    function, arity = VECTOR_MATH[name], FUNCTIONS[name][1]
    signature = numba.types.void(*[getattr(numba.types, dtype)[::1]] * (arity + 1))

    def unary(x: Any, y: Any) -> None:
        for i in range(x.size):
            y[i] = function(x[i])

    def binary(x: Any, z: Any, y: Any) -> None:
        for i in range(x.size):
            y[i] = function(x[i], z[i])

    fastmath = {flags} if flags else False
    return numba.njit(signature, fastmath=fastmath)(unary if arity == 1 else binary)


@pytest.fixture
def apply() -> Callable[..., Any]:
    """``apply(name, *arrays, flags="contract")``: a function's results for each element."""

    def applied(name: str, *arrays: Any, flags: str = "contract") -> Any:
        out = np.empty_like(arrays[0])
        compiled(name, out.dtype.name, flags)(*map(np.ascontiguousarray, arrays), out)
        return out

    return applied


@pytest.fixture
def loop() -> Callable[..., Any]:
    """``loop(name, dtype)``: the compiled loop itself."""

    def loop_of(name: str, dtype: str) -> Any:
        return compiled(name, dtype, "contract")

    return loop_of
