"""Programs that leave arrays alone where a mask is not set, and touch no more of them than they change.

An example of a batch that takes another branch, or that has finished its loop, keeps what it has. To choose
between the old and the new array would cost as much as the array; to choose what is written costs less. Such
an example may look nothing up, either: a branch is often what keeps a position within bounds.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Atom, Equation, Program
from funcgrad.ops.arrays.indexing import Gather, Scatter
from funcgrad.ops.arrays.slicing import AddToSlice, Slice, UpdateSlice
from funcgrad.ops.arrays.sorting import AddAlongAxis, TakeAlongAxis
from funcgrad.ops.arrays.structure import broadcast, broadcast_to
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.families import aval
from funcgrad.tracing.recorder import Recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.control.forward import indices
from funcgrad.transforms.control.keeping import held_programs
from funcgrad.transforms.control.updates import WHILE, bases, unchanged_places
from funcgrad.transforms.replay import inline, inputs_of, read_tracer, start, transforming, write
from funcgrad.transforms.simplify import simplify_program
from funcgrad.types import AnyPrimitive, Array, Arrays

MASK = Aval((), np.dtype(np.bool_))

NEUTRAL = {"add": 0, "mul": 1}
"""What changes nothing."""


POSITIONS = {Gather: 1, TakeAlongAxis: 1, Scatter: 2, AddAlongAxis: 2}
"""What raises where a position is out of bounds, and from which input on the positions are."""

LOOPS = ("scan", "cond", *WHILE)


def masked(program: Program, places: Collection[int], batched: Sequence[bool]) -> Program:
    """``inputs, mask -> outputs``: where the mask is not set, the inputs at some places stay as they are.

    What other outputs are then means nothing. Positions that differ between the examples of a batch, as some
    inputs do, are 0 there. Others are the same for examples that go this way, and stay as they are.
    """
    varies: set[Atom] = {v for v, flag in zip(program.inputs, batched, strict=True) if flag}
    kept: set[Atom] = {program.inputs[k] for k in places}
    with transforming(program, "vmap") as recorder:
        inputs = inputs_of(recorder, program.inputs)
        mask = recorder.input(MASK)
        env = start(program, inputs)
        for equation in program.equations:
            recorder.location = equation.source or ()
            values = [read_tracer(recorder, env, atom) for atom in equation.inputs]
            changed = [base in kept for base in bases(equation)]
            flags = [atom in varies for atom in equation.inputs]
            if any(changed) or (any(flags) and looks_up(equation.primitive)):
                write(env, equation, masked_equation(recorder, equation, values, mask, kept, flags))
                kept.update([v for v, flag in zip(equation.outputs, changed, strict=True) if flag])
            else:
                write(env, equation, recorder.record(equation.primitive, values))
            if any(flags):
                varies.update(equation.outputs)
        outs = [recorder.index_of(read_tracer(recorder, env, atom)) for atom in program.outputs]
        return simplify_program(recorder.program(indices([*inputs, mask]), outs))


def looks_up(primitive: AnyPrimitive) -> bool:
    """Whether elements at positions are read or changed, in loops and branches as well."""
    if primitive.name in LOOPS:
        return any(looks_up(e.primitive) for held in held_programs(primitive) for e in held.equations)
    return type(primitive) in POSITIONS


def masked_equation(
    recorder: Recorder,
    equation: Equation,
    values: Sequence[Any],
    mask: Tracer,
    kept: Collection[Atom],
    flags: Sequence[bool],
) -> Arrays:
    """What an equation makes that looks up, or changes what is to stay, where the mask is set alone."""
    primitive: Any = equation.primitive
    if primitive.name == "scan":
        return masked_scan(recorder, equation, values, mask, kept, flags)
    if primitive.name == "cond":
        operands = [k for k, atom in enumerate(equation.inputs[1:]) if atom in kept]
        branches = tuple([masked(branch, operands, flags[1:]) for branch in primitive.branches])
        return recorder.record(type(primitive)(branches), [*values, mask])
    if primitive.name in WHILE:
        return masked_while(recorder, primitive, values, mask)
    start = POSITIONS.get(type(primitive), len(values))
    positions = [
        chosen(mask, x, aval(x).dtype.type(0), aval(x).shape) if flag else x
        for x, flag in zip(values[start:], flags[start:], strict=True)
    ]
    if equation.inputs[0] not in kept or start == 1:
        return recorder.record(primitive, [*values[:start], *positions])
    x, part = values[:2]
    return primitive.bind(x, chosen_part(primitive, x, part, positions, mask), *positions)


def masked_scan(
    recorder: Recorder,
    equation: Equation,
    values: Sequence[Any],
    mask: Tracer,
    kept: Collection[Atom],
    flags: Sequence[bool],
) -> Arrays:
    """A scan whose trips change and look up only what the mask says."""
    scan: Any = equation.primitive
    places = [k for k in unchanged_places(scan.body, scan.n_carry) if equation.inputs[k] in kept]
    body = masked(scan.body, places, varying_inputs(scan.body, scan.n_carry, flags))
    made = type(scan)(body, scan.n_carry, scan.n_xs, scan.length, scan.reverse)
    return recorder.record(made, [*values, mask])


def varying_inputs(body: Program, n_carry: int, flags: Sequence[bool]) -> list[bool]:
    """Which inputs of a scan's body differ between examples on some trip, where they do before the first."""
    found = list(flags)
    while True:
        varies: set[Atom] = {v for v, flag in zip(body.inputs, found, strict=True) if flag}
        for equation in body.equations:
            if any(atom in varies for atom in equation.inputs):
                varies.update(equation.outputs)
        grown = [k for k in range(n_carry) if not found[k] and body.outputs[k] in varies]
        if not grown:
            return found
        for k in grown:
            found[k] = True


