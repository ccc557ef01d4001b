"""Lotka-Volterra: the rates of a predator and its prey, fitted to counts by least squares."""

import numpy as np
from scipy.integrate import solve_ivp

years = np.arange(21)
hares = np.array(
    [
        30,
        47.2,
        70.2,
        77.4,
        36.3,
        20.6,
        18.1,
        21.4,
        22,
        25.4,
        27.1,
        40.3,
        57,
        76.6,
        52.3,
        19.5,
        11.2,
        7.6,
        14.6,
        16.2,
        24.7,
    ]
)
lynx = np.array(
    [
        4,
        6.1,
        9.8,
        35.2,
        59.4,
        41.7,
        19,
        13,
        8.3,
        9.1,
        7.4,
        8,
        12.3,
        19.5,
        45.7,
        51.1,
        29.7,
        15.8,
        9.7,
        10.1,
        8.6,
    ]
)

start = np.array([0.55, 0.028, 0.84, 0.026, 33.0, 6.0])


def rates(t, state, alpha, beta, gamma, delta):
    prey, predator = state
    return [alpha * prey - beta * prey * predator, -gamma * predator + delta * prey * predator]


def objective(p):
    alpha, beta, gamma, delta, prey0, predator0 = p
    sol = solve_ivp(
        rates,
        (0, 20),
        [prey0, predator0],
        args=(alpha, beta, gamma, delta),
        t_eval=years,
        rtol=1e-8,
        atol=1e-8,
    )
    if not sol.success:
        return np.inf
    res_hares = np.log(sol.y[0]) - np.log(hares)
    res_lynx = np.log(sol.y[1]) - np.log(lynx)
    return np.sum(res_hares**2) + np.sum(res_lynx**2)
