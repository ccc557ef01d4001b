"""Steps that threads share, one after the other over the same long rows, as one step in tiles of rows.

Each of them then reads its rows while they are still in the cache, and what one leaves for the next needs the
memory of a tile. Where rows are short, `fusion` keeps loops apart, so that they stay vectors of rows; this
brings them together again. Knows nothing of text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence

from funcgrad.compile.passes.arranging.dividing import CHUNKS, Shared, Step, names_from_outside, nests_of
from funcgrad.compile.passes.arranging.fusion import (
    MANY_STREAMS,
    WINDOW,
    accumulated,
    inner_size,
    is_row,
    rows_apart,
)
from funcgrad.compile.passes.scheduling.nests import Special, names_made
from funcgrad.compile.passes.scheduling.views import Buffer

LEAST_BYTES = 2**24
"""Memory that two steps touch from which it is not in the cache any more when the second one begins."""

TILE_BYTES = 2**19
"""What all steps touch of a tile: half of the second cache of ordinary processors."""

SHORTEST_ROW = 8
"""Elements of a row, where it is not a single one, below which loops over rows are slower than the memory."""

MOST_ROWS, LEAST_ROWS = 4096, 64
"""Rows of a tile. Fewer are not worth their loops."""


def tiled_steps(steps: Sequence[Step | Shared], own: Container[Buffer]) -> list[Step | Shared]:
    """The steps, with those that are better done tile by tile as one; `own` is what only they touch."""
    if len([step for step in steps if isinstance(step, Shared)]) < 2:
        return list(steps)
    users = Counter([buffer for step in steps for buffer in set(step.buffers)])
    found: list[Step | Shared] = []
    waiting = list(steps)
    while waiting:
        first, *waiting = waiting
        run = [first] if isinstance(first, Shared) and is_fast(first) else []
        between: list[Step | Shared] = []
        for step in waiting[:WINDOW] if run else ():
            if isinstance(step, Shared) and is_fast(step) and belongs(run, step) and may_pass(step, between):
                run.append(step)
            else:
                between.append(step)
        if len(run) > 1 and bytes_read_again(run) >= LEAST_BYTES:
            found.append(tiled(run, users, own))
            waiting[:WINDOW] = between
        else:
            found.append(first)
    return found


def bytes_read_again(run: Sequence[Shared]) -> int:
    """The memory that several of the steps touch."""
    users = Counter([buffer for step in run for buffer in set(step.buffers)])
    return sum(buffer.nbytes for buffer, count in users.items() if count > 1)


def is_fast(step: Shared) -> bool:
    """Whether the loops of a step wait for memory.

    What touches many blocks computes much, and is slower in tiles: bundle adjustment's three loops over 35,
    31 and 30 blocks took 4.1 ms one after the other and 10.4 in tiles.
    """
    few = len(set(step.buffers)) <= MANY_STREAMS and not any(nest.ordered for nest in step.nests)
    return few and all(size == 1 or size >= SHORTEST_ROW for size in map(inner_size, step.loops))


def belongs(run: Sequence[Shared], step: Shared) -> bool:
    """Whether a step touches what those of a run do, and may share tiles with them."""
    rows = step.loops[0][0].size
    if rows != run[0].loops[0][0].size or not rows_of_tile([*run, step]):
        return False
    touched = {buffer for other in run for buffer in other.buffers}
    if touched.isdisjoint(step.buffers):
        return False
    if any(not other.partial.keys().isdisjoint(step.cells) for other in run):
        return False
    return all(
        rows_apart(a, a_loops[0], b, b_loops[0])
        for other in run
        for one, a_loops in zip(other.nests, other.loops, strict=True)
        for two, b_loops in zip(step.nests, step.loops, strict=True)
        for a, a_written in one.views()
        for b, b_written in two.views()
        if a.buffer is b.buffer and (a_written or b_written)
    ) and touched.isdisjoint([view.buffer for nest in step.nests for view, _ in nest.fills])


def rows_of_tile(run: Sequence[Shared]) -> int:
    """How many rows a tile has, a power of two; 0 where rows are so long that few fit."""
    rows = run[0].loops[0][0].size
    streams = {buffer for step in run for buffer in step.buffers if buffer.size >= rows}
    of_row = sum(buffer.nbytes // rows for buffer in streams)
    count = MOST_ROWS
    while count >= LEAST_ROWS and count * of_row > TILE_BYTES:
        count //= 2
    return count if count >= LEAST_ROWS else 0


def may_pass(step: Shared, others: Sequence[Step | Shared]) -> bool:
    """Whether a step may run before steps that stand before it: none makes what the other needs."""
    touched, written = set(step.buffers), written_by(step)
    needed = {*step.cells, *names_from_outside(step.nests)}
    for other in others:
        if (isinstance(other, Special) and other.defines) or not made_by(other).isdisjoint(needed):
            return False
        if not written_by(other).isdisjoint(touched) or not written.isdisjoint(other.buffers):
            return False
    return True


def written_by(step: Step | Shared) -> set[Buffer]:
    """The memory that a step writes."""
    fills = {view.buffer for nest in nests_of(step) for view, _ in nest.fills}
    return fills | {view.buffer for view, is_written in step.views() if is_written}


def made_by(step: Step | Shared) -> set[str]:
    """The locals that a step makes."""
    return {name for nest in nests_of(step) for name in names_made(nest)}


def tiled(run: Sequence[Shared], users: Counter[Buffer], own: Container[Buffer]) -> Shared:
    """A run of steps as one, whose values in between have the memory of a tile for each chunk."""
    rows = rows_of_tile(run)
    made = Shared(
        run[0].name,
        [nest for step in run for nest in step.nests],
        [turns for step in run for turns in step.loops],
        {buffer: size for step in run for buffer, size in step.rows.items()},
        {name: cell for step in run for name, cell in step.cells.items()},
        {buffer: private for step in run for buffer, private in step.private.items()},
        {name: partial for step in run for name, partial in step.partial.items()},
        [len(step.nests) for step in run],
        rows,
    )
    inside = Counter([buffer for step in run for buffer in set(step.buffers)])
    kept = {*made.rows, *made.private, *accumulated(made.nests, made.loops)}
    kept |= {view.buffer for nest in made.nests for view, _ in nest.fills}
    strides: dict[Buffer, int] = {}
    for nest, turns in zip(made.nests, made.loops, strict=True):
        for view, _ in nest.views():
            buffer, axes = view.buffer, turns[0].axes
            if buffer.role == "scratch" and buffer in own and buffer not in kept:
                stride = view.strides[axes[-1]]
                fits = users[buffer] == inside[buffer] and not view.base and is_row(view, axes, stride)
                strides[buffer] = stride if fits and strides.get(buffer, stride) == stride else -1
    made.tiles = {buffer: stride for buffer, stride in strides.items() if stride > 0}
    for buffer, stride in made.tiles.items():
        buffer.size = CHUNKS * rows * stride
    return made
