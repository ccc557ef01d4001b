"""The first kernel of all: the run time that it needs is compiled on another core, from the first call on.

A process of its own begins with it before the first function is recorded, and has done it, mostly, when the
kernel's text is there; then it compiles a part of the kernel too. The disk cache hands the run time over to
whoever loads it; where nothing is kept, it is compiled when it is asked for.
"""

from __future__ import annotations

import atexit
import contextlib
import os
from collections.abc import Iterator
from threading import RLock
from typing import TYPE_CHECKING

from funcgrad.compile.engines.compiler_process import CompilerProcess
from funcgrad.compile.engines.object_code import Work
from funcgrad.compile.runtime.cache import current, lookup
from funcgrad.later import Later
from funcgrad.processors import available_processors
from funcgrad.shared import keep_through_forks

if TYPE_CHECKING:
    from funcgrad.compile.engines.llvm import Compiled
    from funcgrad.compile.runtime.machine_code import Part

# They import llvmlite, which the process beside does meanwhile as well.
llvm = Later("funcgrad.compile.engines.llvm")
machine_code = Later("funcgrad.compile.runtime.machine_code")
signals = Later("funcgrad.compile.runtime.signals")
threads = Later("funcgrad.compile.runtime.threads")

WORTH_A_PROCESS = 2_000
"""Characters of source from which LLVM needs longer than a process needs to start."""


class Beginning:
    """The process that compiles the run time, from the first call until its first kernel is made."""

    __slots__ = ("asked", "lock", "process")

    def __init__(self) -> None:
        self.asked = False
        """Whether it has been looked whether the run time is there."""
        self.process: CompilerProcess | None = None
        self.lock = RLock()

    def begin(self) -> None:
        """Begin, where a run time is needed and nobody has compiled one.

        A process takes long to start: it is started at once where nothing can be on disk.
        """
        with self.lock:
            if self.asked:
                return
            self.asked = True
        if available_processors() < 2 or not current().keeps:
            return
        process = CompilerProcess() if current().is_empty else None
        if not missing_parts("") or lookup(machine_code.FOR_CALLS.key) is not None:
            if process is not None:
                process.end()
            return
        process = process or CompilerProcess()
        process.begin(machine_code.machine_work(machine_code.FOR_CALLS))
        with self.lock:
            self.process = process
            atexit.register(self.end)

    def take(self) -> CompilerProcess | None:
        """The process, which whoever takes it has to end."""
        with self.lock:
            process, self.process = self.process, None
            if process is not None:
                atexit.unregister(self.end)
            return process

    def end(self) -> None:
        """End the process if nobody has taken it."""
        process = self.take()
        if process is not None:
            process.end()

    def forget(self) -> None:
        """In a forked child: the process is the parent's."""
        process = self.take()
        if process is not None:
            process.forget()


BEGINNING = Beginning()
keep_through_forks(BEGINNING.lock)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=BEGINNING.forget)


def missing_parts(source: str) -> list[Part]:
    """The parts of the run time that a kernel needs and nobody has compiled."""
    needed = [
        (machine_code.FOR_CALLS, not machine_code.begun()),
        (machine_code.FOR_THREADS, "parallel(" in source and not threads.begun()),
        (machine_code.FOR_SIGNALS, "poll(" in source and not signals.begun()),
    ]
    if not any(wanted for _, wanted in needed) or not machine_code.supported() or not current().keeps:
        return []
    return [part for part, wanted in needed if wanted and not current().holds(part.key)]


class Beside:
    """A process that has begun with the run time, and is given what else there is to compile."""

    def __init__(self, process: CompilerProcess, source: str) -> None:
        self.process = process
        others = [part for part in missing_parts(source) if part is not machine_code.FOR_CALLS]
        process.begin(*[machine_code.machine_work(part) for part in others])
        self.parts = [machine_code.FOR_CALLS, *others]
        self.waited_for = False

    def begin(self, work: Work) -> None:
        """Give it one more thing to compile."""
        self.process.begin(work)

    def compiled(self) -> list[Compiled] | None:
        """What else it was given, compiled; the run time is kept on disk. None where it could not begin."""
        self.waited_for = True
        found = self.process.compiled()
        if found is None:
            return None
        for part, (code, needs) in zip(self.parts, found, strict=False):
            machine_code.store_machine(part, code, needs)
        return found[len(self.parts) :]


@contextlib.contextmanager
def run_time_beside(source: str) -> Iterator[Beside | None]:
    """The process that has begun with the run time, while a kernel is made; None where it is not needed."""
    if len(source) >= WORTH_A_PROCESS:
        BEGINNING.begin()
    process = BEGINNING.take()
    if process is None:
        yield None
        return
    with process:
        beside = Beside(process, source)
        yield beside
        if not beside.waited_for:
            with contextlib.suppress(RuntimeError):  # as in `compile_run_time`
                beside.compiled()


def compile_run_time(source: str) -> None:
    """Compile here what a kernel needs of the run time, while it is compiled elsewhere."""
    for part in missing_parts(source):
        # What this system cannot have is said by whoever needs it.
        with contextlib.suppress(llvm.CodeError):
            machine_code.machine_binary(part)
