"""Gradients by one array take a way of their own: it gives what the general way gives, errors and all.

A negative number of the argument goes the general way.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.api.calling.calls import CACHE

X = np.linspace(0.1, 1.0, 10)


class Scaled:
    """An object with the function as its method."""

    def __init__(self, by: float) -> None:
        self.by = by

    def __call__(self, x: Any) -> Any:
        return np.sum(x * self.by)

    def loss(self, x: Any) -> Any:
        return np.sum(np.sin(x) * self.by)


def written(x: Any) -> Any:
    """A constructor's array, written into."""
    z = np.zeros(10)
    z[:] = x * x
    return z.sum()


def looked_at(x: Any) -> Any:
    """A branch on a value."""
    return np.sum(x * x) if x[0] > 0.05 else np.sum(x)


def nested(x: Any) -> Any:
    """A gradient inside."""
    return np.sum(fg.grad(lambda y: np.sum(y**3))(x) * x)


def swallowed(x: Any) -> Any:
    """A refusal that is caught, and gone on from: the same without a trace."""
    with suppress(TypeError):
        float(x[0] * 2.0)
    return np.sum(x * 2.0)


FUNCTIONS: list[Callable[[Any], Any]] = [
    lambda x: np.sum(np.tanh(x * 2.0 + 1.0)),
    lambda x: np.max(3.0 / x) + np.prod(x) - np.min(x),
    lambda x: np.sum(x, axis=0) + np.sum(a=x) + x.sum(),
    lambda x: x.sum() if x.ndim else x,
    lambda x: 1.0 * x[3],
    lambda x: np.float64(3.0),
    lambda x: x.reshape(2, 5).T[0, 1],
    Scaled(3.0),
    Scaled(2.0).loss,
    np.linalg.norm,
    written,
    looked_at,
    nested,
    swallowed,
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("x", [X, X.astype(np.float32), X[::-1]])
def test_results_are_those_of_the_general_way(function: Callable[[Any], Any], x: Any) -> None:
    wanted_value, wanted = fg.value_and_grad(function, -1)(x)
    for _ in range(3):
        value, found = fg.value_and_grad(function)(x)
        assert type(found) is type(wanted)
        assert (found.dtype, value.dtype) == (wanted.dtype, wanted_value.dtype)
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(value, wanted_value)
        np.testing.assert_array_equal(fg.grad(function)(x), wanted)


def test_they_share_their_programs() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.cos(x) * x)

    fg.grad(f, -1)(X)
    before = CACHE.misses
    fg.grad(f)(X)
    assert CACHE.misses == before


@pytest.mark.parametrize("x", [2.0, np.float64(2.0), np.array(2.0)])
def test_numbers(x: Any) -> None:
    wanted = fg.grad(lambda x: x * x, -1)(x)
    found = fg.grad(lambda x: x * x)(x)
    assert (type(found), found) == (type(wanted), wanted)


def test_other_arguments_and_keywords() -> None:
    def f(a: Any, x: Any, *more: Any, by: float = 1.0) -> Any:
        return np.sum(a * x * by) + sum(np.sum(y * x) for y in more)

    for args in ((X, X + 1.0), (2.0, X, X), (X, X, X, 3.0)):
        wanted = fg.grad(f, 1 - len(args))(*args, by=3.0)
        np.testing.assert_array_equal(fg.grad(f, 1)(*args, by=3.0), wanted)


def fails(x: Any) -> Any:
    """An error of the user's."""
    raise KeyError("mine")


def leaks(x: Any) -> Any:
    """A refusal of ours."""
    return np.sum(x) * float(x[0] + 1.0)


REFUSED: list[tuple[Callable[[Any], Any], Any]] = [
    (lambda x: x * 2.0, X),
    (lambda x: (np.sum(x), 1.0), X),
    (lambda x: np.sum(x) > 0.0, X),
    (lambda x: "text", X),
    (lambda x: x + np.ones(3), X),
    (lambda x: 1j * np.sum(x), X),
    (np.sum, np.arange(3)),
    (np.sum, "text"),
    (np.sum, 3),
    (np.linalg.inv, X),
    (fails, X),
    (leaks, X),
]


@pytest.mark.parametrize(("function", "x"), REFUSED)
def test_errors_are_those_of_the_general_way(function: Callable[[Any], Any], x: Any) -> None:
    said = []
    for number in (0, -1):
        with pytest.raises(Exception) as caught:  # noqa: PT011 - which one is the question
            (fg.grad(function, number))(x)
        said.append((type(caught.value), str(caught.value).replace("argnums=-1", "argnums=0")))
    assert said[0] == said[1]


def test_what_the_user_waits_for_outside_is_not_waited_for_inside() -> None:
    """A ``try`` around the gradient is none of the traced function's."""

    def f(x: Any) -> Any:
        return np.linalg.inv(x).sum()

    found = []
    for number in (0, -1):
        try:
            fg.grad(f, number)(np.zeros((2, 2)))
        except np.linalg.LinAlgError as error:
            found.append(str(error))
    assert len(found) == 2
    assert found[0] == found[1]


def test_missing_arguments_are_named() -> None:
    with pytest.raises(fg.errors.ArgnumsError, match="1 positional"):
        fg.grad(lambda *args: args[0], 1)(X)


def test_floating_point_errors_that_raise_are_refused_alike() -> None:
    said = []
    for number in (0, -1):
        with np.errstate(all="raise"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                said.append(repr(fg.grad(lambda x: np.sum(x * x), number)(X)))
            except fg.errors.FuncgradError as error:
                said.append(str(error))
    assert said[0] == said[1]


def test_threads_trace_by_themselves() -> None:
    gradient = fg.grad(lambda x: np.sum(x * x))
    found: list[Any] = []
    threads = [threading.Thread(target=lambda k=k: found.append((k, gradient(X * k)))) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, g in found:
        np.testing.assert_array_equal(g, 2.0 * (X * k))
    assert len(found) == 4
