"""A loop whose trips are bounded, taken apart: its derivative reads arrays that the loop has filled.

Tapes have no shape and stay inside of one equation, so a loop around it could not keep them: it would keep
the loop's whole carry instead, and go through the loop again on the way back. What of a trip is kept is an
element of an array here, as long as there may be trips, which a scan stacks like anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Equation, Literal, Program, Var
from funcgrad.ops.arrays.indexing import Gather, Scatter
from funcgrad.ops.elementwise.arithmetic import add
from funcgrad.ops.elementwise.comparison import less
from funcgrad.transforms.control.forward import LinearStep, indices, kept
from funcgrad.transforms.control.step import Step, counters_of, with_inputs
from funcgrad.transforms.control.sweeps import Sweep, Sweeps
from funcgrad.transforms.replay import inline, inputs_of, transforming
from funcgrad.transforms.simplify import simplify_program

_COUNT = Aval((), np.dtype(np.int64))
_PACED = frozenset({"add", "sub", "mul", "cast"})
"""What changes with the trips at a steady pace, of what does and something that is the same on all."""
_ONE = Literal(np.int64(1), _COUNT)


def most_trips(step: Step) -> int | None:
    """How many trips a loop makes at most, None where that is not known from its step.

    Where every trip reads or writes an array at a place that a counter says, there are two for each place,
    one counted from the end: an index beyond the array is an error.
    """
    inputs = step.parts(step.program.inputs)
    counting = {inputs.carry[k] for k in counters_of(step)}
    fixed = set(inputs.consts)
    found: list[int] = []
    for equation in step.program.equations:
        primitive, atoms = equation.primitive, equation.inputs
        varying = [x for x in atoms if isinstance(x, Var) and x not in fixed]
        if not varying:
            fixed.update(equation.outputs)
        elif primitive.name in _PACED and len(varying) == 1 and varying[0] in counting:
            counting.update(equation.outputs)
        elif isinstance(primitive, Gather | Scatter):
            sizes = [atoms[0].aval.shape[axis] for axis in primitive.axes]
            indices = atoms[-len(sizes) :]
            found += [n for n, x in zip(sizes, indices, strict=True) if x in counting]
    return 2 * min(found) if found else None


class Apart(NamedTuple):
    """A loop that fills arrays, and its linear part that reads them."""

    filling: Sweeps
    """The carry is the number of the trip, that of the loop, and the arrays."""
    rows: tuple[Aval, ...]
    """The avals of the arrays."""
    linear: Sweeps
    """A sweep that counts to the constant of its condition, and the linear part.

    Consts are the arrays that it uses, by `LinearStep.used_ys`, and those of the linear step.
    """


def is_worth_it(made: LinearStep, most: int, costly: Sequence[int] = ()) -> bool:
    """Whether what `most` trips keep is less than the arrays that a loop around would keep instead.

    Those are the ones that the loop carries, and the `costly` ones of its consts.
    """
    consts = made.primal.parts(made.primal.program.in_avals).consts
    carried = sum(a.nbytes for a in made.primal.carry_avals if a.shape)
    carried += sum(consts[k].nbytes for k in costly)
    return kept(made, most) <= carried


def taken_apart(cond: Program, made: LinearStep, most: int) -> Apart:
    """The loop and its linear part, with room for `most` trips."""
    rows = tuple([a.strong.with_shape((most, *a.shape)) for a in made.primal.y_avals])
    filling = filling_step(made.primal, rows)
    n = made.primal.n_carry
    goes_on = with_inputs(cond, [_COUNT, *range(n), *rows, *range(n, len(cond.inputs))])
    linear = reading_step(made, rows)
    counting = Sweep.of(counting_step(cond.name), (), reverse=False)
    return Apart(
        Sweeps(goes_on, (Sweep.of(filling, (), reverse=False),), tuple(range(filling.n_carry))),
        rows,
        Sweeps(
            below_count(cond.name),
            (counting, Sweep.of(linear, (0,), reverse=False)),
            tuple(range(1, 1 + linear.n_carry)),
        ),
    )


def filling_step(step: Step, rows: tuple[Aval, ...]) -> Step:
    """``turn, carry, arrays -> turn + 1, carry, arrays``: what the step writes is an element of each."""
    with transforming(step.program, "linearize") as recorder:
        turn = recorder.input(_COUNT)
        carry = inputs_of(recorder, step.program.inputs[: step.n_carry])
        arrays = [recorder.input(a) for a in rows]
        consts = inputs_of(recorder, step.program.inputs[step.n_carry :])
        after, ys = step.results(inline(recorder, step.program, [*carry, *consts]))
        write = Scatter("set", (0,), True)
        filled = [write.bind(x, y, turn) for x, y in zip(arrays, ys, strict=True)]
        outs = [add(turn, np.int64(1)), *after, *filled]
        heads = indices([turn, *carry, *arrays, *consts])
        program = simplify_program(recorder.program(heads, [recorder.index_of(x) for x in outs]))
    return Step(program, 1 + step.n_carry + len(rows), 0)


def reading_step(made: LinearStep, rows: tuple[Aval, ...]) -> Step:
    """The linear step, which reads its residuals from arrays; its x is the number of the trip."""
    step = made.linear
    with transforming(step.program, "linearize") as recorder:
        dots = inputs_of(recorder, step.program.inputs[: step.n_carry])
        turn = recorder.input(_COUNT)
        arrays = [recorder.input(rows[k]) for k in made.used_ys]
        consts = inputs_of(recorder, step.parts(step.program.inputs).consts)
        read: list[Any] = [Gather((0,)).bind(x, turn) for x in arrays]
        if made.counters:
            read.append(turn)
        outs = inline(recorder, step.program, [*dots, *read, *consts])
        heads = indices([*dots, turn, *arrays, *consts])
        program = simplify_program(recorder.program(heads, [recorder.index_of(x) for x in outs]))
    return Step(program, step.n_carry, 1)


def counting_step(name: str) -> Step:
    """``turn -> turn + 1, turn``"""
    turn, after = Var(_COUNT), Var(_COUNT)
    return Step(Program((turn,), (), (Equation(add, (turn, _ONE), (after,)),), (after, turn), name), 1, 0)


def below_count(name: str) -> Program:
    """``turn, count -> turn < count``"""
    turn, count, goes_on = Var(_COUNT), Var(_COUNT), Var(Aval((), np.dtype(np.bool_)))
    return Program((turn, count), (), (Equation(less, (turn, count), (goes_on,)),), (goes_on,), name)
