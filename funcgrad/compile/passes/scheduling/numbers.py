"""Arrays of the numbers from 0 on, which need no memory: what stands at a position is the position."""

from __future__ import annotations

import numpy as np

from funcgrad.compile.passes.scheduling.ranges import stays_as_it_is
from funcgrad.compile.passes.scheduling.views import Buffer, View

NUMBERS = Buffer("", np.dtype(np.int64), 0, "index")
"""Stands for the memory of any such array."""


def holds_numbers(buffer: Buffer) -> bool:
    """Whether a block holds the numbers from 0 on, and always will."""
    if buffer.role != "captured" or buffer.dtype != np.int64 or not stays_as_it_is(buffer.source):
        return False
    numbers = buffer.source.reshape(-1)
    ends = not buffer.size or (numbers[0] == 0 and numbers[-1] == buffer.size - 1)
    return ends and buffer.source.flags.c_contiguous and np.array_equal(numbers, np.arange(buffer.size))


def in_no_memory(view: View) -> View:
    """A view whose elements are positions as a view of no memory; any other as it is."""
    return view._replace(buffer=NUMBERS) if holds_numbers(view.buffer) else view
