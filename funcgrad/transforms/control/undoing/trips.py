"""How often a loop in a nest is run at most, by the ranges of the numbers that decide.

Room for what is kept is made for that many trips; what of it is not needed is never touched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from funcgrad.ir.program import Atom, Literal, Program, Var
from funcgrad.ir.ranges import RULES, Range
from funcgrad.transforms.control.step import Step, counters_of
from funcgrad.types import Anything

PASSED_ON = ("cast", "barrier", "stop_gradient")


def range_of(known: Mapping[Var, Range], atom: Atom) -> Range | None:
    """Between which numbers a whole number is."""
    if atom.aval.shape or atom.aval.dtype.kind not in "iu":
        return None
    return (int(atom.value), int(atom.value)) if isinstance(atom, Literal) else known.get(atom)


def ranges_in(program: Program, inputs: Sequence[Range | None]) -> dict[Var, Range]:
    """What is known of the whole numbers of a Program."""
    known = {v: x for v, x in zip(program.inputs, inputs, strict=True) if x is not None}
    for equation in program.equations:
        operands = [range_of(known, a) for a in equation.inputs]
        name = equation.primitive.name
        rule = RULES.get(name)
        found: Range | None = None
        if name in PASSED_ON:
            found = operands[0]
        elif rule is not None and all(x is not None for x in operands):
            found = rule(*operands)
        if found is not None and not equation.outputs[0].aval.shape:
            known[equation.outputs[0]] = found
    return known


class Deciding:
    """What a loop's condition compares: the place of a counter in the carry, and its bound."""

    def __init__(self, place: int, bound: Atom, *, alone: bool) -> None:
        self.place = place
        self.bound = bound
        self.alone = alone
        """Whether nothing else ends the loop."""


def deciding(cond: Program, step: Step) -> Deciding | None:
    """The comparison of a counter with a bound by which the loop ends at the latest."""
    makers = {v: e for e in cond.equations for v in e.outputs}
    counters = counters_of(step)
    waiting: list[tuple[Anything, bool]] = [(cond.outputs[0], True)]
    while waiting:
        atom, alone = waiting.pop()
        maker = makers.get(atom)
        if maker is None:
            continue
        if maker.primitive.name in ("logical_and", "bitwise_and"):
            waiting += [(a, False) for a in maker.inputs]
        elif maker.primitive.name == "less" and maker.inputs[0] in cond.inputs:
            place = cond.inputs.index(maker.inputs[0])
            bound = maker.inputs[1]
            if place in counters and (isinstance(bound, Literal) or bound in cond.inputs[step.n_carry :]):
                return Deciding(place, bound, alone=alone)
    return None


def most_trips_between(start: Range | None, stride: Range | None, bound: Range | None) -> int | None:
    """How many steps there are at most from a start to below a bound."""
    if start is None or stride is None or bound is None or stride[0] < 1:
        return None
    return max(0, -((start[0] - bound[1]) // stride[0]))


def ranges_of_counters(
    step: Step, starts: Sequence[Range | None], consts: Sequence[Range | None], trips: int
) -> list[Range | None]:
    """What the parts of the carry are while a loop goes on; known of those that count its trips."""
    strides = counters_of(step)
    found: list[Range | None] = []
    for k, start in enumerate(starts):
        stride = consts[strides[k]] if k in strides else None
        if start is None or stride is None:
            found.append(None)
            continue
        reach = [stride[0] * max(trips - 1, 0), stride[1] * max(trips - 1, 0), 0]
        found.append((start[0] + min(reach), start[1] + max(reach)))
    return found
