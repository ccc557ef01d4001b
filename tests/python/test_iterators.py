"""Iterators under `jit`: those made inside go where they like, those from outside are refused."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import ConcretizationError

Function = Callable[..., Any]
OUTSIDE = itertools.count(1)


class Windows:
    """The parts of an array of one length, one after another."""

    def __init__(self, x: Any, length: int) -> None:
        self.x, self.length, self.k = x, length, 0

    def __iter__(self) -> Windows:
        return self

    def __next__(self) -> Any:
        if self.k + self.length > len(self.x):
            raise StopIteration
        self.k += 1
        return self.x[self.k - 1 : self.k - 1 + self.length]


class Reader:
    def __init__(self, x: Any) -> None:
        self.elements, self.pairs = iter(x), Windows(x, 2)

    def element(self) -> Any:
        return next(self.elements)

    def pair(self) -> Any:
        return next(self.pairs)


def held_by_an_object(x: Any) -> Any:
    reader = Reader(x)
    a, b = reader.element(), reader.element()
    return a * b + reader.pair()[0] * reader.pair()[1]


def held_by_a_function(x: Any) -> Any:
    windows, numbers = Windows(x, 2), itertools.count()

    def pull() -> Any:
        return next(windows)[next(numbers)]

    return pull() * pull()


def a_generator_held_by_a_function(x: Any) -> Any:
    squares = (v * v for v in x)

    def pull() -> Any:
        return next(squares)

    return pull() * pull()


def gone_through_in_a_branch(x: Any) -> Any:
    windows, total = Windows(x, 2), 0.0
    if x[0] > 0.8:
        for a, b in windows:
            total += a * b
    return total + sum(np.sum(w) for w in windows)


def advanced_in_branches(x: Any) -> Any:
    windows, total = Windows(x, 2), 0.0
    for v in x[:3]:
        if v > 1.0:
            total += next(windows)[0]
    return total


INSIDE = [
    *(held_by_an_object, held_by_a_function, a_generator_held_by_a_function),
    *(gone_through_in_a_branch, advanced_in_branches),
]


@pytest.mark.parametrize("function", INSIDE)
def test_iterators_made_inside_are_pythons(function: Function) -> None:
    for x in (np.array([0.7, 1.3, 2.1, 0.4, 0.6]), np.array([1.7, 0.3, 1.1, 0.4, 0.6])):
        np.testing.assert_allclose(fg.jit(function)(x), function(x), rtol=1e-12)
        np.testing.assert_allclose(fg.jit(fg.grad(function))(x), fg.grad(function)(x), rtol=1e-12)


ADVANCES: list[Callable[[Iterator[float]], Any]] = [
    lambda g: list(itertools.islice(g, 2))[1],
    lambda g: max(g, default=0.0),
    lambda g: np.fromiter(g, float).sum(),
    lambda g: dict(enumerate(g))[0],
    lambda g: functools.reduce(lambda p, q: p + q, g),
    lambda g: max(*g),
    lambda g: float(2.0 in g),
    lambda g: next(map(np.negative, g)),
]


@pytest.mark.parametrize("advance", ADVANCES)
def test_an_iterator_is_where_the_branch_that_was_taken_leaves_it(advance: Function) -> None:
    def function(x: Any) -> Any:
        g = iter([1.0, 2.0, 3.0])
        a = 0.0
        if x > 0:
            a = advance(g)
        return x * (10 * next(g, 7.0) + a)

    def unpacked(x: Any) -> Any:
        g = iter([1.0, 2.0, 3.0])
        a = 0.0
        if x > 0:
            a, *_ = g
        return x * (10 * next(g, 7.0) + a)

    for way in (function, unpacked):
        compiled = fg.jit(way)
        for x in (1.0, -1.0):
            assert compiled(x) == way(x)


def in_a_generator(x: Any) -> Any:
    def numbers() -> Iterator[Any]:
        yield next(OUTSIDE)

    return x * sum(numbers())


class Stateful:
    def __init__(self) -> None:
        self.numbers = itertools.count(1)

    def __call__(self, x: Any) -> Any:
        return x * next(self.numbers)


FROM_OUTSIDE: list[Function] = [
    lambda x: x * next(OUTSIDE),
    lambda x: functools.reduce(lambda p, v: p + v * next(OUTSIDE), [x, x]),
    lambda x: x * [next(OUTSIDE) for _ in range(2)][1],
    functools.partial(lambda k, x: x * k * next(OUTSIDE), 2.0),
    Stateful(),
    in_a_generator,
]
TRANSFORMS: list[Callable[[Function], Function]] = [
    lambda f: f,
    fg.grad,
    fg.value_and_grad,
    lambda f: fg.grad(fg.grad(f)),
    lambda f: lambda x: 2.0 * fg.grad(f)(x),
    fg.vmap,
]


@pytest.mark.parametrize("function", FROM_OUTSIDE)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_iterators_from_outside_are_refused_through_transforms(
    transform: Callable[[Function], Function], function: Function
) -> None:
    """Under a transform the numbers of the first call were those of every call."""
    x = np.ones(2) if transform is fg.vmap else 1.0
    with pytest.raises(ConcretizationError, match="from outside is advanced"):
        fg.jit(transform(function))(x)


class Halves:
    """A sequence without ``__iter__`` whose end a number decides."""

    def __init__(self, x: Any, least: Any) -> None:
        self.x, self.least = x, least

    def __getitem__(self, k: int) -> Any:
        if self.x / 2**k < self.least:
            raise IndexError
        return self.x / 2**k


def halved(x: Any) -> Any:
    total = 0.0 * x
    for v in Halves(x, 0.5):
        total += v * v
    return total


def test_the_end_of_a_sequence_that_a_traced_value_decides() -> None:
    for x in (3.0, 0.7, 9.0):
        np.testing.assert_allclose(fg.jit(halved)(x), halved(x), rtol=1e-12)
        np.testing.assert_allclose(fg.jit(fg.grad(halved))(x), fg.grad(halved)(x), rtol=1e-12)
