"""Fourier transforms in native code: the evaluator's digits, and loops with them inside are one kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.runtime.addresses import ufuncs
from funcgrad.compile.runtime.executable import compiled
from funcgrad.ops.signal.fft import SMALL, HermitianFFT, RealFFT


def assert_same_digits(f: Any, x: np.ndarray) -> None:
    program = fg.make_program(f)(x)
    made = compiled(program)
    assert [reason.words for reason in made.reasons] == []
    for found, wanted in zip(made.run(x), program.evaluate(x), strict=True):
        assert (found.dtype, found.shape, found.tobytes()) == (wanted.dtype, wanted.shape, wanted.tobytes())


def every_transform(y: Any) -> Any:
    """No arithmetic but that of the transforms, whose digits are compared."""
    z, x = y[0], y[1].real
    return (
        np.fft.fft(x, axis=0, norm="ortho"),
        np.fft.ifft(z.T[::-1]),
        np.fft.fftn(y.transpose(2, 0, 1), norm="forward"),
        np.fft.rfft(x),
        np.fft.rfft(x, axis=0),
        np.fft.irfft(z, 9, norm="forward"),
        np.fft.hfft(z, axis=0),
        *[HermitianFFT(n, 1, True, False, "ortho").bind(z) for n in (8, 9)],
        *[RealFFT(1, True, True, "ortho").bind(x[:, :n]) for n in (4, 5)],
    )


def test_results_are_the_evaluators_digits(rng: np.random.Generator) -> None:
    assert_same_digits(every_transform, rng.normal(size=(3, 4, 5)) + 1j * rng.normal(size=(3, 4, 5)))


def test_single_precision_stays_single(rng: np.random.Generator) -> None:
    def f(x: Any) -> Any:
        return np.fft.fft(np.fft.rfft(x))

    x = rng.normal(size=(2, 6)).astype(np.float32)
    (found,) = compiled(fg.make_program(f)(x)).run(x)
    assert found.dtype == np.complex64
    np.testing.assert_allclose(found, f(x), rtol=1e-5, atol=1e-5)


def split_step(u: Any, phase: Any, steps: Any) -> Any:
    """The non-linear Schroedinger equation, as spectral codes step it."""
    for _ in range(steps):
        u = u * np.exp(-0.01j * np.abs(u) ** 2)
        u = np.fft.ifft2(np.exp(phase) * np.fft.fft2(u))
        u = u + 0.01 * np.fft.irfft2(np.fft.rfft2(u.real), u.shape)
    return np.sum(np.abs(u) ** 4)


def test_a_loop_of_transforms_is_native_forwards_and_backwards(rng: np.random.Generator) -> None:
    u = rng.normal(size=(6, 8)) + 1j * rng.normal(size=(6, 8))
    phase = -0.005j * rng.normal(size=u.shape) ** 2
    derivative = fg.value_and_grad(split_step, argnums=(0, 1))
    text = str(fg.explain(derivative)(u, phase, 4))
    assert "left to NumPy" not in text
    assert "calls by address: numpy_fft" in text
    (value, found), (wanted_value, wanted) = fg.jit(derivative)(u, phase, 4), derivative(u, phase, 4)
    np.testing.assert_allclose(value, wanted_value, rtol=1e-12)
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)


def test_large_transforms_are_scipys_alone_and_native_in_loops(rng: np.random.Generator) -> None:
    u = rng.normal(size=(64, SMALL // 64)) + 0.5j

    def f(u: Any) -> Any:
        return np.fft.ifft2(np.fft.fft2(u), axes=(0,))

    assert any("left to SciPy" in reason.words for reason in compiled(fg.make_program(f)(u)).reasons)
    assert_same_digits(lambda x: fg.scan(lambda c, _: (f(c), None), x, np.arange(2.0))[0], u)


def test_where_numpys_loops_are_not_found_numpy_transforms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ufuncs, "_private_module", lambda _: None)
    ufuncs.matrix_loop.cache_clear()
    try:
        x = np.array([1.0, 2.0, 4.0])
        np.testing.assert_array_equal(fg.jit(lambda x: np.fft.fft(x) * 2.0)(x), np.fft.fft(x) * 2.0)
        text = str(fg.explain(lambda x: np.fft.fft(x) * 3.0)(x))
        assert "numpy.fft's fft for Dd->D is not known by address" in text
    finally:
        ufuncs.matrix_loop.cache_clear()
