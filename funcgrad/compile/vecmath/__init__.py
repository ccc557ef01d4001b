"""Mathematical functions that LLVM inlines into compiled loops and vectorises.

`registry` has them as LLVM assembly, for the compiler. `VECTOR_MATH` has them as functions to call in Numba's
compiled code, with numbers of type float64 or float32 (all arguments of one type), giving a number of that
type; only that imports Numba.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if name == "VECTOR_MATH":
        from funcgrad.compile.vecmath.linking import VECTOR_MATH  # noqa: PLC0415 - imports Numba

        return VECTOR_MATH
    raise AttributeError(name)
