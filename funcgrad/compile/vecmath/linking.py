"""Makes a function's body callable inside Numba's compiled functions.

The body is a module of LLVM assembly that Numba links into the caller's, as it links other compiled
functions, and LLVM inlines. It is not part of the caller's own module, where Numba gives fast-math flags to
every instruction.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.extending import intrinsic

from funcgrad.compile.vecmath.body import Body, Value
from funcgrad.compile.vecmath.formats import F32, F64, Format

Function = Callable[..., Value]

FORMATS = {types.float64: F64, types.float32: F32}


class FunctionLibrary(JITCodeLibrary):
    """One function as a library that is only linked into others: never optimised or compiled by itself."""

    def finalize(self) -> None:
        """There is nothing to do."""
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        return self._final_module


def symbol(name: str, format: Format) -> str:
    """The name of a function in LLVM's assembly."""
    return f"funcgrad.{name}.{format.name}"


@cache
def assembly(name: str, function: Function, arity: int, format: Format) -> str:
    """A function as a module of LLVM's assembly."""
    body = Body(format)
    parameters = body.parameters(arity)
    result = function(*parameters)
    arguments = ", ".join(f"{p.kind} {p.name}" for p in parameters)
    return "\n".join(
        [
            *sorted(body.declarations),
            *body.helpers.values(),
            kept(list(body.helpers)),
            f"define linkonce_odr {format.real} @{symbol(name, format)}({arguments}) alwaysinline {{",
            *body.lines,
            f"  ret {result.kind} {result.name}",
            "}",
        ]
    )


def kept(helpers: list[str]) -> str:
    """Keeps functions that nothing calls yet: the vectoriser will."""
    if not helpers:
        return ""
    pointers = ", ".join(f"ptr @{name}" for name in helpers)
    return (
        f'@llvm.compiler.used = appending global [{len(helpers)} x ptr] [{pointers}], section "llvm.metadata"'
    )


def library(codegen: Any, name: str, function: Function, arity: int, format: Format) -> FunctionLibrary:
    """A function as a library to link."""
    made = FunctionLibrary(codegen, symbol(name, format))  # type: ignore[no-untyped-call]
    made._final_module = llvm.parse_assembly(assembly(name, function, arity, format))
    return made


def linked(name: str, function: Function, arity: int = 1) -> Any:
    """A function that compiled code calls with numbers of one floating-point type, and gives another."""
    libraries: dict[Format, FunctionLibrary] = {}

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        format = FORMATS[signature.return_type]
        if format not in libraries:
            libraries[format] = library(context.codegen(), name, function, arity, format)
        context.add_linking_libs([libraries[format]])
        kind = context.get_value_type(signature.return_type)
        callee = declared(builder.module, symbol(name, format), ir.FunctionType(kind, [kind] * arity))
        return builder.call(callee, arguments)

    return intrinsic(typing_of_arity[arity](codegen))


def declared(module: Any, name: str, kind: ir.FunctionType) -> ir.Function:
    """A function that another module defines."""
    return module.globals[name] if name in module.globals else ir.Function(module, kind, name)


def unary(codegen: Any) -> Any:
    """The typing of a function of one number."""

    def typing(context: Any, x: Any) -> Any:
        return (x(x), codegen) if x in FORMATS else None

    return typing


def binary(codegen: Any) -> Any:
    """The typing of a function of two numbers."""

    def typing(context: Any, x: Any, y: Any) -> Any:
        return (x(x, y), codegen) if x in FORMATS and x == y else None

    return typing


typing_of_arity = {1: unary, 2: binary}
