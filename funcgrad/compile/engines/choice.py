"""Which engine makes machine code of a kernel's text: the one that is asked for, or the one that can.

An engine turns text, the names of its functions, and the liberties it may take with rounding into LLVM
modules, or raises `Unsupported`. Optimising, linking, the cache, callers and threads are shared.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Sequence

from funcgrad.compile.engines.linked_functions import modules_called_by
from funcgrad.compile.language.values import Unsupported
from funcgrad.config import engine_name
from funcgrad.later import Later

# A process that finds its kernels on disk needs no engine.
build = Later("funcgrad.compile.engines.build")
by_numba = Later("funcgrad.compile.engines.numba.translate")

Engine = Callable[[str, Sequence[str], frozenset[str]], list[str | bytes]]
"""Text, the functions to be called from outside, and flags of arithmetic: LLVM modules."""

Made = tuple[str, list[str | bytes]]
"""The name of the engine that made the modules of a kernel, and all that they need."""


def modules_of(source: str, functions: Sequence[str], flags: frozenset[str]) -> Made:
    """The LLVM modules of a kernel by the engine that is set; by Numba's where the direct one declines.

    Raises `Unsupported` where neither can.
    """
    name = engine_name()
    try:
        modules = engine_by_name(name)(source, functions, flags)
    except Unsupported:
        if name == "numba":
            raise
        name, modules = "numba", engine_by_name("numba")(source, functions, flags)
    texts = "\n".join([module for module in modules if isinstance(module, str)])
    return name, [*modules, *modules_called_by(texts)]


def engine_by_name(name: str) -> Engine:
    """An engine, imported when it is first used: a process that finds its kernels on disk needs none."""
    if name == "numba":
        engine: Engine = by_numba.translate
        return engine
    return direct_engine


def direct_engine(source: str, functions: Sequence[str], flags: frozenset[str]) -> list[str | bytes]:
    """Our own translator."""
    if declined := direct_declines():
        raise Unsupported(declined)
    return [build.translate(source, functions, flags, build.NUMBERS, inlining="noinline")]


def direct_declines() -> str | None:
    """Why the direct engine makes no code for this machine; None where it does."""
    if struct.calcsize("P") != 8 or sys.byteorder != "little":
        return "words of this machine are not of 64 bits with the lowest byte first"
    return None
