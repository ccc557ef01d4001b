"""Mathematical functions that LLVM inlines into compiled loops and vectorises.

`VECTOR_MATH` maps names of primitives to functions callable in Numba's compiled code, with numbers of type
float64 or float32 (all arguments of one type), giving a number of that type.
"""

from __future__ import annotations

from typing import Any

from funcgrad.compile.vecmath import exponentials, logarithms, trigonometry
from funcgrad.compile.vecmath.linking import linked

VECTOR_MATH: dict[str, Any] = {
    "exp": linked("exp", exponentials.exp),
    "tanh": linked("tanh", exponentials.tanh),
    "log": linked("log", logarithms.log),
    "sin": linked("sin", trigonometry.sin),
    "cos": linked("cos", trigonometry.cos),
}
