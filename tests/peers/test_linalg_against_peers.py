"""Gradients of linear algebra are those of jax and torch; torch's are conjugated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg


def span(np: Any, v: Any) -> Any:
    """What the phases of columns do not matter to."""
    weights = np.arange(1.0, 1.0 + v.shape[-1])
    return v * weights @ v.conj().T


def hermitian(a: Any) -> Any:
    return a + a.conj().T


FUNCTIONS = {
    "solve": lambda np, a: np.linalg.solve(a, a.conj()[:, :2]),
    "inv": lambda np, a: np.linalg.inv(a),
    "det": lambda np, a: np.linalg.det(a),
    "slogdet": lambda np, a: np.linalg.slogdet(a)[1],
    "cholesky": lambda np, a: np.linalg.cholesky(a @ a.conj().T),
    "qr": lambda np, a: np.linalg.qr(a)[1],
    "eigvalsh": lambda np, a: np.linalg.eigvalsh(hermitian(a)),
    "eigh": lambda np, a: span(np, np.linalg.eigh(hermitian(a))[1]),
    "svd": lambda np, a: span(np, np.linalg.svd(a[:, :3], full_matrices=False)[0]),
    "pinv": lambda np, a: np.linalg.pinv(a[:, :3]),
    "nuclear": lambda np, a: np.linalg.norm(a, "nuc"),
    "spectral": lambda np, a: np.linalg.norm(a, 2),
    "power": lambda np, a: np.linalg.matrix_power(a, -2),
    "eigvals": lambda np, a: (np.linalg.eigvals(a) ** 2).sum(),
}


def loss(np: Any, f: Any, a: Any) -> Any:
    """A real number of a result, of which the phases of the diagonal do not matter."""
    out = f(np, a)
    return (abs(out) ** 2).sum()


def matrix(rng: np.random.Generator, dtype: Any) -> Any:
    x = rng.standard_normal((4, 4))
    return (x + 1j * rng.standard_normal((4, 4)) if dtype is np.complex128 else x) + 3.0 * np.eye(4)


@pytest.mark.peers("jax")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_those_of_jax(name: str, rng: np.random.Generator) -> None:
    import jax
    import jax.numpy as jnp

    a, f = matrix(rng, np.complex128), FUNCTIONS[name]
    expected = jax.grad(lambda a: loss(jnp, f, a))(a)
    found = fg.grad(lambda a: loss(np, f, a))(a)
    np.testing.assert_allclose(found, np.asarray(expected), rtol=1e-8, atol=1e-9)


@pytest.mark.peers("torch")
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in ("eigh", "svd")])
def test_gradients_are_those_of_torch(name: str, dtype: Any, rng: np.random.Generator) -> None:
    import torch

    a, f = matrix(rng, dtype), FUNCTIONS[name]
    x = torch.tensor(a, requires_grad=True)
    loss(torch, f, x).backward()
    found = fg.grad(lambda a: loss(np, f, a))(a)
    np.testing.assert_allclose(found, x.grad.numpy().conj(), rtol=1e-8, atol=1e-9)


@pytest.mark.peers("jax")
@pytest.mark.parametrize("name", ["expm", "solve_triangular", "lu", "cho_solve"])
def test_gradients_of_scipys_functions_are_those_of_jax(name: str, rng: np.random.Generator) -> None:
    import jax
    import jax.scipy.linalg

    functions = {
        "expm": lambda la, a: la.expm(0.3 * a),
        "solve_triangular": lambda la, a: la.solve_triangular(a, a[:, :2], lower=True),
        "lu": lambda la, a: la.lu(a)[2],
        "cho_solve": lambda la, a: la.cho_solve(la.cho_factor(a @ a.conj().T, lower=True), a),
    }
    f = functions[name]
    a = matrix(rng, np.complex128)
    expected = jax.grad(lambda a: (abs(f(jax.scipy.linalg, a)) ** 2).sum())(a)
    found = fg.grad(lambda a: np.sum(np.abs(f(fg.scipy.linalg, a)) ** 2))(a)
    np.testing.assert_allclose(found, np.asarray(expected), rtol=1e-8, atol=1e-9)
