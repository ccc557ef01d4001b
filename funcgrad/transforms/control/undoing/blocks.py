"""Blocks: the bodies of the loops and branches of a nest, and what of each is kept for the way back.

On the way back the arrays that a block changes in place are put back, write by write, so their elements can
be read again. What else is needed is computed again from these, from constants and from counters, or kept in
a *log*, an array with an element for each run of the block. Knows nothing of how loops are written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Atom, Equation, Program, Var
from funcgrad.ops.arrays.indexing import Gather, Scatter
from funcgrad.ops.arrays.slicing import AddToSlice, Slice, UpdateSlice
from funcgrad.transforms.control.keeping import kept_values
from funcgrad.transforms.control.updates import UPDATES, bases
from funcgrad.transforms.replay import inputs_of, read_tracer, start, transforming, write

if TYPE_CHECKING:
    from funcgrad.transforms.control.undoing.children import Child


class NotUndone(Exception):
    """A nest whose writes cannot be undone; the words say why. It is differentiated as other loops are."""


class Path(NamedTuple):
    """An array that a block changes in place, from what it is given to what it leaves."""

    place: int
    """Which input it is."""
    result: int
    """Which output it becomes."""
    versions: tuple[Var, ...]
    steps: tuple[int, ...]
    """The equations that make each version of the one before."""


class Log:
    """What is kept of every run of a block: one value of it."""

    __slots__ = ("aval", "v")

    def __init__(self, v: Var) -> None:
        self.v = v
        self.aval = v.aval.strong


class Block:
    """A body, its children (the loops and branches in it), and what is kept of it."""

    def __init__(self, program: Program, capacity: int, body: Block | None = None) -> None:
        self.program = program
        self.capacity = capacity
        """How often it is run at most."""
        self.body = self if body is None else body
        """The body of the loop around it, whose trips are counted: itself, unless it is a branch."""
        self.children: dict[int, Child] = {}
        self.paths = paths_of(program)
        self.restored: set[int] = set()
        """The inputs that are put back on the way back."""
        self.logs: list[Log] = []
        self.old: dict[int, Var] = {}
        """By equation, what it overwrites of an array that is put back."""
        self.givens: set[int] = set()
        """Inputs that are there on the way back: constants, rows and counters."""
        self.sums = [False] * len(program.inputs)
        """The inputs whose cotangents are added to what there is."""
        self.makers = {v: k for k, e in enumerate(program.equations) for v in e.outputs}
        self.partners: Callable[[set[int]], set[int] | None] = self._able
        """Inputs with those that can only be put back with them; None where one cannot be put back."""
        self.changed = False
        """Whether what is kept or put back has changed since this was last set to False."""

    # -- the nest ----------------------------------------------------------------------------------------

    def subtree(self) -> list[Block]:
        """The block and all within it."""
        return [
            self,
            *[b for child in self.children.values() for inner in child.blocks for b in inner.subtree()],
        ]

    def all_logs(self) -> list[tuple[Block, Log]]:
        """The logs of the block and of all within it."""
        return [(b, log) for b in self.subtree() for log in b.logs]

    @property
    def counts(self) -> bool:
        """Whether its runs have to be counted, since something is kept of them."""
        own = [self, *self.branches()]
        return self.body is self and any(b.logs for b in own)

    def branches(self) -> list[Block]:
        """The branches that its trips take, and those in them, but no loops."""
        return [
            b
            for child in self.children.values()
            for inner in child.blocks
            if inner.body is self.body
            for b in (inner, *inner.branches())
        ]

    def counted(self) -> list[Block]:
        """The bodies within it, itself included, whose runs are counted."""
        return [b for b in self.subtree() if b.counts]

    # -- paths -------------------------------------------------------------------------------------------

    def path_at(self, place: int) -> Path | None:
        """The path of an input."""
        return next((p for p in self.paths if p.place == place), None)

    def restorable(self) -> set[int]:
        """The inputs that can be put back: each write on the way is one that can be undone."""
        return {p.place for p in self.paths if all(self._undoes(k, p, n) for n, k in enumerate(p.steps))}

    def _undoes(self, k: int, path: Path, n: int) -> bool:
        child = self.children.get(k)
        if child is not None:
            return child.undoes(path.versions[n], path.versions[n + 1])
        return isinstance(self.program.equations[k].primitive, Scatter | UpdateSlice | AddToSlice)

    def _able(self, places: set[int]) -> set[int] | None:
        return places if places <= self.restorable() else None

    def restore(self, places: set[int]) -> None:
        """Have these inputs put back."""
        if places <= self.restored:
            return
        self.changed = True
        closed = self.partners(self.restored | places)
        if closed is None:
            raise NotUndone("an array that is needed cannot be put back")
        self.restored = closed
        for path in self.paths:
            if path.place in self.restored:
                for n, k in enumerate(path.steps):
                    child = self.children.get(k)
                    if child is not None:
                        child.restore(path.versions[n + 1])
                    elif k not in self.old:
                        self.old[k] = self._overwritten(k)

    def _overwritten(self, k: int) -> Var:
        """What an equation overwrites; what reads it already, if there is such an equation."""
        equation = self.program.equations[k]
        reading = reading_of(equation)
        for e in self.program.equations[:k]:
            if e.primitive == reading.primitive and e.inputs == reading.inputs:
                return e.outputs[0]
        return reading.outputs[0]

    def augmented(self) -> list[tuple[int, Equation]]:
        """The equations by their places, with those that read what is overwritten."""
        found: list[tuple[int, Equation]] = []
        for k, equation in enumerate(self.program.equations):
            old = self.old.get(k)
            if old is not None and old not in self.makers:
                reading = reading_of(equation)
                found.append((-1, Equation(reading.primitive, reading.inputs, (old,), equation.source)))
            found.append((k, equation))
        return found

    def stale(self) -> set[Var]:
        """Versions of arrays that are not yet put back when something later is gone through backwards."""
        found: set[Var] = set()
        for path in self.paths:
            for n, version in enumerate(path.versions):
                later = set(path.versions[n + 1 :])
                if any(later & {*e.inputs, *e.outputs} for e in self._children_equations()):
                    found.add(version)
        return found

    def _children_equations(self) -> list[Equation]:
        return [self.program.equations[k] for k in self.children]

    def versions(self) -> set[Var]:
        """All that can be had by putting arrays back."""
        places = self.restorable()
        return {v for p in self.paths if p.place in places for v in p.versions}

    # -- what is kept ------------------------------------------------------------------------------------

    def choose(self, needed: Sequence[Var]) -> None:
        """Choose what is kept of a run, so that `needed` can be had."""
        kept = [v for v in self._cut(needed) if not self._is_given(v)]
        before = {log.v: log for log in self.logs}
        self.logs = [before.get(v) or Log(v) for v in kept]
        self.changed |= set(kept) != set(before)
        self.restore(self._places_read(set(needed), set(kept)))

    def _is_given(self, v: Var) -> bool:
        return v in self.program.inputs and self.program.inputs.index(v) in self.givens

    def _cut(self, needed: Sequence[Var]) -> list[Var]:
        """The values to keep, by cost."""
        versions, stale = self.versions(), self.stale()
        with transforming(self.program, "linearize") as recorder:
            env = start(self.program, inputs_of(recorder, self.program.inputs))
            apart: set[Var] = set()
            for k, equation in self.augmented():
                write(
                    env,
                    equation,
                    recorder.record(
                        equation.primitive, [read_tracer(recorder, env, a) for a in equation.inputs]
                    ),
                )
                if k in self.children or not stale.isdisjoint(equation.inputs):
                    apart.update(equation.outputs)
            for child in self.children.values():
                if child.count is not None:
                    env[child.count] = recorder.input(child.count.aval)
                    apart.add(child.count)
            for k in self.old:
                apart.add(self.old[k])
            place = {v: recorder.index_of(x) for v, x in env.items()}
            free = {place[v] for v in versions}
            free |= {place[v] for k, v in enumerate(self.program.inputs) if k in self.givens}
            free |= {index for index, _ in recorder.operands}
            given = {place[v] for v in apart} - free
            given |= {place[v] for v in self.program.inputs} - free
            found = kept_values(recorder, [place[v] for v in needed if v in place], free, given)
            names: dict[int, Var] = {}
            for v, index in place.items():
                names.setdefault(index, v)
            return [names[index] for index in sorted(found)]

    def _places_read(self, needed: set[Var], kept: set[Var]) -> set[int]:
        """The inputs whose elements are read on the way back, so that they must be put back."""
        versions = {v: p.place for p in self.paths for v in p.versions if p.place in self.restorable()}
        found: set[int] = set()
        seen: set[Var] = set()
        stack = list(needed)
        while stack:
            v = stack.pop()
            if v in seen or v in kept or not isinstance(v, Var):
                continue
            seen.add(v)
            if v in versions:
                if self._changes(versions[v]):
                    found.add(versions[v])
                continue
            if v in self.makers:
                stack += self.program.equations[self.makers[v]].inputs  # type: ignore[arg-type]
        return found

    def _changes(self, place: int) -> bool:
        """Whether the array is another one for the next trip, or after a branch."""
        path = self.path_at(place)
        return path is not None and (bool(path.steps) or path.result != place)

    def nbytes(self) -> int:
        """The room of all logs."""
        return sum(b.capacity * log.aval.nbytes for b, log in self.all_logs())


def reading_of(equation: Equation) -> Equation:
    """What reads the elements that an equation overwrites."""
    primitive, (x, _, *indices) = equation.primitive, equation.inputs
    reading: Any = Gather(primitive.axes) if isinstance(primitive, Scatter) else Slice(primitive.index)
    made = reading.inferred(tuple([a.aval for a in (x, *indices)]))
    return Equation(reading, (x, *indices), (Var(made),), equation.source)


def undoing_of(equation: Equation, after: Atom, old: Var, before: Var) -> Equation:
    """What puts the old elements back."""
    primitive, (_, _, *indices) = equation.primitive, equation.inputs
    writing: Any = (
        Scatter("set", primitive.axes, primitive.unique)
        if isinstance(primitive, Scatter)
        else UpdateSlice(primitive.index)
    )
    return Equation(writing, (after, old, *indices), (before,), equation.source)


def paths_of(program: Program) -> list[Path]:
    """The arrays that become results by changes of their parts alone, or as they are; each once."""
    makers = {v: k for k, e in enumerate(program.equations) for v in e.outputs}
    places = {v: k for k, v in enumerate(program.inputs)}
    found: list[Path] = []
    for result, out in enumerate(program.outputs):
        if not isinstance(out, Var) or not out.aval.shape:
            continue
        versions, steps, v = [out], [], out
        while v not in places:
            k = makers.get(v)
            if k is None:
                break
            equation = program.equations[k]
            base = bases(equation)[equation.outputs.index(v)]
            if not isinstance(base, Var):
                break
            steps.append(k)
            versions.append(base)
            v = base
        if v in places:
            found.append(Path(places[v], result, tuple(reversed(versions)), tuple(reversed(steps))))
    counts = [p.place for p in found]
    return [p for p in found if counts.count(p.place) == 1]


def is_update(equation: Equation) -> bool:
    """Whether an equation changes a part of an array."""
    return isinstance(equation.primitive, UPDATES)


def strong(v: Var) -> Aval:
    """The aval of a tangent or cotangent of a value."""
    return v.aval.strong
