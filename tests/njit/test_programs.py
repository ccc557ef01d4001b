"""Functions of Numba's: values are those of their machine code, gradients are its difference quotients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg

from .programs import CASES

NAMES = [f"{case[0].__name__}-{case[2]}" for case in CASES]
Case = tuple[Any, tuple[Any, ...], int]


def machine_code(case: Case) -> Any:
    """The value that Numba's machine code gives."""
    function, args, _ = case
    return function(*args)


def difference(case: Case, direction: Any) -> Any:
    """The derivative of the machine code in a direction."""
    function, args, argnum = case

    def along(step: float) -> Any:
        moved = args[argnum] + step * direction
        return function(*[moved if k == argnum else x for k, x in enumerate(args)])

    return (along(1e-6) - along(-1e-6)) / 2e-6


@pytest.mark.at_length
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_values_and_gradients_are_those_of_the_machine_code(case: Case) -> None:
    function, args, argnum = case
    value, gradient = fg.value_and_grad(function, argnum)(*args)
    np.testing.assert_allclose(value, machine_code(case), rtol=1e-10)
    direction = np.random.default_rng(1).normal(size=np.shape(args[argnum]))
    found = np.sum(gradient * direction)
    np.testing.assert_allclose(found, difference(case, direction), rtol=2e-5, atol=1e-6)


@pytest.mark.at_length
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_traced_function_may_call_one(case: Case) -> None:
    function, args, argnum = case

    def calling(x: Any) -> Any:
        given = [2.0 * x - args[argnum] if k == argnum else y for k, y in enumerate(args)]
        return np.sin(function(*given))

    x = args[argnum]
    expected = np.cos(machine_code(case)) * 2.0 * np.asarray(fg.grad(function, argnum)(*args))
    np.testing.assert_allclose(fg.grad(calling)(x), expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(fg.jit(calling)(x), np.sin(machine_code(case)), rtol=1e-9, atol=1e-10)


def test_explain_names_the_lines_of_the_source() -> None:
    function, args, _ = CASES[1]
    first = function.py_func.__code__.co_firstlineno
    report = fg.explain(fg.grad(function))(*args).statements
    assert any(line.startswith(f"programs.py:{first + 4} ") for line in report), report
