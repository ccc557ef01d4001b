"""The first kernel of all: the run time that it needs is compiled beside it, on another core.

Whichever takes long is compiled in a process of its own, the other one here. The disk cache hands the run
time over to whoever loads it; where nothing is kept, it is compiled when it is asked for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from funcgrad.compile.engines.compiler_process import CompilerProcess
from funcgrad.compile.engines.llvm import CodeError
from funcgrad.compile.runtime import machine_code, signals, threads
from funcgrad.compile.runtime.cache import current
from funcgrad.compile.runtime.machine_code import FOR_CALLS, FOR_SIGNALS, FOR_THREADS, Part

WORTH_A_PROCESS = 2_000
"""Characters of source from which LLVM needs longer than a process needs to start."""


def missing_parts(source: str) -> list[Part]:
    """The parts of the run time that a kernel needs and nobody has compiled."""
    needed = [
        (FOR_CALLS, not machine_code.begun()),
        (FOR_THREADS, "parallel(" in source and not threads.begun()),
        (FOR_SIGNALS, "poll(" in source and not signals.begun()),
    ]
    if not any(wanted for _, wanted in needed) or not machine_code.supported() or not current().keeps:
        return []
    return [part for part, wanted in needed if wanted and not current().holds(part.key)]


def compile_run_time(source: str) -> None:
    """Compile here what a kernel needs of the run time, while it is compiled elsewhere."""
    for part in missing_parts(source):
        # What this system cannot have is said by whoever needs it.
        with contextlib.suppress(CodeError):
            machine_code.machine_binary(part)


@contextlib.contextmanager
def run_time_beside(source: str) -> Iterator[None]:
    """Compile elsewhere what a kernel needs of the run time, while it is compiled here."""
    missing = missing_parts(source) if len(source) >= WORTH_A_PROCESS else []
    if not missing:
        yield
        return
    with CompilerProcess() as process:
        process.begin(*[machine_code.machine_work(part) for part in missing])
        yield
        found: list[tuple[bytes, tuple[str, ...]]] = []
        with contextlib.suppress(RuntimeError):  # as above
            found = process.compiled() or []
        for part, (code, needs) in zip(missing, found, strict=False):
            machine_code.store_machine(part, code, needs)
