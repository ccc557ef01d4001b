"""From a schedule to text: loops, indices and statements, with the user's lines as comments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from funcgrad.compile.emit.loop_order import Loop, loops_of
from funcgrad.compile.emit.symbols import Locals
from funcgrad.compile.lower.elementwise import spelled
from funcgrad.compile.passes.arranging.fusion import Joined
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
    masks_of,
    names_read,
    operands_of,
)
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.ir.text.numpy_source import user_line
from funcgrad.tracing.primitive import Fold

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from funcgrad.source import Source

BLOCK = 4096
"""Terms that are summed before they are added to the total of a long sum, which keeps its digits."""

LOOP_NAMES = ("i", "j", "k")


class Outlined(Protocol):
    """A step that writes a call, and is a function by itself."""

    def write(self, writer: Writer) -> list[str]:
        """Write the call; returns the lines of the function."""


class Writer:
    """Collects indented lines."""

    def __init__(self, local: Locals) -> None:
        self.local = local
        self.lines: list[str] = []
        self.functions: list[tuple[Any, list[str]]] = []
        """Further functions that the steps call: what each is for, and its body."""
        self.dtypes: dict[str, np.dtype[Any]] = {}
        """Those of the numbers that nests make."""
        self.cleanups: list[str] = []
        """What must be done before the kernel is left where the text stands now."""
        self.polls = True
        """Whether loops ask for signals: those of a function that threads run do not."""
        self.stopped = ""
        """The memory of a number by which those of a long one tell each other to end, if it is one."""
        self._indent = 1
        self._comment = ""

    @property
    def is_outermost(self) -> bool:
        """Whether what is written now stands in no loop and no branch."""
        return self._indent == 1

    def line(self, text: str) -> None:
        """One line at the present indentation."""
        self.lines.append("    " * self._indent + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """A compound statement."""
        self.line(head)
        self._indent += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.line("pass")
        self._indent -= 1

    def comment(self, source: Source | None) -> None:
        """The user's line, unless it was the last one shown."""
        if source is None:
            return
        text = user_line(source)
        if text and text != self._comment:
            self._comment = text
            self.line(f"# {text}")

    def loop(self, variable: str, size: int) -> AbstractContextManager[None]:
        """``for variable in range(size)``."""
        return self.block(f"for {variable} in range({self.local.symbol(size)}):")

    def index(self, view: View, variables: Sequence[str]) -> str:
        """The position of an element: the offset and one term for each variable."""
        terms: list[tuple[bool, str]] = []
        pairs = [*view.base, *zip(variables, view.strides, strict=True)]
        for variable, stride in pairs:
            if stride:
                factor = "" if abs(stride) == 1 else f" * {self.local.symbol(abs(stride))}"
                terms.append((stride < 0, variable + factor))
        if view.offset or not terms:
            terms.append((view.offset < 0, self.local.symbol(abs(view.offset))))
        terms.sort(key=lambda term: term[0])
        first = ("-" if terms[0][0] else "") + terms[0][1]
        return first + "".join([(" - " if minus else " + ") + text for minus, text in terms[1:]])

    def element(self, view: View, variables: Sequence[str]) -> str:
        """An element of a view."""
        index = self.index(view, variables)
        if view.buffer.role == "index":
            return f"({index})" if " " in index else index
        return f"{view.buffer.name}[{index}]"

    def steps(self, steps: Sequence[Nest | Special | Joined | Outlined]) -> None:
        """All steps in order."""
        for step in steps:
            if isinstance(step, Special):
                step.emit(self)
            elif isinstance(step, Joined):
                write_joined(self, step)
            elif not isinstance(step, Nest):
                self.functions.append((step, step.write(self)))
            elif step.body:
                NestWriter(self, step, loops_of(step)).write()


