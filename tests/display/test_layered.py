"""Layered drawings: boxes do not overlap, lines point down and pass boxes, one graph has one drawing."""

from __future__ import annotations

import random
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from funcgrad.display.drawing.grouping import loops, runs
from funcgrad.display.drawing.layered import Box, Drawing, Edge, Spacing, edges_to_cut, layered, layers_of
from funcgrad.display.drawing.ordering import crossings, few_crossings

TINY = 1e-6


def random_graph(n: int, seed: int, reach: int = 12) -> tuple[list[tuple[float, float]], list[Edge]]:
    """Boxes, and edges from earlier to later ones: most short, some long, as in Programs."""
    numbers = random.Random(seed)
    sizes = [(float(numbers.randint(30, 140)), float(numbers.randint(18, 60))) for _ in range(n)]
    edges = []
    for v in range(1, n):
        uses = {max(0, v - numbers.randint(1, reach)) for _ in range(numbers.randint(1, 2))}
        edges += [Edge(u, v, 0) for u in sorted(uses)]
        if numbers.random() < 0.15:
            edges.append(Edge(numbers.randrange(v), v, 1))
    return sizes, edges


def overlap(a: Box, b: Box, beside: float = 0.0) -> bool:
    across = a.x < b.x + b.width + beside - TINY and b.x < a.x + a.width + beside - TINY
    return across and a.y < b.y + b.height - TINY and b.y < a.y + a.height - TINY


def require_laws(drawing: Drawing, sizes: list[tuple[float, float]], edges: list[Edge]) -> None:
    boxes = drawing.boxes
    assert [(b.width, b.height) for b in boxes] == sizes
    for k, box in enumerate(boxes):
        assert box.x >= -TINY
        assert box.y >= -TINY
        assert box.x + box.width <= drawing.width + TINY
        assert box.y + box.height <= drawing.height + TINY
        assert not any(overlap(box, other, beside=Spacing().boxes) for other in boxes[:k])
    for (source, target, _), route in zip(edges, drawing.routes, strict=True):
        start, end = boxes[source], boxes[target]
        assert start.y + start.height < end.y
        assert all(y1 >= y0 - TINY for (_, y0), (_, y1) in pairwise(route))
        (x0, y0), (x1, y1) = route[0], route[-1]
        assert y0 == pytest.approx(start.y + start.height)
        assert y1 == pytest.approx(end.y)
        assert start.x < x0 < start.x + start.width
        assert end.x < x1 < end.x + end.width


def require_no_line_through_a_box(drawing: Drawing) -> None:
    """Lines are vertical where there are boxes; between, they run in rows that have no boxes."""
    for route in drawing.routes:
        for (x0, y0), (x1, y1) in pairwise(route):
            for box in drawing.boxes:
                if y0 < box.y + box.height - TINY and box.y + TINY < y1:
                    assert x0 == x1
                    assert not box.x < x0 < box.x + box.width


@given(n=st.integers(1, 40), seed=st.integers(0, 10_000), reach=st.integers(1, 40))
def test_the_laws_hold_for_any_graph(n: int, seed: int, reach: int) -> None:
    sizes, edges = random_graph(n, seed, reach)
    drawing = layered(sizes, edges)
    require_laws(drawing, sizes, edges)
    require_no_line_through_a_box(drawing)
    assert layered(sizes, edges) == drawing


def test_a_chain_stands_in_one_column() -> None:
    drawing = layered([(40, 20), (90, 20), (60, 20)], [Edge(0, 1), Edge(1, 2)])
    assert {box.middle for box in drawing.boxes} == {45.0}
    assert all(len({x for x, _ in route}) == 1 for route in drawing.routes)


def test_long_lines_are_straight_past_what_they_pass() -> None:
    chain = [Edge(k, k + 1) for k in range(9)]
    drawing = layered([(60.0, 20.0)] * 11, [*chain, Edge(10, 9), Edge(0, 9, 1)])
    inner = drawing.routes[-1][2:-2]
    assert len({x for x, _ in inner}) == 1


