"""Batches of a few rows go through loops of products in tiles; rows that meet in a trip do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.passes.pipeline import rewritten
from funcgrad.compile.passes.rewriting.few_lanes import rows_of_tile
from funcgrad.compile.passes.rewriting.tiles_of_lanes import tiles_of_lanes
from funcgrad.compile.runtime.threads import set_threads, threads
from funcgrad.transforms.control.scan import Scan

Function = Callable[..., Any]
Cell = Callable[[Any, Any, Any, Any], Any]
WIDTH = 32


@pytest.fixture(autouse=True)
def threads_as_before() -> Iterator[None]:
    before = threads()
    yield
    set_threads(before)


def arrays(batch: int, gates: int = 1, trips: int = 40, width: int = WIDTH) -> tuple[Any, ...]:
    """Weights, a bias, inputs, the state at the start and targets."""
    rng = np.random.default_rng(0)
    weights = [width**-0.5 * rng.normal(size=(width, gates * width)) for _ in range(2)]
    x, y = rng.normal(size=(2, trips, batch, width))
    return (*weights, rng.normal(size=gates * width)), x, 0.1 * rng.normal(size=(batch, width)), y


def plain(parameters: Any, h: Any, c: Any, x: Any) -> Any:
    w, u, b = parameters
    return np.tanh(x @ w + h @ u + b), c


def gated(parameters: Any, h: Any, c: Any, x: Any) -> Any:
    """A gated recurrent unit (Cho and others, 2014)."""
    w, u, b = parameters
    n = h.shape[1]
    a, d = x @ w + b, h @ u
    z, r = (1.0 / (1.0 + np.exp(-(a[:, k : k + n] + d[:, k : k + n]))) for k in (0, n))
    return (1.0 - z) * np.tanh(a[:, 2 * n :] + r * d[:, 2 * n :]) + z * h, c


def with_memory(parameters: Any, h: Any, c: Any, x: Any) -> Any:
    """Long short-term memory (Hochreiter and Schmidhuber, 1997)."""
    w, u, b = parameters
    n = h.shape[1]
    a = x @ w + h @ u + b
    keep, write, out = (1.0 / (1.0 + np.exp(-a[:, k * n : (k + 1) * n])) for k in range(3))
    c = keep * c + write * np.tanh(a[:, 3 * n :])
    return out * np.tanh(c), c


def by_scan(cell: Cell) -> Function:
    """The mean squared error of the states."""

    def loss(parameters: Any, xs: Any, h: Any, ys: Any) -> Any:
        def step(carry: Any, x: Any) -> Any:
            carry = cell(parameters, *carry, x)
            return carry, carry[0]

        return np.mean((fg.scan(step, (h, h), xs)[1] - ys) ** 2)

    return loss


def by_loop(cell: Cell) -> Function:
    """The same, as a loop of Python's."""

    def loss(parameters: Any, xs: Any, h: Any, ys: Any) -> Any:
        c, total = h, 0.0
        for t in range(xs.shape[0]):
            h, c = cell(parameters, h, c, xs[t])
            total = total + np.mean((h - ys[t]) ** 2)
        return total / xs.shape[0]

    return loss


def by_counter(cell: Cell) -> Function:
    """The same, as what is recorded of that loop."""

    def loss(parameters: Any, xs: Any, h: Any, ys: Any) -> Any:
        def trip(t: Any, carry: Any) -> Any:
            h, c, total = carry
            h, c = cell(parameters, h, c, xs[t])
            return h, c, total + np.mean((h - ys[t]) ** 2)

        return fg.fori_loop(0, xs.shape[0], trip, (h, h, 0.0))[2] / xs.shape[0]

    return loss


def is_tiled(function: Function, *args: Any) -> bool:
    """Whether the Program is made of tiles; it gives the same in any case."""
    program = rewritten(fg.make_program(function)(*args))
    found = tiles_of_lanes(program)
    fg.check(found)
    for before, after in zip(program(*fg.tree.leaves(args)), found(*fg.tree.leaves(args)), strict=True):
        np.testing.assert_allclose(after, before, rtol=1e-9, atol=1e-13)
    bodies = [e.primitive.body.name for e in found.equations if isinstance(e.primitive, Scan)]
    assert (found is not program) == any(name.endswith("_of_lanes") for name in bodies)
    if found is not program:
        # Nothing that goes from trip to trip is left outside.
        assert len(bodies) == 1
    return found is not program


@pytest.mark.parametrize(("cell", "gates"), [(plain, 1), (gated, 3), (with_memory, 4)])
@pytest.mark.parametrize("written", [by_scan, by_counter])
def test_recurrent_networks(cell: Cell, gates: int, written: Callable[[Cell], Function]) -> None:
    given = arrays(16, gates)
    assert is_tiled(fg.value_and_grad(written(cell), argnums=(0, 2)), *given)
    assert is_tiled(fg.value_and_grad(written(cell)), *arrays(WIDTH, gates))  # as many rows as columns


