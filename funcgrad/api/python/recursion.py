"""Functions that call themselves under a traced condition: what might run is recorded, up to a limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from funcgrad.api.calling.arguments import here
from funcgrad.errors import TracedBranchError

MOST, MORE = 14, 3
"""So many blocks of a statement may be recorded within blocks of it, and so many more for each that is open.

A function that calls itself once makes few; one that does so twice makes twice as many at each depth.
"""
DEEPEST = 30
"""So deep may they be within each other: each takes some twenty frames of Python."""


class Nested:
    """The statements whose blocks are being recorded, and how often one was met within itself."""

    __slots__ = ("counts", "open")

    def __init__(self) -> None:
        self.open: dict[Any, int] = {}
        self.counts: dict[Any, int] = {}


_NESTED: ContextVar[Nested | None] = ContextVar("funcgrad_nested", default=None)


@contextmanager
def within_itself(block: Callable[..., Any], line: int) -> Iterator[None]:
    """Within: a block of the statement at a line is recorded; raises TracedBranchError for too many."""
    found = _NESTED.get()
    token = None
    if found is None:
        found = Nested()
        token = _NESTED.set(found)
    key = (block.__code__.co_filename, line)
    depth = found.open.get(key, 0)
    try:
        if depth:
            found.counts[key] = found.counts.get(key, 0) + 1
            if found.counts[key] > MOST + MORE * depth or depth > DEEPEST:
                raise TracedBranchError(
                    f"the branch of line {line} calls its own function again, and whether it does is traced: "
                    f"{found.counts[key] - 1} calls that might be have been recorded, and there are more",
                    source=here(),
                    remedy="Un-jitted the function runs as it stands: leave out fg.jit. For compiled code "
                    "write the recursion as a loop over a stack of fixed size, or fix its depth.",
                ).on_one_path()
        found.open[key] = depth + 1
        yield
    finally:
        found.open[key] = depth
        if token is not None:
            _NESTED.reset(token)
