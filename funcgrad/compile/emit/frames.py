"""Numbers that the functions of a kernel hand on in memory: cells of a frame, for one call of the kernel.

Straight text reads each number where it likes. Cut into functions that return few, it would stay in one
piece wherever thousands of numbers are read again at its end, as a gradient reads those of the way there.
Owns which numbers get a cell, and which cells are used again; knows nothing of how a text is cut.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from funcgrad.compile.emit.repeats import MOST_ARGUMENTS
from funcgrad.compile.emit.statement_tree import Roles, Statement, margin_of
from funcgrad.compile.passes.scheduling.views import Buffer

MOST_RESULTS = 8
"""Numbers that a function may return."""

FRAMED = frozenset(map(np.dtype, ("bool", "int64", "float32", "float64", "complex64", "complex128")))
"""Types of numbers that memory holds as the text computes with them."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Statements `first` to `last` that are to be a function, and the names that cross its ends."""

    first: int
    last: int
    taken: tuple[str, ...]
    returned: tuple[str, ...]

    def fits(self, handed: Iterable[str] = ()) -> bool:
        """Whether it takes and returns few enough numbers, beside those that are handed on in memory."""
        returned, taken = set(self.returned).difference(handed), set(self.taken).difference(handed)
        return len(returned) <= MOST_RESULTS and len(taken) <= MOST_ARGUMENTS + MOST_RESULTS


class Frame:
    """The cells of one kernel; `dtypes` are those of its names, `scratch` makes a block of memory.

    Of `constants` the memory is known: they are read where they are used, and never passed.

    >>> frame = Frame({"x": np.dtype("f8")}, {}, lambda dtype: Buffer("frame1", dtype, 0, "scratch"))
    >>> frame.cells, frame.buffers
    ({}, ())
    """

    def __init__(
        self,
        dtypes: Mapping[str, np.dtype],
        constants: Mapping[str, tuple[Buffer, int]],
        scratch: Callable[[np.dtype], Buffer],
    ) -> None:
        self.dtypes = dtypes
        self.constants = {name: f"{block.name}[{k}]" for name, (block, k) in constants.items()}
        self.scratch = scratch
        self.cells: dict[str, str] = {}
        """The text of the cell of each name that is handed on."""
        self._blocks: dict[np.dtype, Buffer] = {}

    @property
    def possible(self) -> frozenset[str]:
        """The names that may lie in memory."""
        return frozenset([*self.constants, *[name for name, dtype in self.dtypes.items() if dtype in FRAMED]])

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """The blocks of memory that cells lie in."""
        return tuple(self._blocks.values())

    def fit(self, statements: Sequence[Statement], cuts: Sequence[Cut]) -> bool:
        """Whether all cuts of a function's statements can be made."""
        return len(self._fitting(statements, cuts)[0]) == len(cuts)

    def hand_on(self, statements: Sequence[Statement], cuts: Sequence[Cut]) -> HandedOn:
        """Give cells to what cuts of a function's statements hand on; with the cuts that can be made then."""
        made, handed = self._fitting(statements, cuts)
        self._place(statements, made, handed)
        return HandedOn(statements, made, {name: self.cells[name] for name in handed}, self.constants)

    def _fitting(
        self, statements: Sequence[Statement], cuts: Sequence[Cut]
    ) -> tuple[Sequence[Cut], set[str]]:
        """The cuts that can be made, and the names that lie in memory then.

        What is set outside of cuts has no cell, and nothing has one where all functions take and return few.
        """
        while True:
            kept = set_outside(statements, cuts)
            made = {name for cut in cuts for name in cut.returned if self.dtypes.get(name) in FRAMED}
            wide = {
                name for cut in cuts if not cut.fits(self.constants) for name in (*cut.returned, *cut.taken)
            }
            handed = (wide & made) - kept
            fitting = [cut for cut in cuts if cut.fits(handed.union(self.constants))]
            if len(fitting) == len(cuts):
                return cuts, handed
            cuts = fitting

    def _place(self, statements: Sequence[Statement], cuts: Sequence[Cut], handed: set[str]) -> None:
        """A cell for each of these names: one whose number is read no more is used again."""
        last: dict[str, int] = {}
        for k, statement in enumerate(statements):
            last.update([(name, k) for name in statement.names if name in handed])
        free: dict[np.dtype, list[int]] = {}
        used: list[tuple[int, np.dtype, int]] = []
        for cut in cuts:
            while used and used[0][0] < cut.first:
                _, dtype, place = heapq.heappop(used)
                heapq.heappush(free.setdefault(dtype, []), place)
            for name in cut.returned:
                if name in handed and name not in self.cells:
                    dtype = self.dtypes[name]
                    block = self._block(dtype)
                    place = heapq.heappop(free[dtype]) if free.get(dtype) else block.size
                    block.size = max(block.size, place + 1)
                    self.cells[name] = f"{block.name}[{place}]"
                    heapq.heappush(used, (last[name], dtype, place))

    def _block(self, dtype: np.dtype) -> Buffer:
        if dtype not in self._blocks:
            self._blocks[dtype] = self.scratch(dtype)
        return self._blocks[dtype]


