"""Along which axes the lanes of a batch run through Programs, and through the loops in them.

Of what a loop is handed from outside it is tried out in its body along which axis lanes are (`settled`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from funcgrad.compile.passes.rewriting.few_lanes import seconds_of
from funcgrad.compile.passes.rewriting.lane_rules import (
    ANY,
    BEGINNINGS,
    RULES,
    SUMMED,
    ZERO,
    Axis,
    Rule,
    Spread,
    first_of,
    is_linear,
    placed,
    same,
)
from funcgrad.ir.avals import Shape
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ops.elementwise.arithmetic import Add
from funcgrad.transforms.control.scan import Scan
from funcgrad.types import AnyPrimitive

TRIES_FOR_EACH = 8
"""How many choices are tried for each input of a loop before it is said to mix lanes."""

MOST_TRIED = 100_000
"""How many equations are looked at, all choices together, which is a few tenths of a second."""


def spread(equation: Equation, axes: Sequence[Axis], count: int) -> Spread | None:
    """Where the lanes are; None where the equation may mix them, or has none."""
    if not isinstance(equation.primitive, Scan):
        axes = [None if a == ZERO else a for a in axes]
        if not any(a is not None and a >= 0 for a in axes):
            axes = [first_of(x, a, count) for x, a in zip(equation.inputs, axes, strict=True)]
    if SUMMED in axes:
        is_sum = is_linear(equation.primitive, axes)
        return Spread(tuple(axes), (SUMMED,), same(equation.primitive)) if is_sum else None
    rule = rule_of(equation.primitive)
    return None if rule is None else rule(equation, axes, count)


def rule_of(primitive: AnyPrimitive) -> Rule | None:
    """The rule of a kind of operation; None where it may mix lanes."""
    if isinstance(primitive, Scan):
        return loop
    return next((rule for kinds, rule in RULES if isinstance(primitive, kinds)), None)


# -- Programs ---------------------------------------------------------------------------------------------


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


# -- loops ------------------------------------------------------------------------------------------------


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
