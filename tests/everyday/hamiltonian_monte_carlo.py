"""Hamiltonian Monte Carlo: the energy after a trajectory on a curved density, by its first momentum."""

import numpy as np

import funcgrad as fg

start = np.array([0.3, -0.2])


def potential(q):
    """Rosenbrock's banana as a density."""
    return (1 - q[0]) ** 2 / 2 + 5 * (q[1] - q[0] ** 2) ** 2 / 2


def leapfrog(q, p, step, n, gradient):
    q, p = q.copy(), p.copy()
    p -= 0.5 * step * gradient(q)
    for i in range(n):
        q += step * p
        if i != n - 1:
            p -= step * gradient(q)
    p -= 0.5 * step * gradient(q)
    return q, -p


def sample(n_samples, gradient, seed=0):
    rng = np.random.default_rng(seed)
    q = np.zeros(2)
    samples = []
    accepted = 0
    for _ in range(n_samples):
        p = rng.normal(size=2)
        q_new, p_new = leapfrog(q, p, 0.1, 12, gradient)
        h_old = potential(q) + 0.5 * (p @ p)
        h_new = potential(q_new) + 0.5 * (p_new @ p_new)
        if np.log(rng.uniform()) < h_old - h_new:
            q = q_new
            accepted += 1
        samples.append(q)
    return np.array(samples), accepted / n_samples


def by_hand(q):
    a = -(1 - q[0]) - 10 * q[0] * (q[1] - q[0] ** 2)
    return np.array([a, 5 * (q[1] - q[0] ** 2)])


def objective(p):
    """Where a trajectory ends depends on the momentum that it starts with."""
    q_new, p_new = leapfrog(np.array([0.5, 0.5]), p, 0.1, 12, fg.grad(potential))
    return np.sum(q_new**2) + p_new[0]


def reference(p):
    q_new, p_new = leapfrog(np.array([0.5, 0.5]), p, 0.1, 12, by_hand)
    return np.sum(q_new**2) + p_new[0]
