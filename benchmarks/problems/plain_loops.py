"""Programs in plain Python: recurrences, sweeps over grids, dynamic programmes, filters, integrators.

One text is what funcgrad differentiates and what Numba compiles. ``*_lax`` is the same for jax, in its loops.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

SEED = 0
SWEEPS = 20
STEPS = 10_000
CAPACITIES = 1_000
PRODUCTS = 10


def numbers(*shape: int) -> Any:
    """Positive random numbers."""
    return np.random.default_rng(SEED).random(shape)


# -- a recurrence -------------------------------------------------------------------------------------------


def in_place(x):  # type: ignore[no-untyped-def]
    """Every element from the one before."""
    y = np.zeros_like(x)
    for i in range(1, x.shape[0]):
        y[i] = np.sin(x[i]) + 0.5 * np.cos(y[i - 1]) * y[i - 1]
    return np.sum(y)


def in_place_adjoint(x):  # type: ignore[no-untyped-def]
    """Value and gradient by hand."""
    n = x.shape[0]
    y, x_bar, y_bar = np.zeros_like(x), np.zeros_like(x), np.ones_like(x)
    for i in range(1, n):
        y[i] = np.sin(x[i]) + 0.5 * np.cos(y[i - 1]) * y[i - 1]
    for i in range(n - 1, 0, -1):
        x_bar[i] = y_bar[i] * np.cos(x[i])
        before = y[i - 1]
        y_bar[i - 1] += y_bar[i] * 0.5 * (np.cos(before) - np.sin(before) * before)
    return np.sum(y), x_bar


def in_place_lax(jax: Any, x: Any) -> Any:
    """The same."""
    jnp = jax.numpy

    def body(i: Any, y: Any) -> Any:
        return y.at[i].set(jnp.sin(x[i]) + 0.5 * jnp.cos(y[i - 1]) * y[i - 1])

    return jnp.sum(jax.lax.fori_loop(1, x.shape[0], body, jnp.zeros_like(x)))


# -- sweeps over a grid -------------------------------------------------------------------------------------


def relaxed(u):  # type: ignore[no-untyped-def]
    """Successive over-relaxation of Laplace's equation; the energy at its end."""
    u = u.copy()
    rows, columns = u.shape
    for _ in range(SWEEPS):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                u[i, j] = -0.5 * u[i, j] + 0.375 * around
    return np.sum(u * u)


def relaxed_adjoint(start):  # type: ignore[no-untyped-def]
    """Value and gradient by hand: nothing has to be kept of a linear sweep."""
    u = start.copy()
    rows, columns = u.shape
    for _ in range(SWEEPS):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                u[i, j] = -0.5 * u[i, j] + 0.375 * around
    bar = 2.0 * u
    for _ in range(SWEEPS):
        for i in range(rows - 2, 0, -1):
            for j in range(columns - 2, 0, -1):
                here = bar[i, j]
                share = 0.375 * here
                bar[i, j] = -0.5 * here
                bar[i - 1, j] += share
                bar[i + 1, j] += share
                bar[i, j - 1] += share
                bar[i, j + 1] += share
    return np.sum(u * u), bar


# -- factors of matrices ------------------------------------------------------------------------------------


def cholesky(a):  # type: ignore[no-untyped-def]
    """The logarithm of the determinant, by Cholesky's factor in three loops over the matrix itself."""
    a = a.copy()
    n = a.shape[0]
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= a[i, k] * a[j, k]
            if i == j:
                a[i, j] = np.sqrt(s)
            else:
                a[i, j] = s / a[j, j]
    total = 0.0
    for i in range(n):
        total += np.log(a[i, i])
    return total


def cholesky_inputs(_: Any, size: int = 300) -> tuple[Any, ...]:
    """A positive definite matrix."""
    a = numbers(size, size)
    return (a @ a.T + size * np.eye(size),)


# -- dynamic programmes -------------------------------------------------------------------------------------


