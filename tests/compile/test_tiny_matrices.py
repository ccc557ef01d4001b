"""Tiny matrices in native code: values are LAPACK's to rounding, and a singular matrix raises as it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.runtime.executable import compiled


def solutions(a: Any, b: Any) -> Any:
    return np.linalg.solve(a, b)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "inv": lambda a, b: np.linalg.inv(a),
    "det": lambda a, b: np.linalg.det(a),
    "solve": solutions,
    "gradient of det": fg.grad(lambda a, b: np.sum(np.linalg.det(a) ** 2)),
    "gradient of solve": fg.grad(lambda a, b: np.sum(np.linalg.solve(a, b) ** 2), argnums=(0, 1)),
    "gradient of inv": fg.grad(lambda a, b: np.sum(np.linalg.inv(a) ** 2)),
}


@pytest.mark.at_length
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("stack", [(), (2, 3)], ids=str)
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_is_evaluated(name: str, n: int, stack: Any, dtype: Any, rng: np.random.Generator) -> None:
    a = (rng.standard_normal((*stack, n, n)) + 3.0 * np.eye(n)).astype(dtype)
    b = rng.standard_normal((*stack, n, 2)).astype(dtype)
    f = FUNCTIONS[name]
    found, expected = fg.jit(f)(a, b), f(a, b)
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for x, y in pairs:
        assert x.dtype == y.dtype
        tolerance = 1e-11 if dtype is np.float64 else 1e-3
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


def test_it_is_native() -> None:
    a = np.eye(3) + np.zeros((4, 3, 3))
    loss = fg.value_and_grad(lambda a: np.sum(np.linalg.solve(a, a[:, :1].swapaxes(1, 2))))
    assert not compiled(fg.make_program(loss)(a)).reasons


@pytest.mark.parametrize("f", [np.linalg.inv, lambda a: np.linalg.solve(a, a)])
def test_singular_matrices_raise(f: Any) -> None:
    a = np.eye(3) + np.zeros((4, 3, 3))
    a[2] = 1.0
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        fg.jit(f)(a)


def test_near_singular_and_badly_scaled_matrices(rng: np.random.Generator) -> None:
    a = rng.standard_normal((300, 3, 3))
    a[:100, 0] *= 1e-9
    a[100:200, 1] = a[100:200, 0] * (1 + 1e-7 * rng.standard_normal((100, 3)))
    a[200] = np.arange(9.0).reshape(3, 3)
    a[201] = np.ones((3, 3))
    a[202] = 0.0
    found, expected = fg.jit(np.linalg.det)(a), np.linalg.det(a)
    bound = np.abs(a).max((-2, -1)) * np.abs(fg.grad(lambda a: np.sum(np.linalg.det(a)))(a)).max((-2, -1))
    assert np.all(np.abs(found - expected) <= 1e-14 * bound + 1e-14)
    regular = a[:200]
    error = fg.jit(np.linalg.inv)(regular) @ regular - np.eye(3)
    assert np.all(np.abs(error).max((-2, -1)) <= 1e-14 * np.linalg.cond(regular))


@pytest.mark.parametrize("shape", [(30000,), (2, 15000), (15000, 2)], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_long_stacks_are_divided_between_threads(name: str, shape: Any, rng: np.random.Generator) -> None:
    a = rng.standard_normal((*shape, 3, 3)) + 3.0 * np.eye(3)
    b = rng.standard_normal((*shape, 3, 2))
    f = fg.jit(FUNCTIONS[name])
    assert "parallel(matrices" in f.kernel_source(a, b)
    found, expected = f(a, b), FUNCTIONS[name](a, b)
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for x, y in pairs:
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-10)


def test_a_singular_matrix_in_a_divided_stack_raises(rng: np.random.Generator) -> None:
    a = rng.standard_normal((30000, 3, 3))
    a[4321] = 1.0
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        fg.jit(np.linalg.inv)(a)


def test_pivots_that_nobody_reads_take_no_memory() -> None:
    a = np.eye(3) + np.zeros((50, 3, 3))
    source = fg.jit(lambda a: np.linalg.solve(a, a[:, :1].swapaxes(1, 2))).kernel_source(a)
    assert "as_i32" not in source
