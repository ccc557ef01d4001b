# ruff: noqa: E731, PLC3002
# ruff: noqa: B007
"""Everyday programs with objects, closures, lists and comprehensions in them.

Nothing in here knows of funcgrad: the same functions run in Python, are recorded, and are compiled.
"""

import functools

import numpy as np


class Model:
    def __init__(self, w):
        self.w = w
        self.scale = 2.0

    def step(self, h, x):
        if np.sum(h) > 5:
            return h * 0.5
        return np.tanh(self.w @ h + x) * self.scale

    def __call__(self, xs):
        h = np.zeros(3)
        for x in xs:
            h = self.step(h, x)
        return np.sum(h)


class Acc:
    def __init__(self):
        self.total = 0.0
        self.n = 0

    def add(self, v):
        self.total += v
        self.n += 1


def attr_loop(x):
    a = Acc()
    for i in range(len(x)):
        a.add(x[i] ** 2)
    return a.total / a.n


def attr_branch(x):
    a = Acc()
    if x > 0:
        a.total = x * x
    else:
        a.total = -x
    return a.total


def list_last(x):
    ys = [x]
    for i in range(60):
        ys.append(np.sin(ys[-1]) + 0.1)
    return np.sum(np.array(ys))


def list_two(x):
    a, b = [], []
    for i in range(len(x)):
        a.append(x[i] * 2)
        b.append(np.array([x[i], 1.0]))
    return np.sum(np.array(a) ** 2) + np.stack(b)[:, 0].sum() + len(a)


def list_comp(x):
    return np.sum(np.array([x[i] * x[i - 1] for i in range(1, len(x))]))


def gen_sum(x):
    return sum(x[i] * i for i in range(len(x)))


def gen_if(x):
    return sum(v * v for v in x if v > 0)


def max_gen(x):
    return max(abs(x[i] - x[i - 1]) for i in range(1, len(x)))


def pairs(x):
    n = len(x)
    return sum(x[i] * x[j] for i in range(n) for j in range(i))


def dict_state(x):
    s = {"a": 0.0, "b": x}
    for i in range(50):
        s["a"] = s["a"] + s["b"]
        s["b"] = s["b"] * 0.9
    return s["a"]


def list_state(x):
    s = [0.0, x]
    for i in range(50):
        s[0] += s[1]
        s[1] = s[1] * 0.9
    return s[0]


def tuple_state(x):
    s = (x, 0.0)
    for i in range(50):
        a, b = s
        s = (a * 0.9, b + a)
    return s[1]


def while_else(x):
    n = 0
    while n < 30:
        x = x * 1.2
        n += 1
        if x > 50:
            break
    else:
        x = 0.0 * x
    return x + n


def nested_break(x):
    n = len(x)
    s = 0.0
    for i in range(n):
        for j in range(n):
            if x[j] > x[i]:
                s += x[j]
                break
        else:
            s -= 1.0
    return s


def find_pair(x):
    n = len(x)
    for i in range(n):
        for j in range(i + 1, n):
            if x[i] + x[j] > 2.0:
                return x[i] * x[j]
    return x[0]


def try_with(x):
    s = 0.0
    for i in range(len(x)):
        try:
            s += x[i] / 2
        finally:
            s += 0.1
    with np.errstate(all="ignore"):
        if s > 0:
            s = np.log(s)
    return s


def deco(f):
    @functools.wraps(f)
    def inner(*a, **k):
        r = f(*a, **k)
        return r if r > 0 else -r

    return inner


@deco
def decorated(x, k=3):
    for _ in range(20):
        x = x - 0.1 * k if x > 0 else x + 0.05
    return x


def closure(x):
    c = 3.0

    def g(y, p=2):
        if y > c:
            return y**p
        return y * c

    return g(x) + g(x * 3, p=3)


def lam(x):
    f = lambda t: t * 2 if t > 1 else t / 2
    return f(x) + f(x + 3)


def power(x, n):
    r = 1.0
    while n > 0:
        if n & 1:
            r = r * x
        x = x * x
        n >>= 1
    return r


def runge(x):
    def f(t, y):
        return -2 * y + np.sin(t)

    t, h, y = 0.0, 0.1, x
    while t < 2.0 - 1e-12:
        k1 = f(t, y)
        k2 = f(t + h, y + h * k1)
        y = y + h / 2 * (k1 + k2)
        t += h
    return y


