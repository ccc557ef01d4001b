"""Whether Python's whole numbers stay within 64 bits in a loop that is recorded: what is traced has no more.

What a trip computes from its number, and from whole numbers that are carried, is done here in Python, trip
by trip, before the loop is recorded. Where one outgrows 64 bits, or ``2 ** -k`` leaves the whole numbers,
the loop is unrolled instead, and Python computes it. Numbers of NumPy's wrap, as they do in NumPy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.types import AnyPrimitive

if TYPE_CHECKING:
    from funcgrad.api.python.blocks.loops import Items, Trip
    from funcgrad.tracing.recorder import Recorder


MOST_STEPS = 1_000_000
"""A number that is multiplied at every trip outgrows 64 bits within far fewer."""

MOST_BITS = 4096
"""Exponents and shifts from which on nothing is computed: the result has no 64 bits."""


def power(x: int, n: int) -> int | None:
    """``x ** n``; None where it is no whole number, or far too large."""
    return None if n < 0 or (n > MOST_BITS and abs(x) > 1) else x**n


def powers_of(n: int) -> Callable[[int], int | None]:
    """The function ``x ** n``."""

    def raised(x: int) -> int | None:
        return power(x, n)

    return raised


def shifted(x: int, n: int) -> int | None:
    """``x << n``; None where it is far too large."""
    return None if n > MOST_BITS or n < 0 else x << n


OPERATORS: Mapping[str, Callable[..., int | None]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
    "pow": power,
    "left_shift": shifted,
    "right_shift": operator.rshift,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "maximum": max,
    "minimum": min,
}
GROWING = frozenset({"mul", "pow", "integer_pow", "left_shift"})


class Step(NamedTuple):
    """One operation on whole numbers, whose result is the value at `out` of the trace."""

    out: int
    compute: Callable[..., int | None]
    operands: tuple[int, ...]


def outgrows(trip: Trip, first: int, trips: int, items: Items | None = None) -> bool:
    """Whether a trip of the loop over these items has a whole number of Python's that 64 bits do not hold."""
    recorder = trip.traced.recorder
    if trip.has_list_of_whole_numbers and any(may_grow(*x) for x in operations(recorder)):
        return True
    carry = range(1, 1 + len(trip.carried.avals))
    starts: dict[int, Any] = {
        k: number_of(slot.start)
        for k, slot in zip(carry, [s for s in trip.carried.slots if s.aval is not None], strict=True)
        if is_whole(recorder.avals[k])
    }
    if any(type(x) is int and not fits(x) for x in starts.values()):
        return True
    known = {index: number_of(x) for index, x in recorder.values.items() if is_whole(recorder.avals[index])}
    rows = dict(enumerate(items.rows, carry.stop)) if items is not None and items.whole else {}
    steps, growing, by_carry = plan_of(recorder, {*starts, *rows})
    if not growing:
        return False
    after = {k: trip.traced.outputs[k] for k in starts}
    numbers = range(first, first + trips) if by_carry else (first, first + trips - 1)
    for number in numbers[: MOST_STEPS // len(steps)]:
        env = {**known, **starts, 0: number, **{k: int(row[number]) for k, row in rows.items()}}
        for step in steps:
            operands = [env.get(k) for k in step.operands]
            if None in operands:
                continue
            try:
                value = step.compute(*operands)
            except (ZeroDivisionError, ValueError):
                continue
            if value is None or not fits(value):
                return True
            env[step.out] = value
        starts = {k: env.get(index) for k, index in after.items()}
    return False


def operations(recorder: Recorder) -> Iterator[tuple[Any, list[Aval]]]:
    """All operations of a trip, also those of the control flow in it, and what they are given."""
    programs: list[Program] = []
    for step in recorder.steps:
        if type(step) is tuple:
            yield step[0], [recorder.avals[k] for k in step[1:]]
            programs += programs_of(step[0])
    while programs:
        for equation in programs.pop().equations:
            yield equation.primitive, [x.aval for x in equation.inputs]
            programs += programs_of(equation.primitive)


def programs_of(primitive: AnyPrimitive) -> list[Program]:
    """The Programs that a primitive holds."""
    held = [x for value in primitive.params.values() for x in (value if type(value) is tuple else (value,))]
    return [x for x in held if isinstance(x, Program)]


def may_grow(primitive: AnyPrimitive, given: Sequence[Aval]) -> bool:
    """Whether an operation on elements of a list of whole numbers may leave 64 bits, done often enough."""
    elements = sum(a.dtype.kind == "i" and not a.weak and not a.shape for a in given)
    return (elements > 0 and primitive.name in GROWING) or (elements > 1 and primitive.name in ("add", "sub"))


def plan_of(recorder: Recorder, carried: set[int]) -> tuple[list[Step], bool, bool]:
    """The operations on whole numbers; whether any of them can outgrow, and any by what is carried."""
    steps: list[Step] = []
    moving = set(carried)
    growing = by_carry = False
    for index, step in enumerate(recorder.steps):
        if type(step) is not tuple or not is_whole(recorder.avals[index]):
            continue
        primitive, *operands = step
        if primitive.name == "integer_pow":
            compute: Callable[..., int | None] | None = powers_of(primitive.n)
        else:
            compute = OPERATORS.get(primitive.name)
        if compute is None:
            continue
        steps.append(Step(index, compute, tuple(operands)))
        n_moving = sum(k in moving for k in operands)
        grows = primitive.name in GROWING or n_moving > 1
        growing = growing or grows
        by_carry = by_carry or (grows and n_moving > 0)
        if n_moving:
            moving.add(index)
    return steps, growing, by_carry


def is_whole(a: Aval) -> bool:
    """Whether it is the kind of Python's whole numbers."""
    return a.weak and not a.shape and a.dtype.kind == "i"


def number_of(x: object) -> int | None:
    """The whole number that it is; None for what is traced."""
    return int(x) if isinstance(x, int | np.integer) else None


def fits(x: int) -> bool:
    """Whether 64 bits hold it."""
    return -(1 << 63) <= x < 1 << 63
