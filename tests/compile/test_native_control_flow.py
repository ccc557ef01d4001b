"""Loops and branches as native code: every mode compiled equals evaluated, with nothing left to NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lawbook.numerics import assert_close

import funcgrad as fg
from funcgrad import lax
from funcgrad.ir.evaluate.runner import checked_inputs, evaluate_by_numpy

Function = Callable[..., Any]


def assert_native(f: Function, *args: Any) -> list[Any]:
    """Compiled, with nothing left over, `f` gives what its Program evaluates to; returns that."""
    made = fg.jit(f).specialized(*args)
    leaves = fg.tree.leaves((args, {}))
    wanted = evaluate_by_numpy(made.program, checked_inputs(made.program, leaves))
    assert [reason.words for reason in made.executable.reasons] == []
    for _ in range(2):
        found = made.executable.run(*leaves)
        for x, y in zip(found, wanted, strict=True):
            assert (type(x), x.dtype, np.shape(x)) == (type(y), y.dtype, np.shape(y))
            assert_close(x, y)
    return list(wanted)


def floats(args: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple([k for k, x in enumerate(args) if np.asarray(x).dtype.kind == "f"])


def total(f: Function) -> Function:
    """A number that depends on all floating results, unevenly."""

    def weighed(*args: Any) -> Any:
        outs = [x for x in map(fg.numpy.asarray, fg.tree.leaves(f(*args))) if x.dtype.kind == "f"]
        return sum(np.sum(np.cos(x.astype(float)) * (k + 1)) for k, x in enumerate(outs))

    return weighed


def tangents_of(f: Function, args: tuple[Any, ...]) -> Any:
    tangents = tuple(
        [
            np.asarray(0.3 + 0.1 * np.cos(np.arange(np.size(x))).reshape(np.shape(x)), np.asarray(x).dtype)[
                ()
            ]
            for k, x in enumerate(args)
            if k in floats(args)
        ]
    )

    def pushed(*given: Any) -> Any:
        def of_floats(*moving: Any) -> Any:
            whole = list(given)
            for k, x in zip(floats(args), moving, strict=True):
                whole[k] = x
            return f(*whole)

        return fg.jvp(of_floats, tuple([given[k] for k in floats(args)]), tangents)

    return pushed


# -- cases ---------------------------------------------------------------------------------------------------

X = np.linspace(-1.0, 1.5, 6)
M = np.cos(np.arange(25.0)).reshape(5, 5)
CASES: list[Any] = []


def case(*args: Any) -> Callable[[Function], Function]:
    def collect(f: Function) -> Function:
        CASES.append(pytest.param(f, args, id=f.__name__))
        return f

    return collect


@case(0.3, X)
def scan_of_numbers(c: Any, xs: Any) -> Any:
    def step(c: Any, x: Any) -> Any:
        return np.sin(c) + x, c * x

    return lax.scan(step, c, xs)


@case(0.3, X)
def scan_in_reverse(c: Any, xs: Any) -> Any:
    def step(c: Any, x: Any) -> Any:
        return 0.5 * c * x + np.exp(-c * c), np.tanh(c)

    return lax.scan(step, c, xs, reverse=True)


@case(0.3, np.zeros(0))
def scan_of_no_trips(c: Any, xs: Any) -> Any:
    return lax.scan(lambda c, x: (c * x, c + x), np.exp(c), xs)


@case(np.zeros(0), X)
def scan_that_carries_nothing(c: Any, xs: Any) -> Any:
    return lax.scan(lambda c, x: (c * x, (np.sum(c) + x, c)), c, xs)


@case(X, M[0], 0.7)
def scan_that_exchanges_arrays(a: Any, b: Any, s: Any) -> Any:
    def step(carry: Any, x: Any) -> Any:
        a, b, s = carry
        return (a[::-1] * x, a, b[0] + s), (b, s)

    return lax.scan(step, (a, np.concatenate([b, b[:1]]), s), X)


@case(X)
def scan_that_turns_its_array(a: Any) -> Any:
    def step(a: Any, _: Any) -> Any:
        moved = np.roll(a, 1) + a[::-1]
        return 0.5 * moved, moved[2]

    return lax.scan(step, a, None, length=5)


@case(1.5, 0.25)
def scan_that_exchanges_numbers(a: Any, b: Any) -> Any:
    return lax.scan(lambda c, x: ((c[1], c[0] * x, c[0]), c[2]), (a, b, a), X)


@case(X, np.arange(6))
def scan_of_several_dtypes(xs: Any, ks: Any) -> Any:
    def step(carry: Any, row: Any) -> Any:
        n, odd, small, z, f = carry
        x, k = row
        carry = (n * 3 + k, ~odd, small + np.uint8(200), z * 1j + x, np.float32(0.5) * f + np.float32(1))
        return carry, (odd, small, np.where(odd, x, -x), z)

    start = (np.int32(1) * 7, False, np.uint8(100), 0.5 + 0.5j, np.float32(0.25))
    return lax.scan(step, (ks[0] * 0 + start[0], *start[1:]), (xs, ks))


@case(X, np.array([3, 1, 0, -1, 2, 2]))
def scan_with_gathers(xs: Any, ks: Any) -> Any:
    def step(table: Any, k: Any) -> Any:
        x = table[k]
        table = fg.numpy.asarray(table)
        table[k] = np.sin(x) + table[(k + 1) % 5]
        return table, x * table[0]

    return lax.scan(step, xs, ks)


@case(np.sin(np.arange(24.0 * 24)).reshape(24, 24), X[:3])
def scan_with_matrix_products(w: Any, xs: Any) -> Any:
    def step(h: Any, x: Any) -> Any:
        h = np.tanh(0.1 * (h @ w) + x)
        return h, np.sum(h)

    return lax.scan(step, fg.numpy.ones((24, 24)) * xs[0], xs)


@case(np.sin(np.arange(200.0 * 200)).reshape(200, 200), X[:3])
def scan_with_large_matrix_vector_products(w: Any, xs: Any) -> Any:
    def step(h: Any, x: Any) -> Any:
        h = np.tanh(0.05 * (w @ h) + x)
        return h, h[:3]

    return lax.scan(step, fg.numpy.ones(200) * xs[0], xs)


@case(M, X[:5])
def scan_with_small_matrix_products(w: Any, h: Any) -> Any:
    def step(h: Any, x: Any) -> Any:
        h = np.tanh(w @ h + x)
        return h, np.outer(h, h)

    return lax.scan(step, h, X)


@case(M)
def scan_over_rows_of_a_transposed_array(m: Any) -> Any:
    return lax.scan(lambda c, row: (c + row**2, np.cumsum(row * c)), m[:, 0], np.swapaxes(m, 0, 1)[::2, ::-1])


@case(X)
def scan_that_returns_what_it_was_given(x: Any) -> Any:
    return lax.scan(lambda c, x: (c, (c, x, 2.0)), x, x)


@case(X)
def scan_with_a_softmax_inside(x: Any) -> Any:
    def step(c: Any, _: Any) -> Any:
        shifted = np.exp(c - np.max(c))
        c = shifted / np.sum(shifted) * c
        return c, np.argmax(c)

    return lax.scan(step, x, None, length=4)


@case(0.2)
def nested_scans(c: Any) -> Any:
    def outer(c: Any, x: Any) -> Any:
        inner_end, ys = lax.scan(lambda a, y: (np.sin(a * y) + x, a + c), c, X)
        return inner_end, ys

    return lax.scan(outer, c, X[1:4], reverse=True)


@case(X)
def nested_scans_of_arrays(c: Any) -> Any:
    def outer(c: Any, x: Any) -> Any:
        end, ys = lax.scan(lambda a, y: (np.sin(a * y)[::-1] + x, np.sum(a * c)), c, X)
        return end * c, (ys, end)

    return lax.scan(outer, c, X[1:4])


@case(0.4)
def fori_loop_of_numbers(x: Any) -> Any:
    return lax.fori_loop(0, 7, lambda i, c: np.sin(c) + 0.1 * i, x)


@case(X, 3, 9)
def fori_loop_with_traced_bounds(x: Any, start: Any, stop: Any) -> Any:
    return lax.fori_loop(start, stop, lambda i, c: 0.5 * np.sin(c[::-1]) + 0.1 * i, x)


@case(X, 5, 5)
def fori_loop_of_no_trips(x: Any, start: Any, stop: Any) -> Any:
    return lax.fori_loop(start, stop, lambda i, c: c * i, x)


@case(X)
def fori_loop_that_assigns(x: Any) -> Any:
    def body(i: Any, c: Any) -> Any:
        c = fg.numpy.asarray(c)
        c[i] = c[i - 1] * c[i] + 0.5
        return c

    return lax.fori_loop(1, 6, body, x)


@case(0.3, 1.1)
def while_loop_of_numbers(x: Any, rate: Any) -> Any:
    def body(state: Any) -> Any:
        n, x = state
        return n + 1, x * rate + 0.3 * np.sin(x) + 0.1

    return lax.while_loop(lambda state: state[1] < 5.0, body, (0, x))


@case(X, 1.3)
def while_loop_of_arrays(x: Any, rate: Any) -> Any:
    def body(state: Any) -> Any:
        x, y = state
        return y + 0.2, x * rate

    return lax.while_loop(lambda s: np.sum(s[0] * s[0]) < 400.0, body, (x, x + 1.0))


@case(X)
def while_loop_of_no_trips(x: Any) -> Any:
    return lax.while_loop(lambda x: np.sum(x) < -1e9, lambda x: x * 2.0, x)


@case(0.001)
def while_loop_within_a_scan(x: Any) -> Any:
    def step(c: Any, limit: Any) -> Any:
        end = lax.while_loop(lambda a: a < limit, lambda a: a * 1.7 + 0.05 * c, c)
        return 0.1 * end, end

    return lax.scan(step, x, np.array([1.0, 0.1, 30.0]))


@case(0.3, 1.1)
def while_loops_within_while_loops(x: Any, rate: Any) -> Any:
    def outer(state: Any) -> Any:
        n, x = state
        inner = lax.while_loop(lambda a: a[1] < n, lambda a: (a[0] * rate + x * 0.1, a[1] + 1), (x, 0))
        return n + 1, np.sin(inner[0])

    return lax.while_loop(lambda s: s[0] < 5, outer, (0, x))


@case(0.3, X)
def scan_within_a_while_loop(x: Any, w: Any) -> Any:
    def outer(state: Any) -> Any:
        n, x, w = state
        end, rows = lax.scan(lambda c, v: (np.sin(c) + v, c * v), x, w)
        return n + 1, end, 0.5 * rows

    return lax.while_loop(lambda s: s[0] < 4, outer, (0, x, w))


@case(1.2, X)
def cond_taken(x: Any, a: Any) -> Any:
    return lax.cond(x > 0, lambda a: (np.sin(a) * x, np.sum(a)), lambda a: (a, x), a)


@case(-1.2, X)
def cond_not_taken(x: Any, a: Any) -> Any:
    return lax.cond(x > 0, lambda a: (np.sqrt(x) * a, np.sum(a)), lambda a: (a[::-1] * x, x), a)


@case(X, np.array([0, 2, 1, 7, -3, 1]))
def switch_within_a_scan(xs: Any, ks: Any) -> Any:
    def step(c: Any, row: Any) -> Any:
        x, k = row
        c = lax.switch(k, [np.sin, lambda c: c * x, lambda c: c + x * x], c)
        return c, c

    return lax.scan(step, 0.5, (xs, ks))


@case(X)
def cond_within_a_scan_over_arrays(x: Any) -> Any:
    def step(c: Any, s: Any) -> Any:
        return lax.cond(s > 0, lambda c: c[::-1] * s, lambda c: np.cumsum(c) * 0.3, c), np.max(c)

    return lax.scan(step, x, x)


@case(2.0, X)
def scan_within_a_cond(x: Any, w: Any) -> Any:
    def run(w: Any) -> Any:
        return lax.scan(lambda c, v: (np.sin(c) + v, c), x, w)

    return lax.cond(np.sum(w) > 0, run, lambda w: (x, w * x), w)


@case(X)
def map_of_rows(x: Any) -> Any:
    return lax.map(lambda s: np.sin(s) * x[:3], x)


@case(X)
def associative_scan(x: Any) -> Any:
    return lax.associative_scan(lambda a, b: a * b + 0.1 * b, x)


@case(M)
def associative_scan_in_reverse_along_an_axis(m: Any) -> Any:
    def combine(a: Any, b: Any) -> Any:
        return a[0] * b[0], a[1] * b[0] + b[1]

    return lax.associative_scan(combine, (m, m * 0.5), reverse=True, axis=1)


@case(X)
def scan_over_what_was_made_just_before(x: Any) -> Any:
    y = np.exp(x) * 0.3
    end, rows = lax.scan(lambda c, v: (c * v + y, np.sum(c)), y, y)
    return end * y, rows * np.sum(y)


@case(X)
def two_scans_one_after_the_other(x: Any) -> Any:
    a, rows = lax.scan(lambda c, v: (np.sin(c + v), c), 0.1, x)
    b, others = lax.scan(lambda c, v: (np.cos(c * v), c), a, rows)
    return b, others, rows


@case(X)
def scan_with_a_checkpointed_step(x: Any) -> Any:
    step = fg.checkpoint(lambda c, v: (np.sin(c * v) + v, np.exp(-c)))
    return lax.scan(step, 0.3, x)


@case(np.float32(0.3), X.astype(np.float32))
def scan_in_single_precision(c: Any, xs: Any) -> Any:
    return lax.scan(lambda c, x: (np.sin(c) * 2 + x / 3, np.sqrt(np.abs(c))), c, xs)


@case(M, X[:5])
def scan_with_a_vector_for_each_row(m: Any, v: Any) -> Any:
    def step(c: Any, row: Any) -> Any:
        c = np.where(row > 0, np.maximum(c, row), c - row)
        return c, (np.prod(c), np.min(c))

    return lax.scan(step, v, m)


@pytest.mark.parametrize(("f", "args"), CASES)
def test_values(f: Function, args: tuple[Any, ...]) -> None:
    assert_native(f, *args)


@pytest.mark.at_length
@pytest.mark.parametrize(("f", "args"), CASES)
def test_forward_mode(f: Function, args: tuple[Any, ...]) -> None:
    assert_native(tangents_of(f, args), *args)


@pytest.mark.at_length
@pytest.mark.parametrize(("f", "args"), CASES)
def test_reverse_mode(f: Function, args: tuple[Any, ...]) -> None:
    assert_native(fg.value_and_grad(total(f), floats(args)), *args)


@pytest.mark.at_length
@pytest.mark.parametrize(("f", "args"), CASES)
def test_batches(f: Function, args: tuple[Any, ...]) -> None:
    axes = tuple([0 if k in floats(args) else None for k in range(len(args))])
    several = [
        np.stack([x, x * np.float32(1.05), x * np.float32(1.1)]) if k in floats(args) else x
        for k, x in enumerate(args)
    ]
    several = [
        x.astype(np.asarray(y).dtype) if a == 0 else x for x, y, a in zip(several, args, axes, strict=True)
    ]
    assert_native(fg.vmap(f, in_axes=axes), *several)


# -- what stands in loops ------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", list("bBhHiIlL"))
def test_division_of_integers(code: str) -> None:
    limits = np.iinfo(code)
    xs = np.array([limits.min, limits.min + 1, 0, 1, 7, limits.max // 2, limits.max], code)
    ys = np.array([0, 1, 2, 7, limits.max, limits.min, -1 if limits.min else limits.max - 1], code)
    assert_native(lambda x, y: (x % y, x // y, *np.divmod(x, y)), xs[:, None] + 0 * ys, ys + 0 * xs[:, None])


def test_collatz() -> None:
    def trips(n: Any) -> Any:
        def body(state: Any) -> Any:
            n, k = state
            return np.where(n % 2 == 0, n // 2, 3 * n + 1), k + 1

        return lax.while_loop(lambda state: state[0] != 1, body, (n, 0))[1]

    assert assert_native(trips, 27) == [111]
    assert_native(fg.vmap(trips), np.arange(1, 9))


def test_forward_mode_through_a_custom_rule() -> None:
    @fg.custom_vjp
    def cube(x: Any) -> Any:
        return x**3

    cube.defvjp(lambda x: (x**3, x), lambda x, bar: (3.0 * x * x * bar,))

    def f(x: Any) -> Any:
        return lax.scan(lambda c, v: (cube(np.sin(c * v)), c), x, X)

    assert_native(lambda x: fg.jvp(f, (x,), (1.0,)), 0.7)
    assert_native(fg.grad(lambda x: np.sum(f(x)[1])), 0.7)


def test_products_and_their_derivatives() -> None:
    x = np.cos(np.arange(24.0)).reshape(2, 3, 4)
    x[0, 1, 2] = x[1, 1, 1] = 0.0
    for axis in (None, 0, 1, (0, 2), (1, 2)):
        assert_native(fg.grad(lambda x, axis=axis: np.sum(np.sin(np.prod(x, axis)))), x)
    assert_native(fg.grad(lambda s: np.prod(s) * s), 3.0)
    assert_native(fg.hessian(lambda x: np.sum(np.sin(np.prod(x, (0, 2))))), x)


def test_cheap_values_are_moved_with_all_that_lies_between() -> None:
    def f(a: Any, m: Any) -> Any:
        rows = fg.numpy.broadcast_to((2.0 * a)[:, None], (3, 4)) + 1.0
        return np.sum(np.sin(fg.numpy.broadcast_to(rows[:, :, None], (3, 4, 5)) * m)), rows

    assert_native(f, np.arange(3.0), np.ones((3, 4, 5)))
