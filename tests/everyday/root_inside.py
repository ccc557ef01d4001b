"""A root finder inside an objective: Kepler's equation, solved at each time of an orbit's fit."""

import numpy as np
from scipy.optimize import brentq

times = np.linspace(0.1, 9.0, 14)
truth = np.array([1.1, 0.35, 0.4])
start = np.array([1.0, 0.3, 0.5])


def eccentric_anomaly(M, e):
    return brentq(lambda E: E - e * np.sin(E) - M, M - 1.0, M + 1.0, xtol=1e-13)


def radial_velocity(params):
    n, e, w = params
    v = []
    for t in times:
        E = eccentric_anomaly(n * t, e)
        nu = 2 * np.arctan2(np.sqrt(1 + e) * np.sin(E / 2), np.sqrt(1 - e) * np.cos(E / 2))
        v.append(np.cos(nu + w) + e * np.cos(w))
    return np.array(v)


observed = radial_velocity(truth)


def objective(params):
    return np.sum((radial_velocity(params) - observed) ** 2)
