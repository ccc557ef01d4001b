"""Owns LLVM for this process: the host's target machine, LLVM IR to object code, object code to addresses.

Knows llvmlite and nothing of NumPy or Programs. Object code is a relocatable file of the host's format.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

import llvmlite.binding as llvm

from funcgrad.compile.differs import say
from funcgrad.compile.engines import object_code
from funcgrad.compile.engines.compiler_process import CompilerProcess, CompilerProcessError
from funcgrad.compile.engines.elf import is_elf, undefined_symbols
from funcgrad.compile.engines.object_code import Work, compiled_object, host_cpu, target, triple
from funcgrad.shared import keep_through_forks
from funcgrad.types import Foreign

__all__ = ["CodeError", "Loaded", "compile_ir", "host_cpu", "link_object", "triple"]

# LLVM's contexts are shared by a process: one compilation or link at a time.
_LOCK = threading.RLock()
_LIBRARY_NAMES = itertools.count()


def llvmlite_lock() -> Foreign | None:
    """The lock that llvmlite's calls take, which it keeps to itself; None where it is not found.

    >>> llvmlite_lock() is None
    False
    """
    lock = getattr(llvm.ffi.lib, "_lock", None)
    called = getattr(getattr(llvm.ffi.lib, "LLVMPY_GetVersionInfo", None), "_lock", None)
    return lock if lock is called and hasattr(lock, "__enter__") and hasattr(lock, "__exit__") else None


def say_without_lock() -> None:
    """Tell the user what is not guarded where llvmlite's lock is not found."""
    if llvmlite_lock() is None:
        say(
            "llvmlite has no lock where it was: a fork waits for compilations of funcgrad's own, "
            "not for those of others that use llvmlite in other threads"
        )


# The last to be registered is the first to be taken, as where code is compiled: ours, then llvmlite's own.
keep_through_forks(llvmlite_lock() or contextlib.nullcontext())
keep_through_forks(_LOCK)


Compiled = tuple[bytes, tuple[str, ...]]
"""Object code, and the symbols it needs."""


class Compiler(Protocol):
    """A process that compiles what it is given, or None where it could not begin: `CompilerProcess`."""

    def begin(self, work: Work, /) -> None:
        """Give it something to compile."""

    def compiled(self) -> list[Compiled] | None:
        """What it has made of all that it was given."""


class CodeError(RuntimeError):
    """LLVM refused code, or object code needs a symbol that this process lacks."""


class Loaded:
    """Object code in memory. Its addresses are good for as long as this object is referenced."""

    __slots__ = ("__weakref__", "addresses", "engine", "tracker")

    def __init__(self, addresses: Mapping[str, int], tracker: Foreign, engine: str = "direct") -> None:
        self.addresses = addresses
        self.tracker = tracker
        self.engine = engine
        """What made it of a kernel's text."""


@functools.cache
def _jit() -> Foreign:
    # Errors come back as exceptions; the text LLVM would also write to stderr adds nothing. JITLink lays an
    # object out in one piece. The older linker asks for memory section by section: in a process with large
    # arrays, code and its constants come to lie further apart than 32 bits reach, and LLVM ends the process.
    say_without_lock()
    engine = llvm.create_lljit_compiler(
        target().create_target_machine(jit=True), use_jit_link=True, suppress_errors=True
    )
    _load_math_library()
    return engine


def _load_math_library() -> None:
    # An interpreter that is linked to libm offers its symbols already; a static one may not.
    if sys.platform.startswith("linux") and not llvm.address_of_symbol("exp"):
        llvm.load_library_permanently("libm.so.6")


def data_layout() -> str:
    """The data layout of the host, as LLVM IR spells it."""
    with _LOCK:
        return object_code.data_layout()


def compile_ir(
    modules: Sequence[str | bytes],
    exported: Iterable[str],
    *,
    loops: bool = True,
    assembly: bool = False,
    process: CompilerProcess | None = None,
) -> Compiled:
    """Optimise LLVM modules (text or bitcode) as one; return object code and the symbols it needs.

    Everything but the ``exported`` functions becomes private to the object. ``loops`` says that they are
    what the time goes to. With ``assembly`` the first result is assembly text instead. With a ``process``
    it is compiled there, under no lock of this one.
    """
    work = Work(tuple(modules), tuple(exported), loops, assembly)
    (found,) = compile_works([(work, process)])
    return found


def compile_works(
    works: Sequence[tuple[Work, Compiler | None]], meanwhile: Callable[[], None] | None = None
) -> list[Compiled]:
    """Object code of each work and the symbols it needs: by a process of its own, or here.

    ``meanwhile`` is done here first of all, while processes are at work.
    """
    try:
        for work, process in works:
            if process is not None:
                process.begin(work)
        if meanwhile is not None:
            meanwhile()
        here = {k: compiled_here(work) for k, (work, process) in enumerate(works) if process is None}
        found = [
            here[k] if process is None else compiled_by(work, process)
            for k, (work, process) in enumerate(works)
        ]
    except CompilerProcessError:
        raise
    except RuntimeError as error:
        raise CodeError(str(error)) from None
    return [(code, undefined_symbols(code) if is_elf(code) else needs) for code, needs in found]


def compiled_here(work: Work) -> Compiled:
    """What this process makes of a work."""
    with _LOCK:
        return compiled_object(work)


def compiled_by(work: Work, process: Compiler) -> Compiled:
    """What a process has made of the work it was given; what this one makes of it where it could not."""
    found = process.compiled()
    return compiled_here(work) if found is None else found[-1]


def link_object(
    code: bytes,
    exported: Iterable[str],
    imported: Mapping[str, int] | None = None,
    engine: str = "direct",
    beside: Sequence[bytes] = (),
) -> Loaded:
    """Load object code; the process and ``imported`` (name → address) supply what it needs.

    What lies ``beside`` is other object code: they need one another.
    """
    names = sorted(exported)
    for name, address in (imported or {}).items():
        if not address:  # LLVM would end the process
            raise CodeError(f"the symbol {name} has no address")
    with _LOCK:
        builder = llvm.JITLibraryBuilder()
        for each in (code, *beside):
            builder.add_object_img(each)
        for name, address in (imported or {}).items():
            builder.import_symbol(name, address)
        for name in names:
            builder.export_symbol(name)
        builder.add_current_process()
        try:
            tracker = builder.link(_jit(), f"funcgrad{next(_LIBRARY_NAMES)}")
        except RuntimeError as error:
            needed = () if beside else undefined_symbols(code)
            missing = [name for name in needed if not address_of(name)]
            detail = f": this process has no {', '.join(missing)}" if missing else ""
            raise CodeError(f"{error}{detail}") from None
    return Loaded({name: tracker[name] for name in names}, tracker, engine)


def address_of(symbol: str) -> int:
    """The address of a symbol of this process, or zero."""
    with _LOCK:
        return int(llvm.address_of_symbol(symbol) or 0)
