"""Batches of small solvers go through their loops tile by tile; lanes that are mixed do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.passes.pipeline import rewritten
from funcgrad.compile.passes.rewriting.tiles_of_lanes import FEWEST_LANES, tiles_of_lanes
from funcgrad.compile.runtime.threads import set_threads, threads
from funcgrad.ir.program import Program
from funcgrad.transforms.control.scan import Scan

Function = Callable[..., Any]
RNG = np.random.default_rng(0)
WIDE = RNG.uniform(0.5, 1.5, (FEWEST_LANES, 4))


def tiled(function: Function, *args: Any, sums: bool = False) -> bool:
    """Whether the Program is made of tiles; then it gives the same, to the last digit but for `sums`."""
    program = rewritten(fg.make_program(function)(*args))
    found = tiles_of_lanes(program)
    fg.check(found)
    if found is program:
        return False
    assert loops_over_tiles(found)
    for before, after in zip(program(*fg.tree.leaves(args)), found(*fg.tree.leaves(args)), strict=True):
        np.testing.assert_allclose(after, before, rtol=1e-11 if sums else 0.0)
    return True


def loops_over_tiles(program: Program) -> list[Any]:
    """The loops whose bodies hold lanes."""
    scans = [e for e in program.equations if isinstance(e.primitive, Scan)]
    return [e for e in scans if e.primitive.body.name.endswith("_of_lanes")]


def roots(a: Any) -> Any:
    """Newton's method, a fixed number of steps."""
    return fg.vmap(lambda a: fg.fori_loop(0, 90, lambda k, x: x - (x * x - a) / (2.0 * x), 1.0))(a)


def movements(x: Any) -> Any:
    """Everything that moves elements of a lane about."""

    def one(x: Any) -> Any:
        y = np.concatenate([x[::-1][:2], np.stack([x[0], x[3]]), x.reshape(2, 2).T.reshape(-1)])
        z = fg.numpy.asarray(y).at[2:4].add(x[1:3]).at[0].set(2.0)
        return fg.fori_loop(0, 30, lambda k, z: np.sin(z) + 0.5 * np.max(z), z)

    return fg.vmap(one)(x)


def matrices(x: Any, w: Any) -> Any:
    """Small linear algebra, with a matrix that is the same for all lanes."""

    def one(x: Any) -> Any:
        a = np.outer(x, x) @ w + 4.0 * np.eye(4)
        y = np.linalg.solve(a, w @ x) + np.linalg.inv(a) @ x
        return y * np.linalg.det(a) + np.sum(a @ w, 0)

    return fg.vmap(one)(x)


@pytest.mark.parametrize("lanes", [FEWEST_LANES, FEWEST_LANES + 1, 2500, 3 * FEWEST_LANES])
def test_loops(lanes: int) -> None:
    assert tiled(fg.value_and_grad(lambda a: np.sum(roots(a))), np.linspace(1.0, 9.0, lanes))


def test_movements() -> None:
    assert tiled(movements, WIDE)
    assert tiled(fg.grad(lambda x: np.sum(movements(x) ** 2)), WIDE)


def test_matrices() -> None:
    w = RNG.normal(size=(4, 4))
    assert tiled(matrices, WIDE, w)
    assert tiled(fg.grad(lambda x: np.sum(matrices(x, w))), WIDE)


def steps(x: Any, w: Any, shift: Any) -> Any:
    """Steps of a differential equation that all lanes share the parameters of."""
    return fg.fori_loop(0, 30, lambda k, x: x + 0.1 * np.tanh(x @ w + shift), x)


