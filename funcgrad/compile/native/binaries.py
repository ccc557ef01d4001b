"""Kernels by their source: built once for a process, loaded once, shared by every call layout."""

from __future__ import annotations

from threading import RLock
from typing import Any

from funcgrad.compile.mathematics import namespace, vector_modules
from funcgrad.compile.native.build import NUMBERS, Binary
from funcgrad.compile.native.front.translate import translate
from funcgrad.compile.native.llvm import compile_ir

FLAGS = frozenset({"contract"})

_LOADED: dict[str, Any] = {}
_LOCK = RLock()


def binary_of(source: str, name: str) -> Binary:
    """The machine code of a kernel's source, compiled now."""
    text = translate(source, [name], FLAGS, {**NUMBERS, **namespace()})
    code, needs = compile_ir([text, *vector_modules(text)], [name])
    return Binary(code, (name,), needs)


def loaded_kernel(source: str, name: str) -> Any:
    """The machine code of a kernel's source, in this process."""
    found = _LOADED.get(source)
    if found is None:
        with _LOCK:
            found = _LOADED.get(source)
            if found is None:
                found = _LOADED[source] = binary_of(source, name).load()
    return found
