"""What all minima have in common: an implicit solution of the Karush-Kuhn-Tucker system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from funcgrad.scipy.derived import jacobian, value_and_gradient
from funcgrad.scipy.optimize.constraints import NEAR, Limits, active_point, kkt_equations, parameters_of
from funcgrad.scipy.optimize.options import found, report
from funcgrad.scipy.recorded import Closed
from funcgrad.transforms.solved.implicit import Implicit
from funcgrad.transforms.solved.method import Programs
from funcgrad.types import Array, ScipyResult

STATIONARY = 1e-4
"""A point whose gradient is as small as this, relative to the gradient's size or 1, counts as a minimum."""


class Block(NamedTuple):
    """A block of constraints at work: its Program, what it closes over, and its limits."""

    program: Any
    constants: Sequence[Any]
    lower: Any
    upper: Any

    def values(self, x: Array) -> ScipyResult:
        """The function at x."""
        return self.program.evaluate(np.asarray(x, float), *self.constants)[0]

    def jacobian(self, x: Array) -> ScipyResult:
        """Its derivative."""
        return jacobian(self.program).evaluate(np.asarray(x, float), *self.constants)[0]


class Problem(NamedTuple):
    """An objective with its bounds and constraints, in numbers."""

    objective: Any
    constants: Sequence[Any]
    lower: Any
    upper: Any
    blocks: tuple[Block, ...]

    def value_and_gradient(self, x: Array) -> tuple[float, Any]:
        """The objective and its gradient."""
        value, slope = value_and_gradient(self.objective).evaluate(np.asarray(x, float), *self.constants)
        return float(value), slope

    def value(self, x: Array) -> float:
        """The objective alone."""
        return float(self.objective.evaluate(np.asarray(x, float), *self.constants)[0])


@dataclass(frozen=True)
class Minimum(Implicit):
    """A minimum: ``start, parameters``; the Programs are the system, the objective, and the constraints."""

    n_unknowns = 2
    n_facts = 2
    near = NEAR

    def minimized(self, problem: Problem, start: Array) -> ScipyResult:
        """SciPy's result."""
        raise NotImplementedError

    def problem(self, programs: Programs, values: Sequence[Any]) -> Problem:
        """The inputs of the equation as what they mean."""
        _, objective, *blocks = programs
        lower, upper, *rest = values[1:]
        limits, rest = rest[: 2 * len(blocks)], rest[2 * len(blocks) :]
        count = len(objective.inputs) - 1
        constants, rest = rest[:count], rest[count:]
        made = []
        for k, program in enumerate(blocks):
            count = len(program.inputs) - 1
            made.append(Block(program, rest[:count], limits[2 * k], limits[2 * k + 1]))
            rest = rest[count:]
        return Problem(objective, constants, lower, upper, tuple(made))

    def run(self, programs: Programs, values: Sequence[Any]) -> ScipyResult:
        """SciPy's result for these numbers."""
        return self.minimized(self.problem(programs, values), values[0])

    def solve(self, programs: Programs, values: Sequence[Any]) -> Sequence[Any]:
        problem = self.problem(programs, values)
        outcome = self.minimized(problem, values[0])
        x = np.asarray(outcome.x, float).reshape(np.shape(values[0]))
        _, slope = problem.value_and_gradient(x)
        blocks = problem.blocks
        point = active_point(
            x,
            slope,
            (problem.lower, problem.upper),
            np.concatenate([np.zeros(0), *[b.values(x) for b in blocks]]),
            np.concatenate([np.zeros((0, x.size)), *[b.jacobian(x) for b in blocks]]),
            tuple(np.concatenate([np.zeros(0), *side]) for side in self.limits(blocks)),  # type: ignore[arg-type]
            self.near,
        )
        success = bool(outcome.success) and np.all(np.isfinite(x))
        solved = report(success or point.residual <= STATIONARY, success, *counts(outcome))
        return x, point.multipliers, point.sides, point.block_sides, *solved

    @staticmethod
    def limits(blocks: Sequence[Block]) -> tuple[list[Any], list[Any]]:
        """Lower and upper limits of all constraints."""
        return [b.lower for b in blocks], [b.upper for b in blocks]


def counts(outcome: ScipyResult) -> tuple[Any, Any, Any]:
    """Status, iterations and evaluations, as far as SciPy says them."""
    return tuple([outcome.get(key, 0) or 0 for key in ("status", "nit", "nfev")])  # type: ignore[return-value]


class Found(NamedTuple):
    """What is found at a minimum."""

    x: Any
    multipliers: Any
    success: Any
    status: Any
    nit: Any
    nfev: Any


def inputs_and_programs(
    start: Array, objective: Closed, bounds: tuple[Any, Any], blocks: Sequence[Limits]
) -> tuple[list[Any], Programs]:
    """The inputs of the equation, and its Programs."""
    held = tuple([b.function.program for b in blocks])
    programs = (kkt_equations(objective.program, held), objective.program, *held)
    return [start, *parameters_of(bounds, blocks, objective)], programs


def minimum(
    method: Minimum, start: Array, objective: Closed, bounds: tuple[Any, Any], blocks: Sequence[Limits] = ()
) -> Found:
    """The minimum as an equation of the open trace."""
    inputs, programs = inputs_and_programs(start, objective, bounds, blocks)
    x, multipliers, _, _, _, *rest = found(method, programs, inputs)
    return Found(x, multipliers, *rest)
