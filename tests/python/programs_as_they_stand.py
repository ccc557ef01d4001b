"""Idioms of plain Python: types that are asked for, `math`, positions of arrays, `match`, rounding, sorting.

Nothing in here knows of funcgrad.
"""

import math

import numpy as np


def asks_for_integers(x):
    s = 0.0
    for i in range(1, 50):
        s += x[3] * i if isinstance(i, int) else -x[2]
    return s


def asks_for_floats(x):
    s = 0.0
    for v in x:
        if isinstance(v, float):
            s += v
        else:
            s -= v
    return s


def asks_for_a_type(x):
    s = 0.0
    for i in range(30):
        if type(i) is int:
            s += x[2]
        else:
            s -= x[2]
    return s if type(x) is np.ndarray else -s


def lengths_of_texts(x):
    s = 0.0
    for i in range(40):
        s += len(str(i)) * x[1]
    return s


def last_one_is(x):
    s = 0.0
    last = None
    for _ in range(40):
        if last is not x:
            s += x[0]
        last = x
    return s


def with_math(x):
    s = 0.0
    for i in range(20):
        s += math.exp(x[i]) + math.floor(x[i] * 3) + math.sqrt(x[i]) * math.sin(i) + math.log(x[i], 2)
        s += math.atan2(x[i], math.pi) + math.hypot(x[i], 1.0)
    return s


def elements_with_positions(x):
    u = x.reshape(4, 5)
    s = 0.0
    out = np.zeros((5, 4))
    for (i, j), v in np.ndenumerate(u):
        out[j, i] = v * (i + 1)
        if v > 1:
            s += v
    for i, j in np.ndindex(5, 4):
        s += out[i, j] ** 2 * (i + j)
    return s


def rounds(x):
    s = 0.0
    for i in range(1, 50):
        q, r = divmod(i, 7)
        s += x[q] * r + round(x[3] * i) + pow(i, 2) * x[2]
    return s


def sorts(x):
    ordered = sorted(x)
    return ordered[1] * 2.0 + ordered[-1] + sorted([x[0], x[1], x[2]], reverse=True)[0]


def automaton(x):
    state = 0
    acc = 0.0
    for v in x:
        match state:
            case 0:
                acc += v
                state = 1 if v > 1.0 else 2
            case 1 | 3:
                acc *= 0.9
                state = 2
            case _:
                acc -= v * 0.5
                state = 0
    return acc + state


def matches_with_guards(x):
    total = 0.0
    for i in range(20):
        match i % 4, x[i]:
            case 0, v:
                total += v
            case (1 | 2) as k, v if v > 1:
                total -= v * k
            case _, _ if i > 10:
                total *= 1.01
    return total


def matches_what_is_known(x):
    def area(shape):
        match shape:
            case ("circle", r):
                return 3.0 * r * r
            case {"side": s}:
                return s * s
            case [a, b, *_]:
                return a * b
            case str():
                return 0.0
        return 1.0

    return area(("circle", x[0])) + area({"side": x[1]}) + area([x[2], x[3], 1]) + area("none") + area(3)


def accepts_and_rejects(x):
    here = x[0]
    chain = []
    for s in x:
        if s * here > 0.8:
            here = s - here
        chain.append(here)
    squares = [v * v for v in chain]
    return np.mean(chain) + np.std(chain) + np.max(squares)


X = np.random.default_rng(3).uniform(0.3, 1.7, 20)


def largest_with_its_place(x):
    best = (0.0, -1)
    for i in range(20):
        best = max(best, (x[i], i))
    return best[0] * best[1]


CASES = [
    (function, (X,), 0)
    for function in [
        *(asks_for_integers, asks_for_floats, asks_for_a_type, lengths_of_texts, last_one_is),
        *(accepts_and_rejects, largest_with_its_place, elements_with_positions, rounds, sorts, automaton),
        *(matches_with_guards, matches_what_is_known),
    ]
]
