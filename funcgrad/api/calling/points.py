"""A function recorded at a point, and its Programs split there: what `vjp`, `jvp` and `linearize` share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from funcgrad import tree
from funcgrad.api.calling.arguments import leaf_aval
from funcgrad.api.calling.calls import run, trace
from funcgrad.api.calling.results import NO_AUX, Aux
from funcgrad.api.python.seen import seen
from funcgrad.ir.program import Program
from funcgrad.tracing.labelled import plain_leaves
from funcgrad.tracing.python.owners import take_in_package_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.linearize import linearize_program
from funcgrad.transforms.simplify import simplify_program
from funcgrad.transforms.transpose import transpose_program
from funcgrad.types import Result

Function = Callable[..., Any]


class Split(NamedTuple):
    """What `vjp` and `linearize` keep by fingerprint."""

    primal: Program
    other: Program
    """The pullback, or the linear map itself."""
    has_tangent: tuple[bool, ...]


def vjp_programs(program: Program, active: Sequence[bool], n_outputs: int) -> Split:
    """The primal Program, and the pullback."""
    parts = linearize_program(program, active, n_outputs)
    pulled = transpose_program(simplify_program(parts.linear), parts.n_residuals)
    return Split(parts.primal, simplify_program(pulled), parts.has_tangent)


def linearize_programs(program: Program, active: Sequence[bool], n_outputs: int) -> Split:
    """The primal Program, and the linear map of its derivative."""
    parts = linearize_program(program, active, n_outputs)
    return Split(parts.primal, simplify_program(parts.linear), parts.has_tangent)


class PointTrace:
    """A function of positional pytrees recorded at a point, for the transforms that split it there."""

    __slots__ = ("_aux", "avals", "in_trees", "out_avals", "out_tree", "traced")

    def __init__(self, fun: Function, primals: Sequence[Any], transform: str, has_aux: bool = False) -> None:
        take_in_package_of(fun)
        flat = [tree.flatten(x) for x in primals]
        self.in_trees = [treedef for _, treedef in flat]
        leaves = plain_leaves([leaf for part, _ in flat for leaf in part])
        self.avals = [leaf_aval(x, lambda: "an argument", transform) for x in leaves]
        self._aux = aux = Aux(True) if has_aux else NO_AUX
        counts: list[Any] = []

        def call(tracers: list[Tracer]) -> Result:
            return seen(fun)(*rebuilt_arguments(self.in_trees, tracers))

        def collect(result: Result) -> list[Any]:
            outs, treedef = tree.flatten(aux.value_of(result))
            counts.append((len(outs), treedef))
            return [*outs, *aux.leaves]

        self.traced = trace(fun, call, leaves, transform, collect, avals=self.avals)
        ((n_outputs, self.out_tree),) = counts
        self.out_avals = [self.traced.recorder.avals[i] for i in self.traced.outputs[:n_outputs]]

    @property
    def active(self) -> tuple[bool, ...]:
        """Which inputs of the lifted Program have tangents."""
        n_extra = len(self.traced.operands) - len(self.avals)
        return (*[a.inexact for a in self.avals], *([False] * n_extra))

    def split(self, key: str, build: Callable[[Program, Sequence[bool], int], Split]) -> Split:
        """The Programs that `build` makes of the recorded one, kept by fingerprint."""
        active, n_outputs, traced = self.active, len(self.out_avals), self.traced

        def build_split(program: Program) -> Split:
            made = build(program, active, n_outputs)
            return made._replace(primal=traced.finished(made.primal))

        return traced.transformed((key, active, n_outputs), build_split)

    def primal_results(self, split: Split) -> tuple[list[Any], list[Any]]:
        """All outputs of the function, and the residuals."""
        results = list(run(split.primal, [*self.traced.operands, *self.traced.evaluated]))
        count = len(self.traced.outputs)
        return results[:count], results[count:]

    def outputs(self, values: Sequence[Any]) -> tuple[Any, Any]:
        """The result in its structure, and the aux part (None without one)."""
        count = len(self.out_avals)
        return tree.unflatten(self.out_tree, values[:count]), self._aux.rebuilt(values[count:])


def rebuilt_arguments(treedefs: Sequence[Any], leaves: Sequence[Any]) -> list[Any]:
    """The leaves dealt out to arguments of these structures."""
    arguments = []
    start = 0
    for treedef in treedefs:
        stop = start + treedef.num_leaves
        arguments.append(tree.unflatten(treedef, leaves[start:stop]))
        start = stop
    return arguments
