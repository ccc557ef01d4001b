"""Modules of functions that write into their arguments, and of loops that hold what NumPy computes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special as sp

import funcgrad as fg

ENGINES = ("numba", "numpy")


def scaled_into(x: Any, out: Any) -> Any:
    for i in range(x.size):
        out[i] = 2.0 * x[i]
    return np.sum(out)


def added_into(x: Any, out: Any) -> None:
    out += 2.0 * x


def squared_in_place(x: Any) -> Any:
    x[0] = x[0] ** 2
    return np.sum(x * x), x


def columns(a: Any, b: Any, c: Any) -> Any:
    c[:, 0] += a @ b
    a *= 2.0
    return np.sum(a)


def of_a_dict(d: Any) -> Any:
    d["x"][1:] *= 3.0
    return np.sum(d["x"])


WRITERS = (
    (scaled_into, (np.arange(5.0), np.zeros(5))),
    (added_into, (np.arange(5.0), np.ones(5))),
    (squared_in_place, (np.arange(2.0, 6.0),)),
    (columns, (np.ones((3, 4)), np.arange(4.0), np.zeros((3, 2)))),
    (of_a_dict, ({"x": np.arange(4.0)},)),
)


def assert_same_effects(f: Callable[..., Any], g: Callable[..., Any], args: Any) -> None:
    ours, theirs = copy.deepcopy(args), copy.deepcopy(args)
    found, wanted = f(*ours), g(*theirs)
    leaves = zip(fg.tree.leaves((found, ours)), fg.tree.leaves((wanted, theirs)), strict=True)
    for x, y in leaves:
        np.testing.assert_allclose(x, y)


@pytest.mark.at_length
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("f", "args"), WRITERS, ids=[f.__name__ for f, _ in WRITERS])
def test_an_exported_function_writes_what_the_function_writes(f: Any, args: Any, engine: str) -> None:
    made = fg.export(f, engine=engine)(*copy.deepcopy(args))
    assert_same_effects(getattr(made.module(), f.__name__), f, args)


def test_a_numba_function_writes_what_the_function_writes() -> None:
    for f, args in WRITERS[:4]:
        assert_same_effects(fg.njit_callable(f, *copy.deepcopy(args)), f, args)


def test_machine_code_by_address_writes_into_no_arguments() -> None:
    with pytest.raises(fg.errors.UnsupportedFunctionError, match="writes into its arguments"):
        fg.njit_callable(of_a_dict, {"x": np.arange(4.0)})


@pytest.mark.parametrize("engine", ENGINES)
def test_writes_go_into_arrays_with_strides_and_not_into_shared_memory(engine: str) -> None:
    f = fg.export(scaled_into, engine=engine)(np.arange(4.0), np.ones(4)).module().scaled_into
    room = np.zeros(8)
    f(np.arange(4.0)[::-1], room[::2])
    assert room.tolist() == [6.0, 0.0, 4.0, 0.0, 2.0, 0.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="writes into out, which shares memory with x"):
        f(room[1:5], room[2:6])


def test_written_arguments_are_counted_beside_static_ones() -> None:
    def power_into(n: int, x: Any, out: Any) -> None:
        out[:] = x**n

    made = fg.export(fg.jit(power_into, static_argnums=0))(3, np.arange(3.0), np.zeros(3))
    out = np.zeros(3)
    made.module().power_into(3, np.arange(3.0), out)
    assert out.tolist() == [0.0, 1.0, 8.0]


# -- loops ---------------------------------------------------------------------------------------------------


def of_gammas(x: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        total = total + sp.gammaln(x[i] ** 2 + 1.0) * i
    return total


def of_solutions(x: Any, a: Any) -> Any:
    y = x
    for _ in range(5):
        y = np.linalg.solve(a + np.diag(y), y) + x
    return np.sum(y**2)


def of_factors(x: Any, stack: Any) -> Any:
    y = x
    for i in range(stack.shape[0]):
        y = np.linalg.solve(stack[i], y) + x
        y = y * np.max(np.linalg.eigh(stack[i] + stack[i].T)[0])
        y = y + np.linalg.cholesky(stack[i] @ stack[i].T)[:, 0]
        y = y + 0.1 * np.sort(y)
    return np.sum(y**2)


def matrices(*shape: int) -> Any:
    return np.random.default_rng(3).normal(size=shape) + 5.0 * np.eye(shape[-1])


LOOPS = (
    (of_gammas, (np.linspace(-1.0, 1.0, 4),)),
    (of_solutions, (np.linspace(-1.0, 1.0, 4), matrices(4, 4))),
    (of_factors, (np.linspace(-1.0, 1.0, 4), matrices(6, 4, 4))),
)


@pytest.mark.at_length
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("f", "args"), LOOPS, ids=[f.__name__ for f, _ in LOOPS])
def test_what_loops_hold_is_exported(f: Any, args: Any, engine: str) -> None:
    slope = fg.export(fg.grad(f), engine=engine)(*args).module()
    np.testing.assert_allclose(getattr(slope, f.__name__)(*args), fg.grad(f)(*args), rtol=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_small_example_gives_a_loop(n: int, engine: str) -> None:
    def chained(x: Any) -> Any:
        total = 0.0
        for i in range(1, x.shape[0]):
            total = total + (x[i] - x[i - 1] ** 2) ** 2
        return total

    slope = fg.export(fg.grad(chained), engine=engine)(np.linspace(0.1, 1.0, n)).module().chained
    for k in (2, 3, 5, 20):
        x = np.linspace(0.1, 1.0, k)
        np.testing.assert_allclose(slope(x), fg.grad(chained)(x))


def test_loops_of_as_many_trips_at_all_sizes_stay_unrolled() -> None:
    def smoothed(x: Any) -> Any:
        for k in range(5):
            x = np.sin(x) * (1.0 + 0.1 * k)
        return np.sum(x)

    made = fg.export(fg.grad(smoothed))(np.linspace(0.0, 1.0, 100))
    assert "for t1 in" not in made.text
    for n in (0, 1, 7):
        x = np.linspace(0.0, 1.0, n)
        np.testing.assert_allclose(made.module().smoothed(x), fg.grad(smoothed)(x))
