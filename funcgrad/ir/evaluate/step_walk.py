"""Evaluating steps one after the other, without making equations of them first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ir.collector import collector_paused
from funcgrad.ir.evaluate.buffers import Buffers, exposed
from funcgrad.ir.evaluate.owning import owning
from funcgrad.ir.steps import Steps, as_source

__all__ = ["StepWalk", "writes_over"]


def writes_over(steps: Steps) -> bool:
    """Whether there are operations that may take the memory of their first operand for their result."""
    return any(steps.steps[i][0].overwrites for i in steps.live)


class StepWalk:
    """A run of the steps by NumPy: each value is forgotten after its last use."""

    __slots__ = ("_finishes", "_lines", "_steps")

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        with collector_paused(len(steps.live)):
            self._lines = lines_of(steps)
        made_here = {i - s if type(s := steps.steps[i]) is int else i for i in steps.outputs}
        sketch = steps.sketch([i for i in steps.live if steps.steps[i][0].aliases or i in made_here])
        self._finishes = owning(sketch, exposed(sketch, Buffers(sketch)))

    def __call__(self, args: Sequence[Any]) -> tuple[Any, ...]:
        steps = self._steps
        values: list[Any] = [None] * len(steps.steps)
        for i, x in (*zip(steps.inputs, args, strict=True), *steps.literals.items(), *steps.captured.items()):
            values[i] = x
        i = 0
        try:
            with np.errstate(all="ignore"):
                for i, several, run, operands, dead in self._lines:
                    if several:
                        values[i : i + several] = run(*[values[j] for j in operands])
                    else:
                        values[i] = run(*[values[j] for j in operands])
                    for j in dead:
                        values[j] = None
        except Exception as error:
            source = as_source(steps.sources[i])
            if source is not None:
                error.add_note(f"while {steps.steps[i][0].name} was evaluated for\n{source.caret()}")
            raise
        results = [values[i] for i in steps.outputs]
        finishes = zip(results, self._finishes, strict=True)
        return tuple([finish(x, args) if finish else x for x, finish in finishes])


def lines_of(steps: Steps) -> list[tuple[Any, ...]]:
    """For each operation its number, its results where it has several, what evaluates it, its operands, and
    the values that nothing needs any more."""
    used = set(steps.outputs)
    evaluators: dict[Any, Any] = {}
    lines = []
    for i in reversed(steps.live):
        primitive, *operands = steps.steps[i]
        run = evaluators.get(primitive)
        if run is None:
            run = evaluators[primitive] = primitive.evaluator()
        several, dead = 0, []
        if primitive.multiple:
            several = steps.count(i)
            dead = [j for j in range(i, i + several) if j not in used]
        for j in operands:
            if j not in used:
                used.add(j)
                dead.append(j)
        lines.append((i, several, run, operands, dead))
    lines.reverse()
    return lines
