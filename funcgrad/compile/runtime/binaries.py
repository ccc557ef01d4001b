"""Kernels by their source: from memory, from disk, or built; shared by every call layout."""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Callable
from threading import RLock
from typing import Any

from funcgrad.compile.engines.build import NUMBERS, Binary, pack, unpack
from funcgrad.compile.engines.llvm import keep_through_forks
from funcgrad.compile.runtime.cache import lookup, store
from funcgrad.compile.runtime.waiting_notices import LARGE_SOURCE, watch_source

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
    from funcgrad.compile.engines.direct.translate import translate  # noqa: PLC0415
    from funcgrad.compile.engines.llvm import compile_ir  # noqa: PLC0415
    from funcgrad.compile.engines.words import namespace, vector_modules  # noqa: PLC0415

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

    def build_and_store() -> Binary:
        binary = built(source, functions, flags)
        COUNTS.built += 1
        store(key, pack(binary))
        return binary

    return interruptible(build_and_store) if len(source) >= LARGE_SOURCE else build_and_store()


def interruptible(build: Callable[[], Binary]) -> Binary:
    """What is built in another thread, while this one waits and can be interrupted: LLVM cannot.

    After Ctrl-C the other thread goes on, and what it makes is found on disk the next time.
    """
    if threading.current_thread() is not threading.main_thread() or process_function("on_exit") is None:
        return build()
    made: list[Binary] = []
    errors: list[BaseException] = []
    ended = threading.Event()

    def run() -> None:
        try:
            made.append(build())
        except BaseException as error:  # noqa: BLE001 - the waiting thread raises it
            errors.append(error)
        ended.set()

    threading.Thread(target=run, name="funcgrad compiler", daemon=True).start()
    try:
        ended.wait()
    except BaseException:
        exit_at_once()
        raise
    if errors:
        raise errors[0]
    return made[0]


@functools.cache
def exit_at_once() -> None:
    """Let the process end, when it does, without taking LLVM's tables from under the thread that uses them.

    By then Python has flushed its files and run what it was asked to run at the end.
    """
    register, leave = process_function("on_exit"), process_function("_exit")
    register.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    register(ctypes.cast(leave, ctypes.c_void_p), None)


def process_function(name: str) -> Any:
    """A function of the C library by its name; None where it has none.

    LLVM knows the process's symbols only once it has loaded something.

    >>> process_function("no_such_function") is None
    True
    """
    if os.name != "posix":
        return None
    return getattr(ctypes.CDLL(None), name, None)


def loaded_kernel(source: str, functions: tuple[str, ...]) -> Any:
    """The machine code of a kernel's source, in this process."""
    found = _LOADED.get(source)
    if found is None:
        with _LOCK:
            found = _LOADED.get(source)
            if found is None:
                found = _LOADED[source] = binary_of(source, functions).load()
    return found
