"""Kernels by their source: built once for a process, loaded once, shared by every call layout."""

from __future__ import annotations

from threading import RLock
from typing import Any

from funcgrad.compile.native.build import build

FLAGS = frozenset({"contract"})

_LOADED: dict[str, Any] = {}
_LOCK = RLock()


def loaded_kernel(source: str, name: str) -> Any:
    """The machine code of a kernel's source."""
    found = _LOADED.get(source)
    if found is None:
        with _LOCK:
            found = _LOADED.get(source)
            if found is None:
                from funcgrad.compile.functions import namespace  # noqa: PLC0415 - Numba

                found = _LOADED[source] = build(source, [name], FLAGS, namespace()).load()
    return found
