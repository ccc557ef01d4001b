"""Long loops of exported modules on Numba's threads: chunks of the outermost loop, each with sums of its own.

There are as many chunks as in kernels (`passes/dividing`), whatever the number of threads, and what they have
summed is added in their order, so results do not depend on the number of threads.

Numba's threads wait for each other at the end of a loop: one whose core something else uses holds up all. So
the module asks for one thread where a call has less work than kernels share.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager

from funcgrad.compile.emit.loop_order import loops_of
from funcgrad.compile.emit.statements import NestWriter, Writer
from funcgrad.compile.passes.arranging.dividing import CHUNKS, SHORTEST, nests_of, seconds, write_turn
from funcgrad.compile.passes.arranging.fusion import Joined
from funcgrad.compile.passes.scheduling.nests import Nest, Reduce
from funcgrad.compile.passes.scheduling.views import Buffer
from funcgrad.ir.text.numpy_source import scalar_type

Step = Nest | Joined
Turns = Callable[[str, int], AbstractContextManager[None]]


IN_ANY_ORDER = "  # in any order"
"""What stands behind the head of a long loop that is not divided, until `side_by_side` has seen it."""


class Division:
    """The long steps of the first text, and those in their places in the next, so that these are alike.

    With `threads` they are divided between Numba's threads.
    """

    def __init__(self, *, threads: bool) -> None:
        self.threads = threads
        self._places: dict[int, int] = {}
        self._decided = False

    def takes(self, place: int, step: Step) -> bool:
        """Whether the step at a place is long, and its turns may run in any order."""
        if not self._decided and is_divisible(step) and seconds(nests_of(step)) >= SHORTEST:
            self._places[place] = turns_worth_sharing(step)
        return place in self._places and (not self.threads or is_divisible(step))

    def least(self, place: int) -> int:
        """How many turns of all its loops the step at a place has at least where threads share them."""
        return self._places[place]

    def decide(self) -> None:
        """The first text is written."""
        self._decided = True


def is_divisible(step: Step) -> bool:
    """Whether turns of the outermost loop may run in any order, but for sums of all of them."""
    nests = nests_of(step)
    loops = step.loops if isinstance(step, Joined) else [loops_of(nests[0])]
    if not loops[0] or loops[0][0].size < CHUNKS or any(nest.ordered for nest in nests):
        return False
    return not any(
        isinstance(s, Reduce) and not isinstance(s.target, str) and turns[0].axes[0] in s.axes
        for nest, turns in zip(nests, loops, strict=True)
        for s in nest.body
    )


def turns_of(step: Step) -> int:
    """How often the innermost lines of the first of its loops run."""
    return math.prod(nests_of(step)[0].shape)


def turns_worth_sharing(step: Step) -> int:
    """As many turns as have the least work that is shared, in two digits."""
    least = SHORTEST * turns_of(step) / seconds(nests_of(step))
    return max(int(float(f"{least:.1e}")), 1)


def chunked(writer: Writer, step: Step, least: int, row: Callable[[Buffer, int], str], turns: Turns) -> None:
    """The loops in chunks: `row` makes the memory of one row, `turns` heads the loop of a chunk.

    Fewer turns than the least run on one thread.
    """
    nests = nests_of(step)
    loops = step.loops if isinstance(step, Joined) else [loops_of(nests[0])]
    makers = [NestWriter(writer, nest, own) for nest, own in zip(nests, loops, strict=True)]
    sums = [maker.prepared() for maker in makers]
    every = [total for group in sums for total in group]
    totals = [(t, t.statement.target) for t in every if isinstance(t.statement.target, str)]
    for total, target in totals:
        writer.line(f"{target}_chunks = np.empty({CHUNKS}, {scalar_type(total.statement.dtype)})")
    writer.line(f"threads = threads_for({writer.local.symbol(turns_of(step))}, {least})")
    with writer.block(f"for chunk in numba.prange({CHUNKS}):"):
        for buffer, size in step.rows.items() if isinstance(step, Joined) else ():
            writer.line(row(buffer, size))
        for total in every:
            total.before(0)
        with turns(makers[0].variables[0], loops[0][0].size):
            write_turn(makers, sums)
        for total in every:
            total.after(0)
        for _, target in totals:
            writer.line(f"{target}_chunks[chunk] = {target}")
    writer.line("numba.set_num_threads(threads)")
    for total, target in totals:
        writer.line(f"{target} = {total.start}")
        with writer.block(f"for chunk in range({CHUNKS}):"):
            writer.line(f"{target} = {total.combined(target, f'{target}_chunks[chunk]')}")