class NestWriter:
    """Writes one nest."""

    def __init__(self, writer: Writer, nest: Nest, loops: Sequence[Loop]) -> None:
        self.writer = writer
        self.nest = nest
        self.loops = loops
        self.variables = list(LOOP_NAMES[: len(self.loops)])
        self.variables += [f"i{k}" for k in range(len(LOOP_NAMES), len(self.loops))]
        self.masks = masks_of(nest)
        self.ended: frozenset[int] = frozenset()
        """The axes whose loops end where the masks do."""
        self._loaded: dict[View, str] = {}
        self._counts: dict[View, int] = {}
        for statement in nest.body:
            for operand in operands_of(statement):
                if isinstance(operand, Load):
                    self._counts[operand.view] = self._counts.get(operand.view, 0) + 1

    def write(self) -> None:
        """The loops and their body."""
        sums = self.prepared()
        self.level(0, sums)

    def prepared(self) -> list[Accumulator]:
        """The reductions, after what comes before all loops has been written."""
        for view, text in self.nest.fills:
            write_fill(self.writer, view, text)
        sums = [Accumulator(self, s) for s in self.nest.body if isinstance(s, Reduce)]
        for total in sums:
            total.prepare()
        return sums

    def level(self, depth: int, sums: Sequence[Accumulator]) -> None:
        if depth == len(self.loops):
            self._body({id(s.statement): s for s in sums})
            return
        for total in sums:
            total.before(depth)
        size = self.loops[depth].size
        stop = self.stop(depth)
        if stop:
            with self.writer.block(f"for {self.variables[depth]} in range({stop}):"):
                self.level(depth + 1, sums)
            for total in sums:
                total.after(depth)
            return
        long = size > 2 * BLOCK and not self.writer.local.portable
        if depth == len(self.loops) - 1 and long and any(s.innermost for s in sums):
            self._blocked(depth, sums)
        else:
            with self.writer.loop(self.variables[depth], size):
                self.level(depth + 1, sums)
        for total in sums:
            total.after(depth)

    def stop(self, depth: int) -> str:
        """Where a loop ends that need not run over its whole axis; the line that says so is written."""
        size, axes = self.loops[depth]
        bounds = [bound for axis, bound in sorted(self.masks) if axes == (axis,)]
        if not bounds or self.writer.local.portable or size > 2 * BLOCK:
            return ""
        stop, least = self.writer.local.fresh("stop"), self.writer.local.symbol(size)
        for bound in bounds:
            least = f"min({least}, {bound})"
        self.writer.line(f"{stop} = {least}")
        self.ended |= {axes[0]}
        return stop

    def _blocked(self, depth: int, sums: Sequence[Accumulator]) -> None:
        """The innermost loop in blocks, with a sum of its own for each block."""
        writer, variable = self.writer, self.variables[depth]
        size = writer.local.symbol(self.loops[depth].size)
        first = writer.local.fresh("block")
        with writer.block(f"for {first} in range(0, {size}, {BLOCK}):"):
            for total in sums:
                total.begin_block()
            with writer.block(f"for {variable} in range({first}, min({first} + {BLOCK}, {size})):"):
                self.level(depth + 1, sums)
            for total in sums:
                total.end_block()

    def _body(self, sums: dict[int, Accumulator]) -> None:
        writer = self.writer
        for statement in self.nest.body:
            writer.comment(statement.source)
            if isinstance(statement, Let):
                writer.dtypes[statement.name] = statement.dtype
            if isinstance(statement, Let) and self.is_within(statement.name):
                writer.line(f"{statement.name} = {self.nest.extents.clipped[statement.name].whole}")
            elif isinstance(statement, Let):
                texts = [self.read(operand) for operand in statement.operands]
                writer.line(f"{statement.name} = {filled(statement.template, texts)}")
            elif isinstance(statement, Store):
                self.store(statement)
            elif isinstance(statement, Place):
                self.place(statement)
            else:
                sums[id(statement)].add(self.read(statement.operand))

    def is_within(self, name: str) -> bool:
        """Whether a position need not be cut off where the array ends."""
        position = self.nest.extents.clipped.get(name)
        if position is None or position.axis not in self.ended:
            return False
        return self.nest.extents.is_within(position, self.masks)

    def place(self, statement: Place) -> None:
        """A position in an axis."""
        writer, (name, index, size, *_) = self.writer, statement
        writer.line(f"{name} = i64({index})")
        with writer.block(f"if ({index} < 0) | ({index} >= {size}):"):
            if not statement.wraps:
                writer.line(f"{self.element(statement.flag)} = 1")
                writer.line(f"{name} = i64(0)")
                return
            writer.line(f"{name} = i64({index} + {size})")
            with writer.block(f"if ({index} >= 0) | ({name} < 0):"):
                writer.line(f"{self.element(statement.flag)} = 1")
                writer.line(f"{name} = i64(0)")

    def store(self, statement: Store) -> None:
        """Write an element; what has been read of that memory may no longer be there."""
        value = self.read(statement.operand)
        text = f"{self.element(statement.view)} = {value}"
        if statement.when:
            with self.writer.block(f"if {statement.when}:"):
                self.writer.line(text)
        else:
            self.writer.line(text)
        changed = statement.view.buffer
        self._loaded = {view: name for view, name in self._loaded.items() if view.buffer is not changed}

    def read(self, operand: Operand) -> str:
        """The text of an operand; an element that is read more than once becomes a local."""
        if isinstance(operand, str):
            return operand
        view = operand.view
        name = self._loaded.get(view)
        if name is not None:
            return name
        text = self.element(view)
        if view.buffer.role == "index":
            return text
        # The flag is set by several statements, each of which must see what those before it have set.
        if self._counts[view] > 1 and view.buffer.role != "failure":
            name = self._loaded[view] = self.writer.local.fresh(f"{view.buffer.name}_")
            self.writer.dtypes[name] = view.buffer.dtype
            self.writer.line(f"{name} = {text}")
            return name
        return text

    def element(self, view: View, depth: int | None = None) -> str:
        """An element of a view at the variables of the loops (the outer `depth` ones)."""
        inner = [loop.axes[-1] for loop in self.loops[:depth]]
        flat = View(view.buffer, (), tuple([view.strides[a] for a in inner]), view.offset, view.base)
        return self.writer.element(flat, self.variables[: len(inner)])


