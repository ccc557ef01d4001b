"""Convolution and correlation in native code: NumPy's sums, of every kind of number, and loops with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import signal

import funcgrad as fg
from funcgrad.compile.runtime.executable import compiled

MODES = ("full", "same", "valid")
SIZES = ((7, 3), (3, 7), (5, 5), (1, 4), (4, 1), (20, 12))


def numbers(rng: np.random.Generator, size: int, dtype: Any) -> np.ndarray:
    """Random numbers of a dtype."""
    x = rng.normal(size=size) * 9
    return (x + 1j * rng.normal(size=size)).astype(dtype) if np.dtype(dtype).kind == "c" else x.astype(dtype)


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "c8", "i8", "i4", "i1", "u1"])
@pytest.mark.parametrize("slide", [np.convolve, np.correlate])
def test_sums_are_numpys(slide: Any, dtype: str, rng: np.random.Generator) -> None:
    pairs = [(numbers(rng, n, dtype), numbers(rng, m, dtype)) for n, m in SIZES]

    def every(pairs: Any) -> Any:
        return [slide(x, y, mode) for x, y in pairs for mode in MODES]

    wanted = every(pairs)
    assert fg.explain(fg.jit(every))(pairs).reasons == ()
    eps = np.finfo(dtype).eps if np.dtype(dtype).kind in "fc" else 0.0
    for found, want in zip(fg.jit(every)(pairs), wanted, strict=True):
        assert found.dtype == want.dtype
        np.testing.assert_allclose(found, want, rtol=0, atol=40 * eps * max(1.0, np.abs(want).max()))


def test_what_is_not_a_number_reaches_the_sums_it_is_in() -> None:
    x, y = np.array([1.0, np.inf, 2.0, np.nan, 0.0, 3.0]), np.array([0.0, 1.0])
    np.testing.assert_array_equal(fg.jit(np.convolve)(x, y), np.convolve(x, y))


@pytest.mark.at_length
@pytest.mark.parametrize("kind", ["fori", "scan", "while"])
@pytest.mark.parametrize("mode", MODES)
def test_loops_are_native(kind: str, mode: str, rng: np.random.Generator) -> None:
    y = np.array([0.2, 0.5, 0.3])

    def step(x: Any, y: Any) -> Any:
        found = np.convolve(x, y, mode)[:4] - 0.1 * np.correlate(y, x, "full")[1:5]
        return np.concatenate([found, np.sin(x[: 6 - found.shape[0]])])

    def loss(x: Any, y: Any) -> Any:
        if kind == "fori":
            x = fg.fori_loop(0, 5, lambda k, x: step(x, y), x)
        elif kind == "scan":
            x = fg.scan(lambda x, _: (step(x, y), None), x, None, length=5)[0]
        else:
            x = fg.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, step(s[1], y)), (0, x))[1]
        return np.sum(x**2)

    x = rng.normal(size=6)
    functions = [loss, lambda x, y: fg.jvp(loss, (x, y), (x, y))[1]]
    if kind != "while":
        gradient = fg.grad(loss, argnums=(0, 1))
        functions += [lambda x, y: np.concatenate(gradient(x, y)), fg.hessian(loss)]
        fg.testing.check_grads(fg.jit(loss), (x, y), order=2, modes=("rev",))
        rows = np.stack([x, 2 * x]), np.stack([y, -y])
        over = fg.vmap(functions[-2])
        assert fg.explain(fg.jit(over))(*rows).reasons == ()
        np.testing.assert_allclose(fg.jit(over)(*rows), over(*rows), rtol=1e-11, atol=1e-12)
    for f in functions:
        assert fg.explain(fg.jit(f))(x, y).reasons == ()
        np.testing.assert_allclose(fg.jit(f)(x, y), f(x, y), rtol=1e-11, atol=1e-12)


def test_scipys_convolution_in_a_loop(rng: np.random.Generator) -> None:
    x, y = rng.normal(size=8), np.array([0.2, 0.5, 0.3])

    def loss(x: Any) -> Any:
        def step(k: Any, x: Any) -> Any:
            return signal.convolve(x, y, "same") + signal.correlate(x, y, "same")

        return np.sum(fg.fori_loop(0, 4, step, x) ** 2)

    for f in (loss, fg.grad(loss)):
        assert fg.explain(fg.jit(f))(x).reasons == ()
        np.testing.assert_allclose(fg.jit(f)(x), f(x), rtol=1e-12)


def test_large_ones_outside_of_loops_are_left_to_blas() -> None:
    x = np.ones(2000)
    (reason,) = compiled(fg.make_program(np.convolve)(x, x)).reasons
    assert "faster with BLAS" in reason.words
