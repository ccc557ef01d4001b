"""A loop whose body calls a function of NumPy's or SciPy's is native code, value and gradient.

An operation without a native form would leave the whole loop to Python, at hundreds of times the cost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.passes.kernel import make_kernel
from funcgrad.compile.passes.rewriting.expand import expand
from funcgrad.compile.passes.scheduling.lowerings import NotLowered
from funcgrad.compile.passes.segments import segments_of
from funcgrad.ir.program import Program
from funcgrad.transforms.simplify import simplify_program

from .bodies_of_loops import BODIES, COUNTED, WEIGHTS

TRIPS = 40
SCHUR = "it needs Schur's form of a matrix"
ORDER = "SciPy's C function takes the order as an integer"
BY_PYTHON = {
    "frexp": "the exponent is read from the bits of a number",
    "sqrtm": SCHUR,
    "logm": SCHUR,
    "sylvester": SCHUR,
    "lambertw": "its numbers are complex",
    "zeta": "SciPy has no C function of doubles for it",
    "airy": "SciPy's C function has four results",
    "legendre": ORDER,
    "spline_filter": "its recursions along each axis are SciPy's",
}
"""Functions that leave their loop to Python, and why."""

BY_PYTHON_COUNTED = {"eval_hermite": ORDER}
"""The same of those that are given the number of the trip."""

NO_RULE = {"struve": "its derivative is not known, so it takes no traced value"}


def reasons_of(step: Callable[[Any, Any], Any]) -> set[str]:
    """Why the loop that repeats a step, or its gradient, is not native; nothing where both are."""

    def loss(c: Any) -> Any:
        for k in range(TRIPS):
            c = step(k, c)
        return np.sum(c * WEIGHTS)

    program = simplify_program(expand(fg.jit(loss).specialized(WEIGHTS).program))
    reasons = [] if is_lowered(program) else segments_of(program)[1]
    # The gradient's kernel has the loop of the value in it: that is the one which is built.
    return {
        reason.words for reason in [*reasons, *fg.jit(fg.grad(loss)).specialized(WEIGHTS).executable.reasons]
    }


def is_lowered(program: Program) -> bool:
    """Whether all of a Program is one kernel."""
    try:
        make_kernel(program)
    except NotLowered:
        return False
    return True


@pytest.mark.at_length
@pytest.mark.parametrize("name", [name for name in BODIES if name not in NO_RULE])
def test_a_loop_stays_native(name: str) -> None:
    assert bool(reasons_of(lambda _, c: BODIES[name](c))) == (name in BY_PYTHON)


@pytest.mark.at_length
@pytest.mark.parametrize("name", COUNTED)
def test_a_loop_that_counts_stays_native(name: str) -> None:
    assert bool(reasons_of(COUNTED[name])) == (name in BY_PYTHON_COUNTED)