def write_fill(writer: Writer, view: View, text: str) -> None:
    """Loops that write one number everywhere."""
    nest = Nest(-1, view.shape, [Store(view, text, None)])
    NestWriter(writer, nest, loops_of(nest)).write()


def write_joined(writer: Writer, joined: Joined) -> None:
    """Nests that share their outermost loop."""
    writers = [
        NestWriter(writer, nest, loops) for nest, loops in zip(joined.nests, joined.loops, strict=True)
    ]
    sums = [nest.prepared() for nest in writers]
    for total in [t for group in sums for t in group]:
        total.before(0)
    with writer.loop(writers[0].variables[0], joined.loops[0][0].size):
        for nest, group in zip(writers, sums, strict=True):
            nest.level(1, group)
    for total in [t for group in sums for t in group]:
        total.after(0)


class Accumulator:
    """One reduction of a nest: a local for the innermost loops that it runs over, memory for the rest."""

    def __init__(self, nest: NestWriter, statement: Reduce) -> None:
        self.nest = nest
        self.statement = statement
        reduced = [loop.axes[0] in statement.axes for loop in nest.loops]
        self.first = len(reduced)
        while self.first and reduced[self.first - 1]:
            self.first -= 1
        """The outermost of the innermost loops that are reduced without a gap."""
        self.in_memory = any(reduced[: self.first])
        self.innermost = self.first < len(reduced)
        fresh = nest.writer.local.fresh
        self.names: dict[int, str] = {}
        target = [statement.target] if isinstance(statement.target, str) else []
        for depth in range(self.first, len(reduced)):
            whole = depth == 0 and isinstance(statement.target, str)
            self.names[depth] = str(statement.target) if whole else fresh(f"{statement.fold.name}_")
        self.block = ""
        nest.writer.dtypes.update(dict.fromkeys([*self.names.values(), *target], statement.dtype))

    @property
    def start(self) -> str:
        """The value before the first element."""
        return start_of(self.statement.fold, self.statement.dtype)

    def prepare(self) -> None:
        """Before the loops: memory that is accumulated into begins with the starting value."""
        nest, target = self.nest, self.statement.target
        if not nest.loops and isinstance(target, str):
            nest.writer.line(f"{target} = {self.start}")
        if isinstance(target, View) and (self.in_memory or not nest.loops):
            kept = [a for a in range(len(target.shape)) if a not in self.statement.axes]
            shape, strides = ([x[a] for a in kept] for x in (target.shape, target.strides))
            part = View(target.buffer, tuple(shape), tuple(strides), target.offset, target.base)
            write_fill(nest.writer, part, self.start)

    def before(self, depth: int) -> None:
        """Before a loop: its local begins with the starting value."""
        if depth in self.names:
            self.nest.writer.line(f"{self.names[depth]} = {self.start}")

    def begin_block(self) -> None:
        """Before a block of the innermost loop."""
        if self.innermost:
            self.block = self.nest.writer.local.fresh("part")
            self.nest.writer.line(f"{self.block} = {self.start}")

    def end_block(self) -> None:
        """After a block: its sum joins the local of the loop."""
        if self.innermost:
            name = self.names[len(self.nest.loops) - 1]
            self.nest.writer.line(f"{name} = {self.combined(name, self.block)}")
            self.block = ""

    def after(self, depth: int) -> None:
        """After a loop: its local joins that of the loop around, or is stored."""
        if depth not in self.names:
            return
        name, writer = self.names[depth], self.nest.writer
        if depth > self.first:
            outer = self.names[depth - 1]
            writer.line(f"{outer} = {self.combined(outer, name)}")
        elif isinstance(self.statement.target, View):
            element = self.nest.element(self.statement.target, depth)
            writer.line(f"{element} = {self.combined(element, name) if self.in_memory else name}")

    def add(self, value: str) -> None:
        """One more element."""
        writer, target = self.nest.writer, self.statement.target
        if self.block:
            writer.line(f"{self.block} = {self.combined(self.block, value)}")
        elif self.innermost:
            name = self.names[len(self.nest.loops) - 1]
            writer.line(f"{name} = {self.combined(name, value)}")
        elif isinstance(target, View):
            element = self.nest.element(target)
            # Where no loop is reduced (all axes of size one), nothing was there before.
            total = element if self.in_memory or not self.nest.loops else self.start
            writer.line(f"{element} = {self.combined(total, value)}")
        else:
            writer.line(f"{target} = {self.combined(target, value)}")

    def combined(self, total: str, value: str) -> str:
        """The text that adds one value to another."""
        return combination(self.statement.fold, self.statement.dtype).format(total, value)


