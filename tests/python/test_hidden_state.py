"""Calls that draw from hidden state, in loops that `jit` records once: own numbers, or an error."""

from __future__ import annotations

import collections
import io
import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats

import funcgrad as fg
from funcgrad.api.python.guarded.generator_bytes import standing_bytes
from funcgrad.errors import ConcretizationError, TracedBranchError

N = 60


def c_rng(x: Any) -> Any:
    rng = np.random.default_rng(0)
    s = 0.0
    for _ in range(N):
        s += x * rng.standard_normal()
    return s


def c_rs(x: Any) -> Any:
    rng = np.random.RandomState(0)
    s = 0.0
    for _ in range(N):
        s += x * rng.rand()
    return s


def c_glob(x: Any) -> Any:
    np.random.seed(0)  # noqa: NPY002 - it is what is tested
    s = 0.0
    for _ in range(N):
        s += x * np.random.rand()  # noqa: NPY002 - as above
    return s


def c_py(x: Any) -> Any:
    random.seed(0)
    s = 0.0
    for _ in range(N):
        s += x * random.random()
    return s


def c_pyg(x: Any) -> Any:
    r = random.Random(0)
    s = 0.0
    for _ in range(N):
        s += x * r.gauss(0, 1)
    return s


def c_next(x: Any) -> Any:
    it = iter(np.arange(100.0))
    s = 0.0
    for _ in range(N):
        s += x * next(it)
    return s


def c_count(x: Any) -> Any:
    it = itertools.count()
    s = 0.0
    for _ in range(N):
        s += x * next(it)
    return s


def c_gen(x: Any) -> Any:
    def g():
        k = 0.0
        while True:
            yield k
            k += 1

    it = g()
    s = 0.0
    for _ in range(N):
        s += x * next(it)
    return s


def c_send(x: Any) -> Any:
    def g():
        k = 0.0
        while True:
            yield k
            k += 1

    it = g()
    s = 0.0
    for _ in range(N):
        s += x * it.__next__()
    return s


def c_deque(x: Any) -> Any:
    q = collections.deque(np.arange(100.0))
    s = 0.0
    for _ in range(N):
        s += x * q.popleft()
    return s


def c_dd(x: Any) -> Any:
    q = collections.defaultdict(float)
    s = 0.0
    for _ in range(N):
        q.update({"a": q["a"] + 1.0})
        s += x * q["a"]
    return s


def c_counter(x: Any) -> Any:
    q = collections.Counter()
    s = 0.0
    for _ in range(N):
        q.update("a")
        s += x * q["a"]
    return s


def c_rvs(x: Any) -> Any:
    np.random.seed(0)  # noqa: NPY002 - it is what is tested
    s = 0.0
    for _ in range(N):
        s += x * scipy.stats.norm.rvs()
    return s


def c_inner(x: Any) -> Any:
    s = 0.0
    for _ in range(N):
        rng = np.random.default_rng(3)
        s += x * rng.normal()
    return s


def helper(rng):
    return rng.normal()


def c_helper(x: Any) -> Any:
    rng = np.random.default_rng(0)
    s = 0.0
    for _ in range(N):
        s += x * helper(rng)
    return s


def c_bound(x: Any) -> Any:
    draw = np.random.default_rng(0).normal
    s = 0.0
    for _ in range(N):
        s += x * draw()
    return s


class Sim:
    def __init__(self):
        self.rng = np.random.default_rng(0)
        self.n = 0

    def step(self):
        self.n += 1
        return self.rng.normal() + self.n


def c_sim(x: Any) -> Any:
    m = Sim()
    s = 0.0
    for _ in range(N):
        s += x * m.step()
    return s


def c_sort(x: Any) -> Any:
    a = np.arange(5.0)[::-1].copy()
    s = 0.0
    for _ in range(N):
        a.fill(a[0] + 1.0)
        s += x * a[0]
    return s


def c_shuffle(x: Any) -> Any:
    r = np.random.default_rng(0)
    a = np.arange(5.0)
    s = 0.0
    for _ in range(N):
        r.shuffle(a)
        s += x * a[0]
    return s


