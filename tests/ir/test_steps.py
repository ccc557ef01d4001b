"""Which steps are evaluated, and what dies where."""

from __future__ import annotations

from types import SimpleNamespace

from funcgrad.ir.avals import Aval
from funcgrad.ir.steps import NOTHING, live_steps

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
