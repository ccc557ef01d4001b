"""Small solvers for each of many examples by `vmap`, and functions whose whole Jacobian is wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.problems.spelling import repeated, vmapped

SEED = 0
EXAMPLES = 10_000
NEWTON_STEPS = 20
OSCILLATOR_STEPS = 50
LONG_LOOP = 200


def cube_roots_loss(np: Any, numbers: Any) -> Any:
    """The sum of cube roots, each by so many of Newton's steps."""

    def root(a: Any) -> Any:
        return repeated(np, NEWTON_STEPS, lambda x: x - (x * x * x - a) / (3.0 * x * x), 1.0 + 0.0 * a)

    return np.sum(vmapped(np, root)(numbers))


def cube_roots_inputs(np: Any, examples: int = EXAMPLES) -> tuple[Any, ...]:
    """Numbers from 0.5 to 50."""
    return (np.linspace(0.5, 50.0, examples),)


def oscillators_loss(np: Any, parameters: Any) -> Any:
    """Energies of Van der Pol's oscillators at their end, by the classical Runge-Kutta method."""
    h = 0.05

    def energy(one: Any) -> Any:
        mu = one[0]

        def slope(p: Any, v: Any) -> Any:
            return v, mu * (1.0 - p * p) * v - p

        def step(state: Any) -> Any:
            p, v = state
            p1, v1 = slope(p, v)
            p2, v2 = slope(p + 0.5 * h * p1, v + 0.5 * h * v1)
            p3, v3 = slope(p + 0.5 * h * p2, v + 0.5 * h * v2)
            p4, v4 = slope(p + h * p3, v + h * v3)
            return (
                p + h / 6.0 * (p1 + 2.0 * p2 + 2.0 * p3 + p4),
                v + h / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4),
            )

        p, v = repeated(np, OSCILLATOR_STEPS, step, (one[1], one[2]))
        return p * p + v * v

    return np.sum(vmapped(np, energy)(parameters))


def oscillators_inputs(np: Any, examples: int = EXAMPLES) -> tuple[Any, ...]:
    """Damping, position and velocity at the start, of each."""
    return (np.random.default_rng(SEED).uniform(0.5, 1.5, (examples, 3)),)


def long_loop_loss(np: Any, numbers: Any) -> Any:
    """Where a pendulum without inertia goes in many short steps."""
    return np.sum(vmapped(np, lambda x: repeated(np, LONG_LOOP, lambda y: y + 0.01 * np.sin(y), x))(numbers))


def long_loop_inputs(np: Any, examples: int = 2 * EXAMPLES) -> tuple[Any, ...]:
    """Angles."""
    return (np.linspace(0.0, 1.0, examples),)


def solutions_loss(np: Any, systems: Any) -> Any:
    """The squares of the solutions of 3 x 3 systems."""
    return np.sum(vmapped(np, np.linalg.solve)(*systems) ** 2)


def solutions_inputs(np: Any, examples: int = EXAMPLES) -> tuple[Any, ...]:
    """Matrices with a heavy diagonal, and right sides."""
    rng = np.random.default_rng(SEED)
    return ((rng.normal(size=(examples, 3, 3)) + 4.0 * np.eye(3), rng.normal(size=(examples, 3))),)


def kalman_steps_loss(np: Any, states: Any, seen: Any, model: Any) -> Any:
    """One step of Kalman's filter for each of many points in the plane; minus twice its log-likelihood."""
    moves, shakes, shows, blurs, start = model

    def step(state: Any, measured: Any) -> Any:
        state = moves @ state
        spread = moves @ (start * (1.0 + 0.01 * np.sum(state * state))) @ moves.T + shakes
        off = measured - shows @ state
        seen_spread = shows @ spread @ shows.T + blurs
        gain = np.linalg.solve(seen_spread, shows @ spread).T
        state = state + gain @ off
        fit = np.sum(off * np.linalg.solve(seen_spread, off)) + np.log(np.linalg.det(seen_spread))
        return fit + np.sum(state * state)

    return np.sum(vmapped(np, step)(states, seen))


