"""Lists of Python's at traced indices: what is written is in the list, whatever else it is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg

Function = Callable[[Any], Any]


def clusters(x: Any) -> Any:
    centres = [x[0], x[3], x[7]]
    for _ in range(4):
        sums, counts = [0.0, 0.0, 0.0], [0, 0, 0]
        for i in range(len(x)):
            k, best = 0, abs(x[i] - centres[0])
            for j in range(1, 3):
                d = abs(x[i] - centres[j])
                if d < best:
                    best, k = d, j
            sums[k] += x[i]
            counts[k] += 1
        for j in range(3):
            if counts[j] > 0:
                centres[j] = sums[j] / counts[j]
    return centres[0] ** 2 + centres[1] * centres[2]


def insertion_sort(x: Any) -> Any:
    a = [v * 1.0 for v in x]
    for i in range(1, len(a)):
        key, j = a[i], i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return sum(a[i] * i for i in range(len(a)))


def heap_sort(x: Any) -> Any:
    a = [x[i] for i in range(len(x))]

    def sift(root: int, end: int) -> None:
        while 2 * root + 1 <= end:
            child = 2 * root + 1
            if child + 1 <= end and a[child] < a[child + 1]:
                child += 1
            if a[root] < a[child]:
                a[root], a[child] = a[child], a[root]
                root = child
            else:
                return

    for s in range((len(a) - 2) // 2, -1, -1):
        sift(s, len(a) - 1)
    for e in range(len(a) - 1, 0, -1):
        a[e], a[0] = a[0], a[e]
        sift(0, e - 1)
    return sum(w * i for i, w in enumerate(a))


def rows_that_change_places(x: Any) -> Any:
    prev, cur = [0.0] * 4, [0.0] * 4
    for i in range(5):
        for j in range(1, 4):
            cur[j] = prev[j - 1] * 0.5 + x[j % 3] * cur[j - 1] * 0.1 + x[i % 12]
        prev, cur = cur, prev
    return prev[3] + cur[2]


class Holder:
    def __init__(self) -> None:
        self.a = [0.0] * 5
        self.d = {"q": [0.0] * 5}


def lists_of_an_object(x: Any) -> Any:
    c = Holder()
    for i in range(60):
        k = int(abs(x[i % 3]) * (i + 1)) % 5
        c.a[k] += x[0] * i
        c.d["q"][k] = c.a[(k + 1) % 5]
    return c.a[0] + c.a[1] * c.d["q"][2] + c.d["q"][4]


def whole_numbers_that_become_floats(x: Any) -> Any:
    a = [0] * 4
    for v in x:
        if v > 0.1:
            a[int(v * 5) % 4] += v
    return a[0] + 2 * a[1] + 3 * a[2] + 4 * a[3]


def a_table_with_other_names(x: Any) -> Any:
    table = [[x[0], 1.0], [2.0, x[1]], [0.0, 0.0]]
    line, same = table[1], table
    for i in range(60):
        k = int(abs(x[i % 3]) * (i + 1)) % 3
        table[k][i % 2] = table[k][(i + 1) % 2] * 0.5 + x[0]
    return line[0] + 10 * line[1] + same[2][1]


def arrays_that_have_names(x: Any) -> Any:
    rows = [x * 1, x * 2, x * 3]
    first, second = rows[0], rows[1]
    rows[np.argmin(x[:3])] += x * 7
    rows[np.argmax(x[:3])][1] = 5 * x[0]
    return first @ x + 10 * (second @ x) + rows[2][1]


def an_array_that_is_put_into_a_list(x: Any) -> Any:
    rows, a = [x * 1, x * 2, x * 3], x * 5
    rows[np.argmin(x[:3])] = a
    a[0] += 100.0
    rows[1][1] += 50
    return rows[0][0] + 2 * rows[1][0] + 3 * rows[2][0] + a[1]


def an_element_that_is_read_late(x: Any) -> Any:
    rows = [x * 1, x * 2, x * 3]
    row, s = rows[np.argmin(x[:3])], 0
    for j in range(3):
        rows[j][:] = j + x[0]
        s = s + row[1]
    rows[1][:] = 17 * x[0]
    return s + row[0]


def a_list_that_is_read_late(x: Any) -> Any:
    table = [[x[0] * 1.0] * 3 for _ in range(3)]
    row = table[np.argmin(x[:3])]
    table[1][1] = 50 * x[0]
    row[2] = 5.0
    return row[1] + table[1][2] + sum(row) + len(row + row) + len(row * 3)


def from_the_end(x: Any) -> Any:
    a = [x[0]] * 6
    a[np.argmin(x[:3]) - 3] = 9 * x[0]
    return sum(w * v for w, v in enumerate(a))


def copies_that_are_kept(x: Any) -> Any:
    a: list[Any] = [0.0, 0.0, 0.0]
    kept = []
    for i in range(50):
        a[int(abs(x[i % 3]) * i) % 3] += x[0]
        kept.append(a[:])
    return sum(row[1] for row in kept) + kept[0][2] + kept[20][0]


def the_list_itself_is_kept(x: Any) -> Any:
    a: list[Any] = [0.0, 0.0, 0.0]
    kept = []
    for i in range(50):
        a[1] = a[1] + x[0] * i
        kept.append(a)
    return sum(row[1] for row in kept) + kept[0][2]


def the_array_itself_is_kept(x: Any) -> Any:
    a, kept = np.zeros(3), []
    for i in range(12):
        a[i % 3] += x[0]
        kept.append(a)
    return sum(row[1] for row in kept) + kept[0][2]


def the_last_that_was_kept_is_written(x: Any) -> Any:
    kept, y = [], x * 1
    for _ in range(50):
        y = np.sin(y) + x
        kept.append(y)
    y[0] = 100 * x[1]
    return kept[-1][0] + kept[3][1]


def more_than_64_bits(x: Any) -> Any:
    w, fib, t = [1] * 100, [1] * 120, 0.0
    for c in range(1, 100):
        w[c] = w[c] + 3 * w[c - 1]
        t = t + x[0] * np.sin(t)
    for c in range(2, 120):
        fib[c] = fib[c - 1] + fib[c - 2]
        t = t + x[0] * np.sin(t)
    return t + x[1] * float(w[99] % 1000003) + float(fib[119] % 1000003)


FUNCTIONS: list[Function] = [
    clusters,
    insertion_sort,
    heap_sort,
    rows_that_change_places,
    lists_of_an_object,
    whole_numbers_that_become_floats,
    a_table_with_other_names,
    arrays_that_have_names,
    an_array_that_is_put_into_a_list,
    an_element_that_is_read_late,
    a_list_that_is_read_late,
    from_the_end,
    copies_that_are_kept,
    the_list_itself_is_kept,
    the_array_itself_is_kept,
    the_last_that_was_kept_is_written,
    more_than_64_bits,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_lists_are_pythons_own(function: Function) -> None:
    """Recorded as under `jit`, and evaluated by NumPy, which costs no compilation."""
    xs = np.random.default_rng(5).normal(size=(2, 12))
    recorded = fg.vmap(fg.jit(function))(xs)
    np.testing.assert_allclose(recorded, [function(x) for x in xs], rtol=1e-12)


@pytest.mark.parametrize("function", [insertion_sort, a_table_with_other_names])
def test_lists_in_native_code(function: Function) -> None:
    x = np.random.default_rng(5).normal(size=12)
    value, gradient = fg.jit(fg.value_and_grad(function))(x)
    np.testing.assert_allclose(value, function(x), rtol=1e-12)
    np.testing.assert_allclose(gradient, fg.grad(function)(x), rtol=1e-12, atol=1e-12)


def test_a_sort_is_a_loop_over_one_array() -> None:
    program = str(fg.make_program(fg.jit(insertion_sort))(np.random.default_rng(0).normal(size=12)))
    assert program.count(" scan(") == 2
    assert "scatter(" in program
    assert "where(" not in program


def one_list_twice(x: Any) -> Any:
    table = [[0.0] * 3] * 3
    table[np.argmin(x)][1] = 5 * x[0]
    return table[0][1]


def longer(x: Any) -> Any:
    table = [[1.0], [2.0], [3.0]]
    table[np.argmin(x)].append(x[0])
    return table[0][0]


def another_list(x: Any) -> Any:
    table = [[1.0], [2.0], [3.0]]
    table[np.argmin(x)] = [x[0]]
    return table[0][0]


def of_another_shape(x: Any) -> Any:
    a = [1.0, 2.0, 3.0]
    a[np.argmin(x)] = x
    return a[0]


def with_pivots(x: Any) -> Any:
    """Gaussian elimination with rows that change places."""
    n = 3
    m = [[x[i] * x[j] + (i == j) * (i - 1.0) for j in range(n)] + [1.0 + i] for i in range(n)]
    for k in range(n):
        p = max(range(k, n), key=lambda r: abs(m[r][k]))
        m[k], m[p] = m[p], m[k]
        for i in range(k + 1, n):
            f = m[i][k] / m[k][k]
            for j in range(k, n + 1):
                m[i][j] -= f * m[k][j]
    found = [0.0] * n
    for i in reversed(range(n)):
        found[i] = (m[i][n] - sum(m[i][j] * found[j] for j in range(i + 1, n))) / m[i][i]
    return sum(v * v for v in found)


ON_PATHS = [one_list_twice, longer, another_list, of_another_shape, with_pivots]


@pytest.mark.parametrize("function", ON_PATHS)
def test_what_no_array_stands_for_is_recorded_on_paths(function: Function) -> None:
    compiled, gradient = fg.jit(function), fg.jit(fg.grad(lambda x: np.sum(function(x))))
    for x in ([2.0, 1.0, 3.0], [0.5, 1.0, 2.0], [2.0, 1.0, 0.25], [1.5, 2.5, 3.0]):
        np.testing.assert_allclose(compiled(np.array(x)), function(np.array(x)), rtol=1e-12)
        expected = fg.grad(lambda x: np.sum(function(x)))(np.array(x))
        np.testing.assert_allclose(gradient(np.array(x)), expected, rtol=1e-10)


@pytest.mark.parametrize("function", ON_PATHS)
def test_what_no_array_stands_for_has_no_program_for_all_values(function: Function) -> None:
    with pytest.raises(fg.errors.TracedBranchError, match=r"at a traced index(.|\n)*array"):
        fg.jit(function).program(np.array([2.0, 1.0, 3.0]))


def grown_in_turn(x: Any) -> Any:
    held: Any = [[], []]
    for i in range(5):
        held[i % 2] += [x[i % 3] * i]
    return np.sum(np.array(held[0]) ** 2) + np.sum(np.array(held[1]))


def shortened_in_turn(x: Any) -> Any:
    held = [[v * 1.0 for v in x], [v * v for v in x]]
    for i in range(3):
        del held[i % 2][0]
    return held[0][0] * held[1][0]


@pytest.mark.parametrize("function", [grown_in_turn, shortened_in_turn])
def test_one_of_several_lists_grows_and_shrinks(function: Function) -> None:
    x = np.array([2.0, 1.0, 3.0])
    np.testing.assert_allclose(fg.jit(function)(x), function(x), rtol=1e-12)
