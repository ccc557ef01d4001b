"""What a hot un-jitted call costs, in calls of Python functions: those can be counted, and time is noise."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import source
from funcgrad.ir.avals import aval_of
from funcgrad.tracing.recorder import Recorder


def python_calls(call: Callable[[], Any]) -> int:
    """How many Python functions a call runs, once it is warm."""
    for _ in range(5):
        call()
    entered = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal entered
        entered += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(before)
    return entered


ALONE = """
import numpy as np, funcgrad as fg
from funcgrad.ir.evaluate.handing_up import PROMOTION
from tests.test_hot_calls import python_calls
PROMOTION.first = 1e9  # a busy machine takes any time
x = np.linspace(0.0, 1.0, 10)
gradient = fg.grad(lambda x: np.sum(np.sin(x) * x + 1.0))
print(python_calls(lambda: gradient(x)))
"""


def test_four_operations_take_few_python_calls() -> None:
    """In a process of its own: where classes of the user's have operators, those of all functions ask."""
    root = Path(__file__).parent.parent
    found = subprocess.run(
        [sys.executable, "-c", ALONE], cwd=root, capture_output=True, text=True, check=True
    )
    assert int(found.stdout) <= 26


@pytest.mark.parametrize(
    ("operation", "most"),
    [
        (lambda x: x * x, 1),
        (lambda x: x + 1.0, 1),
        (lambda x: 2.0 / x, 3),
        (lambda x: -x, 2),
        (np.sin, 1),
        (np.sum, 2),
        (lambda x: x < 0.5, 1),
    ],
)
def test_an_operation_is_recorded_in_few_python_calls(operation: Callable[[Any], Any], most: int) -> None:
    x = np.linspace(0.0, 1.0, 10)
    fg.grad(lambda x: np.sum(x * x))(x)  # the first gradient gives tracers their operators
    with Recorder("f", "grad") as trace:
        tracer = trace.input(aval_of(x), x)
        assert python_calls(lambda: operation(tracer)) == most + 2


def test_equal_offsets_in_two_functions_are_two_places() -> None:
    def f(x: Any) -> Any:
        return x * x

    def g(x: Any) -> Any:
        return x * x

    for _ in range(2):
        for function in (f, g, f):
            (equation,) = fg.make_program(function)(np.ones(3)).equations
            assert equation.source is not None
            assert (equation.source.function, equation.source.text.strip()) == (
                function.__name__,
                "return x * x",
            )


def test_places_are_forgotten_when_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MOST_PLACES", 5)
    scope: dict[str, Any] = {}
    exec("def f(x):\n" + "    x = x + x\n" * 40 + "    return x", scope)
    program = fg.make_program(scope["f"])(np.ones(3))
    lines = [equation.source.line for equation in program.equations if equation.source is not None]
    assert lines == list(range(2, 42))
    assert len(source.PLACES) <= 5


def test_a_package_that_is_taken_in_changes_whose_line_it_is() -> None:
    """What was found before is not kept when other packages become the user's."""
    fg.grad(lambda x: np.sum(x * x))(np.ones(3))
    assert source.PLACES
    for forget in fg.config.WHEN_PACKAGES_CHANGE:
        forget()
    assert not source.PLACES


def test_a_function_of_numpys_that_the_users_code_asks_for_is_recorded_at_its_line() -> None:
    """What is called in its place stands between the record and the line."""
    made: list[Any] = []

    def inner(namespace: Any, x: Any) -> Any:
        made.append(namespace.tanh(x))
        return made[-1]

    def outer(x: Any) -> Any:
        return np.sum(inner(np, x))

    gradient = fg.grad(outer)
    for _ in range(2):
        np.testing.assert_allclose(gradient(np.zeros(3)), np.ones(3))
    assert made[-1].source.function == "inner"
    assert made[-1].source.text.strip() == "made.append(namespace.tanh(x))"