def start_of(fold: Fold, dtype: np.dtype[Any]) -> str:
    """What is combined with the first element."""
    limits = np.iinfo(dtype) if dtype.kind in "iu" else None
    text = spelled(fold.start, dtype, dtype)
    return text if limits is None else text.format(lowest=limits.min, highest=limits.max)


def combination(fold: Fold, dtype: np.dtype[Any]) -> str:
    """The template that combines what has been found with one more element."""
    return spelled(fold.combine, dtype, dtype)


def filled(template: str, texts: Sequence[str]) -> str:
    """The template with its operands; expressions among them are only loads and names."""
    return template.format(*texts)


def without_dead_statements(steps: Sequence[Nest | Special], read: Iterable[str] = ()) -> set[str]:
    """Remove locals that nothing reads, `read` apart; returns the names of those that are left."""
    used = set(read)
    for step in reversed(steps):
        if isinstance(step, Special):
            used |= step.names
            continue
        kept: list[Statement] = []
        for statement in reversed(step.body):
            if type(statement) is Let:
                if statement.name in used:
                    kept.append(statement)
                    used.update(names_read(statement))
                continue
            if type(statement) is Reduce and type(statement.target) is str and statement.target not in used:
                continue
            kept.append(statement)
            used.update(names_read(statement))
        step.body[:] = reversed(kept)
    return used