def soft_dtw(costs):  # type: ignore[no-untyped-def]
    """Soft dynamic time warping (Cuturi and Blondel, 2017) of a matrix of costs."""
    rows, columns = costs.shape
    best = np.full_like(costs, 1e10)
    best[0, 0] = 0.0
    for i in range(1, rows):
        for j in range(1, columns):
            a, b, c = -best[i - 1, j - 1], -best[i - 1, j], -best[i, j - 1]
            top = np.maximum(np.maximum(a, b), c)
            total = np.exp(a - top) + np.exp(b - top) + np.exp(c - top)
            best[i, j] = costs[i, j] - (np.log(total) + top)
    return best[rows - 1, columns - 1]


def knapsack(values, weights):  # type: ignore[no-untyped-def]
    """The greatest value that fits into each capacity, with smooth maxima; that of the last."""
    things = values.shape[0]
    best = np.zeros((things + 1, CAPACITIES))
    for i in range(things):
        for c in range(CAPACITIES):
            if c >= weights[i]:
                without, packed = best[i, c], best[i, c - weights[i]] + values[i]
                best[i + 1, c] = 0.5 * (without + packed + np.sqrt((without - packed) ** 2 + 0.01))
            else:
                best[i + 1, c] = best[i, c]
    return best[things, CAPACITIES - 1]


def knapsack_inputs(_: Any, things: int = 100) -> tuple[Any, ...]:
    """Values, and weights that are whole numbers."""
    return numbers(things), np.random.default_rng(SEED).integers(1, 30, things)


def compressed_rows(elements, starts, columns):  # type: ignore[no-untyped-def]
    """Products of a vector by a sparse matrix, row by row, each made as long as one; a moment."""
    rows = starts.shape[0] - 1
    x, y = np.linspace(0.5, 1.5, rows), np.zeros(rows)
    for _ in range(PRODUCTS):
        for r in range(rows):
            total = 0.0
            for e in range(starts[r], starts[r + 1]):
                total += elements[e] * x[columns[e]]
            y[r] = total
        length = np.sqrt(np.sum(y * y))
        for r in range(rows):
            x[r] = y[r] / length
    moment = 0.0
    for r in range(rows):
        moment += r * x[r] * x[r]
    return moment


def compressed_rows_inputs(_: Any, rows: int = 500) -> tuple[Any, ...]:
    """Up to seven elements in each row."""
    rng = np.random.default_rng(SEED)
    starts = np.concatenate([[0], np.cumsum(rng.integers(1, 8, rows))])
    return numbers(int(starts[-1])), starts, rng.integers(0, rows, starts[-1])


def hidden_markov(model, seen):  # type: ignore[no-untyped-def]
    """The logarithm of the likelihood of what was seen, by the forward algorithm."""
    moves, emits = model
    alpha = np.full_like(moves[0], 1.0 / moves.shape[0])
    total = 0.0
    for t in range(seen.shape[0]):
        joint = (alpha @ moves) * emits[seen[t]]
        share = np.sum(joint)
        alpha = joint / share
        total = total + np.log(share)
    return total


def hidden_markov_lax(jax: Any, model: Any, seen: Any) -> Any:
    """The same."""
    jnp = jax.numpy
    moves, emits = model

    def step(alpha: Any, symbol: Any) -> Any:
        joint = (alpha @ moves) * emits[symbol]
        share = jnp.sum(joint)
        return joint / share, jnp.log(share)

    return jnp.sum(jax.lax.scan(step, jnp.full_like(moves[0], 1.0 / moves.shape[0]), seen)[1])


def hidden_markov_inputs(_: Any, steps: int = 1000, states: int = 16, symbols: int = 5) -> tuple[Any, ...]:
    """Probabilities to move and to emit, and what was seen."""
    moves, emits = numbers(states, states), numbers(symbols, states)
    seen = np.random.default_rng(SEED).integers(0, symbols, steps)
    return (moves / moves.sum(1, keepdims=True), emits / emits.sum(0)), seen


# -- linear systems and filters -----------------------------------------------------------------------------


