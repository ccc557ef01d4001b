"""What a traced value is to code that asks: the number or array of NumPy's that it stands for.

Each function takes another branch for a number than for an array, or for what is neither.
"""

from __future__ import annotations

import functools
import numbers
from collections.abc import Callable, Hashable, Iterable, Sized
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.tracing.tracer import Tracer

X = np.array([0.7, 1.3, 2.1])
Function = Callable[[Any], Any]


@functools.singledispatch
def doubled(v: Any) -> Any:
    return v * 2.0


@doubled.register
def tripled(v: float) -> Any:
    return v * 3.0


@doubled.register(np.ndarray)
def summed(v: Any) -> Any:
    return v.sum() * 5.0


@doubled.register(list)
def each_doubled(v: Any) -> Any:
    return sum(doubled(u) for u in v)


class Scaling:
    k = 2.0

    @functools.singledispatchmethod
    def scaled(self, v: Any) -> Any:
        return v * 7.0

    @scaled.register
    def _(self, v: float) -> Any:
        return v * self.k


def test_functions_chosen_by_kind_are_right_where_code_is_left_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The default was chosen without a word, for `singledispatch` asks for the class of what it is given."""
    monkeypatch.setenv("FUNCGRAD_CONSTRUCTORS", "0")
    np.testing.assert_array_equal(fg.grad(lambda x: doubled(x[0]) + doubled(x))(X), [8.0, 5.0, 5.0])
    assert fg.grad(lambda x: Scaling().scaled(x))(0.7) == 2.0
    assert fg.jit(lambda x: doubled(x) + 0.0, control_flow=False)(X) == 5.0 * X.sum()


@runtime_checkable
class Shaped(Protocol):
    shape: Any


def by_pattern(x: Any) -> Any:
    total: Any = 0.0
    for v in (x[0], 2, [x[1]], "text", True, x):
        match v:
            case bool():
                total += 100.0
            case int(n):
                total += n * x[0]
            case numbers.Real():
                total += v * 3.0
            case [inner]:
                total += inner * 5.0
            case np.ndarray(ndim=1):
                total += v.sum()
            case str():
                total += x[2]
    return total


def by_pattern_that_binds(x: Any) -> Any:
    match x[0]:
        case int() | str():
            return x[0] * 7.0
        case float(v):
            return v * 2.0
        case _:
            return x[0] * 3.0


def made_one_dimensional(x: Any) -> Any:
    def squared(v: Any) -> Any:
        alone = np.isscalar(v)
        v = np.atleast_1d(v) ** 2
        return v[0] if alone else v

    return squared(x[0]) + squared(x).sum() + squared(2.0)


FUNCTIONS: dict[str, Function] = {
    "np.isscalar": made_one_dimensional,
    "Iterable": lambda x: x[0] * (2 if isinstance(x[0], Iterable) else 3) + isinstance(x, Iterable),
    "Sized": lambda x: x[0] * (2 if isinstance(x[0], Sized) else 3) + isinstance(x, (int, (str, Sized))),
    "Hashable": lambda x: x[0] * (2 if isinstance(x, Hashable) else 3),
    "float | int": lambda x: x[0] * (2 if isinstance(x[0], float | int) else 3),
    "a protocol": lambda x: x[0] * (2 if isinstance(x, Shaped) else 3),
    "hasattr __len__": lambda x: x[0] * (2 if hasattr(x[0], "__len__") else 3) + hasattr(x, "__len__"),
    "hasattr is_integer": lambda x: x[0] * (2 if hasattr(x[0], "is_integer") else 3),
    "hasattr of others": lambda x: x[0] * (2 if hasattr(X, "shape") and not hasattr(X, "aval") else 3),
    "getattr with a default": lambda x: x[0] * (2 if getattr(x[0], "__len__", None) else 3) * x.ndim,
    "__class__": lambda x: x[0] * (2 if x.__class__ is np.ndarray else 3) * len(x[0].__class__.__name__),
    "singledispatch": lambda x: doubled(x[0]) * doubled(x) + doubled([x[1], 3]),
    "singledispatchmethod": lambda x: Scaling().scaled(x[0]) * x[1],
    "match": by_pattern,
    "match that binds": by_pattern_that_binds,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_traced_value_is_what_it_stands_for(name: str) -> None:
    f = FUNCTIONS[name]
    expected = f(X)
    step = 1e-6 * np.eye(3)
    slope = [(f(X + e) - f(X - e)) / 2e-6 for e in step]
    for value, found in (fg.value_and_grad(f)(X), fg.jit(fg.value_and_grad(f))(X)):
        np.testing.assert_allclose(value, expected)
        np.testing.assert_allclose(found, slope, rtol=1e-6, atol=1e-8)


def test_classes_of_ours_are_known_by_name() -> None:
    """Code that is written for traced values may still ask for them."""

    def f(x: Any) -> Any:
        return x[0] * (2.0 if isinstance(x, (Tracer, list)) else 3.0)

    np.testing.assert_allclose(fg.grad(f)(X), [2.0, 0.0, 0.0])


def test_a_shape_that_is_set_is_refused_with_what_to_write() -> None:
    def f(x: Any) -> Any:
        y = x * 2.0
        y.shape = (3,)
        y.shape = (3, 1)
        return y.sum()

    for way in (fg.grad(f), fg.jit(f)):
        with pytest.raises(UnsupportedFunctionError, match=r"x\.reshape\(\(3, 1\)\)"):
            way(np.arange(3.0))


@pytest.mark.parametrize("mode", [*np._CopyMode, True, None])
def test_arrays_are_copied_as_copy_modes_say(mode: Any) -> None:
    np.testing.assert_allclose(fg.grad(lambda x: fg.numpy.array(x, copy=mode).sum())(np.ones(2)), [1.0, 1.0])


@pytest.mark.parametrize("name", ["__call__", "__name__", "__mro__", "shape", "__len__", "nothing"])
def test_attributes_are_those_of_an_array_and_not_of_its_class(name: str) -> None:
    def f(x: Any) -> Any:
        return x.sum() * (2.0 if hasattr(x, name) else 1.0) + (getattr(x, name, None) is not None)

    for way in (fg.grad(f), fg.jit(fg.grad(f))):
        np.testing.assert_array_equal(way(np.ones(2)), [1.0 + hasattr(np.ones(2), name)] * 2)
