"""The schedule's data: loops over one shape with straight-line bodies, and other steps between them.

A *nest* is a set of loops over one shape, without axes of size one, whose body is a list of statements. Knows
nothing of how statements came about, and nothing of text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, final

import numpy as np

from funcgrad.compile.passes.scheduling.extents import NONE, Extents, Mask
from funcgrad.compile.passes.scheduling.views import Buffer, View
from funcgrad.ir.avals import Shape
from funcgrad.ops.reducing.folds import SUM
from funcgrad.tracing.primitive import Fold


@final
class Load(NamedTuple):
    """The element of a view at the loop variables."""

    view: View


Operand = str | Load
"""What a statement reads: the text of a local or a number, or an element of a view."""


@final
class Let(NamedTuple):
    """``name = template of the operands``."""

    name: str
    template: str
    operands: tuple[Operand, ...]
    dtype: np.dtype[Any]
    weight: int
    source: Any


@final
class Store(NamedTuple):
    """``view[...] = operand``, where the local `when` says so if one is named."""

    view: View
    operand: Operand
    source: Any
    when: str = ""


@final
class Reduce(NamedTuple):
    """``target = target combined with operand``, over the axes where the target has no stride.

    The target is a view of the nest's shape, or the name of a local for a reduction over all axes.
    """

    target: View | str
    fold: Fold
    operand: Operand
    dtype: np.dtype[Any]
    axes: tuple[int, ...]
    source: Any


@final
class Place(NamedTuple):
    """``name = operand``, an index into an axis of some size; one out of bounds raises the flag and is 0.

    Commonly an index is within the axis. That costs one comparison, for which no load waits: what counts from
    the end, if it `wraps`, and what is out of bounds take a branch. In nests over ``()`` alone.
    """

    name: str
    operand: str
    size: str
    wraps: bool
    flag: View
    source: Any


Statement = Let | Store | Reduce | Place

FULL = 1500
"""Arithmetic operations from which a nest takes no more. Beyond, the time to compile grows faster than the
text, and what is saved by not storing a value in between no longer matters."""

MOST_STREAMS = 24
"""Blocks of memory from which a nest takes no more: processors follow about as many at a time. Steps that
were unrolled fill nests of equal structure then, and what is equal is compiled once."""


@dataclass(eq=False)
class Nest:
    """Loops over a shape; a nest over the shape ``()`` is straight-line code."""

    position: int
    shape: Shape
    body: list[Statement] = field(default_factory=list)
    memo: dict[Any, str] = field(default_factory=dict)
    """Names of what was computed here from elsewhere, by what it was."""
    fills: list[tuple[View, str]] = field(default_factory=list)
    """Memory that is filled with a number before the loops."""
    ordered: bool = False
    """Whether the order of the turns matters, and several may write the same element."""
    extents: Extents = field(default_factory=Extents)
    """What is known of how far its loops need go."""
    _weighed: int = 0
    _weight: int = 0
    _streams: set[Buffer] = field(default_factory=set)

    def views(self) -> list[tuple[View, bool]]:
        """Every view that is read or written in the loops, and whether it is written."""
        found: list[tuple[View, bool]] = []
        for statement in self.body:
            if type(statement) is Let:
                found += [(operand.view, False) for operand in statement.operands if type(operand) is Load]
                continue
            target = target_of(statement)
            found += [(view, view is target) for view in views_of(statement)]
        return found

    @property
    def buffers(self) -> list[Buffer]:
        """Every block of memory that it touches."""
        return [view.buffer for view, _ in (*self.views(), *self.fills)]

    @property
    def weight(self) -> int:
        """Arithmetic operations for one element."""
        return sum([s.weight if type(s) is Let else 1 for s in self.body if type(s) is not Store])

    @property
    def is_full(self) -> bool:
        """Whether the loops' body is so long that further statements are better off in another nest."""
        if not self.shape:  # straight-line code stays what it is, in one nest or in many
            return False
        self._follow()
        return self._weight > FULL or len(self._streams) > MOST_STREAMS

    def touches(self, buffer: Buffer) -> bool:
        """Whether it touches a block of memory so far; its body only grows while it is scheduled."""
        self._follow()
        return buffer in self._streams or any(view.buffer is buffer for view, _ in self.fills)

    def _follow(self) -> None:
        """Weigh the statements that have come since."""
        body = self.body
        for k in range(self._weighed, len(body)):
            statement = body[k]
            if type(statement) is Let:
                self._weight += statement.weight
                self._streams.update([o.view.buffer for o in statement.operands if type(o) is Load])
            else:
                self._streams.update([view.buffer for view in views_of(statement)])
        self._weighed = len(body)

    @property
    def flops(self) -> float:
        """Arithmetic operations of all turns, roughly."""
        return float(self.weight * math.prod(self.shape))