def adaptive(x):
    t, h, y = 0.0, 0.5, x
    n = 0
    while t < 1.0:
        if t + h > 1.0:
            h = 1.0 - t
        e = y + h * (-3.0 * y)
        m = y + h / 2 * (-3.0 * y)
        hv = y + h * (-3.0 * m)
        err = abs(e - hv)
        if err < 1e-2:
            t = t + h
            y = hv
            h = h * 1.5
        else:
            h = h * 0.5
        n += 1
        if n > 200:
            break
    return y


def insertion(x):
    x = x.copy()
    for i in range(1, len(x)):
        key = x[i]
        j = i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key
    return np.sum(x * np.arange(len(x)) ** 2)


def lcs(a, b):
    n, m = len(a), len(b)
    t = np.zeros((n + 1, m + 1))
    for i in range(n):
        for j in range(m):
            if abs(a[i] - b[j]) < 0.3:
                t[i + 1, j + 1] = t[i, j] + a[i] * b[j]
            else:
                t[i + 1, j + 1] = max(t[i + 1, j], t[i, j + 1])
    return t[n, m]


def knap(v, w, cap=12):
    best = np.zeros(cap + 1)
    for i in range(len(v)):
        for c in range(cap, w[i] - 1, -1):
            best[c] = max(best[c], best[c - w[i]] + v[i])
    return best[cap]


def rows(A):
    s = 0.0
    for i, row in enumerate(A):
        for v in row:
            s += v * v if i % 2 else v
    return s


def heat(u, steps=30):
    for _ in range(steps):
        new = u.copy()
        for i in range(1, len(u) - 1):
            new[i] = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1])
        u = new
    return np.sum(u**2)


def heat_swap(u, steps=30):
    u = u.copy()
    v = u.copy()
    for _ in range(steps):
        v[1:-1] = u[1:-1] + 0.1 * (u[:-2] - 2 * u[1:-1] + u[2:])
        u, v = v, u
    return np.sum(u**2)


def life(x):
    g = np.where(x > 0, 1, 0)
    for _ in range(5):
        n = np.zeros_like(g)
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                if dx or dy:
                    n = n + np.roll(np.roll(g, dx, 0), dy, 1)
        g = np.where((n == 3) | ((g == 1) & (n == 2)), 1, 0)
    return np.sum(g * x)


def viterbi(logA, obs):
    T, K = obs.shape
    d = obs[0]
    back = np.zeros((T, K), dtype=int)
    for t in range(1, T):
        sc = d[:, None] + logA
        back[t] = np.argmax(sc, axis=0)
        d = np.max(sc, axis=0) + obs[t]
    path = np.zeros(T, dtype=int)
    path[-1] = np.argmax(d)
    for t in range(T - 2, -1, -1):
        path[t] = back[t + 1, path[t + 1]]
    return np.max(d) + 0.0 * np.sum(path)


def cholesky(a):
    n = len(a)
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            if i == j:
                L[i, j] = np.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return np.sum(np.diag(L))


def power_iter(A):
    v = np.ones(len(A))
    lam = 0.0
    for _ in range(100):
        w = A @ v
        new = np.linalg.norm(w)
        v = w / new
        if abs(new - lam) < 1e-10:
            break
        lam = new
    return new


def secant(c):
    a, b = 0.0, 2.0
    fa, fb = a * a - c, b * b - c
    for i in range(40):
        if abs(fb) < 1e-12:
            break
        a, b = b, b - fb * (b - a) / (fb - fa)
        fa, fb = fb, b * b - c
    return b


def count(x):
    n = 0
    for v in x:
        if v > 0 and not v > 1:
            n += 1
    return n * x[0]


def piece(x):
    if x < -1:
        y = -1.0
    elif x > 1:
        y = 1.0
    else:
        y = x
    return y * x


def flag(x, mode="fast"):
    if mode == "fast":
        for i in range(30):
            x = x * 0.9
    elif mode == "slow":
        x = x / 0
    return x


def kahan(x):
    s = 0.0
    c = 0.0
    for v in x:
        y = v - c
        t = s + y
        c = (t - s) - y
        s = t
    return s


def ema(x, a=0.3):
    out = np.empty_like(x)
    out[0] = x[0]
    for t in range(1, x.shape[0]):
        out[t] = a * x[t] + (1 - a) * out[t - 1]
    return (out**2).mean()


