"""The way back through one block: its pullback, in which arrays are put back as it goes.

The pullback of a block reads values of the way forward. It is recorded first as if all of them were given;
then it is known which are needed, and each is put back, kept, or computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.tracing.primitive import Flags, Linear, Primitive
from funcgrad.tracing.recorder import Recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.control.undoing.blocks import Block, NotUndone, undoing_of
from funcgrad.transforms.control.updates import as_additions
from funcgrad.transforms.linearize import record_jvp, zeros_like
from funcgrad.transforms.replay import as_tracer, inputs_of, transforming
from funcgrad.transforms.simplify import simplify_program
from funcgrad.transforms.transpose import record_transpose
from funcgrad.types import Anything

Label = tuple[Any, ...]
"""What an input or output of a pullback is.

``("value", v)`` is one of the way forward, ``("array", place)`` is put back, ``("bar", place)`` a cotangent,
``("total", place)`` what it is added to, ``("log", log)`` and ``("count", block)`` are what is kept."""


class Pullback(NamedTuple):
    """A block backwards, as a Program of what its labels say."""

    program: Program
    inputs: tuple[Label, ...]
    outputs: tuple[Label, ...]


class Inner(Primitive):
    """Stands for the tangents of a loop or a branch in a block, until they are transposed."""

    parameters = ("pulling", "position", "active")
    multiple = True
    name = ""
    pulling: Looking
    position: int
    active: Flags

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        child = self.pulling.block.children[self.position]
        outs = child.equation.outputs
        return tuple([v.aval.strong for v, a in zip(outs, child.activity(self.active), strict=True) if a])

    def linear_in(self, flags: Flags) -> bool:
        return True

    def transpose(self, cotangent: Anything, *inputs: Anything) -> tuple[Any, ...]:
        return self.transpose_onto([None] * len(inputs), cotangent, *inputs)

    def transpose_onto(
        self, totals: Sequence[Any], cotangent: Anything, *inputs: Anything
    ) -> tuple[Any, ...]:
        """Record the child backwards; its cotangents are added to the totals."""
        n = len(inputs) - sum(self.active)
        given, found = iter(totals[n:]), iter(cotangent)
        child = self.pulling.block.children[self.position]
        reached = [next(given) if a else None for a in self.active]
        bars = [next(found) if a else None for a in child.activity(self.active)]
        after = self.pulling.child_backwards(self.position, self.active, reached, bars)
        dots = [bar for bar, a in zip(after, self.active, strict=True) if a]
        return (
            *[None] * n,
            *[bar if isinstance(x, Linear) else None for x, bar in zip(inputs[n:], dots, strict=True)],
        )


class Surroundings(Protocol):
    """Where a loop or a branch backwards is recorded, and what of the way forward is there."""

    recorder: Recorder
    back: dict[Var, int]
    """Arrays that have been put back."""
    outputs: dict[Label, int]

    def value(self, atom: Atom) -> Anything:
        """A value of the way forward."""

    def label(self, label: Label, aval: Aval) -> Anything:
        """A log, or how often a block has been run."""


class Looking:
    """A block, and where something of it is recorded."""

    def __init__(self, block: Block, recorder: Recorder) -> None:
        self.block = block
        self.recorder = recorder

    def child_backwards(
        self, position: int, active: Flags, totals: Sequence[Any], bars: Sequence[Any]
    ) -> list[Any]:
        """What transposes a child; here nothing does."""
        raise NotUndone("looked at forwards only")


class Pulling(Looking):
    """The pullback of one block, as it is recorded."""

    def __init__(self, block: Block, active: Flags) -> None:
        self.active = active
        self.values: dict[Var, Tracer] = {}
        self.labels: dict[Label, Tracer] = {}
        self.outputs: dict[Label, int] = {}
        self.back: dict[Var, int] = {}
        """Arrays that a child has put back."""
        self.done: set[int] = set()
        with transforming(block.program, "linearize") as recorder:
            super().__init__(block, recorder)
            self._record()
            heads: dict[Label, Tracer] = {("value", v): t for v, t in self.values.items()}
            heads.update(self.labels)
            results: dict[Label, int] = dict(self.outputs)
            results.update({("back", v): index for v, index in self.back.items()})
            program = recorder.program([t._index for t in heads.values()], list(results.values()))
        program = simplify_program(program)
        self.program = program
        self.heads: list[Label] = list(heads)
        self.results: list[Label] = list(results)
        read = {a for e in program.equations for a in e.inputs} | set(program.outputs)
        self.used = [label for label, v in zip(self.heads, program.inputs, strict=True) if v in read]

    @property
    def needed(self) -> list[Var]:
        """The values of the way forward that are read on the way back."""
        found = [label[1] for label in self.used if label[0] == "value"]
        undone = [
            a
            for path in self.block.paths
            if path.place in self.block.restored
            for k in path.steps
            if k not in self.block.children
            for a in (*self.block.program.equations[k].inputs[2:], self.block.old[k])
        ]
        return list(dict.fromkeys([v for v in [*found, *undone] if isinstance(v, Var)]))

    def label(self, label: Label, aval: Aval) -> Tracer:
        """The input of this label."""
        if label not in self.labels:
            self.labels[label] = self.recorder.input(aval)
        return self.labels[label]

    def value(self, atom: Atom) -> Anything:
        """A value of the way forward, as an input."""
        if isinstance(atom, Literal):
            index = self.recorder.literal(atom.value, atom.aval.dtype, atom.aval.weak)
            return Tracer(self.recorder, index, atom.aval)
        found = self.values.get(atom)
        if found is None:
            captured = dict(self.block.program.captured)
            found = captured.get(atom)
        return found

    def _record(self) -> None:
        recorder, program = self.recorder, self.block.program
        made = [v for e in program.equations for v in e.outputs]
        made += [child.count for child in self.block.children.values() if child.count is not None]
        self.values = {v: recorder.input(v.aval) for v in (*program.inputs, *made)}
        inputs = [self.values[v] for v in program.inputs]
        dots = [
            recorder.input(v.aval.strong) if a else None
            for v, a in zip(program.inputs, self.active, strict=True)
        ]
        known = {v: self.values[v] for v in made}
        additions = as_additions(with_inner(self.block.program, self))
        _, out_dots = record_jvp(recorder, additions, inputs, dots, known)
        exits, bars = [], []
        for place, dot in enumerate(out_dots):
            if dot is not None:
                aval = program.outputs[place].aval.strong
                exits.append(as_tracer(recorder, dot))
                bars.append(self.label(("bar", place), aval))
        entries = [t for t in dots if t is not None]
        places = [k for k, a in enumerate(self.active) if a]
        starts = {}
        for k, t in zip(places, entries, strict=True):
            if self.is_summed(k):
                starts[t._index] = self.label(("total", k), t.aval)
        # Sums begin with zeros, which are as good as selected; so do cotangents of what is read in parts.
        recorder.selected = {t._index for t in [*bars, *starts.values()]}
        found = record_transpose(recorder, entries, exits, bars, starts)
        for k, t, bar in zip(places, entries, found, strict=True):
            full = zeros_like(recorder, t.aval.strong) if bar is None else bar
            self.outputs["bar", k] = recorder.index_of(full)
        for k, child in self.block.children.items():
            if k not in self.done and child.restores:
                flags = (False,) * len(child.equation.inputs)
                outs = [None] * len(child.equation.outputs)
                self.child_backwards(k, flags, [None] * len(flags), outs)

    def is_summed(self, place: int) -> bool:
        """Whether the cotangent of an input is added to what there is."""
        return self.block.sums[place]

    def child_backwards(
        self, position: int, active: Flags, totals: Sequence[Any], bars: Sequence[Any]
    ) -> list[Any]:
        """Record a child backwards; returns the cotangents of its inputs."""
        self.done.add(position)
        child = self.block.children[position]
        return child.backwards(self, active, totals, bars)

    # -- the Program ---------------------------------------------------------------------------------------

    def pullback(self) -> Pullback:
        """The block backwards, of what is kept and what is put back."""
        return Assembled(self).pullback()


def active_outputs(block: Block, active: Flags) -> Flags:
    """Which results of a block have tangents."""
    with transforming(block.program, "linearize") as recorder:
        program = with_inner(block.program, Looking(block, recorder))
        inputs = inputs_of(recorder, program.inputs)
        dots = [
            recorder.input(v.aval.strong) if a else None for v, a in zip(program.inputs, active, strict=True)
        ]
        _, out_dots = record_jvp(recorder, program, inputs, dots)
        return tuple([dot is not None for dot in out_dots])


def with_inner(program: Program, pulling: Looking) -> Program:
    """The Program, in which children are stood for."""
    equations = list(program.equations)
    for k in pulling.block.children:
        e = equations[k]
        equations[k] = Equation(Standing(pulling, k), e.inputs, e.outputs, e.source)
    return Program(program.inputs, program.captured, tuple(equations), program.outputs, program.name)


class Standing(Primitive):
    """Stands for a loop or a branch in a block while its derivative is recorded."""

    parameters = ("pulling", "position")
    multiple = True
    name = ""
    pulling: Looking
    position: int

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        return tuple([v.aval for v in self.pulling.block.children[self.position].equation.outputs])

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        recorder = self.pulling.recorder
        child = self.pulling.block.children[self.position]
        active = tuple([t is not None for t in tangents])
        flags = child.activity(active)
        outs = recorder.record(self, primals)
        if not any(flags):
            return outs, (None,) * len(flags)
        inner = Inner(self.pulling, self.position, active)
        dots = iter(recorder.record(inner, [*primals, *[t for t in tangents if t is not None]]))
        return outs, tuple([next(dots) if flag else None for flag in flags])


class Assembled:
    """The equations of a pullback, in an order in which each comes after what it reads."""

    def __init__(self, pulling: Pulling) -> None:
        self.pulling = pulling
        self.block = block = pulling.block
        names: dict[Atom, Atom] = {}
        for label, v in zip(pulling.heads, pulling.program.inputs, strict=True):
            if label[0] == "value":
                names[v] = label[1]
        backs = {
            label[1]: v
            for label, v in zip(pulling.results, pulling.program.outputs, strict=True)
            if label[0] == "back"
        }
        # What a child has put back goes by the name of the version that it is.
        names.update({made: version for version, made in backs.items()})
        self.names = names
        self.makers: dict[Var, Equation] = {}
        for e in pulling.program.equations:
            renamed = Equation(
                e.primitive,
                tuple([names.get(a, a) for a in e.inputs]),
                tuple([names.get(v, v) for v in e.outputs]),  # type: ignore[misc]
                e.source,
            )
            self.makers.update(dict.fromkeys(renamed.outputs, renamed))
        self.given: dict[Var, Label] = {}
        for label, v in zip(pulling.heads, pulling.program.inputs, strict=True):
            if label[0] != "value":
                self.given[v] = label
        for path in block.paths:
            if path.place in block.restored:
                self._put_back(path)
        for log in block.logs:
            self.makers.pop(log.v, None)
            self.given[log.v] = ("value", log.v)
        self.captured = dict((*block.program.captured, *pulling.program.captured))

    def _put_back(self, path: Anything) -> None:
        self.given[path.versions[-1]] = ("array", path.result)
        for n in reversed(range(len(path.steps))):
            k = path.steps[n]
            before, after = path.versions[n], path.versions[n + 1]
            if k not in self.block.children:
                undoing = undoing_of(self.block.program.equations[k], after, self.block.old[k], before)
                self.makers[before] = undoing

    def pullback(self) -> Pullback:
        """The Program."""
        block, pulling = self.block, self.pulling
        outs: dict[Label, Atom] = {
            label: self.names.get(v, v)
            for label, v in zip(pulling.results, pulling.program.outputs, strict=True)
            if label[0] != "back"
        }
        for path in block.paths:
            if path.place in block.restored:
                outs["array", path.place] = path.versions[0]
        equations = self._ordered(list(outs.values()))
        read = {a for e in equations for a in e.inputs} | set(outs.values())
        inputs = {v: label for v, label in self.given.items() if v in read}
        captured = tuple([(v, x) for v, x in self.captured.items() if v in read])
        program = Program(tuple(inputs), captured, tuple(equations), tuple(outs.values()), block.program.name)
        return Pullback(simplify_program(program), tuple(inputs.values()), tuple(outs))

    def _maker(self, v: Var) -> Equation | None:
        """What makes a value; None where it is given."""
        if v in self.given or v in self.captured:
            return None
        made = self.makers.get(v)
        if made is not None:
            return made
        place = self.block.makers.get(v)
        if place is not None and place not in self.block.children:
            equation = self.block.program.equations[place]
            self.makers.update(dict.fromkeys(equation.outputs, equation))
            return equation
        if v in self.block.program.inputs:
            self.given[v] = ("value", v)
            return None
        raise NotUndone(f"a {v.aval} is neither kept nor can be computed again")

    def _ordered(self, outputs: Sequence[Atom]) -> list[Equation]:
        """The equations that the outputs need."""
        order: list[Equation] = []
        state: dict[int, int] = {}
        stack: list[tuple[Atom, bool]] = [(a, False) for a in reversed(outputs)]
        while stack:
            atom, left = stack.pop()
            maker = self._maker(atom) if isinstance(atom, Var) else None
            if maker is None:
                continue
            if left:
                if state[id(maker)] == 1:
                    state[id(maker)] = 2
                    order.append(maker)
                continue
            if state.get(id(maker)) == 2:
                continue
            if state.get(id(maker)) == 1:
                raise NotUndone("an array would have to be put back before it is needed")
            state[id(maker)] = 1
            stack.append((atom, True))
            stack += [(a, False) for a in reversed(maker.inputs)]
        return order


def pulled(block: Block, active: Flags) -> Pullback:
    """A block backwards; while a nest is planned, what it needs is chosen on the way."""
    pulling = Pulling(block, active)
    before = -1
    while len(block.restored) != before:
        # What is put back needs what was overwritten, too.
        before = len(block.restored)
        block.choose(pulling.needed)
    return pulling.pullback()
