"""Reverse mode of steps: the transpose of a step by the inputs in which it is linear.

A step may be linear in a part of its inputs only. Then it is taken apart: a *forward* step without the
linear part, which also writes what the transpose must know of each trip, and a *backward* step, which hands
cotangents from a trip to the one before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from funcgrad.ir.program import Program
from funcgrad.ops.elementwise.arithmetic import is_selected
from funcgrad.tracing.recorder import Recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.control.forward import indices, values_before
from funcgrad.transforms.control.keeping import kept_values
from funcgrad.transforms.control.step import (
    Parts,
    Step,
    chosen,
    dependent_parts,
    is_plain,
    needed_inputs,
    positions,
)
from funcgrad.transforms.dependence import computed_from, parted
from funcgrad.transforms.linearize import literal_indices, zeros_like
from funcgrad.transforms.replay import inline, inputs_of, transforming
from funcgrad.transforms.simplify import simplify_program
from funcgrad.transforms.transpose import record_transpose

T = TypeVar("T")

Mark = bool | None
"""Whether a selection set elements of a cotangent to zero; None where there is no cotangent."""


class Bars(NamedTuple):
    """Which cotangents a step gets: for every part of the carry, and any number for each y."""

    carry: tuple[Mark, ...]
    ys: tuple[tuple[bool, ...], ...]


class TransposedStep(NamedTuple):
    """What becomes of a step that is linear in some of its inputs."""

    linear: Parts[bool]
    """The inputs it is linear in: those asked for, and every part of the carry that depends on them."""
    linear_ys: tuple[bool, ...]
    forward: Step
    """``carry, xs, consts -> carry, [ys, saved]`` of everything that is not linear"""
    backward: Step
    """``[cotangents, sums], [cotangents of ys, saved, xs it uses], [consts it uses, invariants] ->
    [cotangents, sums], cotangents of xs``"""
    invariants: Program
    """``consts that are not linear -> values that are the same on every trip``"""
    n_saved: int
    used_xs: tuple[int, ...]
    used_consts: tuple[int, ...]
    """Positions among the xs and consts that are not linear."""
    bars: Parts[Mark]
    """Which inputs get cotangents, and which of those have zeros of a selection."""


def transposed_step(step: Step, linear: Parts[bool], bars: Bars) -> TransposedStep:
    """The transpose of the step, where the given cotangents arrive."""
    carry, linear_ys = dependent_parts(step, linear)
    linear = linear._replace(carry=carry)
    bars = Bars(
        tuple([mark if flag else None for mark, flag in zip(bars.carry, carry, strict=True)]),
        tuple([marks if flag else () for marks, flag in zip(bars.ys, linear_ys, strict=True)]),
    )
    tried = bars._replace(carry=reached_marks(step, linear, bars))
    while True:
        with transforming(step.program, "transpose") as recorder:
            transpose = StepTranspose(recorder, step, linear, tried)
            if transpose.carry_marks == tried.carry and (tried == bars or transpose.selects_nothing):
                return transpose.taken_apart(linear_ys)
        bars = tried = bars if tried != bars else bars._replace(carry=transpose.carry_marks)


def reached_marks(step: Step, linear: Parts[bool], bars: Bars) -> tuple[Mark, ...]:
    """The marks of the cotangents that reach the carry in any number of trips, where nothing is selected."""
    marked = any(bars.carry) or any(map(any, bars.ys))
    if marked or not is_plain(step.program) or selects(step.program, linear.flat):
        return bars.carry
    reached = tuple([mark is not None for mark in bars.carry])
    ys = tuple([bool(marks) for marks in bars.ys])
    while True:
        needed = step.parts(needed_inputs(step.program, (*reached, *ys))).carry
        grown = tuple([a or (b and c) for a, b, c in zip(reached, needed, linear.carry, strict=True)])
        if grown == reached:
            break
        reached = grown
    return tuple([False if a and mark is None else mark for a, mark in zip(reached, bars.carry, strict=True)])


def selects(program: Program, flags: Sequence[bool]) -> bool:
    """Whether an equation that depends on the flagged inputs makes a selection."""
    dependent: set[Any] = set(chosen(program.inputs, flags))
    for e in program.equations:
        if not dependent.isdisjoint(e.inputs):
            if e.primitive.selects:
                return True
            dependent.update(e.outputs)
    return False


class StepTranspose:
    """One step recorded with its transpose."""

    __slots__ = (
        *("bars", "found", "given", "inputs", "linear", "n_forward", "outs", "recorder", "step"),
        "sums",
    )

    def __init__(self, recorder: Recorder, step: Step, linear: Parts[bool], bars: Bars) -> None:
        self.recorder = recorder
        self.step = step
        self.linear = linear
        self.bars = bars
        inputs = inputs_of(recorder, step.program.inputs)
        self.inputs: Parts[Tracer] = step.parts(inputs)
        self.outs = inline(recorder, parted(step.program, linear.flat), inputs)
        self.n_forward = len(recorder.steps)
        carry, ys = step.results(self.outs)
        exits = [x for x, mark in zip(carry, bars.carry, strict=True) if mark is not None]
        exits += [y for y, marks in zip(ys, bars.ys, strict=True) for _ in marks]
        marks = [mark for mark in bars.carry if mark is not None] + [m for group in bars.ys for m in group]
        self.given = [recorder.input(x.aval.strong) for x in exits]
        self.sums = {
            t._index: recorder.input(t.aval.strong)
            for t, flag in zip(self.inputs.consts, linear.consts, strict=True)
            if flag
        }
        """What the cotangents of consts are added to, trip after trip."""
        recorder.selected = {t._index for t, mark in zip(self.given, marks, strict=True) if mark}
        # A sum begins with zeros, which are as good as selected.
        recorder.selected |= {t._index for t in self.sums.values()}
        entries = chosen(inputs, linear.flat)
        found = iter(record_transpose(recorder, entries, exits, self.given, self.sums))
        after: Parts[Any] = step.parts([next(found) if flag else None for flag in linear.flat])
        reached = [
            None if bar is None or bar._index == self.sums[t._index]._index else bar
            for t, bar in zip(self.inputs.consts, after.consts, strict=True)
        ]
        self.found = after._replace(consts=tuple(reached))

    @property
    def selects_nothing(self) -> bool:
        """Whether no cotangent has zeros of a selection but the sums."""
        return self.recorder.selected == {t._index for t in self.sums.values()}

    @property
    def carry_marks(self) -> tuple[Mark, ...]:
        """What the cotangents of the carry are after one more trip."""
        marks: list[Mark] = []
        for before, bar in zip(self.bars.carry, self.found.carry, strict=True):
            after = mark_of(bar)
            # No cotangent is zero, and zero is as good as selected.
            marks.append(after if before is None else before and after is not False)
        return tuple(marks)

    def taken_apart(self, linear_ys: Sequence[bool]) -> TransposedStep:
        """The forward and the backward step."""
        recorder, step = self.recorder, self.step
        results, sums = self._results()
        fixed: Parts[Tracer] = self._of_not_linear(self.inputs)
        crossing = Crossing(recorder, self.n_forward, fixed, results)
        carry_in, ys_in = self._given_parts()
        used_xs = crossing.met(fixed.xs)
        used_consts = crossing.met(fixed.consts)
        heads = [*indices([*carry_in, *sums, *ys_in]), *crossing.saved]
        heads += indices([fixed.xs[k] for k in used_xs])
        heads += [*indices([fixed.consts[k] for k in used_consts]), *crossing.invariant]
        backward = simplify_program(recorder.program(heads, results))
        carry, ys = step.results([recorder.index_of(x) for x in self.outs])
        outs = [x for x, flag in zip(carry, self.linear.carry, strict=True) if not flag]
        outs += [y for y, flag in zip(ys, linear_ys, strict=True) if not flag]
        forward = simplify_program(recorder.program(indices(fixed.flat), [*outs, *crossing.saved]))
        return TransposedStep(
            linear=self.linear,
            linear_ys=tuple(linear_ys),
            forward=Step(forward, len(fixed.carry), len(fixed.xs)),
            backward=Step(
                backward, len(carry_in) + len(sums), len(ys_in) + len(crossing.saved) + len(used_xs)
            ),
            invariants=recorder.program(indices(fixed.consts), crossing.invariant),
            n_saved=len(crossing.saved),
            used_xs=used_xs,
            used_consts=used_consts,
            bars=Parts(
                self.bars.carry,
                tuple([mark_of(bar) for bar in self.found.xs]),
                tuple([mark_of(bar) for bar in self.found.consts]),
            ),
        )

    def _results(self) -> tuple[list[int], list[Tracer]]:
        """What the backward step returns, and its inputs for the sums over trips."""
        recorder = self.recorder
        found: list[Any] = [
            zeros_like(recorder, t.aval.strong) if bar is None else bar
            for t, bar, mark in zip(self.inputs.carry, self.found.carry, self.bars.carry, strict=True)
            if mark is not None
        ]
        pairs = zip(self.inputs.consts, self.found.consts, strict=True)
        sums = [self.sums[t._index] for t, bar in pairs if bar is not None]
        found += [bar for bar in self.found.consts if bar is not None]
        found += [bar for bar in self.found.xs if bar is not None]
        return [recorder.index_of(x) for x in found], sums

    def _given_parts(self) -> tuple[list[Tracer], list[Tracer]]:
        count = sum(mark is not None for mark in self.bars.carry)
        return self.given[:count], self.given[count:]

    def _of_not_linear(self, parts: Parts[Tracer]) -> Parts[Tracer]:
        return not_flagged(parts, self.linear)


class Crossing:
    """What the backward step takes from the forward step, and how each of it gets there.

    Of what depends on the carry that much is saved on the way forward from which the rest can be computed
    again at least cost. What only depends on consts is computed once. What depends on xs is computed again.
    """

    __slots__ = ("_seen", "invariant", "saved")

    def __init__(
        self, recorder: Recorder, n_forward: int, fixed: Parts[Tracer], outputs: Sequence[int]
    ) -> None:
        consts = {t._index for t in fixed.consts}
        operands = {index for index, _ in recorder.operands}
        literal = literal_indices(recorder)
        heads = [k for k in range(len(recorder.steps)) if is_head(recorder, k) and k not in operands]
        varying = computed_from(recorder, [k for k in heads if k not in consts])
        carried = computed_from(recorder, indices(fixed.carry))
        forward = {index for index in carried if index < n_forward}
        needed = values_before(recorder, outputs, forward)
        free = {k for k in range(len(recorder.steps)) if k not in carried}
        saved = kept_values(recorder, needed, free, indices(fixed.carry))
        invariant: set[int] = set()
        seen: set[int] = set()
        stack = list(outputs)
        while stack:
            index = stack.pop()
            if index in seen:
                continue
            seen.add(index)
            if index in saved or is_head(recorder, index):
                continue
            if index not in varying and index not in literal:
                invariant.add(index)
            else:
                step = recorder.steps[index]
                stack.extend((recorder.steps[index - step] if type(step) is int else step)[1:])
        self.saved = sorted(saved & seen)
        self.invariant = sorted(invariant)
        self._seen = seen

    def met(self, inputs: Sequence[Tracer]) -> tuple[int, ...]:
        """The positions of the inputs that the backward step reads itself."""
        return positions([t._index in self._seen for t in inputs])


def not_flagged(parts: Parts[T], flags: Parts[bool]) -> Parts[T]:
    """What is not flagged, part by part."""
    pairs = zip(parts, flags, strict=True)
    return Parts(*[tuple(chosen(part, [not f for f in part_flags])) for part, part_flags in pairs])


def mark_of(bar: object) -> Mark:
    """Whether the cotangent has zeros of a selection; None where it is None."""
    return None if bar is None else is_selected(bar)


def is_head(recorder: Recorder, index: int) -> bool:
    """Whether a value enters the trace at this index, as input, literal or captured array."""
    return type(recorder.steps[index]) not in (tuple, int)
