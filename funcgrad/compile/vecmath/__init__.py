"""Mathematical functions that LLVM inlines into compiled loops and vectorises.

`registry` has them as LLVM assembly, for the compiler. `VECTOR_MATH` has them as functions to call in Numba's
compiled code, with numbers of type float64 or float32 (all arguments of one type), giving a number of that
type; only that imports Numba.
"""

from __future__ import annotations

from funcgrad.later import Later
from funcgrad.types import Anything

# Numba is behind it.
linking = Later("funcgrad.compile.vecmath.linking")


def __getattr__(name: str) -> Anything:
    if name == "VECTOR_MATH":
        return linking.VECTOR_MATH
    raise AttributeError(name)
