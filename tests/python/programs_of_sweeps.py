"""Sweeps, filters, steps and searches as people write them, element by element.

Nothing in here knows of funcgrad.
"""

import numpy as np


def explicit_heat(u0):
    """Steps of the heat equation, by an array beside it."""
    u = u0.copy()
    n, m = u.shape
    new = u.copy()
    for _ in range(4):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                new[i, j] = u[i, j] + 0.1 * (
                    u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - 4 * u[i, j]
                )
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[i, j] = new[i, j]
    s = 0.0
    for i in range(n):
        for j in range(m):
            s += u[i, j] ** 2 * (i + 1)
    return s


def cheapest_edits(a, b):
    """An edit distance whose substitutions cost their squares."""
    n, m = len(a), len(b)
    d = np.zeros((n + 1, m + 1))
    for i in range(n + 1):
        d[i, 0] = i
    for j in range(m + 1):
        d[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (a[i - 1] - b[j - 1]) ** 2
            best = d[i - 1, j - 1] + cost
            if d[i - 1, j] + 1 < best:  # noqa: PLR1730 - as people write it
                best = d[i - 1, j] + 1
            if d[i, j - 1] + 1 < best:  # noqa: PLR1730 - as people write it
                best = d[i, j - 1] + 1
            d[i, j] = best
    return d[n, m]


def recursive_filter(x, b, a):
    """A filter with feedback, by its difference equation."""
    y = np.zeros_like(x)
    for n in range(len(x)):
        acc = 0.0
        for k in range(len(b)):
            if n - k >= 0:
                acc += b[k] * x[n - k]
        for k in range(1, len(a)):
            if n - k >= 0:
                acc -= a[k] * y[n - k]
        y[n] = acc
    return np.sum(y * y)


def velocity_verlet(s):
    """An orbit, by Verlet's steps."""
    x, y, vx, vy = s[0], s[1], s[2], s[3]
    dt = 0.01
    r3 = (x * x + y * y) ** 1.5
    ax, ay = -x / r3, -y / r3
    for _ in range(6):
        x = x + vx * dt + 0.5 * ax * dt * dt
        y = y + vy * dt + 0.5 * ay * dt * dt
        r3 = (x * x + y * y) ** 1.5
        bx, by = -x / r3, -y / r3
        vx += 0.5 * (ax + bx) * dt
        vy += 0.5 * (ay + by) * dt
        ax, ay = bx, by
    return x * x + 2 * y + vx * vy


def bisected_root(p):
    """A root by halving, and two steps of Newton's."""
    lo, hi = 0.0, 10.0
    while hi - lo > 1e-12:
        mid = 0.5 * (lo + hi)
        if mid**3 + p[0] * mid - 5 > 0:
            hi = mid
        else:
            lo = mid
    x = 0.5 * (lo + hi)
    for _ in range(2):
        x = x - (x**3 + p[0] * x - 5) / (3 * x * x + p[0])
    return x * p[1]


def soft_automaton(c):
    """An automaton on a ring, with numbers for states."""
    state = c.copy()
    for _ in range(4):
        nxt = np.empty_like(state)
        n = len(state)
        for i in range(n):
            left, m, right = state[(i - 1) % n], state[i], state[(i + 1) % n]
            nxt[i] = 0.9 * (left + right - 2 * left * right) * m + 0.1 * m * (1 - m)
        state = nxt
    return np.sum(state * np.arange(12))


def roots_by_secants(a):
    """Many roots, each until it is found."""
    total = 0.0
    for k in range(len(a)):
        x0, x1 = 0.5, 2.0
        f0, f1 = x0 * np.exp(x0) - a[k], x1 * np.exp(x1) - a[k]
        it = 0
        while abs(f1) > 1e-12 and it < 60:
            x2 = x1 - f1 * (x1 - x0) / (f1 - f0)
            x0, f0 = x1, f1
            x1 = x2
            f1 = x1 * np.exp(x1) - a[k]
            it += 1
        total += x1 * x1
    return total


def eliminated_with_pivots(A, b):
    """A linear system by elimination that exchanges rows."""
    A = A.copy()
    b = np.array(b)
    n = len(b)
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[p, k]):
                p = i
        if p != k:
            for j in range(n):
                t = A[k, j]
                A[k, j] = A[p, j]
                A[p, j] = t
            t = b[k]
            b[k] = b[p]
            b[p] = t
        for i in range(k + 1, n):
            f = A[i, k] / A[k, k]
            for j in range(k, n):
                A[i, j] -= f * A[k, j]
            b[i] -= f * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        s = b[i]
        for j in range(i + 1, n):
            s -= A[i, j] * x[j]
        x[i] = s / A[i, i]
    return np.sum(x * x)


