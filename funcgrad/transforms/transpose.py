"""Reverse mode: the transpose of the linear part of a record. Knows nothing about forward values.

A transpose walks the recorded steps from the exits of the linear part back to its entries, and records
what it computes in the same trace; the linear steps themselves are dead afterwards. Cotangents that
are structurally zero stay None. A cotangent some of whose elements a selection set to zero is marked,
and the mark follows it: see `funcgrad.ops.elementwise.arithmetic.StrongZeroMul`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from funcgrad.errors import NotDifferentiableError
from funcgrad.ir.program import Program, Var
from funcgrad.ops.families import added, listed
from funcgrad.source import Source
from funcgrad.tracing.primitive import Linear, Primitive
from funcgrad.tracing.recorder import NOWHERE, Recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.dependence import dependent_indices, parted
from funcgrad.transforms.linearize import record_tangents, zeros_like
from funcgrad.transforms.replay import as_tracer, inline, inputs_of, transforming
from funcgrad.types import Anything

Cotangents = dict[int, Tracer]


def record_transpose(
    recorder: Recorder,
    entries: Sequence[Tracer],
    exits: Sequence[Tracer],
    cotangents: Sequence[Any],
    starts: Mapping[int, Tracer] = MappingProxyType({}),
) -> list[Tracer | None]:
    """Record the transpose of what leads from `entries` to `exits`.

    `cotangents` has one value (or None) per exit, the result one per entry. `starts` are sums, by the indices
    of the entries whose cotangents are added to them.
    """
    dependent = dependent_indices(recorder, [t._index for t in entries])
    selected = recorder.selected = recorder.selected or set()
    bars: Cotangents = dict(starts)
    for x, cotangent in zip(exits, cotangents, strict=True):
        if cotangent is not None:
            accumulate(bars, selected, x._index, as_tracer(recorder, cotangent))
    heads = {t._index for t in entries}
    outer = recorder.location
    for index in reversed(dependent.steps):
        if index not in heads:
            recorder.location = in_reverse(recorder.sources[index])
            transpose_step(recorder, index, dependent.indices, bars, selected)
    recorder.location = outer
    return [bars.get(t._index) for t in entries]


def in_reverse(location: Anything) -> Anything:
    """The location of what reverse mode records for the step that stands at `location`."""
    if not location:
        return NOWHERE
    return location.in_reverse() if isinstance(location, Source) else (*location[:2], True)


def transpose_step(
    recorder: Recorder, index: int, dependent: set[int], bars: Cotangents, selected: set[int]
) -> None:
    """Add the cotangents of a step's linear inputs to `bars`."""
    primitive, *operands = recorder.steps[index]
    avals = recorder.avals
    bar: Any = bars.pop(index, None)
    if primitive.multiple:
        count = len(primitive.inferred(tuple([avals[i] for i in operands])))
        bar = [bar, *[bars.pop(index + k, None) for k in range(1, count)]]
        marked = [b for b in bar if b is not None]
    else:
        marked = [] if bar is None else [bar]
    if not marked:
        return
    inputs = [Linear(avals[i]) if i in dependent else Tracer(recorder, i, avals[i]) for i in operands]
    if type(primitive).linear_in is Primitive.linear_in and sum(i in dependent for i in operands) > 1:
        raise NotDifferentiableError(
            f"{primitive.name} of {listed([avals[i] for i in operands])} "
            "is not linear in its operands together",
            remedy="Only linear functions have a transpose; "
            "a custom_jvp rule must be linear in its tangents.",
        )
    if primitive.transpose_into is not None and operands[0] in bars:
        add_into(
            recorder, operands[0], primitive.transpose_into(bars[operands[0]], bar, *inputs), bars, selected
        )
        return
    selects = primitive.selects or any(b._index in selected for b in marked)
    totals: list[Tracer | None] = [None] * len(operands)
    if primitive.transpose_onto is not None:
        totals = taken_totals(bars, operands, dependent)
        results = primitive.transpose_onto(totals, bar, *inputs)
    else:
        results = primitive.transpose(bar, *inputs)
    for i, total, result in zip(operands, totals, results, strict=True):
        if result is not None and i in dependent:
            part = as_tracer(recorder, result)
            if selects and (total is None or total._index in selected):
                selected.add(part._index)
            accumulate(bars, selected, i, part)


def taken_totals(bars: Cotangents, operands: Sequence[int], dependent: set[int]) -> list[Tracer | None]:
    """For each operand what has reached it, taken out of `bars`; once for one that is given twice."""
    return [bars.pop(i, None) if i in dependent else None for i in operands]


def add_into(recorder: Recorder, index: int, total: object, bars: Cotangents, selected: set[int]) -> None:
    """Replace what has reached a value by `total`, to which a primitive has added a part."""
    before = bars[index]
    bars[index] = after = as_tracer(recorder, total)
    if before._index in selected:
        selected.add(after._index)


def accumulate(bars: Cotangents, selected: set[int], index: int, bar: Tracer) -> None:
    """Add a cotangent to what has reached a value so far."""
    before = bars.get(index)
    bars[index] = total = added(before, bar)
    if before is not None and before._index in selected and bar._index in selected:
        selected.add(total._index)


def transpose_program(linear: Program, n_fixed: int) -> Program:
    """``fixed, cotangents of the outputs -> cotangents of the linear inputs`` (zeros, never None)."""
    with transforming(linear, "transpose") as recorder:
        fixed = inputs_of(recorder, linear.inputs[:n_fixed])
        entries = inputs_of(recorder, linear.inputs[n_fixed:])
        cotangents = [recorder.input(atom.aval.strong) for atom in linear.outputs]
        flags = [k >= n_fixed for k in range(len(linear.inputs))]
        exits = inline(recorder, parted(linear, flags), [*fixed, *entries])
        bars = record_transpose(recorder, entries, exits, cotangents)
        outs = instantiated(recorder, linear.inputs[n_fixed:], bars)
        return recorder.program([t._index for t in [*fixed, *cotangents]], outs)


def instantiated(recorder: Recorder, variables: Sequence[Var], bars: Sequence[Any]) -> list[int]:
    """The indices of the cotangents, zeros where they are None."""
    return [
        recorder.index_of(zeros_like(recorder, v.aval.strong) if bar is None else bar)
        for v, bar in zip(variables, bars, strict=True)
    ]


def gradient_program(program: Program, active: Sequence[bool]) -> Program:
    """``inputs -> outputs, gradients of the first output by the active inputs``, in one Program."""
    with transforming(program, "grad") as recorder:
        inputs, tangents, outputs, dots = record_tangents(recorder, program, active)
        grads: list[Any] = [None] * len(tangents)
        if dots[0] is not None:
            seed = program.outputs[0].aval
            one = Tracer(recorder, recorder.literal(1, seed.dtype), seed.scalar)
            grads = record_transpose(recorder, tangents, [as_tracer(recorder, dots[0])], [one])
        wanted = [v for v, a in zip(program.inputs, active, strict=True) if a]
        outs = [recorder.index_of(x) for x in outputs] + instantiated(recorder, wanted, grads)
        return recorder.program([t._index for t in inputs], outs)
