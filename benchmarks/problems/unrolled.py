"""Programs that are long because Python repeats itself: steps of a loop, layers of a network."""

from __future__ import annotations

from typing import Any

SEED = 0


def recurrent_loss(np: Any, weights: Any, xs: Any) -> Any:
    """A recurrent network, step by step: batch 8, 16 inputs, 32 hidden units, 4 outputs."""
    w_in, w_hidden, b, w_out = weights
    h, total = 0.0 * xs[0] @ w_in, 0.0
    for k in range(xs.shape[0]):
        h = np.tanh(xs[k] @ w_in + h @ w_hidden + b)
        total = total + np.sum((h @ w_out) ** 2)
    return total


def recurrent_inputs(np: Any, steps: int) -> tuple[Any, ...]:
    """Weights, and a sequence."""
    rng = np.random.default_rng(SEED)
    shapes = (16, 32), (32, 32), (32,), (32, 4)
    return tuple([0.1 * rng.normal(size=shape) for shape in shapes]), rng.normal(size=(steps, 8, 16))


def kalman_loss(np: Any, noise: Any, ys: Any) -> Any:
    """The negative log-likelihood of a local linear trend by a Kalman filter with a state of two."""
    step, seen = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    eye = np.array([[1.0, 0.0], [0.0, 1.0]])
    x, p, total = noise[:2] * 0.0, eye * noise[1], 0.0
    for k in range(ys.shape[0]):
        x, p = step @ x, step @ p @ step.T + noise[2] * eye
        s = seen @ p @ seen.T + noise[0]
        gain = p @ seen.T @ np.linalg.inv(s)
        r = ys[k] - seen @ x
        x, p = x + gain @ r, p - gain @ seen @ p
        total = total + 0.5 * (r @ np.linalg.solve(s, r) + np.log(np.linalg.det(s)))
    return total


def kalman_inputs(np: Any, steps: int) -> tuple[Any, ...]:
    """Variances, and observations."""
    return np.array([0.3, 1.0, 0.2]), np.random.default_rng(SEED).normal(size=(steps, 1))


def runge_kutta_loss(np: Any, p: Any, a: Any, steps: Any) -> Any:
    """Where a small nonlinear system is after steps of the classical Runge-Kutta method."""
    x, h = 0.0 * p + 1.0, 0.1

    def slope(x: Any) -> Any:
        return np.tanh(a @ x) * p - 0.1 * x

    for _ in range(steps.shape[0]):
        k1 = slope(x)
        k2 = slope(x + h / 2 * k1)
        k3 = slope(x + h / 2 * k2)
        k4 = slope(x + h * k3)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.sum(x**2)


def runge_kutta_inputs(np: Any, steps: int) -> tuple[Any, ...]:
    """Six parameters, a matrix, and an array as long as there are steps."""
    rng = np.random.default_rng(SEED)
    return np.full(6, 0.7), 0.3 * rng.normal(size=(6, 6)), np.zeros(steps)


def deep_loss(np: Any, layers: Any, x: Any) -> Any:
    """A network of many equal layers, batch 64, width 32."""
    for w in layers:
        x = np.tanh(x @ w)
    return np.mean(x**2)


def deep_inputs(np: Any, layers: int) -> tuple[Any, ...]:
    """The layers in a list, and a batch."""
    rng = np.random.default_rng(SEED)
    return [0.2 * rng.normal(size=(32, 32)) for _ in range(layers)], rng.normal(size=(64, 32))