@dataclass(eq=False)
class Special:
    """A step that is not a nest: a matrix product, a sort, a loop of the user's."""

    position: int
    kind: str
    reads: tuple[View, ...]
    writes: tuple[View, ...]
    names: frozenset[str]
    """Locals that it reads."""
    emit: Callable[[Any], None]
    """Writes its text with a `funcgrad.compile.emit.statements.Writer`."""
    scratch: tuple[View, ...] = ()
    flops: float = 0.0
    defines: bool = False
    """Whether it leaves locals that others read."""
    source: Any = None
    """The user's line."""
    copies: tuple[tuple[Any, Any], ...] = ()
    """The types of arrays that are copied in it again and again, with the user's lines."""
    shares: bool = False
    """Whether threads share its work where it is outermost."""

    @property
    def buffers(self) -> Iterator[Buffer]:
        """Every block of memory that it touches."""
        for view, _ in self.views():
            yield view.buffer

    def touches(self, buffer: Buffer) -> bool:
        """Whether it touches a block of memory."""
        return any(view.buffer is buffer for view in (*self.reads, *self.writes, *self.scratch))

    def views(self) -> Iterator[tuple[View, bool]]:
        """Every view that is read or written, and whether it is written."""
        for view in self.reads:
            yield view, False
        for view in (*self.writes, *self.scratch):
            yield view, True


def operands_of(statement: Statement) -> Sequence[Operand]:
    """What a statement reads."""
    return statement.operands if type(statement) is Let else (statement.operand,)


def target_of(statement: Statement) -> View | str:
    """What a statement writes: a view, or a local."""
    if type(statement) is Let:
        return statement.name
    if type(statement) is Store:
        return statement.view
    return statement.flag if type(statement) is Place else statement.target


def names_made(nest: Nest) -> set[str]:
    """The locals that a nest gives a value."""
    named = {s.name for s in nest.body if isinstance(s, Let | Place)}
    return named | {s.target for s in nest.body if isinstance(s, Reduce) and isinstance(s.target, str)}


def views_of(statement: Statement) -> list[View]:
    """The views that a statement reads, and then the one that it writes."""
    if type(statement) is Let:
        return [operand.view for operand in statement.operands if type(operand) is Load]
    operand, target = statement.operand, target_of(statement)
    found = [operand.view] if type(operand) is Load else []
    if type(target) is View:
        found.append(target)
    return found


def names_read(statement: Statement) -> list[str]:
    """The locals that a statement reads, those in the indices of what it loads and stores among them."""
    found: list[str] = []
    for operand in statement.operands if type(statement) is Let else (statement.operand,):
        if type(operand) is not Load:
            found.append(operand)
        elif operand.view.base:
            found += [name for name, _ in operand.view.base]
    if type(statement) is Let:
        return found
    if type(statement) is Store and statement.when:
        found.append(statement.when)
    target = target_of(statement)
    if type(target) is View and target.base:
        found += [name for name, _ in target.base]
    return found


def masks_of(nest: Nest) -> frozenset[Mask]:
    """The masks beyond which a nest changes nothing: it adds zeros there."""
    found: frozenset[Mask] | None = None
    for s in nest.body:
        if isinstance(s, Let | Place):
            continue
        term: object = s.operand
        if isinstance(s, Store):
            term = "" if s.when else nest.extents.sums.get(str(s.operand), "")
        masks = nest.extents.zeros.get(term, NONE) if isinstance(term, str) else NONE
        if isinstance(s, Reduce):
            masks = frozenset([m for m in masks if m[0] in s.axes]) if s.fold is SUM else NONE
        found = masks if found is None else found & masks
    return found or NONE


def bytes_moved(nest: Nest) -> int:
    """Bytes that a nest reads and writes, each element once."""
    seen: set[View] = set()
    total = 0
    for view, _ in nest.views():
        if view not in seen:
            seen.add(view)
            count = math.prod(n for n, s in zip(view.shape, view.strides, strict=True) if s)
            total += count * view.buffer.dtype.itemsize
    return total


@cache
def squeezed(shape: Shape) -> Shape:
    """The shape without axes of size one."""
    return tuple([n for n in shape if n != 1])


def squeezed_view(view: View) -> View:
    """The view without axes of size one."""
    if 1 not in view.shape:
        return view
    axes = [a for a, n in enumerate(view.shape) if n != 1]
    return View(
        view.buffer,
        tuple([view.shape[a] for a in axes]),
        tuple([view.strides[a] for a in axes]),
        view.offset,
        view.base,
    )
