"""Kernels by their source: built once, kept on disk, loaded once in a process, shared by every call layout."""

from __future__ import annotations

from threading import RLock

from funcgrad.compile.native.blas import integer_type
from funcgrad.compile.native.build import Binary, pack, unpack
from funcgrad.compile.native.cache import lookup, store
from funcgrad.compile.native.llvm import Loaded, compile_ir

FLAGS = frozenset({"contract"})

_LOADED: dict[str, Loaded] = {}
_LOCK = RLock()


def binary_of(source: str, name: str) -> Binary:
    """The machine code of a kernel's source, compiled now."""
    # A process that finds its kernels on disk needs none of these.
    from funcgrad.compile.mathematics import namespace, vector_modules  # noqa: PLC0415
    from funcgrad.compile.native.build import NUMBERS  # noqa: PLC0415
    from funcgrad.compile.native.front.translate import translate  # noqa: PLC0415

    text = translate(source, [name], FLAGS, {**NUMBERS, **namespace()})
    code, needs = compile_ir([text, *vector_modules(text)], [name])
    return Binary(code, (name,), needs)


def kept_binary(source: str, name: str) -> Binary:
    """The machine code of a kernel's source, from the disk cache if it is there."""
    key = repr(("kernel", source, name, sorted(FLAGS), integer_type())).encode()
    payload = lookup(key)
    if payload is not None:
        return unpack(payload)
    binary = binary_of(source, name)
    store(key, pack(binary))
    return binary


def loaded_kernel(source: str, name: str) -> Loaded:
    """The machine code of a kernel's source, in this process."""
    found = _LOADED.get(source)
    if found is None:
        with _LOCK:
            found = _LOADED.get(source)
            if found is None:
                found = _LOADED[source] = kept_binary(source, name).load()
    return found
