"""Lowerings of random draws: words by Philox, uniform numbers of them, and what becomes of those.

A sample has the same bits compiled as evaluated. Words are integers; a uniform number is one word shifted and
scaled by a power of two, which is exact. Logarithms and tangents are NumPy's own loops, called by address.
Nothing else rounds, or it is written so that no compiler fuses it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.lower.linear_algebra.contractions import Part, at
from funcgrad.compile.passes.scheduling.lowerings import NotLowered, lowers
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import Buffer, View
from funcgrad.compile.runtime.addresses.ufuncs import loop
from funcgrad.ir.avals import Aval, Shape, dtype_name
from funcgrad.ir.program import Equation
from funcgrad.ops.random.random_words import (
    DIGITS,
    SAMPLES,
    ByLoops,
    RandomBits,
    RandomNormal,
    RandomUniform,
    smallest,
)

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

BLOCK = 1024
"""How many numbers are made of words at a time: as many as stay in the nearest cache. A multiple of 8."""

SHARED = 1 << 16
"""Numbers from which threads share a draw."""

GRAIN = 8
"""Blocks that a thread takes at a time."""

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
            pointer = at(writer, part_of(target, len(variables)), variables)
            words = keys.words(writer, variables)
            writer.line(f"philox({words}, {block}, {stream}, {pointer}, {writer.local.symbol(count)})")

    reads = [keys.view] if starts is None else [keys.view, starts]
    names = [first] if first else []
    position = scheduler.special(
        "random_bits", emit, reads, [target], names=names, flops=WORK * out.aval.size
    )
    scheduler.define_view(out, target, position)


class Draw(NamedTuple):
    """A draw of numbers that are made of words block by block, in memory that stays in the cache."""

    dtype: np.dtype[np.generic]
    size: int
    """The numbers of one key."""
    target: View
    words: View
    """Memory for the words of a block."""
    room: View | None
    """Memory for the numbers of a block that NumPy's loops are given."""
    loops: tuple[tuple[str, str], ...]
    """The names of their addresses and data."""
    shared: bool = False
    """Whether it is written for the blocks from ``begin`` to ``end``, which threads share."""

    def typed(self, number: float) -> str:
        """The text of a number of the sample's dtype."""
        return repr(number) if self.dtype == np.float64 else f"f32({number!r})"

    def word(self, place: str) -> str:
        """A word of a block: of 64 bits for double precision, of 32 for single."""
        return f"{self.words.buffer.name}[{place}]"

    def digits(self, place: str) -> str:
        """The highest digits of a word as a number: whole, from 0 up to a power of two."""
        unused = 8 * self.dtype.itemsize - DIGITS[self.dtype]
        if self.dtype == np.float64:
            return f"f64(i64({self.word(place)} >> u64({unused})))"
        return f"f32(i32({self.word(place)} >> u32({unused})))"

    @property
    def scale(self) -> str:
        """The text of the power of two that brings the digits below 1."""
        return self.typed(0.5 ** DIGITS[self.dtype])

    def of_room(self, place: str) -> str:
        """A number that NumPy's loop is given, or has made."""
        assert self.room is not None, "a draw without loops of NumPy's asks for no room"
        return f"{self.room.buffer.name}[{place}]"

    def apply(self, writer: Writer, k: int, length: str) -> None:
        """Call a loop of NumPy's on the room, where it is."""
        assert self.room is not None, "a draw without loops of NumPy's asks for no room"
        room, (address, data) = f"{self.room.buffer.name}, {self.dtype.itemsize}", self.loops[k]
        writer.line(f"numpy_unary({address}, {data}, {room}, {room}, {length})")


@contextmanager
def blocks(writer: Writer, draw: Draw, things: int, number: str) -> Iterator[tuple[str, str]]:
    """A loop over blocks of things, or none where one block holds all: the first, and how many."""
    if things <= BLOCK:
        yield "", number
        return
    first, length = writer.local.fresh("first"), writer.local.fresh("length")
    ends = f"begin * {BLOCK}, min(end * {BLOCK}, {number})" if draw.shared else f"0, {number}"
    with writer.block(f"for {first} in range({ends}, {BLOCK}):"):
        writer.line(f"{length} = min({BLOCK}, {number} - {first})")
        yield first, length


def place(*terms: str) -> str:
    """The text of a sum of places, of which some may be nothing."""
    return " + ".join([t for t in terms if t not in ("", "0")]) or "0"


class Maker(NamedTuple):
    """How the numbers of a distribution are made."""

    ufuncs: tuple[str, ...]
    """The ufuncs of NumPy's whose loops it calls."""
    words: int
    """How many words one turn takes, each of the size of a number."""
    write: Callable[[Writer, Draw, str, str], None]
    """Writes the numbers of a key: its words, and the place of the first number."""


