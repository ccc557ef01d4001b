"""Joining consecutive nests over their outermost loop, so that what one row leaves is read soon.

Nests may share their outermost loop when whatever one of them writes and another touches is touched in the
same turn of that loop. Values in between that nothing else reads then need the memory of one row only.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from funcgrad.compile.emit.loop_order import Loop, loops_over
from funcgrad.compile.passes.scheduling.nests import (
    Let,
    Load,
    Nest,
    Operand,
    Place,
    Reduce,
    Special,
    Statement,
    Store,
    names_read,
    views_of,
)
from funcgrad.compile.passes.scheduling.views import Buffer, View
from funcgrad.ir.avals import Shape
from funcgrad.types import Anything

WINDOW = 12
"""How many of the steps that follow a nest are looked at, for more to share its loop."""

MANY_STREAMS = 14
"""Blocks of memory that fill a loop by themselves."""

SHORTEST_ROW = 48
"""Elements in the inner loops from which a shared outer loop is worth more than one merged loop."""


class OfNests:
    """A step of several nests: what is said of it is said of each of them."""

    nests: list[Nest]

    def views(self) -> Iterator[tuple[View, bool]]:
        """Every view that is read or written, and whether it is written."""
        for nest in self.nests:
            yield from nest.views()

    @property
    def flops(self) -> float:
        """Arithmetic operations of all turns, roughly."""
        return sum(nest.flops for nest in self.nests)

    @property
    def buffers(self) -> Iterator[Buffer]:
        """Every block of memory that they touch."""
        for nest in self.nests:
            yield from nest.buffers


@dataclass(eq=False)
class Joined(OfNests):
    """Nests that share their outermost loop."""

    nests: list[Nest]
    loops: list[list[Loop]]
    """The loops of each; the first is the shared one."""
    rows: dict[Buffer, int]
    """Memory of one row, and its elements."""


@final
class Facts:
    """What is asked again and again of a nest while it waits to be joined."""

    loops: list[Loop]
    """Its loops, the outermost apart."""
    inner: int
    """The turns of the others together."""
    made: set[str]
    """The locals that it gives a value."""
    sums: set[str]
    """Those of them that are known at its end."""
    names: set[str]
    """The locals that it reads."""

    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        self.views = nest.views()
        filled = {view.buffer for view, _ in nest.fills}
        self.touched = filled.union([view.buffer for view, _ in self.views])
        self.written = filled.union([view.buffer for view, is_written in self.views if is_written])

    def __getattr__(self, name: str) -> Anything:
        # What nobody has asked for before: of most nests nobody does.
        if name in ("loops", "inner"):
            nest = self.nest
            self.loops = loops_over(nest, [v for v, _ in self.views], separate=True) if nest.shape else []
            self.inner = inner_size(self.loops)
        elif name in ("made", "sums", "names"):
            self._find_names()
        else:
            raise AttributeError(f"nothing called {name!r} is known of a nest")
        return object.__getattribute__(self, name)

    def _find_names(self) -> None:
        self.made, self.sums, self.names = set(), set(), set()
        for s in self.nest.body:
            self.names.update(names_read(s))
            if type(s) is Let or type(s) is Place:
                self.made.add(s.name)
            elif type(s) is Reduce and type(s.target) is str:
                self.sums.add(s.target)
        self.made |= self.sums


@final
class SpecialFacts:
    """What is asked again and again of another step."""

    def __init__(self, step: Special) -> None:
        self.step = step
        self.written = {view.buffer for view in (*step.writes, *step.scratch)}
        self.touched = self.written.union([view.buffer for view in step.reads])


def may_share(shape: Shape) -> bool:
    """Whether the inner loops over a shape may be worth a shared outer one, in whatever order they are."""
    return len(shape) > 1 and math.prod(shape) >= 2 * SHORTEST_ROW


def joined_steps(steps: Sequence[Nest | Special], own: Container[Buffer]) -> list[Nest | Special | Joined]:
    """The steps, with runs of nests that can share a loop as one; `own` is memory that only they touch."""
    left = [s for s in steps if isinstance(s, Special) or s.body]
    shapes = [s.shape for s in left if isinstance(s, Nest) and s.shape]
    if len(shapes) < 2 or not any(map(may_share, shapes)):
        return [*left]
    pending = [SpecialFacts(s) if isinstance(s, Special) else Facts(s) for s in left]
    users = Counter([buffer for s in pending for buffer in s.touched])
    pending.reverse()
    found: list[Nest | Special | Joined] = []
    while pending:
        first = pending.pop()
        if type(first) is SpecialFacts:
            found.append(first.step)
            continue
        run = [first]
        skipped: list[Facts | SpecialFacts] = []
        if first.nest.shape:
            for _ in range(min(WINDOW, len(pending))):
                step = pending.pop()
                if type(step) is Facts and can_join(run, step) and may_pass(step, skipped):
                    run.append(step)
                else:
                    skipped.append(step)
            pending += reversed(skipped)
        found.append(run[0].nest if len(run) == 1 else closed(run, users, own))
    return found


def may_pass(nest: Facts, others: Sequence[Facts | SpecialFacts]) -> bool:
    """Whether a nest may run before steps that stand before it: none makes what the other needs."""
    for other in others:
        if type(other) is SpecialFacts:
            if other.step.defines:
                return False
        elif not other.made.isdisjoint(nest.names):
            return False
        if not other.written.isdisjoint(nest.touched) or not nest.written.isdisjoint(other.touched):
            return False
    return True


def closed(run: Sequence[Facts], users: Mapping[Buffer, int], own: Container[Buffer]) -> Joined:
    """A run of nests as one step."""
    # Before memory is taken away: the order of the loops depends on the strides.
    nests, loops = [member.nest for member in run], [member.loops for member in run]
    return Joined(nests, loops, shrink(run, users, own))


def can_join(run: Sequence[Facts], nest: Facts) -> bool:
    """Whether a nest may share the outermost loop of those before it."""
    if not nest.nest.shape or max(len(nest.touched), len(run[-1].touched)) > MANY_STREAMS:
        return False
    # Those before it have loops of one size.
    size = nest.loops[0].size
    if size < 2 or run[0].loops[0].size != size:
        return False
    if nest.inner < SHORTEST_ROW and max([member.inner for member in run]) < SHORTEST_ROW:
        return False
    for other in run:
        if not other.sums.isdisjoint(nest.names):
            return False
        # Whoever only reads what the other only reads may do so in any turn.
        if other.written.isdisjoint(nest.touched) and nest.written.isdisjoint(other.touched):
            continue
        for a, a_written in other.views:
            for b, b_written in nest.views:
                meet = a.buffer is b.buffer and (a_written or b_written)
                if meet and not rows_apart(a, other.loops[0], b, nest.loops[0]):
                    return False
    return True


def inner_size(loops: Sequence[Loop]) -> int:
    """The turns of all but the outermost loop together."""
    return math.prod([loop.size for loop in loops[1:]])


def rows_apart(a: View, a_loop: Loop, b: View, b_loop: Loop) -> bool:
    """Whether two views of one buffer meet only in the same turn of the outermost loops."""
    first, second = a.strides[a_loop.axes[-1]], b.strides[b_loop.axes[-1]]
    if first != second or first <= 0 or a.base != b.base:
        return False
    low = min(a.offset, b.offset)
    return (
        min(*a.strides, *b.strides) >= 0
        and a.offset - low + extent(a, a_loop.axes) < first
        and b.offset - low + extent(b, b_loop.axes) < first
    )


def extent(view: View, axes: Sequence[int]) -> int:
    """How far the elements of one turn reach."""
    reach = 0
    for k, (n, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
        if k not in axes:
            reach += (n - 1) * stride
    return reach


def shrink(run: Sequence[Facts], users: Mapping[Buffer, int], own: Container[Buffer]) -> dict[Buffer, int]:
    """Give values that only this run touches the memory of one row; returns the elements of each row.

    `users` says how many of all steps touch each block of memory.
    """
    inside = Counter([buffer for member in run for buffer in member.touched])
    outside = {buffer for buffer, count in inside.items() if users[buffer] > count}
    outside |= {view.buffer for member in run for view, _ in member.nest.fills}
    local: dict[Buffer, int] = {}
    for member in run:
        axes = member.loops[0].axes
        for view, _ in member.views:
            buffer = view.buffer
            if buffer.role == "scratch" and buffer in own and buffer not in outside and not view.base:
                stride = view.strides[axes[-1]]
                fits = local.get(buffer, stride) == stride and is_row(view, axes, stride)
                local[buffer] = stride if fits else -1
    kept = accumulated([member.nest for member in run], [member.loops for member in run])
    rows = {buffer: stride for buffer, stride in local.items() if stride > 0 and buffer not in kept}
    for buffer, stride in rows.items():
        buffer.size = stride
    for member in run:
        if not member.touched.isdisjoint(rows):
            body, axis = member.nest.body, member.loops[0].axes[-1]
            body[:] = [with_rows(statement, rows, axis) for statement in body]
    return rows


def is_row(view: View, axes: Sequence[int], stride: int) -> bool:
    """Whether what one turn touches lies within `stride` elements, by which the next turn is further on.

    It does not where the shared loop runs along the fastest axis of memory in column-major order.
    """
    return stride > 0 and min(view.strides) >= 0 and view.offset + extent(view, axes) < stride


def accumulated(run: Sequence[Nest], loops: Sequence[Sequence[Loop]]) -> set[Buffer]:
    """Memory that a nest fills before its loops and then adds to."""
    found = set()
    for nest, turns in zip(run, loops, strict=True):
        for s in nest.body:
            if isinstance(s, Reduce) and isinstance(s.target, View):
                reduced = [loop.axes[0] in s.axes for loop in turns]
                while reduced and reduced[-1]:
                    reduced.pop()
                if any(reduced):
                    found.add(s.target.buffer)
    return found


def with_rows(statement: Statement, rows: Mapping[Buffer, int], axis: int) -> Statement:
    """The statement with views of one row."""
    if type(statement) is Place or rows.keys().isdisjoint([view.buffer for view in views_of(statement)]):
        return statement
    if type(statement) is Let:
        return statement._replace(operands=tuple([of_one_row(o, rows, axis) for o in statement.operands]))
    operand = of_one_row(statement.operand, rows, axis)
    if type(statement) is Store:
        return statement._replace(view=view_of_one_row(statement.view, rows, axis), operand=operand)
    target = statement.target
    if type(target) is View:
        # The stride of the row would be taken for a reduced axis, which it is not.
        target = view_of_one_row(target, rows, axis)
    return statement._replace(target=target, operand=operand)


def of_one_row(operand: Operand, rows: Mapping[Buffer, int], axis: int) -> Operand:
    """An operand that reads one row, where it is loaded from memory of one row."""
    return Load(view_of_one_row(operand.view, rows, axis)) if type(operand) is Load else operand


def view_of_one_row(view: View, rows: Mapping[Buffer, int], axis: int) -> View:
    """A view that stays in one row, where its memory is that of one row."""
    if view.buffer not in rows:
        return view
    strides = view.strides
    return View(view.buffer, view.shape, (*strides[:axis], 0, *strides[axis + 1 :]), view.offset, view.base)
