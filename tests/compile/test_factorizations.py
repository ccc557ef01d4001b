"""Cholesky's factor and triangular systems in native code: NumPy's values, and NumPy's errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.runtime.executable import compiled
from funcgrad.ops.linalg.cholesky import LARGE
from funcgrad.ops.linalg.triangular import TriangularSolve

SIZES = (1, 2, 5, 17, 70)
TOLERANCES = {np.float64: 1e-10, np.float32: 2e-3}


def positive(rng: np.random.Generator, *shape: int, dtype: Any = np.float64) -> np.ndarray:
    x = rng.standard_normal(shape)
    return (x @ x.swapaxes(-1, -2) / shape[-1] + 2.0 * np.eye(shape[-1])).astype(dtype)


def triangular(rng: np.random.Generator, *shape: int, dtype: Any = np.float64) -> np.ndarray:
    """Matrices of which both triangles are as good as any other."""
    return (rng.standard_normal(shape) / shape[-1] + 2.0 * np.eye(shape[-1])).astype(dtype)


def assert_native_and_equal(f: Callable[..., Any], *args: Any, tolerance: float = 1e-10) -> None:
    program = fg.make_program(f)(*args)
    made = compiled(program)
    assert not made.reasons
    found, wanted = made.run(*fg.tree.leaves(args)), program.evaluate(*fg.tree.leaves(args))
    for x, y in zip(found, wanted, strict=True):
        assert x.dtype == y.dtype
        assert x.shape == y.shape
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("stack", [(), (2, 3)], ids=str)
@pytest.mark.parametrize("n", SIZES)
def test_cholesky(n: int, stack: Any, dtype: Any, rng: np.random.Generator) -> None:
    a = positive(rng, *stack, n, n, dtype=dtype)

    def both(a: Any) -> Any:
        # The second is taken in place of what nothing else reads, the third in that of its transpose.
        twice = a * 2.0
        return (
            np.linalg.cholesky(a),
            np.linalg.cholesky(a + 1.0),
            np.linalg.cholesky((a * 3.0).swapaxes(-1, -2)),
            twice + np.linalg.cholesky(twice.swapaxes(-1, -2)),
        )

    assert_native_and_equal(both, a, tolerance=TOLERANCES[dtype])


def test_only_the_lower_triangle_is_read(rng: np.random.Generator) -> None:
    for n in (5, 40):
        a = positive(rng, n, n)
        spoiled = np.tril(a) + np.triu(np.full((n, n), np.nan), 1)
        found = fg.jit(np.linalg.cholesky)(spoiled)
        np.testing.assert_allclose(found, np.linalg.cholesky(a), rtol=1e-12)
        flipped = fg.jit(lambda a: np.linalg.cholesky((a * 1.0).T))(spoiled.T)
        np.testing.assert_allclose(flipped, np.linalg.cholesky(a), rtol=1e-12)


WAYS = [
    (lower, transposed, unit)
    for lower in (True, False)
    for transposed in (True, False)
    for unit in (True, False)
]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_triangular_solve(way: tuple[bool, bool, bool], rng: np.random.Generator) -> None:
    def solutions(a: Any, b: Any) -> Any:
        solve = TriangularSolve(*way).bind
        turned = b.swapaxes(-1, -2) * 2.0
        return solve(a.swapaxes(-1, -2), b), solve(a, turned.swapaxes(-1, -2))

    for stack, n in (((), 5), ((), 40), ((2,), 20)):
        a, b = triangular(rng, *stack, n, n), rng.standard_normal((*stack, n, 3))
        assert_native_and_equal(solutions, a, b)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("n", [1, 3, 16, 17, 40])
def test_one_right_hand_side(n: int, dtype: Any, rng: np.random.Generator) -> None:
    a, b = triangular(rng, n, n, dtype=dtype), rng.standard_normal((n, 1)).astype(dtype)
    tolerance = TOLERANCES[dtype]
    assert_native_and_equal(TriangularSolve(True, False, False).bind, a, b, tolerance=tolerance)
    assert_native_and_equal(TriangularSolve(False, True, True).bind, a.T, b, tolerance=tolerance)


def test_a_solution_in_place_of_a_transposed_solution(rng: np.random.Generator) -> None:
    def sandwich(a: Any, b: Any) -> Any:
        solve = TriangularSolve(True, True, False).bind
        return solve(a, solve(a, b * 2.0).T)

    assert_native_and_equal(sandwich, triangular(rng, 30, 30), rng.standard_normal((30, 30)))


def test_many_right_hand_sides_are_shared_between_threads(rng: np.random.Generator) -> None:
    def both(a: Any, b: Any) -> Any:
        solve = TriangularSolve(True, False, False).bind
        return solve(a, b + 1.0), solve(a, (b * 2.0).T)

    assert_native_and_equal(both, triangular(rng, 180, 180), rng.standard_normal((180, 180)))


@pytest.mark.parametrize("n", [4, 40])
def test_inputs_of_any_layout(n: int, rng: np.random.Generator) -> None:
    a, b = positive(rng, 2 * n, 2 * n), rng.standard_normal((3, n))
    strided, sides = a[::2, ::2], b.T

    def f(a: Any, b: Any) -> Any:
        factor = np.linalg.cholesky(a)
        return TriangularSolve(True, False, False).bind(factor, b), factor

    for x, y in zip(fg.jit(f)(strided, sides), f(strided, sides), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)


def log_density(a: Any, b: Any) -> Any:
    factor = np.linalg.cholesky(a)
    white = fg.scipy.linalg.solve_triangular(factor, b, lower=True)
    return -0.5 * np.sum(white * white) - np.sum(np.log(np.diag(factor)))


@pytest.mark.parametrize("n", [3, 30])
def test_gradients_are_one_kernel(n: int, rng: np.random.Generator) -> None:
    a, b = positive(rng, n, n), rng.standard_normal(n)
    assert_native_and_equal(fg.value_and_grad(log_density, argnums=(0, 1)), a, b)
    assert_native_and_equal(fg.vmap(fg.grad(log_density)), positive(rng, 3, n, n), np.stack([b] * 3))
    program = fg.make_program(fg.value_and_grad(log_density, argnums=(0, 1)))(a, b)
    assert len(compiled(program).kernels) == 1


@pytest.mark.parametrize("n", [3, 30])
@pytest.mark.parametrize("stack", [(), (3,)], ids=str)
def test_a_matrix_that_is_not_positive_definite_raises(n: int, stack: Any, rng: np.random.Generator) -> None:
    a = positive(rng, *stack, n, n)
    a.reshape(-1, n, n)[-1] -= 9.0 * np.eye(n)
    f = fg.jit(np.linalg.cholesky)
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        f(a)
    np.testing.assert_allclose(f(a + 9.0 * np.eye(n)), np.linalg.cholesky(a + 9.0 * np.eye(n)), rtol=1e-12)


@pytest.mark.parametrize("n", [3, 30])
def test_a_singular_triangle_raises(n: int, rng: np.random.Generator) -> None:
    a, b = triangular(rng, n, n), np.ones((n, 2))
    a[1, 1] = 0.0
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        fg.jit(TriangularSolve(True, False, False).bind)(a, b)
    unit = TriangularSolve(True, False, True).bind
    np.testing.assert_allclose(fg.jit(unit)(a, b), unit(a, b), rtol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_stack_with_a_singular_triangle_is_left_to_numpy() -> None:
    a, b = np.stack([np.eye(3), np.diag([1.0, 0.0, 1.0])]), np.ones((2, 3, 1))
    solve = TriangularSolve(True, False, False).bind
    np.testing.assert_array_equal(fg.jit(solve)(a, b), solve(a, b))


def filtered(noise: Any, observations: Any) -> Any:
    """The log-density of observations under a linear model with hidden states, by Kalman's filter."""
    n = 4
    turn = np.eye(n) + 0.1 * np.diag(np.ones(n - 1), 1)
    seen = np.eye(2, n)

    def step(carry: Any, y: Any) -> Any:
        mean, cov = carry
        mean, cov = turn @ mean, turn @ cov @ turn.T + noise[0] * np.eye(n)
        factor = np.linalg.cholesky(seen @ cov @ seen.T + noise[1] * np.eye(2))
        solve = TriangularSolve(True, False, False).bind
        gain = solve(factor, seen @ cov)
        white = solve(factor, (y - seen @ mean)[:, None])[:, 0]
        density = -0.5 * np.sum(white * white) - np.sum(np.log(np.diagonal(factor)))
        return (mean + gain.T @ white, cov - gain.T @ gain), density

    _, densities = fg.scan(step, (np.zeros(n), np.eye(n)), observations)
    return np.sum(densities)


