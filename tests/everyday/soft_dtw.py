"""Soft dynamic time warping: a smooth distance of two series, by its table."""

import numpy as np

rng = np.random.default_rng(8)
template = np.sin(np.linspace(0, 6, 18))
start = np.sin(np.linspace(0, 6, 15) ** 1.1) + 0.1 * rng.normal(size=15)


def softmin(a, b, c, gamma):
    values = [-a / gamma, -b / gamma, -c / gamma]
    m = max(values)
    total = 0
    for v in values:
        total += np.exp(v - m)
    return -gamma * (np.log(total) + m)


def soft_dtw(x, y, gamma=0.5):
    n, m = len(x), len(y)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            D[i, j] = cost + softmin(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1], gamma)
    return D[n, m]


def objective(x):
    return soft_dtw(x, template)
