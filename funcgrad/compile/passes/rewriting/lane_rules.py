"""Along which axes the lanes of a batch run through an equation, where it treats each lane by itself.

One rule for each kind of operation: given the axis of the lanes in some inputs, that in each input and
result, and the operation for another number of lanes. Operations without a rule may mix lanes. Of what a
loop is handed from outside it is tried out in its body along which axis lanes are (`settled`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from funcgrad.compile.passes.rewriting.few_lanes import seconds_of
from funcgrad.ir.avals import Shape
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
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
from funcgrad.transforms.control.scan import Scan
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


TRIES_FOR_EACH = 8
"""How many choices are tried for each input of a loop before it is said to mix lanes."""

MOST_TRIED = 100_000
"""How many equations are looked at, all choices together, which is a few tenths of a second."""

Rule = Callable[[Equation, Sequence[Axis], int], Spread | None]
"""``rule(equation, axes, count)``: the axes that are known of the inputs, and how many lanes there are."""


def spread(equation: Equation, axes: Sequence[Axis], count: int) -> Spread | None:
    """Where the lanes are; None where the equation may mix them, or has none."""
    if not isinstance(equation.primitive, Scan):
        axes = [None if a == ZERO else a for a in axes]
        if not any(a is not None and a >= 0 for a in axes):
            axes = [first_of(x, a, count) for x, a in zip(equation.inputs, axes, strict=True)]
    if SUMMED in axes:
        is_sum = is_linear(equation.primitive, axes)
        return Spread(tuple(axes), (SUMMED,), same(equation.primitive)) if is_sum else None
    for kinds, rule in RULES:
        if isinstance(equation.primitive, kinds):
            return rule(equation, axes, count)
    return None


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


def loop(e: Equation, axes: Sequence[Axis], count: int) -> Spread | None:
    """A loop whose trips treat every lane by itself, and may add up sums over them."""
    scan: Scan = e.primitive
    rows = range(scan.n_carry, scan.n_carry + scan.n_xs)

    def is_open(k: int, x: Atom) -> bool:
        return k >= scan.n_carry or x.aval.shape[0] != count

    given = [
        None if a in (None, ZERO) or (a == ANY and is_open(k, x)) else max(a, 0)
        for k, (a, x) in enumerate(zip(axes, e.inputs, strict=True))
    ]
    if any(given[k] == 0 for k in rows):
        return None
    options: dict[int, Sequence[Axis]] = dict.fromkeys(sums_in(scan.body, axes[: scan.n_carry]), (SUMMED,))
    for k, v in enumerate(scan.body.inputs):
        if given[k] is None and axes[k] == ANY:
            options[k] = [axis for axis, n in enumerate(v.aval.shape) if n == count]
    start = [a - 1 if k in rows and a is not None else a for k, a in enumerate(given)]
    inner = settled(scan, start, options, count)
    found = None if inner is None else spread_of_body(scan.body, inner, count)
    if inner is None or found is None:
        return None
    carry, ys = found[: scan.n_carry], found[scan.n_carry :]
    if SUMMED in ys:
        return None
    outputs = (*carry, *[None if a is None else a + 1 for a in ys])
    inputs = [
        None if a == SUMMED else a + 1 if k in rows and a is not None else a for k, a in enumerate(inner)
    ]

    def resized(n: int) -> AnyPrimitive:
        body = resized_program(scan.body, inner, count, n)
        return Scan(body, scan.n_carry, scan.n_xs, scan.length, scan.reverse)

    return Spread(tuple(inputs), outputs, resized, seconds_alone(scan, inner, count))


def seconds_alone(scan: Scan, axes: Sequence[Axis], count: int) -> float:
    """The time of what all trips of a loop do that has no lanes."""
    pairs = zip(scan.body.equations, lanes_through(scan.body, axes, count)[1], strict=True)
    return scan.length * sum(seconds_of(e) if made is None else made.alone for e, made in pairs)


def settled(
    scan: Scan, axes: Sequence[Axis], options: dict[int, Sequence[Axis]], count: int
) -> Sequence[Axis] | None:
    """The axes of the inputs of a loop's body, chosen where there are options so that no lanes are mixed.

    Where the body mixes lanes as it is, that which is mixed there has what an option says, if that goes
    further: any choice with which nothing is mixed is right.
    """
    most = min(TRIES_FOR_EACH * (len(options) + 1), MOST_TRIED // (len(scan.body.equations) + 1))
    tries = itertools.repeat(None, most)
    reached, blamed = progress(scan, axes, count)
    while blamed is not None:
        chosen = further(scan, axes, options, count, reached, tries)
        if chosen is None:
            return None
        axes = chosen
        options = {k: found for k, found in options.items() if axes[k] is None}
        reached, blamed = progress(scan, axes, count)
    # What is only handed on has lanes as well: those who read it outside may need them.
    handed_on = only_handed_on(scan, axes, count)
    pairs = [(k, axis) for k, found in options.items() for axis in found if k in handed_on]
    for k, axis in [(k, axis) for k, axis in pairs if axis != SUMMED]:
        tried = placed(axes, k, axis)
        if axes[k] is None and progress(scan, tried, count)[1] is None:
            axes = tried
    return axes


def further(
    scan: Scan,
    axes: Sequence[Axis],
    options: Mapping[int, Sequence[Axis]],
    count: int,
    goal: tuple[int, int],
    tries: Iterator[None],
) -> Sequence[Axis] | None:
    """Axes with which one gets further than the goal; None where no option leads there, or `tries` end.

    An option for one operand may first ask for one for the others.
    """
    reached, blamed = progress(scan, axes, count)
    if blamed is None or reached > goal:
        return axes
    for k in sorted(blamed & options.keys()):
        others = {other: found for other, found in options.items() if other != k}
        for axis in options[k]:
            if next(tries, True):
                return None
            chosen = further(scan, placed(axes, k, axis), others, count, goal, tries)
            if chosen is not None:
                return chosen
    return None


def only_handed_on(scan: Scan, axes: Sequence[Axis], count: int) -> set[int]:
    """The inputs of a body that nothing in it reads, and those of which rows without lanes are made."""
    body = scan.body
    read = {x for e in body.equations for x in e.inputs} | set(body.outputs)
    found, _ = lanes_through(body, axes, count)
    unread = {k for k, v in enumerate(body.inputs) if v not in read}
    return unread | origins(body, body.outputs[scan.n_carry :], found)


def progress(scan: Scan, axes: Sequence[Axis], count: int) -> tuple[tuple[int, int], set[int] | None]:
    """How far one gets in a body without mixing lanes, and the inputs that may have lanes after all there.

    None instead of those: to the end.
    """
    body, n = scan.body, scan.n_carry
    found, spreads = lanes_through(body, axes, count)
    if len(spreads) < len(body.equations):
        return (len(spreads), 0), origins(body, body.equations[len(spreads)].inputs, found)
    pairs = list(zip(body.outputs[:n], axes[:n], strict=True))
    wrong = [x for x, a in pairs if found.get(x) != a]
    reached = len(spreads), len(pairs) - len(wrong)
    changed = {k for k, (_, a) in enumerate(pairs) if found.get(body.outputs[k]) == SUMMED != a}
    return reached, (origins(body, wrong, found) | changed) if wrong else None


def origins(body: Program, atoms: Iterable[Atom], found: Mapping[Any, Axis]) -> set[int]:
    """The places of the inputs of which those atoms are made that have no lanes so far."""
    makers = {v: e for e in body.equations for v in e.outputs}
    places = {v: k for k, v in enumerate(body.inputs)}
    left, seen = list(atoms), set()
    while left:
        x = left.pop()
        if isinstance(x, Literal) or x in seen or found.get(x) is not None:
            continue
        seen.add(x)
        left.extend(makers[x].inputs if x in makers else ())
    return {places[x] for x in seen if x in places}


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
    (Scan, loop),
)


BEGINNINGS = (Broadcast, Room)
"""What makes lanes of what has none."""


# -- held Programs -------------------------------------------------------------------------------------------


def lanes_through(
    program: Program, axes: Sequence[Axis], count: int
) -> tuple[dict[Any, Axis], list[Spread | None]]:
    """The axes of the lanes of every value, and where they are in each equation (None: it has none).

    Ends before the first equation that may mix them.
    """
    found: dict[Any, Axis] = dict(zip(program.inputs, axes, strict=True))
    spreads: list[Spread | None] = []
    for e in program.equations:
        given = [found.get(x) for x in e.inputs]
        may_begin = isinstance(e.primitive, BEGINNINGS)
        made = spread(e, given, count) if set(given) != {None} or may_begin else None
        if made is None and set(given) - {None}:
            break
        spreads.append(made)
        outputs = (None,) * len(e.outputs) if made is None else made.outputs
        found.update(zip(e.outputs, outputs, strict=True))
    return found, spreads


def spreads_in(
    program: Program, axes: Sequence[Axis], count: int
) -> tuple[dict[Any, Axis], list[Spread | None]] | None:
    """The same; None where an equation may mix lanes."""
    found, spreads = lanes_through(program, axes, count)
    return (found, spreads) if len(spreads) == len(program.equations) else None


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
