"""Costs of equations: counts that a reader can check by hand, and none that is negative or missing."""

from __future__ import annotations

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.display.costs import Cost, cost_of_program, count_words, size_words

ROW = np.ones(10)
SQUARE = np.eye(10)


def cost(fun, *args) -> Cost:
    return cost_of_program(fg.make_program(fun)(*args))


@pytest.mark.parametrize(
    ("fun", "args", "flops"),
    [
        (lambda x: x + x, (ROW,), 10),
        (np.exp, (ROW,), 150),
        (np.sum, (SQUARE,), 100),
        (lambda a: a @ a, (SQUARE,), 2000),
        (lambda a, x: a @ x, (SQUARE, ROW), 200),
        (np.linalg.cholesky, (SQUARE,), 1000 / 3),
        (lambda a: a.T, (SQUARE,), 0),
        (lambda a: a @ a, (SQUARE + 0j,), 8000),
    ],
)
def test_operations_are_counted(fun, args, flops) -> None:
    assert cost(fun, *args).flops == pytest.approx(flops)


def test_bytes_are_those_of_operands_and_results() -> None:
    found = cost(lambda x, y: x * y, ROW, ROW)
    assert (found.bytes_read, found.bytes_written, found.bytes_moved) == (160, 80, 240)


def test_an_operand_that_is_used_twice_is_read_once() -> None:
    assert cost(lambda x: x * x, ROW).bytes_read == 80


def test_views_move_nothing() -> None:
    assert cost(lambda a: a.reshape(100)[:50], SQUARE) == Cost()


def test_a_scan_costs_its_trips() -> None:
    def total(xs):
        return fg.scan(lambda c, x: (c + x * x, None), 0.0, xs)[0]

    assert cost(total, ROW).flops == 20
    assert cost(total, ROW).complete


def test_a_loop_of_unknown_length_says_so() -> None:
    found = cost(lambda x: fg.while_loop(lambda c: c < 10.0, lambda c: c * 2.0, x), 1.0)
    assert found.flops == 2
    assert not found.complete


def test_a_choice_costs_its_dearest_branch() -> None:
    found = cost(lambda x: fg.cond(x[0] > 0.0, np.exp, np.negative, x), ROW)
    assert 150 <= found.flops < 160


def test_a_custom_rule_costs_its_function_alone() -> None:
    @fg.custom_vjp
    def double(x):
        return 2.0 * x

    double.defvjp(lambda x: (2.0 * x, x), lambda x, c: (2.0 * c * np.exp(x),))
    assert cost(double, ROW).flops == 10


def test_words_for_numbers() -> None:
    assert [size_words(n) for n in (0, 999, 1000, 2_500_000)] == ["0 B", "999 B", "1 kB", "2.5 MB"]
    assert [count_words(n) for n in (0, 1.5e4, 3e12)] == ["0", "15 k", "3 T"]
