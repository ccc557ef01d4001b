"""Operators of the user's own classes: what they compute is seen, and Python's rules choose among them."""

from __future__ import annotations

import dataclasses
import gc
import math
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.tracing.python import attributes
from funcgrad.tracing.python.attributes import names_of_users
from funcgrad.tracing.tracer import Tracer

X = np.array([1.1, 2.3, 0.7])
Function = Callable[[Any], Any]


class Turn:
    """Numbers of a kind of its own, whose operators make arrays and call `math`."""

    def __init__(self, *parts: Any) -> None:
        self.parts = np.array(parts, dtype=float)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Turn):
            a, b = self.parts, other.parts
            return Turn(a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0])
        if isinstance(other, dict):
            return NotImplemented
        z = np.zeros(2)
        z[:] = self.parts * math.exp(other)
        return Turn(*z)

    def __rmul__(self, other: Any) -> Any:
        return self * (2.0 * other)

    def __neg__(self) -> Any:
        return Turn(*[-math.sin(part) for part in self.parts])

    def __iadd__(self, other: Any) -> Any:
        self.parts = self.parts + math.tanh(other.parts[0])
        return self

    def __add__(self, other: Any) -> Any:
        z = np.zeros(2)
        z[:] = self.parts + other.parts
        return Turn(*z)

    def __pow__(self, n: int) -> Any:
        return self if n == 1 else self * self ** (n - 1)


class Total:
    """A sum that has no operator in place."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __add__(self, other: Any) -> Any:
        return Total(self.value + math.cos(other))

    def __sub__(self, other: Any) -> Any:
        return self.value - math.sin(other.value if isinstance(other, Total) else other)

    def __rsub__(self, other: Any) -> Any:
        return math.exp(self.value) - other


class Holder:
    """Holds a sum and adds to it."""

    def __init__(self) -> None:
        self.total = Total(0.0)

    def add(self, x: Any) -> None:
        self.total += x


class Overriding(Turn):
    """A subclass whose reflected operator goes first."""

    def __rmul__(self, other: Any) -> Any:
        return Turn(math.sin(other.parts[0] if isinstance(other, Turn) else other), self.parts[1])


def operators_of_objects(x: Any) -> Any:
    p, q = Turn(x[0], x[1]), Turn(x[1], x[2])
    r = -(p * q * (0.1 * x[0])).parts + (0.3 * x[1] * p).parts
    return np.sum(r)


def operators_of_subclasses(x: Any) -> Any:
    p, q = Turn(x[0], x[1]), Overriding(x[1], x[2])
    return (p * q).parts.sum() + (x[0] * q).parts[0] + (-(p**3)).parts[1] + (np.sin(x[0]) * p).parts[1]


def operators_in_place(x: Any) -> Any:
    p, q = Turn(x[0], x[1]), Turn(x[1], x[2])
    r = p
    p += q
    total, holder = Total(x[2]), Holder()
    for t in x:
        total += t
        holder.add(2.0 * t)
    return np.sum(r.parts**2) + total.value + (x[0] - holder.total) + (total - x[1]) + (total - Total(x[0]))


FUNCTIONS: list[Function] = [operators_of_objects, operators_of_subclasses, operators_in_place]
names = pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)


def differences(f: Function) -> Any:
    return np.array([(f(X + step) - f(X - step)) / 2e-6 for step in 1e-6 * np.eye(X.size)])


@names
def test_gradients_as_the_function_stands(f: Function) -> None:
    value, slope = fg.value_and_grad(f)(X)
    np.testing.assert_allclose(value, f(X), rtol=1e-12)
    np.testing.assert_allclose(slope, differences(f), rtol=2e-5, atol=1e-7)


@names
def test_compiled(f: Function) -> None:
    np.testing.assert_allclose(fg.jit(f)(X), f(X), rtol=1e-11)
    np.testing.assert_allclose(fg.jit(fg.grad(f))(X), fg.grad(f)(X), rtol=1e-9)


@names
def test_second_derivatives(f: Function) -> None:
    slope = fg.grad(f)
    expected = np.array([(slope(X + h) - slope(X - h)) / 2e-5 for h in 1e-5 * np.eye(X.size)])
    np.testing.assert_allclose(fg.hessian(f)(X), expected, rtol=1e-4, atol=1e-5)


def test_operators_that_are_not_defined_are_refused_by_python() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        fg.grad(lambda x: (Turn(x[0], x[1]) * {}).parts[0])(X)
    with pytest.raises(TypeError, match="Turn"):
        fg.grad(lambda x: (Turn(x[0], x[1]) / x[2]).parts[0])(X)


def test_modules_may_be_imported_while_they_are_looked_through() -> None:
    """Other threads import theirs while a trace looks for classes, as this callback of the collector does."""
    names = [f"_imported_meanwhile_{k}" for k in range(1000)]
    left = iter(names)

    def imports(phase: str, _: dict[str, int]) -> None:
        if phase == "start" and (name := next(left, None)) is not None:
            sys.modules[name] = ModuleType(name)

    thresholds = gc.get_threshold()
    gc.callbacks.append(imports)
    try:
        gc.set_threshold(1)
        found = names_of_users()
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(imports)
        came = [name for name in names if sys.modules.pop(name, None) is not None]
    assert came
    assert "__class__" in found


def test_classes_that_a_library_makes_of_the_users_functions_are_looked_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A tracer's class, which closures hold, is a library's and is not: it has hundreds of names."""

    def norm(self: Any) -> Any:
        out = np.zeros(2)
        out[:] = self.parts[:2] * math.sqrt(self.parts[0])
        return out[0] + out[1]

    kind = dataclasses.make_dataclass("Made", ["parts"], namespace={"length_made": property(norm)})
    kind.__module__ = "dataclasses"

    def length(x: Any) -> Any:
        return kind(x).length_made

    looked: list[object] = []
    among = attributes.names_among

    def noted(kinds: Any, *rest: Any) -> Any:
        looked.extend(kinds := list(kinds))
        return among(kinds, *rest)

    def around(x: Any) -> Any:
        def inside() -> Any:
            return length(x) + np.sum(x)

        return inside()

    monkeypatch.setattr(attributes, "names_among", noted)
    root = math.sqrt(X[0])
    np.testing.assert_allclose(fg.grad(around)(X), [1.5 * root + 0.5 * X[1] / root + 1, root + 1, 1])
    assert any(x is kind for x in looked)
    assert not any(x is Tracer for x in looked)
