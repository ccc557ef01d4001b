"""A neural ODE: a small network as the right side, stepped by Runge and Kutta's method."""

import numpy as np

rng = np.random.default_rng(6)
times = np.linspace(0, 3, 31)
angles = 1.5 * times
spiral = np.stack([np.exp(-0.2 * times) * np.cos(angles), np.exp(-0.2 * times) * np.sin(angles)], axis=1)

start = {
    "W1": rng.normal(size=(2, 16)) * 0.4,
    "b1": np.zeros(16),
    "W2": rng.normal(size=(16, 2)) * 0.4,
    "b2": np.zeros(2),
}


def network(params, y):
    h = np.tanh(y @ params["W1"] + params["b1"])
    return h @ params["W2"] + params["b2"]


def odeint(f, y0, ts):
    path = np.zeros((len(ts), len(y0)))
    path[0] = y0
    for i in range(len(ts) - 1):
        h = ts[i + 1] - ts[i]
        y = path[i]
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        k4 = f(y + h * k3)
        path[i + 1] = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return path


def objective(params):
    path = odeint(lambda y: network(params, y), spiral[0], times)
    loss = np.mean((path - spiral) ** 2)
    for name, value in params.items():
        if name.startswith("W"):
            loss += 1e-4 * np.sum(value**2)
    return loss
