"""Who is told that a value of a tracer has been read, so that what was decided by it can be tested later."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from funcgrad.tracing.tracer import Tracer

Reader = Callable[["Tracer", Any], None]

READER: ContextVar[Reader | None] = ContextVar("funcgrad_reader", default=None)
"""Called with each tracer that is read and its value; None where nobody asks."""


class NoPath(BaseException):
    """A path cannot be recorded: no values, too many operations, or it leaves something changed outside.

    No Exception, lest the user's own code catch it.
    """


class Unguarded(NoPath):
    """What was computed for a reading has raised: nothing in a path would say when an ``except`` is taken."""


@contextmanager
def readings_told(reader: Reader | None) -> Iterator[None]:
    """Within: `reader` is told of each value that is read, or nobody where it is None."""
    token = READER.set(reader)
    try:
        yield
    finally:
        READER.reset(token)
