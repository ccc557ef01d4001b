"""Robust regression: Huber's loss, point by point with an if, and a scale from the median."""

import numpy as np

rng = np.random.default_rng(9)
n = 60
X = np.column_stack([np.ones(n), rng.normal(size=n), rng.normal(size=n)])
y = X @ np.array([1.0, 2.0, -1.0]) + 0.3 * rng.normal(size=n)
y[::9] += 8.0
names = ["const", "x1", "x2"]

start = np.array([0.8, 1.5, -0.7])


def huber(r, delta=1.345):
    if abs(r) <= delta:
        return 0.5 * r**2
    return delta * (abs(r) - 0.5 * delta)


def objective(beta):
    residuals = y - X.dot(beta)
    mad = np.median(np.abs(residuals - np.median(residuals)))
    scale = mad / 0.6745
    loss = 0
    for r in residuals:
        loss += huber(r / scale)
    penalty = sum(abs(b) for name, b in zip(names, beta, strict=True) if name != "const")
    return loss * scale**2 / n + 0.01 * penalty
