"""Sharing long loops between threads: a step becomes a function of a range of chunks for a pool to run.

The outermost loop is divided into a fixed number of chunks whatever the number of threads, and what chunks
have summed is added in their order, so that results do not depend on the machine's threads.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from funcgrad.compile.emit.loop_order import Loop, loops_of
from funcgrad.compile.emit.statements import BLOCK, Accumulator, NestWriter, Writer
from funcgrad.compile.emit.symbols import Locals
from funcgrad.compile.passes.arranging.fusion import Joined, OfNests
from funcgrad.compile.passes.scheduling.nests import (
    Let,
    Nest,
    Place,
    Reduce,
    Special,
    Statement,
    bytes_moved,
    names_read,
)
from funcgrad.compile.passes.scheduling.views import Buffer, View
from funcgrad.ir.avals import dtype_name

CHUNKS = 16
FEWEST_TURNS = 8
"""Turns of the outermost loop from which it is divided: some chunks may be empty."""
LINE = 64
"""Bytes of a cache line."""
LARGEST_PRIVATE = 4096
"""Elements up to which every chunk has memory of its own to add to."""

NAMES_OF_CHUNKS = ("begin", "end", "chunk", "first", "last", "block", "stop", "row", "turn")
"""What the functions of steps call their own numbers: no name of the user's."""

SHORTEST = 5e-5
"""Seconds of work, by rule of thumb, from which threads are worth their while."""

SHORTEST_AFTER = 5e-6
"""The same after a step that threads share: they are awake, and each has what it made in its cache.

If the caller does it alone it reads half from another's cache, who has to ask for these lines when it writes
them in the next call, and may be asleep before the next step.
"""

FLOPS_PER_SECOND, BYTES_PER_SECOND = 4e9, 1e10

Step = Nest | Special | Joined


@dataclass(eq=False)
class Shared(OfNests):
    """A step whose outermost loop is divided between threads."""

    name: str
    nests: list[Nest]
    loops: list[list[Loop]]
    rows: dict[Buffer, int]
    """Memory of one row, of which every chunk has its own, and the elements of a row."""
    cells: dict[str, Buffer] = field(default_factory=dict)
    """Numbers that the function reads, and the memory that passes them."""
    private: dict[Buffer, Buffer] = field(default_factory=dict)
    """Memory that every turn adds to, and the memory for what each chunk adds."""
    partial: dict[str, Buffer] = field(default_factory=dict)
    """Sums over all elements, and the memory for those of the chunks."""
    groups: list[int] = field(default_factory=list)
    """Of how many nests each step is that shares its tiles with the others; none where there are no tiles."""
    tile: int = 0
    """How many rows a tile has."""
    tiles: dict[Buffer, int] = field(default_factory=dict)
    """Memory of one tile, of which every chunk has its own, and the elements of a row."""

    def write(self, writer: Writer) -> list[str]:
        """Write the call; returns the lines of the function."""
        return write_call(writer, self)

    @property
    def buffers(self) -> Iterator[Buffer]:
        """Every block of memory that it touches."""
        yield from super().buffers
        yield from self.cells.values()
        yield from self.partial.values()
        yield from self.private.values()


def shared_steps(
    steps: Sequence[Step], local: Locals, numbers: Mapping[str, np.dtype], name: str
) -> list[Step | Shared]:
    """The steps, with those that are long enough and can be divided made ready for threads."""
    found: list[Step | Shared] = list(steps)
    long = long_steps(steps)
    dtypes = {**numbers, **dtypes_of(steps)} if long else numbers
    for k in long:
        step = steps[k]
        made = None if isinstance(step, Special) else shared(step, local, dtypes, name)
        found[k] = step if made is None else made
    return found


def long_steps(steps: Sequence[Step]) -> list[int]:
    """Where steps are that are worth their while for threads: alone, or after one that threads share."""
    found: list[int] = []
    awake = False
    for k, step in enumerate(steps):
        if isinstance(step, Special):
            awake = step.shares
            continue
        awake = is_long(step, min(SHORTEST, SHORTEST_AFTER) if awake else SHORTEST)
        if awake:
            found.append(k)
    return found


