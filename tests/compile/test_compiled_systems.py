"""Systems of linear equations, inverses and determinants in native code are NumPy's, and so are errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.runtime.executable import compiled

TOLERANCES = {np.float64: 1e-9, np.float32: 1e-3}


def log_determinant(a: Any, b: Any) -> Any:
    sign, log = np.linalg.slogdet(a)
    return sign, log


def turned_operands(a: Any, b: Any) -> Any:
    flipped = (a * 2.0).swapaxes(-1, -2)
    return np.linalg.solve(flipped, b), np.linalg.inv(flipped), np.linalg.slogdet(flipped)[1]


def loss(a: Any, b: Any) -> Any:
    return np.sum(np.linalg.solve(a, b) ** 2) + np.sum(np.linalg.slogdet(a)[1]) + np.sum(np.linalg.inv(a))


def squared_determinant(a: Any, b: Any) -> Any:
    return np.sum(np.linalg.det(a * 1.5) ** 2) + np.sum(np.linalg.det(a))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "solve": lambda a, b: (np.linalg.solve(a, b), np.linalg.solve(a, b[..., :1])),
    "inv": lambda a, b: np.linalg.inv(a),
    "det": lambda a, b: np.linalg.det(a),
    "slogdet": log_determinant,
    "turned": turned_operands,
    "gradient of det": fg.grad(squared_determinant),
    "gradient": fg.grad(loss, argnums=(0, 1)),
}


def assert_native_and_equal(f: Callable[..., Any], *args: Any, tolerance: float = 1e-9) -> None:
    program = fg.make_program(f)(*args)
    made = compiled(program)
    assert not made.reasons
    found, wanted = made.run(*fg.tree.leaves(args)), program.evaluate(*fg.tree.leaves(args))
    for x, y in zip(found, wanted, strict=True):
        assert x.dtype == y.dtype
        assert x.shape == y.shape
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


@pytest.mark.at_length
@pytest.mark.parametrize(("stack", "n"), [((), 4), ((), 17), ((), 70), ((2, 2), 5), ((2,), 66)], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_is_evaluated(name: str, stack: Any, n: int, rng: np.random.Generator) -> None:
    dtype = np.float32 if (stack, n) == ((), 17) else np.float64
    a = (rng.standard_normal((*stack, n, n)) / n + np.eye(n)[::-1]).astype(dtype)
    b = rng.standard_normal((*stack, n, 3)).astype(dtype)
    assert_native_and_equal(FUNCTIONS[name], a, b, tolerance=TOLERANCES[dtype])


@pytest.mark.parametrize("n", [5, 70])
@pytest.mark.parametrize("f", [np.linalg.inv, lambda a: np.linalg.solve(a, a)], ids=["inv", "solve"])
def test_singular_matrices_raise(f: Any, n: int, rng: np.random.Generator) -> None:
    a = rng.standard_normal((2, n, n))
    a[1, 2] = 0.0
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        fg.jit(f)(a)
    np.testing.assert_allclose(fg.jit(f)(a[:1]), f(a[:1]), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("n", [5, 70])
def test_determinants_of_singular_matrices(n: int, rng: np.random.Generator) -> None:
    a = rng.standard_normal((2, n, n))
    a[1, 2] = 0.0
    sign, log = fg.jit(np.linalg.slogdet)(a)
    assert (sign[1], log[1]) == (0.0, -np.inf)
    assert fg.jit(np.linalg.det)(a)[1] == 0.0


def test_determinants_that_would_overflow_on_the_way() -> None:
    a = np.diag([1e200, 1e200, 1e-200, 1e-200, 2.0])
    np.testing.assert_allclose(fg.jit(np.linalg.det)(a), 2.0)


@pytest.mark.parametrize("n", [5, 20])
def test_gradients_of_determinants_of_singular_matrices(n: int, rng: np.random.Generator) -> None:
    a = rng.standard_normal((3, n, n))
    a[1, 2], a[2, 1] = 0.0, a[2, 3] * (1 + 1e-12)
    gradient = fg.grad(lambda a: np.sum(np.linalg.det(a)))
    wanted = gradient(a)
    np.testing.assert_allclose(fg.jit(gradient)(a), wanted, rtol=1e-12, atol=1e-12 * np.abs(wanted).max())


def test_a_matrix_is_factored_once_and_solved_with_in_a_loop(rng: np.random.Generator) -> None:
    a, b = rng.standard_normal((6, 6)) / 6 + np.eye(6), rng.standard_normal(6)

    def steps(a: Any, b: Any) -> Any:
        def step(x: Any, _: Any) -> Any:
            x = np.linalg.solve(a, x + b)
            return x, np.sum(x)

        x, sums = fg.scan(step, b, None, length=5)
        return np.sum(x * x) + np.sum(sums)

    assert_native_and_equal(fg.value_and_grad(steps, argnums=(0, 1)), a, b)
