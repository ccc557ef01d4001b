"""Python's garbage collector, paused while much is made that stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collector_paused"]

PAUSES_FROM = 2000


@contextmanager
def collector_paused(n_steps: int) -> Iterator[None]:
    """No garbage collection while a large Program is transformed.

    Everything a transform allocates stays alive until it ends, so the collector would only walk it
    again and again: half the time of a Program of 100,000 equations.
    """
    if n_steps < PAUSES_FROM or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
