"""Loops that treat every number by itself, differentiated ahead: the derivatives are carried along.

Of a loop whose trips are pointwise operations, and which one or two numbers matter for (Newton's method, a
fixed point, a recurrence until something, alone or for a batch of examples), the derivatives are numbers
themselves. They go along with the trips, and nothing of a trip is kept: no tape, no way back. What is linear
is a product with them. Knows nothing of how a loop runs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ops.arrays.structure import Broadcast, broadcast
from funcgrad.ops.elementwise.arithmetic import div, mul, strong_zero_mul
from funcgrad.ops.elementwise.selection import Where
from funcgrad.ops.families import Pointwise, added
from funcgrad.tracing.primitive import Flags
from funcgrad.tracing.recorder import Recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.control.forward import given, indices, present
from funcgrad.transforms.control.step import either, with_inputs
from funcgrad.transforms.control.sweeps import Inputs, Sweep, Sweeps
from funcgrad.transforms.dependence import computed_from
from funcgrad.transforms.linearize import record_jvp
from funcgrad.transforms.replay import inputs_of, transforming
from funcgrad.transforms.simplify import live, simplify_program
from funcgrad.types import Array

MOST_ORIGINS = 2
"""By so many tangents the derivatives are carried along: beyond, a tape and a way back cost less."""


class Ahead(NamedTuple):
    """A loop that carries derivatives."""

    loop: Sweeps
    """The carry of the original, and its derivatives by each tangent in turn."""
    origins: tuple[Tracer, ...]
    """The tangents by which they are."""
    seeds: tuple[Collection[int], ...]
    """For each of these, the inputs whose tangent it is."""
    active: tuple[Flags, ...]
    """For each of these, which parts of the carry have a derivative."""

    def starts(self, recorder: Recorder) -> list[Any]:
        """What the derivatives begin with."""
        n_carry = len(self.active[0])
        avals = self.loop.carry_avals[:n_carry]
        found: list[Any] = []
        for seeds, active in zip(self.seeds, self.active, strict=True):
            dots = [ones(recorder, a) if k in seeds else None for k, a in enumerate(avals)]
            found += present(recorder, avals, dots, active)
        return found

    def tangents(self, outs: Sequence[Any]) -> tuple[Any, ...]:
        """The tangent of each part of the final carry; None where it has none."""
        n_carry = len(self.active[0])
        factors = iter(outs[n_carry:])
        dots: list[Any] = [None] * n_carry
        for origin, active in zip(self.origins, self.active, strict=True):
            for k in [k for k, flag in enumerate(active) if flag]:
                dots[k] = added(dots[k], strong_zero_mul(origin, next(factors)))
        return tuple(dots)


def carried_ahead(recorder: Recorder, loop: Sweeps, dots: Inputs[Any]) -> Ahead | None:
    """The loop with its derivatives by these tangents; None where a tape is the better way."""
    (sweep,) = loop.sweeps
    if not is_pointwise(sweep.program):
        return None
    found: dict[int, list[int]] = {}
    for k, t in enumerate((*dots.carries[0], *dots.consts[0])):
        if t is not None:
            found.setdefault(recorder.index_of(t), []).append(k)
    seeds = tuple(found.values())
    made = with_derivatives(sweep, seeds) if 0 < len(seeds) <= MOST_ORIGINS else None
    if made is None:
        return None
    program, active = made
    n, n_all = sweep.n_carry, sweep.n_carry + sum(map(sum, active))
    derivatives = [a.strong for a in program.in_avals[n:n_all]]
    cond = with_inputs(loop.cond, [*range(n), *derivatives, *range(n, len(loop.cond.inputs))])
    carrying = Sweeps(cond, (Sweep(program, n_all, (), False),), tuple(range(n_all)))
    origins = tuple([Tracer(recorder, index, recorder.avals[index]) for index in found])
    return Ahead(carrying, origins, seeds, active)


def is_pointwise(program: Program) -> bool:
    """Whether all real numbers of one shape, or alone, are made element by element.

    Complex ones have derivatives of more than a number, where a function is not analytic.
    """
    variables = [*program.inputs, *[v for e in program.equations for v in e.outputs]]
    shapes = {v.aval.shape for v in variables if v.aval.shape}
    return (
        not program.captured
        and len(shapes) <= 1
        and all(v.aval.dtype.kind != "c" for v in variables)
        and all(
            isinstance(e.primitive, Pointwise)
            or (isinstance(e.primitive, Broadcast) and not e.inputs[0].aval.shape)
            for e in program.equations
        )
    )


def ones(recorder: Recorder, aval: Aval) -> Array:
    """Recorded ones, the derivative of something by itself."""
    one = Tracer(recorder, recorder.literal(1, aval.dtype, weak=False), Aval((), aval.dtype))
    return broadcast(one, aval.shape, ())


def with_derivatives(
    sweep: Sweep, seeds: Sequence[Collection[int]]
) -> tuple[Program, tuple[Flags, ...]] | None:
    """``carry, derivatives, consts -> carry, derivatives``, and for all seeds which carry has one."""
    active: list[Flags] = [tuple([k in each for k in range(sweep.n_carry)]) for each in seeds]
    while True:
        with transforming(sweep.program, "jvp") as recorder:
            inputs = inputs_of(recorder, sweep.program.inputs)
            moving = [moving_inputs(recorder, inputs, flags) for flags in active]
            fixed = [
                [ones(recorder, x.aval) if k in each else None for k, x in enumerate(inputs)][sweep.n_carry :]
                for each in seeds
            ]
            pairs = [
                record_jvp(recorder, sweep.program, inputs, [*m, *f])
                for m, f in zip(moving, fixed, strict=True)
            ]
            grown = [
                either(flags, [dot is not None for dot in dots])
                for flags, (_, dots) in zip(active, pairs, strict=True)
            ]
            if grown == active:
                entries = given([x for part in (*moving, *fixed) for x in part])
                if puts_zeros(recorder, indices(entries)):
                    return None
                carried = {k for flags in active for k, flag in enumerate(flags) if flag}
                if len(carried) == 1:
                    program = with_factors(sweep, carried.pop(), seeds)
                    return reciprocals_shared(program, sweep.n_carry), tuple(active)
                outs = [recorder.index_of(x) for x in pairs[0][0]]
                for flags, (_, dots) in zip(active, pairs, strict=True):
                    made = present(recorder, sweep.step.carry_avals, dots, flags)
                    outs += [recorder.index_of(x) for x in made]
                heads = [*inputs[: sweep.n_carry], *given([x for part in moving for x in part])]
                program = recorder.program(indices([*heads, *inputs[sweep.n_carry :]]), outs)
                return reciprocals_shared(simplify_program(program), sweep.n_carry), tuple(active)
        active = grown


def with_factors(sweep: Sweep, place: int, seeds: Sequence[Collection[int]]) -> Program:
    """What `with_derivatives` makes where one part of the carry alone has derivatives.

    A trip multiplies all of them by the same number, its own derivative by what is carried, and adds to each
    its derivative by the consts: both are made of ones, which costs less than what is made of derivatives.
    """
    n = sweep.n_carry
    with transforming(sweep.program, "jvp") as recorder:
        inputs = inputs_of(recorder, sweep.program.inputs)
        moving = [recorder.input(inputs[place].aval.strong) for _ in seeds]

        def derivative(by: Collection[int]) -> tuple[list[Any], Any]:
            dots = [ones(recorder, x.aval) if k in by else None for k, x in enumerate(inputs)]
            outs, out_dots = record_jvp(recorder, sweep.program, inputs, dots)
            return outs, out_dots[place]

        outs, factor = derivative([place])
        made: list[Any] = []
        for dot, each in zip(moving, seeds, strict=True):
            _, part = derivative([k for k in each if k >= n])
            made.append(added(None if factor is None else mul(dot, factor), part))
        full = present(recorder, [inputs[place].aval] * len(made), made, [True] * len(made))
        heads = indices([*inputs[:n], *moving, *inputs[n:]])
        return simplify_program(recorder.program(heads, [recorder.index_of(x) for x in [*outs, *full]]))


def moving_inputs(recorder: Recorder, inputs: Sequence[Tracer], flags: Flags) -> list[Tracer | None]:
    """New inputs for the derivatives of the flagged carry."""
    return [recorder.input(x.aval.strong) if flag else None for x, flag in zip(inputs, flags, strict=False)]


def puts_zeros(recorder: Recorder, entries: Sequence[int]) -> bool:
    """Whether a selection puts zeros into derivatives, or a product keeps those that are there.

    Such a zero has to stay one beside an infinite derivative, which reverse mode sees to.
    """
    literal = {k for k, is_literal in recorder.operands if is_literal}
    dependent = computed_from(recorder, entries)
    for step in recorder.steps:
        if type(step) is not tuple or dependent.isdisjoint(step[1:]) or not step[0].selects:
            continue
        if not isinstance(step[0], Where) or not literal.isdisjoint(step[2:]):
            return True
    return False


def reciprocals_shared(program: Program, n_primal: int) -> Program:
    """The Program, whose outputs beyond the first few divide by the same thing by one reciprocal.

    The first few keep their divisions, and their last digit.
    """
    primal = {v for e in live(list(program.equations), program.outputs[:n_primal]) for v in e.outputs}
    divisions: dict[Atom, list[Equation]] = {}
    for e in program.equations:
        if e.primitive is div and e.outputs[0] not in primal and isinstance(e.inputs[1], Var):
            divisions.setdefault(e.inputs[1], []).append(e)
    shared = {e: y for y, found in divisions.items() if len(found) > 1 for e in found}
    reciprocals: dict[Atom, Var] = {}
    equations: list[Equation] = []
    for e in program.equations:
        y = shared.get(e)
        if y is None:
            equations.append(e)
            continue
        if y not in reciprocals:
            one = Literal(y.aval.dtype.type(1), Aval((), y.aval.dtype))
            reciprocals[y] = Var(div.inferred((one.aval, y.aval)))
            equations.append(Equation(div, (one, y), (reciprocals[y],), e.source))
        equations.append(Equation(mul, (e.inputs[0], reciprocals[y]), e.outputs, e.source))
    return Program(program.inputs, program.captured, tuple(equations), program.outputs, program.name)
