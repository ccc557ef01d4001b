"""`undo_tangents`: the tangents of a nest of loops, whose transpose puts overwritten elements back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ops.arrays.indexing import Gather, Scatter
from funcgrad.ops.elementwise.arithmetic import add
from funcgrad.shared import once
from funcgrad.tracing.primitive import Flags, Linear, Primitive
from funcgrad.tracing.recorder import Recorder, recorder_of
from funcgrad.tracing.samples import Sample, fixed
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.batching import record_batched
from funcgrad.transforms.control.scan import Scan
from funcgrad.transforms.control.undoing.blocks import NotUndone
from funcgrad.transforms.control.undoing.loops import Loop
from funcgrad.transforms.control.undoing.nests import nest_program, planned, room_for
from funcgrad.transforms.control.undoing.pulling import Label
from funcgrad.transforms.control.undoing.room import Room
from funcgrad.transforms.linearize import record_jvp, zeros_like
from funcgrad.transforms.replay import inputs_of, transforming
from funcgrad.transforms.simplify import simplify_program
from funcgrad.types import AnyPrimitive, Anything, Array, Arrays


class UndoTangents(Primitive):
    """The tangents of a loop: linear in those that follow its inputs, its results and what it has kept.

    Forwards the loop is run again with its tangents. Transposed, it goes back through its trips: what a trip
    has overwritten is put back before its pullback reads it.
    """

    name = "undo_tangents"
    parameters = ("nest", "active")
    multiple = True
    nest: Program
    active: Flags

    @classmethod
    def differentiated(
        cls,
        primitive: AnyPrimitive,
        recorder: Recorder,
        primals: Sequence[Any],
        tangents: Sequence[Any],
        most: int,
    ) -> tuple[Any, Any] | None:
        """The loop and its tangents, if its writes can be undone with no more than so many bytes of room."""
        numbers = known_numbers(recorder, primals)
        nest = nest_program(primitive, [x.aval for x in primals], numbers)
        given = [k for k in range(len(primals)) if k not in numbers]
        made: UndoTangents = cls(nest, tuple([tangents[k] is not None for k in given]))
        try:
            plan = made.plan
        except NotUndone:
            return None
        if room_for(plan) > most:
            return None
        state: dict[Any, Any] = {}
        for label, a in plan.state_avals():
            zero = Tracer(recorder, recorder.literal(0, a.dtype, weak=False), Aval((), a.dtype))
            state[label] = Room(a.shape).bind(zero) if label[0] == "log" else zero
        outs = plan.forward(recorder, primals, state, None)
        fixed_inputs = [
            *[primals[k] for k in given],
            *outs,
            *[state[label] for label, _ in plan.state_avals()],
        ]
        dots = iter(recorder.record(made, [*fixed_inputs, *[t for t in tangents if t is not None]]))
        return tuple(outs), tuple([next(dots) if flag else None for flag in made.dotted])

    @once
    def plan(self) -> Loop:
        """The loop, with what is kept and what is put back."""
        (equation,) = self.nest.equations
        known = dict(zip(self.nest.inputs, self.active, strict=True))
        return planned(self.nest, tuple([known.get(a, False) for a in equation.inputs]))  # type: ignore[arg-type]

    @property
    def _flags(self) -> Flags:
        """Which inputs of the loop have tangents."""
        known = dict(zip(self.nest.inputs, self.active, strict=True))
        return tuple([known.get(a, False) for a in self.nest.equations[0].inputs])  # type: ignore[arg-type]

    @once
    def dotted(self) -> Flags:
        """Which results of the loop have tangents."""
        return self.plan.activity(self._flags)

    @property
    def n_fixed(self) -> int:
        """How many inputs come before the tangents."""
        return len(self.nest.inputs) + len(self.nest.outputs) + len(self.plan.state_avals())

    @once
    def _tangents(self) -> Program:
        """``inputs, tangents -> tangents``"""
        with transforming(self.nest, "jvp") as recorder:
            inputs = inputs_of(recorder, self.nest.inputs)
            dots = [
                recorder.input(v.aval.strong) if a else None
                for v, a in zip(self.nest.inputs, self.active, strict=True)
            ]
            _, found = record_jvp(recorder, self.nest, inputs, dots)
            full = [
                zeros_like(recorder, v.aval.strong) if dot is None else dot
                for v, dot, flag in zip(self.nest.outputs, found, self.dotted, strict=True)
                if flag
            ]
            heads = [x._index for x in [*inputs, *[t for t in dots if t is not None]]]
            return simplify_program(recorder.program(heads, [recorder.index_of(x) for x in full]))

    def _used(self, items: Sequence[Any]) -> list[Any]:
        """Something for each input of the tangents, of something for every input."""
        return [*items[: len(self.nest.inputs)], *items[self.n_fixed :]]

    def held_program(self, avals: Sequence[Aval]) -> Program | None:
        held = self._tangents
        n = len(self.nest.inputs)
        unused = tuple([Var(a) for a in avals[n : self.n_fixed]])
        inputs = (*held.inputs[:n], *unused, *held.inputs[n:])
        return Program(inputs, held.captured, held.equations, held.outputs, held.name)

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        return tuple([v.aval.strong for v, flag in zip(self.nest.outputs, self.dotted, strict=True) if flag])

    def evaluate(self, *values: Array) -> Arrays:
        return self._tangents.evaluate(*self._used(values))

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        recorder = recorder_of([*primals, *tangents])
        assert recorder is not None, "a jvp rule runs on tracers"
        outs, dots = record_jvp(recorder, self._tangents, self._used(primals), self._used(tangents))
        return tuple(outs), tuple(dots)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        recorder = recorder_of(inputs)
        assert recorder is not None, "a batching rule runs on tracers"
        outs, flags = record_batched(recorder, self._tangents, size, self._used(inputs), self._used(batched))
        return tuple(outs), tuple(flags)

    def linear_in(self, flags: Flags) -> bool:
        return not any(flags[: self.n_fixed])

    def transpose(self, cotangent: Arrays, *inputs: Array) -> tuple[Any, ...]:
        return self.transpose_onto([None] * len(inputs), cotangent, *inputs)

    def transpose_onto(self, totals: Sequence[Any], cotangent: Arrays, *inputs: Array) -> tuple[Any, ...]:
        recorder = recorder_of([bar for bar in cotangent if bar is not None])
        assert recorder is not None, "a transpose rule runs on tracers"
        n = self.n_fixed
        given, reached = iter(cotangent), iter(totals[n:])
        bars = [next(given) if flag else None for flag in self.dotted]
        known = {v: next(reached) if a else None for v, a in zip(self.nest.inputs, self.active, strict=True)}
        atoms = self.nest.equations[0].inputs
        before = [known.get(a) for a in atoms]  # type: ignore[arg-type]
        found = self.plan.backwards(self._outermost(recorder, inputs), self._flags, before, bars)
        after = dict(known)
        after.update({a: bar for a, bar, flag in zip(atoms, found, self._flags, strict=True) if flag})  # type: ignore[misc]
        linear = [after[v] for v, a in zip(self.nest.inputs, self.active, strict=True) if a]
        return (
            *[None] * n,
            *[bar if isinstance(x, Linear) else None for x, bar in zip(inputs[n:], linear, strict=True)],
        )

    def _outermost(self, recorder: Recorder, inputs: Sequence[Any]) -> Outermost:
        heads: list[Any] = [*self.nest.inputs, *self.nest.outputs]
        values: dict[Var, Any] = dict(zip(heads, inputs, strict=False))
        labels = [label for label, _ in self.plan.state_avals()]
        return Outermost(recorder, values, dict(zip(labels, inputs[len(heads) : self.n_fixed], strict=True)))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        x, dots = fixed(_POINT), fixed(np.array([1.0, 0.3, -0.7]))
        params = {"nest": _doubled(), "active": (True,)}
        return (Sample(x, fixed(np.int64(3)), fixed(2.0 * _POINT), dots, params=params),)


_POINT = np.array([0.5, -1.0, 2.0])


def _doubled() -> Program:
    """``x -> 3, 2 * x``, element by element."""
    number, vector, scalar = Aval((), np.dtype(np.int64)), Aval((3,), np.float64), Aval((), np.float64)
    i, x, one, after = Var(number), Var(vector), Var(number), Var(number)
    element, twice, out = Var(scalar), Var(scalar), Var(vector)
    equations = (
        Equation(Gather((0,)), (x, i), (element,)),
        Equation(add, (element, element), (twice,)),
        Equation(Scatter("set", (0,), True), (x, twice, i), (out,)),
        Equation(add, (i, one), (after,)),
    )
    body = Program((i, x, one), (), equations, (after, out), "doubling")
    scan: AnyPrimitive = Scan(body, 2, 0, 3, False)
    return nest_program(scan, (number, vector, number), {0: np.int64(0), 2: np.int64(1)})


class Outermost:
    """What a nest backwards is given where it is recorded: as for a loop in a block."""

    def __init__(self, recorder: Recorder, values: Mapping[Var, Any], labels: Mapping[Label, Any]) -> None:
        self.recorder = recorder
        self.values = values
        self.labels = labels
        self.back: dict[Var, int] = {}
        self.outputs: dict[Label, int] = {}

    def value(self, atom: Atom) -> Anything:
        """A value of the way forward."""
        if isinstance(atom, Literal):
            index = self.recorder.literal(atom.value, atom.aval.dtype, atom.aval.weak)
            return Tracer(self.recorder, index, atom.aval)
        return self.values[atom]

    def label(self, label: Label, aval: Aval) -> Anything:
        """A log, or the number of runs of a block."""
        return self.labels[label]


def known_numbers(recorder: Recorder, primals: Sequence[Any]) -> dict[int, Any]:
    """The inputs of a loop that are literals."""
    literals = {index for index, is_literal in recorder.operands if is_literal}
    places = [recorder.index_of(x) for x in primals]
    return {k: recorder.values[index] for k, index in enumerate(places) if index in literals}
