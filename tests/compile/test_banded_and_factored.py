"""Banded systems and LU decompositions in native code: SciPy's results, and loops with them inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import linalg

import funcgrad as fg
from funcgrad.compile.runtime.executable import compiled
from funcgrad.ops.linalg.banded import SolveBanded
from funcgrad.ops.linalg.lu import Lu, PivotOrder


def assert_native(f: Any, *args: Any, rtol: float = 1e-12) -> Any:
    """The compiled results are the evaluator's, and nothing is left to it."""
    program = fg.make_program(f)(*args)
    made = compiled(program)
    assert [reason.words for reason in made.reasons] == []
    for found, want in zip(made.run(*args), program.evaluate(*args), strict=True):
        assert (found.dtype, found.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(found, want, rtol=rtol, atol=rtol * max(1.0, np.abs(want).max()))


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Random numbers of a dtype."""
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


@pytest.mark.at_length
@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "c8"])
@pytest.mark.parametrize("bands", [(1, 1), (0, 0), (2, 1), (0, 2), (3, 0), (1, 4)])
def test_banded_systems(bands: tuple[int, int], dtype: str, rng: np.random.Generator) -> None:
    solve = SolveBanded(*bands)
    rtol = 1e-11 if np.dtype(dtype).itemsize >= 8 and dtype != "c8" else 2e-3
    for lead, n, columns in (((), 6, 1), ((2,), 7, 3), ((), 2, 1), ((), 1, 2)):
        ab = numbers(rng, (*lead, sum(bands) + 1, n), dtype)
        ab[..., bands[1], :] += 3
        assert_native(solve.bind, ab, numbers(rng, (*lead, n, columns), dtype), rtol=rtol)
        assert_native(solve.bind, ab, numbers(rng, (*lead, columns, n), dtype).swapaxes(-1, -2), rtol=rtol)


def test_rows_are_exchanged_for_pivots() -> None:
    ab = np.array([[0.0, 1.0, 5.0, 2.0], [1e-20, 1e-20, 1.0, 3.0], [2.0, 3.0, 4.0, 0.0]])
    b = np.array([[1.0], [2.0], [3.0], [4.0]])
    found = fg.jit(fg.scipy.linalg.solve_banded, static_argnums=0)((1, 1), ab, b)
    np.testing.assert_array_equal(found, linalg.solve_banded((1, 1), ab, b))


def test_singular_and_infinite_systems_raise_as_scipys() -> None:
    ab, b = np.ones((3, 5)), np.ones((5, 1))
    ab[:, 2] = 0.0
    run = compiled(fg.make_program(SolveBanded(1, 1).bind)(ab, b)).run
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        run(ab, b)
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match="infs or NaNs"):
            run(np.full((3, 5), wrong), b)
        with pytest.raises(ValueError, match="infs or NaNs"):
            run(np.array([[0.1], [2.0], [0.1]]) * np.ones((3, 5)), b * wrong)


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "c8"])
def test_factors_and_pivots(dtype: str, rng: np.random.Generator) -> None:
    rtol = 1e-12 if dtype in ("f8", "c16") else 1e-4
    for shape in ((4, 4), (2, 3, 5, 5), (6, 2), (2, 2, 6), (1, 1)):
        a = numbers(rng, shape, dtype)
        assert_native(lambda a: Lu().bind(a), a, rtol=rtol)
        assert_native(lambda a: Lu().bind(np.swapaxes(a, -1, -2)), a, rtol=rtol)
        assert_native(lambda a: PivotOrder(a.shape[-2]).bind(Lu().bind(a)[1]), a)
    assert_native(lambda a: Lu().bind(a), np.zeros((3, 3), dtype))


def test_pivots_that_are_no_rows_raise() -> None:
    pivots = np.array([0, 7, 1])
    run = compiled(fg.make_program(PivotOrder(3).bind)(pivots)).run
    with pytest.raises(IndexError):
        run(pivots)
    np.testing.assert_array_equal(run(np.array([2, -1, 2])), [PivotOrder(3).evaluate(np.array([2, -1, 2]))])


def tridiagonal(x: Any) -> Any:
    """One step of implicit diffusion with a coefficient that depends on the state."""
    off = -0.1 * x
    return fg.scipy.linalg.solve_banded((1, 1), np.stack([off, 1 + 0.2 * x**2, off]), x)


def pentadiagonal(x: Any) -> Any:
    """Of a symmetric matrix with two diagonals on each side."""
    return fg.scipy.linalg.solveh_banded(np.stack([0.1 * x, 0.2 * x, 3 + x]), x)


def factored(x: Any) -> Any:
    """Factors that are solved with twice."""
    factors = fg.scipy.linalg.lu_factor(MATRIX + np.outer(x, x))
    return fg.scipy.linalg.lu_solve(factors, fg.scipy.linalg.lu_solve(factors, x), trans=1) + 0.1 * x


def upper_factor(x: Any) -> Any:
    """The sums of the columns of a factor."""
    return 0.1 * np.sum(fg.scipy.linalg.lu(MATRIX + np.outer(x, x))[2], axis=0)


MATRIX = np.cos(np.arange(25.0)).reshape(5, 5) + 2 * np.eye(5)[::-1]


@pytest.mark.at_length
@pytest.mark.parametrize("step", [tridiagonal, pentadiagonal, factored, upper_factor])
def test_loops_are_native(step: Any, rng: np.random.Generator) -> None:
    def loss(x: Any) -> Any:
        return np.sum(fg.fori_loop(0, 3, lambda k, x: step(x), x) ** 2)

    def scanned(x: Any) -> Any:
        return np.sum(fg.scan(lambda x, _: (step(x), x[0]), x, None, length=3)[1])

    def repeated(x: Any) -> Any:
        return fg.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, step(s[1])), (0, x))[1]

    x = np.linspace(0.4, 1.2, 5)
    for f in (scanned, repeated, fg.grad(loss), fg.hessian(loss)):
        assert fg.explain(fg.jit(f))(x).reasons == ()
        np.testing.assert_allclose(fg.jit(f)(x), f(x), rtol=1e-9, atol=1e-12)
    fg.testing.check_grads(fg.jit(loss), (x,), modes=("rev",))
    many = fg.vmap(fg.grad(loss))
    rows = np.stack([x, 0.8 * x, x[::-1]])
    assert fg.explain(fg.jit(many))(rows).reasons == ()
    np.testing.assert_allclose(fg.jit(many)(rows), many(rows), rtol=1e-9, atol=1e-12)
