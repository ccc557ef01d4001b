"""Programs with classes of the user's: what Python's syntax and builtins ask of them computes, too.

Nothing in here knows of funcgrad. Most methods call `math`, which is where a method that is called from C
would lose its derivative.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np

X = np.random.default_rng(1).uniform(0.3, 1.2, size=5)


class Seq:
    def __init__(self, d):
        self.d = d

    def __getitem__(self, i):
        return math.sqrt(self.d[i] ** 2 + 1.0)

    def __setitem__(self, i, v):
        e = np.array(self.d, dtype=float)
        e[i] = math.exp(v)
        self.d = e

    def __delitem__(self, i):
        e = np.zeros(len(self.d))
        e[:] = self.d
        e[i] = 0.0
        self.d = e

    def __len__(self):
        return int(np.asarray(self.d).shape[0])

    def __contains__(self, v):
        return math.floor(math.exp(self.d[0])) == v

    def __abs__(self):
        return math.sqrt(sum(v * v for v in self.d))

    def __float__(self):
        return math.exp(self.d[0])

    def __neg__(self):
        return Seq(np.array([-v for v in self.d]))

    def __round__(self, n=0):
        return math.sin(self.d[2])

    def __reversed__(self):
        for v in self.d[::-1]:
            yield math.sin(v)

    def __and__(self, o):
        return math.sin(self.d[0]) * math.cos(o.d[1])

    def __invert__(self):
        return math.tanh(self.d[2])

    def __lt__(self, o):
        return math.exp(self.d[0]) < math.exp(o.d[0])

    def __eq__(self, o):
        return math.exp(self.d[0]) == math.exp(o.d[0])

    __hash__ = None

    def __bool__(self):
        return math.exp(self.d[0]) > 0


def getitem(x):
    s = Seq(x)
    return s[1] * s[2] + sum(s[i] for i in range(len(s)))


def getitem_iter(x):
    t = 0.0
    for v in Seq(x):
        t += v * v
    a, *b = Seq(x)
    return (
        t
        + a
        + b[1]
        + sum(Seq(x))
        + max(Seq(x))
        + list(Seq(x))[3]
        + sum(u * w for u, w in zip(Seq(x), Seq(x), strict=True))
    )


def setitem(x):
    s = Seq(x)
    s[1] = x[0]
    s[2] += 0.5 * x[3]
    s[0], s[4] = s[4], s[0]
    del s[3]
    return sum(v * v for v in s.d)


def unaries(x):
    s = Seq(x)
    return abs(s) + abs(-s) * x[0] + round(s) + (s & s) + ~s


def asked(x):
    s, t = Seq(x), Seq(x[::-1])
    r = 0.0
    if 1 in s:
        r += x[0]
    if 7 not in s:
        r += x[1]
    if s < t:
        r += x[2] * 2
    if s == t:
        r += 100
    if s != t:
        r += x[3]
    if s:
        r += x[4]
    m = min(s, t)
    k = sorted([s, t])[0]
    for v in reversed(s):
        r += v
    return r + m.d[0] * k.d[1]


class Chunks:
    def __init__(self, x, n):
        self.x, self.n, self.i = np.array(x, dtype=float), n, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.i >= len(self.x):
            raise StopIteration
        z = np.zeros(self.n)
        for k in range(self.n):
            if self.i + k < len(self.x):
                z[k] = math.sin(self.x[self.i + k])
        self.i += self.n
        return z


def chunks(x):
    t = 0.0
    for k, c in enumerate(Chunks(x, 2)):
        t += np.sum(c * c) * (k + 1)
    it = Chunks(x, 3)
    u = next(it)
    rest = [w.sum() for w in it]
    return t + u[1] + rest[0]


class Countdown:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        k = len(self.x)
        while k:
            k -= 1
            yield math.sqrt(self.x[k])


def geniter(x):
    c = Countdown(x)
    t = 0.0
    for v in c:
        t += v
    return (
        t
        + sum(c) * max(c)
        + [v * 2 for v in c][1]
        + dict(enumerate(c))[2]
        + np.sum(np.array([*c]))
        + sum(v for v in c)
    )


class P3:
    def __init__(self, r):
        self.r = r

    @property
    def r(self):
        return self._r

    @r.setter
    def r(self, v):
        self._r = np.array(v, dtype=float)
        self.n = math.sqrt(np.sum(self._r**2))

    @property
    def y(self):
        return self._r[1]

    @y.setter
    def y(self, v):
        z = np.zeros(3)
        z[0] = self._r[0]
        z[1] = v
        z[2] = self._r[2]
        self.r = z


def setters(x):
    p = P3(x)
    p.y = x[0] * 2
    a = p.n
    p.y += x[2]
    p.r, b = [x[0], x[1], 3 * x[0]], p.n
    name = "y"
    setattr(p, name, x[1] ** 2)
    return a * b + p.n + p.y


class Timer:
    def __init__(self, x):
        self.x = x

    def __enter__(self):
        self.z = np.zeros(2)
        self.z[0] = self.x[0]
        return self.z

    def __exit__(self, *a):
        self.out = math.sqrt(self.x[1])
        return False


def withs(x):
    with Timer(x) as z:
        z[1] = x[2] * 2
    with Timer(x[1:]) as w:
        pass
    t = Timer(x)
    with t:
        pass
    return z[0] * z[1] + w[0] + t.out


@dataclass
class DC:
    a: float
    b: object

    def __post_init__(self):
        self.b = np.asarray(self.b, dtype=float)
        z = np.zeros(2)
        z[0] = self.a
        self.z = z
        self.c = math.sqrt(self.a)


def postinit(x):
    d = DC(x[0], x)
    return d.z[0] * d.c + np.sum(d.b**2)


class Strict:
    def __setattr__(self, k, v):
        object.__setattr__(self, k, math.exp(v))


def setattrs(x):
    s = Strict()
    s.a = x[0]
    s.b = x[1]
    return s.a * s.b


class Pos:
    def __set_name__(self, o, n):
        self.n = "_" + n

    def __get__(self, o, k=None):
        return math.sqrt(getattr(o, self.n))

    def __set__(self, o, v):
        setattr(o, self.n, math.exp(v))


class WithDesc:
    a = Pos()

    def __init__(self, a):
        self.a = a


def descr(x):
    w = WithDesc(x[0])
    w.a += x[1]
    return w.a


class Money:
    def __init__(self, v):
        self.v = v

    def __add__(self, o):
        return Money(math.hypot(self.v, o.v))

    def __radd__(self, o):
        return self if o == 0 else Money(math.sin(o))

    def __lt__(self, o):
        return math.exp(self.v) < math.exp(o.v)

    def __iadd__(self, o):
        self.v = math.hypot(self.v, o.v)
        return self


def sums(x):
    m = [Money(v) for v in x]
    a = sum(m)
    b = functools.reduce(lambda p, q: p + q, m[:3])
    m[0] += m[1]
    return a.v * b.v + m[0].v + sum(m, Money(x[0])).v + max(m, key=lambda t: t.v).v


def counted_by_a_function(x):
    total, hits = 0.0, 0

    def visit(v, w=1.0):
        nonlocal total, hits
        if v < 0.6:
            return -1
        total += w * v
        hits += 1
        return hits

    found = [visit(v, w=0.1 * i) for i, v in enumerate(x)]
    return total / max(hits, 1) + sum(1 for t in found if t < 0) * x[0]


class Doubling:
    def __init__(self, t):
        self.t = t

    def step(self):
        self.t = self.t * 2
        return self.t


def augmented_while_it_changes(x):
    s = Doubling(x[0])
    s.t += s.step()
    y, z = [x[1]], np.zeros(2)
    z[0] = x[2]

    def trebled(a):
        a[0] = a[0] * 3
        return a[0]

    y[0] += trebled(y)
    z[0] += trebled(z)
    return 100 * s.t + 10 * y[0] + z[0]


class Comparable:
    def __init__(self, d):
        self.d = d

    def __eq__(self, other):
        return bool(np.all(self.d == other.d))

    __hash__ = None

    def __call__(self, k):
        return self.d[int(k) % len(self.d)]


def called_and_comparable(x):
    v, w = Comparable(x), Comparable(x[::-1])
    return v(6) * x[0] + (1.0 if v == w else 2.0) * w(1)


class Plain:
    pass


def set_by_functions_of_classes(x):
    h, found = Plain(), [0.0, 0.0]
    h.v = 0.0
    h.w = 1.0
    if x[0] > 0.5:
        object.__setattr__(h, "v", 2.0)
        list.__setitem__(found, 0, x[1])
    else:
        object.__setattr__(h, "w", 3.0)
        dict.__setitem__(vars(h), "v", 5.0)
    return (h.v + 10 * h.w) * x[2] + found[0]


CASES = [
    (getitem, (X,), 0),
    (getitem_iter, (X,), 0),
    (setitem, (X,), 0),
    (unaries, (X,), 0),
    (asked, (X,), 0),
    (chunks, (X,), 0),
    (geniter, (X,), 0),
    (setters, (X[:3],), 0),
    (withs, (X,), 0),
    (postinit, (X,), 0),
    (setattrs, (X,), 0),
    (descr, (X,), 0),
    (sums, (X,), 0),
    (counted_by_a_function, (X,), 0),
    (augmented_while_it_changes, (X,), 0),
    (set_by_functions_of_classes, (X,), 0),
    (set_by_functions_of_classes, (1.0 - X,), 0),
    (called_and_comparable, (X,), 0),
]
