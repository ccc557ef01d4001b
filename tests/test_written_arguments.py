"""Arguments that a function writes into: `jit` and `vmap` change the caller's arrays, as NumPy does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import TracerAssignmentError


def by_element(x: Any) -> Any:
    x[0] = 5.0
    return np.sum(x * x)


def by_nested_function(x: Any) -> Any:
    def inner() -> None:
        x[1:] = x[:-1] * 2.0

    inner()
    return np.sum(x)


def by_operator(x: Any) -> Any:
    x -= np.mean(x)
    return x[0]


def by_out(x: Any) -> Any:
    np.multiply(x, 2.0, out=x)
    return np.sum(x)


def by_method(x: Any) -> Any:
    x.sort()
    return x[0]


def by_view(x: Any) -> None:
    row = x[::2]
    row += 1.0


def by_branch(x: Any) -> Any:
    if x[0] > 0:
        x[2] = 7.0
    return x[2]


def by_loop(x: Any) -> Any:
    for k in range(1, len(x)):
        x[k] += np.sin(x[k - 1]) * x[k]
    return x[-1]


def guarded(x: Any) -> Any:
    assert x[0] > -100.0
    x *= 2.0
    return x


WRITING = [
    *(by_element, by_nested_function, by_operator, by_out, by_method, by_view, by_branch, by_loop, guarded),
]
X = np.array([3.0, 1.0, 2.0])


@pytest.mark.parametrize("function", WRITING, ids=lambda f: f.__name__)
def test_jit_changes_the_array_at_every_call(function: Callable[[Any], Any]) -> None:
    jitted = fg.jit(function)
    for start in (X, -X, X + 1.0):
        x, expected = start.copy(), start.copy()
        value, right = jitted(x), function(expected)
        np.testing.assert_allclose(x, expected, rtol=1e-13)
        if right is not None:
            np.testing.assert_allclose(value, right, rtol=1e-13)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("make", [fg.vmap, lambda f, in_axes: fg.jit(fg.vmap(f, in_axes=in_axes))])
def test_vmap_changes_what_it_maps_as_a_loop_does(make: Any, axis: int) -> None:
    x = np.arange(1.0, 10.0).reshape(3, 3)
    expected = x.copy()
    for row in np.moveaxis(expected, axis, 0):
        by_operator(row)
    make(by_operator, in_axes=axis)(x)
    np.testing.assert_allclose(x, expected)


def test_what_is_differentiated_is_a_copy_and_what_is_not_is_the_callers() -> None:
    def f(x: Any, y: Any) -> Any:
        y[0] = 5.0
        x[1] = 0.0
        return np.sum(x * y)

    for make in (fg.grad, lambda f: fg.jit(fg.grad(f))):
        x, y = X.copy(), np.ones(3)
        np.testing.assert_array_equal(make(f)(x, y), [5.0, 0.0, 1.0])
        np.testing.assert_array_equal(x, X)
        np.testing.assert_array_equal(y, [5.0, 1.0, 1.0])


def test_gradients_see_what_a_compiled_function_has_written() -> None:
    jitted = fg.jit(by_loop)

    def f(x: Any) -> Any:
        y = x * 1.0
        return jitted(y) * np.sum(y)

    def plain(x: Any) -> Any:
        y = x * 1.0
        return by_loop(y) * np.sum(y)

    np.testing.assert_allclose(fg.grad(f)(X), fg.grad(plain)(X), rtol=1e-13)


def test_arrays_in_containers_and_keywords() -> None:
    def step(state: Any, *, work: Any) -> None:
        state["a"] += work[0]
        work[1] = state["a"][0]

    state, work = {"a": X.copy()}, np.array([2.0, 0.0])
    fg.jit(step)(state, work=work)
    np.testing.assert_array_equal(state["a"], X + 2.0)
    np.testing.assert_array_equal(work, [2.0, 5.0])


def test_a_read_only_array_is_refused_as_by_numpy() -> None:
    x = X.copy()
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        fg.jit(by_operator)(x)


def test_memory_that_is_read_elsewhere_too_is_refused() -> None:
    def adding(x: Any, y: Any) -> Any:
        x += 1.0
        return np.sum(x * y)

    x = X.copy()
    with pytest.raises(TracerAssignmentError, match="shares its memory with another array"):
        fg.jit(adding)(x, x[::-1])
    with pytest.raises(TracerAssignmentError, match="shares its memory with another array"):
        fg.jit(lambda y: adding(y, x))(x)
    np.testing.assert_array_equal(x, X)


def test_an_argument_that_vmap_does_not_map_is_not_written() -> None:
    def adding(x: Any, total: Any) -> Any:
        total += x
        return np.sum(total)

    with pytest.raises(TracerAssignmentError, match="writes into an argument that vmap does not map"):
        fg.vmap(adding, in_axes=(0, None))(X, np.zeros(2))
