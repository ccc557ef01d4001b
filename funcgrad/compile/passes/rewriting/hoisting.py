"""Taking products of matrices out of scans, where one large product does what many small ones would.

A carry that only adds up products of what each trip makes is their one product over all trips, taken when the
loop has ended: the gradient of a recurrent network's weights. A product of a row with what does not change is
taken for all rows before the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from funcgrad.compile.passes.rewriting.uses import count_uses
from funcgrad.ir.program import Atom, Equation, Program, Var
from funcgrad.ops.contraction import DotGeneral, StrongZeroDot
from funcgrad.ops.elementwise.arithmetic import add
from funcgrad.ops.reducing.labelled import written
from funcgrad.transforms.control.scan import Scan
from funcgrad.transforms.control.step import Step
from funcgrad.transforms.control.updates import has_any
from funcgrad.transforms.simplify import simplify_program
from funcgrad.types import AnyPrimitive

if TYPE_CHECKING:
    from funcgrad.compile.passes.rewriting.expand import Rewriter

SMALLEST = 64
"""Elements of a sum of products from which it is worth keeping its factors."""

FEWEST = 4
"""Trips from which it is."""

TRIP = "trip"


class Sum(NamedTuple):
    """A carry that adds up products: its place, the sum and the product."""

    place: int
    total: Equation
    product: Equation


def rewrite_products(rewriter: Rewriter, equation: Equation) -> Sequence[Atom] | None:
    """The scan without what one product can do before or after it; None where there is nothing."""
    scan: Scan = equation.primitive
    if scan.length < FEWEST or not has_any(scan.body.equations, (DotGeneral, StrongZeroDot)):
        return None
    body = simplify_program(scan.body)
    if body.captured:
        return None
    step = Step(body, scan.n_carry, scan.n_xs)
    sums = sums_of_products(step)
    before = products_of_rows(step)
    if not sums and not before:
        return None
    return rewritten(rewriter, equation, step, sums, before)


def sums_of_products(step: Step) -> list[Sum]:
    """The carries that only add up products of what the trips make."""
    body, uses = step.program, count_uses(step.program)
    makers = {v: e for e in body.equations for v in e.outputs}
    ins = step.parts(body.inputs)
    found = []
    for place, (v, atom) in enumerate(zip(ins.carry, body.outputs, strict=False)):
        total = makers.get(atom) if isinstance(atom, Var) and uses[atom] == 1 else None
        if total is None or total.primitive is not add or uses.get(v) != 1 or v not in total.inputs:
            continue
        other = total.inputs[0] if total.inputs[1] is v else total.inputs[1]
        product = makers.get(other) if isinstance(other, Var) and uses[other] == 1 else None
        if product is None or type(product.primitive) not in (DotGeneral, StrongZeroDot):
            continue
        factors = product.inputs
        if v.aval.size >= SMALLEST and all(isinstance(f, Var) and f not in ins.consts for f in factors):
            found.append(Sum(place, total, product))
    return found


def products_of_rows(step: Step) -> list[Equation]:
    """Products of a row with something that does not change, over axes of which none is shared and kept."""
    ins = step.parts(step.program.inputs)
    return [
        e
        for e in step.program.equations
        if type(e.primitive) is DotGeneral
        and e.inputs[0] in ins.xs
        and e.inputs[1] in ins.consts
        and not e.primitive.labels.batch[0]
    ]


def over_trips(product: AnyPrimitive, *, summed: bool) -> AnyPrimitive:
    """The contraction of stacks: the trips are summed, or stay the first axis."""
    x, y, out = product.labels[:3]
    if summed:
        text = written((TRIP, *x), (TRIP, *y), out)
        return StrongZeroDot(text, product.strong) if isinstance(product, StrongZeroDot) else DotGeneral(text)
    return DotGeneral(written((TRIP, *x), y, (TRIP, *out)))


def rewritten(
    rewriter: Rewriter, equation: Equation, step: Step, sums: Sequence[Sum], before: Sequence[Equation]
) -> list[Atom]:
    """The equations of a scan and of the products around it; the scan's results."""
    scan: Scan = equation.primitive
    body = step.program
    ins, given = step.parts(body.inputs), step.parts(equation.inputs)
    stacks: dict[Any, Atom] = dict(zip(ins.xs, given.xs, strict=True))
    consts: dict[Any, Atom] = dict(zip(ins.consts, given.consts, strict=True))
    for e in before:
        row, fixed = e.inputs
        stacks[e.outputs[0]] = rewriter(over_trips(e.primitive, summed=False), stacks[row], consts[fixed])
    gone = {id(e) for e in before} | {id(e) for s in sums for e in (s.total, s.product)}
    left = {s.place for s in sums}
    kept = [k for k in range(scan.n_carry) if k not in left]
    carried, ys = body.outputs[: scan.n_carry], body.outputs[scan.n_carry :]
    factors = list(dict.fromkeys([f for s in sums for f in s.product.inputs if f not in stacks]))
    inner = Program(
        (*[ins.carry[k] for k in kept], *stacks, *ins.consts),
        (),
        tuple([e for e in body.equations if id(e) not in gone]),
        (*[carried[k] for k in kept], *ys, *factors),
        body.name,
    )
    made: Scan = Scan(inner, len(kept), len(stacks), scan.length, scan.reverse)
    inputs = (*[given.carry[k] for k in kept], *stacks.values(), *given.consts)
    outs = rewriter.multiple(made, inputs)
    carry_outs = dict(zip(kept, outs, strict=False))
    y_outs = outs[len(kept) : len(kept) + len(ys)]
    stacks.update(zip(factors, outs[len(kept) + len(ys) :], strict=True))
    for s in sums:
        whole = rewriter(over_trips(s.product.primitive, summed=True), *[stacks[f] for f in s.product.inputs])
        carry_outs[s.place] = rewriter(add, given.carry[s.place], whole)
    return [*[carry_outs[k] for k in range(scan.n_carry)], *y_outs]
