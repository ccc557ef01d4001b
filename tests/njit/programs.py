"""Programs as Numba's users write them: the function, its arguments, and what to differentiate by."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numba import njit, prange

RNG = np.random.default_rng(14)
X = RNG.normal(size=12)
POSITIONS = RNG.normal(size=(9, 3))
WEIGHTS = np.linspace(0.5, 1.5, 12)
GRAVITY = 9.81


@njit
def square(x):
    return x * x


@njit(fastmath=True)
def pair_energy(positions, epsilon):
    n = positions.shape[0]
    energy = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            r2 = epsilon
            for k in range(positions.shape[1]):
                d = positions[i, k] - positions[j, k]
                r2 += d * d
            energy += math.exp(-r2) / math.sqrt(r2)
    return energy


@njit(parallel=True, fastmath=True)
def pair_energy_parallel(positions, epsilon):
    n = positions.shape[0]
    energy = 0.0
    for i in prange(n):
        for j in range(n):
            if i != j:
                dx = positions[i, 0] - positions[j, 0]
                dy = positions[i, 1] - positions[j, 1]
                dz = positions[i, 2] - positions[j, 2]
                energy += 0.5 / (dx * dx + dy * dy + dz * dz + epsilon) ** 3
    return energy


@njit(parallel=True)
def rows_in_parallel(x, scale):
    n = len(x)
    out = np.zeros(n)
    for i in prange(n):
        acc = 0.0
        for j in range(n):
            acc += math.sin(scale * (x[i] - x[j])) ** 2
        out[i] = acc
    return out.sum()


@njit
def sor(u, omega, sweeps):
    v = u.copy()
    n, m = v.shape
    for _ in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                v[i, j] = (1.0 - omega) * v[i, j] + 0.25 * omega * (
                    v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1]
                )
    return np.sum(v * v)


@njit
def monte_carlo_paths(s0, mu, sigma, dt, normals):
    n_paths, n_steps = normals.shape
    total = 0.0
    for p in range(n_paths):
        s = s0
        for t in range(n_steps):
            s *= math.exp((mu - 0.5 * sigma * sigma) * dt + sigma * math.sqrt(dt) * normals[p, t])
        payoff = max(s - 1.0, 0.0)
        total += payoff
    return math.exp(-mu * dt * n_steps) * total / n_paths


@njit
def escape_smooth(c, most):
    z = 0.0 + 0.0j
    n = 0
    while n < most and abs(z) < 4.0:
        z = z * z + c
        n += 1
    return n + 1 - math.log(math.log(abs(z))) / math.log(2.0)


@njit
def escape_real(x, most):
    return escape_smooth(complex(x, 0.3), most)


@njit
def mandelbrot_like(x, y, most):
    a = 0.0
    b = 0.0
    for n in range(most):
        a, b = a * a - b * b + x, 2.0 * a * b + y
        if a * a + b * b > 16.0:
            return n + 1 - math.log2(math.log(math.hypot(a, b)))
    return float(most)


@njit
def thomas(lower, diagonal, upper, right):
    n = diagonal.size
    c = np.empty(n)
    d = np.empty(n)
    c[0] = upper[0] / diagonal[0]
    d[0] = right[0] / diagonal[0]
    for i in range(1, n):
        m = diagonal[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / m
        d[i] = (right[i] - lower[i] * d[i - 1]) / m
    x = np.empty_like(d)
    x[-1] = d[-1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return (x * WEIGHTS).sum()


@njit
def binomial_option(spot, strike, rate, sigma, maturity, steps):
    dt = maturity / steps
    up = np.exp(sigma * np.sqrt(dt))
    down = 1.0 / up
    p = (np.exp(rate * dt) - down) / (up - down)
    discount = np.exp(-rate * dt)
    values = np.empty(steps + 1)
    for i in range(steps + 1):
        values[i] = max(spot * up ** (steps - i) * down**i - strike, 0.0)
    for step in range(steps - 1, -1, -1):
        for i in range(step + 1):
            values[i] = discount * (p * values[i] + (1.0 - p) * values[i + 1])
    return values[0]


@njit
def american_put(spot, strike, rate, sigma, steps):
    dt = 1.0 / steps
    u = math.exp(sigma * math.sqrt(dt))
    q = (math.exp(rate * dt) - 1 / u) / (u - 1 / u)
    v = np.zeros(steps + 1)
    for k in range(steps + 1):
        v[k] = max(strike - spot * u ** (2.0 * k - steps), 0.0)
    for n in range(steps):
        level = steps - 1 - n
        for k in range(level + 1):
            hold = math.exp(-rate * dt) * (q * v[k + 1] + (1 - q) * v[k])
            now = strike - spot * u ** (2.0 * k - level)
            v[k] = hold if hold > now else now
    return v[0]


@njit
def oscillator(y, out, k):
    out[0] = y[1]
    out[1] = -k * y[0] - 0.1 * y[1]


@njit
def rk4(y0, k, dt, steps):
    y = y0.copy()
    k1 = np.empty(2)
    k2 = np.empty(2)
    k3 = np.empty(2)
    k4 = np.empty(2)
    for _ in range(steps):
        oscillator(y, k1, k)
        oscillator(y + 0.5 * dt * k1, k2, k)
        oscillator(y + 0.5 * dt * k2, k3, k)
        oscillator(y + dt * k3, k4, k)
        y += dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return y[0] ** 2 + y[1]


@njit
def lorenz_step(state, sigma, rho, beta, dt):
    x, y, z = state
    return (x + dt * sigma * (y - x), y + dt * (x * (rho - z) - y), z + dt * (x * y - beta * z))


@njit
def lorenz(rho, steps):
    state = (1.0, 1.0, 1.0)
    for _ in range(steps):
        state = lorenz_step(state, 10.0, rho, 8.0 / 3.0, 0.005)
    return state[0] + state[1] * state[2]


@njit
def exponential_filter(x, alpha):
    y = np.empty_like(x)
    y[0] = x[0]
    for i in range(1, x.size):
        y[i] = alpha * x[i] + (1 - alpha) * y[i - 1]
    return np.sqrt(np.mean(y**2))


@njit
def running_maximum(x):
    best = x[0]
    total = 0.0
    for v in x:
        best = max(best, v)
        total += best
    return total


@njit
def garch(params, returns):
    omega, alpha, beta = params[0], params[1], params[2]
    variance = omega / (1 - alpha - beta)
    likelihood = 0.0
    for r in returns:
        likelihood += 0.5 * (math.log(2 * math.pi) + math.log(variance) + r * r / variance)
        variance = omega + alpha * r**2 + beta * variance
    return likelihood


@njit
def early_return(x, limit):
    total = 0.0
    for i in range(len(x)):
        if x[i] > limit:
            return total
        total += x[i] ** 3
    return -total


@njit
def newton_root(a, tolerance=1e-12):
    x = a
    for _ in range(50):
        step = (x * x * x - a) / (3.0 * x * x)
        x -= step
        if abs(step) < tolerance:
            break
    return x


@njit
def fixed_point(x):
    y = 1.0
    change = 1.0
    while change > 1e-13:
        new = math.cos(x * y)
        change = abs(new - y)
        y = new
    return y


@njit
def logsumexp(x):
    m = -np.inf
    for v in x:
        m = max(m, v)
    s = 0.0
    for v in x:
        s += math.exp(v - m)
    return m + math.log(s)


@njit
def matrix_by_hand(a, b):
    n, m = a.shape
    p = b.shape[1]
    c = np.zeros((n, p))
    for i in range(n):
        for j in range(p):
            for k in range(m):
                c[i, j] += a[i, k] * b[k, j]
    return np.trace(c @ c.T)


@njit
def convolved(x, kernel):
    n = len(x) - len(kernel) + 1
    out = np.zeros(n, dtype=np.float64)
    for i in range(n):
        for j in range(len(kernel)):
            out[i] += x[i + j] * kernel[j]
    return (out**2).sum()


@njit
def interpolated(table, at):
    total = 0.0
    for q in at:
        i = int(q)
        i = min(max(i, 0), len(table) - 2)
        w = q - i
        total += (1.0 - w) * table[i] + w * table[i + 1]
    return total


@njit
def gathered(values, index):
    s = 0
    for k in range(index.size):
        s += values[index[k]] * (k + 1)
    return s


@njit
def scattered(values, index, bins):
    out = np.zeros(bins)
    for k in range(values.size):
        out[index[k]] += values[k] ** 2
    return np.prod(out + 1.0)


@njit
def heat(u, alpha, steps):
    a = u.copy()
    b = u.copy()
    for _ in range(steps):
        for i in range(1, a.size - 1):
            b[i] = a[i] + alpha * (a[i - 1] - 2 * a[i] + a[i + 1])
        a, b = b, a
    return np.sum(np.abs(a) ** 1.5)


@njit
def projectile(angle, drag):
    vx = 30.0 * math.cos(angle)
    vy = 30.0 * math.sin(angle)
    x = 0.0
    y = 0.0
    dt = 0.01
    while y >= 0.0:
        v = math.hypot(vx, vy)
        vx -= drag * v * vx * dt
        vy -= (GRAVITY + drag * v * vy) * dt
        x += vx * dt
        y += vy * dt
    return x


def make_polynomial(coefficients):
    @njit
    def polynomial(x):
        result = 0.0
        for c in coefficients[::-1]:
            result = result * x + c
        return result

    return polynomial


cubic = make_polynomial(np.array([1.0, -2.0, 0.5, 3.0]))


@njit
def applied(f, x):
    total = 0.0
    for i in range(x.size):
        total += f(x[i])
    return total


def applied_square(x):
    return applied(square, x)


@njit
def nested(x):
    def inner(v, power):
        return v**power

    total = 0.0
    for i in range(x.size):
        total += inner(x[i], 3) * i
    return total


@njit
def power_by_recursion(x, n):
    if n == 0:
        return 1.0
    return x * power_by_recursion(x, n - 1)


@njit("float64(float64[:], float64)", error_model="numpy", inline="always")
def with_signature(x, a):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] / (a + x[i] ** 2)
    return s


@njit(cache=False, nogil=True)
def casts(x):
    s = np.float64(0)
    for i in range(len(x)):
        k = np.int64(i) // 2
        s += np.float64(k) * x[i] + numba.float64(i % 3) * math.pow(x[i], 2)
    return float(s)


@njit
def special(x):
    s = 0.0
    for i in range(x.size):
        s += math.erf(x[i]) + math.lgamma(2.0 + abs(x[i])) + math.atan2(x[i], 2.0) + math.expm1(0.1 * x[i])
    return s


@njit
def hmm_forward(log_a, log_b, observations):
    n = log_a.shape[0]
    alpha = np.empty(n)
    for i in range(n):
        alpha[i] = log_b[i, observations[0]]
    for t in range(1, observations.size):
        new = np.empty(n)
        for j in range(n):
            m = -1e300
            for i in range(n):
                v = alpha[i] + log_a[i, j]
                m = max(m, v)
            s = 0.0
            for i in range(n):
                s += np.exp(alpha[i] + log_a[i, j] - m)
            new[j] = m + np.log(s) + log_b[j, observations[t]]
        alpha[:] = new
    m = alpha.max()
    return m + np.log(np.exp(alpha - m).sum())


@njit
def edit_soft(a, b, gamma):
    n, m = a.size, b.size
    d = np.full((n + 1, m + 1), 1e6)
    d[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (a[i - 1] - b[j - 1]) ** 2
            low = min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
            s = (
                math.exp(-(d[i - 1, j] - low) / gamma)
                + math.exp(-(d[i, j - 1] - low) / gamma)
                + math.exp(-(d[i - 1, j - 1] - low) / gamma)
            )
            d[i, j] = cost + low - gamma * math.log(s)
    return d[n, m]


@njit
def cholesky(a):
    n = a.shape[0]
    low = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= low[i, k] * low[j, k]
            if i == j:
                low[i, j] = math.sqrt(s)
            else:
                low[i, j] = s / low[j, j]
    total = 0.0
    for i in range(n):
        total += 2.0 * math.log(low[i, i])
    return total


@njit
def slices(x):
    y = np.zeros((3, x.size))
    y[0, :] = x
    y[1, 1:] = x[1:] - x[:-1]
    y[2] = y[0] * y[1]
    y[2, ::2] *= 2.0
    return y.sum() + np.dot(y[0], y[2])


@njit
def enumerated(x, w):
    total = 0.0
    for i, (a, b) in enumerate(zip(x, w)):  # noqa: B905 - Numba takes no strict
        total += (i + 1) * a * b
    return total


@njit
def conditional_sum(x):
    total = 0.0
    count = 0
    for v in x:
        if v < -0.5 or (v > 0.2 and not v > 1.5):
            count += 1
            total += v * v
        elif v == 0.0:
            continue
        else:
            total -= 0.5 * v
    return total / max(count, 1)


@njit
def kepler(m, e):
    big = m
    for _ in range(30):
        big = big - (big - e * math.sin(big) - m) / (1.0 - e * math.cos(big))
    return 2.0 * math.atan(math.sqrt((1 + e) / (1 - e)) * math.tan(big / 2.0))


SPD = POSITIONS[:5] @ POSITIONS[:5].T + 3.0 * np.eye(5)
NORMALS = RNG.normal(size=(40, 12))

CASES: list[tuple[Any, tuple[Any, ...], int]] = [
    (square, (1.5,), 0),
    (pair_energy, (POSITIONS, 0.1), 0),
    (pair_energy, (POSITIONS, 0.1), 1),
    (pair_energy_parallel, (POSITIONS, 1.0), 0),
    (rows_in_parallel, (X, 0.7), 0),
    (sor, (RNG.normal(size=(7, 8)), 1.3, 5), 0),
    (sor, (RNG.normal(size=(7, 8)), 1.3, 5), 1),
    (monte_carlo_paths, (1.0, 0.05, 0.2, 0.1, NORMALS), 2),
    (escape_real, (0.4, 40), 0),
    (mandelbrot_like, (0.5, 0.6, 60), 0),
    (thomas, (X * 0.1, 3.0 + 0.1 * X, 0.2 * X, np.cos(X)), 1),
    (thomas, (X * 0.1, 3.0 + 0.1 * X, 0.2 * X, np.cos(X)), 3),
    (binomial_option, (100.0, 95.0, 0.02, 0.3, 0.8, 24), 3),
    (american_put, (100.0, 110.0, 0.05, 0.25, 20), 0),
    (rk4, (np.array([1.0, 0.2]), 2.0, 0.05, 40), 0),
    (rk4, (np.array([1.0, 0.2]), 2.0, 0.05, 40), 1),
    (lorenz, (28.0, 60), 0),
    (exponential_filter, (X, 0.3), 0),
    (exponential_filter, (X, 0.3), 1),
    (running_maximum, (X,), 0),
    (garch, (np.array([0.1, 0.2, 0.6]), X), 0),
    (early_return, (X, 1.0), 0),
    (newton_root, (2.5,), 0),
    (fixed_point, (0.8,), 0),
    (logsumexp, (X,), 0),
    (matrix_by_hand, (POSITIONS, POSITIONS[:3] + 1.0), 0),
    (convolved, (X, np.array([0.2, 0.5, -0.3])), 1),
    (interpolated, (X, np.array([0.3, 4.6, 7.2, 10.9])), 0),
    (interpolated, (X, np.array([0.3, 4.6, 7.2, 10.9])), 1),
    (gathered, (X, np.array([3, 1, 4, 1, 5, 9, 2, 6])), 0),
    (scattered, (X, np.array([0, 1, 2, 3] * 3), 4), 0),
    (heat, (X, 0.2, 7), 0),
    (projectile, (0.7, 0.003), 0),
    (cubic, (0.7,), 0),
    (applied_square, (X,), 0),
    (nested, (X,), 0),
    (power_by_recursion, (1.3, 5), 0),
    (with_signature, (X, 2.0), 0),
    (casts, (X,), 0),
    (special, (X,), 0),
    (hmm_forward, (np.log(np.abs(POSITIONS[:3])), np.log(np.abs(POSITIONS[3:6])), np.array([0, 2, 1, 1])), 0),
    (edit_soft, (X[:6], X[4:9], 0.5), 0),
    (cholesky, (SPD,), 0),
    (slices, (X,), 0),
    (enumerated, (X, WEIGHTS), 1),
    (conditional_sum, (X,), 0),
    (kepler, (1.0, 0.4), 1),
]
