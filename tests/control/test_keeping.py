"""What is kept of a trip: the network's cut is the least of all, and its time does not run away."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.transforms.control.keeping import SINK, SOURCE, Network


@pytest.mark.parametrize("seed", range(8))
def test_the_cut_is_the_least_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nodes = [SOURCE, *range(5), SINK]
    edges = {(a, b): int(rng.integers(1, 9)) for a in nodes for b in nodes if a != b and rng.random() < 0.5}
    network = Network()
    for (a, b), capacity in edges.items():
        network.edge(a, b, capacity)

    def cost(side: set[int]) -> int:
        return sum(capacity for (a, b), capacity in edges.items() if a in side and b not in side)

    sides = [{SOURCE, *[k for k in range(5) if flags[k]]} for flags in product([False, True], repeat=5)]
    assert cost(network.source_side()) == min(map(cost, sides))


def test_the_work_of_a_cut_grows_as_the_body_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searches = 0
    path = Network._path

    def counted(network: Network, *args: Any) -> Any:
        nonlocal searches
        searches += 1
        return path(network, *args)

    def searches_for(length: int) -> int:
        def f(x: Any) -> Any:
            def step(c: Any, row: Any) -> tuple[Any, None]:
                for _ in [None] * length:
                    c = c * np.sin(c + row) + (c * c - row) / (1.1 + c * c)
                return c, None

            return fg.scan(step, 0.3, x)[0]

        nonlocal searches
        searches = 0
        fg.make_program(fg.grad(f))(np.ones(3))
        return searches

    monkeypatch.setattr(Network, "_path", counted)
    short, long = searches_for(40), searches_for(120)
    assert 0 < short < long < 4 * short


def test_masks_of_one_comparison_are_made_anew() -> None:
    def f(x: Any) -> Any:
        s = 0.0
        for k in range(1, len(x)):
            s += np.sum(x[k:] * x[:-k])
        return s

    x = np.array([1.0, 2.0, 4.0, 3.0, 5.0, 2.5])
    assert "bool[5,5]" not in str(fg.make_program(fg.grad(fg.jit(f)))(x))
    np.testing.assert_allclose(fg.grad(fg.jit(f))(x), np.sum(x) - x)
