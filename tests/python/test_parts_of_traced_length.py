"""Parts of arrays whose length is traced, in native loops: elements, negative bounds, joined parts."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg

A = np.random.default_rng(3).normal(size=(5, 4))
X = A[:, :2].ravel()


def householder(a: Any) -> Any:
    a = a.copy()
    n = a.shape[1]
    for k in range(n):
        x = a[k:, k].copy()
        v = x.copy()
        v[0] += np.sign(x[0]) * np.linalg.norm(x)
        v /= np.linalg.norm(v)
        a[k:, k:] -= 2 * np.outer(v, v @ a[k:, k:])
    return np.sum(np.log(np.abs(np.diag(a[:n]))))


def elements_of_parts(x: Any) -> Any:
    y, s = x.copy(), 0.0
    for k in range(2, len(x)):
        part = y[1:k]
        s += part[-1] * part[0] + np.max(part) + part[1:].sum() * part[:-1].sum()
        y[k:] *= 0.9
        part[0] = 2.0 * part[0]
        s += y[k:][-1] + y[k - 2 :][1:][0]
    return s


def counted_from_the_end(x: Any) -> Any:
    s = 0.0
    for k in range(1, len(x)):
        s += np.sum(x[-k:]) ** 2 / k + np.sum(x[:-k] * x[k:])
    return s


def of_either_sign(x: Any) -> Any:
    s = 0.0
    for k in range(-len(x) - 2, len(x) + 2):
        s += np.sum(x[k:]) ** 2 + k * np.sum(x[:k])
    return s


def rotated(x: Any) -> Any:
    s = 0.0
    for k in range(1, len(x)):
        s += np.concatenate([x[k:], x[:k]]) @ np.sin(x) / k
        s += np.sum(np.append(x[:k], [x[0], 1.0]) ** 2)
    return s


def moving_windows(x: Any) -> Any:
    out, n = [], len(x)
    for i in range(n):
        low, high = max(0, i - 2), min(n, i + 3)
        w = np.exp(-((x[low:high] - x[i]) ** 2))
        out.append(np.sum(w * x[low:high]) / np.sum(w) + np.mean(x[low : i + 1]) + x[low:high].max())
    return np.sum(np.array(out) ** 2)


def of_functions(x: Any) -> Any:
    s = 0.0
    for i in range(2, len(x)):
        part = x[:i]
        s += np.sum(np.where(part > 0, part, 0.1 * part)) + np.std(part) + np.var(part)
        s += (
            np.cumsum(part)[-1] ** 2
            + np.sum(np.abs(np.diff(part)))
            + part.sum() / len(part)
            + 0.1 * part.size
        )
        s += np.all(part < 10.0) + np.any(part > 10.0) + np.sum(np.clip(part, -0.5, 0.5))
    return s


def bounds_from_a_loop(x: Any) -> Any:
    s, low = 0.0, 0
    for i in range(len(x)):
        if x[i] > 0.2:
            low = i
        s += np.sum(x[low : i + 1] ** 2) * x[i]
    return s


def beside_plain_arrays(x: Any) -> Any:
    n = len(x)
    places, p, q = np.arange(n) * 0.5, x.copy(), np.eye(n)
    for k in range(1, n):
        p[: n - k] = (0.3 - places[k:]) * p[: n - k] - (0.3 - places[: n - k]) * p[1 : n + 1 - k]
        v = np.tanh(p[k:])
        q[:, k:] -= 0.1 * np.outer(q[:, k:] @ v, v)
    return p[0] + np.sum(np.tanh(q) * np.arange(n))


def moved_between_places(x: Any) -> Any:
    n = len(x)
    y, z, table = x.copy(), np.zeros(n + 3), np.outer(x, x)
    for k in range(1, n - 1):
        z[:k] += 1.5 + y[:k] ** 2
        w = y[:k] / np.sqrt(z[:k])
        w[0] = w[0] * w[-1]
        y[:k] = w - z[:k] * y[n - k :]
        table[k:, k] -= 0.1 * table[k, k:] * y[: n - k] + y[k:]
        table[:k, k:] += np.outer(w, y[k:]) + w[0]
        y[k:] = 0.5 * y[k:].copy()
        y[k:] = y[k:] + w[0] * table[k:, 0] * np.where(z[k:n] > 1.0, 1.0, z[k:n] + 2.0)
    return np.sum(np.tanh(table)) + np.sum(y * y) + np.sum(z)


def in_order(x: Any) -> Any:
    s = 0.0
    for k in range(2, len(x)):
        part, rest = x[:k], k + np.argmin(np.abs(x[k:] - 0.1))
        s += x[np.argmax(part)] * k + x[rest] + x[k:].argmax() * x[0] + np.argmax(part > 0.3) * x[1]
        s += np.median(part) ** 2 * k + np.sort(part)[0] * np.sort(part)[-1] + np.sum(np.sort(part)[1:] ** 2)
        s += np.median(x[max(0, k - 2) : min(len(x), k + 3)]) + np.count_nonzero(part > 0.0) * x[2]
    return s


def pivots(a: Any) -> Any:
    a, sign = a[:4].copy(), 1.0
    for k in range(3):
        p = k + np.argmax(np.abs(a[k:, k]))
        if p != k:
            a[[k, p]] = a[[p, k]]
            sign = -sign
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return sign * np.prod(np.diag(a))


def with_steps(x: Any) -> Any:
    y, m, s = x.copy(), np.outer(x, x), 0.0
    for k in range(3, len(x)):
        y[:k:2] *= 0.99
        part = y[1:k:3]
        y[1:k:2] = x[1:k:2]
        s += part.sum() + part[0] + x[:k:2] @ x[:k:2] + m[k, :k:2].sum() + np.max(m[1:k:3, k])
        s += np.prod(x[k:0:-1]) + x[k::-1].mean() * x[k::-1][0] + x[:k] @ x[k - 1 :: -1]
    return s + y @ y


CASES = [
    (householder, A),
    (pivots, A),
    *[
        (f, X)
        for f in (
            *(elements_of_parts, counted_from_the_end, of_either_sign, rotated, moving_windows),
            *(of_functions, bounds_from_a_loop, beside_plain_arrays, moved_between_places),
            *(in_order, with_steps),
        )
    ],
]


@pytest.mark.parametrize(("f", "x"), CASES)
def test_values_and_gradients_are_pythons_and_loops_stay_loops(f: Callable[..., Any], x: Any) -> None:
    jitted = fg.jit(fg.value_and_grad(f), unroll=0)
    value, gradient = jitted(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-12)
    np.testing.assert_allclose(gradient, fg.grad(f)(x), rtol=1e-10, atol=1e-12)
    assert "unrolled" not in " ".join(jitted.hooks.report())


def test_parts_that_begin_at_one_place_are_written_without_being_moved() -> None:
    def shrunk(x: Any) -> Any:
        y, a = x.copy(), np.outer(x, x)
        for k in range(1, len(x)):
            y[k:] = np.tanh(a[k:, 0]) - y[k - 1] * y[k:]
            v = y[k:] * 2.0
            a[k, k:] += v / (1.0 + np.sum(v * v))
            a[k:, k:] += np.outer(v, v @ a[k:, k:]) * (v @ v)
        return np.sum(np.tanh(y)) + np.sum(np.tanh(a))

    np.testing.assert_allclose(fg.jit(fg.grad(shrunk), unroll=0)(X), fg.grad(shrunk)(X), rtol=1e-9)
    text = str(fg.jit(fg.grad(shrunk), unroll=0).program(X))
    assert "scan" in text
    assert "minimum" not in text


def test_under_vmap_and_for_second_derivatives() -> None:
    xs = np.stack([X, 0.5 * X + 0.1])
    found = fg.jit(fg.vmap(fg.grad(elements_of_parts)), unroll=0)(xs)
    np.testing.assert_allclose(found, [fg.grad(elements_of_parts)(x) for x in xs], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        fg.jit(fg.hessian(counted_from_the_end), unroll=0)(X), fg.hessian(counted_from_the_end)(X), atol=1e-12
    )


def reversed_in_place(x: Any) -> Any:
    a, s = x.copy(), 0.0
    for k in range(1, len(x)):
        part = a[:k][::-1]
        part *= 2.0
        s += a.sum()
    return s


def transposed_in_place(x: Any) -> Any:
    a, s = np.outer(x, x), 0.0
    for k in range(1, len(x)):
        part = a[:k, :].T
        part *= 1.5
        s += a.sum()
    return s


def reversed_and_then_written(x: Any) -> Any:
    a, s = x.copy(), 0.0
    for k in range(1, len(x)):
        part = a[:k][::-1]
        a[0] += 1.0
        s += (part * part).sum()
    return s


def part_of_a_plain_array(x: Any) -> Any:
    weights, s = np.ones(len(x)), 0.0
    for k in range(1, len(x)):
        part = weights[k:]
        part *= 2.0
        s += np.sum(weights * x)
    return s


def part_of_an_array_that_is_written_later(x: Any) -> Any:
    y, s = np.zeros(len(x)), 0.0
    for k in range(1, len(x)):
        part = y[:k]
        y[0] = x[k]
        s += part.sum() * x[k]
    return s


def written_in_a_branch(x: Any) -> Any:
    s = 0.0
    for k in range(1, len(x)):
        part = x[:k] * 1.0
        if x[k] > 0:
            part[0] = 7.0
        s += part.sum()
    return s


def written_in_an_inner_loop(x: Any) -> Any:
    s = 0.0
    for k in range(2, len(x)):
        part = x[:k] * 1.0
        for j in range(7):
            part[1] += x[j % 3] * part[0]
        s += part.sum()
    return s


@pytest.mark.parametrize(
    "f",
    [
        *(reversed_in_place, transposed_in_place, reversed_and_then_written),
        *(written_in_a_branch, written_in_an_inner_loop),
        *(part_of_a_plain_array, part_of_an_array_that_is_written_later),
    ],
)
def test_what_is_written_through_another_name_is_seen(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(fg.jit(f, unroll=0)(X), f(X), rtol=1e-12)


def test_an_element_beyond_a_part_is_no_element_of_the_array() -> None:
    def beyond(x: Any) -> Any:
        s = 0.0
        for k in range(len(x)):
            s += x[:k][1] if k > 1 else 0.0
            s += x[:k][k - 3] if k > 3 else 0.0
        return s

    np.testing.assert_allclose(fg.jit(beyond)(X), beyond(X), rtol=1e-12)
    with pytest.raises(IndexError):
        fg.jit(lambda x: sum(x[:k][3] for k in range(len(x))))(X)


def test_bounds_of_bounds_are_followed_once() -> None:
    def narrowed(x: Any, low: Any) -> Any:
        high = low + 4
        for _ in range(8):
            low, high = max(low - 1, min(high - 3, 6)), min(high + 1, max(low + 4, 3))
        return np.sum(x[low:high]) + x[low:high][0]

    jitted = fg.jit(narrowed, unroll=10_000)  # what took a minute for two trips, and ever longer
    np.testing.assert_allclose(jitted(X, 2), narrowed(X, 2), rtol=1e-12)
