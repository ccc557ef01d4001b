"""The notice that an un-jitted call records a loop trip by trip, which `jit` would keep a loop."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import CodeType
from typing import Any

from funcgrad.config import notices_are_given
from funcgrad.tracing.recorder import Recorder

MANY_OPERATIONS = 2000
FEW_LINES = 12
MOST_SAID = 1000

_said: dict[CodeType, None] = {}
_UNNOTICED: ContextVar[bool] = ContextVar("funcgrad_loops_unnoticed", default=False)


@contextmanager
def loops_unnoticed() -> Iterator[None]:
    """Within: nothing is said, since `jit` itself has the function run trip by trip."""
    token = _UNNOTICED.set(True)
    try:
        yield
    finally:
        _UNNOTICED.reset(token)


def notice_loop(function: Callable[..., Any], recorder: Recorder) -> None:
    """Say once for each function, on stderr, that many operations were recorded from a handful of lines."""
    function, transform = getattr(function, "noticed_as", (function, recorder.transform or "the transform"))
    code = getattr(function, "__code__", None)
    if code is None or code in _said or recorder.native or _UNNOTICED.get():
        return
    if not notices_are_given() or sys.stderr is None:
        return
    # By identity first: a code object takes long to hash.
    met = {id(place): place for place in recorder.sources}
    places = {place for place in met.values() if type(place) is tuple and place}
    if len(places) > 20 * FEW_LINES:
        return
    lines = {(inner.co_filename, line_at(inner, offset)) for inner, offset in places}
    if len(lines) > FEW_LINES:
        return
    if len(_said) >= MOST_SAID:
        _said.clear()
    _said[code] = None
    name, count = code.co_name, sum(type(step) is tuple for step in recorder.steps)
    of_lines = "one line" if len(lines) == 1 else f"{len(lines)} lines"
    print(  # noqa: T201 - a notice
        f"funcgrad: {transform} of {name} records {count:,} operations of {of_lines} at every call; "
        f"fg.jit(fg.{transform}({name})) keeps its loops loops",
        file=sys.stderr,
    )


def notice_as(function: Callable[..., Any], users: Callable[..., Any], transform: str) -> None:
    """Have notices about a function of ours name the user's, and the transform that was asked for."""
    function.noticed_as = users, transform  # type: ignore[attr-defined]


def line_at(code: CodeType, offset: int) -> int | None:
    """The line of an instruction."""
    for start, stop, line in code.co_lines():
        if start <= offset < stop:
            return line
    return code.co_firstlineno
