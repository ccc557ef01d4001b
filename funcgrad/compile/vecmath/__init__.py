"""Mathematical functions that LLVM inlines into compiled loops and vectorises.

`VECTOR_MATH` maps names of primitives to functions callable in Numba's compiled code, with numbers of type
float64 or float32 (all arguments of one type), giving a number of that type.
"""

from __future__ import annotations

from typing import Any

from funcgrad.compile.vecmath import exponentials, inverses, logarithms, powers, trigonometry
from funcgrad.compile.vecmath.linking import linked

UNARY = (
    exponentials.exp,
    exponentials.exp2,
    exponentials.expm1,
    exponentials.tanh,
    exponentials.sinh,
    exponentials.cosh,
    exponentials.logistic,
    logarithms.log,
    logarithms.log1p,
    logarithms.log2,
    logarithms.log10,
    logarithms.arcsinh,
    logarithms.arccosh,
    logarithms.arctanh,
    logarithms.log_expit,
    trigonometry.sin,
    trigonometry.cos,
    trigonometry.tan,
    inverses.arcsin,
    inverses.arccos,
    inverses.arctan,
    powers.cbrt,
)

BINARY = (
    logarithms.logaddexp,
    logarithms.logaddexp2,
    inverses.arctan2,
    powers.pow,
    powers.hypot,
)

VECTOR_MATH: dict[str, Any] = {
    **{function.__name__: linked(function.__name__, function) for function in UNARY},
    **{function.__name__: linked(function.__name__, function, arity=2) for function in BINARY},
}