def test_sums_over_lanes_that_trips_add_up() -> None:
    w, shift = 0.3 * RNG.normal(size=(4, 4)), RNG.normal(size=4)
    slopes = fg.value_and_grad(lambda w, shift, x: np.mean(steps(x, w, shift) ** 2), argnums=(0, 1, 2))
    assert tiled(slopes, w, shift, WIDE, sums=True)
    assert tiled(slopes, w, shift, np.tile(WIDE, (2, 1))[:2200], sums=True)
    # No tile divides these, and lanes that fill the last would be counted twice.
    assert not tiled(slopes, w, shift, np.tile(WIDE, (2, 1))[:2500])

    def totals(x: Any, start: Any) -> Any:
        def trip(k: Any, carry: Any) -> Any:
            x, total = carry
            return np.sin(x) * 1.1, total + x.T @ x

        return fg.fori_loop(0, 30, trip, (x, start))

    assert tiled(lambda x: totals(x, fg.numpy.zeros((4, 4))), WIDE, sums=True)
    # A sum that does not begin with zero, or that trips read, is no sum of those of tiles.
    assert not tiled(lambda x: totals(x, fg.numpy.ones((4, 4))), WIDE)
    assert not tiled(totals, WIDE, np.zeros((4, 4)))

    def read(k: Any, carry: Any) -> Any:
        x, total = carry
        return np.sin(x @ total), total + x.T @ x

    def scaled(k: Any, carry: Any) -> Any:
        x, total = carry
        return np.sin(x), 0.5 * total + x.T @ x + 1.0

    for trip in (read, scaled):
        assert not tiled(lambda x, trip=trip: fg.fori_loop(0, 30, trip, (x, fg.numpy.zeros((4, 4)))), WIDE)


def test_a_constant_as_long_as_the_batch() -> None:
    w = RNG.normal(size=(FEWEST_LANES, FEWEST_LANES // 8))

    def f(a: Any) -> Any:
        return roots(a) @ w + np.sum(w, 0), roots(a) + w[:, 0]

    assert tiled(f, np.linspace(1.0, 9.0, FEWEST_LANES))


def test_lanes_that_meet_are_left_together() -> None:
    a = np.linspace(1.0, 9.0, FEWEST_LANES)
    meets: list[Function] = [
        lambda x: x + np.mean(x),
        lambda x: np.roll(x, 1),
        np.cumsum,
        np.sort,
        lambda x: x[::-1],
        lambda x: np.concatenate([x[1:], x[:1]]),
        lambda x: x - x[0],
    ]
    for meet in meets:
        assert not tiled(lambda a, meet=meet: fg.fori_loop(0, 30, lambda k, x: 0.5 * np.sin(meet(x)), a), a)
        assert tiled(lambda a, meet=meet: roots(meet(roots(a))) + a, a)
    before = rewritten(fg.make_program(lambda a: roots(a + np.mean(roots(a))))(a))
    assert len(loops_over_tiles(tiles_of_lanes(before))) == 2


def test_few_lanes_and_short_loops_stay_what_they_are() -> None:
    assert not tiled(roots, np.linspace(1.0, 9.0, FEWEST_LANES - 1))
    assert not tiled(fg.vmap(lambda a: fg.fori_loop(0, 2, lambda k, x: x * a, a)), WIDE[:, 0])
    assert not tiled(lambda x: np.sum(np.sin(x)), WIDE)


def test_threads_share_the_tiles_and_change_nothing() -> None:
    a = np.linspace(1.0, 9.0, 2500)
    both = fg.jit(fg.value_and_grad(lambda a: np.sum(roots(a))))
    assert "parallel(trips" in both.kernel_source(a)
    expected, before = both(a), threads()
    try:
        for count in (1, 3):
            set_threads(count)
            for x, y in zip(both(a), expected, strict=True):
                np.testing.assert_array_equal(x, y)
    finally:
        set_threads(before)
    np.testing.assert_allclose(expected[1], 0.5 / np.sqrt(a), rtol=1e-12)


def test_a_singular_matrix_among_many_raises() -> None:
    many = np.tile(np.eye(5), (FEWEST_LANES + 1, 1, 1)) + 0.1 * RNG.normal(size=(FEWEST_LANES + 1, 5, 5))
    solve = fg.jit(fg.vmap(lambda a: np.linalg.solve(a, np.ones(5))))
    np.testing.assert_allclose(solve(many), np.linalg.solve(many, np.ones((5, 1)))[..., 0], rtol=1e-9)
    many[FEWEST_LANES // 2] = 0.0
    with pytest.raises(np.linalg.LinAlgError):
        solve(many)