def test_a_loop_with_systems_inside_is_one_kernel(rng: np.random.Generator) -> None:
    noise, observations = np.array([0.3, 0.5]), rng.standard_normal((12, 2))
    assert_native_and_equal(filtered, noise, observations)
    assert_native_and_equal(fg.value_and_grad(filtered, argnums=(0, 1)), noise, observations, tolerance=1e-9)
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        fg.jit(filtered)(np.array([0.3, -5.0]), observations)


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.bool_, np.complex128])
def test_triangles_and_diagonals(dtype: Any, rng: np.random.Generator) -> None:
    a = (rng.standard_normal((2, 5, 5)) * 3).astype(dtype)

    def parts(a: Any) -> Any:
        turned = a.swapaxes(-1, -2)
        triangles = [np.tril(a, k) for k in (-6, -1, 0, 2)] + [np.triu(turned, k) for k in (-2, 0, 5)]
        diagonals = [np.diagonal(x, axis1=-2, axis2=-1) for x in (a, turned, np.tril(a))]
        return [*triangles, *diagonals, np.tril(a)[0] + np.triu(a)[1].T, np.diag(a[0, 0])]

    assert_native_and_equal(parts, a)


def test_infinities_beside_a_triangle_do_not_matter() -> None:
    a = np.array([[1.0, np.inf], [np.nan, 2.0]])
    np.testing.assert_array_equal(fg.jit(lambda a: np.triu(a) * 2.0)(a), [[2.0, np.inf], [0.0, 4.0]])


