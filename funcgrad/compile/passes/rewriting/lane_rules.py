"""Along which axes the lanes of a batch run through an equation, where it treats each lane by itself.

One rule for each kind of operation: given the axis of the lanes in some inputs, that in each input and
result, and the operation for another number of lanes. Operations without a rule may mix lanes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from funcgrad.ir.avals import Shape
from funcgrad.ir.program import Equation, Program, Var
from funcgrad.ops.arrays.movement import Concatenate, Stack
from funcgrad.ops.arrays.slicing import AddToSlice, Pad, Slice, UpdateSlice
from funcgrad.ops.arrays.structure import Broadcast, Cast, Permute, ReduceSum, Reshape
from funcgrad.ops.contraction import DotGeneral
from funcgrad.ops.elementwise.arithmetic import Add
from funcgrad.ops.elementwise.identity import StopGradient
from funcgrad.ops.families import Pointwise
from funcgrad.ops.linalg.matrices import OnStacks
from funcgrad.ops.reducing.reductions import UfuncReduction
from funcgrad.transforms.control.scan import Scan
from funcgrad.types import AnyPrimitive

Axis = int | None
"""The axis of the lanes; None where there are none."""

ANY = -1
"""Instead of an axis: lanes may be along the first, or there are none."""

SUMMED = -2
"""Instead of an axis: it is a sum over lanes, which those of tiles add up to."""

ZERO = -3
"""Instead of an axis: there are no lanes, and it is zero everywhere, so that a sum may begin with it."""


class Spread(NamedTuple):
    """Where the lanes are in an equation."""

    inputs: tuple[Axis, ...]
    outputs: tuple[Axis, ...]
    resized: Callable[[int], AnyPrimitive]
    """The operation for another number of lanes."""


Rule = Callable[[Equation, Sequence[Axis], int], Spread | None]
"""``rule(equation, axes, count)``: the axes that are known of the inputs, and how many lanes there are."""


def spread(equation: Equation, axes: Sequence[Axis], count: int) -> Spread | None:
    """Where the lanes are; None where the equation may mix them, or has none."""
    if not isinstance(equation.primitive, Scan):
        axes = [None if a == ZERO else a for a in axes]
    if SUMMED in axes:
        is_sum = isinstance(equation.primitive, Add) and set(axes) == {SUMMED}
        return Spread(tuple(axes), (SUMMED,), same(equation.primitive)) if is_sum else None
    for kinds, rule in RULES:
        if isinstance(equation.primitive, kinds):
            return rule(equation, axes, count)
    return None


def same(primitive: AnyPrimitive) -> Callable[[int], AnyPrimitive]:
    """For operations that do not say how many lanes there are."""
    return lambda count: primitive


def placed(values: Sequence[Any], place: int, value: object) -> tuple[Any, ...]:
    """The values with another at one place."""
    return (*values[:place], value, *values[place + 1 :])


def common(axes: Sequence[Axis]) -> Axis:
    """The axis of the lanes, if operands that have lanes all have them along the same."""
    known = {a for a in axes if a not in (None, ANY)} or ({0} if ANY in axes else set())
    fits = len(known) == 1 and all(a in known or (a == ANY and 0 in known) for a in axes)
    return known.pop() if fits else None


def one_operand(axes: Sequence[Axis]) -> Axis:
    """The axis of the lanes of the only operand."""
    (axis,) = axes
    return 0 if axis == ANY else axis


def pointwise(e: Equation, axes: Sequence[Axis], count: int) -> Spread | None:
    """Element by element; numbers stand for all lanes."""
    arrays = [k for k, x in enumerate(e.inputs) if x.aval.shape]
    axis = common([axes[k] for k in arrays])
    if axis is None or any(e.inputs[k].aval.shape != e.outputs[0].aval.shape for k in arrays):
        return None
    found = tuple([axis if k in arrays else None for k in range(len(axes))])
    return Spread(found, (axis,), same(e.primitive))


def broadcast(e: Equation, axes: Sequence[Axis], count: int) -> Spread | None:
    """Along with the input, or what is the same for all lanes."""
    shape, inner = e.primitive.shape, e.primitive.axes
    axis = one_operand(axes)
    new = [k for k, n in enumerate(shape) if n == count and k not in inner]
    if axis is None and not new:
        return None
    out = new[0] if axis is None else inner[axis]
    return Spread((axis,), (out,), lambda n: Broadcast(placed(shape, out, n), inner))


def reshape(e: Equation, axes: Sequence[Axis], count: int) -> Spread | None:
    """The axes before the lanes, and those after them, are reshaped apart."""
    axis, before, after = one_operand(axes), e.inputs[0].aval.shape, e.primitive.shape
    if axis is None:
        return None
    first = math.prod(before[:axis])
    found = [k for k, n in enumerate(after) if n == count and math.prod(after[:k]) == first]
    return Spread((axis,), (found[0],), lambda n: Reshape(placed(after, found[0], n))) if found else None


def permute(e: Equation, axes: Sequence[Axis], count: int) -> Spread | None:
    """Where the axis goes."""
    axis = one_operand(axes)
    return None if axis is None else Spread((axis,), (e.primitive.order.index(axis),), same(e.primitive))


def reduction(e: Equation, axes: Sequence[Axis], count: int) -> Spread | None:
    """Along other axes, or a sum over lanes."""
    axis, summed = one_operand(axes), e.primitive.axes
    if axis is None:
        return None
    if axis in summed:
        return Spread((axis,), (SUMMED,), same(e.primitive)) if isinstance(e.primitive, ReduceSum) else None
    return Spread((axis,), (axis - sum(a < axis for a in summed),), same(e.primitive))


def joined(e: Equation, axes: Sequence[Axis], count: int) -> Spread | None:
    """Side by side along another axis."""
    axis, beside = common(axes), e.primitive.axis
    if axis is None or (isinstance(e.primitive, Concatenate) and axis == beside):
        return None
    moved = axis + (isinstance(e.primitive, Stack) and beside <= axis)
    return Spread((axis,) * len(axes), (moved,), same(e.primitive))


def axis_of_part(index: Sequence[Any], axis: int, count: int) -> Axis:
    """The axis of the lanes in the part of an array at an index that takes all of them."""
    if index[axis] != (0, count, 1):
        return None
    return sum(isinstance(entry, tuple) for entry in index[:axis])


def sliced(e: Equation, axes: Sequence[Axis], count: int) -> Spread | None:
    """A part of every lane."""
    axis, index = one_operand(axes), e.primitive.index
    part = None if axis is None else axis_of_part(index, axis, count)
    if axis is None or part is None:
        return None
    return Spread((axis,), (part,), lambda n: Slice(placed(index, axis, (0, n, 1))))


def pad(e: Equation, axes: Sequence[Axis], count: int) -> Spread | None:
    """Every lane in zeros of its own."""
    part, index, shape = one_operand(axes), e.primitive.index, e.primitive.shape
    if part is None:
        return None
    axis = [k for k, entry in enumerate(index) if isinstance(entry, tuple)][part]
    if index[axis] != (0, count, 1) or shape[axis] != count:
        return None
    return Spread((part,), (axis,), lambda n: Pad(placed(shape, axis, n), placed(index, axis, (0, n, 1))))


def changed(e: Equation, axes: Sequence[Axis], count: int) -> Spread | None:
    """A part of every lane changed, by a part with lanes or by one number."""
    axis, index = one_operand(axes[:1]), e.primitive.index
    part = None if axis is None else axis_of_part(index, axis, count)
    if axis is None or part is None:
        return None
    given = None if not e.inputs[1].aval.shape else 0 if axes[1] == ANY else axes[1]
    if e.inputs[1].aval.shape and given != part:
        return None
    kind = type(e.primitive)
    return Spread((axis, given), (axis,), lambda n: kind(placed(index, axis, (0, n, 1))))


def contraction(e: Equation, axes: Sequence[Axis], count: int) -> Spread | None:
    """Along a label that the result keeps, or that is summed."""
    labels = e.primitive.labels
    terms = (labels.x, labels.y)
    known = {term[a] for term, a in zip(terms, axes, strict=True) if a not in (None, ANY)}
    if not known:
        known = {term[0] for term, a in zip(terms, axes, strict=True) if a == ANY and term[0] in labels.out}
    if len(known) != 1:
        return None
    (label,) = known
    found = tuple([term.index(label) if label in term else None for term in terms])
    if any(b is not None and a != b and not (a == ANY and b == 0) for a, b in zip(axes, found, strict=True)):
        return None
    out = labels.out.index(label) if label in labels.out else SUMMED
    return Spread(found, (out,), same(e.primitive))


def on_stacks(e: Equation, axes: Sequence[Axis], count: int) -> Spread | None:
    """Matrix by matrix, where the lanes are the first axis of the stack."""
    if common(axes) != 0 or e.primitive.of_vectors or e.inputs[0].aval.ndim < 3:
        return None
    return Spread((0,) * len(axes), (0,) * len(e.outputs), same(e.primitive))


def loop(e: Equation, axes: Sequence[Axis], count: int) -> Spread | None:
    """A loop whose trips treat every lane by itself, and may add up sums over them."""
    scan: Scan = e.primitive
    given: list[Axis] = [0 if a == ANY else None if a == ZERO else a for a in axes]
    rows = range(scan.n_carry, scan.n_carry + scan.n_xs)
    if any(given[k] == 0 for k in rows):
        return None
    inner = [a - 1 if k in rows and a is not None else a for k, a in enumerate(given)]
    sums = sums_in(scan.body, axes[: scan.n_carry])
    inner = [SUMMED if k in sums else a for k, a in enumerate(inner)]
    found = spread_of_body(scan.body, inner, count)
    if found is None or list(found[: scan.n_carry]) != inner[: scan.n_carry]:
        return None
    carry, ys = found[: scan.n_carry], found[scan.n_carry :]
    if SUMMED in ys:
        return None
    outputs = (*carry, *[None if a is None else a + 1 for a in ys])

    def resized(n: int) -> AnyPrimitive:
        body = resized_program(scan.body, inner, count, n)
        return Scan(body, scan.n_carry, scan.n_xs, scan.length, scan.reverse)

    return Spread(tuple(given), outputs, resized)


def sums_in(body: Program, axes: Sequence[Axis]) -> set[int]:
    """The parts of a carry that begin with zero, and that trips change by adding to them alone."""
    makers = {v: e for e in body.equations for v in e.outputs}
    found: set[int] = set()
    for k, (v, end) in enumerate(zip(body.inputs[: len(axes)], body.outputs, strict=False)):
        at: Any = end
        while at in makers and isinstance(makers[at].primitive, Add) and makers[at].inputs[0] is not v:
            at = makers[at].inputs[0]
        is_added_to = at in makers and isinstance(makers[at].primitive, Add)
        if axes[k] == ZERO and is_added_to:
            found.add(k)
    return found


RULES: Sequence[tuple[Any, Rule]] = (
    ((Pointwise, Cast, StopGradient), pointwise),
    (Broadcast, broadcast),
    (Reshape, reshape),
    (Permute, permute),
    ((ReduceSum, UfuncReduction), reduction),
    ((Concatenate, Stack), joined),
    (Slice, sliced),
    (Pad, pad),
    ((UpdateSlice, AddToSlice), changed),
    (DotGeneral, contraction),
    (OnStacks, on_stacks),
    (Scan, loop),
)


# -- held Programs -------------------------------------------------------------------------------------------


def spreads_in(
    program: Program, axes: Sequence[Axis], count: int
) -> tuple[dict[Any, Axis], list[Any]] | None:
    """The axes of the lanes of every value, and where they are in each equation (None: it has none)."""
    found: dict[Any, Axis] = dict(zip(program.inputs, axes, strict=True))
    spreads: list[Spread | None] = []
    for e in program.equations:
        given = [found.get(x) for x in e.inputs]
        made = spread(e, given, count) if set(given) != {None} or isinstance(e.primitive, Broadcast) else None
        if made is None and set(given) - {None}:
            return None
        spreads.append(made)
        outputs = (None,) * len(e.outputs) if made is None else made.outputs
        found.update(zip(e.outputs, outputs, strict=True))
    return found, spreads


def spread_of_body(program: Program, axes: Sequence[Axis], count: int) -> list[Axis] | None:
    """The axes of the lanes of a Program's results; None where lanes may be mixed."""
    made = spreads_in(program, axes, count)
    return None if made is None else [made[0].get(x) for x in program.outputs]


