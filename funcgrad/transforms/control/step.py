"""Steps: the body of a loop as a Program, and what depends on what inside it.

A step maps ``carry, xs, consts`` to ``carry, ys``: what is handed from trip to trip, what each trip reads,
what is the same for all of them, and what each trip writes. Scans and while loops differ in who decides on
the number of trips; derivatives, transposes and batches of their bodies are the same, and are made in this
package from steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from funcgrad.errors import ProgramError
from funcgrad.ir.avals import Aval
from funcgrad.ir.check import check_linear
from funcgrad.ir.program import Program, Var
from funcgrad.ops.elementwise.arithmetic import add
from funcgrad.tracing.primitive import Flags
from funcgrad.transforms.simplify import live

T = TypeVar("T")


class Parts(NamedTuple, Generic[T]):
    """Something for every input of a step."""

    carry: tuple[T, ...]
    xs: tuple[T, ...]
    consts: tuple[T, ...]

    @property
    def flat(self) -> tuple[T, ...]:
        """All of them in the order of the Program's inputs."""
        return self.carry + self.xs + self.consts

    def of_each(self, function: Callable[[T], Any]) -> Parts[Any]:
        """What the function makes of each."""
        return Parts(*[tuple([function(x) for x in part]) for part in self])


class Step(NamedTuple):
    """``carry, xs, consts -> carry, ys``."""

    program: Program
    n_carry: int
    n_xs: int

    @property
    def n_ys(self) -> int:
        """How many values each trip writes."""
        return len(self.program.outputs) - self.n_carry

    @property
    def carry_avals(self) -> tuple[Aval, ...]:
        """The avals of the carry."""
        return self.program.in_avals[: self.n_carry]

    @property
    def y_avals(self) -> tuple[Aval, ...]:
        """The avals of what one trip writes."""
        return self.program.out_avals[self.n_carry :]

    def parts(self, inputs: Sequence[T]) -> Parts[T]:
        """Inputs of the Program as carry, xs and consts."""
        start, stop = self.n_carry, self.n_carry + self.n_xs
        return Parts(tuple(inputs[:start]), tuple(inputs[start:stop]), tuple(inputs[stop:]))

    def results(self, outputs: Sequence[T]) -> tuple[tuple[T, ...], tuple[T, ...]]:
        """Outputs of the Program as carry and ys."""
        return tuple(outputs[: self.n_carry]), tuple(outputs[self.n_carry :])


# -- what depends on what -------------------------------------------------------------------------------


def dependent_outputs(program: Program, flags: Sequence[bool]) -> Flags:
    """Which outputs depend on the flagged inputs."""
    dependent: set[Any] = {v for v, flag in zip(program.inputs, flags, strict=True) if flag}
    for equation in program.equations:
        if not dependent.isdisjoint(equation.inputs):
            dependent.update(equation.outputs)
    return tuple([atom in dependent for atom in program.outputs])


def needed_inputs(program: Program, flags: Sequence[bool]) -> Flags:
    """Which inputs the flagged outputs depend on."""
    needed: set[Any] = {atom for atom, flag in zip(program.outputs, flags, strict=True) if flag}
    for equation in reversed(program.equations):
        if not needed.isdisjoint(equation.outputs):
            needed.update(equation.inputs)
    return tuple([v in needed for v in program.inputs])


def dependent_parts(step: Step, flags: Parts[bool]) -> tuple[Flags, Flags]:
    """Which parts of the carry, after any number of trips, and which ys depend on the flagged inputs."""
    while True:
        carry, ys = step.results(dependent_outputs(step.program, flags.flat))
        grown = either(flags.carry, carry)
        if grown == flags.carry:
            return grown, ys
        flags = flags._replace(carry=grown)


def is_plain(program: Program) -> bool:
    """Whether each result of an equation depends on all of its inputs, as far as is known.

    A branch or a loop hands some of what it is given to some of its results alone.
    """
    return not any(e.primitive.multiple and len(e.inputs) > 1 for e in program.equations)