@dataclass(frozen=True, slots=True)
class HandedOn:
    """A function's statements, its cuts that become functions, and the cells of what these hand on."""

    statements: Sequence[Statement]
    cuts: Sequence[Cut]
    cells: Mapping[str, str]
    constants: Mapping[str, str]

    def memory(self, name: str) -> str:
        """The cell of a name, or where the constant lies; empty for what is passed."""
        return self.cells.get(name) or self.constants.get(name, "")

    def crossing(self, cut: Cut) -> tuple[list[str], list[str]]:
        """What the function of a cut takes, the memory of its cells first, and what it returns."""
        within = [self.memory(name) for name in (*cut.taken, *cut.returned)]
        blocks = dict.fromkeys([cell.partition("[")[0] for cell in within if cell])
        taken, returned = ([x for x in names if not self.memory(x)] for names in (cut.taken, cut.returned))
        return [*blocks, *taken], returned

    def lines(self, cut: Cut) -> list[str]:
        """The lines of its function: what lies in a cell is read before it is used first, and put there."""
        inside = self.statements[cut.first : cut.last + 1]
        waiting = {name for name in cut.taken if self.memory(name)}
        setters = {name: k for k, s in enumerate(inside) for name in set_by(s)}
        written: dict[int, list[str]] = {}
        for name in cut.returned:
            if name in self.cells:
                written.setdefault(setters[name], []).append(name)
        lines: list[str] = []
        for k, statement in enumerate(inside):
            margin = " " * margin_of(statement.lines[0])
            for name in statement.names:
                if name in waiting:
                    lines.append(f"{margin}{name} = {self.memory(name)}")
                    waiting.discard(name)
            lines += statement.text()
            lines += [f"{margin}{self.cells[name]} = {name}" for name in written.get(k, ())]
        return lines

    def outside(self) -> list[Statement]:
        """The statements outside of the cuts, which read what they need from cells; each cut as its first."""
        found: list[Statement] = []
        known: set[str] = set()
        ends = {cut.first: cut for cut in self.cuts}
        k = 0
        while k < len(self.statements):
            statement = self.statements[k]
            if k in ends:
                known.difference_update(ends[k].returned)
                k = ends[k].last
            elif statement.calls_group:
                # The memory stands in the place of the names: a number that is only passed needs no local.
                statement = Statement(statement.comments, [with_memory(statement.lines[0], self.memory)])
            else:
                margin = " " * margin_of(statement.lines[0])
                needed = [name for name in statement.names if name in self.cells and name not in known]
                found += [Statement([], [f"{margin}{name} = {self.cells[name]}"]) for name in needed]
                known.update(needed)
            found.append(statement)
            k += 1
        return found


def with_memory(call: str, memory: Callable[[str], str]) -> str:
    """A line that calls a function, with memory for names among its arguments that have some."""
    head, _, arguments = call.partition("(")
    return f"{head}({', '.join([memory(name) or name for name in arguments[:-1].split(', ')])})"


def set_by(statement: Statement) -> set[str]:
    """The names that a statement sets, perhaps."""
    return set(Roles(statement.code()).assigned)


def set_outside(statements: Sequence[Statement], cuts: Sequence[Cut]) -> set[str]:
    """The names that are set by statements outside of the cuts."""
    inside = {k for cut in cuts for k in range(cut.first, cut.last + 1)}
    return {name for k, s in enumerate(statements) if k not in inside for name in set_by(s)}
