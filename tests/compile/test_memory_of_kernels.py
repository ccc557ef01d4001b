"""Memory that nests share: nothing is read after it was changed, and no index leaves its block."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from lawbook.numerics import assert_close

import funcgrad as fg
from funcgrad.compile.language.values import Reused, may_overlap
from funcgrad.compile.passes.arranging.fusion import Joined
from funcgrad.compile.passes.kernel import make_kernel
from funcgrad.compile.passes.rewriting.expand import expand
from funcgrad.compile.passes.scheduling.nests import Nest
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.transforms.simplify import simplify_program
from tests.soak.programs import random_program

GRID = 2.0 * np.cos(np.arange(16.0)).reshape(4, 4) + 1.0
TALL = np.cos(np.arange(99.0)).reshape(33, 3)


def changed_backwards(x: Any) -> Any:
    """`y` is stored when its rows are turned round; the derivative of the first term doubles it once more."""
    y = x + x
    first = np.tanh(np.arctan2(y, 2.0 + y**2))
    last = y * 1.0
    last[::-1] = 0.5 * np.sin(last[::-1])
    return np.sum(np.ptp(first) * first) + np.sum(np.tanh(last) ** 3)


def two_loops(x: Any) -> Any:
    """Systems are solved in column-major order, beside loops in row-major order."""

    def trip(c: Any, r: Any) -> Any:
        return fg.cond(np.sum(r) > 0.1, np.sin, np.cos, c) + r, None

    solved = np.linalg.solve(x @ x.T * 0.1 + 3.0 * np.eye(33), np.tanh(x))
    rows = np.sin(np.where(np.arange(3) % 2 == 0, x, np.sin(x))) ** 3
    return np.sum(np.cos(solved)) + np.sum(fg.scan(trip, 0.0 * rows[0], rows)[0])


def second(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return fg.grad(lambda x: np.sum(fg.grad(f)(x) * np.sin(x + 1.0)))


def views_of(step: Any) -> Iterator[View]:
    """What a step of a kernel reads and writes; steps that threads share are looked into."""
    if isinstance(step, Nest | Joined):
        yield from [view for view, _ in step.views()]
    elif hasattr(step, "step"):
        yield from views_of(step.step)


def check_memory(f: Callable[..., Any], *args: Any) -> int:
    """Raise AssertionError for an index beyond a block of memory; returns how many views were looked at."""
    looked = 0
    for kernel in fg.jit(f).specialized(*args).executable.kernels:
        for view in [view for step in kernel.steps for view in views_of(step)]:
            ends = [(n - 1) * s for n, s in zip(view.shape, view.strides, strict=True)]
            first = view.offset + sum([min(end, 0) for end in ends])
            last = view.offset + sum([max(end, 0) for end in ends])
            if not view.base and 0 not in view.shape:
                assert first >= 0, kernel.source
                assert last < max(view.buffer.size, 1), (view.buffer.name, kernel.source)
                looked += 1
    return looked


@pytest.mark.parametrize("f", [changed_backwards, two_loops])
@pytest.mark.parametrize("order", [fg.grad, second])
def test_what_is_still_read_is_not_changed(f: Any, order: Any) -> None:
    x = GRID if f is changed_backwards else TALL
    assert_close(fg.jit(order(f))(x), order(f)(x))


@pytest.mark.parametrize("f", [changed_backwards, two_loops])
@pytest.mark.parametrize("order", [fg.grad, second])
def test_no_index_leaves_its_memory(f: Any, order: Any) -> None:
    assert check_memory(order(f), GRID if f is changed_backwards else TALL) > 20


@pytest.mark.parametrize("seed", [*range(6), 1000032, 1000092])
def test_no_index_leaves_its_memory_in_random_programs(seed: int) -> None:
    program = random_program(seed, 24)
    args = list(program.args.values())
    with np.errstate(all="ignore"):
        inexact = tuple([n for n, x in enumerate(args) if np.asarray(x).dtype.kind in "fc"])
        assert check_memory(fg.grad(program.function(), inexact), *args)


def likelihood(p: Any, x: Any) -> Any:
    """What each point gives needs a number that the Program computes behind the first loop's equations."""
    each = np.log(x) * (p[0] - 1.0)
    return np.sum(each - np.log(np.exp(p[0]) + np.sqrt(p[1])))


