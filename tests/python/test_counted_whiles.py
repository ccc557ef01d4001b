"""``while`` loops whose condition is decided by numbers of Python's stay loops under ``fg.jit``."""

import collections
import itertools
import math
import queue

import numpy as np
import pytest

import funcgrad as fg

X = np.array([1.1, 0.7, 1.3])


def time_steps(k):
    y, t, dt, out = k * 1.0, 0.0, 0.01, []
    while t < 3.0:
        y = y + dt * np.sin(k * y) - 0.1 * dt * np.roll(y, 1) * np.cos(t)
        out.append(y[0])
        t += dt
    return y.sum() + np.mean(out) + t


def last_step_shorter(k):
    t, y, n, ts = 0, k * 1.0, 0, []
    while True:
        h = min(0.03, 1.0 - t)
        y = y + h * np.sin(y) * t
        t += h
        n += 1
        ts.append(t)
        if t >= 1.0:
            break
    return y.sum() + n + ts[3] + len(ts)


def growing_steps(k):
    y, t, dt = k * 1.0, 0.0, 1e-3
    while t < 1.0:
        guess = y.copy()
        for _ in range(8):
            change = -0.3 * (guess - y - dt * np.sin(k * guess))
            guess = guess + change
            if np.max(np.abs(change)) < 1e-12:
                break
        y, t, dt = guess, t + dt, min(dt * 1.5, 0.1)
    return y.sum() + t


def numbers_afterwards(k):
    n, m, y = 0, 0, k * 1.0
    while n < 30:
        n += 1
        m = n / 2
        y = y + 0.01 * m * np.sin(y)
    assert type(n) is int
    assert type(m) is float
    return y.sum() + np.zeros(n).size + len(f"{m:.1f}") + [1, 2, 3][n // 15]


def whole_numbers(k):
    n, y, count = 27, k * 1.0, 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        y = y + 0.001 * np.sin(y)
        count += 1
    return y.sum() * count + n


def beyond_64_bits(k):
    big, y = 1, k * 1.0
    while big < 10**30:
        y = y + 0.001 * np.sin(y)
        big *= 3
    return y.sum() + math.log(big)


def filled(k):
    y, n = np.zeros(60), 3
    y[:3] = k
    while n < 60:
        y[n] = 0.5 * y[n - 1] + 0.3 * np.sin(y[n - 2]) * y[n - 3]
        n += 1
    return y.sum() + y[n - 1]


class Model:
    def __init__(self, y):
        self.y, self.t, self.n = y, 0.0, 0

    def step(self, dt):
        self.y = self.y + dt * np.sin(self.y)
        self.t += dt
        self.n += 1


def attributes(k):
    model = Model(k * 1.0)
    while model.t < 1.0:
        model.step(0.02)
    return model.y.sum() + np.zeros(model.n).size + model.t


def nested(k):
    y, i = k * 1.0, 0
    while i < 10:
        j = 0
        while j < i + 2:
            y = y + 0.01 * np.sin(y) * (i - j)
            j += 1
        i += 1
    return y.sum() + i * j


def from_a_queue(k):
    waiting, y, n = queue.Queue(), k * 1.0, 0
    waiting.queue.extend(range(30))
    while n < 25:
        y = y + 0.01 * waiting.get() * np.sin(y)
        n += 1
    return y.sum() * n + waiting.get()


def from_a_queue_in_a_for(k):
    waiting, y = queue.SimpleQueue(), k * 1.0
    for number in map(float, range(30)):
        waiting.put(number)
    for _ in range(25):
        y = y + 0.01 * waiting.get() * np.sin(y)
    return y.sum() + waiting.get()


def from_chained_mappings(k):
    mappings, n, y = collections.ChainMap({i: i for i in range(30)}), 0, k * 1.0
    while n < 20:
        y = y + 0.01 * mappings.popitem()[1] * np.sin(y)
        n += 1
    return y.sum() + len(mappings)


def from_an_iterator(k):
    numbers, y, n = itertools.count(), k * 1.0, 0
    while n < 25:
        y = y + 0.01 * next(numbers) * np.sin(y)
        n += 1
    return y.sum() + next(numbers)


KEPT = [
    time_steps,
    last_step_shorter,
    growing_steps,
    numbers_afterwards,
    whole_numbers,
    filled,
    attributes,
    nested,
]
UNROLLED = [beyond_64_bits, from_a_queue, from_a_queue_in_a_for, from_chained_mappings, from_an_iterator]


@pytest.mark.parametrize("f", [*KEPT, *UNROLLED], ids=lambda f: f.__name__)
def test_value_and_gradient_are_pythons(f):
    value, slope = fg.jit(fg.value_and_grad(f))(X)
    assert np.isclose(value, f(X), rtol=1e-13)
    steps = 1e-6 * np.eye(3)
    np.testing.assert_allclose(slope, [(f(X + e) - f(X - e)) / 2e-6 for e in steps], rtol=2e-6)


@pytest.mark.parametrize("f", KEPT, ids=lambda f: f.__name__)
def test_stays_a_loop(f):
    assert len(fg.make_program(fg.jit(f))(X).equations) < 60


def long_time(x):
    t, s, n = 0.0, 0.0, 0
    while t < 1.0:
        s = 0.9 * s + x * np.sin(t * x)
        t += 1e-3
        n += 1
    return s + t * x + n


def test_too_many_trips_to_be_counted_are_a_loop_that_traced_values_end(monkeypatch) -> None:
    monkeypatch.setattr("funcgrad.api.python.blocks.following.MOST_STEPS", 500)
    compiled = fg.jit(fg.value_and_grad(long_time))
    np.testing.assert_allclose(compiled(0.7)[0], long_time(0.7), rtol=1e-12)
    np.testing.assert_allclose(compiled(0.7)[1], fg.grad(long_time)(0.7), rtol=1e-10)
    assert "uncounted" in " ".join(compiled.hooks.report())


def test_too_many_trips_that_are_no_loop_are_refused_with_the_next_step(monkeypatch) -> None:
    monkeypatch.setattr("funcgrad.api.python.blocks.following.MOST_STEPS", 500)

    def appended(x):
        out, n = [], 0
        while n < 1000:
            out.append(x * n)
            n += 1
        return np.sum(np.array(out))

    with pytest.raises(fg.errors.TracedBranchError, match="too many trips") as raised:
        fg.jit(appended)(1.0)
    assert "for k in range(n)" in str(raised.value)