MAKERS: dict[type, Maker] = {}
"""For distributions without parameters whose rows are not made `by_loops` of uniform numbers."""


def lower_draw(scheduler: Scheduler, equation: Equation) -> None:
    """The numbers of each key."""
    (key,), (out,) = equation.inputs, equation.outputs
    dtype, name = out.aval.dtype, equation.primitive.name
    if dtype not in WORDS:
        raise NotLowered(f"{name} of {dtype} has no native form")
    row = getattr(equation.primitive, "by_loops", None)
    maker = MAKERS[type(equation.primitive)] if row is None else by_loops(row)
    loops = tuple([loop_names(scheduler, ufunc, dtype) for ufunc in maker.ufuncs])
    keys = Keys(scheduler.stored(key))
    target = scheduler.buffer_like(out.aval, scheduler.local.named(out))
    count = math.prod(equation.primitive.shape)
    turns = min(-(-count // maker.words), BLOCK)
    # Philox writes whole words of 64 bits, of which numbers of 32 bits take halves.
    words = scheduler.buffer_like(Aval((maker.words * turns + 1,), WORDS[dtype]), "words")
    room = scheduler.buffer_like(Aval((turns,), dtype), "room") if loops else None
    draw = Draw(dtype, count, target, words, room, loops)

    def emit(writer: Writer) -> None:
        if not out.aval.size:
            return
        writer.comment(equation.source)
        with keys.each(writer) as variables:
            start = writer.index(part_of(target, len(variables)), variables)
            words_of_key = keys.words(writer, variables)
            if out.aval.size >= SHARED and writer.is_outermost:
                write_shared(writer, draw, maker, words_of_key, start)
            else:
                maker.write(writer, draw, words_of_key, start)

    scratch = [words] if room is None else [words, room]
    flops = WORK * (1 + len(loops)) * out.aval.size
    position = scheduler.special(name, emit, [keys.view], [target], scratch=scratch, flops=flops)
    scheduler.define_view(out, target, position)


def write_shared(writer: Writer, draw: Draw, maker: Maker, key: str, start: str) -> None:
    """A call that lets threads share the blocks, each with memory of its own."""
    local, name = writer.local, writer.local.fresh("draw")
    things = local.symbol(-(-draw.size // maker.words))
    writer.line(f"parallel({name}, p, n, 0, ({things} + {BLOCK - 1}) // {BLOCK}, {GRAIN})")
    inner = Writer(local)
    own: list[View | None] = []
    for view in (draw.words, draw.room):
        if view is None:
            own.append(None)
            continue
        block = Buffer(local.fresh("own"), view.buffer.dtype, maker.words * BLOCK, "scratch")
        inner.line(f"{block.name} = stack_{dtype_name(block.dtype)}({block.size})")
        own.append(View.whole(block, (block.size,)))
    words, room = own
    assert words is not None, "every draw has words"
    maker.write(inner, draw._replace(words=words, room=room, shared=True), key, start)
    writer.functions.append((Part(name), inner.lines))


def loop_names(scheduler: Scheduler, ufunc: str, dtype: np.dtype[np.generic]) -> tuple[str, str]:
    """What the address of a ufunc's loop and its data are called in the text."""
    found = loop(ufunc, dtype)
    if found is None:
        raise NotLowered(f"the loop of np.{ufunc} for {dtype} is not known by address")
    constant, stem = scheduler.local.constant, f"{ufunc}_{dtype_name(dtype)}"
    return constant(stem, found.address), constant(f"{stem}_data", found.data)


# -- uniform numbers, and functions of them -----------------------------------------------------------------


def uniform_blocks(writer: Writer, draw: Draw, key: str) -> AbstractContextManager[tuple[str, str]]:
    """A loop over blocks, whose words are there: the first number, and how many there are."""
    return drawn_blocks(writer, draw, key, writer.local.symbol(draw.size), 1)


@contextmanager
def drawn_blocks(writer: Writer, draw: Draw, key: str, number: str, words: int) -> Iterator[tuple[str, str]]:
    """A loop over blocks of things made of so many words each, which have been drawn."""
    with blocks(writer, draw, -(-draw.size // words), number) as (first, length):
        halves = 1 if draw.dtype == np.float64 else 2
        block = f"{first} // {4 * halves // words}" if first else "0"
        taken = length if words == halves else f"{length} * 2" if words > halves else f"({length} + 1) // 2"
        writer.line(f"philox({key}, {block}, {SAMPLES}, {draw.words.buffer.name}, {taken})")
        yield first, length


def write_uniform(writer: Writer, draw: Draw, key: str, start: str) -> None:
    """Numbers from 0 up to, not including, 1."""
    j = writer.local.fresh("j")
    with uniform_blocks(writer, draw, key) as (first, length), writer.block(f"for {j} in range({length}):"):
        writer.line(f"{draw.target.buffer.name}[{place(start, first, j)}] = {draw.digits(j)} * {draw.scale}")


def by_loops(row: ByLoops) -> Maker:
    """A distribution that its row makes of uniform numbers."""

    def write(writer: Writer, draw: Draw, key: str, start: str) -> None:
        """Block by block: loops of ours, and NumPy's between them."""
        j = writer.local.fresh("j")
        numbers, room = numbers_of(draw, j), draw.of_room(j)
        with uniform_blocks(writer, draw, key) as (first, length):
            with writer.block(f"for {j} in range({length}):"):
                writer.line(f"{room} = {row.before.format(**numbers)}")
            for k in range(len(draw.loops)):
                if k:
                    with writer.block(f"for {j} in range({length}):"):
                        writer.line(f"{room} = {row.between.format(room)}")
                draw.apply(writer, k, length)
            with writer.block(f"for {j} in range({length}):"):
                at_place = f"{draw.target.buffer.name}[{place(start, first, j)}]"
                writer.line(f"{at_place} = {row.after.format(room, **numbers)}")

    return Maker(row.ufuncs, 1, write)


def numbers_of(draw: Draw, j: str) -> dict[str, str]:
    """The texts of the numbers that a row names."""
    uniform = f"{draw.digits(j)} * {draw.scale}"
    inner = f"maximum({uniform}, {draw.typed(float(smallest(draw.dtype)))})"
    one, two = draw.typed(1.0), draw.typed(2.0)
    found = {"uniform": uniform, "inner": inner, "symmetric": f"{inner} * {two} - {one}"}
    return found | {"half": draw.typed(0.5), "one": one, "pi": draw.typed(math.pi)}


# -- normal numbers -----------------------------------------------------------------------------------------


def write_normal(writer: Writer, draw: Draw, key: str, start: str) -> None:
    """Pairs of normal numbers: the first half of the sample are cosines, the others sines.

    Of an odd number of numbers the last cosine has no sine. The text is the same for odd and even ones.
    """
    local, target = writer.local, draw.target.buffer.name
    half, pairs, sines, j = (local.fresh(stem) for stem in ("half", "pairs", "sines", "j"))
    writer.line(f"{half} = {local.symbol(draw.size)} // 2")
    writer.line(f"{pairs} = {local.symbol(draw.size)} - {half}")
    with drawn_blocks(writer, draw, key, pairs, 2) as (first, length):
        with writer.block(f"for {j} in range({length}):"):
            # Half a step above a multiple of the precision, and so never 0.
            writer.line(f"{draw.of_room(j)} = ({draw.digits(f'2 * {j}')} + {draw.typed(0.5)}) * {draw.scale}")
        draw.apply(writer, 0, length)
        rest = f"{half} - {first}" if first else half
        writer.line(f"{sines} = min({length}, {rest})")
        with writer.block(f"for {j} in range({sines}):"):
            radius, digits = write_radius(writer, draw, j)
            writer.line(f"{target}[{place(start, first, j)}] = normal_cosine({radius}, {digits})")
            writer.line(f"{target}[{place(start, pairs, first, j)}] = normal_sine({radius}, {digits})")
        with writer.block(f"if {sines} < {length}:"):
            radius, digits = write_radius(writer, draw, sines)
            writer.line(f"{target}[{place(start, first, sines)}] = normal_cosine({radius}, {digits})")


def write_radius(writer: Writer, draw: Draw, j: str) -> tuple[str, str]:
    """Half the radius of a pair with its sign, and the digits of its angle, as locals.

    All but the root is exact.
    """
    radius, digits, second = (writer.local.fresh(stem) for stem in ("radius", "digits", "second"))
    writer.line(f"{second} = 2 * {j} + 1")
    writer.line(f"{digits} = {draw.digits(second)}")
    bits = 8 * draw.dtype.itemsize
    sign = f"f{bits}(i{bits}({draw.word(second)} & u{bits}(1))) - {draw.typed(0.5)}"
    writer.line(f"{radius} = sqrt({draw.of_room(j)} * {draw.typed(-2.0)}) * ({sign})")
    return radius, digits


MAKERS |= {RandomUniform: Maker((), 1, write_uniform), RandomNormal: Maker(("log",), 2, write_normal)}
lowers(*MAKERS)(lower_draw)