def test_a_loop_does_not_wait_for_numbers_that_follow_from_arguments() -> None:
    program = fg.make_program(fg.value_and_grad(likelihood))(np.array([2.1, 3.3]), np.ones(1_000))
    kernel = make_kernel(expand(program))
    assert [step.shape for step in kernel.steps if isinstance(step, Nest) and step.shape] == [(1_000,)]
    assert kernel.scratch_bytes < 1_000


def test_what_is_known_to_be_zero_is_not_computed() -> None:
    """`log(x)` where x is 0 has the derivative ``1 / x``, which only a second derivative would need."""

    def f(p: Any, x: Any) -> Any:
        return np.sum(fg.scipy.special.xlogy(p, x))

    program = expand(fg.make_program(fg.grad(f))(2.0, np.ones(5)))
    assert not [e for e in simplify_program(program).equations if e.primitive.name in ("div", "departure")]


@pytest.mark.parametrize("shape", [(6, 50), (50, 6)])
def test_a_result_under_another_shape_is_not_copied(shape: tuple[int, int]) -> None:
    def f(x: Any) -> Any:
        placed = fg.numpy.zeros(300)
        placed[np.arange(50) * 6] = x
        return placed.reshape(shape), placed

    kernel = make_kernel(fg.make_program(f)(np.ones(50)))
    assert [b.nbytes for b in kernel.buffers if b.role == "output"] == [2400, 2400]
    assert kernel.scratch_bytes == 0
    whole, flat = fg.jit(f)(np.arange(50.0))
    assert np.array_equal(whole.reshape(-1), flat)
    assert not np.shares_memory(whole, flat)


def chained(x: Any) -> Any:
    """Arrays of which each is needed by the next alone, and one that is needed to the end."""
    first = y = np.cumsum(x, axis=0)
    for _ in range(3):
        y = np.cumsum(np.tanh(y @ x), axis=1)
    return np.sum(y * y * first)


def test_scratch_at_one_place_is_in_scopes_that_may_overlap() -> None:
    looked = 0
    for kernel in fg.jit(fg.grad(chained)).specialized(GRID).executable.kernels:
        said = re.findall(r"(\w+) = as_\w+\(p\[(\d+)\](?:, (\d+), (\d+), (\d+))?\)", kernel.source)
        scopes = {name: Reused(*map(int, s)) if s[0] else int(slot) for name, slot, *s in said}
        placed = [(b, start) for b, start in kernel.offsets.items() if b.name in scopes]
        for (a, i), (b, j) in itertools.combinations(placed, 2):
            if i < j + b.nbytes and j < i + a.nbytes:
                looked += 1
                assert may_overlap(scopes[a.name], scopes[b.name]), (a, b)
            elif not (a.last < b.first or b.last < a.first):
                assert not may_overlap(scopes[a.name], scopes[b.name]), (a, b)
    assert looked > 5


def filtered(moves: Any, seen: Any) -> Any:
    """Arrays that change places in a loop on the way there and in one on the way back."""
    state, spread, total = np.zeros(3), np.eye(3), 0.0
    for t in range(5):
        state, spread = moves @ state, moves @ spread @ moves.T + 1.0
        off = seen[t] - state
        total = total + np.sum(off * np.linalg.solve(spread, off))
        state = state + spread @ off
    return total


def test_names_that_change_places_have_one_scope() -> None:
    shared = 0
    gradient = fg.jit(fg.grad(filtered))
    for kernel in gradient.specialized(0.5 * np.eye(3) + 0.1, GRID[:, :3].repeat(2, 0)).executable.kernels:
        said = re.findall(r"as_\w+\(p\[\d+\], (\d+)(.*)\)", kernel.source)
        for number, times in said:
            alike = [other for n, other in said if n == number]
            shared += len(alike) > 1 and times != ""
            assert set(alike) == {times}
    assert shared
