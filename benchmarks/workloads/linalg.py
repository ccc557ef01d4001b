"""Linear algebra: very many tiny matrices, and one of a few hundred rows."""

from __future__ import annotations

from typing import Any

from benchmarks.compiled import OBJECTIVE, compiled_gradients
from benchmarks.contenders import gradients
from benchmarks.model import Versus, Workload
from benchmarks.problems.spelling import scan

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
    w, v = np.linalg.eigh(0.5 * (a + a.T))  # of the whole matrix, whichever triangle is read
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

STEPS = 1_000


def turned_loss(np: Any, start: Any, noise: Any) -> Any:
    """A function of a symmetric matrix and some noise, again and again: every step has an `eigh`."""

    def step(a: Any, e: Any) -> tuple[Any, Any]:
        h = a + e
        w, v = np.linalg.eigh(0.5 * (h + h.T))  # of the whole matrix, whichever triangle is read
        return (v * np.tanh(w)) @ v.T + start, w[0]

    last, lowest = scan(np, step, start, noise)
    return np.sum(lowest) + np.sum(last)


def turned_inputs(np: Any) -> tuple[Any, ...]:
    """A symmetric 6x6 matrix, and noise for each step."""
    rng = np.random.default_rng(SEED)
    x = rng.normal(size=(6, 6))
    return x + x.T, 0.1 * rng.normal(size=(STEPS, 6, 6))


EIGH_IN_SCAN = Workload(
    name="eigh-in-scan",
    title="compiled value and gradient of a `scan` over 1,000 steps with a 6×6 `eigh` each",
    contenders=compiled_gradients(turned_loss, names=("funcgrad", OBJECTIVE, "jax.jit")),
    targets=(Versus(("jax.jit",), 1.0),),
    inputs=turned_inputs,
    in_quick=False,
)


def split_step_loss(np: Any, start: Any, phases: Any) -> Any:
    """A non-linear wave that goes on by split steps, half of each in its spectrum."""

    def step(u: Any, phase: Any) -> tuple[Any, Any]:
        u = u * np.exp(-0.01j * np.abs(u) ** 2)
        return np.fft.ifft(np.exp(1j * phase) * np.fft.fft(u)), np.abs(u[0])

    last, seen = scan(np, step, start, phases)
    return np.sum(seen) + np.sum(np.abs(last) ** 4)


def split_step_inputs(np: Any) -> tuple[Any, ...]:
    """A wave at 64 places, and how far each step turns each of its frequencies."""
    rng = np.random.default_rng(SEED)
    return rng.normal(size=64) + 1j * rng.normal(size=64), 0.005 * rng.normal(size=(STEPS, 64)) ** 2


FFT_IN_SCAN = Workload(
    name="fft-in-scan",
    title="compiled value and gradient of a `scan` over 1,000 split steps with two FFTs of 64 numbers each",
    contenders=compiled_gradients(split_step_loss, names=("funcgrad", OBJECTIVE, "jax.jit")),
    targets=(Versus(("jax.jit",), 1.0),),
    inputs=split_step_inputs,
    in_quick=False,
)


WORKLOADS = (SOLVE, DET, EIGH, EIGH_IN_SCAN, FFT_IN_SCAN)
