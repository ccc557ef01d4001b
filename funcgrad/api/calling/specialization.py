"""What `jit` makes for one kind of arguments: a Program, and what has to be looked at when it is called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.api.calling.closed_over import Copies
from funcgrad.api.python.guarded.guards import Said
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.later import Later
from funcgrad.tracing.recorder import Recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.tree import TreeDef
from funcgrad.types import Anything, Tree

beside = Later("funcgrad.compile.runtime.beside")
executables = Later("funcgrad.compile.runtime.executable")
structures = Later("funcgrad.compile.runtime.callers.structure_caller")


def read_in_rows(recorder: Recorder, count: int) -> list[int]:
    """Of the first `count` inputs those of which it was asked how they lie in memory: rows were assumed."""
    return [k for k in range(count) if type(recorder.lies.get(k, ())) is not tuple]


def lie_in_rows(leaves: Sequence[Any], numbers: Sequence[int]) -> bool:
    """Whether these leaves are known to lie in rows."""
    for k in numbers:
        x = leaves[k]
        if type(x) is Tracer:
            known = x._recorder.lies.get(x._index)
            given = x._recorder.values.get(x._index)
            if isinstance(known, str) and known != "rows":
                return False
            if isinstance(known, np.ndarray) or (
                isinstance(given, np.ndarray) and not given.flags.c_contiguous
            ):
                return False
        elif isinstance(x, np.ndarray) and not x.flags.c_contiguous:
            return False
    return True


def begin_with(leaves: Sequence[Any]) -> None:
    """Begin with what native code needs, before a function is recorded that is called with these leaves."""
    if not any(type(x) is Tracer for x in leaves):
        beside.BEGINNING.begin()


class Specialization:
    """What was made for one kind of arguments."""

    __slots__ = (
        *("_executable", "_straight", "avals", "copies", "donated", "guarded", "out_tree", "program"),
        *("_has_straight", "in_rows", "recurred", "said", "written"),
    )

    def __init__(
        self,
        program: Program,
        avals: tuple[Aval, ...],
        out_tree: TreeDef,
        donated: frozenset[int],
        copies: Copies,
        guarded: bool,
        written: tuple[int, ...] = (),
        in_rows: tuple[int, ...] = (),
        said: Sequence[tuple[tuple[str, int], Said]] = (),
    ) -> None:
        self.program = program
        self.written = written
        """The leaves that the function writes into: what it leaves there stands before a guard's result."""
        self.in_rows = in_rows
        """The leaves that must lie in rows: what a write reaches depends on it."""
        self.said = said
        """What lines of blocks say where a call comes to them: these results stand before a guard's."""
        self.donated = donated
        """The leaves whose memory may become a result's."""
        self.copies = copies
        """Copies of arrays that the function closes over, to be brought up to date before it is called."""
        self.guarded = guarded
        """Whether the last result says that the Program stands for the function at these arguments."""
        self.avals = avals
        self.out_tree = out_tree
        self.recurred = False
        """Whether a path has been taken a second time: only then it is compiled."""
        self._executable: Any = None
        self._straight: Callable[..., Any] | None = None
        self._has_straight = False

    @property
    def checked(self) -> bool:
        """Whether a call looks at more than the kinds of its arguments, before or after the native code."""
        return bool(self.guarded or self.written or self.in_rows or self.said)

    @property
    def executable(self) -> Anything:
        """The native code, compiled when it is first asked for."""
        if self._executable is None:
            # Two threads may both make it; the machine code is built once, and both forms are right.
            self._executable = executables.compiled(self.program, strict=True, donated=self.donated)
        return self._executable

    def result(self, outs: Sequence[Any]) -> Tree:
        """What the function returns, from the results of the Program."""
        n_last = self.guarded + len(self.said) + len(self.written)
        return tree.unflatten(self.out_tree, outs[:-n_last] if n_last else outs)

    def straight(self, arguments: Anything) -> Callable[..., Any] | None:
        """The native code as a function of arguments and keyword arguments of this structure."""
        if not self._has_straight:
            # None as well is an answer, which every call would wait for.
            self._straight = structures.structure_call(self.executable.call, arguments, self.out_tree)
            self._has_straight = True
        return self._straight

    def tried(self, values: Sequence[Any]) -> Sequence[Any] | None:
        """The results of a path for what may be another's, or None where it comes to nothing there.

        What it computes before its guards are looked at may fail: a matrix may be singular that is not even
        made on the path that these values take. If it is theirs, Python raises the same when it records it.
        """
        try:
            run = self.executable.run if self.recurred else self.program.evaluate
            outs: Sequence[Any] = run(*values)
        except Exception:  # noqa: BLE001 - whatever it is, it is no error of a call that does not go here
            return None
        return outs
