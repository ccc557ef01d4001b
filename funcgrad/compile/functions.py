"""What kernels may call: conversions, selection, and functions of single numbers. Imports Numba."""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from funcgrad.compile.scalars import INLINE_FUNCTIONS

NAMESPACE: dict[str, Any] = {
    "NAN": math.nan,
    "INF": math.inf,
    "boolean": types.boolean,
    **{f"i{bits}": getattr(types, f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"u{bits}": getattr(types, f"uint{bits}") for bits in (8, 16, 32, 64)},
    **{f"f{bits}": getattr(types, f"float{bits}") for bits in (32, 64)},
    **{f"c{bits}": getattr(types, f"complex{bits}") for bits in (64, 128)},
}


def kernel_function(function: Any) -> Any:
    """Make a typing function an intrinsic that kernels call by its name."""
    made = intrinsic(function)
    NAMESPACE[function.__name__] = made
    return made


@kernel_function
def select(typing: Any, condition: Any, x: Any, y: Any) -> Any:
    """``x if condition else y``, both computed."""
    if x != y:
        x = typing.unify_types(x, y)
        if x is None:
            return None

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(args[0], args[1], args[2])

    return x(types.boolean, x, x), lower


def _unary(name: str) -> Any:
    def typed(typing: Any, x: Any) -> Any:
        def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.call(builder.module.declare_intrinsic(f"llvm.{name}", [args[0].type]), args)

        return (x(x), lower) if isinstance(x, types.Float) else None

    typed.__name__ = typed.__qualname__ = name
    return typed


def _binary(name: str, intrinsic_name: str) -> Any:
    def typed(typing: Any, x: Any, y: Any) -> Any:
        def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            kind = args[0].type
            function = builder.module.declare_intrinsic(
                f"llvm.{intrinsic_name}", [kind], ir.FunctionType(kind, [kind, kind])
            )
            return builder.call(function, args)

        return (x(x, x), lower) if isinstance(x, types.Float) and x == y else None

    typed.__name__ = typed.__qualname__ = name
    return typed


for _name in ("fabs", "floor", "ceil", "rint", "trunc"):
    kernel_function(_unary(_name))
for _name, _llvm in (
    ("maximum", "maximum"),
    ("minimum", "minimum"),
    ("fmax", "maxnum"),
    ("fmin", "minnum"),
    ("copysign", "copysign"),
):
    kernel_function(_binary(_name, _llvm))


@kernel_function
def signbit(typing: Any, x: Any) -> Any:
    """Whether the sign is minus."""

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        width = 32 if sig.args[0].bitwidth == 32 else 64
        bits = builder.bitcast(args[0], ir.IntType(width))
        return builder.icmp_signed("<", bits, ir.Constant(ir.IntType(width), 0))

    return (types.boolean(x), lower) if isinstance(x, types.Float) else None


@kernel_function
def plus(typing: Any, total: Any, x: Any) -> Any:
    """A step of a sum whose terms may be added in any order."""
    if not isinstance(total, types.Float):
        return None

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.fadd(*args, flags=("reassoc", "contract"))

    return total(total, total), lower


@kernel_function
def power(typing: Any, x: Any, n: Any) -> Any:
    """``x ** n`` by repeated squaring, for a literal integer n."""
    if not isinstance(n, types.IntegerLiteral):
        return None
    exponent = n.literal_value

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        base, left, result = args[0], abs(exponent), None
        while left:
            if left & 1:
                result = base if result is None else builder.fmul(result, base)
            left >>= 1
            if left:
                base = builder.fmul(base, base)
        return result if exponent > 0 else builder.fdiv(ir.Constant(result.type, 1.0), result)

    return (x(x, n), lower) if isinstance(x, types.Float) else None


def namespace() -> dict[str, Any]:
    """Everything that kernels may call, by name."""
    from funcgrad.compile.vecmath import VECTOR_MATH  # noqa: PLC0415 - being built

    found = {**NAMESPACE}
    for name in INLINE_FUNCTIONS:
        function = VECTOR_MATH.get(name, getattr(math, name, None))
        if function is not None:
            found[name] = function
    return found
