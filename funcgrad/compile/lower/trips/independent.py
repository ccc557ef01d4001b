"""Loops whose trips do not wait for each other, read off the body's Program.

Where each trip only adds to the carry, or leaves it alone, no trip reads what the trips before have left;
and what a counter is in a trip is known by the number of the trip. That holds of most loops over examples,
paths or pairs, and of their derivatives, which add to arrays by element. Knows nothing of memory and of text.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from funcgrad.compile.passes.rewriting.fixed_places import is_addition
from funcgrad.compile.passes.rewriting.uses import count_uses
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ops.elementwise.arithmetic import add, add_in_any_order, sub
from funcgrad.transforms.control.conditional import Cond
from funcgrad.transforms.control.scan import Scan


class Kept(Enum):
    """What trips do with a part of the carry."""

    SAME = "nothing"
    ADDED = "they add to it"


Part = Kept | int
"""What trips do with a part of the carry: of a counter, the number that each of them adds to it."""


def kept_by_trips(body: Program, n_carry: int) -> list[Part] | None:
    """What trips do with each part of the carry; None where one needs what another has left."""
    passed, counters = passed_inputs(body), literal_counters(body, n_carry)
    found: list[Part] = []
    for k in range(n_carry):
        if passed[k] == k:
            found.append(Kept.SAME)
        elif k in counters:
            found.append(counters[k])
        elif is_added_to(body, body.inputs[k], body.outputs[k]):
            found.append(Kept.ADDED)
        else:
            return None
    return found


def literal_counters(body: Program, n_carry: int) -> dict[int, int]:
    """The parts of the carry to which every trip adds a whole number that is written out."""
    makers = {v: e for e in body.equations for v in e.outputs}
    found: dict[int, int] = {}
    for k, (v, atom) in enumerate(zip(body.inputs[:n_carry], body.outputs, strict=False)):
        e = makers.get(atom) if isinstance(atom, Var) else None
        if e is not None and e.primitive is add and v.aval.dtype.kind == "i" and not v.aval.shape:
            steps = [x for x in e.inputs if x is not v]
            if len(steps) == 1 and isinstance(steps[0], Literal):
                found[k] = int(steps[0].value)
    return found


def passed_inputs(program: Program) -> tuple[int | None, ...]:
    """For each output the input that it is, unchanged, also by way of loops and branches."""
    origin: dict[Atom, int] = {v: k for k, v in enumerate(program.inputs)}
    for e in program.equations:
        for out, atom in passed_atoms(e).items():
            if atom in origin:
                origin[out] = origin[atom]
    return tuple([origin.get(atom) for atom in program.outputs])


def passed_atoms(e: Equation) -> Mapping[Var, Atom]:
    """The outputs of a loop or a conditional that are one of its inputs."""
    if isinstance(e.primitive, Scan):
        passed = passed_inputs(e.primitive.body)
        return {e.outputs[k]: e.inputs[k] for k in range(e.primitive.n_carry) if passed[k] == k}
    if isinstance(e.primitive, Cond):
        columns = zip(*[passed_inputs(branch) for branch in e.primitive.branches], strict=True)
        return {
            out: e.inputs[1 + column[0]]
            for out, column in zip(e.outputs, columns, strict=True)
            if column[0] is not None and len(set(column)) == 1
        }
    return {}


def is_added_to(program: Program, start: Var, end: Atom) -> bool:
    """Whether all that is done with an input is to add to it, and an output is what comes of that."""
    uses, readers = count_uses(program), {a: e for e in program.equations for a in e.inputs}
    v = start
    while v is not end:
        e = readers.get(v)
        following = None if e is None or uses[v] != 1 else after_addition(e, v)
        if following is None:
            return False
        v = following
    return uses[v] == 1


def after_addition(e: Equation, v: Var) -> Var | None:
    """What an equation makes of something by adding to it; None where it does anything else."""
    if isinstance(e.primitive, Scan):
        return after_loop(e, v)
    if isinstance(e.primitive, Cond):
        return after_branches(e, v)
    if is_addition(e):
        return e.outputs[0] if e.inputs[0] is v else None
    same_type = all(a.aval.dtype == v.aval.dtype and a.aval.shape == v.aval.shape for a in e.outputs)
    if e.primitive in (add, add_in_any_order) or (e.primitive is sub and e.inputs[0] is v):
        return e.outputs[0] if same_type and v.aval.dtype.kind in "fciu" else None
    return None


def after_loop(e: Equation, v: Var) -> Var | None:
    """The part of the carry that an inner loop adds to."""
    body, k = e.primitive.body, e.inputs.index(v)
    carried = k < e.primitive.n_carry and is_added_to(body, body.inputs[k], body.outputs[k])
    return e.outputs[k] if carried else None


def after_branches(e: Equation, v: Var) -> Var | None:
    """The result of a conditional whose branches add to something, or leave it alone."""
    if e.inputs[0] is v:
        return None
    k = e.inputs.index(v) - 1
    places = [
        place
        for place in range(len(e.outputs))
        if all(is_added_to(b, b.inputs[k], b.outputs[place]) for b in e.primitive.branches)
    ]
    return e.outputs[places[0]] if len(places) == 1 else None
