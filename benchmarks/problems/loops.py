"""Losses that walk through time: recurrences by `scan`, reverse mode through thousands of steps."""

from __future__ import annotations

from typing import Any

from benchmarks.problems.spelling import Scan, scan, special

SEED = 0


def lstm_loss(np: Any, parameters: Any, xs: Any, start: Any, ys: Any, scan: Scan = scan) -> Any:
    """Mean squared error of the hidden states of an LSTM (Hochreiter and Schmidhuber, with forget gates)."""
    W, U, b = parameters
    hidden = U.shape[0]
    sigmoid = special(np).expit

    def step(carry: Any, x: Any) -> Any:
        h, c = carry
        z = x @ W + h @ U + b
        keep, write, out = (sigmoid(z[:, k * hidden : (k + 1) * hidden]) for k in range(3))
        c = keep * c + write * np.tanh(z[:, 3 * hidden :])
        h = out * np.tanh(c)
        return (h, c), h

    _, hs = scan(np, step, (start, start), xs)
    return np.mean((hs - ys) ** 2)


def lstm_inputs(np: Any, batch: int = 1, hidden: int = 16, steps: int = 500) -> tuple[Any, ...]:
    """Parameters, inputs as wide as the hidden state, the state at the start, and targets; float32."""
    rng = np.random.default_rng(SEED)

    def floats(*shape: int) -> Any:
        return rng.normal(size=shape).astype(np.float32)

    scale = np.float32(hidden**-0.5)
    W, U = scale * floats(hidden, 4 * hidden), scale * floats(hidden, 4 * hidden)
    start = np.zeros((batch, hidden), np.float32)
    return (W, U, floats(4 * hidden)), floats(steps, batch, hidden), start, floats(steps, batch, hidden)


def recurrence_loss(np: Any, parameters: Any, noise: Any) -> Any:
    """Where a damped, driven number ends up: one number carried through thousands of steps."""
    a, b, start = parameters

    def step(x: Any, drive: Any) -> Any:
        return x + 0.01 * (a * np.sin(x) - b * x + drive), None

    last, _ = scan(np, step, start, noise)
    return last**2


def recurrence_inputs(np: Any, steps: int = 10_000) -> tuple[Any, ...]:
    """The parameters and the drive of every step."""
    return np.array([1.5, 0.7, 0.3]), np.random.default_rng(SEED).normal(size=steps)


def van_der_pol_loss(np: Any, parameters: Any, observed: Any, scan: Scan = scan) -> Any:
    """Mean squared error of a trajectory of Van der Pol's oscillator by the classical Runge-Kutta method."""
    mu, position, velocity = parameters
    h = 0.001

    def slope(p: Any, v: Any) -> Any:
        return v, mu * (1.0 - p * p) * v - p

    def step(state: Any, seen: Any) -> Any:
        p, v = state
        p1, v1 = slope(p, v)
        p2, v2 = slope(p + 0.5 * h * p1, v + 0.5 * h * v1)
        p3, v3 = slope(p + 0.5 * h * p2, v + 0.5 * h * v2)
        p4, v4 = slope(p + h * p3, v + h * v3)
        p = p + h / 6.0 * (p1 + 2.0 * p2 + 2.0 * p3 + p4)
        v = v + h / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4)
        return (p, v), (p - seen) ** 2

    _, errors = scan(np, step, (position, velocity), observed)
    return np.mean(errors)


def van_der_pol_array_loss(np: Any, parameters: Any, observed: Any, scan: Scan = scan) -> Any:
    """The same, with the state in one array of two numbers, as most people write differential equations."""
    mu = parameters[0]
    h = 0.001

    def slope(state: Any) -> Any:
        p, v = state
        return np.stack([v, mu * (1.0 - p * p) * v - p])

    def step(state: Any, seen: Any) -> Any:
        k1 = slope(state)
        k2 = slope(state + 0.5 * h * k1)
        k3 = slope(state + 0.5 * h * k2)
        k4 = slope(state + h * k3)
        state = state + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        return state, (state[0] - seen) ** 2

    _, errors = scan(np, step, parameters[1:], observed)
    return np.mean(errors)


def van_der_pol_inputs(np: Any, steps: int = 10_000) -> tuple[Any, ...]:
    """Damping, position and velocity at the start; what was observed after every step."""
    times = 0.001 * np.arange(1, steps + 1)
    return np.array([1.2, 2.0, 0.0]), 2.0 * np.cos(times)
