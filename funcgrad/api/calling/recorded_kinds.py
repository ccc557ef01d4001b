"""How `jit` records a function for one kind of arguments: what it is called with, and what it leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from funcgrad import tree
from funcgrad.api.calling.calls import trace
from funcgrad.api.calling.closed_over import reading_what_was_copied
from funcgrad.api.calling.specialization import read_in_rows
from funcgrad.api.calling.written_arguments import Changes
from funcgrad.api.control_flow.refs import Ref
from funcgrad.api.python.guarded.guards import Guards, Said, guarding
from funcgrad.api.python.guarded.kept import Kept, note_called
from funcgrad.api.python.guarded.paths import recording_path
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.tracing.labelled import plain_leaves
from funcgrad.tracing.recorder import active_recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.simplify import simplify_program
from funcgrad.tree import TreeDef
from funcgrad.types import Anything, Tree

Function = Callable[..., Any]

REFS = None
"""The place, among static arguments, of which leaves are places that may be written into."""


def without_refs(static: Anything, leaves: list[Any]) -> tuple[Any, list[Any]]:
    """The leaves with arrays for places that hold them; which these are is part of the key."""
    kinds = tuple([(k, x.kind) for k, x in enumerate(leaves) if type(x) is Ref])
    if not kinds:
        return static, plain_leaves(leaves)
    held = [x.held if type(x) is Ref else x for x in leaves]
    return (*static, (REFS, tuple, kinds)), plain_leaves(held)


class Recording:
    """What one kind of arguments is recorded with, as often as it is; and what was seen the last time."""

    def __init__(
        self,
        fun: Function,
        function: Function,
        name: str,
        static: Sequence[tuple[int | str, type, Any]],
        treedef: TreeDef,
        avals: tuple[Aval, ...],
    ) -> None:
        self.fun, self.function, self.name = fun, function, name
        self.treedef, self.avals = treedef, avals
        self.positions: dict[Any, Any] = {place: value for place, _, value in static}
        """The static arguments, by number or name."""
        self.refs: Mapping[int, Callable[[Any], Ref]] = dict(self.positions.pop(REFS, ()))
        self.changes = Changes()
        self.guards = Guards()
        self.out_tree: TreeDef
        self.in_rows: tuple[int, ...] = ()
        """The inputs that are read as they lie in rows."""
        self.said: list[tuple[tuple[str, int], Said]] = []
        """What lines of blocks say, by file and line."""

    def call(self, tracers: list[Tracer]) -> Tree:
        """The function of the tracers."""
        leaves = [self.refs[k](x) if k in self.refs else x for k, x in enumerate(tracers)]
        given, named = tree.unflatten(self.treedef, leaves)
        given = [self.positions.get(n, x) for n, x in enumerate(given)]
        named = {**named, **{k: v for k, v in self.positions.items() if isinstance(k, str)}}
        self.guards.root = active_recorder()
        self.changes.watch(tracers)
        return self.function(*given, **named)

    def collect(self, result: Tree) -> list[Any]:
        """The leaves of the result, what has become of arguments, what is come to, whether guards hold."""
        outs, self.out_tree = tree.flatten(result)
        ok = self.guards.ok
        self.said = [(key, said) for key, said in self.guards.said.items() if type(said.flag) is Tracer]
        flags = [said.flag for _, said in self.said]
        return [*outs, *self.changes.left(self.name), *flags, *([ok] if type(ok) is Tracer else ())]

    def program(self, values: Sequence[Any] | None, kept: Kept) -> Program:
        """The function recorded for all arguments of the kind, or for those on the path of `values`."""
        kept.watch_generators()
        note_called(self.fun)
        known, avals = values is not None, self.avals
        with guarding() as self.guards, recording_path() if known else nullcontext():
            traced = trace(
                self.fun, self.call, values or avals, "jit", self.collect, with_values=known, avals=avals
            )
        recorder = traced.recorder
        self.in_rows = tuple(read_in_rows(recorder, len(avals)))
        program = simplify_program(recorder.program(range(len(avals)), traced.outputs))
        return reading_what_was_copied(program, recorder.copied or {}, kept)
