"""Reverse mode: turns a linear Program into its transpose. Knows nothing about forward values.

Cotangents that are structurally zero stay None. A cotangent some of whose elements a selection set to
zero is marked, and the mark follows it: see `funcgrad.ops.arithmetic.StrongZeroMul`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad.ir.program import Equation, Program, Var
from funcgrad.ops.families import added
from funcgrad.tracing.primitive import Linear
from funcgrad.tracing.recorder import NOWHERE, Recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.linearize import linearize_program, zeros_like
from funcgrad.transforms.replay import Env, as_tracer, inline, inputs_of, read, replay, transforming

Cotangents = dict[Var, Any]


def record_transpose(
    recorder: Recorder, linear: Program, fixed: Sequence[Any], cotangents: Sequence[Any]
) -> list[Any]:
    """Record the transpose of a Program linear in the inputs after `fixed`.

    `cotangents` has one entry (or None) per output; the result one per linear input.
    """
    n_fixed = len(fixed)
    linear_inputs = linear.inputs[n_fixed:]
    env: Env = dict(zip(linear.inputs[:n_fixed], fixed, strict=True))
    env.update(linear.captured)
    known, dependent = split_by_dependence(linear, linear_inputs)
    replay(recorder, known, env)
    bars: Cotangents = {}
    selected = recorder.selected = set() if recorder.selected is None else recorder.selected
    for atom, cotangent in zip(linear.outputs, cotangents, strict=True):
        if cotangent is not None and isinstance(atom, Var):
            accumulate(bars, selected, atom, as_tracer(recorder, cotangent))
    outer = recorder.location
    for equation in reversed(dependent):
        recorder.location = equation.source or NOWHERE
        transpose_equation(equation, env, bars, selected)
    recorder.location = outer
    return [bars.get(v) for v in linear_inputs]


def split_by_dependence(program: Program, entries: Sequence[Var]) -> tuple[list[Equation], list[Equation]]:
    """The equations that do not depend on `entries`, and those that do."""
    reached: set[Any] = set(entries)
    known: list[Equation] = []
    dependent: list[Equation] = []
    for equation in program.equations:
        if reached.isdisjoint(equation.inputs):
            known.append(equation)
        else:
            dependent.append(equation)
            reached.update(equation.outputs)
    return known, dependent


def transpose_equation(equation: Equation, env: Env, bars: Cotangents, selected: set[int]) -> None:
    """Add the cotangents of an equation's linear inputs to `bars`."""
    primitive = equation.primitive
    outs = [bars.pop(v, None) for v in equation.outputs]
    if all(bar is None for bar in outs):
        return
    inputs = [
        Linear(atom.aval) if isinstance(atom, Var) and atom not in env else read(env, atom)
        for atom in equation.inputs
    ]
    if primitive.transpose_into is not None and bars.get(equation.inputs[0]) is not None:  # type: ignore[arg-type]
        add_into(equation, outs[0], inputs, bars, selected)
        return
    results = primitive.transpose(outs if primitive.multiple else outs[0], *inputs)
    marked = primitive.selects or any(bar is not None and bar._index in selected for bar in outs)
    for atom, bar in zip(equation.inputs, results, strict=True):
        if bar is not None:
            if marked:
                selected.add(bar._index)
            accumulate(bars, selected, atom, bar)  # type: ignore[arg-type]


def add_into(equation: Equation, bar: Any, inputs: Sequence[Any], bars: Cotangents, selected: set[int]) -> None:
    """Let the primitive add its only cotangent to what has reached its first input, without zeros to carry it."""
    v: Any = equation.inputs[0]
    before = bars[v]
    bars[v] = total = equation.primitive.transpose_into(before, bar, *inputs)
    if before._index in selected:
        selected.add(total._index)


def accumulate(bars: Cotangents, selected: set[int], v: Var, bar: Tracer) -> None:
    """Add a cotangent to what has reached the variable so far."""
    before = bars.get(v)
    bars[v] = total = added(before, bar)
    if before is not None and before._index in selected and bar._index in selected:
        selected.add(total._index)


def transpose_program(linear: Program, n_fixed: int) -> Program:
    """``fixed, cotangents of the outputs -> cotangents of the linear inputs`` (zeros, never None)."""
    with transforming(linear, "transpose") as recorder:
        fixed = inputs_of(recorder, linear.inputs[:n_fixed])
        cotangents = [recorder.input(atom.aval.strong) for atom in linear.outputs]
        bars = record_transpose(recorder, linear, fixed, cotangents)
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
    parts = linearize_program(program, active, 1)
    with transforming(program, "grad") as recorder:
        inputs = inputs_of(recorder, program.inputs)
        values = inline(recorder, parts.primal, inputs)
        n_outputs = len(program.outputs)
        outputs, residuals = values[:n_outputs], values[n_outputs:]
        bars: list[Any] = [None] * sum(parts.has_tangent)
        if parts.has_tangent[0]:
            bars[0] = as_tracer(recorder, program.outputs[0].aval.dtype.type(1))
        grads = record_transpose(recorder, parts.linear, residuals, bars)
        wanted = [v for v, a in zip(program.inputs, active, strict=True) if a]
        outs = [recorder.index_of(x) for x in outputs] + instantiated(recorder, wanted, grads)
        return recorder.program([t._index for t in inputs], outs)
