"""Loops that carry arrays which do not lie in rows: what a write through `ravel` and `reshape` reaches.

One recording stands for all trips. Where the layout is the same in all of them it is known; elsewhere the
loop is unrolled, or refused by name. Everything against the same program run by Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import FuncgradError

Array = Any
Y = np.array([0.7, 1.3, 0.4])
WEIGHTS = np.arange(1.0, 10.0).reshape(3, 3)

STARTS: dict[str, Callable[[Array], Array]] = {
    "rows": lambda y: np.outer(y, y**2),
    "columns": lambda y: np.outer(y, y**2).T * 2.0,
    "zeros": lambda y: np.zeros((3, 3)),
    "zeros in columns": lambda y: np.zeros((3, 3), order="F"),
    "captured columns": lambda y: np.asfortranarray(WEIGHTS) * y[0],
}
STEPS: dict[str, Callable[[Array, Array], Array]] = {
    "same": lambda a, y: a,
    "scaled": lambda a, y: a * 0.9 + y[0],
    "turned": lambda a, y: a.T * 0.9,
    "turned and added": lambda a, y: a.T * 0.9 + WEIGHTS.T,
    "product": lambda a, y: a @ WEIGHTS * 0.01,
}
VIEWS: dict[str, Callable[[Array], Array]] = {
    "ravel": lambda a: a.ravel(),
    "reshape": lambda a: a.reshape(9),
    "T.ravel": lambda a: a.T.ravel(),
    "reshape in columns": lambda a: a.reshape(-1, order="F"),
    "asfortranarray": lambda a: np.asfortranarray(a).T.reshape(9),
}


def in_a_loop(start: Any, step: Any, see: Any) -> Callable[[Array], Array]:
    def program(y: Array) -> Array:
        a = start(y)
        for i in range(61):
            a = step(a, y)
            b = see(a)
            b[1] = y[1] * i
        return np.sum(a * WEIGHTS)

    return program


def until(start: Any, step: Any, see: Any) -> Callable[[Array], Array]:
    def program(y: Array) -> Array:
        a, i = start(y), 0
        while i < 20 and a[0, 0] < 1e6 * y[0]:
            a = step(a, y)
            b = see(a)
            b[1] = y[1] * i
            i += 1
        return np.sum(a * WEIGHTS)

    return program


def after_a_loop(start: Any, step: Any, see: Any) -> Callable[[Array], Array]:
    def program(y: Array) -> Array:
        a = start(y)
        for _ in range(61):
            a = step(a, y)
        b = see(a)
        b[1] = 7.0 * y[0]
        return np.sum(a * WEIGHTS)

    return program


def after_a_branch(start: Any, step: Any, see: Any) -> Callable[[Array], Array]:
    def program(y: Array) -> Array:
        a = start(y)
        if y[0] > 0.5:
            a = step(a, y)
        b = see(a)
        b[1] = 7.0 * y[0]
        return np.sum(a * WEIGHTS)

    return program


SHAPES = [in_a_loop, until, after_a_loop, after_a_branch]
CELLS = [(shape, start, step) for shape in SHAPES for start in STARTS for step in STEPS]


@pytest.mark.at_length
@pytest.mark.parametrize(("shape", "start", "step"), CELLS, ids=lambda x: getattr(x, "__name__", x))
def test_a_write_reaches_what_it_reaches_in_python(shape: Any, start: str, step: str) -> None:
    for see in VIEWS.values():
        program = shape(STARTS[start], STEPS[step], see)
        wanted = program(Y)
        for way in (fg.jit, lambda f: lambda y: fg.vmap(f)(y[None])[0]):
            try:
                found = way(program)(Y)
            except FuncgradError:
                continue
            np.testing.assert_allclose(found, wanted, rtol=1e-9)


@pytest.mark.parametrize("start", ["rows", "columns", "captured columns"])
def test_where_no_trip_changes_the_layout_the_loop_stays_one(start: str) -> None:
    program = in_a_loop(STARTS[start], STEPS["scaled"], VIEWS["ravel"])
    np.testing.assert_allclose(fg.jit(program)(Y), program(Y))
    slope = [(program(Y + h) - program(Y - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(fg.jit(fg.grad(program))(Y), slope, rtol=1e-5, atol=1e-6)


def test_a_small_captured_array_lies_as_it_lies() -> None:
    def program(y: Array) -> Array:
        a = y[0] * WEIGHTS.T
        b = a.ravel()
        b[1] = 7.0 * y[1]
        return np.sum(a * WEIGHTS)

    slope = [(program(Y + h) - program(Y - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    for transformed in (fg.grad(program), fg.jit(fg.grad(program)), fg.jacfwd(program)):
        np.testing.assert_allclose(transformed(Y), slope, rtol=1e-6, atol=1e-6)