def garch(r, w, a, b):
    s2 = np.var(r)
    ll = 0.0
    for t in range(len(r)):
        ll -= 0.5 * (np.log(s2) + r[t] ** 2 / s2)
        s2 = w + a * r[t] ** 2 + b * s2
    return ll


def assoc(x):
    y = np.zeros((4, len(x)))
    for i in range(4):
        y[i] = x * i
        y[i, 0] += 1.0
    for k in range(len(x)):
        col = y[:, k]
        y[:, k] = col / (1 + np.sum(col**2))
    return y.sum()


def masked(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = x[i] if x[i] > 0 else 0.1 * x[i]
    out[out > 1] = 1.0
    return np.sum(out)


def int_loop(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def sieve(n=50):
    p = np.ones(n + 1, dtype=bool)
    p[:2] = False
    for i in range(2, n + 1):
        if p[i]:
            for j in range(i * i, n + 1, i):
                p[j] = False
    return int(np.sum(p))


def f32(x):
    s = 0.0
    for v in x:
        s += v * v
    return s


rng = np.random.default_rng(3)
m = Model(rng.normal(size=(3, 3)))


class Ray:
    def __init__(self, origin, direction):
        self.origin = origin
        self.direction = direction / np.linalg.norm(direction)


def objects_in_a_loop(x):
    total = 0.0
    for i in range(60):
        ray = Ray(x * i, np.array([i - 1.5, 1.0, 1.0]))
        ray.weight = np.tanh(0.1 * x[0])
        total = total + ray.weight * np.dot(ray.origin, ray.direction)
    return total


CASES = [
    (objects_in_a_loop, (rng.normal(size=3),), 0),
    (m, (rng.normal(size=(30, 3)),), 0),
    (attr_loop, (rng.normal(size=40),), 0),
    (attr_branch, (2.0,), 0),
    (list_last, (0.5,), 0),
    (list_two, (rng.normal(size=40),), 0),
    (list_comp, (rng.normal(size=70),), 0),
    (gen_sum, (rng.normal(size=50),), 0),
    (gen_if, (rng.normal(size=50),), 0),
    (max_gen, (rng.normal(size=50),), 0),
    (pairs, (rng.normal(size=12),), 0),
    (dict_state, (1.5,), 0),
    (list_state, (1.5,), 0),
    (tuple_state, (1.5,), 0),
    (while_else, (1.1,), 0),
    (while_else, (0.01,), 0),
    (nested_break, (rng.normal(size=9),), 0),
    (find_pair, (rng.normal(size=9),), 0),
    (find_pair, (rng.normal(size=9) - 5,), 0),
    (try_with, (rng.uniform(size=30),), 0),
    (decorated, (1.7,), 0),
    (closure, (1.7,), 0),
    (lam, (1.7,), 0),
    (lam, (0.3,), 0),
    (power, (1.3, 11), 0),
    (runge, (0.7,), 0),
    (adaptive, (1.0,), 0),
    (insertion, (rng.normal(size=9),), 0),
    (lcs, (rng.normal(size=8), rng.normal(size=9)), 0),
    (knap, (rng.uniform(size=6), np.array([3, 4, 2, 5, 1, 6])), 0),
    (rows, (rng.normal(size=(9, 5)),), 0),
    (heat, (rng.normal(size=12),), 0),
    (heat_swap, (rng.normal(size=12),), 0),
    (life, (rng.normal(size=(8, 8)),), 0),
    (viterbi, (rng.normal(size=(4, 4)), rng.normal(size=(15, 4))), 0),
    (cholesky, (np.eye(6) * 4 + (lambda a: a @ a.T)(rng.normal(size=(6, 6))),), 0),
    (power_iter, (np.diag(np.arange(1.0, 5)) + 0.1,), 0),
    (secant, (2.3,), 0),
    (count, (rng.normal(size=30),), 0),
    (piece, (-2.0,), 0),
    (piece, (0.5,), 0),
    (flag, (1.5,), 0),
    (kahan, (rng.normal(size=50),), 0),
    (ema, (rng.normal(size=50),), 0),
    (garch, (rng.normal(size=50), 0.1, 0.2, 0.7), 0),
    (assoc, (rng.normal(size=7),), 0),
    (masked, (rng.normal(size=40),), 0),
    (int_loop, (30,), None),
    (sieve, (), None),
    (f32, (rng.normal(size=50).astype(np.float32),), None),
]
