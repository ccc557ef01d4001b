"""Along which axes the lanes of a batch run through an operation, where it treats each lane by itself.

One rule for each kind of operation: given the axis of the lanes in some inputs, that in each input and
result, and the operation for another number of lanes. Operations without a rule may mix lanes. The rule of
loops, and Programs, are in `lanes_of_programs`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from funcgrad.ir.program import Atom, Equation
from funcgrad.ops.arrays.indexing import Gather, Scatter
from funcgrad.ops.arrays.movement import Concatenate, Flip, Stack
from funcgrad.ops.arrays.slicing import AddToSlice, Pad, Slice, UpdateSlice
from funcgrad.ops.arrays.structure import Broadcast, Cast, Permute, ReduceSum, Reshape
from funcgrad.ops.contraction import DotGeneral
from funcgrad.ops.elementwise.arithmetic import Add, Div, Mul, Neg, Sub
from funcgrad.ops.elementwise.identity import StopGradient
from funcgrad.ops.families import Pointwise
from funcgrad.ops.linalg.matrices import OnStacks
from funcgrad.ops.reducing.reductions import UfuncReduction
from funcgrad.ops.reducing.softmax import LogSoftmax, LogSumExp, Softmax
from funcgrad.transforms.control.undoing.room import Room
from funcgrad.types import AnyPrimitive

Axis = int | None
"""The axis of the lanes; None where there are none."""

ANY = -1
"""Instead of an axis: lanes may be along any that is as long as there are lanes, or there are none."""

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
    alone: float = 0.0
    """Seconds, by rule of thumb, of what has no lanes in it."""


Rule = Callable[[Equation, Sequence[Axis], int], Spread | None]
"""``rule(equation, axes, count)``: the axes that are known of the inputs, and how many lanes there are."""


def first_of(x: Atom, axis: Axis, count: int) -> Axis:
    """Where nothing says along which axis there are lanes: the first, if it is as long."""
    return None if axis == ANY and x.aval.shape[:1] != (count,) else axis


def is_linear(primitive: AnyPrimitive, axes: Sequence[Axis]) -> bool:
    """Whether what the sums of tiles give adds up to what the whole sum gives."""
    if isinstance(primitive, Add | Sub | Neg):
        return set(axes) == {SUMMED}
    if isinstance(primitive, Div):
        return tuple(axes) == (SUMMED, None)
    return isinstance(primitive, Mul) and set(axes) == {SUMMED, None}


def same(primitive: AnyPrimitive) -> Callable[[int], AnyPrimitive]:
    """For operations that do not say how many lanes there are."""
    return lambda count: primitive


def placed(values: Sequence[Any], place: int, value: object) -> tuple[Any, ...]:
    """The values with another at one place."""
    return (*values[:place], value, *values[place + 1 :])


def common(axes: Sequence[Axis]) -> Axis:
    """The axis of the lanes, if operands that have lanes all have them along the same."""
    known = {a for a in axes if a not in (None, ANY)} or ({0} if ANY in axes else set())
    fits = len(known) == 1 and all(a in known or a == ANY for a in axes)
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


def along_others(e: Equation, axes: Sequence[Axis], count: int) -> Spread | None:
    """Along axes that are not those of the lanes, in the shape that there was."""
    axis = one_operand(axes)
    return None if axis is None or axis in e.primitive.axes else Spread((axis,), (axis,), same(e.primitive))


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
    axis, index = one_operand([first_of(e.inputs[0], axes[0], count)]), e.primitive.index
    part = None if axis is None else axis_of_part(index, axis, count)
    if axis is None or part is None:
        return None
    given = None if not e.inputs[1].aval.shape else part if axes[1] == ANY else axes[1]
    if e.inputs[1].aval.shape and given != part:
        return None
    kind = type(e.primitive)
    return Spread((axis, given), (axis,), lambda n: kind(placed(index, axis, (0, n, 1))))


def gathered(e: Equation, axes: Sequence[Axis], count: int) -> Spread | None:
    """The same positions of every lane."""
    axis, indexed = one_operand([first_of(e.inputs[0], axes[0], count)]), e.primitive.axes
    if axis is None or axis in indexed or set(axes[1:]) - {None, ANY}:
        return None
    rank = max([index.aval.ndim for index in e.inputs[1:]], default=0)
    out = rank + axis - sum(a < axis for a in indexed)
    return Spread((axis, *[None] * (len(axes) - 1)), (out,), same(e.primitive))


def scattered(e: Equation, axes: Sequence[Axis], count: int) -> Spread | None:
    """At the same positions of every lane, what has lanes as well, or one number."""
    read = Equation(Gather(e.primitive.axes), (e.inputs[0], *e.inputs[2:]), e.outputs)
    part = gathered(read, (axes[0], *axes[2:]), count)
    if part is None:
        return None
    given = None if not e.inputs[1].aval.shape else part.outputs[0] if axes[1] == ANY else axes[1]
    if e.inputs[1].aval.shape and given != part.outputs[0]:
        return None
    return Spread((part.inputs[0], given, *part.inputs[1:]), (part.inputs[0],), same(e.primitive))


def room(e: Equation, axes: Sequence[Axis], count: int) -> Spread | None:
    """Memory for every lane."""
    shape = e.primitive.shape
    if count not in shape:
        return None
    axis = shape.index(count)
    return Spread((None,), (axis,), lambda n: Room(placed(shape, axis, n)))


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
    if any(b is not None and a not in (b, ANY) for a, b in zip(axes, found, strict=True)):
        return None
    out = labels.out.index(label) if label in labels.out else SUMMED
    return Spread(found, (out,), same(e.primitive))


def on_stacks(e: Equation, axes: Sequence[Axis], count: int) -> Spread | None:
    """Matrix by matrix, where the lanes are the first axis of the stack."""
    if common(axes) != 0 or e.primitive.of_vectors or e.inputs[0].aval.ndim < 3:
        return None
    if any(x.aval.shape[0] != count for x in e.inputs):
        return None
    return Spread((0,) * len(axes), (0,) * len(e.outputs), same(e.primitive))


RULES: Sequence[tuple[Any, Rule]] = (
    ((Pointwise, Cast, StopGradient), pointwise),
    (Broadcast, broadcast),
    (Reshape, reshape),
    (Permute, permute),
    ((ReduceSum, UfuncReduction, LogSumExp), reduction),
    ((Softmax, LogSoftmax, Flip), along_others),
    ((Concatenate, Stack), joined),
    (Slice, sliced),
    (Gather, gathered),
    (Scatter, scattered),
    (Room, room),
    (Pad, pad),
    ((UpdateSlice, AddToSlice), changed),
    (DotGeneral, contraction),
    (OnStacks, on_stacks),
)


BEGINNINGS = (Broadcast, Room)
"""What makes lanes of what has none."""
