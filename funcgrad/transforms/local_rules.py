"""The derivative of one operation as a short list of steps, made once for all operations of its kind.

A program of Python's loops has the same operation on the same types over and over. Its `jvp` and the
transposes of what that records run once, on inputs of their own; what they record is a `LocalRule`, which
`funcgrad.transforms.reverse` repeats with other numbers. Knows no rule of any operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from funcgrad.errors import FuncgradError
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Literal, Var
from funcgrad.ops.arrays.structure import Broadcast
from funcgrad.tracing.primitive import Primitive
from funcgrad.tracing.recorder import Recorder, located
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.dependence import dependent_indices
from funcgrad.transforms.replay import as_tracer
from funcgrad.transforms.transpose import record_transpose
from funcgrad.types import AnyPrimitive, Anything

PLAIN, LITERAL, CAPTURED, SPREAD, SEVERAL, IMPURE = range(6)
"""Kinds of lines: an operation with one result, a number, a captured value, a number spread over a shape, an
operation with several results, and one that is never the same twice."""

ABSENT = -1


class Line(NamedTuple):
    """One step of a rule. Operands are numbers of slots: the rule's inputs, then the results of lines."""

    kind: int
    primitive: Any
    """The operation, or the value of a literal or captured array."""
    operands: tuple[int, ...]
    aval: Any
    """The aval of the result; a tuple of them for several."""


class Pullback(NamedTuple):
    """From cotangents of the results to what has then reached the operands."""

    lines: tuple[Line, ...]
    """Slots follow those of the forward lines: the cotangents that exist, the totals that exist, lines."""
    totals: tuple[tuple[int, int, bool], ...]
    """The place of each operand that something has reached, the slot of its total, and whether a selection
    has set elements of that to zero."""


class LocalRule:
    """What differentiating one operation records.

    Slots are numbered: the distinct operands, results of `forward`, then what a `Pullback` says.
    """

    __slots__ = ("_make", "distinct", "forward", "kept", "moving", "pullbacks", "results")

    def __init__(
        self,
        forward: tuple[Line, ...],
        results: tuple[tuple[int, bool], ...],
        distinct: tuple[int, ...],
        moving: tuple[int, ...],
        kept: bool,
        make: Callable[[Any], tuple[Pullback, bool]],
    ) -> None:
        self.forward = forward
        self.results = results
        """For each result of the operation its slot, and whether it has a tangent."""
        self.distinct = distinct
        """The places of the operands, each operand once."""
        self.moving = moving
        """The places of the operands that have tangents, each operand once."""
        self.kept = kept
        """Whether the rule holds for the next operation of the kind: it has captured nothing."""
        self._make = make
        self.pullbacks: dict[Any, Pullback] = {}
        """What `pullback` has made and kept: where there are no marks, by the avals."""

    def pullback(self, avals: tuple[Aval | None, ...], marks: tuple[bool, ...]) -> Pullback:
        """The pullback for cotangents and totals of these avals.

        There is an entry for each result, then for each moving operand, None where there is nothing. `marks`
        says where a selection has set elements to zero; it is empty where none has.
        """
        key = (avals, marks) if marks else avals
        found = self.pullbacks.get(key)
        if found is None:
            given = zip(avals, marks or (False,) * len(avals), strict=True)
            found, kept = self._make(tuple([None if aval is None else (aval, mark) for aval, mark in given]))
            if kept:
                self.pullbacks[key] = found
        return found


