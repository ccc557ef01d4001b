"""Nests: a loop with all loops and branches in it, of which the writes can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad.ir.program import Equation, Literal, Program, Var
from funcgrad.ir.ranges import Range
from funcgrad.tracing.primitive import Flags
from funcgrad.transforms.control.scan import Scan
from funcgrad.transforms.control.step import Step, counters_of
from funcgrad.transforms.control.tapeless.bounded import most_trips
from funcgrad.transforms.control.undoing.blocks import Block, NotUndone, is_update
from funcgrad.transforms.control.undoing.branches import Branches
from funcgrad.transforms.control.undoing.children import Child
from funcgrad.transforms.control.undoing.loops import Loop
from funcgrad.transforms.control.undoing.pulling import pulled
from funcgrad.transforms.control.undoing.trips import (
    Deciding,
    deciding,
    most_trips_between,
    range_of,
    ranges_in,
    ranges_of_counters,
)
from funcgrad.transforms.control.while_loop import WhileLoop
from funcgrad.types import AnyPrimitive

ROUNDS = 12
"""How often what is kept is chosen again before the nest is given up: each round puts back more arrays."""


def planned(program: Program, active: Flags) -> Loop:
    """The loop that is the only equation of a Program, with what is kept of it; raises NotUndone."""
    (equation,) = program.equations
    known = ranges_in(program, [None] * len(program.inputs))
    loop = nest_of(equation, [range_of(known, a) for a in equation.inputs], 1, None)
    assert isinstance(loop, Loop), "a nest is a loop"
    for _ in range(ROUNDS):
        for block in loop.block.subtree():
            block.changed = False
        try:
            look(loop, active)
        except NotUndone:
            # What is missing in one block may be what another has just been told to put back.
            if not any(block.changed for block in loop.block.subtree()):
                raise
            continue
        if not any(block.changed for block in loop.block.subtree()):
            return loop
    raise NotUndone("what is kept is another thing each time it is chosen")


def look(loop: Loop, active: Flags) -> None:
    """Go back through the loop, to see what that needs."""
    pulled(loop.block, loop.grown(active))


def nest_of(equation: Equation, ranges: Sequence[Range | None], runs: int, body: Block | None) -> Child:
    """A loop or a branch with all that is in it; `runs` is how often it is run at most."""
    primitive = equation.primitive
    if primitive.name == "cond":
        assert body is not None, "a nest is a loop"
        blocks = [Block(branch, runs, body) for branch in primitive.branches]
        for block in blocks:
            fill(block, ranges[1:])
        return Branches(equation, blocks)
    if isinstance(primitive, Scan):
        return _loop(equation, primitive.step, ranges, ranges, runs, primitive.length)
    assert isinstance(primitive, WhileLoop), "only loops and branches are nested"
    (sweep,) = primitive.loop.sweeps
    step = sweep.step
    n, n_cond = step.n_carry, len(equation.inputs) - len(step.program.inputs)
    inner = [*ranges[:n], *ranges[n + n_cond :]]
    ends = deciding(primitive.cond, step)
    if ends is None:
        raise NotUndone("nobody knows how many trips there are at most")
    k = primitive.cond.inputs.index(ends.bound) if isinstance(ends.bound, Var) else None
    bound = range_of({}, ends.bound) if k is None else ranges[k]
    strides = step.parts(inner).consts
    counters = counters_of(step)
    trips = most_trips_between(inner[ends.place], strides[counters[ends.place]], bound)
    if trips is None:
        trips = most_trips(step)
    if trips is None:
        raise NotUndone("nobody knows how many trips there are at most")
    return _loop(equation, step, inner, ranges, runs, trips, ends)


def _loop(
    equation: Equation,
    step: Step,
    inner: Sequence[Range | None],
    ranges: Sequence[Range | None],
    runs: int,
    trips: int,
    ends: Deciding | None = None,
) -> Loop:
    if runs * trips < 1:
        raise NotUndone("a loop without trips")
    block = Block(step.program, runs * trips)
    parts = step.parts(inner)
    known = ranges_of_counters(step, parts.carry, parts.consts, trips)
    fill(block, [*known, *parts.xs, *parts.consts])
    return Loop(equation, step, block, ends)


def fill(block: Block, ranges: Sequence[Range | None]) -> None:
    """Find the children of a block."""
    known = ranges_in(block.program, ranges)
    for k, equation in enumerate(block.program.equations):
        if is_nested(equation.primitive):
            inputs = [range_of(known, a) for a in equation.inputs]
            block.children[k] = nest_of(equation, inputs, block.capacity, block.body)


def is_nested(primitive: AnyPrimitive) -> bool:
    """Whether an equation is gone through trip by trip on the way back: a loop, or a branch that writes."""
    if isinstance(primitive, Scan | WhileLoop):
        return True
    return primitive.name == "cond" and any(writes(branch) for branch in primitive.branches)


def writes(program: Program) -> bool:
    """Whether a branch changes arrays in place, or holds a loop."""
    return any(
        is_update(e) or is_nested(e.primitive) or e.primitive.name == "while_sweeps"
        for e in program.equations
    )


def room_for(loop: Loop) -> int:
    """The bytes of room for everything that is kept."""
    return loop.block.nbytes()


def single(equation: Equation) -> Program:
    """The Program of one equation alone, whose inputs are the variables that it reads, each once."""
    inputs = tuple(dict.fromkeys([a for a in equation.inputs if isinstance(a, Var)]))
    return Program(inputs, (), (equation,), equation.outputs, "nest")


def nest_program(primitive: AnyPrimitive, avals: Sequence[Any], numbers: dict[int, Any]) -> Program:
    """The Program that applies a loop; some of its inputs are known numbers, the others its inputs."""
    atoms = [Literal(numbers[k], a) if k in numbers else Var(a) for k, a in enumerate(avals)]
    outs = tuple([Var(a) for a in primitive.inferred(tuple(avals))])
    return single(Equation(primitive, tuple(atoms), outs))
