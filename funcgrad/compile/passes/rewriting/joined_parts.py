"""Parts that are added to zeros one after the other, where no two overlap: they are put side by side.

The cotangent of an array that is read column by column is such a sum. Side by side, each part is written by
the loop that makes it, and neither zeros nor sums with them are: those are a pass over memory for each part.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from funcgrad.compile.passes.rewriting.uses import count_reads
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ops.arrays.movement import Concatenate
from funcgrad.ops.arrays.slicing import AddToSlice, Pad
from funcgrad.ops.arrays.structure import Broadcast, Reshape
from funcgrad.ops.elementwise.arithmetic import add
from funcgrad.transforms.control.updates import has_any
from funcgrad.types import AnyPrimitive, Index

FEWEST = 4096
"""Elements from which a pass over memory is worth leaving out; what is shorter stays in the nearest cache."""

Span = tuple[int, int]
"""Where a part begins along the axis, and how long it is."""


def joined_parts(program: Program) -> Program:
    """An equal Program in which sums of parts that do not overlap are arrays side by side."""
    if not has_any(program.equations, (AddToSlice,)):
        return program
    uses = count_reads(program.equations, program.outputs)
    makers = {e.outputs[0]: e for e in program.equations if isinstance(e.primitive, Pad | AddToSlice)}
    inner = {e.inputs[0] for e in program.equations if isinstance(e.primitive, AddToSlice)}
    found: dict[Equation, Sequence[Equation]] = {}
    for v, e in makers.items():
        is_last = isinstance(e.primitive, AddToSlice) and (uses.get(v) != 1 or v not in inner)
        if is_last and v.aval.size >= FEWEST and v.aval.dtype.kind in "fc":
            chain = chain_to(e, makers, uses)
            joined = side_by_side(chain)
            if joined:
                found.update(dict.fromkeys(chain[:-1], ()))
                found[e] = joined
    if not found:
        return program
    equations = tuple([new for e in program.equations for new in found.get(e, (e,))])
    return Program(program.inputs, program.captured, equations, program.outputs, program.name)


def chain_to(last: Equation, makers: Mapping[Any, Equation], uses: Mapping[Any, int]) -> list[Equation]:
    """The equations from the first part in zeros to the last addition; empty if it begins with no zeros."""
    chain = [last]
    while not isinstance(chain[-1].primitive, Pad):
        before = makers.get(chain[-1].inputs[0])
        if before is None or uses.get(before.outputs[0]) != 1:
            return []
        chain.append(before)
    return chain[::-1]


def side_by_side(chain: Sequence[Equation]) -> list[Equation]:
    """The equations that make the same of the parts; none where two overlap, or lie along several axes."""
    if not chain:
        return []
    out = chain[-1].outputs[0]
    axes = {a for e in chain for a in partial_axes(e.primitive.index, out.aval.shape)}
    if len(axes) != 1:
        return []
    (axis,) = axes
    made: list[Equation] = []
    spans: dict[Span, Atom] = {}
    for e in chain:
        part, span = e.inputs[-1], span_of(e.primitive.index[axis])
        if span is None or part.aval.dtype != out.aval.dtype:
            return []
        shape = (*out.aval.shape[:axis], span[1], *out.aval.shape[axis + 1 :])
        if part.aval.size != math.prod(shape):
            return []
        part = equation_for(made, e, Reshape(shape), part) if part.aval.shape != shape else part
        spans[span] = equation_for(made, e, add, spans[span], part) if span in spans else part
    pieces = filled(made, chain[0], spans, axis, out.aval)
    if pieces:
        made.append(Equation(Concatenate(axis), tuple(pieces), (out,), chain[-1].source))
    return made if pieces else []


def partial_axes(index: Index, shape: Sequence[int]) -> list[int]:
    """The axes along which a part is not all of the array."""
    return [a for a, (entry, n) in enumerate(zip(index, shape, strict=True)) if entry != (0, n, 1)]


def span_of(entry: Index) -> Span | None:
    """Where a part lies along the axis; None where there are elements of others between its own."""
    if not isinstance(entry, tuple):
        return entry, 1
    start, size, step = entry
    return (start, size) if size and step == 1 else None


def filled(
    made: list[Equation], first: Equation, spans: Mapping[Span, Atom], axis: int, aval: Aval
) -> list[Atom]:
    """The parts in their order, with zeros where there is none; empty where two overlap."""
    pieces: list[Atom] = []
    stop = 0
    for start, size in [*sorted(spans), (aval.shape[axis], 0)]:
        if start < stop:
            return []
        if start > stop:
            zeros = Broadcast((*aval.shape[:axis], start - stop, *aval.shape[axis + 1 :]), ())
            zero = Literal(aval.dtype.type(0), Aval((), np.dtype(aval.dtype)))
            pieces.append(equation_for(made, first, zeros, zero))
        if size:
            pieces.append(spans[start, size])
        stop = start + size
    return pieces


def equation_for(made: list[Equation], of: Equation, primitive: AnyPrimitive, *inputs: Atom) -> Var:
    """The result of a new equation, which has the line of another."""
    out = Var(primitive.inferred(tuple([x.aval for x in inputs])))
    made.append(Equation(primitive, inputs, (out,), of.source))
    return out
