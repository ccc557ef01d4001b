"""Batching: a Program that maps over a leading axis of some of its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad.ir.program import Program
from funcgrad.ops.arrays.structure import broadcast
from funcgrad.tracing.recorder import NOWHERE, Recorder
from funcgrad.transforms.replay import Env, as_tracer, read, read_tracer, start, transforming


def record_batched(
    recorder: Recorder, program: Program, size: int, inputs: Sequence[Any], batched: Sequence[bool]
) -> tuple[list[Any], list[bool]]:
    """Record the Program over a batch axis 0; returns outputs and which of them have the axis."""
    env: Env = start(program, inputs)
    mapped = {v for v, flag in zip(program.inputs, batched, strict=True) if flag}
    outer = recorder.location
    for equation in program.equations:
        recorder.location = equation.source or NOWHERE
        values = [read_tracer(recorder, env, atom) for atom in equation.inputs]
        flags = tuple([atom in mapped for atom in equation.inputs])
        if any(flags):
            out, out_flags = equation.primitive.batch(size, values, flags)
        else:
            out, out_flags = recorder.record(equation.primitive, values), False
        if not equation.primitive.multiple:
            out, out_flags = (out,), (out_flags,)
        elif isinstance(out_flags, bool):
            out_flags = (out_flags,) * len(out)
        for v, x, flag in zip(equation.outputs, out, out_flags, strict=True):
            env[v] = x
            if flag:
                mapped.add(v)
    recorder.location = outer
    return [read(env, a) for a in program.outputs], [a in mapped for a in program.outputs]


def batch_program(program: Program, size: int, batched: Sequence[bool]) -> Program:
    """The Program with a batch axis 0 of `size` on the flagged inputs and on every output."""
    with transforming(program, "vmap") as recorder:
        inputs = [
            recorder.input(v.aval.with_shape((size, *v.aval.shape)) if flag else v.aval)
            for v, flag in zip(program.inputs, batched, strict=True)
        ]
        outputs, flags = record_batched(recorder, program, size, inputs, batched)
        outs = []
        for output, flag in zip(outputs, flags, strict=True):
            x = as_tracer(recorder, output)
            shape = x.aval.shape
            full = x if flag else broadcast(x, (size, *shape), tuple(range(1, len(shape) + 1)))
            outs.append(full._index)
        return recorder.program([t._index for t in inputs], outs)


def mapped_outputs(program: Program, batched: Sequence[bool]) -> list[bool]:
    """Which outputs depend on a flagged input, and so may differ between examples."""
    reached: set[Any] = {v for v, flag in zip(program.inputs, batched, strict=True) if flag}
    for equation in program.equations:
        if not reached.isdisjoint(equation.inputs):
            reached.update(equation.outputs)
    return [atom in reached for atom in program.outputs]