def either(one: Sequence[bool], other: Sequence[bool]) -> Flags:
    """Flags that are set in one or the other."""
    return tuple([a or b for a, b in zip(one, other, strict=True)])


def positions(flags: Sequence[bool]) -> tuple[int, ...]:
    """Where the flags are set."""
    return tuple([k for k, flag in enumerate(flags) if flag])


def chosen(items: Sequence[T], flags: Sequence[bool]) -> list[T]:
    """The items whose flag is set."""
    return [x for x, flag in zip(items, flags, strict=True) if flag]


def counters_of(step: Step) -> dict[int, int]:
    """The parts of the carry to which every trip adds one of the consts, and the position of that const."""
    makers = {v: e for e in step.program.equations for v in e.outputs}
    consts = step.parts(step.program.inputs).consts
    found: dict[int, int] = {}
    for k, (v, atom) in enumerate(
        zip(step.program.inputs[: step.n_carry], step.program.outputs, strict=False)
    ):
        maker = makers.get(atom) if isinstance(atom, Var) else None
        if maker is None or maker.primitive is not add or v.aval.shape or v.aval.dtype.kind not in "iu":
            continue
        others = [x for x in maker.inputs if x is not v]
        if len(others) == 1 and others[0] in consts and not others[0].aval.shape:
            found[k] = consts.index(others[0])
    return found


# -- leaving out -------------------------------------------------------------------------------------------


class LiveStep(NamedTuple):
    """A step without what nobody needs, and the positions of what is left."""

    step: Step
    carry: tuple[int, ...]
    xs: tuple[int, ...]
    consts: tuple[int, ...]
    ys: tuple[int, ...]

    def inputs(self, parts: Parts[T]) -> Parts[T]:
        """What is left of something for every input."""
        kept = zip(parts, (self.carry, self.xs, self.consts), strict=True)
        return Parts(*[tuple([part[k] for k in places]) for part, places in kept])


def live_step(step: Step, carry: Flags, ys: Flags) -> LiveStep:
    """The part of a step that the flagged parts of the final carry and the flagged ys need."""
    while True:
        needed = step.parts(needed_inputs(step.program, carry + ys))
        grown = either(carry, needed.carry)
        if grown == carry:
            break
        carry = grown
    program = step.program
    inputs = chosen(program.inputs, (*carry, *needed.xs, *needed.consts))
    outputs = tuple(chosen(program.outputs, carry + ys))
    equations = live(list(program.equations), outputs)
    kept = Program(tuple(inputs), program.captured, equations, outputs, program.name)
    return LiveStep(
        Step(kept, sum(carry), sum(needed.xs)),
        *[positions(flags) for flags in (carry, needed.xs, needed.consts, ys)],
    )


def with_inputs(program: Program, inputs: Sequence[int | Aval]) -> Program:
    """The Program with other inputs: some of its own, by position, and some that it does not use."""
    variables = tuple([Var(x) if isinstance(x, Aval) else program.inputs[x] for x in inputs])
    return Program(variables, program.captured, program.equations, program.outputs, program.name)


def with_outputs(program: Program, flags: Sequence[bool]) -> Program:
    """The Program with only the flagged of its outputs, and the equations that they need."""
    outputs = tuple(chosen(program.outputs, flags))
    equations = live(list(program.equations), outputs)
    return Program(program.inputs, program.captured, equations, outputs, program.name)


# -- linearity --------------------------------------------------------------------------------------------


def is_linear(program: Program, flags: Sequence[bool], outputs: Sequence[bool]) -> bool:
    """Whether the flagged outputs are linear in the flagged inputs together."""
    order = sorted(range(len(flags)), key=flags.__getitem__)
    try:
        check_linear(with_inputs(with_outputs(program, outputs), order), sum(not flag for flag in flags))
    except ProgramError:
        return False
    return True
