"""A Program as it is recorded: steps that name their operands by number.

What is transformed and evaluated once needs no variables and no equations: it stays a list of steps, and
becomes equations when somebody looks. Knows no rule and no tracer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Equation, Literal, Program, Var
from funcgrad.source import Source
from funcgrad.types import Anything

FIRST = itemgetter(0)

NOTHING = -1
"""Stands for no value where the number of one is expected."""


def as_source(location: Anything) -> Source | None:
    """A recorded location as a Source; locations are kept as cheap tuples while recording."""
    if isinstance(location, Source):
        return location
    return Source(*location) if location else None


class Steps:
    """The steps of a Program, in which no step is repeated or unused.

    ``steps[i]`` is ``(primitive, *numbers of the operands)`` for the first result of an operation, and an
    Aval for what is given; the further results of an operation have the numbers that follow.
    """

    __slots__ = (
        "_parts",
        "avals",
        "captured",
        "dead",
        "inputs",
        "literals",
        "live",
        "name",
        "outputs",
        "primitives",
        "sources",
        "steps",
    )

    def __init__(
        self,
        name: str,
        steps: list[Any],
        avals: list[Aval],
        sources: list[Any],
        inputs: Sequence[int],
        literals: dict[int, Any],
        captured: dict[int, Any],
        outputs: Sequence[int],
    ) -> None:
        self.name = name
        self.steps = steps
        self.avals = avals
        self.sources = sources
        self.inputs = inputs
        self.literals = literals
        """The values of literals, by number."""
        self.captured = captured
        """The values of captured arrays, by number."""
        self.outputs = outputs
        self.live, self.dead = live_steps(steps, outputs)
        self.primitives: set[Any] = set(map(FIRST, map(steps.__getitem__, self.live)))
        self._parts: dict[None, tuple[Any, ...]] = {}

    def parts(self) -> tuple[Any, ...]:
        """Inputs, captured arrays, equations and outputs of the Program: the same for all threads."""
        return self._parts.setdefault(None, self._made())

    def numbers_spread(self, count: int) -> Iterator[Any]:
        """For each of the last outputs the number that it is, in every element; None where it is none."""
        for output in self.outputs[len(self.outputs) - count :]:
            i = output
            while type(step := self.steps[i]) is tuple and step[0].name == "broadcast":
                i = step[1]
            yield self.literals.get(i)

    def _made(self) -> tuple[Any, ...]:
        atoms = self._atoms()
        equations = self._equations(self.live, atoms)
        needed = {j for i in self.live for j in self.steps[i][1:]}.union(self.outputs)
        captured = tuple([(atoms[i], value) for i, value in self.captured.items() if i in needed])
        outputs = tuple([atoms[i] for i in self.outputs])
        return tuple([atoms[i] for i in self.inputs]), captured, equations, outputs

    def sketch(self, live: Sequence[int]) -> Program:
        """The Program with some of its equations only and without inputs, for those who ask about these."""
        atoms = self._atoms()
        equations = self._equations(live, atoms)
        captured = tuple([(atoms[i], value) for i, value in self.captured.items()])
        return Program((), captured, equations, tuple([atoms[i] for i in self.outputs]), self.name)

    def _atoms(self) -> Atoms:
        atoms = Atoms(self.avals)
        atoms.update({i: Literal(value, self.avals[i]) for i, value in self.literals.items()})
        return atoms

    def _equations(self, live: Sequence[int], atoms: Atoms) -> tuple[Equation, ...]:
        equations = []
        for i in live:
            primitive, *operands = self.steps[i]
            results = tuple([atoms[j] for j in range(i, i + self.count(i))])
            inputs = tuple([atoms[j] for j in operands])
            equations.append(Equation(primitive, inputs, results, as_source(self.sources[i])))
        return tuple(equations)

    def count(self, i: int) -> int:
        """How many results the operation at `i` has."""
        steps, count = self.steps, 1
        if steps[i][0].multiple:
            while i + count < len(steps) and type(steps[i + count]) is int and steps[i + count] == count:
                count += 1
        return count


class Atoms(dict[int, Any]):
    """Variables and literals by number; a variable is made when it is first asked for."""

    def __init__(self, avals: list[Aval]) -> None:
        self._avals = avals

    def __missing__(self, i: int) -> Var:
        self[i] = made = Var(self._avals[i])
        return made


def live_steps(steps: list[Any], outputs: Sequence[int]) -> tuple[list[int], list[int | tuple[int, ...]]]:
    """The numbers of the operations that the outputs depend on, in order, and what each is the last to use.

    The latter is the number of one value, `NOTHING` where there is none, and a tuple of numbers for several
    of them and for every operation with several results.
    """
    used = bytearray(len(steps))
    for i in outputs:
        used[i] = True
    wanted = {i - steps[i] for i in outputs if type(steps[i]) is int}
    live: list[int] = []
    dead: list[int | tuple[int, ...]] = []
    unused: list[int] = []
    for i in range(len(steps) - 1, -1, -1):
        step = steps[i]
        if type(step) is int:
            if used[i]:
                wanted.add(i - step)
            else:
                unused.append(i)
            continue
        if type(step) is tuple and (used[i] or i in wanted):
            live.append(i)
            last: int | tuple[int, ...] = NOTHING
            if len(step) == 3:
                primitive, j, k = step
                if not used[j]:
                    last = j if used[k] or j == k else (j, k)
                    used[j] = used[k] = True
                elif not used[k]:
                    last = k
                    used[k] = True
            else:
                primitive, last = step[0], newly_used(step[1:], used)
            if primitive.multiple:
                last = (*unused, *(() if used[i] else (i,)), *(last if type(last) is tuple else (last,)))
            dead.append(last)
        if unused:
            unused = []
    live.reverse()
    dead.reverse()
    return live, dead


def newly_used(operands: Sequence[int], used: bytearray) -> int | tuple[int, ...]:
    """Which operands were not used until now, and are from now on: one, `NOTHING` or a tuple of several."""
    found: list[int] = []
    for j in operands:
        if not used[j]:
            used[j] = True
            found.append(j)
    return tuple(found) if len(found) > 1 else found[0] if found else NOTHING


def needed_steps(steps: Sequence[Any], outputs: Sequence[int]) -> list[int]:
    """The numbers of the operations that the outputs depend on, in order."""
    used = bytearray(len(steps))
    for i in outputs:
        used[i] = True
    needed: list[int] = []
    for i in range(len(steps) - 1, -1, -1):
        if used[i]:
            step = steps[i]
            if type(step) is tuple:
                needed.append(i)
                if len(step) == 3:
                    _, j, k = step
                    used[j] = used[k] = True
                else:
                    for j in step[1:]:
                        used[j] = True
            elif type(step) is int:
                used[i - step] = True
    needed.reverse()
    return needed


def program_of_steps(steps: Steps) -> Program:
    """The Program of these steps; its equations are made when they are asked for."""
    program = object.__new__(Program)
    program.name = steps.name
    program._hash = None
    program._runner = None
    program._steps = steps
    program.is_simple = False
    return program
