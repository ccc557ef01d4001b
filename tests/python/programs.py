# ruff: noqa: B007, B905, E741
"""Everyday programs in plain Python and NumPy: sweeps, recurrences, searches, iterations until something.

Nothing in here knows of funcgrad: the same functions run in Python, are recorded, and are compiled.
"""

# ruff: noqa: SIM108

import numpy as np


def sor(u, omega=1.5, sweeps=3):
    n, m = u.shape
    u = u.copy()
    for _ in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                new = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                u[i, j] += omega * (new - u[i, j])
    return np.sum(u * u)


def edit_distance(a, b):
    n, m = len(a), len(b)
    d = np.zeros((n + 1, m + 1))
    for i in range(n + 1):
        d[i, 0] = i
    for j in range(m + 1):
        d[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = abs(a[i - 1] - b[j - 1])
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[n, m]


def soft_dtw(x, y, gamma=0.7):
    n, m = len(x), len(y)
    r = np.full((n + 1, m + 1), 1e10)
    r[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            a, b, c = r[i - 1, j], r[i, j - 1], r[i - 1, j - 1]
            low = min(a, b, c)
            r[i, j] = (
                cost
                + low
                - gamma
                * np.log(np.exp(-(a - low) / gamma) + np.exp(-(b - low) / gamma) + np.exp(-(c - low) / gamma))
            )
    return r[n, m]


def hmm(logp, logA, obs):
    alpha = logp + obs[0]
    for t in range(1, len(obs)):
        m = alpha.max()
        alpha = np.log(np.exp(alpha - m) @ np.exp(logA)) + m + obs[t]
    m = alpha.max()
    return m + np.log(np.sum(np.exp(alpha - m)))


def hmm_rows(logp, logA, obs):
    alpha = logp
    for row in obs:
        m = alpha.max()
        alpha = np.log(np.exp(alpha - m) @ np.exp(logA)) + m + row
    return np.logaddexp.reduce(alpha) if False else np.log(np.sum(np.exp(alpha)))


def thomas(a, b, c, d):
    n = len(d)
    cp = np.zeros(n)
    dp = np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = np.zeros(n)
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return np.sum(x**2)


def kalman(z, q, r):
    x = np.zeros(2)
    P = np.eye(2)
    F = np.array([[1.0, 0.1], [0.0, 1.0]])
    H = np.array([[1.0, 0.0]])
    ll = 0.0
    for k in range(len(z)):
        x = F @ x
        P = F @ P @ F.T + q * np.eye(2)
        S = (H @ P @ H.T)[0, 0] + r
        K = (P @ H.T)[:, 0] / S
        innov = z[k] - x[0]
        x = x + K * innov
        P = P - np.outer(K, H @ P)
        ll += -0.5 * (np.log(S) + innov**2 / S)
    return ll


def lorenz(y0, sigma=10.0, rho=28.0, beta=8 / 3, dt=0.01, steps=50):
    x, y, z = y0[0], y0[1], y0[2]
    for _ in range(steps):
        dx = sigma * (y - x)
        dy = x * (rho - z) - y
        dz = x * y - beta * z
        x, y, z = x + dt * dx, y + dt * dy, z + dt * dz
    return x + y * z


def rk4(y0, k, steps=40, h=0.05):
    def rhs(y):
        return np.array([y[1], -k * y[0] - 0.1 * y[1]])

    y = y0
    path = []
    for n in range(steps):
        k1 = rhs(y)
        k2 = rhs(y + h / 2 * k1)
        k3 = rhs(y + h / 2 * k2)
        k4 = rhs(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(y)
    return np.sum(np.array(path) ** 2)


def nbody(pos, m):
    e = 0.0
    n = len(pos)
    for i in range(n):
        for j in range(i + 1, n):
            d = pos[i] - pos[j]
            e -= m[i] * m[j] / np.sqrt(np.sum(d * d) + 0.1)
    return e


def bubble(x):
    x = x.copy()
    n = len(x)
    for i in range(n):
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return np.sum(x * np.arange(n))


def bisect(c):
    lo, hi = 0.0, 4.0
    while hi - lo > 1e-10:
        mid = 0.5 * (lo + hi)
        if mid**3 + mid < c:
            lo = mid
        else:
            hi = mid
    return 0.5 * (lo + hi)


def newton(a):
    x = a
    for k in range(50):
        new = 0.5 * (x + a / x)
        if abs(new - x) < 1e-12:
            break
        x = new
    return x


def newton_while(a):
    x = a
    while True:
        new = 0.5 * (x + a / x)
        if abs(new - x) < 1e-13:
            break
        x = new
    return new


def for_ever(a):  # noqa: RET503 - it ends nowhere else
    x = a
    trips = 0
    while 1:
        while True:
            x = x * 0.7
            if x < 1:
                break
        trips += 1
        if x < 0.8 or trips > 9:
            return x * a
        x = x + 0.4 * a


def newton_return(a):
    x = a
    for k in range(50):
        new = 0.5 * (x + a / x)
        if abs(new - x) < 1e-12:
            return new * a
        x = new
    return x


def automaton(x):
    cells = (x > 0.5) * 1
    out = 0
    for _ in range(10):
        cells = np.roll(cells, 1) ^ (cells | np.roll(cells, -1))
        out = out + np.sum(cells)
    return out * x[0]


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def binary_search(xs, v):
    lo, hi = 0, len(xs) - 1
    while lo <= hi:
        mid = (lo + hi) // 2
        if xs[mid] < v:
            lo = mid + 1
        elif xs[mid] > v:
            hi = mid - 1
        else:
            return mid
    return -1


def iir(x, b, a):
    y = np.zeros(len(x))
    for n in range(len(x)):
        acc = b[0] * x[n]
        if n >= 1:
            acc += b[1] * x[n - 1] - a[1] * y[n - 1]
        if n >= 2:
            acc += b[2] * x[n - 2] - a[2] * y[n - 2]
        y[n] = acc
    return np.sum(y**2)


def prefix(x):
    out = []
    s = 0
    for v in x:
        s += v
        out.append(s)
    return np.sum(np.array(out) * np.array(out))


def matmul3(a, b):
    n, k = a.shape
    m = b.shape[1]
    c = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            s = 0.0
            for l in range(k):
                s += a[i, l] * b[l, j]
            c[i, j] = s
    return np.sum(c**2)


def lu(a):
    a = a.copy()
    n = len(a)
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    det = 1.0
    for k in range(n):
        det *= a[k, k]
    return det


def mandelbrot(cr, ci):
    zr = zi = 0.0
    for n in range(60):
        zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
        if zr * zr + zi * zi > 4.0:
            return n + zr
    return 60 + zr


def early(x):
    if x < 0:
        return -x
    y = x * 2
    if y > 3:
        return y
    if y > 1:
        z = y * y
        return z + 1
    return np.sin(y)


def loop_else(x):
    for i in range(20):
        if x > 10:
            r = x
            break
        x = x * 1.5
    else:
        r = -x
    return r


def zip_enum(x, y):
    t = 0.0
    for i, (a, b) in enumerate(zip(x, y)):
        t += i * a * b
    for a in reversed(x):
        t = t * 0.9 + a
    for i in reversed(range(len(x))):
        t = t * 0.8 + x[i]
    return t


def argmax(x):
    best = x[0]
    where = 0
    for i in range(1, len(x)):
        if x[i] > best:
            best = x[i]
            where = i
    return best * where


def gs_converge(b):
    x = np.zeros(len(b))
    it = 0
    err = 1.0
    while err > 1e-10 and it < 100:
        err = 0.0
        for i in range(len(b)):
            s = 0.0
            for j in range(len(b)):
                if j != i:
                    s += 0.1 * x[j]
            new = (b[i] - s) / 2.0
            err = max(err, abs(new - x[i]))
            x[i] = new
        it += 1
    return np.sum(x * b)


def nested_fun(x):
    total = 0.0

    def add(v):
        nonlocal total
        total = total + v * v

    for i in range(len(x)):
        add(x[i])
    return total


def skip(x):
    s = 0.0
    for i in range(len(x)):
        if i % 2 == 0:
            continue
        if x[i] < 0:
            continue
        s += np.log(x[i] + 1)
    return s


def trapz(a, n=64):
    h = a / n
    s = 0.5 * (np.sin(0.0) + np.sin(a))
    for k in range(1, n):
        s += np.sin(k * h)
    return s * h


def countdown(x, n):
    y = x
    for i in range(n):
        y = y * 1.01 + i
    return y


def recur(x, depth=4):
    if depth == 0:
        return x
    return np.sin(recur(x * 1.1, depth - 1)) + recur(x * 0.9, depth - 1)


def ternary(x):
    t = 0.0
    for i in range(len(x)):
        t += x[i] ** 2 if (x[i] > 0 and i % 2 == 0) or x[i] < -1 else -x[i]
    return t


rng = np.random.default_rng(0)
CASES = [
    (sor, (rng.normal(size=(7, 6)),), 0),
    (edit_distance, (rng.normal(size=9), rng.normal(size=8)), 0),
    (soft_dtw, (rng.normal(size=7), rng.normal(size=8)), 0),
    (hmm, (rng.normal(size=4), rng.normal(size=(4, 4)), rng.normal(size=(20, 4))), 2),
    (hmm_rows, (rng.normal(size=4), rng.normal(size=(4, 4)), rng.normal(size=(20, 4))), 2),
    (thomas, (rng.normal(size=60), 5 + rng.normal(size=60), rng.normal(size=60), rng.normal(size=60)), 1),
    (kalman, (rng.normal(size=30), 0.3, 0.5), 1),
    (lorenz, (np.array([1.0, 1.0, 1.0]),), 0),
    (rk4, (np.array([1.0, 0.0]), 2.0), 1),
    (nbody, (rng.normal(size=(8, 3)), rng.uniform(1, 2, size=8)), 0),
    (bubble, (rng.normal(size=9),), 0),
    (bisect, (5.0,), None),
    (newton, (7.0,), 0),
    (newton_while, (7.0,), 0),
    (for_ever, (3.3,), 0),
    (newton_return, (7.0,), 0),
    (automaton, (rng.uniform(size=11),), 0),
    (collatz, (27,), None),
    (binary_search, (np.arange(0, 40, 2.0), 14.0), None),
    (binary_search, (np.arange(0, 40, 2.0), 15.0), None),
    (iir, (rng.normal(size=30), np.array([0.2, 0.3, 0.1]), np.array([1.0, -0.3, 0.2])), 0),
    (prefix, (rng.normal(size=12),), 0),
    (matmul3, (rng.normal(size=(5, 6)), rng.normal(size=(6, 4))), 0),
    (lu, (rng.normal(size=(6, 6)) + 4 * np.eye(6),), 0),
    (mandelbrot, (0.3, 0.6), 0),
    (mandelbrot, (-0.1, 0.1), 0),
    (early, (-1.0,), 0),
    (early, (2.0,), 0),
    (early, (0.8,), 0),
    (early, (0.3,), 0),
    (loop_else, (1.0,), 0),
    (loop_else, (0.001,), 0),
    (zip_enum, (rng.normal(size=12), rng.normal(size=12)), 0),
    (argmax, (rng.normal(size=12),), 0),
    (gs_converge, (rng.normal(size=6),), 0),
    (nested_fun, (rng.normal(size=120),), 0),
    (skip, (rng.normal(size=40),), 0),
    (trapz, (1.2,), 0),
    (countdown, (1.5, 20), 0),
    (recur, (0.7,), 0),
    (ternary, (rng.normal(size=50),), 0),
]
