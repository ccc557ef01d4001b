"""A physics-informed network: u'' = -u on an interval, with derivatives of the network inside the loss."""

import numpy as np

import funcgrad as fg

rng = np.random.default_rng(7)
points = np.linspace(0, np.pi / 2, 12)
sizes = [1, 8, 8, 1]
start = [(rng.normal(size=(m, n)) / np.sqrt(m), np.zeros(n)) for m, n in zip(sizes, sizes[1:])]  # noqa: B905, RUF007 - as it would be written


def u(params, t):
    h = np.array([t])
    for W, b in params[:-1]:
        h = np.tanh(h @ W + b)
    W, b = params[-1]
    return (h @ W + b)[0]


def objective(params):
    du = fg.grad(u, 1)
    ddu = fg.grad(du, 1)
    residual = 0.0
    for t in points:
        residual += (ddu(params, t) + u(params, t)) ** 2
    boundary = u(params, 0.0) ** 2 + (du(params, 0.0) - 1) ** 2
    return residual / len(points) + boundary


def reference(params):
    """The same with the derivatives of the network by central differences."""
    residual = 0.0
    h = 1e-4
    for t in points:
        residual += ((u(params, t + h) - 2 * u(params, t) + u(params, t - h)) / h**2 + u(params, t)) ** 2
    boundary = u(params, 0.0) ** 2 + ((u(params, h) - u(params, -h)) / (2 * h) - 1) ** 2
    return residual / len(points) + boundary


tolerance = 1e-5
