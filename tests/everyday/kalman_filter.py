"""A Kalman filter: the likelihood of a tracked position under two noises and a damping."""

import numpy as np

rng = np.random.default_rng(1)
steps = 40
dt = 0.5

velocity = np.cumsum(rng.normal(size=steps) * 0.3)
positions = np.cumsum(velocity * dt) + rng.normal(size=steps) * 0.8

start = np.array([-1.0, -0.2, 0.9])


def objective(params):
    process_noise = np.exp(params[0])
    measurement_noise = np.exp(params[1])
    damping = params[2]

    F = np.eye(2)
    F[0, 1] = dt
    F[1, 1] = damping
    H = np.array([[1.0, 0.0]])
    Q = process_noise * np.array([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]])
    R = measurement_noise * np.eye(1)

    x = np.zeros((2, 1))
    P = np.eye(2) * 10.0
    loglik = 0.0
    estimates = []
    for z in positions:
        # predict
        x = F @ x
        P = F @ P @ F.T + Q
        # update
        y = z - H @ x
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        x = x + K @ y
        P = (np.eye(2) - K @ H) @ P
        loglik += -0.5 * (y.T @ np.linalg.inv(S) @ y + np.log(np.linalg.det(2 * np.pi * S)))
        estimates.append(x[0, 0])
    estimates = np.array(estimates)
    roughness = np.sum(np.diff(estimates, 2) ** 2)
    return -loglik[0, 0] + 0.01 * roughness
