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


@contextmanager
def readings_told(reader: Reader | None) -> Iterator[None]:
    """Within: `reader` is told of each value that is read, or nobody where it is None."""
    token = READER.set(reader)
    try:
        yield
    finally:
        READER.reset(token)
