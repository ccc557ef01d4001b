"""Emitted Python source to LLVM modules, by way of Numba's type inference and lowering.

Only Numba's front end is used. Its own optimisation, its wrappers and its run time (reference counts, exceptions,
Python objects) are left out: `llvm.compile_ir` optimises everything once. Imports Numba: import this module only
to compile.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any

import numba
from numba.core import compiler, types
from numba.core.codegen import CodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from funcgrad.compile.native.external import External
from funcgrad.compile.native.llvm import triple
from funcgrad.compile.native.views import VIEWS, SizesType, TableType, external

__all__ = ["lower"]

Module = str | bytes


class _Collected(CodeLibrary):  # type: ignore[misc]  # Numba is untyped
    """A code library that keeps the text of its modules and never optimises or loads them."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.texts: list[str] = []
        self.linked: list[Any] = []

    def add_ir_module(self, ir_module: Any) -> None:
        self.texts.append(str(ir_module))

    def add_linking_library(self, library: Any) -> None:
        if library not in self.linked:
            self.linked.append(library)

    def finalize(self) -> None:
        self._finalized = True

    def get_function(self, name: str) -> Any:
        raise NotImplementedError("collected code is not loaded")

    def get_llvm_str(self) -> str:
        return "\n".join(self.texts)

    get_asm_str = get_llvm_str


def _contexts() -> tuple[Any, Any]:
    """Numba's typing context and a target context that collects what it lowers."""
    typing = cpu_target.typing_context
    context = copy.copy(cpu_target.target_context)
    typing.refresh()
    context.refresh()
    codegen = copy.copy(context.codegen())
    codegen._library_class = _Collected
    context._internal_codegen = codegen
    context.cached_internal_func = {}  # what is compiled for this context must not serve Numba's own
    return typing, context


def _flags(fastmath: Any) -> Any:
    flags = compiler.Flags()
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    flags.no_compile = True  # lower only
    flags.nrt = False
    flags.boundscheck = False
    flags.error_model = "numpy"
    if fastmath:
        flags.fastmath = numba.core.cpu.FastMathOptions(fastmath)
    return flags


_RUN = (TableType(), SizesType())
_STAGE = (*_RUN, types.int64, types.int64)


def lower(
    code: CodeType, functions: Sequence[str], namespace: dict[str, Any], fastmath: set[str]
) -> list[Module]:
    """The LLVM modules that define each function of the module ``code``, with the C calling convention."""
    names = {**namespace, **VIEWS}
    names.update((name, external(item)) for name, item in namespace.items() if isinstance(item, External))
    exec(code, names)
    for name, item in names.items():
        if isinstance(item, FunctionType) and item.__code__.co_filename == code.co_filename:
            names[name] = item if name in functions else numba.extending.register_jitable(item)
    with global_compiler_lock:
        typing, context = _contexts()
        codegen = context.codegen()
        modules: dict[int, Module] = {}
        for name in functions:
            function = names[name]
            arguments = _RUN if function.__code__.co_argcount == len(_RUN) else _STAGE
            library = codegen.create_library(name)
            result = compiler.compile_extra(
                typing, context, function, arguments, types.none, _flags(fastmath), {}, library=library
            )
            modules.update((id(module), module) for module in _closure(library, set()))
            entry = _entry(name, result.fndesc.llvm_func_name, len(arguments) - len(_RUN))
            modules[id(entry)] = entry
    return list(modules.values())


def _closure(library: Any, seen: set[int]) -> Iterator[Module]:
    if id(library) in seen:
        return
    seen.add(id(library))
    if isinstance(library, _Collected):
        yield from library.texts
        for linked in library.linked:
            yield from _closure(linked, seen)
    elif library.name != "nrt":
        # A function of the user's or of Numba's that was compiled the usual way.
        yield library._get_module_for_linking().as_bitcode()


def _entry(name: str, mangled: str, integers: int) -> str:
    """A function of the plain C convention around one of Numba's, which takes room for a result and an error."""
    extra = "".join(f", i64 %i{k}" for k in range(integers))
    return f"""
target triple = "{triple()}"
declare i32 @"{mangled}"(ptr, ptr, ptr, ptr{", i64" * integers})
define void @"{name}"(ptr %p, ptr %n{extra}) nounwind {{
  %result = alloca ptr
  %error = alloca ptr
  %status = call i32 @"{mangled}"(ptr %result, ptr %error, ptr %p, ptr %n{extra})
  ret void
}}
"""