WIDE = 180
"""From here on products and solutions are divided, and what is known to be zero is left out."""


def test_products_of_triangles(rng: np.random.Generator) -> None:
    a, b = rng.standard_normal((2, WIDE, WIDE))

    def products(a: Any, b: Any) -> Any:
        diagonal = np.diag(a[0])
        factors = (np.tril(a), np.triu(a, 1), np.tril(a).T, np.tril(a, 1), diagonal, diagonal + np.triu(a))
        return [x @ b for x in factors]

    assert_native_and_equal(products, a, b)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("place", [(3, 5), (150, 7)])
def test_infinity_meets_the_zeros_of_a_triangle(place: Any, rng: np.random.Generator) -> None:
    a, b = rng.standard_normal((2, WIDE, WIDE))
    b[place] = np.inf

    def products(a: Any, b: Any) -> Any:
        return np.tril(a) @ b, np.triu(a) @ b

    for found, wanted in zip(fg.jit(products)(a, b), products(a, b), strict=True):
        np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    a = triangular(rng, WIDE, WIDE)
    a[place[0], place[0]] = np.inf
    solve = TriangularSolve(True, False, False).bind
    inverse = fg.jit(lambda a, b: solve(a, np.tril(b)))
    b[place] = 1.0
    np.testing.assert_array_equal(np.isnan(inverse(a, b)), np.isnan(solve(a, np.tril(b))))


