"""Sparse arrays that are put together in traced functions: of diagonals, of blocks, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import funcgrad as fg
from funcgrad.errors import FuncgradError

V = np.array([0.5, 1.5, 2.5])
W = np.arange(1.0, 4.0)
Function = Callable[[Any], Any]


def element_by_element(v: Any) -> Any:
    A = sp.lil_matrix((3, 3))
    for i in range(3):
        A[i, i] = 2.0 + v[i]
    A[0, 1] -= v[0]
    A[-1, 0] += v[1] * v[2]
    A[1, 1] = 0
    return A


def by_slices(v: Any) -> Any:
    A = sp.lil_array((3, 3))
    A[0, :] = v
    A[1:, 1] = v[1:] ** 2
    A[2, [0, 2]] = [v[0], 4.0]
    A.setdiag(v * 3.0)
    A.setdiag(1.0, k=1)
    return A


def of_keys(v: Any) -> Any:
    A = sp.dok_matrix((3, 3))
    for i in range(3):
        A[i, (i + 1) % 3] = v[i] + A[0, 1]
    return A


MADE: dict[str, Function] = {
    "lil_matrix": element_by_element,
    "slices": by_slices,
    "dok_matrix": of_keys,
    "untraced": lambda v: sp.lil_matrix(np.diag(W)),
    "of another": lambda v: by_slices(sp.lil_array(sp.diags(v)).tocsr() @ W),
    "diags": lambda v: sp.diags([v[1:], v, 2.0 * v], [-1, 0, 1]),
    "one diagonal": sp.diags,
    "of a number": lambda v: sp.diags([v[0], 1.0], [0, 2], shape=(3, 3)),
    "diags_array": lambda v: sp.diags_array([v, v[:2]], offsets=[0, -1]),
    "as columns": lambda v: sp.diags([v, v[1:]], [0, -1], format="csc"),
    "vstack": lambda v: sp.vstack([sp.diags(v), sp.eye(3)]).tocsr()[1:4],
    "hstack": lambda v: sp.hstack([sp.eye(3), sp.csr_matrix(np.diag(v))]).tocsr()[:, 2:5],
    "block_diag": lambda v: sp.block_diag([sp.diags(v[:1]), sp.diags(v[1:])]),
    "kron": lambda v: sp.kron(sp.diags(v), np.array([[1.0, 2.0]])).tocsr()[:, :3],
    "kron of an identity": lambda v: sp.kron(sp.eye(3), sp.csr_matrix(v[None, :1])),
    "csr_matrix": lambda v: sp.csr_matrix((v, (np.array([0, 1, 1]), np.array([0, 1, 1]))), shape=(3, 3)),
    "csc_matrix": lambda v: sp.csc_matrix((v, np.array([0, 1, 1]), np.array([0, 2, 3, 3])), shape=(3, 3)),
    "coo_matrix": lambda v: sp.coo_matrix((v, ([0, 1, 2], [0, 1, 1])), shape=(3, 3)),
}


@pytest.mark.at_length
@pytest.mark.parametrize("name", MADE)
def test_products_with_what_is_made(name: str) -> None:
    agrees(lambda v: W @ (MADE[name](v).tocsr() @ W))
    agrees(lambda v: np.sum(MADE[name](v).T.tocsc().toarray() ** 2))


MATRICES = [
    "lil_matrix",
    "dok_matrix",
    "diags",
    "vstack",
    "block_diag",
    "csr_matrix",
    "csc_matrix",
    "coo_matrix",
]


@pytest.mark.parametrize("name", MATRICES)
def test_the_star_is_the_product_of_matrices_whatever_was_done_before(name: str) -> None:
    def f(v: Any) -> Any:
        A = MADE[name](v)
        total = W @ (A * W) + W @ (A.T * W) + W @ ((A + sp.eye(3)) * W) + W @ ((sp.eye(3) + A) * W)
        total += W @ ((2.0 * A - sp.eye(3)) * W) + W @ ((A * A) * W) + W @ ((-A).tocsr()[:, :] * W)
        return total + (A.multiply(A)).sum() + A.tocsr()[0].shape[0] * W @ (A.tocsr().astype(float) * W)

    agrees(f)


def test_the_star_of_arrays_is_of_their_elements() -> None:
    agrees(lambda v: (by_slices(v).tocsr() * W).sum())


def test_systems_of_assembled_matrices() -> None:
    agrees(lambda v: spla.spsolve((element_by_element(v) + 3.0 * sp.eye(3)).tocsc(), W).sum())
    agrees(lambda v: spla.spsolve(sp.diags([v[1:], v + 3.0, v[:2]], [-1, 0, 1], format="csc"), W).sum())


def test_what_gives_a_matrix_of_numpys_is_refused() -> None:
    for use in (lambda A: A.sum(axis=0), lambda A: A.mean(axis=1), lambda A: A.todense()):
        with pytest.raises(FuncgradError, match=r"is a numpy\.matrix"):
            fg.grad(lambda v, use=use: np.sum(use(sp.diags(v))))(V)


def test_wrong_shapes_are_refused_as_scipy_refuses_them() -> None:
    for make in (
        lambda v: sp.diags([v[:2], v], [0, 1], shape=(3, 3)),
        lambda v: sp.diags([v], [0, 1]),
        lambda v: sp.hstack([sp.diags(v), sp.eye(2)]),
        lambda v: sp.vstack([sp.diags(v), sp.eye(2)]),
    ):
        for call in (make, fg.grad(lambda v, make=make: make(v).sum())):
            with pytest.raises(ValueError, match=r"Diagonal length|diagonals and offsets|incompatible"):
                call(V)
    with pytest.raises(IndexError):
        fg.grad(lambda v: element_by_element(v)[3, 0])(V)


def agrees(f: Function) -> None:
    """Value and gradient, un-jitted and compiled, against SciPy's value and its differences."""
    step = 1e-6
    expected = [(f(V + step * e) - f(V - step * e)) / (2.0 * step) for e in np.eye(3)]
    for function in (fg.value_and_grad(f), fg.jit(fg.value_and_grad(f))):
        value, slope = function(V)
        np.testing.assert_allclose(value, f(V), rtol=1e-12)
        np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-7)
