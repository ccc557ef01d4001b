"""Decompositions in native code: NumPy's digits and errors, and loops with them inside are one kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.runtime.addresses import ufuncs
from funcgrad.compile.runtime.executable import compiled


def matrices(rng: np.random.Generator, *shape: int, dtype: Any = np.float64) -> np.ndarray:
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def native(f: Callable[..., Any], *args: Any) -> list[np.ndarray]:
    """What the kernel makes; nothing is left to the evaluator."""
    program = fg.make_program(f)(*args)
    made = compiled(program)
    assert [reason.words for reason in made.reasons] == []
    before = [np.array(x) for x in fg.tree.leaves(args)]
    found = list(made.run(*fg.tree.leaves(args)))
    assert all(
        x.tobytes() == np.asarray(y).tobytes() for x, y in zip(before, fg.tree.leaves(args), strict=True)
    )
    return found


def assert_native_and_close(f: Callable[..., Any], *args: Any, tolerance: float = 1e-10) -> None:
    wanted = fg.make_program(f)(*args).evaluate(*fg.tree.leaves(args))
    for x, y in zip(native(f, *args), wanted, strict=True):
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


ALL: dict[str, Callable[[Any], Any]] = {
    "eigh": lambda a: (*np.linalg.eigh(a), *np.linalg.eigh(a.swapaxes(-1, -2), "U")),
    "eigvalsh": lambda a: (np.linalg.eigvalsh(a), np.linalg.eigvalsh(a[..., ::-1, ::-1], "U")),
    "svd": lambda a: (*np.linalg.svd(a[..., :2]), *np.linalg.svd(a[..., :2, :], full_matrices=False)),
    "svdvals": lambda a: np.linalg.svd(a[..., 1:], compute_uv=False),
    "tall qr": lambda a: (*np.linalg.qr(a[..., :2]), *np.linalg.qr(a[..., :2], "complete")),
    "wide qr": lambda a: (*np.linalg.qr(a[..., :2, :]), *np.linalg.qr(a[..., :2, :], "complete")),
    "eig": lambda a: (*np.linalg.eig(a), np.linalg.eigvals(a)),
}


@pytest.mark.parametrize("name", ALL)
def test_results_are_the_evaluators_digits(name: str, rng: np.random.Generator) -> None:
    for shape, dtype in (((2, 3, 4, 4), np.float64), ((3, 3), np.complex64)):
        a = matrices(rng, *shape, dtype=dtype)
        wanted = fg.make_program(ALL[name])(a).evaluate(a)
        for x, y in zip(native(ALL[name], a), wanted, strict=True):
            assert (x.dtype, x.shape, x.tobytes()) == (y.dtype, y.shape, y.tobytes())


def weighed(*parts: Any) -> Any:
    return sum(np.sum(np.real(x * x.conj()) * np.cos(np.arange(x.size)).reshape(x.shape)) for x in parts)


def of_hermitian(a: Any) -> Any:
    w, v = np.linalg.eigh(a + a.swapaxes(-1, -2).conj())
    return weighed(w, (v * np.exp(-w)[..., None, :]) @ v.swapaxes(-1, -2).conj())


SCALARS: dict[str, Callable[[Any], Any]] = {
    "eigh": of_hermitian,
    "eigvalsh": lambda a: weighed(np.linalg.eigvalsh(a + a.swapaxes(-1, -2).conj())),
    "svd": lambda a: weighed(*np.linalg.svd(a[..., :2], full_matrices=False)),
    "qr": lambda a: weighed(*np.linalg.qr(a[..., :2])),
    "eig": lambda a: weighed(*np.linalg.eig(a)),
    "pinv": lambda a: weighed(np.linalg.pinv(a[..., :2])),
    "lstsq": lambda a: weighed(*np.linalg.lstsq(a[:, :2], a[:, 2], rcond=None)[::3]),
}


@pytest.mark.parametrize("name", SCALARS)
def test_gradients_are_native(name: str, rng: np.random.Generator) -> None:
    a = matrices(rng, 3, 3, dtype=np.complex64 if name in ("eig", "qr") else np.float64)
    assert_native_and_close(fg.grad(SCALARS[name]), a, tolerance=1e-10 if a.dtype == np.float64 else 1e-3)


@pytest.mark.parametrize("n", [2, 5])
def test_complex_factors_and_determinants_are_native(n: int, rng: np.random.Generator) -> None:
    a = rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n))
    a = a @ a.conj().T + np.eye(n)
    for function in (np.linalg.cholesky, np.linalg.slogdet, np.linalg.det, np.sign):
        assert_native_and_close(function, a, tolerance=1e-12)
    assert_native_and_close(np.linalg.slogdet, np.stack([a, 0.0 * a]), tolerance=1e-12)
    corners = [
        0j,
        complex(np.inf, 1),
        complex(1, -np.inf),
        complex(np.inf, np.inf),
        complex(np.nan, 0),
        complex(np.inf, np.nan),
    ]
    with np.errstate(invalid="ignore"):
        assert_native_and_close(np.sign, np.array(corners), tolerance=1e-12)
    for scalar in (
        lambda a: np.sum(np.abs(np.linalg.cholesky(a))),
        lambda a: np.linalg.slogdet(a)[1],
        lambda a: np.sum(np.abs(np.linalg.det(np.stack([a * 1j, a[::-1] + 1j])))),
    ):
        assert_native_and_close(fg.grad(scalar), a, tolerance=1e-10)


def test_the_slope_of_a_singular_complex_determinant_is_numpys() -> None:
    slope = fg.grad(lambda a: np.linalg.det(a).real)
    for n in (2, 4):
        a = np.ones((n, n)) * (1 + 1j)
        a[0, 0] = 2.0
        np.testing.assert_allclose(fg.jit(slope)(a), slope(a), atol=1e-12)


def turned(a: Any, noise: Any) -> Any:
    """A walk whose every step decomposes a matrix."""

    def step(c: Any, e: Any) -> Any:
        w, v = np.linalg.eigh(c + c.T + e)
        q, _ = np.linalg.qr(c)
        return 0.5 * (v * np.tanh(w)) @ q, w[0]

    last, sums = fg.scan(step, a, noise)
    return np.sum(np.sin(sums)) + np.sum(last)


def test_a_scan_of_decompositions_is_one_kernel_forwards_and_backwards(rng: np.random.Generator) -> None:
    a, noise = matrices(rng, 3, 3), matrices(rng, 6, 3, 3)
    assert_native_and_close(fg.value_and_grad(turned), a, noise, tolerance=1e-8)


def test_a_loop_of_python_with_a_decomposition_is_native(rng: np.random.Generator) -> None:
    def f(a: Any, times: Any) -> Any:
        for _ in range(times):
            w, v = np.linalg.eigh(a)
            a = (v * np.cos(w)) @ v.T
        return a

    a = matrices(rng, 3, 3)
    a = a + a.T
    text = str(fg.explain(f)(a, 7))
    assert "left to NumPy" not in text
    assert "calls by address: numpy_linalg_eigh_lo_d" in text
    np.testing.assert_allclose(fg.jit(f)(a, 7), f(a, 7), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda a: np.linalg.eigh(a)[0], "did not converge"),
        (lambda a: np.linalg.svd(a)[1], "did not converge"),
        (lambda a: np.linalg.eig(a)[0], "infs or NaNs"),
        (np.linalg.eigvals, "infs or NaNs"),
    ],
)
def test_what_lapack_cannot_do_raises_as_numpy_does(f: Any, words: str) -> None:
    bad = np.full((2, 3, 3), np.nan)
    bad[0] = np.eye(3)
    with pytest.raises(np.linalg.LinAlgError, match=words):
        f(bad)
    with pytest.raises(np.linalg.LinAlgError, match=words):
        fg.jit(f)(bad)
    with pytest.raises(np.linalg.LinAlgError, match=words):
        fg.jit(lambda a: fg.scan(lambda c, x: (c, f(x)), 0.0, a)[1])(bad)


def test_second_derivatives_at_a_repeated_eigenvalue_raise_in_native_code() -> None:
    def f(a: Any) -> Any:
        return np.sum(np.linalg.eigh(a)[1] ** 3)

    a = np.diag([1.0, 2.0, 4.0])
    np.testing.assert_allclose(fg.jit(fg.hessian(f))(a), fg.hessian(f)(a), atol=1e-12)
    with pytest.raises(fg.errors.NotDifferentiableError, match="second derivatives"):
        fg.jit(fg.hessian(f))(np.eye(3))


def test_empty_matrices_are_left_to_numpy() -> None:
    for shape in ((0, 0), (0, 3, 3)):
        w, v = fg.jit(lambda a: tuple(np.linalg.eigh(a)))(np.zeros(shape))
        assert (w.shape, v.shape) == (shape[:-1], shape)


def test_where_numpys_loops_are_not_found_numpy_decomposes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ufuncs, "_private_module", lambda _: None)
    ufuncs.matrix_loop.cache_clear()
    try:
        a = np.diag([2.0, 1.0])
        f = fg.jit(lambda a: np.linalg.eigh(a)[0] * 2.0)
        np.testing.assert_array_equal(f(a), [2.0, 4.0])
        assert "is not known by address" in str(fg.explain(lambda a: np.linalg.eigh(a)[0] * 3.0)(a))
    finally:
        ufuncs.matrix_loop.cache_clear()
