"""Lowerings of random draws: words by Philox, uniform numbers of them, and what becomes of those.

A sample has the same bits compiled as evaluated. Words are integers; a uniform number is one word shifted and
scaled by a power of two, which is exact. Logarithms and tangents are NumPy's own loops, called by address.
Nothing else rounds, or it is written so that no compiler fuses it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import numpy as np

from funcgrad.compile.emission import Writer
from funcgrad.compile.layout import View
from funcgrad.compile.products import at
from funcgrad.compile.schedule import NotLowered, Scheduler, lowers
from funcgrad.ir.avals import Aval, Shape
from funcgrad.ir.program import Equation
from funcgrad.ops.sampling import DIGITS, SAMPLES, RandomBits, RandomUniform

BLOCK = 1024
"""How many numbers are made of words at a time: as many as stay in the nearest cache. A multiple of 8."""

WORK = 10
"""Operations for a word, roughly."""

WORDS = {np.dtype(np.float64): np.dtype(np.uint64), np.dtype(np.float32): np.dtype(np.uint32)}
"""Of what a number of each dtype is made."""


class Keys(NamedTuple):
    """Keys in memory, each of which draws for itself."""

    view: View

    @property
    def prefix(self) -> Shape:
        """The axes before the keys' own."""
        return self.view.shape[:-1]

    @contextmanager
    def each(self, writer: Writer) -> Iterator[list[str]]:
        """Loops over the keys; their variables."""
        with ExitStack() as stack:
            variables = [writer.local.fresh("q") for _ in self.prefix]
            for variable, n in zip(variables, self.prefix, strict=True):
                stack.enter_context(writer.loop(variable, n))
            yield variables

    def words(self, writer: Writer, variables: Sequence[str]) -> str:
        """The two words of a key."""
        return ", ".join([writer.element(self.view, [*variables, k]) for k in "01"])


def part_of(view: View, axes: int) -> View:
    """The first elements along the last axes, for each place along the first `axes`."""
    return View(view.buffer, view.shape[:axes], view.strides[:axes], view.offset, view.base)


@lowers(RandomBits)
def lower_bits(scheduler: Scheduler, equation: Equation) -> None:
    """Words, in the memory of the result."""
    (key, start), (out,) = equation.inputs, equation.outputs
    keys = Keys(scheduler.stored(key))
    starts = scheduler.stored(start) if keys.prefix else None
    first = "" if starts is not None else scheduler.scalar(start)
    target = scheduler.buffer_like(out.aval, scheduler.local.named(out))
    count, stream = math.prod(equation.primitive.shape), equation.primitive.stream

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        with keys.each(writer) as variables:
            block = first if starts is None else writer.element(starts, variables)
            place = at(writer, part_of(target, len(variables)), variables)
            words = keys.words(writer, variables)
            writer.line(f"philox({words}, {block}, {stream}, {place}, {writer.local.symbol(count)})")

    reads = [keys.view] if starts is None else [keys.view, starts]
    names = [first] if first else []
    position = scheduler.special(
        "random_bits", emit, reads, [target], names=names, flops=WORK * out.aval.size
    )
    scheduler.define_view(out, target, position)


class Blocks(NamedTuple):
    """The numbers of one key, made block by block."""

    writer: Writer
    key: str
    """The two words of the key."""
    total: int
    words: View
    """Memory for the words of a block."""
    dtype: np.dtype[np.generic]

    @contextmanager
    def each(self) -> Iterator[tuple[str, str]]:
        """A loop over the blocks, whose words are there: the first number, and how many there are."""
        writer, symbol = self.writer, self.writer.local.symbol
        if self.total <= BLOCK:
            self.draw("0", symbol(self.total))
            yield "0", symbol(self.total)
            return
        first, length = writer.local.fresh("first"), writer.local.fresh("length")
        with writer.block(f"for {first} in range(0, {symbol(self.total)}, {BLOCK}):"):
            writer.line(f"{length} = min({BLOCK}, {symbol(self.total)} - {first})")
            self.draw(f"{first} // {4 if self.dtype == np.float64 else 8}", length)
            yield first, length

    def draw(self, block: str, length: str) -> None:
        """The words of as many numbers, from a block on."""
        number = length if self.dtype == np.float64 else f"({length} + 1) // 2"
        self.writer.line(f"philox({self.key}, {block}, {SAMPLES}, {self.words.buffer.name}, {number})")


def number_of(word: str, dtype: np.dtype[np.generic]) -> str:
    """The text of the digits of a word as a number: whole, from 0 up to a power of two."""
    unused = 8 * dtype.itemsize - DIGITS[dtype]
    if dtype == np.float64:
        return f"f64(i64({word} >> u64({unused})))"
    return f"f32(i32({word} >> u32({unused})))"


def scale_of(dtype: np.dtype[np.generic]) -> str:
    """The text of what whole numbers are multiplied by."""
    text = repr(0.5 ** DIGITS[dtype])
    return text if dtype == np.float64 else f"f32({text})"


def words_view(scheduler: Scheduler, count: int, dtype: np.dtype[np.generic]) -> View:
    """Memory for the words of so many numbers."""
    whole = max(8, (count + 7) // 8 * 8)  # philox writes whole words, of which single numbers are halves
    return scheduler.buffer_like(Aval((whole,), WORDS[dtype]), "words")


@lowers(RandomUniform)
def lower_uniform(scheduler: Scheduler, equation: Equation) -> None:
    """A uniform number of each word."""
    lower_blocks(scheduler, equation, write_uniform)


Step = Callable[[Blocks, View, str, str, str], None]
"""Writes the numbers of a block: where they go (a view and the first place), the first and how many."""


def lower_blocks(scheduler: Scheduler, equation: Equation, step: Step) -> None:
    """The numbers of each key, made of its words block by block."""
    (key,), (out,) = equation.inputs, equation.outputs
    dtype = out.aval.dtype
    if dtype not in WORDS:
        raise NotLowered(f"{equation.primitive.name} of {dtype} has no native form")
    keys = Keys(scheduler.stored(key))
    target = scheduler.buffer_like(out.aval, scheduler.local.named(out))
    count = math.prod(equation.primitive.shape)
    words = words_view(scheduler, min(count, BLOCK), dtype)

    def emit(writer: Writer) -> None:
        if not out.aval.size:
            return
        writer.comment(equation.source)
        with keys.each(writer) as variables:
            start = writer.index(part_of(target, len(variables)), variables)
            blocks = Blocks(writer, keys.words(writer, variables), count, words, dtype)
            with blocks.each() as (first, length):
                step(blocks, target, start, first, length)

    position = scheduler.special(
        equation.primitive.name, emit, [keys.view], [target], scratch=[words], flops=WORK * out.aval.size
    )
    scheduler.define_view(out, target, position)


def write_uniform(blocks: Blocks, target: View, start: str, first: str, length: str) -> None:
    """Numbers from 0 up to, not including, 1."""
    writer, j = blocks.writer, blocks.writer.local.fresh("j")
    with writer.block(f"for {j} in range({length}):"):
        number = number_of(f"{blocks.words.buffer.name}[{j}]", blocks.dtype)
        place = " + ".join([*[t for t in (start, first) if t != "0"], j])
        writer.line(f"{target.buffer.name}[{place}] = {number} * {scale_of(blocks.dtype)}")
