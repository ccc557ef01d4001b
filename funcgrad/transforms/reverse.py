"""Reverse mode in one pass over a record: forward to the last step, and back.

What each operation adds to the pass is a `LocalRule`, made once for all operations of its kind. Repeated
operations, numbers beside numbers and operations that do nothing are seen to where they would be recorded, so
the result needs no simplification; it becomes a Program when somebody looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Literal, Program, Var
from funcgrad.ir.steps import Steps, as_source, needed_steps, program_of_steps
from funcgrad.ops.arrays.structure import Broadcast
from funcgrad.ops.families import Pointwise
from funcgrad.shared import once
from funcgrad.tracing.recorder import NOWHERE, Recorder
from funcgrad.transforms.local_rules import (
    ABSENT,
    CAPTURED,
    LITERAL,
    SEVERAL,
    SPREAD,
    Line,
    LocalRule,
    local_rule,
)
from funcgrad.transforms.simplify import folded
from funcgrad.transforms.transpose import in_reverse
from funcgrad.types import AnyPrimitive, Anything, Array

Swept = tuple[LocalRule, int, list[int]]
"""An operation on the way back: its rule, its number in the record, its slots."""


def gradient_of_record(
    recorder: Recorder,
    n_inputs: int,
    outputs: Sequence[int],
    active: Sequence[bool],
    known: Sequence[int],
    *,
    keeps_first: bool,
) -> Program:
    """``inputs, operands, known values -> outputs, gradients of the first output by the active inputs``.

    Operands are the literals and captured arrays of the record; values at the indices `known` have been
    evaluated, and are given. Without `keeps_first` the first output is not among the results.
    """
    sweep = Sweep(recorder, known)
    entries = [i for i, moves in enumerate(active) if moves]
    sweep.forward(outputs, entries)
    bars = sweep.backward(outputs[0])
    grads = [sweep.instantiated(bars.get(i), recorder.avals[i].strong) for i in entries]
    kept = outputs if keeps_first else outputs[1:]
    heads = [*range(n_inputs), *[index for index, _ in recorder.operands], *known]
    return sweep.program([sweep.at[i] for i in heads], [*[sweep.at[i] for i in kept], *grads])


class Sweep:
    """The new steps, and where the values of the record are among them."""

    def __init__(self, recorder: Recorder, known: Sequence[int]) -> None:
        self.recorder = recorder
        self.steps: list[Any] = []
        self.avals: list[Aval] = []
        self.sources: list[Any] = []
        self.at: list[int] = [ABSENT] * len(recorder.steps)
        """The number here of each value of the record."""
        self._kinds: list[Any] = list(recorder.avals)
        """For each value of the record its aval, or a tuple of it where the value has a tangent."""
        self.location: Any = None
        self.literals: dict[int, Any] = {}
        self.captured: dict[int, Any] = {}
        self._seen: dict[Any, int] = {}
        self._evaluated: dict[Any, int] = {}
        self._scalars: dict[int, int] = {}
        """Numbers spread over a shape, and the number that is spread."""
        self._special: set[Any] = set()
        """Literals, and scalars spread over a shape: what they are given to may be simpler."""
        self._selected: set[int] = set()
        self._swept: list[Swept] = []
        self._known = frozenset(known)

    def given(self, aval: Aval) -> int:
        """A new number for a value that is not computed here."""
        index = len(self.steps)
        self.steps.append(aval)
        self.avals.append(aval)
        self.sources.append(None)
        return index

    # -- forward ---------------------------------------------------------------------------------------

    def forward(self, outputs: Sequence[int], entries: Sequence[int]) -> None:
        """Take over what the outputs need, with what the way back will read."""
        record, at, kinds = self.recorder, self.at, self._kinds
        steps, sources = record.steps, record.sources
        for i in entries:
            kinds[i] = (kinds[i],)
        for i, step in enumerate(steps):
            if type(step) is Aval:
                at[i] = self.given(step)
        for i in sorted(self._known):
            at[i] = self.given(record.avals[i])
        for i in needed_steps(steps, outputs):
            step = steps[i]
            self.location = sources[i]
            rule: LocalRule | None = None
            if len(step) == 3:
                primitive, j, k = step
                if j != k:
                    rule = primitive._local_rules.get((kinds[j], kinds[k]))
                    slots = [at[j], at[k]]
            elif len(step) == 2:
                primitive, j = step
                rule = primitive._local_rules.get((kinds[j],))
                slots = [at[j]]
            if rule is None:
                rule = self._rule(step[0], step[1:])
                slots = [at[step[k + 1]] for k in rule.distinct]
            self._take_over(i, step, rule, slots)

    def _rule(self, primitive: AnyPrimitive, operands: Sequence[int]) -> LocalRule:
        """The rule of an operation, made where it is not known. A value given twice is one operand."""
        key: tuple[Any, ...] = tuple([self._kinds[j] for j in operands])
        if len(set(operands)) < len(operands):
            key = (*key, tuple([operands.index(j) for j in operands]))
        numbers: dict[int, Any] = {}
        if primitive.reads_numbers:
            given = self._given_numbers
            numbers = {k: given[j] for k, j in enumerate(operands) if j in given}
            key = (*key, tuple([(k, x.tobytes()) for k, x in numbers.items()]))
        rule: LocalRule | None = primitive._local_rules.get(key)
        if rule is None:
            types = [self.recorder.avals[j] for j in operands]
            flags = [type(self._kinds[j]) is tuple for j in operands]
            place = as_source(self.location) or NOWHERE
            rule = local_rule(primitive, types, flags, operands, place, numbers)
            if rule.kept:
                primitive._local_rules[key] = rule
        return rule

    @once
    def _given_numbers(self) -> dict[int, Any]:
        """The literals of the record."""
        return {j: self.recorder.values[j] for j, is_literal in self.recorder.operands if is_literal}

    def _take_over(self, i: int, step: tuple[Any, ...], rule: LocalRule, slots: list[int]) -> None:
        at = self.at
        if i in self._known:
            evaluated = step[0], *[at[j] for j in step[1:]]
            self._seen[evaluated] = self._evaluated[evaluated] = at[i]
        self.repeat(rule.forward, slots)
        sweeps = False
        k = i
        for slot, moves in rule.results:
            if at[k] == ABSENT:
                at[k] = slots[slot]
            if moves:
                self._kinds[k] = (self._kinds[k],)
                sweeps = True
            k += 1
        if sweeps:
            self._swept.append((rule, i, slots))

    def repeat(self, lines: Sequence[Line], slots: list[int]) -> None:
        """Record the lines of a rule on the values in `slots`, and add the results to them."""
        steps, special = self.steps, self._special
        for kind, primitive, operands, aval in lines:
            if kind:
                self._repeat_other(kind, primitive, operands, aval, slots)
                continue
            if len(operands) == 2:
                j, k = operands
                step: tuple[Any, ...] = primitive, slots[j], slots[k]
            elif len(operands) == 1:
                step = primitive, slots[operands[0]]
            else:
                step = (primitive, *[slots[k] for k in operands])
            if special.isdisjoint(step):
                new = len(steps)
                index = self._seen.setdefault(step, new)
                if index == new:
                    steps.append(step)
                    self.avals.append(aval)
                    self.sources.append(self.location)
                slots.append(index)
            else:
                slots.append(self._simple(step, aval))

    def _repeat_other(
        self, kind: int, primitive: AnyPrimitive, operands: tuple[int, ...], aval: Anything, slots: list[int]
    ) -> None:
        if kind == LITERAL:
            slots.append(self.literal(primitive, aval))
            return
        if kind == CAPTURED:
            index = self.given(aval)
            self.captured[index] = primitive
            slots.append(index)
            return
        step = (primitive, *[slots[k] for k in operands])
        if kind == SPREAD:
            index = self._simple(step, aval)
            slots.append(index)
            return
        found = (self._seen if primitive.pure else self._evaluated).get(step)
        if found is None:
            found = self._seen[step] = len(self.steps)
            for offset, one in enumerate(aval if kind == SEVERAL else (aval,)):
                self.steps.append(offset or step)
                self.avals.append(one)
                self.sources.append(self.location)
        slots.extend(range(found, found + (len(aval) if kind == SEVERAL else 1)))

    def literal(self, value: Array, aval: Aval) -> int:
        """The number of a literal; equal ones share it."""
        key = aval, value.tobytes()
        index = self._seen.get(key)
        if index is None:
            index = self._seen[key] = self.given(aval)
            self.literals[index] = value
            self._special.add(index)
        return index

    def _simple(self, step: tuple[Any, ...], aval: Aval) -> int:
        """The number of an operation's result, some of whose operands are literals or scalars spread out."""
        primitive, *operands = step
        avals, literals, scalars = self.avals, self.literals, self._scalars
        if isinstance(primitive, Pointwise) and aval.shape:
            spread = [j in scalars for j in operands]
            if any(spread) and any(
                not s and avals[j].shape == aval.shape for j, s in zip(operands, spread, strict=True)
            ):
                operands = [scalars.get(j, j) for j in operands]
        atoms = tuple([Literal(literals[j], avals[j]) if j in literals else Var(avals[j]) for j in operands])
        idle = primitive.simplify(atoms)
        if idle is not None and idle.aval.shape == aval.shape:
            return operands[[atom is idle for atom in atoms].index(True)]  # type: ignore[no-any-return]
        if isinstance(primitive, Pointwise) and all(j in literals for j in operands):
            return self.literal(folded(primitive, atoms, Var(aval)).value, aval)
        step = (primitive, *operands)
        index = self._seen.get(step)
        if index is None:
            index = self._seen[step] = len(self.steps)
            self.steps.append(step)
            self.avals.append(aval)
            self.sources.append(self.location)
            if isinstance(primitive, Broadcast) and not avals[operands[0]].shape:
                self._scalars[index] = operands[0]
                self._special.add(index)
        return index

    # -- and back --------------------------------------------------------------------------------------

    def backward(self, output: int) -> dict[int, int]:
        """The cotangents that reach values of the record from one output, by the value's number there."""
        bars: dict[int, int] = {}
        if type(self._kinds[output]) is not tuple:
            return bars
        record, avals, selected = self.recorder, self.avals, self._selected
        steps, sources = record.steps, record.sources
        seed = record.avals[output]
        bars[output] = self.literal(seed.dtype.type(1), seed.scalar)
        backward: dict[int, Any] = {}
        for rule, i, slots in reversed(self._swept):
            count = len(rule.results)
            given = [bars.pop(i, None)] if count == 1 else [bars.pop(k, None) for k in range(i, i + count)]
            if given[0] is None and all(bar is None for bar in given):
                continue
            step = steps[i]
            for k in rule.moving:
                given.append(bars.get(step[k + 1]))  # noqa: PERF401 - a list of two is made faster so
            types: list[Any] = []
            for index in given:
                if index is None:
                    types.append(None)
                else:
                    types.append(avals[index])
                    slots.append(index)
            marks = tuple([j in selected for j in given]) if selected else ()
            location = sources[i]
            self.location = backward.get(id(location))
            if self.location is None:
                self.location = backward[id(location)] = in_reverse(location)
            key = tuple(types)
            pullback = None if marks else rule.pullbacks.get(key)
            lines, totals = pullback or rule.pullback(key, marks)
            self.repeat(lines, slots)
            for k, slot, mark in totals:
                bars[step[k + 1]] = total = slots[slot]
                if mark:
                    selected.add(total)
        return bars

    def instantiated(self, bar: int | None, aval: Aval) -> int:
        """A cotangent, zeros where nothing has reached it."""
        if bar is not None:
            return bar
        self.location = NOWHERE
        zero = self.literal(aval.dtype.type(0), aval.scalar)
        if not aval.shape:
            return zero
        return self._simple((Broadcast(aval.shape, ()), zero), aval.scalar.with_shape(aval.shape))

    def program(self, inputs: Sequence[int], outputs: Sequence[int]) -> Program:
        """The Program of what has been recorded."""
        return program_of_steps(
            Steps(
                self.recorder.name,
                self.steps,
                self.avals,
                self.sources,
                inputs,
                self.literals,
                self.captured,
                outputs,
            )
        )
