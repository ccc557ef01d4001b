"""Python's garbage collector, paused while much is made that stays."""

from __future__ import annotations

import gc
from types import TracebackType

__all__ = ["CollectorPaused"]

MANY = 10_000
"""Objects made in a pause that are worth it to be called old when it ends: a millisecond to walk."""

_CAN_FREEZE = hasattr(gc, "freeze")  # as CPython's


class CollectorPaused:
    """No garbage collection within: for imports, compilations, and transforms of large Programs.

    What these allocate stays alive until they end, so the collector would only walk it again and again: half
    the time of transforming 100,000 equations, a tenth of a first call. Pauses may lie within each other.
    Where much has been made it is among the old objects when the pause ends: as young ones the next two
    collections would walk it, a seventh of the first gradient of 100,000 operations.

    >>> with CollectorPaused():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """

    __slots__ = ("_before", "_ends")

    def __enter__(self) -> None:
        self._ends = gc.isenabled()
        if self._ends:
            gc.disable()
            self._before = gc.get_count()[0]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ends:
            made = gc.get_count()[0] - self._before
            if _CAN_FREEZE and made > MANY and not gc.get_freeze_count():  # which walks what is frozen
                # Joins lists and walks none. What somebody has frozen would not stay so.
                gc.freeze()
                gc.unfreeze()
            gc.enable()