def dtypes_of(steps: Sequence[Step | Shared]) -> dict[str, np.dtype]:
    """The dtypes of the locals that nests make."""
    dtypes: dict[str, np.dtype] = {}
    for s in [s for step in steps for nest in nests_of(step) for s in nest.body]:
        if type(s) is Let:
            dtypes[s.name] = s.dtype
        elif type(s) is Reduce and type(s.target) is str:
            dtypes[s.target] = s.dtype
    return dtypes


def nests_of(step: Step | Shared) -> Sequence[Nest]:
    """The nests of a step."""
    if isinstance(step, Nest):
        return [step]
    return [] if isinstance(step, Special) else step.nests


def shared(step: Nest | Joined, local: Locals, dtypes: Mapping[str, np.dtype], name: str) -> Shared | None:
    """A long step made ready for threads; None where its turns are few, or depend on each other."""
    nests = list(nests_of(step))
    loops = step.loops if isinstance(step, Joined) else [loops_of(nests[0])]
    if not loops[0] or loops[0][0].size < FEWEST_TURNS:
        return None
    if loops[0][0].size < 2 * CHUNKS and not all(
        lie_apart(nest, turns[0]) for nest, turns in zip(nests, loops, strict=True)
    ):
        return None
    if any(nest.ordered for nest in nests) or any(
        not divisible(s, turns[0], nests) for nest, turns in zip(nests, loops, strict=True) for s in nest.body
    ):
        return None
    outside = [n for n in names_from_outside(nests) if n not in local.numbers.values()]
    if any(n not in dtypes for n in outside):
        return None
    rows = dict(step.rows) if isinstance(step, Joined) else {}
    for buffer, row in rows.items():
        # A cache line between the chunks' rows.
        rows[buffer] = -(-row * buffer.dtype.itemsize // LINE) * LINE // buffer.dtype.itemsize
        buffer.size = rows[buffer] * CHUNKS
    made = Shared(local.distinct(f"{name}_part"), nests, loops, rows)
    for n in outside:
        made.cells[n] = local.scratch(dtypes[n], 1, n)
    for s, turns in [(s, turns) for nest, turns in zip(nests, loops, strict=True) for s in nest.body]:
        if isinstance(s, Reduce) and isinstance(s.target, str):
            made.partial[s.target] = local.scratch(s.dtype, CHUNKS, s.target)
        elif isinstance(s, Reduce) and isinstance(s.target, View) and turns[0].axes[0] in s.axes:
            buffer = s.target.buffer
            made.private[buffer] = local.scratch(s.dtype, CHUNKS * private_size(buffer), buffer.name)
    return made


def lie_apart(nest: Nest, outermost: Loop) -> bool:
    """Whether what two turns of the outermost loop write lies in other cache lines.

    Where it does not, as in columns of a matrix in rows, threads would wait for each other's lines in every
    turn of the inner loops.
    """
    if len(nest.shape) == 1:
        return True
    axis = outermost.axes[-1]
    written = [view for view, is_written in nest.views() if is_written and len(view.shape) == len(nest.shape)]
    # What all turns write, each chunk has for itself.
    steps = [abs(view.strides[axis]) * view.buffer.dtype.itemsize for view in written]
    return all(not step or step >= LINE for step in steps)


def private_size(buffer: Buffer) -> int:
    """The elements that each chunk has for itself: whole cache lines."""
    return -(-buffer.size * buffer.dtype.itemsize // LINE) * LINE // buffer.dtype.itemsize


def is_long(step: Nest | Joined, least: float) -> bool:
    """Whether a step takes so many seconds at least, by rule of thumb."""
    nests = nests_of(step)
    # At most, with no element larger than 16 bytes: enough to know of most steps that they are short.
    most = sum(
        [
            math.prod(nest.shape)
            * max(nest.weight / FLOPS_PER_SECOND, 16 * len(nest.views()) / BYTES_PER_SECOND)
            for nest in nests
        ]
    )
    return most >= least and seconds(nests) >= least


def seconds(nests: Sequence[Nest]) -> float:
    """The work of nests, by rule of thumb."""
    return sum(
        max(nest.weight * math.prod(nest.shape) / FLOPS_PER_SECOND, bytes_moved(nest) / BYTES_PER_SECOND)
        for nest in nests
    )


def divisible(statement: Statement, outermost: Loop, nests: Sequence[Nest]) -> bool:
    """Whether turns of the outermost loop may run in any order.

    What all of them add to the same memory, chunks add to memory of their own, if that is small.
    """
    if not isinstance(statement, Reduce) or isinstance(statement.target, str):
        return True
    if outermost.axes[0] not in statement.axes:
        return True
    target = statement.target
    touched = sum(view.buffer is target.buffer for nest in nests for view, _ in nest.views())
    return touched == 1 and not target.offset and not target.base and target.buffer.size <= LARGEST_PRIVATE


def names_from_outside(nests: Sequence[Nest]) -> list[str]:
    """Locals that nests read and do not make."""
    made: set[str] = set()
    found: dict[str, None] = {}
    for nest in nests:
        for s in nest.body:
            read = [n for n in names_read(s) if n.isidentifier() and n not in ("True", "False", "NAN", "INF")]
            found.update(dict.fromkeys([n for n in read if n not in made]))
            made.update([s.name] if isinstance(s, Let | Place) else [])
    return list(found)


def write_call(writer: Writer, step: Shared) -> list[str]:
    """The call of the pool, what comes before and after it; returns the lines of the function."""
    inner = Writer(writer.local)
    makers = [NestWriter(writer, nest, turns) for nest, turns in zip(step.nests, step.loops, strict=True)]
    sums = [maker.prepared() for maker in makers]
    for maker in makers:
        maker.writer = inner
    end_chunks(writer, step, sums)
    write_chunks(inner, step, makers, sums)
    return inner.lines


def end_chunks(writer: Writer, step: Shared, sums: Sequence[Sequence[Accumulator]]) -> None:
    """The call of the pool; what chunks have summed is summed."""
    for name, cell in step.cells.items():
        writer.line(f"{cell.name}[0] = {name}")
    writer.line(f"parallel({step.name}, p, n, 0, {CHUNKS}, 1)")
    for total in [t for group in sums for t in group]:
        target = total.statement.target
        if isinstance(target, str):
            partial = step.partial[target].name
            writer.line(f"{target} = {total.start}")
            with writer.block(f"for chunk in range({CHUNKS}):"):
                writer.line(f"{target} = {total.combined(target, f'{partial}[chunk]')}")
        elif target.buffer in step.private:
            write_sum_of_chunks(writer, total, target.buffer, step.private[target.buffer])


def write_sum_of_chunks(writer: Writer, total: Accumulator, target: Buffer, private: Buffer) -> None:
    """Add what the chunks have added, element by element."""
    each = writer.local.symbol(private_size(target))
    whole = f"{target.name}[i]"  # no local, which sums of other kinds in this kernel would share
    with writer.loop("i", target.size):
        writer.line(f"{whole} = {total.start}")
        with writer.block(f"for chunk in range({CHUNKS}):"):
            writer.line(f"{whole} = {total.combined(whole, f'{private.name}[chunk * {each} + i]')}")


def write_chunks(
    writer: Writer, step: Shared, makers: Sequence[NestWriter], sums: Sequence[Sequence[Accumulator]]
) -> None:
    """The body of the function: the loops of each chunk."""
    with begin_chunks(writer, step, makers, sums, writer.local.symbol(step.loops[0][0].size)):
        if step.tile:
            write_tiles(writer, step, makers, sums)
        else:
            write_range(writer, makers, sums)


@contextmanager
def begin_chunks(
    writer: Writer,
    step: Shared,
    makers: Sequence[NestWriter],
    sums: Sequence[Sequence[Accumulator]],
    size: str,
) -> Iterator[None]:
    """The loop over chunks of a range of some size, each with its sums and its memory."""
    every = [t for group in sums for t in group]
    with writer.block("for chunk in range(begin, end):"):
        writer.line(f"first = chunk * {size} // {CHUNKS}")
        writer.line(f"last = (chunk + 1) * {size} // {CHUNKS}")
        for buffer, row in step.rows.items():
            writer.line(f"{buffer.name} = shifted({buffer.name}_all, chunk * {writer.local.symbol(row)})")
        for total in every:
            target = total.statement.target
            if isinstance(target, View) and target.buffer in step.private:
                each = writer.local.symbol(private_size(target.buffer))
                writer.line(f"{target.buffer.name} = shifted({target.buffer.name}_all, chunk * {each})")
                with writer.loop(makers[0].variables[0], target.buffer.size):
                    writer.line(f"{target.buffer.name}[{makers[0].variables[0]}] = {total.start}")
            total.before(0)
        yield
        for total in every:
            total.after(0)
            if isinstance(total.statement.target, str):
                partial = step.partial[total.statement.target].name
                writer.line(f"{partial}[chunk] = {total.statement.target}")


def write_range(writer: Writer, makers: Sequence[NestWriter], sums: Sequence[Sequence[Accumulator]]) -> None:
    """The turns of a chunk; long sums of one loop in blocks, to keep their digits."""
    if is_flat(makers, sums):
        with writer.block(f"for block in range(first, last, {BLOCK}):"):
            write_block(writer, makers, sums, f"min(block + {BLOCK}, last)")
        return
    with writer.block(f"for {makers[0].variables[0]} in range(first, last):"):
        write_turn(makers, sums)


def write_tiles(
    writer: Writer, step: Shared, makers: Sequence[NestWriter], sums: Sequence[Sequence[Accumulator]]
) -> None:
    """The turns of a chunk tile by tile, in each of which all steps run."""
    with writer.block(f"for block in range(first, last, {step.tile}):"):
        writer.line(f"stop = min(block + {step.tile}, last)")
        for buffer, row in step.tiles.items():
            start = f"(chunk * {step.tile} - block) * {writer.local.symbol(row)}"
            writer.line(f"{buffer.name} = shifted({buffer.name}_all, {start})")
        begin = 0
        for count in step.groups:
            group = slice(begin, begin + count)
            write_block(writer, makers[group], sums[group], "stop")
            begin += count


def write_block(
    writer: Writer, makers: Sequence[NestWriter], sums: Sequence[Sequence[Accumulator]], stop: str
) -> None:
    """The turns from ``block``; sums of one loop have a local of their own for them."""
    own = sums[0] if is_flat(makers, sums) else []
    for total in own:
        total.begin_block()
    with writer.block(f"for {makers[0].variables[0]} in range(block, {stop}):"):
        write_turn(makers, sums)
    for total in own:
        total.end_block()


def write_turn(makers: Sequence[NestWriter], sums: Sequence[Sequence[Accumulator]]) -> None:
    """One turn of all nests."""
    for maker, group in zip(makers, sums, strict=True):
        maker.level(1, group)


def is_flat(makers: Sequence[NestWriter], sums: Sequence[Sequence[Accumulator]]) -> bool:
    """Whether it is one loop that sums."""
    return len(makers) == 1 and len(makers[0].loops) == 1 and any(t.innermost for t in sums[0])


def number_lines(numbers: Mapping[str, tuple[Buffer, int]], block: Buffer, body: str) -> list[str]:
    """Numbers that a body uses, read from memory; the comments say which they are."""
    used = set(re.findall(r"[A-Za-z_]\w*", body))
    return [
        f"    {name} = {block.name}[{place}]  # {block.source[place]!s}"
        for name, (found, place) in numbers.items()
        if found is block and name in used
    ]


def function_lines(
    step: Shared,
    body: Sequence[str],
    symbols: Mapping[str, int],
    slots: Mapping[Buffer, int],
    numbers: Mapping[str, tuple[Buffer, int]],
) -> list[str]:
    """The whole function of a shared step: symbols, memory and numbers that its body uses, then the body."""
    used = set(re.findall(r"[A-Za-z_]\w*", "\n".join(body)))
    lines = [f"def {step.name}(p, n, begin, end):"]
    lines += [f"    {symbol} = n[{k}]" for symbol, k in symbols.items() if symbol in used]
    for buffer, place in slots.items():
        own = buffer in step.rows or buffer in step.private or buffer in step.tiles
        name = f"{buffer.name}_all" if own else buffer.name
        slot = slots[step.private[buffer]] if buffer in step.private else place
        if name in used:
            lines.append(f"    {name} = as_{dtype_name(buffer.dtype)}(p[{slot}])")
    for block in dict.fromkeys([block for name, (block, _) in numbers.items() if name in used]):
        lines.append(f"    {block.name} = as_{dtype_name(block.dtype)}(p[{slots[block]}])")
        lines += number_lines(numbers, block, "\n".join(body))
    for name, cell in step.cells.items():
        lines.append(f"    {name} = as_{dtype_name(cell.dtype)}(p[{slots[cell]}])[0]")
    return [*lines, *body]