def kalman_steps_inputs(np: Any, examples: int = EXAMPLES) -> tuple[Any, ...]:
    """Positions and velocities, measured positions, and the model."""
    rng = np.random.default_rng(SEED)
    model = (np.eye(4) + 0.1 * np.eye(4, k=2), 0.01 * np.eye(4), np.eye(2, 4), 0.1 * np.eye(2), np.eye(4))
    return rng.normal(size=(examples, 4)), rng.normal(size=(examples, 2)), model


# -- functions of arrays, whose Jacobians are wanted ------------------------------------------------------


def two_layers(np: Any, x: Any, W: Any) -> Any:
    """A dense function of n numbers."""
    return np.tanh(W @ np.tanh(W @ x))


def two_layers_inputs(np: Any, n: int = 200) -> tuple[Any, ...]:
    """Numbers, and a matrix."""
    rng = np.random.default_rng(SEED)
    return rng.normal(size=n), rng.normal(size=(n, n)) / n**0.5


def small_network(np: Any, x: Any, layers: Any) -> Any:
    """Three tanh layers of one example."""
    for W in layers:
        x = np.tanh(x @ W)
    return x


def small_network_inputs(np: Any, examples: int = 256, width: int = 64) -> tuple[Any, ...]:
    """Examples, and three square matrices."""
    rng = np.random.default_rng(SEED)
    layers = tuple(rng.normal(size=(width, width)) / width**0.5 for _ in range(3))
    return rng.normal(size=(examples, width)), layers


# -- differential equations ---------------------------------------------------------------------------------


Slope = Callable[[Any], Any]
"""How fast a state changes."""


def neural_field_loss(np: Any, parameters: Any, start: Any, ends: Any, checkpoint: Any = None) -> Any:
    """Where a field goes, each point of which is moved by a network of itself and its two neighbours."""
    inner, shift, outer = parameters

    def slope(u: Any) -> Any:
        near = np.stack([np.roll(u, 1), u, np.roll(u, -1)])
        return outer @ np.tanh(inner @ near + shift[:, None])

    return trajectory_loss(np, slope, start, ends, checkpoint)


def neural_field_inputs(np: Any, states: int = 10_000, width: int = 8) -> tuple[Any, ...]:
    """The network, the field at the start, and what it should become."""
    rng = np.random.default_rng(SEED)
    parameters = (rng.normal(size=(width, 3)) / 2.0, rng.normal(size=width), rng.normal(size=width) / width)
    places = np.linspace(0.0, 6.0, states)
    return parameters, np.sin(places), np.cos(places)


def neural_spirals_loss(np: Any, parameters: Any, start: Any, ends: Any, checkpoint: Any = None) -> Any:
    """Where many points in the plane go, each of which is moved by the same network."""
    inner, shift, outer, offset = parameters

    def slope(places: Any) -> Any:
        return np.tanh(places @ inner + shift) @ outer + offset

    return trajectory_loss(np, slope, start, ends, checkpoint)


def neural_spirals_inputs(np: Any, points: int = 5_000, width: int = 50) -> tuple[Any, ...]:
    """The network, the points, and where they should end."""
    rng = np.random.default_rng(SEED)
    parameters = (
        rng.normal(size=(2, width)) / 2.0,
        rng.normal(size=width),
        rng.normal(size=(width, 2)) / width,
        rng.normal(size=2),
    )
    return parameters, rng.normal(size=(points, 2)), rng.normal(size=(points, 2))


def trajectory_loss(np: Any, slope: Slope, start: Any, ends: Any, checkpoint: Any) -> Any:
    """Mean squared error of what becomes of a state in twenty steps of Runge and Kutta's method."""
    h = 0.05

    def step(u: Any) -> Any:
        k1 = slope(u)
        k2 = slope(u + 0.5 * h * k1)
        k3 = slope(u + 0.5 * h * k2)
        k4 = slope(u + h * k3)
        return u + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

    taken = step if checkpoint is None else checkpoint(step)
    return np.mean((repeated(np, 20, taken, start) - ends) ** 2)
