"""Forward mode: a Program and its tangents, split into what depends on a tangent and what does not.

`jvp_program` records every equation's `jvp`. `linearize_program` splits that record in two: the primal
Program also returns the *residuals*, the values that cross over; the linear Program maps residuals and
tangents to tangents. Knows nothing about transposition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program, Var
from funcgrad.later import Later
from funcgrad.ops.arrays.structure import broadcast
from funcgrad.ops.families import aval
from funcgrad.tracing.recorder import NOWHERE, Recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.dependence import dependent_indices
from funcgrad.transforms.replay import Env, inputs_of, read, read_tracer, start, transforming, write
from funcgrad.types import Array

spectra = Later("funcgrad.transforms.spectra")


class Linearized(NamedTuple):
    """A Program split at a point."""

    primal: Program
    """inputs -> outputs, residuals"""
    linear: Program
    """residuals, tangents -> tangents of the differentiated outputs that have one"""
    n_residuals: int
    has_tangent: tuple[bool, ...]
    """For each differentiated output, whether it depends on a tangent at all."""


NOTHING: Mapping[Var, Any] = MappingProxyType({})


def record_jvp(
    recorder: Recorder,
    program: Program,
    primals: Sequence[Any],
    tangents: Sequence[Any],
    known: Mapping[Var, Any] = NOTHING,
) -> tuple[list[Any], list[Any]]:
    """Record the Program and its tangents; returns outputs and their tangents (None where zero).

    What is `known` is read where it is, and not as what computes it.
    """
    if any(e.primitive.splits for e in program.equations):
        program = spectra.lifted(program)
    env = start(program, primals)
    dots: Env = {v: t for v, t in zip(program.inputs, tangents, strict=True) if t is not None}
    outer = recorder.location
    for equation in program.equations:
        recorder.location = equation.source or NOWHERE
        values = [read_tracer(recorder, env, atom) for atom in equation.inputs]
        input_dots = [dots.get(atom) for atom in equation.inputs]  # type: ignore[arg-type]
        if all(t is None for t in input_dots):
            write(env, equation, recorder.record(equation.primitive, values))
            env.update({v: known[v] for v in equation.outputs if v in known})
            continue
        out, out_dots = equation.primitive.jvp(values, input_dots)
        write(env, equation, out)
        env.update({v: known[v] for v in equation.outputs if v in known})
        pairs = zip(equation.outputs, out_dots if equation.primitive.multiple else (out_dots,), strict=True)
        dots.update({v: t for v, t in pairs if t is not None})
    recorder.location = outer
    outputs = [read(env, atom) for atom in program.outputs]
    return outputs, [dots.get(atom) for atom in program.outputs]  # type: ignore[arg-type]


def zeros_like(recorder: Recorder, aval: Aval) -> Array:
    """A recorded array of zeros, for a tangent or cotangent that must not be None."""
    zero = Tracer(recorder, recorder.literal(0, aval.dtype), aval.scalar)
    return broadcast(zero, aval.shape, ())


def record_tangents(
    recorder: Recorder, program: Program, active: Sequence[bool]
) -> tuple[list[Tracer], list[Tracer], list[Any], list[Any]]:
    """Inputs, tangents of the active inputs, outputs, and tangents of the outputs, all recorded."""
    inputs = inputs_of(recorder, program.inputs)
    dots = [recorder.input(v.aval.strong) if a else None for v, a in zip(program.inputs, active, strict=True)]
    outputs, out_dots = record_jvp(recorder, program, inputs, dots)
    return inputs, [t for t in dots if t is not None], outputs, out_dots


def jvp_program(program: Program, active: Sequence[bool], n_outputs: int) -> Program:
    """``inputs, tangents of the active inputs -> outputs, tangents of the first n_outputs``.

    Outputs that are not floating-point numbers have no tangent.
    """
    with transforming(program, "jvp") as recorder:
        inputs, tangents, outputs, dots = record_tangents(recorder, program, active)
        full = [
            zeros_like(recorder, aval(out).strong) if dot is None else dot
            for out, dot in zip(outputs[:n_outputs], dots[:n_outputs], strict=True)
            if aval(out).inexact
        ]
        heads = [t._index for t in [*inputs, *tangents]]
        return recorder.program(heads, [recorder.index_of(x) for x in [*outputs, *full]])


def linearize_program(program: Program, active: Sequence[bool], n_outputs: int) -> Linearized:
    """Split the Program; tangents enter through the active inputs, and leave by the first `n_outputs`."""
    with transforming(program, "linearize") as recorder:
        inputs, tangents, outputs, dots = record_tangents(recorder, program, active)
        dots = dots[:n_outputs]
        entries = [t._index for t in tangents]
        exits = [recorder.index_of(t) for t in dots if t is not None]
        residuals = residuals_of(recorder, entries, exits)
        heads = [t._index for t in inputs]
        primal = recorder.program(heads, [*(recorder.index_of(x) for x in outputs), *residuals])
        linear = recorder.program([*residuals, *entries], exits)
    return Linearized(primal, linear, len(residuals), tuple(t is not None for t in dots))


def residuals_of(recorder: Recorder, entries: Sequence[int], exits: Sequence[int]) -> list[int]:
    """The values that the linear part needs and that depend on no tangent, in order.

    What follows from literals alone is not among them: the linear part makes its own, zeros above all.
    """
    steps = recorder.steps
    dependent = dependent_indices(recorder, entries).indices
    literal = literal_indices(recorder) - dependent
    constant = literal.union(index for index, _ in recorder.operands)
    crossing: set[int] = set()
    seen: set[int] = set()
    stack = list(exits)
    while stack:
        index = stack.pop()
        if index not in dependent:
            if index not in constant:
                crossing.add(index)
            continue
        step = steps[index]
        if type(step) is int:
            index -= step
            step = steps[index]
        if index not in seen:
            seen.add(index)
            if type(step) is tuple:
                stack.extend(step[1:])
    return sorted(crossing)


def literal_indices(recorder: Recorder) -> set[int]:
    """The literals, and what follows from literals alone."""
    literal = {index for index, is_literal in recorder.operands if is_literal}
    for index, step in enumerate(recorder.steps):
        if type(step) is tuple and literal.issuperset(step[1:]):
            literal.add(index)
    return literal
