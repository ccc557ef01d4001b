"""The exponential of matrices in native code: SciPy's numbers, its derivatives, and loops with it inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import linalg

import funcgrad as fg
from funcgrad.compile.runtime.executable import compiled
from funcgrad.ops.linalg.functions import LARGEST

expm = fg.scipy.linalg.expm


def assert_same(f: Any, *args: Any, rtol: float = 1e-13) -> None:
    """The compiled results are the evaluator's, which are SciPy's, and nothing is left to it."""
    program = fg.make_program(f)(*args)
    made = compiled(program)
    assert [reason.words for reason in made.reasons] == []
    for found, want in zip(made.run(*args), program.evaluate(*args), strict=True):
        assert (found.dtype, found.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(found, want, rtol=0, atol=rtol * np.abs(want).max())


@pytest.mark.parametrize("n", [1, 2, 3, 4, 9, 20])
@pytest.mark.parametrize("dtype", ["f8", "c16"])
def test_values_are_scipys(n: int, dtype: str, rng: np.random.Generator) -> None:
    for scale in (1e-9, 0.01, 0.3, 2.0):
        a = rng.normal(size=(n, n)) * scale
        a = a + 1j * rng.normal(size=(n, n)) * scale if dtype == "c16" else a
        # SciPy's own are 1e-12 from the exact ones where it squares.
        assert_same(expm, a, rtol=1e-13 if scale < 1 else 2e-12)


def test_generators_of_processes_and_of_turns(rng: np.random.Generator) -> None:
    rates = rng.uniform(0.1, 9.0, (6, 6))
    rates -= np.diag(rates.sum(1))
    assert_same(expm, rates)
    assert_same(expm, rates * 40, rtol=1e-12)
    hamiltonian = rng.normal(size=(5, 5)) + 1j * rng.normal(size=(5, 5))
    assert_same(expm, -30j * (hamiltonian + hamiltonian.conj().T), rtol=1e-12)


def test_matrices_far_from_normal_are_not_scaled_too_far() -> None:
    for large in (1e3, 1e8, 1e200):
        a = np.array([[1.0, large], [0.0, -1.0]])
        wanted = np.array([[np.e, large * np.sinh(1.0)], [0.0, 1 / np.e]])
        np.testing.assert_allclose(fg.jit(expm)(a), wanted, rtol=1e-13)
    nilpotent = np.diag([1e6, 1e6, 1e6], 1)
    np.testing.assert_allclose(fg.jit(expm)(nilpotent), linalg.expm(nilpotent), rtol=1e-14, atol=1e-14)


def test_zeros_stacks_and_single_precision(rng: np.random.Generator) -> None:
    assert_same(expm, np.zeros((4, 4)))
    assert_same(expm, rng.normal(size=(2, 3, 4, 4)) * np.logspace(-3, 1, 6).reshape(2, 3, 1, 1))
    for dtype in ("f4", "c8"):
        assert_same(expm, rng.normal(size=(4, 4)).astype(dtype), rtol=1e-6)


def test_what_is_not_a_number_ends(rng: np.random.Generator) -> None:
    a = rng.normal(size=(3, 3))
    a[0, 1] = np.nan
    np.testing.assert_array_equal(fg.jit(expm)(a), expm(a))
    huge = np.array([[-1e80, 0.0], [0.0, 1.0]])
    np.testing.assert_allclose(fg.jit(expm)(huge), [[0.0, 0.0], [0.0, np.e]], rtol=1e-14)


@pytest.mark.parametrize("n", [2, 5])
def test_derivatives_of_two_orders(n: int, rng: np.random.Generator) -> None:
    a, w = rng.normal(size=(2, n, n))

    def f(a: Any) -> Any:
        return np.sum(w * expm(a))

    assert_same(fg.grad(f), a, rtol=1e-12)
    assert_same(lambda a: fg.jvp(fg.grad(f), (a,), (w,))[1], a, rtol=1e-12)
    fg.testing.check_grads(fg.jit(f), (a,), order=2, modes=("rev",))
    assert_same(fg.vmap(fg.grad(f)), np.stack([a, 0 * a, 3 * a]), rtol=1e-12)


@pytest.mark.at_length
@pytest.mark.parametrize("kind", ["fori", "scan", "while"])
def test_loops_are_native(kind: str, rng: np.random.Generator) -> None:
    h, k = 0.3 * rng.normal(size=(2, 3, 3))

    def step(x: Any, t: Any) -> Any:
        return expm(h + t * k) @ x

    def loss(x: Any, t: Any) -> Any:
        if kind == "fori":
            x = fg.fori_loop(0, 4, lambda i, x: step(x, t * (i + 1)), x)
        elif kind == "scan":
            x = fg.scan(lambda x, s: (step(x, t * s), None), x, np.arange(4.0))[0]
        else:
            x = fg.while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, step(s[1], t)), (0, x))[1]
        return np.sum(x**2)

    x, t = rng.normal(size=3), np.array(0.7)
    assert_same(loss, x, t, rtol=1e-12)
    assert_same(lambda x, t: fg.jvp(loss, (x, t), (x, t))[1], x, t, rtol=1e-12)
    if kind != "while":
        assert_same(fg.grad(loss, argnums=1), x, t, rtol=1e-11)
        fg.testing.check_grads(fg.jit(loss), (x, t), modes=("rev",))


def test_large_matrices_are_left_to_scipy() -> None:
    a = np.eye(LARGEST + 1)
    (reason,) = compiled(fg.make_program(expm)(a)).reasons
    assert "no native form" in reason.words
