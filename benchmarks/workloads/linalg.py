"""Linear algebra: very many tiny matrices, and one of a few hundred rows."""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import gradients
from benchmarks.model import Versus, Workload

SEED = 0

MATRICES = 100_000

PEERS = ("torch", "jax.jit")

CONTENDERS = ("funcgrad", "torch", "jax", "jax.jit")
"""Without autograd: it is as slow as NumPy, and differentiates one triangle of a symmetric matrix."""


def solutions(np: Any, a: Any, b: Any) -> Any:
    """The sum of squares of the solutions."""
    return np.sum(np.linalg.solve(a, b) ** 2)


def systems(np: Any) -> tuple[Any, ...]:
    """Normal 3x3 matrices, moved away from singular ones, and a right-hand side for each."""
    rng = np.random.default_rng(SEED)
    return rng.normal(size=(MATRICES, 3, 3)) + 3.0 * np.eye(3), rng.normal(size=(MATRICES, 3, 1))


SOLVE = Workload(
    name="solve-3x3",
    title="value and gradient through `solve` of 100,000 3×3 systems",
    contenders=gradients(solutions, value=True, names=CONTENDERS),
    targets=(Versus(PEERS, 5.0),),
    inputs=systems,
    in_quick=False,
)


def determinants(np: Any, a: Any) -> Any:
    """The sum of the determinants."""
    return np.sum(np.linalg.det(a))


def matrices(np: Any) -> tuple[Any, ...]:
    """Normal 3x3 matrices."""
    return (np.random.default_rng(SEED).normal(size=(MATRICES, 3, 3)),)


DET = Workload(
    name="det-3x3",
    title="value and gradient of the sum of 100,000 3×3 determinants",
    contenders=gradients(determinants, value=True, names=CONTENDERS),
    targets=(Versus(PEERS, 5.0),),
    inputs=matrices,
    in_quick=False,
)


def spectral_loss(np: Any, a: Any) -> Any:
    """The sum of squares of the eigenvalues, and an element of the matrix's exponential."""
    w, v = np.linalg.eigh(a)
    return np.sum(w**2) + np.sum(v[0] ** 2 * np.exp(w))


def symmetric_matrix(np: Any) -> tuple[Any, ...]:
    """A symmetric 200x200 matrix."""
    x = np.random.default_rng(SEED).normal(size=(200, 200)) / 20.0
    return (x + x.T,)


EIGH = Workload(
    name="eigh-200",
    title="value and gradient through `eigh` of a 200×200 matrix",
    contenders=gradients(spectral_loss, value=True, names=CONTENDERS),
    targets=(Versus(PEERS, 1.0),),
    inputs=symmetric_matrix,
    in_quick=False,
)

WORKLOADS = (SOLVE, DET, EIGH)
