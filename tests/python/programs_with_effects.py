# ruff: noqa: PLW0603
"""Programs whose functions change what is not their own: names of other functions, globals, iterators.

Nothing in here knows of funcgrad. What a trip leaves behind has to reach the next one, whoever holds it.
"""

import collections
import heapq
import random

import numpy as np


def accumulator():
    total = 0.0

    def add(v):
        nonlocal total
        total = total + v
        return total

    def reset():
        nonlocal total
        total = 0.0

    return add, reset


def counter():
    n = 0

    def tick():
        nonlocal n
        n += 1
        return n

    def reset():
        nonlocal n
        n = 0

    return tick, reset


ADD, RESET = accumulator()
TICK, RESTART = counter()
COUNT = 0


class Holder:
    pass


HOLDER = Holder()
HOLDER.tick = TICK


def global_closure(x):
    RESET()
    s = 0.0
    for v in x:
        s += ADD(v) * v
    return s


def global_closure_in_a_branch(x):
    RESET()
    for v in x:
        if v > 1.0:
            ADD(v)
    return ADD(0.0)


def global_counter(x):
    RESTART()
    s = 0.0
    for v in x:
        s += v * TICK()
    return s


def global_counter_in_a_branch(x):
    RESTART()
    for v in x:
        if v > 1.0:
            TICK()
    return np.sum(x) * TICK()


def counter_of_an_object(x):
    RESTART()
    s = 0.0
    for v in x:
        s += v * HOLDER.tick()
    return s


def ticking(v):
    return v * TICK()


def counter_behind_a_helper(x):
    RESTART()
    s = 0.0
    for v in x:
        s += ticking(v)
    return s


def counter_made_in_a_trip(x):
    s = 0.0
    for v in x:
        tick, _ = counter()
        tick()
        s += v * tick()
    return s


def bump():
    global COUNT
    COUNT += 1
    return COUNT


def global_name(x):
    global COUNT
    COUNT = 0
    s = 0.0
    for v in x:
        s += v * bump()
    return s


def global_name_of_its_own(x):
    global COUNT
    COUNT = 0
    for i in range(40):
        COUNT += 1
        if x[i % 20] > 1:
            COUNT += 1
    return np.sum(x) * COUNT


def global_name_while(x):
    global COUNT
    COUNT = 0
    s = 0.0
    while s < x[0] * 20:
        s += x[1] * bump()
    return s


def iterator(x):
    it = iter(range(100))
    s = 0.0
    for v in x:
        s += v * next(it)
    return s


def first_of_a_generator(x):
    s = 0.0
    for v in x:
        s += v * next(k for k in (1, 2, 3) if k > 1)
    return s


def generator(x):
    def count():
        n = 0
        while True:
            n += 1
            yield n

    it = count()
    s = 0.0
    for v in x:
        s += v * next(it)
    return s


def deque(x):
    q = collections.deque(maxlen=3)
    s = 0.0
    for v in x:
        q.append(v)
        s += sum(q) / len(q) * v
    return s


def heap_of_numbers(x):
    h = []
    for i in range(len(x)):
        heapq.heappush(h, -i)
    return np.sum(x) * h[0] * len(h)


def list_extended_in_place(x):
    h = []
    for v in x:
        h += [v, 2 * v]
    return sum(h) * len(h)


def list_cut(x):
    h = [1.0, 2.0, 3.0] * 10
    s = 0.0
    for v in x:
        del h[0]
        s += v * h[0] * len(h)
    return s


def default_dict(x):
    d = collections.defaultdict(float)
    for i, v in enumerate(x):
        d[i % 3] += v
    return d[0] ** 2 + d[1]


def generator_of_numpy(x):
    rng = np.random.default_rng(0)
    s = 0.0
    for v in x:
        s += v * rng.normal()
    return s


def generator_of_python(x):
    rng = random.Random(0)
    s = 0.0
    for v in x:
        s += v * rng.random()
    return s


X = np.random.default_rng(3).uniform(0.3, 1.7, 20)
CASES = [
    (function, (X,), 0)
    for function in [
        *(global_closure, global_closure_in_a_branch, global_counter, global_counter_in_a_branch),
        *(counter_of_an_object, counter_behind_a_helper, counter_made_in_a_trip, global_name),
        *(global_name_of_its_own, global_name_while, iterator, first_of_a_generator, generator, deque),
        *(heap_of_numbers, list_extended_in_place, list_cut, default_dict, generator_of_numpy),
        generator_of_python,
    ]
]


def chosen_array(x):
    a, b = np.zeros(3), np.ones(3)
    c = a if x[0] > 1 else b
    c[0] += x[1]
    return np.sum(a) * 10 + np.sum(b)


def chosen_array_by_statement(x):
    a, b = x[:3].copy(), x[3:6].copy()
    if x[0] > 1:  # noqa: SIM108 - a statement is what is tested
        c = a
    else:
        c = b
    c[0] += x[1]
    a[1] *= 2.0
    return np.sum(a) * 10 + np.sum(b) + np.sum(c * c)


def chosen_array_in_a_loop(x):
    a, b = x[:3].copy(), x[3:6].copy()
    for i in range(20):
        c = a if x[i] > 1 else b
        c[0] += x[i]
        c[1:] *= 0.9
    return np.sum(a) * 10 + np.sum(b)


def chosen_or_new_array(x):
    a = x[:3].copy()
    c = a
    for i in range(20):
        if x[i] > 1.2:
            c = c * 0.5
        c[i % 3] += x[i]
    return np.sum(a) * 10 + np.sum(c)


def the_best_is_another_name(x):
    u = x[:4].copy()
    best = u
    smallest = np.inf
    for i in range(20):
        u = u + 0.1
        if u[i % 4] < smallest:
            smallest = u[i % 4]
            best = u
        u[(i + 1) % 4] -= x[i]
    return np.sum(best * best) + smallest


def swapped_when_larger(x):
    a, b = x[:3].copy(), x[3:6].copy()
    for i in range(20):
        if np.sum(a) > np.sum(b):
            a, b = b, a
        a[i % 3] += x[i]
    return np.sum(a) * 10 + np.sum(b)


def chosen_list_is_read(x):
    c = [x[0], x[1]] if x[2] > 1 else [x[3], x[4]]
    c[0] += x[5]
    return c[0] * c[1]


CASES += [
    (function, (X,), 0)
    for function in [
        *(chosen_array, chosen_array_by_statement, chosen_array_in_a_loop, chosen_or_new_array),
        *(the_best_is_another_name, swapped_when_larger, chosen_list_is_read),
    ]
]


def alias_that_a_loop_binds(x):
    a = x[:3].copy()
    b = a
    for i in range(50):
        b = a
        a[0] += x[i % 20]
    b[1] = 3.0
    return np.sum(a) + b[0]


def swapped_arrays_with_another_name(x):
    a, b = x[:3].copy(), x[3:6].copy()
    c = a
    for i in range(51):
        a, b = b, a
        a[0] += x[i % 20]
    return np.sum(c) * 3 + a[0]


CASES += [(function, (X,), 0) for function in [alias_that_a_loop_binds, swapped_arrays_with_another_name]]
