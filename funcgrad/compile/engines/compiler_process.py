"""Long compilations, in a process of their own: LLVM cannot be interrupted, but a process can be ended.

Nothing of LLVM's is held meanwhile in the process that waits: its other threads compile and fork, and after
Ctrl-C nothing goes on. Where no process can be started the caller compiles by itself, and Ctrl-C is heard
when that is done.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import IO

try:
    import fcntl
except ImportError:  # pragma: no cover - other systems
    fcntl = None  # type: ignore[assignment]

from funcgrad.compile.engines import object_code
from funcgrad.compile.engines.object_code import READY, Work
from funcgrad.types import Anything


class CompilerProcessError(RuntimeError):
    """The process that compiled came to an end by itself."""


class CompilerProcess:
    """A process that compiles each `Work` it is given, as a context: started at once, and ended with it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        program, python = object_code.__file__, sys.executable or ""
        # An application with Python inside may name itself here, and would be started once more.
        if not os.path.basename(python).lower().startswith("python") or not os.path.isfile(program):
            return
        try:
            self._process = subprocess.Popen(
                [python, "-I", "-S", program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
            widen(self._stdin)
            # What is no text the import system passes over, here and there.
            self._stdin.write(json.dumps(sys.path, default=str).encode() + b"\n")
            self._stdin.flush()
        except OSError:
            self.end()

    @property
    def _stdin(self) -> Anything:
        assert self._process is not None
        return self._process.stdin

    def __enter__(self) -> CompilerProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.end()

    def end(self) -> None:
        """End the process, whatever it is doing."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for file in (process.stdin, process.stdout):
            if file is not None and not file.closed:
                try:
                    file.close()
                except OSError:  # what was still to be written has no reader
                    continue
        process.wait()

    def begin(self, *works: Work) -> None:
        """Give it what it is to compile, after what it was given before.

        Nothing is waited for where a pipe holds as much. What it has made by then has to fit in a pipe too.
        """
        if self._process is None:
            return
        with contextlib.suppress(OSError):  # it has ended already: `compiled` says how
            self._stdin.write(b"".join([pickle.dumps(tuple(work)) for work in works]))
            self._stdin.flush()

    def forget(self) -> None:
        """Leave it to the process that started it, of which this one was forked."""
        process, self._process = self._process, None
        if process is not None:
            process.returncode = 0  # nobody can wait for it here
            for file in (process.stdin, process.stdout):
                if file is not None:
                    file.close()

    def compiled(self) -> list[tuple[bytes, tuple[str, ...]]] | None:
        """What `object_code.compiled_object` returns for each that was begun; None where it could not begin.

        It is given nothing afterwards.

        Raises RuntimeError for what LLVM refuses, CompilerProcessError where the process ended too early.
        """
        if self._process is None:
            return None
        out = self._said()
        if not out.startswith(READY):
            return None
        if self._process.returncode != 0:
            raise CompilerProcessError(
                f"the process that compiled ended with {self._process.returncode} before it was done: "
                "there may be too little memory"
            )
        found = list(unpickled(out[len(READY) :]))
        for code, needs in found:
            if needs is None:
                raise RuntimeError(code)
        return found

    def _said(self) -> bytes:
        """All that it says until it ends.

        A signal that another thread was given, or that came just before the wait, interrupts no system call:
        the wait is left every now and then, for Python to hear of it.
        """
        assert self._process is not None
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self._process.communicate(timeout=HEARING)[0]


HEARING = 0.1
"""Seconds after which a signal is heard while a compilation is waited for."""

PIPE = 1 << 20
"""Bytes of text that a process is given without being waited for."""


def widen(pipe: IO[bytes]) -> None:
    """Make a pipe hold the text of a module, where the system has such a thing."""
    wide = getattr(fcntl, "F_SETPIPE_SZ", None)
    if wide is not None:
        with contextlib.suppress(OSError):  # a user may have only so much: then the process is waited for
            fcntl.fcntl(pipe, wide, PIPE)


def unpickled(stream: bytes) -> Iterator[tuple[bytes, tuple[str, ...]]]:
    """The pairs that lie one after the other."""
    file = io.BytesIO(stream)
    while file.tell() < len(stream):
        yield pickle.load(file)