def viscous_burgers(u, nu):
    """Burgers' equation on a ring."""
    u = np.array(u)
    n = u.shape[0]
    for _ in range(6):
        un = u.copy()
        for i in range(n):
            ip = i + 1 if i < n - 1 else 0
            u[i] = un[i] - 0.02 * un[i] * (un[i] - un[i - 1]) + nu * 0.02 * (un[ip] - 2 * un[i] + un[i - 1])
    return np.sum(u**3)


def adaptive_steps(y, k):
    """Steps that are taken back when they are too long."""
    t, h = 0.0, 0.1
    a, b = y[0], y[1]
    steps = 0
    while t < 0.6 and steps < 400:
        if t + h > 0.6:
            h = 0.6 - t
        k1a, k1b = k[0] * a - a * b, a * b - k[1] * b
        a2, b2 = a + h * k1a, b + h * k1b
        k2a, k2b = k[0] * a2 - a2 * b2, a2 * b2 - k[1] * b2
        err = abs(h * (k2a - k1a) / 2) + abs(h * (k2b - k1b) / 2)
        if err < 1e-3:
            t += h
            a = a + h * (k1a + k2a) / 2
            b = b + h * (k1b + k2b) / 2
            steps += 1
            h = h * 1.2
        else:
            h = h * 0.5
    return a * a + b


def swept_until_still(b):
    """Sweeps over a grid until they change little."""
    u = np.zeros((6, 6))
    err = 1.0
    while err > 1e-3:
        err = 0.0
        for i in range(1, 5):
            for j in range(1, 5):
                new = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] + b[i, j])
                err += (new - u[i, j]) ** 2
                u[i, j] = new
    return np.sum(u * u)


def fullest_knapsack(v, w):
    """The best of what fits, by a table that is written from its end."""
    cap = 6
    best = np.zeros(cap + 1)
    for i in range(len(v)):
        c = i % 3 + 1
        for j in range(cap, c - 1, -1):
            best[j] = max(best[j], best[j - c] + v[i] * w[i])
    return best[cap]


def changing_variances(r, p):
    """The likelihood of returns whose variance follows them."""
    s2 = np.var(r)
    ll = 0.0
    for x in r:
        s2 = 0.1 * p[0] + p[1] * x * x + p[2] * s2
        ll += np.log(s2) + x * x / s2
    return 0.5 * ll


RNG = np.random.default_rng(17)
CASES = [
    (explicit_heat, (RNG.random((6, 6)) + 0.5,), 0),
    (cheapest_edits, (RNG.normal(size=7), RNG.normal(size=6)), 0),
    (recursive_filter, (RNG.normal(size=30), np.array([0.2, 0.3, 0.1]), np.array([1.0, -0.5, 0.25])), 1),
    (velocity_verlet, (np.array([1.0, 0.0, 0.0, 1.1]),), 0),
    (bisected_root, (np.array([1.3, 0.4]),), 0),
    (soft_automaton, (RNG.uniform(0.1, 0.9, 12),), 0),
    (roots_by_secants, (RNG.uniform(0.2, 2.0, 5),), 0),
    (eliminated_with_pivots, (RNG.normal(size=(5, 5)), RNG.normal(size=5)), 0),
    (viscous_burgers, (RNG.uniform(0.5, 1.5, 8), 0.8), 1),
    (adaptive_steps, (np.array([2.0, 1.0]), np.array([0.5, 0.3])), 1),
    (swept_until_still, (RNG.normal(size=(6, 6)),), 0),
    (fullest_knapsack, (RNG.random(9), RNG.uniform(1.0, 2.0, 9)), 0),
    (changing_variances, (RNG.normal(size=20), np.array([1.0, 0.1, 0.5])), 1),
]