@pytest.mark.parametrize("batch", [8, 12, 20, 50])
def test_sizes_of_batches(batch: int) -> None:
    assert is_tiled(fg.value_and_grad(by_scan(plain)), *arrays(batch, trips=60))


def test_rows_of_tiles() -> None:
    assert [rows_of_tile(n) for n in (4, 7, 17, 31)] == [0] * 4
    for n in range(8, 257, 8):
        assert n % rows_of_tile(n) == 0


def test_a_last_state_and_all_states_as_results() -> None:
    def states(parameters: Any, xs: Any, h: Any) -> Any:
        return fg.scan(lambda h, x: (plain(parameters, h, None, x)[0],) * 2, h, xs)

    parameters, xs, h, _ys = arrays(16, trips=80)
    assert is_tiled(lambda *args: states(*args)[0], parameters, xs, h)
    assert is_tiled(fg.grad(lambda *args: np.sum(states(*args)[0] ** 2)), parameters, xs, h)
    program = rewritten(fg.make_program(states)(parameters, xs, h))
    for x, y in zip(tiles_of_lanes(program)(*parameters, xs, h), program(*parameters, xs, h), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-14)


def test_rows_that_meet_in_a_trip() -> None:
    def normalised(parameters: Any, h: Any, c: Any, x: Any) -> Any:
        a = x @ parameters[0] + h @ parameters[1]
        return np.tanh((a - np.mean(a, 0)) / np.sqrt(np.var(a, 0) + 1e-3)), c

    def shifted(parameters: Any, h: Any, c: Any, x: Any) -> Any:
        return plain(parameters, np.roll(h, 1, 0), c, x)

    def attending(parameters: Any, h: Any, c: Any, x: Any) -> Any:
        return np.tanh((h @ h.T) @ x @ parameters[0] + parameters[2]), c

    def first(parameters: Any, h: Any, c: Any, x: Any) -> Any:
        return plain(parameters, h - h[0], c, x)

    def turned(parameters: Any, h: Any, c: Any, x: Any) -> Any:
        return plain(parameters, fg.nn.softmax(h[::-1], axis=1), c, x)

    def sharing(parameters: Any, h: Any, c: Any, x: Any) -> Any:
        return plain(parameters, fg.nn.softmax(h, axis=0), c, x)

    for cell in (normalised, shifted, attending, first, turned, sharing):
        for written in (by_scan, by_counter):
            assert not is_tiled(fg.value_and_grad(written(cell)), *arrays(16))
    normalised_rows = by_scan(lambda p, h, c, x: plain(p, h - np.mean(h, 1, keepdims=True), c, x))
    assert is_tiled(fg.value_and_grad(normalised_rows), *arrays(16))


def test_what_goes_along_a_row() -> None:
    def cell(parameters: Any, h: Any, c: Any, x: Any) -> Any:
        weights = fg.nn.softmax(h[:, ::-1], axis=1) + fg.nn.log_softmax(x, axis=1)
        return plain(parameters, weights - fg.nn.logsumexp(h, axis=1, keepdims=True), c, x)

    assert is_tiled(fg.value_and_grad(by_scan(cell)), *arrays(16))


def test_what_no_tile_divides_or_pays_for() -> None:
    gradient = fg.value_and_grad(by_scan(plain))
    assert not is_tiled(gradient, *arrays(17))
    assert not is_tiled(gradient, *arrays(4))
    assert not is_tiled(gradient, *arrays(16, trips=4))

    def moving(parameters: Any, xs: Any, h: Any, ys: Any) -> Any:
        """Every tile would have to move the weights again."""

        def step(carry: Any, x: Any) -> Any:
            h, u = carry
            return (np.tanh(x + h @ u), np.tanh(u @ u)), None

        return fg.scan(step, (h, parameters[1]), xs)[0][0]

    assert not is_tiled(moving, *arrays(16, trips=80))


@pytest.mark.parametrize(("cell", "gates", "written"), [(with_memory, 4, by_scan), (plain, 1, by_loop)])
def test_threads_share_the_tiles_and_change_nothing(
    cell: Cell, gates: int, written: Callable[[Cell], Function]
) -> None:
    args = arrays(16, gates)
    both = fg.jit(fg.value_and_grad(written(cell)))
    assert "parallel(trips" in both.kernel_source(*args)
    set_threads(1)
    alone = fg.tree.leaves(both(*args))
    for count in (2, 3, 2):
        set_threads(count)
        for x, y in zip(fg.tree.leaves(both(*args)), alone, strict=True):
            np.testing.assert_array_equal(x, y)
    for x, y in zip(fg.tree.leaves(fg.value_and_grad(written(cell))(*args)), alone, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12)
