"""What a compiled function does to arrays, iterators and generators from outside: each time, or refused."""

from __future__ import annotations

import datetime as dt
import io
import itertools
import os
import random
import secrets
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats

import funcgrad as fg
from funcgrad import errors

PARTLY: list[Callable[[Any], Any]] = [
    lambda a: np.copyto(a, 3.0, where=np.array([True, False, True])),
    lambda a: np.add(a, 1.0, out=a),
    lambda a: np.add(a, 1.0, a),
    lambda a: np.cumsum(a, out=a),
    lambda a: a.clip(0.0, 1.0, out=a),
    lambda a: np.add.at(a, [0, 0], 1.0),
    lambda a: np.negative.at(a, [0]),
    lambda a: np.put(a, [0], 9.0),
    lambda a: np.place(a, a > 2.0, 0.5),
    lambda a: np.putmask(a, a > 2.0, 0.5),
    lambda a: np.fill_diagonal(a.reshape(3, 1), 9.0),
    lambda a: np.put_along_axis(a, np.array([0]), 3.0, 0),
    lambda a: a.sort(),
    lambda a: a.partition(1),
    lambda a: np.random.default_rng(0).shuffle(a),
    lambda a: memoryview(a).__setitem__(0, 7.0),
    lambda a: [e.__setitem__(..., 2.0 * e) for e in np.nditer(a, op_flags=[["readwrite"]])],
]


@pytest.mark.parametrize("write", PARTLY)
def test_an_array_from_outside_that_is_changed_is_refused_and_as_it_was(write: Callable[[Any], Any]) -> None:
    a = np.array([3.4, 1.2, 2.1])

    def f(x: Any) -> Any:
        write(a)
        return 2.0 * x

    with pytest.raises(
        errors.TracerAssignmentError, match=r"(?s)from outside.*Pass the array as an argument"
    ):
        fg.jit(f)(np.ones(3))
    assert a.tolist() == [3.4, 1.2, 2.1]


def test_the_line_of_the_write_is_named() -> None:
    held = {"sums": np.zeros(3)}

    def f(x: Any) -> Any:
        y = np.sin(x)
        np.add.at(held["sums"], [0], 1.0)
        return y + np.cos(x)

    with pytest.raises(errors.TracerAssignmentError, match=r"np\.add\.at\(held"):
        fg.jit(f)(np.ones(3))


@pytest.mark.parametrize(
    "fill",
    [
        lambda a: np.copyto(a, 3.0),
        lambda a: a.fill(7.0),
        lambda a: np.multiply(np.arange(3.0), 2.0, out=a),
        lambda a: np.random.default_rng(0).random(out=a),
    ],
)
def test_an_array_that_is_filled_anew_is_filled_at_every_call(fill: Callable[[Any], Any]) -> None:
    a, expected = np.zeros(3), np.zeros(3)

    def f(x: Any, held: Any) -> Any:
        fill(held)
        return np.sum(x * held)

    jitted = fg.jit(lambda x: f(x, a))
    for k in range(3):
        a[:] = expected[:] = k
        assert jitted(np.ones(3)) == f(np.ones(3), expected)
        assert a.tolist() == expected.tolist()


def test_a_table_that_is_computed_at_the_first_call_only_is_allowed() -> None:
    class Model:
        table = np.zeros(3)
        ready = False

        def __call__(self, x: Any) -> Any:
            if not self.ready:
                np.copyto(self.table, [1.0, 2.0, 3.0])
                self.ready = True
            return np.sum(x * self.table)

    assert fg.jit(Model())(np.ones(3)) == 6.0


def test_what_a_function_makes_itself_it_may_change() -> None:
    def f(x: Any) -> Any:
        a = np.array([3.0, 1.0, 2.0]) * 2.0

        def largest() -> Any:
            return a[-1]

        first = largest()
        a.sort()
        steps = iter([1.0, 2.0])
        next(steps)
        return x * largest() * next(steps) + first

    assert fg.jit(f)(np.ones(3)).tolist() == f(np.ones(3)).tolist()