def c_choice(x: Any) -> Any:
    r = np.random.default_rng(0)
    s = 0.0
    for _ in range(N):
        s += x * r.choice([1.0, 2.0, 3.0])
    return s


def c_str(x: Any) -> Any:

    b = io.StringIO("1\n" * 30 + "2\n" * 50)
    s = 0.0
    for _ in range(N):
        s += x * int(b.readline())
    return s


def c_cache(x: Any) -> Any:
    cache = {}
    s = 0.0
    for k in range(N):
        cache[k % 3] = cache.get(k % 3, 0.0) + 1.0
        s += x * cache[k % 3]
    return s


def c_pop(x: Any) -> Any:
    numbers = list(np.arange(100.0))
    s = 0.0
    for _ in range(N):
        s += x * numbers.pop()
    return s


def c_nested(x: Any) -> Any:
    rng = np.random.default_rng(0)
    s = 0.0
    for _ in range(8):
        for _ in range(8):
            s += x * rng.normal()
    return s


def c_walrus(x: Any) -> Any:
    it = iter(range(60))
    s = 0.0
    while (v := next(it, None)) is not None:
        s += x * v
    return s


PROGRAMS = {name[2:]: f for name, f in list(globals().items()) if name.startswith("c_")}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_trip_has_its_own_number(name: str) -> None:
    program: Callable[[Any], Any] = PROGRAMS[name]
    expected = program(1.3)
    np.testing.assert_allclose(fg.jit(program)(1.3), expected, rtol=1e-12)
    np.testing.assert_allclose(fg.jit(fg.grad(program))(1.3), expected / 1.3, rtol=1e-9)


def test_draws_in_a_loop_until_something_are_refused() -> None:
    def f(x: Any) -> Any:
        rng = np.random.default_rng(0)
        total = 0.0
        while total < 3.0 * x:
            total += x * rng.random()
        return total

    with pytest.raises(TracedBranchError, match=r"and a Generator from outside, which random\(\)"):
        fg.jit(f)(1.3)


def test_draws_in_a_branch_are_refused() -> None:
    def f(x: Any) -> Any:
        rng = np.random.default_rng(0)
        z = rng.normal() if x > 0.0 else 0.0
        return x * z * rng.normal()

    with pytest.raises(TracedBranchError, match="a Generator from outside"):
        fg.jit(f)(1.3)


@pytest.mark.parametrize(
    "generator", [np.random.default_rng(0), np.random.RandomState(0), random.Random(0), np.random]
)
def test_a_generator_made_outside_is_refused_under_jit_and_draws_on_without(generator: Any) -> None:
    draw = generator.gauss if isinstance(generator, random.Random) else generator.normal

    def f(x: Any) -> Any:
        return x * draw(0.0, 1.0)

    assert fg.grad(f)(1.0) != fg.grad(f)(1.0)
    with pytest.raises(ConcretizationError, match="every call would see the numbers of the first"):
        fg.jit(f)(1.0)


@pytest.mark.parametrize("generator", [np.random.RandomState(0), random.Random(0), np.random])
def test_a_normal_number_that_a_generator_has_in_hand_counts_as_drawn(generator: Any) -> None:
    draw = generator.gauss if isinstance(generator, random.Random) else generator.normal
    draw(0.0, 1.0)  # the second is made with the first, and no word of the state is used for it

    def f(x: Any) -> Any:
        return x * draw(0.0, 1.0)

    with pytest.raises(ConcretizationError, match="every call would see the numbers of the first"):
        fg.jit(f)(1.0)


def test_where_generators_stand_is_read_without_their_states() -> None:
    python, numpys = random.Random(0), np.random.RandomState(0)
    for generator, draw in ((python, python.random), (numpys, numpys.random_sample)):
        start = standing_bytes(generator)
        assert start is not None
        assert start == standing_bytes(generator)
        draw()
        assert start != standing_bytes(generator)
    assert standing_bytes(np.random.default_rng(0)) is None
