"""Kernels by their source: from memory, from disk, or built; shared by every call layout."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from threading import RLock
from weakref import WeakValueDictionary

from funcgrad.compile.engines.binary import Binary, pack, unpack
from funcgrad.compile.engines.compiler_process import CompilerProcess
from funcgrad.compile.engines.llvm import Loaded, compile_ir, keep_through_forks
from funcgrad.compile.runtime.beside import compile_run_time, run_time_beside
from funcgrad.compile.runtime.cache import lookup, store
from funcgrad.compile.runtime.threads import placed
from funcgrad.compile.runtime.waiting_notices import LARGE_SOURCE, watch_source
from funcgrad.config import engine_name
from funcgrad.later import Later

# A process that finds its kernels on disk needs no front end.
choice = Later("funcgrad.compile.engines.choice")

FLAGS = frozenset({"contract"})


class Counts:
    """What this process has done to come by its kernels."""

    __slots__ = ("built", "found")

    def __init__(self) -> None:
        self.built = 0
        self.found = 0


COUNTS = Counts()
_LOADED: WeakValueDictionary[str, Loaded] = WeakValueDictionary()
_TURNS: WeakValueDictionary[str, Turn] = WeakValueDictionary()
_LOCK = RLock()
keep_through_forks(_LOCK)
if hasattr(os, "register_at_fork"):
    # What other threads were compiling nobody compiles in the child.
    os.register_at_fork(after_in_child=_TURNS.clear)


def key_of(source: str, flags: frozenset[str]) -> bytes:
    """What the machine code of a source is kept under, by the engine that is set."""
    return (
        b"kernel\n"
        + engine_name().encode()
        + b"\n"
        + " ".join(sorted(flags)).encode()
        + b"\n"
        + source.encode()
    )


def built(source: str, functions: tuple[str, ...], flags: frozenset[str]) -> Binary:
    """The machine code of a source, compiled now: in a process of its own if it takes long."""
    if len(source) >= LARGE_SOURCE:
        # The process begins while this one translates.
        with CompilerProcess() as process:
            engine, modules = choice.modules_of(source, functions, flags)
            run_time = partial(compile_run_time, source)
            code, needs = compile_ir(modules, functions, process=process, meanwhile=run_time)
    else:
        with run_time_beside(source):
            engine, modules = choice.modules_of(source, functions, flags)
            code, needs = compile_ir(modules, functions)
    return Binary(code, functions, needs, engine)


EACH_CHARACTER = 25e-6
"""Seconds that LLVM takes for a character of source, on a core of its own; measured on programs of all sizes,
in which what repeats is a function: 18 to 45 µs for cores that are shared."""


def seconds_to_build(sources: Sequence[str], flags: frozenset[str] = FLAGS) -> float:
    """Roughly how long it takes to have the machine code of these sources, which may be at hand already."""
    return sum(
        [
            EACH_CHARACTER * len(source)
            for source in sources
            if source not in _LOADED and lookup(key_of(source, flags)) is None
        ]
    )


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


class Turn:
    """Who has it compiles a source; others that need the same one wait for it, and for no other."""

    __slots__ = ("__weakref__", "lock")

    def __init__(self) -> None:
        self.lock = RLock()


def turn_for(source: str) -> Turn:
    """The turn of a source, which is kept for as long as somebody has it or waits for it."""
    with _LOCK:
        return _TURNS.setdefault(source, Turn())


def loaded_kernel(source: str, functions: tuple[str, ...]) -> Loaded:
    """The machine code of a kernel's source, in this process; given up with the last that holds it."""
    key = f"{engine_name()}\n{source}"
    found = _LOADED.get(key)
    if found is None:
        turn = turn_for(key)
        with turn.lock:
            found = _LOADED.get(key)
            if found is None:
                found = _LOADED[key] = placed(binary_of(source, functions))
    return found
