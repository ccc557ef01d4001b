"""`numpy.fft` on traced arrays: NumPy's results and refusals, and derivatives of every transform."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import scipy.fft
from lawbook.agreement import array_of, assert_agrees

import funcgrad as fg
from funcgrad.ops.signal.fft import SMALL
from funcgrad.testing import check_grads

NORMS = (None, "backward", "ortho", "forward")
TO_COMPLEX = ("fft", "ifft")
OF_REAL = ("rfft", "ihfft")
TO_REAL = ("irfft", "hfft")
OVER_AXES = ("fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2")


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", TO_COMPLEX + OF_REAL + TO_REAL)
def test_one_axis_is_numpys(name: str, norm: Any, rng: np.random.Generator) -> None:
    f = getattr(np.fft, name)
    for dtype in ("f4", "f8", "i4", "?") + (() if name in OF_REAL else ("c8", "c16")):
        for axis in (0, 1, -1):
            for n in (None, 1, 2, 3, 4, 7):
                x = array_of(rng, dtype, (4, 3))
                assert_agrees(lambda t: f(t, n, axis, norm), x, what=f"{name} {dtype} {axis} {n}")  # noqa: B023 - called at once


@pytest.mark.parametrize("name", OVER_AXES)
def test_several_axes_are_numpys(name: str, rng: np.random.Generator) -> None:
    f = getattr(np.fft, name)
    for dtype in ("f8", "f4") + (() if name.startswith("r") else ("c16",)):
        for options in (
            {},
            {"axes": (0, 2)},
            {"axes": (2, 0), "s": (5, 3)},
            {"axes": (-1, 0), "s": (-1, 2), "norm": "ortho"},
            {"axes": (1,), "norm": "forward"},
            {"axes": (1, 1)},
            {"axes": (0, 1, 2), "s": (2, 3, 6)},
        ):
            x = array_of(rng, dtype, (3, 2, 4))
            assert_agrees(lambda t: f(t, **options), x, what=f"{name} {dtype} {options}")  # noqa: B023 - called at once


def test_what_numpy_refuses_is_refused() -> None:
    x, z = np.ones((3, 2)), np.ones((3, 2), complex)
    for f in (
        lambda t: np.fft.fft(t, 0),
        lambda t: np.fft.rfft(t, axis=2),
        lambda t: np.fft.irfft(t, norm="none"),
        lambda t: np.fft.fftn(t, s=(2,), axes=(0, 1)),
        lambda t: np.fft.irfft(t, axis=0, n=-1),
        lambda t: np.fft.hfft(t[:, :1]),
    ):
        assert_agrees(f, x)
    assert_agrees(np.fft.rfft, z)
    assert_agrees(np.fft.ihfft, z)
    with pytest.warns(DeprecationWarning, match="axes"):
        fg.make_program(lambda t: np.fft.fftn(t, s=(2, 2)))(x)


@pytest.mark.parametrize("axes", [None, 0, (1,), (0, 1), -1], ids=str)
def test_shifts_are_numpys(axes: Any, rng: np.random.Generator) -> None:
    x = array_of(rng, "f8", (4, 5))
    assert_agrees(lambda t: np.fft.fftshift(t, axes), x)
    assert_agrees(lambda t: np.fft.ifftshift(t, axes), x)


def test_frequencies_of_a_traced_spacing() -> None:
    for n in (4, 5):
        assert_agrees(lambda d, n=n: np.fft.fftfreq(n, d), 0.3)
        assert_agrees(lambda d, n=n: np.fft.rfftfreq(n, d), 0.3)
    assert fg.grad(lambda d: np.fft.fftfreq(4, d)[1])(0.5) == -1.0
    assert fg.numpy.fft.fftfreq(4, dtype=np.float32).dtype == np.float32


def test_numpys_functions_and_ours_are_one() -> None:
    x = np.arange(6.0).reshape(2, 3)
    for name in fg.numpy.fft.__all__:
        ours, theirs = getattr(fg.numpy.fft, name), getattr(np.fft, name)
        arguments = (6,) if "freq" in name else (x,)
        np.testing.assert_array_equal(ours(*arguments), theirs(*arguments))
        if "freq" not in name:
            program = fg.make_program(ours)(x)
            assert program == fg.make_program(theirs)(x)
            np.testing.assert_allclose(program(x)[0], theirs(x), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("norm", NORMS[1:])
@pytest.mark.parametrize("n", [None, 3, 4, 9])
@pytest.mark.parametrize("name", TO_COMPLEX + OF_REAL + TO_REAL)
def test_derivatives(name: str, n: int | None, norm: str, rng: np.random.Generator) -> None:
    f = getattr(np.fft, name)
    x = rng.standard_normal((2, 6))
    z = x if name in OF_REAL else x + 1j * rng.standard_normal((2, 6))
    check_grads(lambda t: f(t, n, norm=norm), (z,), order=1)
    check_grads(lambda t: np.abs(f(t, n, 0, norm)) ** 2, (z,), order=2)
    if name in TO_COMPLEX:
        check_grads(lambda t: f(t, n, norm=norm), (x,), order=1)


@pytest.mark.parametrize("name", OVER_AXES)
def test_derivatives_over_axes(name: str, rng: np.random.Generator) -> None:
    f = getattr(np.fft, name)
    x = rng.standard_normal((3, 2, 4))
    z = x if name.startswith("r") else x + 1j * rng.standard_normal(x.shape)
    check_grads(lambda t: f(t, (2, 5), (2, 0)), (z,), order=1)
    check_grads(f, (z,), order=1)


def test_parsevals_theorem(rng: np.random.Generator) -> None:
    """The energy of a signal is that of its spectrum, so its gradient is twice the signal."""
    x = rng.standard_normal(16)

    def energy(t: Any) -> Any:
        half = np.abs(np.fft.rfft(t, norm="ortho")) ** 2
        return half[0] + half[-1] + 2 * np.sum(half[1:-1])

    np.testing.assert_allclose(fg.grad(energy)(x), 2 * x, rtol=1e-13)
    np.testing.assert_allclose(fg.hessian(energy)(x), 2 * np.eye(16), atol=1e-13)


def test_a_convolution_by_fft_is_the_convolution(rng: np.random.Generator) -> None:
    x, k = rng.standard_normal(20), rng.standard_normal(7)

    def by_fft(x: Any, k: Any) -> Any:
        return np.fft.irfft(np.fft.rfft(x, 26) * np.fft.rfft(k, 26), 26)

    for f in (fg.grad, fg.jacfwd, fg.jacrev):
        g = lambda h: f(lambda x, k: np.sum(np.sin(h(x, k))), argnums=(0, 1))(x, k)  # noqa: B023, E731 - called at once
        for ours, direct in zip(g(by_fft), g(np.convolve), strict=True):
            np.testing.assert_allclose(ours, direct, rtol=1e-11, atol=1e-12)


def test_vmap_is_a_loop(rng: np.random.Generator) -> None:
    x = rng.standard_normal((3, 5, 4))
    for name in (*TO_COMPLEX, *OF_REAL, *TO_REAL, "fftn", "rfftn", "irfftn"):
        f = getattr(np.fft, name)
        np.testing.assert_allclose(fg.vmap(f)(x), [f(row) for row in x], rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(
            fg.vmap(f, in_axes=1)(x), [f(x[:, k]) for k in range(5)], rtol=1e-13, atol=1e-14
        )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_transforms_are_scipys(dtype: Any, rng: np.random.Generator) -> None:
    """Through another library, with the same results; so are the transposes."""
    x = rng.standard_normal(SMALL + 1).astype(dtype)
    tolerance = 1e-3 if dtype == np.float32 else 1e-11
    for n in (SMALL, SMALL + 1):
        for name in (*TO_COMPLEX, *OF_REAL):
            found = fg.make_program(lambda t: getattr(np.fft, name)(t, n))(x)(x)[0]  # noqa: B023 - called at once
            assert found.dtype == np.result_type(dtype, np.complex64)
            np.testing.assert_allclose(found, getattr(scipy.fft, name)(x, n), atol=tolerance)
        z = np.fft.rfft(x, n).astype(np.result_type(dtype, np.complex64))
        back = fg.make_program(lambda t: np.fft.irfft(t, n))(z)(z)[0]  # noqa: B023 - called at once
        np.testing.assert_allclose(back, x[:n], atol=tolerance)
        weights = rng.standard_normal(n).astype(dtype)
        gradient = fg.grad(lambda t: np.sum(weights * np.fft.irfft(np.fft.rfft(t, n), n)))(x)  # noqa: B023
        assert gradient.dtype == dtype
        np.testing.assert_allclose(gradient[:n], weights, atol=tolerance)


def test_real_input_costs_half() -> None:
    """A real array goes into the complex transform as it is, and half precision comes out single."""
    program = fg.make_program(np.fft.fft)(np.ones(4))
    assert [equation.primitive.name for equation in program.equations] == ["fft"]
    for f in (np.fft.fft, np.fft.irfft):
        x = np.ones(4, np.float16)
        assert fg.make_program(f)(x).outputs[0].aval.dtype == f(x).dtype


def test_out_is_written() -> None:
    def into(x: Any) -> Any:
        found = fg.numpy.zeros(4, complex) + x[0]
        np.fft.fft(x, out=found)
        return np.sum(np.abs(found) ** 2)

    np.testing.assert_allclose(fg.grad(into)(np.arange(4.0)), 8 * np.arange(4.0), atol=1e-12)


def test_importing_funcgrad_imports_no_fft() -> None:
    code = "import sys, funcgrad; print(*[m for m in sys.modules if m.endswith('fft')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.peers("jax")
@pytest.mark.parametrize("name", [*TO_COMPLEX, *OF_REAL, *TO_REAL, "fftn", "rfftn", "irfftn"])
def test_gradients_are_those_of_jax(name: str, rng: np.random.Generator) -> None:
    import jax

    jax.config.update("jax_enable_x64", True)
    x = rng.standard_normal((3, 6))
    z = x if name in OF_REAL or name.startswith("r") else x + 1j * rng.standard_normal(x.shape)

    def loss(np: Any, f: Any) -> Any:
        return lambda t: np.sum(np.abs(f(t)) ** 3)

    ours = fg.grad(loss(np, getattr(np.fft, name)))(z)
    theirs = jax.grad(loss(jax.numpy, getattr(jax.numpy.fft, name)))(z)
    np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.peers("torch")
@pytest.mark.parametrize("name", [*TO_COMPLEX, *OF_REAL, *TO_REAL, "fftn", "rfftn", "irfftn"])
def test_gradients_are_those_of_torch(name: str, rng: np.random.Generator) -> None:
    import torch

    x = rng.standard_normal((3, 6))
    z = x if name in OF_REAL or name.startswith("r") else x + 1j * rng.standard_normal(x.shape)
    ours = fg.grad(lambda t: np.sum(np.abs(getattr(np.fft, name)(t)) ** 3))(z)
    leaf = torch.from_numpy(z).requires_grad_()
    (getattr(torch.fft, name)(leaf).abs() ** 3).sum().backward()
    theirs = leaf.grad.resolve_conj().numpy()
    np.testing.assert_allclose(ours, theirs.conj(), rtol=1e-10, atol=1e-12)
