"""Makes the functions callable inside Numba's compiled functions.

A function is a module of LLVM assembly that Numba links into the caller's, as it links other compiled
functions, and LLVM inlines. It is not part of the caller's own module, where Numba gives fast-math flags to
every instruction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.extending import intrinsic

from funcgrad.compile.vecmath.assembly import Function, assembly, symbol
from funcgrad.compile.vecmath.formats import F32, F64, Format
from funcgrad.compile.vecmath.registry import FUNCTIONS, function
from funcgrad.types import Foreign

FORMATS = {types.float64: F64, types.float32: F32}


class FunctionLibrary(JITCodeLibrary):
    """One function as a library that is only linked into others: never optimised or compiled by itself."""

    def finalize(self) -> None:
        """There is nothing to do."""
        self._finalized = True

    def _get_module_for_linking(self) -> Foreign:
        return self._final_module


def library(codegen: object, name: str, body: Function, arity: int, format: Format) -> FunctionLibrary:
    """A function as a library to link."""
    made = FunctionLibrary(codegen, symbol(name, format))  # type: ignore[no-untyped-call]
    made._final_module = llvm.parse_assembly(assembly(name, body, arity, format))
    return made


def linked(name: str, body: Function, arity: int) -> Callable[..., Any]:
    """A function that compiled code calls with numbers of one floating-point type, and gives another."""
    libraries: dict[Format, FunctionLibrary] = {}

    def codegen(context: Foreign, builder: Foreign, signature: Foreign, arguments: Foreign) -> Foreign:
        format = FORMATS[signature.return_type]
        if format not in libraries:
            libraries[format] = library(context.codegen(), name, body, arity, format)
        context.add_linking_libs([libraries[format]])
        kind = context.get_value_type(signature.return_type)
        callee = declared(builder.module, symbol(name, format), ir.FunctionType(kind, [kind] * arity))
        return builder.call(callee, arguments)

    return intrinsic(typing_of_arity[arity](codegen))


def declared(module: Foreign, name: str, kind: ir.FunctionType) -> ir.Function:
    """A function that another module defines."""
    return module.globals[name] if name in module.globals else ir.Function(module, kind, name)


def unary(codegen: Callable[..., Any]) -> Callable[..., Any]:
    """The typing of a function of one number."""

    def typing(context: Foreign, x: Foreign) -> Foreign:
        return (x(x), codegen) if x in FORMATS else None

    return typing


def binary(codegen: object) -> Callable[..., Any]:
    """The typing of a function of two numbers."""

    def typing(context: Foreign, x: Foreign, y: Foreign) -> Foreign:
        return (x(x, y), codegen) if x in FORMATS and x == y else None

    return typing


typing_of_arity = {1: unary, 2: binary}

VECTOR_MATH: dict[str, Any] = {
    name: linked(name, function(name), arity) for name, (_, arity) in FUNCTIONS.items()
}
"""For each name a function to call in compiled code."""
