"""Kernels by their source: from memory, from disk, or built; shared by every call layout."""

from __future__ import annotations

from threading import RLock
from typing import Any

from funcgrad.compile.native.build import NUMBERS, Binary, pack, unpack
from funcgrad.compile.native.cache import lookup, store
from funcgrad.compile.native.llvm import keep_through_forks
from funcgrad.compile.notices import watch_source

FLAGS = frozenset({"contract"})


class Counts:
    """What this process has done to come by its kernels."""

    __slots__ = ("built", "found")

    def __init__(self) -> None:
        self.built = 0
        self.found = 0


COUNTS = Counts()
_LOADED: dict[str, Any] = {}
_LOCK = RLock()
keep_through_forks(_LOCK)


def key_of(source: str, flags: frozenset[str]) -> bytes:
    """What the machine code of a source is kept under."""
    return b"kernel\n" + " ".join(sorted(flags)).encode() + b"\n" + source.encode()


def built(source: str, functions: tuple[str, ...], flags: frozenset[str]) -> Binary:
    """The machine code of a source, compiled now."""
    # A process that finds its kernels on disk needs no front end.
    from funcgrad.compile.mathematics import namespace, vector_modules  # noqa: PLC0415
    from funcgrad.compile.native.front.translate import translate  # noqa: PLC0415
    from funcgrad.compile.native.llvm import compile_ir  # noqa: PLC0415

    text = translate(source, functions, flags, {**NUMBERS, **namespace()})
    code, needs = compile_ir([text, *vector_modules(text)], functions)
    return Binary(code, functions, needs)


def binary_of(source: str, functions: tuple[str, ...], flags: frozenset[str] = FLAGS) -> Binary:
    """The machine code of a source, from disk where it is."""
    key = key_of(source, flags)
    payload = lookup(key)
    if payload is not None:
        COUNTS.found += 1
        return unpack(payload)
    watch_source(source)
    binary = built(source, functions, flags)
    COUNTS.built += 1
    store(key, pack(binary))
    return binary


def loaded_kernel(source: str, functions: tuple[str, ...]) -> Any:
    """The machine code of a kernel's source, in this process."""
    found = _LOADED.get(source)
    if found is None:
        with _LOCK:
            found = _LOADED.get(source)
            if found is None:
                found = _LOADED[source] = binary_of(source, functions).load()
    return found