@pytest.mark.parametrize(
    "index", [np.array([2, 0]), [2, 0], np.array([True, False, True]), (np.array([2, 0]),), ()]
)
def test_what_a_function_makes_itself_it_may_change_at_any_index(index: Any) -> None:
    table = np.array([3.0, 1.0, 2.0])

    def f(x: Any) -> Any:
        a = table * 2.0
        a[index] = 0.5 * np.sin(a[index])
        return np.sum(x * a)

    x = np.ones(3)
    np.testing.assert_allclose(fg.jit(fg.grad(f))(x), fg.grad(f)(x))


STEPS, COUNT, LINES = iter(range(100)), itertools.count(), io.StringIO("1\n2\n3\n")
GENERATOR = (k for k in range(100))


@pytest.mark.parametrize(
    "read",
    [
        lambda: next(STEPS),
        STEPS.__next__,
        lambda: GENERATOR.send(None),
        lambda: sum(itertools.islice(COUNT, 2)),
        lambda: next(k for k, _ in zip(COUNT, [1], strict=False)),
        lambda: float(LINES.readline()),
        lambda: np.random.default_rng().random(),
        lambda: random.Random().random(),
        lambda: np.random.RandomState().rand(),
        lambda: secrets.randbelow(100),
        lambda: os.urandom(1)[0],
        lambda: uuid.uuid4().int,
        time.perf_counter,
        lambda: dt.datetime.now().timestamp(),
        input,
    ],
)
def test_what_another_call_would_find_changed_is_refused(read: Callable[[], Any]) -> None:
    with pytest.raises(errors.ConcretizationError, match=r"(?s)argument"):
        fg.jit(lambda x: x * read())(np.ones(3))


class Drawing:
    """As classes of packages are: a generator is made at once, and drawn from if somebody asks."""

    def __init__(self, seed: int | None = None) -> None:
        self.rng = np.random.Generator(np.random.PCG64(seed))

    def square(self, x: Any) -> Any:
        return np.sum(x**2)


def test_generators_of_no_seed_may_be_made_and_not_drawn_from() -> None:
    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(fg.jit(fg.grad(lambda x: Drawing().square(x)))(x), 2.0 * x)
    seeded = fg.jit(lambda x: x * Drawing(3).rng.normal())
    np.testing.assert_array_equal(seeded(x), x * Drawing(3).rng.normal())
    for draw in (
        lambda: 2.0 * Drawing().rng.normal(),
        lambda: np.random.default_rng(Drawing().rng).random(),
        lambda: np.random.Generator(Drawing().rng.bit_generator).random(),
        lambda: np.random.default_rng(np.random.SeedSequence()).random(),
        lambda: scipy.stats.norm.rvs(random_state=Drawing().rng),
    ):
        with pytest.raises(errors.ConcretizationError, match=r"no seed|the system"):
            fg.jit(lambda x, draw=draw: x * draw())(x)


def test_draws_of_libraries_are_refused() -> None:
    rng = np.random.default_rng(3)
    with pytest.raises(errors.ConcretizationError, match="draws from a generator"):
        fg.scan(lambda c, r: (c + rng.normal(), None), 0.0, np.zeros(3))
    with pytest.raises(errors.ConcretizationError, match="draws from a generator"):
        fg.fori_loop(0, 3, lambda i, c: c + np.random.standard_normal(), 0.0)  # noqa: NPY002
    frame = pytest.importorskip("pandas").Series([1.0, 2.0])
    with pytest.raises(errors.ConcretizationError, match="draws from a generator"):
        fg.jit(lambda x: x + frame.sample().iloc[0])(1.0)


def test_draws_of_other_threads_are_theirs() -> None:
    recording, drawn = threading.Event(), threading.Event()

    def drawing() -> None:
        recording.wait()
        np.random.standard_normal()  # noqa: NPY002
        drawn.set()

    def f(x: Any) -> Any:
        recording.set()
        drawn.wait()
        return x * 2.0 if np.random is not None else x  # the global generator is within reach

    thread = threading.Thread(target=drawing)
    thread.start()
    assert fg.jit(f)(1.0) == 2.0
    thread.join()


def test_a_clock_may_be_read_for_other_ends() -> None:
    shown = []

    def f(x: Any) -> Any:
        start = time.perf_counter()
        y = 2.0 * x
        shown.append(time.perf_counter() - start)
        print("at", dt.datetime.now(), file=LINES)
        return y

    assert fg.jit(f)(1.0) == 2.0
