"""Which steps are evaluated, and what dies where."""

from __future__ import annotations

from types import SimpleNamespace

from funcgrad.ir.avals import Aval
from funcgrad.ir.steps import NOTHING, live_steps, needed_steps

ONE = SimpleNamespace(multiple=False)
PAIR = SimpleNamespace(multiple=True)
NUMBER = Aval((), "float64")


def test_a_value_dies_at_its_last_use() -> None:
    steps = [NUMBER, (ONE, 0), (ONE, 1, 1), (ONE, 0, 2), (ONE, 1)]
    assert live_steps(steps, [3]) == ([1, 2, 3], [NOTHING, 1, (0, 2)])


def test_results_that_nobody_uses_die_at_once() -> None:
    steps = [NUMBER, (PAIR, 0), 1, 2, (ONE, 3)]
    assert live_steps(steps, [4]) == ([1, 4], [(2, 1, 0), 3])


def test_an_output_stays_although_its_neighbours_die() -> None:
    steps = [NUMBER, (PAIR, 0), 1, (PAIR, 0), 1]
    assert live_steps(steps, [2]) == ([1], [(1, 0)])


def test_two_operands_die_together_and_one_that_is_given_twice_dies_once() -> None:
    steps = [NUMBER, NUMBER, (ONE, 0, 1), (ONE, 2, 2), (ONE, 3, 3, 3)]
    assert live_steps(steps, [4]) == ([2, 3, 4], [(0, 1), 2, 3])


def test_what_is_needed_is_what_is_live() -> None:
    for steps, outputs in [
        ([NUMBER, (ONE, 0), (ONE, 1, 1), (ONE, 0, 2), (ONE, 1)], [3]),
        ([NUMBER, (PAIR, 0), 1, 2, (ONE, 3)], [4]),
        ([NUMBER, (PAIR, 0), 1, (PAIR, 0), 1], [2]),
        ([NUMBER, (ONE, 0, 0, 0), NUMBER, (ONE, 1, 2)], [3, 0]),
    ]:
        assert needed_steps(steps, outputs) == live_steps(steps, outputs)[0]