def tridiagonal(bands):  # type: ignore[no-untyped-def]
    """Thomas' algorithm; the square of the solution."""
    a, b, c, d = bands
    n = b.shape[0]
    upper, x = np.zeros_like(c), np.zeros_like(d)
    upper[0] = c[0] / b[0]
    x[0] = d[0] / b[0]
    for i in range(1, n):
        pivot = b[i] - a[i] * upper[i - 1]
        upper[i] = c[i] / pivot
        x[i] = (d[i] - a[i] * x[i - 1]) / pivot
    for i in range(n - 2, -1, -1):
        x[i] = x[i] - upper[i] * x[i + 1]
    return np.sum(x * x)


def tridiagonal_lax(jax: Any, bands: Any) -> Any:
    """The same, by scans over rows, which copy nothing."""
    a, b, c, d = bands

    def down(above: Any, row: Any) -> Any:
        a, b, c, d = row
        upper, x = above
        pivot = b - a * upper
        now = (c / pivot, (d - a * x) / pivot)
        return now, now

    def up(below: Any, row: Any) -> Any:
        upper, x = row
        now = x - upper * below
        return now, now

    zero = 0.0 * d[0]
    _, rows = jax.lax.scan(down, (zero, zero), (a, b, c, d))
    x = jax.lax.scan(up, zero, rows, reverse=True)[1]
    return jax.numpy.sum(x * x)


def tridiagonal_inputs(_: Any, n: int = 100_000) -> tuple[Any, ...]:
    """The bands of a matrix with a heavy diagonal, and the right side."""
    bands = numbers(4, n)
    return ((bands[0], 4.0 + bands[1], bands[2], bands[3]),)


def filtered(model, seen):  # type: ignore[no-untyped-def]
    """The logarithm of the likelihood of measurements, by Kalman's filter."""
    moves, shakes, shows, blurs = model
    state = np.zeros_like(moves[0])
    spread = np.zeros_like(moves) + np.eye(moves.shape[0])
    total = 0.0
    for t in range(seen.shape[0]):
        state = moves @ state
        spread = moves @ spread @ moves.T + shakes
        off = seen[t] - shows @ state
        seen_spread = shows @ spread @ shows.T + blurs
        gain = np.ascontiguousarray(np.linalg.solve(seen_spread, shows @ spread).T)
        state = state + gain @ off
        spread = spread - gain @ (shows @ spread)
        size = np.log(np.linalg.det(seen_spread))
        total = total - 0.5 * (np.sum(off * np.linalg.solve(seen_spread, off)) + size)
    return total


def filtered_lax(jax: Any, model: Any, seen: Any) -> Any:
    """The same."""
    jnp = jax.numpy
    moves, shakes, shows, blurs = model

    def step(carry: Any, measured: Any) -> Any:
        state, spread = carry
        state = moves @ state
        spread = moves @ spread @ moves.T + shakes
        off = measured - shows @ state
        seen_spread = shows @ spread @ shows.T + blurs
        gain = jnp.linalg.solve(seen_spread, shows @ spread).T
        size = jnp.log(jnp.linalg.det(seen_spread))
        share = -0.5 * (jnp.sum(off * jnp.linalg.solve(seen_spread, off)) + size)
        return (state + gain @ off, spread - gain @ (shows @ spread)), share

    start = (jnp.zeros_like(moves[0]), jnp.eye(moves.shape[0]))
    return jnp.sum(jax.lax.scan(step, start, seen)[1])


def filtered_inputs(_: Any, steps: int = 1000) -> tuple[Any, ...]:
    """A point that moves in the plane with a velocity; its position is measured."""
    moves = np.eye(4) + 0.1 * np.eye(4, k=2)
    seen = np.random.default_rng(SEED).normal(size=(steps, 2))
    return (moves, 0.01 * np.eye(4), np.eye(2, 4), 0.1 * np.eye(2)), seen


# -- integrators and forces ---------------------------------------------------------------------------------


