"""Arrays of the numbers from 0 on, which need no memory: what stands at a position is the position."""

from __future__ import annotations

import numpy as np

from funcgrad.compile.passes.scheduling.ranges import stays_as_it_is
from funcgrad.compile.passes.scheduling.views import Buffer

NUMBERS = Buffer("", np.dtype(np.int64), 0, "index")
"""Stands for the memory of any such array."""


def holds_numbers(buffer: Buffer) -> bool:
    """Whether a block holds the numbers from 0 on, and always will."""
    if buffer.role != "captured" or buffer.dtype != np.int64 or not stays_as_it_is(buffer.source):
        return False
    return buffer.source.flags.c_contiguous and np.array_equal(buffer.source.ravel(), np.arange(buffer.size))
