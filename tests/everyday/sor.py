"""Successive over-relaxation: the temperature of a plate whose edges are parameters."""

import numpy as np

start = np.array([1.0, 0.3, -0.5, 0.2])


def solve(edges, omega=1.6, tol=1e-9, max_sweeps=500):
    n = 12
    u = np.zeros((n, n))
    u[0, :] = edges[0]
    u[-1, :] = edges[1]
    u[:, 0] = edges[2]
    u[:, -1] = edges[3]
    for _ in range(max_sweeps):
        biggest = 0.0
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                new = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                change = omega * (new - u[i, j])
                u[i, j] += change
                if abs(change) > biggest:  # noqa: PLR1730 - as it is written
                    biggest = abs(change)
        if biggest < tol:
            break
    return u


def objective(edges):
    u = solve(edges)
    wanted = 0.4
    return ((u[4:8, 4:8] - wanted) ** 2).mean()
