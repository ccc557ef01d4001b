"""A compilation that takes longer than a second says so: one line, which ends with how long it took.

The line goes to stderr; in a notebook it is a display that is replaced. A thread that watches the time is
started only for Programs that are large enough to take that long.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextvars import ContextVar

from funcgrad.compile.runtime.cache import current
from funcgrad.config import notices_are_given
from funcgrad.ir.program import Program
from funcgrad.types import Anything

__all__ = ["LARGE_PROGRAM", "LARGE_SOURCE", "said_when_long", "watch_source"]

PATIENCE = 1.0
"""Seconds that pass without a word."""

EXPLAINED_FROM = 2.0
"""Seconds from which on a compilation says what makes it long, and what to do."""

LARGE_PROGRAM, LARGE_SOURCE = 200, 10_000
"""Equations, and characters of a kernel's source, from which compiling may take so long."""

UNROLLED_FROM = 100
"""Operations that one line makes if it stands in a loop that was unrolled."""

MOST_ARGUMENTS = 4


class _Line:
    """One line that is written in two parts."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.handle = _displayed(f"{text} …")
        if self.handle is None:
            _write(f"{text} …")

    def end(self, text: str) -> None:
        """Say how it ended."""
        if self.handle is not None:
            self.handle.update(_Plain(f"{self.text}: {text}"))
        else:
            _write(f" {text}\n")


def _say(text: str) -> None:
    if _displayed(text) is None:
        _write(f"{text}\n")


class _Plain:
    """Text as a notebook displays it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _write(text: str) -> None:
    # There may be no stderr, or a closed one, or one that knows no such character: not worth an error.
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()


def _displayed(text: str) -> Anything:
    """The handle of a display in the notebook that this process is the kernel of, or None."""
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = get_ipython() if get_ipython is not None else None
    if getattr(shell, "kernel", None) is None:
        return None
    from IPython.display import display  # type: ignore[import-not-found,unused-ignore] # noqa: PLC0415

    return display(_Plain(text), display_id=True)  # type: ignore[no-untyped-call,unused-ignore]


class _Watch:
    """Watches over one compilation."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.start = time.perf_counter()
        self.done = threading.Event()
        self.thread: threading.Thread | None = None
        self.line: _Line | None = None

    def begin(self) -> None:
        """Start watching, if nobody does."""
        if self.thread is None:
            self.thread = threading.Thread(target=self._wait, name="funcgrad notices", daemon=True)
            self.thread.start()

    def _wait(self) -> None:
        if not self.done.wait(self.start + PATIENCE - time.perf_counter()):
            self.line = _Line(f"funcgrad: compiling {described(self.program)}")

    def end(self, finished: bool) -> None:
        """Stop watching, and end the line if there is one."""
        if self.thread is None:
            return
        self.done.set()
        self.thread.join()
        if self.line is not None:
            directory = current().directory
            kept = f"kept in {directory}" if directory is not None else "not kept on disk"
            seconds = f"{time.perf_counter() - self.start:.1f} s"
            self.line.end(f"{seconds}, {kept}" if finished else f"left after {seconds}")
            why = why_long(self.program)
            if why and time.perf_counter() - self.start >= EXPLAINED_FROM:
                _say(f"funcgrad: {why}")


_WATCH: ContextVar[_Watch | None] = ContextVar("watch", default=None)


@contextlib.contextmanager
def said_when_long(program: Program) -> Iterator[None]:
    """Around the compilation of a Program."""
    if not notices_are_given() or _WATCH.get() is not None:
        yield
        return
    watch = _Watch(program)
    token = _WATCH.set(watch)
    finished = False
    try:
        if len(program.equations) >= LARGE_PROGRAM:
            watch.begin()
        yield
        finished = True
    finally:
        _WATCH.reset(token)
        watch.end(finished)


def watch_source(source: str) -> None:
    """Note what is about to be compiled."""
    watch = _WATCH.get()
    if watch is not None and len(source) >= LARGE_SOURCE:
        watch.begin()


def why_long(program: Program) -> str:
    """What makes a Program long, where that is a loop of Python's, and what to do; ``""`` elsewhere.

    >>> def f(x):
    ...     for _ in range(200):
    ...         x = np.sin(x)
    ...     return x
    >>> why_long(fg.make_program(f)(1.0)).startswith("f has 200 operations, 200 of them made by line 3 of")
    True
    """
    places = Counter([(e.source.file, e.source.line) for e in program.equations if e.source is not None])
    if not places:
        return ""
    (file, line), count = places.most_common(1)[0]
    if count < UNROLLED_FROM:
        return ""
    return (
        f"{program.name} has {len(program):,} operations, {count:,} of them made by line {line} of "
        f"{os.path.basename(file)}: a loop that is recorded trip by trip. fg.scan compiles its body once, "
        "and so does fg.jit where it keeps the loop a loop; fg.explain says why it did not"
    )


def described(program: Program) -> str:
    """The name of a Program and what it takes, in a few words."""
    kinds = [str(v.aval) for v in program.inputs]
    if len(kinds) > MOST_ARGUMENTS:
        kinds[MOST_ARGUMENTS:] = [f"and {len(kinds) - MOST_ARGUMENTS} more"]
    return f"{program.name or 'a function'} for {', '.join(kinds)}" if kinds else str(program.name)
