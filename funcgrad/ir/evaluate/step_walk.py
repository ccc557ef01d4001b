"""Evaluating steps one after the other, without making equations of them first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ir.evaluate.buffers import Buffers, exposed
from funcgrad.ir.evaluate.owning import owning
from funcgrad.ir.steps import Steps, as_source


def writes_over(steps: Steps) -> bool:
    """Whether there are operations that may take the memory of their first operand for their result."""
    return any(primitive.overwrites for primitive in steps.primitives)


class StepWalk:
    """A run of the steps by NumPy: each value is forgotten after its last use."""

    __slots__ = ("_evaluators", "_finishes", "_steps")

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._evaluators = {primitive: primitive.evaluator() for primitive in steps.primitives}
        made_here = {i - s if type(s := steps.steps[i]) is int else i for i in steps.outputs}
        aliasing = {primitive for primitive in steps.primitives if primitive.aliases}
        # Most Programs have no views: then nothing but the outputs is looked at.
        among = steps.live if aliasing else sorted(i for i in made_here if type(steps.steps[i]) is tuple)
        sketch = steps.sketch([i for i in among if i in made_here or steps.steps[i][0] in aliasing])
        self._finishes = owning(sketch, exposed(sketch, Buffers(sketch)))

    def __call__(self, args: Sequence[Any]) -> tuple[Any, ...]:
        given = self._steps
        # One more than there are steps: it is what dies where nothing does.
        values: list[Any] = [None] * (len(given.steps) + 1)
        for i, x in (*zip(given.inputs, args, strict=True), *given.literals.items(), *given.captured.items()):
            values[i] = x
        i = 0
        steps, evaluators = given.steps, self._evaluators
        try:
            with np.errstate(all="ignore"):
                for i, dead in zip(given.live, given.dead, strict=True):
                    step = steps[i]
                    if len(step) == 3:
                        primitive, j, k = step
                        out = evaluators[primitive](values[j], values[k])
                    elif len(step) == 2:
                        primitive, j = step
                        out = evaluators[primitive](values[j])
                    else:
                        primitive, *operands = step
                        out = evaluators[primitive](*[values[j] for j in operands])
                    if isinstance(dead, int):
                        values[i] = out
                        values[dead] = None
                        continue
                    if primitive.multiple:
                        values[i : i + len(out)] = out
                    else:
                        values[i] = out
                    for j in dead:
                        values[j] = None
        except Exception as error:
            source = as_source(given.sources[i])
            if source is not None:
                error.add_note(f"while {steps[i][0].name} was evaluated for\n{source.caret()}")
            raise
        results = [values[i] for i in given.outputs]
        finishes = zip(results, self._finishes, strict=True)
        return tuple([finish(x, args) if finish else x for x, finish in finishes])