def attractor(parameters):  # type: ignore[no-untyped-def]
    """Where Lorenz' equations lead, by Heun's method."""
    s, r, b = parameters[0], parameters[1], parameters[2]
    x, y, z = 1.0, 1.0, 1.0
    h = 0.001
    for _ in range(STEPS):
        dx, dy, dz = s * (y - x), x * (r - z) - y, x * y - b * z
        px, py, pz = x + h * dx, y + h * dy, z + h * dz
        x, y, z = (
            x + 0.5 * h * (dx + s * (py - px)),
            y + 0.5 * h * (dy + px * (r - pz) - py),
            z + 0.5 * h * (dz + px * py - b * pz),
        )
    return x * x + y * y + z * z


def attractor_lax(jax: Any, parameters: Any) -> Any:
    """The same."""
    s, r, b = parameters
    h = 0.001

    def step(state: Any, _: None) -> Any:
        x, y, z = state
        dx, dy, dz = s * (y - x), x * (r - z) - y, x * y - b * z
        px, py, pz = x + h * dx, y + h * dy, z + h * dz
        x, y, z = (
            x + 0.5 * h * (dx + s * (py - px)),
            y + 0.5 * h * (dy + px * (r - pz) - py),
            z + 0.5 * h * (dz + px * py - b * pz),
        )
        return (x, y, z), None

    (x, y, z), _ = jax.lax.scan(step, (1.0, 1.0, 1.0), None, STEPS)
    return x * x + y * y + z * z


def attractor_inputs(_: Any) -> tuple[Any, ...]:
    """Lorenz' own parameters."""
    return (np.array([10.0, 28.0, 8.0 / 3.0]),)


def attraction(places):  # type: ignore[no-untyped-def]
    """The energy of all pairs of bodies."""
    energy = 0.0
    for i in range(places.shape[0]):
        for j in range(i):
            dx = places[i, 0] - places[j, 0]
            dy = places[i, 1] - places[j, 1]
            dz = places[i, 2] - places[j, 2]
            energy = energy - 1.0 / np.sqrt(dx * dx + dy * dy + dz * dz + 0.01)
    return energy


def attraction_lax(jax: Any, places: Any) -> Any:
    """The same; jax differentiates no loop whose bound it does not know, so all pairs are visited."""
    n = places.shape[0]

    def pair(k: Any, energy: Any) -> Any:
        i, j = k // n, k % n
        d = places[i] - places[j]
        term = 1.0 / jax.numpy.sqrt(jax.numpy.sum(d * d) + 0.01)
        return energy - jax.numpy.where(j < i, term, 0.0)

    return jax.lax.fori_loop(0, n * n, pair, 0.0)


# -- until it has converged --------------------------------------------------------------------------------


def cube_root(a):  # type: ignore[no-untyped-def]
    """By Newton's method."""
    x = 1.0 + 0.0 * a
    while abs(x * x * x - a) > 1e-10:
        x = x - (x * x * x - a) / (3.0 * x * x)
    return x


def cube_roots(numbers):  # type: ignore[no-untyped-def]
    """The sum of the roots, one after the other."""
    total = 0.0
    for k in range(numbers.shape[0]):
        a = numbers[k]
        x = 1.0 + 0.0 * a
        while abs(x * x * x - a) > 1e-10:
            x = x - (x * x * x - a) / (3.0 * x * x)
        total = total + x
    return total


def cube_roots_together(numbers: Any) -> Any:
    """The same as a batch."""
    fg = import_module("funcgrad")
    return np.sum(fg.vmap(cube_root)(numbers))


def cube_roots_lax(jax: Any, numbers: Any) -> Any:
    """The same. jax has no reverse mode for such a loop: the derivative of each root is a tangent."""

    def root(a: Any) -> Any:
        def off(x: Any) -> Any:
            return abs(x * x * x - a) > 1e-10

        return jax.lax.while_loop(off, lambda x: x - (x * x * x - a) / (3.0 * x * x), 1.0 + 0.0 * a)

    roots, tangents = jax.jvp(jax.vmap(root), (numbers,), (jax.numpy.ones_like(numbers),))
    return jax.numpy.sum(roots), tangents


def cube_roots_inputs(_: Any, n: int = 10_000) -> tuple[Any, ...]:
    """Numbers whose roots take different numbers of steps."""
    return (np.linspace(0.5, 50.03, n),)
