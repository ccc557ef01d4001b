"""Reverse mode in one pass gives the Program that linearizing, transposing and simplifying gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.api.calling.calls import Traced
from funcgrad.ir.check import check_program
from funcgrad.ir.program import Program
from funcgrad.ir.steps import Steps
from funcgrad.transforms.simplify import simplify_program
from funcgrad.transforms.transpose import gradient_program

X = np.array([0.3, 0.7, 1.1])


def repeated(x: Any) -> Any:
    y = x
    for _ in range(4):
        y = np.sin(y) * 1.5 + np.sin(y) * x
    return np.sum(y * y)


def written(x: Any) -> Any:
    y = np.zeros(3)
    for k in range(3):
        y[k] = np.sin(x[k]) * 2.0 * x[0]
    return np.sum(y**3)


def selected(x: Any) -> Any:
    safe = np.where(x > 0.5, x, 1.0)
    return np.sum(np.where(x > 0.5, np.log(safe), 0.0)) + np.max(x) + np.sum(np.maximum(x, 0.4) * np.sqrt(x))


def idle(x: Any) -> Any:
    return np.sum((x * 1.0 + 0.0)[:].reshape(3).T.astype(float) / 1.0)


def with_several_results(x: Any) -> Any:
    m = np.outer(x, x) + np.eye(3)
    sign, size = np.linalg.slogdet(m)
    return sign * size + np.sum(np.linalg.solve(m, x))


def with_a_loop(x: Any) -> Any:
    return np.sum(fg.scan(lambda c, r: (np.sin(c) + r, c * r), x, np.ones((4, 3)))[1]) + fg.cond(
        x[0] > 0.5, np.sin, np.cos, x[1]
    )


def evaluated_meanwhile(x: Any) -> Any:
    y = np.exp(x)
    while np.sum(y) > 1.0:
        y = y * 0.5 * np.tanh(y)
    return np.sum(y)


def constant(x: Any) -> Any:
    return np.sum(np.floor(x)) + 0.0 * 3.0


def with_numbers(x: Any) -> Any:
    a = np.float64(2.0) * np.ones(3)
    return np.sum(a * x + np.arange(3.0) @ x) + np.mean(x) ** 2


FUNCTIONS = [
    repeated,
    written,
    selected,
    idle,
    with_several_results,
    with_a_loop,
    evaluated_meanwhile,
    constant,
    with_numbers,
]


@pytest.fixture
def in_many_passes(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Program, Program]]:
    """Pairs of the Program made in one pass and that made in many, for each gradient that is asked for."""
    pairs = []
    original = Traced.gradient

    def both(self: Traced, active: Any, *, keeps_value: bool) -> Program:
        made = original(self, active, keeps_value=keeps_value)
        whole = gradient_program(self.program, (*active, *[False] * (len(self.operands) - len(active))))
        if not keeps_value:
            whole = Program(whole.inputs, whole.captured, whole.equations, whole.outputs[1:], whole.name)
        pairs.append((made, self.finished(whole)))
        return made

    monkeypatch.setattr(Traced, "gradient", both)
    return pairs


@pytest.mark.parametrize("transform", [fg.grad, fg.value_and_grad])
@pytest.mark.parametrize("f", FUNCTIONS)
def test_one_pass_gives_the_program_of_many(
    f: Callable[[Any], Any], transform: Callable[..., Any], in_many_passes: list[tuple[Program, Program]]
) -> None:
    transform(f)(X)
    assert in_many_passes
    for made, expected in in_many_passes:
        check_program(made)
        assert made.text() == expected.text()


@pytest.mark.parametrize("f", FUNCTIONS)
def test_nothing_becomes_an_equation_before_somebody_looks(
    f: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = fg.grad(f)(X)
    asked = []
    original = Steps.parts
    monkeypatch.setattr(Steps, "parts", lambda self: (asked.append(self), original(self))[1])

    def again(x: Any) -> Any:
        return f(x)

    np.testing.assert_array_equal(fg.grad(lambda x: again(x) * 1.0)(X), expected)
    writes = {"written", "with_a_loop"}
    assert not asked or f.__name__ in writes


def test_evaluated_results_are_the_same_whichever_walk_it_is() -> None:
    program = fg.make_program(fg.value_and_grad(repeated))(X)
    first = fg.value_and_grad(repeated)(X)
    for got, expected in zip((first[0], first[1]), program(X), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_a_rule_that_reads_an_array_reads_it_for_each_program() -> None:
    factor = np.array([1.0, 2.0, 3.0])

    @fg.custom_jvp
    def f(x: Any) -> Any:
        return np.sum(x)

    @f.defjvp
    def f_jvp(primals: Any, tangents: Any) -> Any:
        return f(primals[0]), np.sum(tangents[0] * factor)

    np.testing.assert_array_equal(fg.grad(f)(X), factor)
    factor[:] = 7.0
    np.testing.assert_array_equal(fg.grad(lambda x: 2.0 * f(x))(X), 2.0 * factor)


def test_a_rule_that_is_not_linear_names_the_users_line() -> None:
    @fg.custom_jvp
    def f(x: Any) -> Any:
        return np.sum(x)

    @f.defjvp
    def f_jvp(primals: Any, tangents: Any) -> Any:
        return f(primals[0]), np.sum(tangents[0] * tangents[0])

    with pytest.raises(fg.errors.NotDifferentiableError) as caught:
        fg.grad(lambda x: f(x) * 2.0)(X)
    assert caught.value.source is not None
    assert "test_reverse.py" in caught.value.source.file


def test_cotangents_are_added_in_the_order_of_many_passes(
    in_many_passes: list[tuple[Program, Program]],
) -> None:
    def f(x: Any) -> Any:
        y = x * x + x
        return np.sum(y * y * x + np.power(x, x) + x / y + np.sum(x) * np.sum(x))

    fg.grad(f)(X)
    ((made, expected),) = in_many_passes
    assert made.text() == expected.text()
    assert simplify_program(made).text() == made.text()
