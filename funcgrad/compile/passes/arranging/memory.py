"""Where values in between lie: blocks whose times of use do not overlap share memory."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence

from funcgrad.compile.passes.arranging.dividing import Shared
from funcgrad.compile.passes.arranging.fusion import Joined
from funcgrad.compile.passes.scheduling.nests import Nest, Special
from funcgrad.compile.passes.scheduling.views import Buffer

ALIGNMENT = 64


def scratch_offsets(
    buffers: Sequence[Buffer],
    steps: Sequence[Nest | Special | Joined | Shared],
    always: Sequence[Buffer] = (),
) -> tuple[dict[Buffer, int], int]:
    """The offset in bytes of each scratch block that is used, and the size of the whole.

    Blocks are placed in the order of their first use, each in the lowest gap between those alive with it;
    those that are in use `always` come last.
    """
    for buffer in buffers:
        buffer.first = buffer.last = -1
    for position, step in enumerate(steps):
        for buffer in step.buffers:
            if buffer.first < 0:
                buffer.first = position
            buffer.last = position
    placed: dict[Buffer, int] = {}
    alive: list[tuple[int, int, int]] = []
    """Where those in use begin and end, in that order, and their last use."""
    total = 0
    scratch = [b for b in buffers if b.role == "scratch" and b.first >= 0]
    for buffer in sorted(scratch, key=lambda b: (b.first, -b.nbytes)):
        alive = [place for place in alive if place[2] >= buffer.first]
        size = aligned(buffer.nbytes)
        offset = 0
        for begin, end, _ in alive:
            if offset + size <= begin:
                break
            offset = max(offset, end)
        placed[buffer] = offset
        insort(alive, (offset, offset + size, buffer.last))
        total = max(total, offset + size)
    for buffer in always:
        placed[buffer] = total
        total += aligned(buffer.nbytes)
    return placed, total


def aligned(n_bytes: int) -> int:
    """The size rounded up to whole cache lines."""
    return max(-(-n_bytes // ALIGNMENT) * ALIGNMENT, ALIGNMENT)