def masked_while(recorder: Recorder, primitive: AnyPrimitive, values: Sequence[Any], mask: Tracer) -> Arrays:
    """A loop that makes no trip where the mask is not set."""
    loop = primitive.loop
    parts = loop.inputs(values)
    with transforming(loop.cond, "vmap") as inner:
        inputs = inputs_of(inner, loop.cond.inputs)
        allowed = inner.input(MASK)
        (goes_on,) = inline(inner, loop.cond, inputs)
        both = goes_on & allowed
        cond = inner.program(indices([*inputs, allowed]), [inner.index_of(both)])
    rest = [primitive.params[name] for name in primitive.parameters[1:]]
    return recorder.record(type(primitive)(cond, *rest), parts._replace(cond=(*parts.cond, mask)).flat)


def chosen_part(primitive: object, x: object, part: object, positions: Sequence[Any], mask: Tracer) -> Arrays:
    """What is written: the part where the mask is set, else what changes nothing."""
    if isinstance(primitive, AddAlongAxis | AddToSlice):
        return chosen(mask, part, aval(x).dtype.type(0), aval(part).shape)
    if isinstance(primitive, UpdateSlice):
        old = Slice(primitive.index).bind(x)
        return chosen(mask, part, old, aval(old).shape)
    assert isinstance(primitive, Scatter), "the updates there are"
    if primitive.mode in NEUTRAL:
        return chosen(mask, part, aval(x).dtype.type(NEUTRAL[primitive.mode]), aval(part).shape)
    old = Gather(primitive.axes).bind(x, *positions)
    return chosen(mask, part, old, aval(old).shape)


def chosen(mask: Tracer, new: Array, old: Array, shape: tuple[int, ...]) -> Arrays:
    """`new` where the mask is set, else `old`, over a shape."""
    spread = mask if not shape else broadcast(mask, shape, ())
    return where(spread, broadcast_to(new, shape) if aval(new).shape != shape else new, old)