def local_rule(
    primitive: Primitive,
    avals: Sequence[Aval],
    flags: Sequence[bool],
    operands: Sequence[int],
    location: object,
    known: Mapping[int, Any],
) -> LocalRule:
    """The rule of an operation on operands of these avals, those with a flag having tangents.

    Equal numbers in `operands` are one operand. Errors of the operation's own rules name the `location`.
    Of some operands the number is `known`, by their place: the rule holds for these alone.
    """
    distinct = tuple(dict.fromkeys(operands))
    places = tuple([operands.index(j) for j in distinct])
    moving = tuple([k for k in places if flags[k]])
    numbers = [distinct.index(j) for j in operands]
    made = Linearization(primitive, avals, places, moving, numbers, location, known)
    forward, slots, kept = made.forward()
    results = tuple([(slots[i], dot is not None) for i, dot in zip(made.results, made.dots, strict=True)])

    first = [made]

    def make(key: tuple[Any, ...]) -> tuple[Pullback, bool]:
        # A pullback is recorded after the tangents, once: linearising loops and branches takes long.
        new = (
            first.pop()
            if first
            else Linearization(primitive, avals, places, moving, numbers, location, known)
        )
        return new.pullback(key)

    return LocalRule(forward, results, places, moving, kept, make)


class Linearization:
    """One operation and its tangents, recorded in a trace of its own."""

    def __init__(
        self,
        primitive: AnyPrimitive,
        avals: Sequence[Aval],
        places: tuple[int, ...],
        moving: tuple[int, ...],
        numbers: Sequence[int],
        location: Anything,
        known: Mapping[int, Any],
    ) -> None:
        """Record it; `numbers` says for each operand which of the distinct ones it is."""
        self.moving = moving
        self.location = location
        self.recorder = recorder = Recorder(primitive.name, "grad", location=location)
        with recorder, Located(recorder, location):
            self.inputs = [
                Tracer(recorder, recorder.literal_typed(known[k], avals[k]), avals[k])
                if k in known
                else recorder.input(avals[k])
                for k in places
            ]
            self.tangents = {k: recorder.input(avals[k].strong) for k in moving}
            values = [self.inputs[n] for n in numbers]
            dots = [self.tangents.get(places[n]) for n in numbers]
            if moving:
                out, out_dots = primitive.jvp(values, dots)
            else:
                out = recorder.record(primitive, values)
                out_dots = (None,) * len(out) if primitive.multiple else None
            outs = out if primitive.multiple else (out,)
            self.results = [recorder.index_of(x) for x in outs]
            self.dots: list[Any] = list(out_dots) if primitive.multiple else [out_dots]
            self.end = len(recorder.steps)
        self.forward_needs = self._needed()

    def _needed(self) -> list[int]:
        """What the results need, and what the steps that depend on a tangent read beside it."""
        steps = self.recorder.steps
        dependent = dependent_indices(self.recorder, [t._index for t in self.tangents.values()])
        read = {j for i in dependent.steps for j in steps[i][1:]} - dependent.indices
        needed = needed_since(steps, len(self.inputs), [*self.results, *read])
        heads = {t._index for t in self.tangents.values()}
        return [i for i in needed if i not in heads]

    def forward(self) -> tuple[tuple[Line, ...], dict[int, int], bool]:
        """What the forward pass computes, the slots of what was recorded, and whether to keep the lines."""
        slots = {x._index: k for k, x in enumerate(self.inputs)}
        lines, kept = self._lines(self.forward_needs, slots, len(self.inputs))
        return tuple(lines), slots, kept

    def pullback(self, key: tuple[Any, ...]) -> tuple[Pullback, bool]:
        """The lines for these cotangents and totals."""
        recorder = self.recorder
        forward, slots, kept = self.forward()
        recorder.closed = False
        with recorder, Located(recorder, self.location):
            given = [None if entry is None else recorder.input(entry[0]) for entry in key]
            recorder.selected = {
                x._index for x, entry in zip(given, key, strict=True) if x is not None and entry[1]
            }
            count = len(self.results)
            bars, totals = given[:count], given[count:]
            entries = [self.tangents[k] for k in self.moving]
            starts = {t._index: total for t, total in zip(entries, totals, strict=True) if total is not None}
            pairs = [
                (as_tracer(recorder, dot), bar)
                for dot, bar in zip(self.dots, bars, strict=True)
                if dot is not None and bar is not None
            ]
            before = len(recorder.steps)
            found = record_transpose(recorder, entries, [x for x, _ in pairs], [b for _, b in pairs], starts)
            ends = [None if x is None else x._index for x in found]
        first = len(self.inputs) + len([line for line in forward for _ in range(width(line))])
        heads = [x._index for x in given if x is not None]
        slots.update({i: first + k for k, i in enumerate(heads)})
        needed = needed_since(recorder.steps, before, [i for i in ends if i is not None])
        lines, also_kept = self._lines(needed, slots, first + len(heads))
        reached = tuple(
            [
                (place, slots[i], i in recorder.selected)
                for place, i in zip(self.moving, ends, strict=True)
                if i is not None
            ]
        )
        return Pullback(tuple(lines), reached), kept and also_kept

    def _lines(self, needed: Sequence[int], slots: dict[int, int], first: int) -> tuple[list[Line], bool]:
        """The lines of recorded steps, whose results take the slots from `first` on."""
        recorder = self.recorder
        operands = dict(recorder.operands)
        lines: list[Line] = []
        kept = True
        for i in needed:
            step, aval = recorder.steps[i], recorder.avals[i]
            if type(step) is int:
                continue
            if type(step) is Aval:
                if i not in operands:
                    continue
                kept = kept and operands[i]
                lines.append(Line(LITERAL if operands[i] else CAPTURED, recorder.values[i], (), aval))
            else:
                primitive, *inputs = step
                idle = None if primitive.multiple else self._idle(primitive, inputs, aval)
                if idle is not None:
                    slots[i] = slots[idle]
                    continue
                lines.append(self._operation(i, primitive, tuple([slots[j] for j in inputs])))
            for k in range(width(lines[-1])):
                slots[i + k] = first
                first += 1
        return lines, kept

    def _operation(self, i: int, primitive: AnyPrimitive, inputs: tuple[int, ...]) -> Line:
        avals = self.recorder.avals
        if primitive.multiple:
            steps, count = self.recorder.steps, 1
            while i + count < len(steps) and type(steps[i + count]) is int and steps[i + count] == count:
                count += 1
            return Line(SEVERAL, primitive, inputs, tuple(avals[i : i + count]))
        kind = PLAIN if primitive.pure else IMPURE
        if isinstance(primitive, Broadcast) and not avals[self.recorder.steps[i][1]].shape:
            kind = SPREAD
        return Line(kind, primitive, inputs, avals[i])

    def _idle(self, primitive: AnyPrimitive, inputs: Sequence[int], aval: Aval) -> int | None:
        """The operand that equals the result whatever its value, if there is one."""
        if type(primitive).simplify is Primitive.simplify:
            return None
        recorder = self.recorder
        literals = {i for i, is_literal in recorder.operands if is_literal}
        atoms = [
            Literal(recorder.values[j], recorder.avals[j]) if j in literals else Var(recorder.avals[j])
            for j in inputs
        ]
        idle = primitive.simplify(tuple(atoms))
        if idle is None or idle.aval.shape != aval.shape:
            return None
        return next(j for j, atom in zip(inputs, atoms, strict=True) if atom is idle)


class Located:
    """Errors of rules name the line of the operation they are about."""

    def __init__(self, recorder: Recorder, location: Anything) -> None:
        self.location = location

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if isinstance(error, FuncgradError):
            located(error, self.location)


def width(line: Line) -> int:
    """How many slots the results of a line take."""
    return len(line.aval) if line.kind == SEVERAL else 1


def needed_since(steps: Sequence[Any], start: int, ends: Sequence[int]) -> list[int]:
    """What was recorded from `start` on, and that the `ends` depend on."""
    needed: set[int] = set()
    stack = [i for i in ends if i >= start]
    while stack:
        i = stack.pop()
        step = steps[i]
        if type(step) is int:
            i -= step
            step = steps[i]
        if i in needed:
            continue
        needed.add(i)
        if type(step) is tuple:
            stack.extend([j for j in step[1:] if j >= start])
    return sorted(needed)
