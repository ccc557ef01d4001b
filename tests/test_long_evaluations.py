"""Long Programs that are run again and again without being compiled, and the scalars they are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from funcgrad.ir.avals import Aval
from funcgrad.ir.evaluate import runner
from funcgrad.ir.evaluate.runner import evaluate_by_numpy, source_function, walk
from funcgrad.ir.program import Equation, Program, Var
from funcgrad.ops.elementwise.arithmetic import mul, strong_product, strong_zero_mul

SCALAR = Aval((), np.float64)
NUMBERS = [np.float64(x) for x in (0.0, -0.0, 1.5, -2.0, np.inf, np.nan)]


def program_of(operation: Any, *avals: Aval) -> Program:
    """One operation as a Program."""
    inputs = tuple(Var(aval) for aval in avals)
    out = Var(operation.infer(*avals))
    return Program(inputs, (), (Equation(operation, inputs, (out,)),), (out,), "one")


@pytest.mark.parametrize("operation", [strong_zero_mul, strong_product], ids=["zero_mul", "product"])
def test_scalars_have_the_bits_of_arrays(operation: Any) -> None:
    program = program_of(operation, SCALAR, SCALAR)
    of_arrays = program_of(operation, Aval((1,), np.float64), Aval((1,), np.float64))
    run = source_function(program)
    for x in NUMBERS:
        for y in NUMBERS:
            with np.errstate(all="ignore"):
                found = [walk(program, (x, y))[0], run(x, y)[0]]
                (expected,) = walk(of_arrays, (np.array([x]), np.array([y])))
            assert [np.shape(z) for z in found] == [(), ()]
            assert [np.float64(z).tobytes() for z in found] == [expected.tobytes()] * 2


@pytest.mark.parametrize("operation", [strong_zero_mul, strong_product], ids=["zero_mul", "product"])
def test_a_scalar_beside_an_array_gives_an_array(operation: Any) -> None:
    program = program_of(operation, SCALAR, Aval((2,), np.float64))
    args = (np.float64(0.0), np.array([3.0, -4.0]))
    for out in (walk(program, args)[0], source_function(program)(*args)[0]):
        np.testing.assert_array_equal(out, [0.0, 0.0])


def test_a_long_program_becomes_a_function_with_the_same_bits() -> None:
    inputs = (Var(SCALAR), Var(SCALAR))
    x, equations = inputs[0], []
    for _ in range(runner.SHORT + 1):
        out = Var(SCALAR)
        equations.append(Equation(mul, (x, inputs[1]), (out,)))
        x = out
    program = Program(inputs, (), tuple(equations), (x,), "long")
    args = np.float64(0.3), np.float64(1.0001)
    runs = [evaluate_by_numpy(program, args)[0] for _ in range(runner.WALKS_OF_LONG + 2)]
    assert isinstance(program._runner, runner.Runner)
    assert program._runner._source_function is not None
    assert len({np.float64(z).tobytes() for z in runs}) == 1