def resized_program(program: Program, axes: Sequence[Axis], count: int, n: int) -> Program:
    """The Program for another number of lanes."""
    made = spreads_in(program, axes, count)
    assert made is not None, "a Program that treats lanes by themselves"
    found, spreads = made
    new: dict[Any, Any] = {v: resized_var(v, found[v], n) for v in program.inputs}
    equations = resized_equations(zip(program.equations, spreads, strict=True), new, n)
    outputs = tuple([new.get(x, x) for x in program.outputs])
    inputs = tuple([new[v] for v in program.inputs])
    return Program(inputs, program.captured, tuple(equations), outputs, program.name)


def resized_equations(
    pairs: Iterable[tuple[Equation, Spread | None]], new: dict[Any, Any], n: int
) -> list[Equation]:
    """Equations for another number of lanes, each with where its lanes are; `new` holds what is renamed."""
    equations: list[Equation] = []
    for e, made in pairs:
        axes = (None,) * len(e.outputs) if made is None else made.outputs
        outputs = [resized_var(v, axis, n) for v, axis in zip(e.outputs, axes, strict=True)]
        primitive = e.primitive if made is None else made.resized(n)
        inputs = tuple([new.get(x, x) for x in e.inputs])
        equations.append(Equation(primitive, inputs, tuple(outputs), e.source))
        new.update(zip(e.outputs, outputs, strict=True))
    return equations


def resized_var(v: Var, axis: Axis, n: int) -> Var:
    """A variable like another, with another number of lanes."""
    return Var(
        v.aval if axis is None or axis < 0 else v.aval.with_shape(with_lanes(v.aval.shape, axis, n)), v.hint
    )


def with_lanes(shape: Shape, axis: int, n: int) -> Shape:
    """The shape for another number of lanes."""
    return placed(shape, axis, n)
