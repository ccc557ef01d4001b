"""``if`` and the conditional expression on a traced condition: both blocks recorded, one of them run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from funcgrad.api.calling.arguments import here
from funcgrad.api.calling.calls import Traced
from funcgrad.api.control_flow.binding import boolean, bound
from funcgrad.api.control_flow.choices import shared_constants
from funcgrad.api.control_flow.control_types import joined
from funcgrad.api.python.blocks.appending import Growing, growing_lists
from funcgrad.api.python.blocks.cells import (
    LEAF,
    State,
    Value,
    aval_of_leaf,
    cells_of,
    is_numeric,
    is_same,
    other_cells,
    refuse_changed,
    shown,
    taken_apart,
    tracers_within,
)
from funcgrad.api.python.blocks.either import ELEMENT, AppendedByEither, Noted
from funcgrad.api.python.blocks.outside import check_names_changed_by
from funcgrad.api.python.blocks.recording import Place, current_block, recorded_block, with_places, written
from funcgrad.api.python.guarded.guards import require
from funcgrad.api.python.identity import containers_within, note_chosen, shares_chosen
from funcgrad.api.python.recursion import within_itself
from funcgrad.errors import FuncgradError, ShapeError, TracedBranchError, TreeError
from funcgrad.ir.avals import Aval
from funcgrad.ir.catalog import CATALOG
from funcgrad.ir.program import Program
from funcgrad.ops.arrays.structure import cast
from funcgrad.ops.arrays.structure import reshape as reshaped
from funcgrad.ops.elementwise.arithmetic import add
from funcgrad.tracing.aliasing import assign
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.python.escapes import PREFIX
from funcgrad.tracing.python.protocols import ENDING
from funcgrad.tracing.recorder import Recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.control.branches import union
from funcgrad.transforms.control.conditional import Cond
from funcgrad.transforms.control.step import needed_inputs, positions, with_inputs
from funcgrad.transforms.control.views_outside import Outside, views_outside
from funcgrad.transforms.linearize import zeros_like
from funcgrad.transforms.replay import inline, inputs_of, transforming
from funcgrad.transforms.simplify import simplify_program
from funcgrad.types import Array, ArrayLike

Function = Callable[..., Any]


SCALAR = Aval((), np.dtype(np.float64))


class Outcome(NamedTuple):
    """What a block leaves in the names, and the Program of its numeric leaves; None for what is fixed."""

    values: dict[str, Value]
    numbers: dict[str, tuple[int | None, ...]]
    """For each name the numbers of its leaves among the outputs."""
    traced: Traced
    n_leaves: int

    @property
    def constants(self) -> list[Any]:
        """What the block reads."""
        return self.traced.operands[self.traced.n_inputs :]

    def aval(self, number: int) -> Aval:
        """The aval of an output."""
        return self.traced.recorder.avals[self.traced.outputs[number]]


class Merged(NamedTuple):
    """One leaf after an ``if``: fixed, or an output of each block."""

    fixed: Any
    numbers: tuple[int | None, int | None] | None = None
    aval: Aval = SCALAR


def recorded_branch(
    test: object, blocks: Sequence[Function], state: State, after: Sequence[str], what: str, line: int
) -> None:
    """Run the blocks for their outcomes, and bind the names `after` to what the condition chooses."""

    def attempt(places: list[Tracer], objects: list[Place]) -> Function:
        growing, objects = growing_lists(objects, what, line)
        every = state.with_objects(objects)
        wanted = [*after, *[place.name for place in objects]]
        entry = every.values()
        outcomes, raised = [], []
        for k, block in enumerate(blocks):
            try:
                with within_itself(block, line):
                    outcomes.append(outcome(block, every, entry, wanted, places, (what, line), growing))
            except FuncgradError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever the user's block raises, it raises when taken
                raised.append((k, error))
        if raised:
            return lambda: other_block(test, blocks, raised)
        appended = AppendedByEither(growing, outcomes) if growing else None
        values, leaves = merged_values(outcomes, [*wanted, *(appended.names if appended else ())], what, line)
        asked = condition(test)
        results = chosen(asked, outcomes, leaves, places)
        share(results, asked, outcomes, leaves, line)
        inner: list[Any] = []
        if appended and appended.conditions:
            # Apart, for it may be known what they are, where the elements are not.
            found = merged_values(outcomes, appended.conditions, what, line)[1]
            inner = chosen(asked, outcomes, found, places, writes=False)

        def finish() -> None:
            rebuilt = rebuilt_values(values, leaves, results)
            note_containers(outcomes, {name: rebuilt[name] for name in after}, line)
            every.leave({name: rebuilt[name] for name in every.names if name in rebuilt})
            written(places, results[len(results) - len(places) :])
            if appended:
                appended.give(rebuilt, inner, asked)

        return finish

    # Outside of the attempts: what it changes is a matter of the block around it.
    with_places(attempt)()


def other_block(test: object, blocks: Sequence[Function], raised: Sequence[tuple[int, Exception]]) -> None:
    """Run the block that raises nothing, under the guard that the other one is not chosen."""
    (k, error), *others = raised
    if others:
        raise error
    if isinstance(error, ENDING.get()):
        # As a guard it would never end: what goes through the elements waits for it.
        raise TracedBranchError(
            f"whether the elements have come to their end ({type(error).__name__}) depends on a traced value",
            source=here(),
            remedy="Go through a range, and leave it with break.",
        ).on_one_path()
    asked = condition(test)
    require(CATALOG["logical_not"]().bind(asked) if k == 0 else asked)
    blocks[1 - k]()


def outcome(
    block: Function,
    state: State,
    entry: dict[str, Any],
    after: Sequence[str],
    places: list[Tracer],
    where: tuple[str, int],
    growing: Sequence[Growing] = (),
) -> Outcome:
    """Record one block, from the names as they are before it."""
    noted = Noted(growing)
    values: dict[str, Value] = {}
    numbers: dict[str, tuple[int | None, ...]] = {}
    count = 0

    def run(_: list[Tracer]) -> list[Any]:
        nonlocal count
        state.bind(entry)
        try:
            others = other_cells({**cells_of(block), **state.cells})
            check_names_changed_by(block)
            with noted.within():
                block()
                left = state.values()
                appended = noted.names(left)
            refuse_changed(others, *where)
        finally:
            state.bind(entry)
        left.update(appended)
        leaves: list[Any] = []
        for name in (*after, *appended):
            value = values[name] = seen_by_block(left[name])
            places_of = []
            for leaf, numeric in zip(value.leaves, value.numeric, strict=True):
                places_of.append(len(leaves) if numeric else None)
                leaves += [leaf] if numeric else []
            numbers[name] = tuple(places_of)
        count = len(leaves)
        return leaves

    name = f"{block.__code__.co_name.strip('<>')}_line_{where[1]}"
    reads = tracers_within(cells_of(block))
    known = [*state.known, *[x.place.name for x in growing]]
    traced = recorded_block(run, (), places, name, *where, reads=reads, known=known)
    return Outcome(values, numbers, traced, count)


# -- what the names are afterwards


def merged_values(
    outcomes: Sequence[Outcome], after: Sequence[str], what: str, line: int
) -> tuple[dict[str, Value], dict[str, list[Merged]]]:
    """For each name a value of its structure, and its leaves; raises where the blocks do not agree."""
    values: dict[str, Value] = {}
    leaves: dict[str, list[Merged]] = {}
    first, second = outcomes
    for name in after:
        one, other = first.values[name], second.values[name]
        if one.treedef is None or other.treedef is None:
            values[name], leaves[name] = half_bound(name, first, second, what, line)
            continue
        if is_half_bound(one) or is_half_bound(other):
            poison = one if is_half_bound(one) else other
            values[name], leaves[name] = poison, [Merged(poison.leaves[0])]
            continue
        if one.whole is not None and one.whole is other.whole:
            values[name], leaves[name] = Value(LEAF, (one.whole,)), [Merged(one.whole)]
            continue
        if one.treedef != other.treedef:
            raise differing(name, one, other, what, line, TreeError)
        values[name] = one
        leaves[name] = [merged(k, name, first, second, what, line) for k in range(len(one.leaves))]
    return values, leaves


def seen_by_block(x: object) -> Value:
    """The value taken apart, with the list or dict that it is, if the block has not made that itself."""
    value = taken_apart(x)
    block = current_block()
    theirs = isinstance(x, list | dict) and block is not None and not block.made_here(x)
    return value._replace(whole=x) if theirs else value


def note_containers(outcomes: Sequence[Outcome], values: dict[str, Any], line: int) -> None:
    """Have lists and dicts that were chosen between stay as they are."""
    for name, value in values.items():
        found = [outcome.values[name].whole for outcome in outcomes]
        theirs = [x for x in found if x is not None and x is not value]
        if theirs and isinstance(value, list | dict):
            note_chosen([x for one in (value, *theirs) for x in containers_within(one)], line)


def is_half_bound(value: Value) -> bool:
    """Whether an earlier branch has left the name unusable."""
    return len(value.leaves) == 1 and isinstance(value.leaves[0], HalfBound)


def half_bound(
    name: str, first: Outcome, second: Outcome, what: str, line: int
) -> tuple[Value, list[Merged]]:
    """A name that one block at most has bound.

    A program that is right never reads it where it is not bound, so anything may stand for it there: NaN,
    or 0 for integers and for names of ours, which a flag guards. What is no number cannot be had so.
    """
    there = first if first.values[name].treedef is not None else second
    value = there.values[name]
    if value.treedef is None:
        return value, []
    if not all(value.numeric) and not name.startswith(PREFIX):
        poison = HalfBound(name, "first" if there is first else "second", what, line)
        return taken_apart(poison), [Merged(poison)]
    leaves = []
    for leaf, number in zip(value.leaves, there.numbers[name], strict=True):
        if number is None:
            leaves.append(Merged(leaf))
            continue
        numbers = (number, None) if there is first else (None, number)
        leaves.append(Merged(None, numbers, there.aval(number)))
    return value, leaves


def merged(k: int, name: str, first: Outcome, second: Outcome, what: str, line: int) -> Merged:
    """The k-th leaf of a name that both blocks leave with one structure."""
    one, other = first.values[name].leaves[k], second.values[name].leaves[k]
    if is_same(one, other):
        return Merged(one)
    if not (is_numeric(one) and is_numeric(other)):
        raise differing(name, first.values[name], second.values[name], what, line, TreeError)
    numbers = first.numbers[name][k], second.numbers[name][k]
    avals = [
        outcome.aval(number)
        for outcome, number in zip((first, second), numbers, strict=True)
        if number is not None
    ]
    aval = joined(*avals) or promoted(*avals)
    if aval is None:
        raise differing(name, first.values[name], second.values[name], what, line, ShapeError)
    return Merged(None, numbers, aval)


def promoted(one: Aval, other: Aval) -> Aval | None:
    """The aval that holds the values of both, where only the dtypes differ and none loses anything."""
    if one.shape != other.shape or one.dtype.kind not in "fciu" or other.dtype.kind not in "fciu":
        return None
    weak, strong = (one, other) if one.weak else (other, one)
    dtype = np.result_type(one.dtype, other.dtype)
    if weak.weak and weak.dtype.kind == "i" and strong.dtype.kind in "fc":
        return strong
    return Aval(one.shape, dtype) if one.dtype.kind == other.dtype.kind or weak.weak else None


def differing(
    name: str, one: Value, other: Value, what: str, line: int, kind: type[FuncgradError]
) -> FuncgradError:
    """The error for a name that is of two types after an ``if``."""
    spoken = "what is returned" if name.startswith(PREFIX) else f"`{name}`"
    spoken = "what is appended" if name.startswith(ELEMENT) else spoken
    seen = [shown(value.rebuilt(value.leaves)) for value in (one, other)]
    error = kind(
        f"{spoken} is {seen[0]} after the first branch of line {line} and {seen[1]} after the second, "
        "which a traced condition cannot choose between",
        source=here(),
        remedy="Make both of one structure, shape and dtype, or pass what decides as a static argument.",
    )
    return error.on_one_path() if kind is not ShapeError else error


class HalfBound:
    """What a name is bound to that only one branch of a traced condition binds: an error when it is used."""

    def __init__(self, name: str, which: str, what: str, line: int) -> None:
        object.__setattr__(self, "_text", (name, which, what, line))

    def _refused(self, *_: object, **__: object) -> NoReturn:
        name, which, _what, line = object.__getattribute__(self, "_text")
        raise TracedBranchError(
            f"`{name}` is bound by the {which} branch of line {line} only, and its condition is traced",
            source=here(),
            remedy=f"Bind `{name}` before line {line}, or in both branches.",
        )

    def __repr__(self) -> str:
        return "<bound in one branch only>"

    __getattr__ = __call__ = __iter__ = __len__ = __getitem__ = __setitem__ = __bool__ = _refused
    __float__ = __int__ = __index__ = __array__ = __neg__ = __abs__ = __pos__ = __invert__ = _refused
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refused
    __pow__ = __rpow__ = __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = __matmul__ = _refused
    __rmatmul__ = __lt__ = __le__ = __gt__ = __ge__ = __and__ = __or__ = __xor__ = _refused


# -- the equation -------------------------------------------------------------------------------------------


def chosen(
    test: Array,
    outcomes: Sequence[Outcome],
    leaves: dict[str, list[Merged]],
    places: list[Tracer],
    *,
    writes: bool = True,
) -> list[Any]:
    """The outputs of the block that the condition chooses: the leaves that are not fixed, then the places.

    The places are left out where nothing `writes` what they become.
    """
    wanted = [leaf for row in leaves.values() for leaf in row if leaf.numbers is not None]
    left = places if writes else []
    avals = (*[leaf.aval for leaf in wanted], *[place.aval.strong for place in left])
    if not avals:
        return []
    first, second = outcomes
    ordered = (second, first)  # a condition is the number of its block: 1 where it is true
    picks = []
    for k, block in ((1, second), (0, first)):
        numbers = [leaf.numbers[k] for leaf in wanted if leaf.numbers is not None]
        picks.append((*numbers, *range(block.n_leaves, block.n_leaves + len(left))))
    constants, spots = shared_constants(ordered)  # type: ignore[arg-type]
    spare = tuple([aval_of_leaf(x).strong for x in constants])
    n = len(places)

    def block_program(program: Program, k: int) -> Program:
        held = simplify_program(picked(program, picks[k], avals))
        mine = {spot: n + i for i, spot in enumerate(spots[k])}
        return with_inputs(held, [*range(n), *[mine.get(spot, a) for spot, a in enumerate(spare)]])

    def build(program: Program) -> tuple[Cond, tuple[int, ...], Outside]:
        other = second.traced.transformed(("else", *key), lambda held: block_program(held, 0))
        both = other, block_program(program, 1)
        used = positions(union([needed_inputs(held, (True,) * len(avals)) for held in both]))
        changed = [k for k, number in enumerate(used) if number < len(left)]
        outside = views_outside([with_inputs(held, used) for held in both], changed)
        return Cond(outside.branches), used, outside

    key = (tuple(picks), avals, spots, spare)
    names = first.traced.recorder.name, second.traced.recorder.name
    other = second.traced.recorder.fingerprint(second.traced.outputs)
    primitive, used, outside = first.traced.transformed(("if", other, names, *key), build)
    operands = [*[place.frozen() for place in places], *constants]
    given = outside.operands([asoperand(operands[k]) for k in used])
    return list(bound(primitive, [condition(test), *given]))


def share(
    results: Sequence[Any],
    test: object,
    outcomes: Sequence[Outcome],
    leaves: dict[str, list[Merged]],
    line: int,
) -> None:
    """Have what was chosen be the arrays that it was chosen from, for those who write into them."""
    found = iter(results)
    recorders = [outcome.traced.recorder for outcome in outcomes]
    for name, row in leaves.items():
        for k, leaf in enumerate(row):
            if leaf.numbers is not None:
                values = [outcome.values[name] for outcome in outcomes]
                ends = [value.leaves[k] if k < len(value.leaves) else None for value in values]
                shares_chosen(next(found), test, ends, recorders, line)


def condition(test: ArrayLike) -> Array:
    """What is asked as a scalar boolean; an array of one element counts as that element."""
    if isinstance(test, Tracer) and test.aval.shape and test.aval.size == 1:
        test = reshaped(test, ())
    return boolean(test, "an if")


def picked(program: Program, picks: Sequence[int | None], avals: Sequence[Aval]) -> Program:
    """The Program with only these outputs, cast to avals; None stands for what nobody reads."""
    with transforming(program, "cast") as recorder:
        inputs = inputs_of(recorder, program.inputs)
        outs = inline(recorder, program, inputs)
        results = []
        for number, aval in zip(picks, avals, strict=True):
            if number is None:
                results.append(unset(recorder, aval.strong))
                continue
            x = outs[number]
            results.append(x if x.aval.dtype == aval.dtype else cast(x, aval.dtype))
        return recorder.program([t._index for t in inputs], [recorder.index_of(x) for x in results])


def unset(recorder: Recorder, aval: Aval) -> object:
    """What stands for a name on the path that does not bind it: NaN, so that it is seen; else zero."""
    zeros = zeros_like(recorder, aval)
    return add(zeros, aval.dtype.type(np.nan)) if aval.inexact else zeros


def rebuilt_values(
    values: dict[str, Value], leaves: dict[str, list[Merged]], results: Sequence[Any]
) -> dict[str, Any]:
    """The values of the names, with the chosen leaves in their places."""
    found = iter(results)
    out = {}
    for name, value in values.items():
        row = [leaf.fixed if leaf.numbers is None else next(found) for leaf in leaves[name]]
        out[name] = value.rebuilt(row)
    return out


def refuse_change_in_expression(place: Place) -> None:
    """Raise for a conditional expression that changes an object."""
    raise TracedBranchError(
        f"{place.name} is changed in a part of an expression that a traced condition chooses",
        source=here(),
        remedy="Write it as an if statement.",
    )


# -- expressions -------------------------------------------------------------------------------------------


def recorded_choice(test: object, body: Function, orelse: Function, line: int) -> object:
    """``body() if test else orelse()`` where `test` is traced."""
    cell: list[Any] = []
    name = "the conditional expression"

    def outcome_of(block: Function, places: list[Tracer]) -> Outcome:
        held: list[Value] = []

        def run(_: list[Tracer]) -> list[Any]:
            value = seen_by_block(block())
            held.append(value)
            return [x for x, numeric in zip(value.leaves, value.numeric, strict=True) if numeric]

        title = f"{block.__code__.co_name.strip('<>')}_line_{line}"
        reads = tracers_within(cells_of(block))
        traced = recorded_block(run, (), places, title, name, line, reads=reads)
        value = held[-1]
        counts = np.cumsum(value.numeric) - 1
        numbers = tuple(
            [int(k) if numeric else None for k, numeric in zip(counts, value.numeric, strict=True)]
        )
        return Outcome({name: value}, {name: numbers}, traced, sum(value.numeric))

    def attempt(places: list[Tracer], objects: list[Place]) -> None:
        if objects:
            refuse_change_in_expression(objects[0])
        outcomes = []
        for block in (body, orelse):
            with within_itself(block, line):
                outcomes.append(outcome_of(block, places))
        values, leaves = merged_values(outcomes, [name], name, line)
        asked = condition(test)
        results = chosen(asked, outcomes, leaves, places)
        share(results, asked, outcomes, leaves, line)
        rebuilt = rebuilt_values(values, leaves, results)
        note_containers(outcomes, rebuilt, line)
        cell.append(rebuilt[name])
        for place, value in zip(places, results[len(results) - len(places) :], strict=True):
            assign(place, value)

    with_places(attempt)
    return cell[-1]
