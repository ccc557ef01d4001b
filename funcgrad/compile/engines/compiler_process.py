"""Long compilations, in a process of their own: LLVM cannot be interrupted, but a process can be ended.

Nothing of LLVM's is held meanwhile in the process that waits: its other threads compile and fork, and after
Ctrl-C nothing goes on. Where no process can be started the caller compiles by itself, and Ctrl-C is heard
when that is done.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from types import TracebackType
from typing import Any

from funcgrad.compile.engines import object_code
from funcgrad.compile.engines.object_code import READY, Work

__all__ = ["CompilerProcess", "CompilerProcessError"]


class CompilerProcessError(RuntimeError):
    """The process that compiled came to an end by itself."""


class CompilerProcess:
    """A process that compiles one `Work`, as a context: started at once, and ended with it."""

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
            # What is no text the import system passes over, here and there.
            self._stdin.write(json.dumps(sys.path, default=str).encode() + b"\n")
            self._stdin.flush()
        except OSError:
            self._end()

    @property
    def _stdin(self) -> Any:
        assert self._process is not None
        return self._process.stdin

    def __enter__(self) -> CompilerProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end()

    def _end(self) -> None:
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

    def compiled(self, work: Work) -> tuple[bytes, tuple[str, ...]] | None:
        """What `object_code.compiled_object` returns; None where the process could not begin.

        Raises RuntimeError for what LLVM refuses, CompilerProcessError where the process ended too early.
        """
        if self._process is None:
            return None
        out, _ = self._process.communicate(pickle.dumps(tuple(work)))
        if not out.startswith(READY):
            return None
        if self._process.returncode != 0:
            raise CompilerProcessError(
                f"the process that compiled ended with {self._process.returncode} before it was done: "
                "there may be too little memory"
            )
        code, needs = pickle.loads(out[len(READY) :])
        if needs is None:
            raise RuntimeError(code)
        return code, needs