def test_lines_of_one_value_share_their_way() -> None:
    edges = [Edge(0, 1), Edge(1, 2), Edge(2, 3), Edge(0, 3, 5), Edge(0, 2, 5)]
    *_, longer, shorter = layered([(60.0, 20.0)] * 4, edges).routes
    assert longer[:4] == shorter[:4]


def test_a_box_that_one_line_leaves_stands_near_where_it_goes() -> None:
    chain = [Edge(k, k + 1) for k in range(5)]
    assert layers_of(7, [*chain, Edge(6, 5)])[6] == 4


def test_lines_in_a_circle_are_refused() -> None:
    with pytest.raises(ValueError, match="circle"):
        layered([(9, 9)] * 2, [Edge(0, 1), Edge(1, 0)])


def test_nothing_is_a_drawing_too() -> None:
    assert layered([], []) == Drawing(0.0, 0.0, (), ())


def test_trees_and_grids_have_no_crossings() -> None:
    tree = [[2 * k + 1, 2 * k + 2] if k < 15 else [] for k in range(31)]
    rows = [[0], [2, 1], [4, 5, 3, 6], list(range(7, 15))[::-1], list(range(15, 31))]
    ordered = few_crossings(rows, tree)
    assert sum(crossings(a, b, tree) for a, b in pairwise(ordered)) == 0
    assert [sorted(row) for row in ordered] == [sorted(row) for row in rows]


@given(seed=st.integers(0, 10_000))
def test_crossings_are_counted(seed: int) -> None:
    numbers = random.Random(seed)
    upper, lower = list(range(6)), list(range(6, 12))
    below = [sorted(numbers.sample(lower, numbers.randint(0, 4))) for _ in upper]
    numbers.shuffle(upper)
    numbers.shuffle(lower)
    ends = [(a, lower.index(w)) for a, v in enumerate(upper) for w in below[v]]
    slow = sum(a < c and b > d for a, b in ends for c, d in ends)
    assert crossings(upper, lower, below) == slow


@pytest.mark.parametrize(("n", "seconds"), [(300, 1.0), (3000, 20.0)])
def test_large_graphs_are_drawn_soon(n: int, seconds: float) -> None:
    """Generous limits, for machines that do other things: 0.1 s and 2 s on two cores."""
    sizes, edges = random_graph(n, n)
    start = time.process_time()
    cut = edges_to_cut(n, edges, 400 + 4 * n)
    drawing = layered(sizes, [edge for k, edge in enumerate(edges) if k not in cut])
    assert time.process_time() - start < seconds
    assert len(cut) < n // 10
    assert len(drawing.boxes) == n


def test_edges_are_cut_from_the_longest_on() -> None:
    edges = [Edge(k, k + 1) for k in range(50)] + [Edge(0, 50, 1), Edge(3, 6, 1)]
    assert edges_to_cut(51, edges, 1000) == set()
    assert edges_to_cut(51, edges, 10) == {50}
    assert edges_to_cut(51, edges, 0) == {50, 51}


@given(seed=st.integers(0, 10_000), gather=st.sampled_from([runs, loops]))
def test_groups_follow_one_another_without_a_circle(seed: int, gather: object) -> None:
    numbers = random.Random(seed)
    n = numbers.randint(1, 30)
    keys = [numbers.choice("fgh") for _ in range(n)]
    before = [sorted(numbers.sample(range(k), min(k, numbers.randint(0, 2)))) for k in range(n)]
    groups = gather(keys, before)  # type: ignore[operator]
    edges = {(groups[u], groups[v]) for v, uses in enumerate(before) for u in uses if groups[u] != groups[v]}
    layers_of(max(groups) + 1, [Edge(a, b) for a, b in sorted(edges)])  # raises for a circle
    if gather is runs:
        assert all(len({keys[k] for k in range(n) if groups[k] == g}) == 1 for g in groups)
    else:
        assert all(groups[a] == groups[b] for a in range(n) for b in range(n) if keys[a] == keys[b])
