"""Where Numba puts the modules it lowers: kept as text for our back end, or linked into a user's function."""

from __future__ import annotations

from functools import cache
from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.runtime.nrt import rtsys

from funcgrad.types import Foreign


class KernelLibrary(JITCodeLibrary):
    """Keeps modules as Numba made them: they are optimised once, together with all that they call."""

    def __init__(self, codegen: Foreign, name: str) -> None:
        super().__init__(codegen, name)
        self.texts: list[str] = []
        self._others: dict[int, Any] = {}

    def add_ir_module(self, ir_module: object) -> None:
        """Keep a module."""
        self.texts.append(str(ir_module))

    def add_linking_library(self, library: Foreign) -> None:
        """Keep a library of the user's functions."""
        if library is not rtsys.library:  # which counts references of objects: kernels have none
            # Not by name: what Numba compiles of one function for two types has one.
            self._others[id(library)] = library

    def others(self) -> list[bytes]:
        """The modules of functions that Numba compiled on the way, and of users' functions."""
        modules = [library._get_module_for_linking() for library in self._others.values()]
        return [bytes(module.as_bitcode()) for module in modules]

    def finalize(self) -> None:
        """There is nothing to do."""
        self._finalized = True


class TextLibrary(JITCodeLibrary):
    """A module that is only linked into others: never optimised or compiled by itself."""

    def finalize(self) -> None:
        """There is nothing to do."""
        self._finalized = True

    def _get_module_for_linking(self) -> Foreign:
        return self._final_module


@cache
def text_library(codegen: object, name: str, text: str) -> TextLibrary:
    """A module of LLVM's assembly as a library that functions of Numba's are linked with."""
    made = TextLibrary(codegen, name)
    made._final_module = llvm.parse_assembly(text)
    return made
