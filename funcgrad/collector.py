"""Python's garbage collector, paused while much is made that stays."""

from __future__ import annotations

import gc
from types import TracebackType

__all__ = ["CollectorPaused"]


class CollectorPaused:
    """No garbage collection within: for imports, compilations, and transforms of large Programs.

    What these allocate stays alive until they end, so the collector would only walk it again and again: half
    the time of transforming 100,000 equations, a tenth of a first call. Pauses may lie within each other.

    >>> with CollectorPaused():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """

    __slots__ = ("_ends",)

    def __enter__(self) -> None:
        self._ends = gc.isenabled()
        if self._ends:
            gc.disable()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ends:
            gc.enable()
