"""Objectives as Numba's users write them, and the gradient of the pair loop by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit, prange

SEED = 14


def rng() -> Any:
    """Numbers that are the same in every process."""
    return np.random.default_rng(SEED)


@njit(fastmath=True, parallel=True)
def pairs(positions, softening):  # type: ignore[no-untyped-def]
    """The energy of pairs of bodies."""
    n = positions.shape[0]
    total = 0.0
    for i in prange(n):
        for j in range(n):
            if i != j:
                x = positions[i, 0] - positions[j, 0]
                y = positions[i, 1] - positions[j, 1]
                z = positions[i, 2] - positions[j, 2]
                r2 = x * x + y * y + z * z + softening
                s = 1.0 / (r2 * r2 * r2)
                total += 2.0 * (s * s - s)
    return total


@njit(fastmath=True, parallel=True)
def pairs_by_hand(positions, softening):  # type: ignore[no-untyped-def]
    """The gradient of `pairs` by the positions."""
    n = positions.shape[0]
    slope = np.zeros_like(positions)
    for i in prange(n):
        for j in range(n):
            if i != j:
                x = positions[i, 0] - positions[j, 0]
                y = positions[i, 1] - positions[j, 1]
                z = positions[i, 2] - positions[j, 2]
                r2 = x * x + y * y + z * z + softening
                s = 1.0 / (r2 * r2 * r2)
                force = -24.0 * (2.0 * s * s - s) / r2
                slope[i, 0] += force * x
                slope[i, 1] += force * y
                slope[i, 2] += force * z
    return slope


@njit
def relaxed(u, omega, sweeps):  # type: ignore[no-untyped-def]
    """Sweeps of successive over-relaxation."""
    v = u.copy()
    n, m = v.shape
    for _ in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                around = v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1]
                v[i, j] = (1.0 - omega) * v[i, j] + 0.25 * omega * around
    return np.sum(v * v)


@njit
def paths(params, dt, normals):  # type: ignore[no-untyped-def]
    """The price of a call option by simulated paths."""
    rate, sigma = params[0], params[1]
    n_paths, n_steps = normals.shape
    total = 0.0
    for p in range(n_paths):
        s = 1.0
        for t in range(n_steps):
            s *= math.exp((rate - 0.5 * sigma * sigma) * dt + sigma * math.sqrt(dt) * normals[p, t])
        total += max(s - 1.0, 0.0)
    return math.exp(-rate * dt * n_steps) * total / n_paths


def pairs_inputs(_: Any) -> tuple[Any, ...]:
    """1,000 bodies."""
    return 3.0 * rng().normal(size=(1000, 3)), 0.5


def relaxed_inputs(_: Any) -> tuple[Any, ...]:
    """A grid of 100 by 100."""
    return rng().normal(size=(100, 100)), 1.5, 20


def paths_inputs(_: Any) -> tuple[Any, ...]:
    """2,000 paths of 100 steps."""
    return np.array([0.05, 0.2]), 0.01, rng().normal(size=(2000, 100))


@njit
def banded_by_hand(x):  # type: ignore[no-untyped-def]
    """The Jacobian of the function with three diagonals."""
    n = x.size
    matrix = np.zeros((n, n))
    matrix[0, 0], matrix[n - 1, n - 1] = 1.0, 2.0
    for i in range(1, n - 1):
        matrix[i, i - 1] = -1.0
        matrix[i, i] = 4.0 * x[i] - x[i + 1] * np.cos(x[i])
        matrix[i, i + 1] = -np.sin(x[i])
    return matrix
