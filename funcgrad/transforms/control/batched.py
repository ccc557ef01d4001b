"""Batches of steps: over a batch axis 0 of some inputs, and with examples that are finished before others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from funcgrad.ops.arrays.structure import broadcast
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.families import aval
from funcgrad.tracing.primitive import Flags
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.batching import record_batched
from funcgrad.transforms.control.forward import indices
from funcgrad.transforms.control.step import Parts, Step, either
from funcgrad.transforms.replay import transforming
from funcgrad.transforms.simplify import simplify_program
from funcgrad.types import Array


class BatchedStep(NamedTuple):
    """A step over a batch axis."""

    step: Step
    carry: Flags
    """Which parts of the carry have the axis: those given, and those that get it on the way."""
    ys: Flags


def batched_step(step: Step, size: int, batched: Parts[bool]) -> BatchedStep:
    """The step over a batch axis 0 of the flagged inputs."""
    while True:
        with transforming(step.program, "vmap") as recorder:
            inputs = [
                recorder.input(v.aval.with_shape((size, *v.aval.shape)) if flag else v.aval)
                for v, flag in zip(step.program.inputs, batched.flat, strict=True)
            ]
            outs, flags = record_batched(recorder, step.program, size, inputs, batched.flat)
            carry, ys = step.results(flags)
            grown = either(batched.carry, carry)
            if grown == batched.carry:
                wanted = [*grown, *ys]
                full = [
                    with_axis(x, size) if want and not flag else x
                    for x, want, flag in zip(outs, wanted, flags, strict=True)
                ]
                program = recorder.program(indices(inputs), [recorder.index_of(x) for x in full])
                return BatchedStep(Step(simplify_program(program), step.n_carry, step.n_xs), grown, ys)
        batched = batched._replace(carry=grown)


def with_axis(x: object, size: int) -> Array:
    """`x` repeated along a new axis 0."""
    shape = aval(x).shape
    return broadcast(x, (size, *shape), tuple(range(1, len(shape) + 1)))


def kept_where(mask: Tracer, new: Sequence[Any], old: Sequence[Any], kept: Collection[int]) -> list[Any]:
    """The new values of the examples where the mask is set, the old ones of the others.

    Those at the places `kept` are the old ones there already.
    """
    return [
        x if x is y or k in kept else where(broadcast(mask, aval(x).shape, (0,)), x, y)
        for k, (x, y) in enumerate(zip(new, old, strict=True))
    ]