def test_triangular_solutions(rng: np.random.Generator) -> None:
    def solutions(a: Any, b: Any) -> Any:
        found = []
        for lower, transposed in ((True, False), (True, True), (False, False), (False, True)):
            solve = TriangularSolve(lower, transposed, False).bind
            for side in (np.tril(b), np.triu(b), np.tril(b).T, np.triu(b).T):
                x = solve(a, side * 2.0)
                found += [x, x @ b]
        return found

    assert_native_and_equal(solutions, triangular(rng, WIDE, WIDE), rng.standard_normal((WIDE, WIDE)))


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("n", [256, 300])
def test_large_matrices_are_factored_in_blocks(n: int, dtype: Any, rng: np.random.Generator) -> None:
    a = positive(rng, n, n, dtype=dtype)

    def factors(a: Any) -> Any:
        return np.linalg.cholesky(a), np.linalg.cholesky((a * 2.0).T)

    assert_native_and_equal(factors, a, tolerance=TOLERANCES[dtype])
    a[n - 1, n - 1] = -1.0
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        fg.jit(np.linalg.cholesky)(a)


def test_what_a_loop_reads_in_every_trip_is_not_factored_in_place(rng: np.random.Generator) -> None:
    a, b = rng.standard_normal((2, 5, 5))

    def steps(a: Any, b: Any) -> Any:
        covariance, side = a @ a.T + np.eye(5), b * 2.0

        def step(x: Any, noise: Any) -> Any:
            factor = np.linalg.cholesky(covariance.T)
            x = TriangularSolve(True, False, False).bind(factor, x + noise)
            y = TriangularSolve(True, True, False).bind(factor, side)
            return x, (np.linalg.inv(covariance), y, np.tril(x, -1))

        return fg.scan(step, b @ a, np.arange(4.0))

    assert_native_and_equal(steps, a, b)


# -- gradients through large factors, which have an algorithm of their own ---------------------------------


def composed_gradient(a: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The gradient of ``sum(cholesky(a) * weights)``, by whole products and solutions."""
    factor = np.linalg.cholesky(a)
    inner = factor.T @ np.tril(weights)
    inverse = np.linalg.inv(factor)
    full = inverse.T @ (np.tril(inner) + np.tril(inner, -1).T) @ inverse
    return np.tril(full) - 0.5 * np.diag(np.diag(full))


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("n", [LARGE, 333])
def test_gradient_of_a_large_factor(n: int, dtype: Any, rng: np.random.Generator) -> None:
    a, weights = positive(rng, n, n, dtype=dtype), rng.standard_normal((n, n)).astype(dtype)

    def slope(a: Any, weights: Any) -> Any:
        return fg.grad(lambda a: np.sum(np.linalg.cholesky(a) * weights))(a)

    assert_native_and_equal(slope, a, weights, tolerance=TOLERANCES[dtype])
    wanted = composed_gradient(a.astype(np.float64), weights.astype(np.float64))
    np.testing.assert_allclose(fg.jit(slope)(a, weights), wanted, atol=TOLERANCES[dtype], rtol=1e-3)


def test_gradients_of_large_factors_in_a_loop(rng: np.random.Generator) -> None:
    stack, weights = positive(rng, 2, LARGE, LARGE), rng.standard_normal((LARGE, LARGE))
    one = fg.grad(lambda a: np.sum(np.linalg.cholesky(a) * weights))
    many = fg.jit(lambda stack: fg.lax.map(one, stack))(stack)
    np.testing.assert_allclose(many, [composed_gradient(a, weights) for a in stack], rtol=1e-8, atol=1e-10)


def test_second_derivative_through_a_large_factor(rng: np.random.Generator) -> None:
    a, along = positive(rng, LARGE, LARGE), rng.standard_normal((LARGE, LARGE))
    along = along + along.T

    def f(a: Any) -> Any:
        return np.sum(np.linalg.cholesky(a) ** 3)

    step = 1e-5
    slopes = [fg.grad(f)(a + t * along) for t in (-step, step)]
    found = fg.jvp(fg.grad(f), (a,), (along,))[1]
    np.testing.assert_allclose(found, (slopes[1] - slopes[0]) / (2 * step), rtol=1e-5, atol=1e-5)
    again = fg.grad(lambda a: np.sum(fg.jvp(f, (a,), (along,))[1]))(a)
    np.testing.assert_allclose(again, found, rtol=1e-9, atol=1e-9)
