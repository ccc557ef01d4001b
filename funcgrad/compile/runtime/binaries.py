"""Kernels by their source: from memory, from disk, or built; shared by every call layout."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from threading import RLock
from weakref import WeakValueDictionary

from funcgrad.compile.engines.binary import Binary, pack, unpack
from funcgrad.compile.engines.compiler_process import CompilerProcess
from funcgrad.compile.engines.llvm import Compiler, Loaded, compile_works
from funcgrad.compile.engines.object_code import Work
from funcgrad.compile.runtime.beside import compile_run_time, run_time_beside
from funcgrad.compile.runtime.cache import lookup, store
from funcgrad.compile.runtime.threads import placed
from funcgrad.compile.runtime.waiting_notices import LARGE_SOURCE, watch_source
from funcgrad.config import engine_name
from funcgrad.later import Later
from funcgrad.processors import available_processors
from funcgrad.shared import keep_through_forks

# A process that finds its kernels on disk needs no front end.
choice = Later("funcgrad.compile.engines.choice")
dividing = Later("funcgrad.compile.engines.direct.halves")

A_PROCESS, A_BREATH = 400, 100
"""Lines of LLVM's that are worth another process, and those that are worth telling one that is there."""

FUNCTIONS = 3
"""Functions of a source from which some of them may be compiled apart."""

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
    """The machine code of a source, compiled now: on two cores, and in other processes if it takes long."""
    long = len(source) >= LARGE_SOURCE
    with ExitStack() as held:
        beside = held.enter_context(run_time_beside(source))
        compilers: list[Compiler | None] = [] if long else [None]
        if beside is not None:
            compilers.append(beside)
        if long:
            # They begin while this one translates.
            others = 1 + may_be_divided(source) - len(compilers)
            compilers += [held.enter_context(CompilerProcess()) for _ in range(others)]
        engine, modules = choice.modules_of(source, functions, flags)
        least = A_PROCESS if long else A_BREATH
        works = works_of(engine, modules, functions, len(compilers), least)
        run_time = partial(compile_run_time, source) if long and beside is None else None
        objects = compile_works(list(zip(works, compilers, strict=False)), run_time)
    offered = {name for work in works for name in work.exported}
    needs = sorted({name for _, needed in objects for name in needed} - offered)
    code, *others_code = [each for each, _ in objects]
    return Binary(code, functions, tuple(needs), engine, tuple(others_code))


def may_be_divided(source: str) -> bool:
    """Whether a source has functions that can be compiled apart, and there is a second core."""
    return source.count("\ndef ") >= FUNCTIONS and available_processors() > 1


def works_of(
    engine: str, modules: Sequence[str | bytes], functions: tuple[str, ...], most: int, least: int
) -> list[Work]:
    """What LLVM is given of a kernel: at most so many works, of `least` lines, each for a core of its own."""
    first, *others = modules
    if engine != "direct" or most < 2 or not isinstance(first, str):
        return [Work(tuple(modules), functions, True, False)]
    return [
        Work((half.text, *others), half.exported, True, False)
        for half in dividing.halves(first, functions, least)
    ]


EACH_CHARACTER = 25e-6
"""Seconds that LLVM takes for a character of source, on a core of its own; measured on programs of all sizes,
in which what repeats is a function: 18 to 45 µs for cores that are shared."""


def seconds_to_build(sources: Sequence[str], flags: frozenset[str] = FLAGS) -> float:
    """Roughly how long it takes to have the machine code of these sources, which may be at hand already."""
    return sum(
        [
            EACH_CHARACTER * len(source)
            for source in sources
            if loaded_key(source) not in _LOADED and lookup(key_of(source, flags)) is None
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


def loaded_key(source: str) -> str:
    """What the machine code of a source is known by in this process: by each engine it is another."""
    return f"{engine_name()}\n{source}"


def loaded_kernel(source: str, functions: tuple[str, ...]) -> Loaded:
    """The machine code of a kernel's source, in this process; given up with the last that holds it."""
    key = loaded_key(source)
    found = _LOADED.get(key)
    if found is None:
        turn = turn_for(key)
        with turn.lock:
            found = _LOADED.get(key)
            if found is None:
                found = _LOADED[key] = placed(binary_of(source, functions))
    return found
