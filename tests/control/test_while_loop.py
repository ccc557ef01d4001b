"""`while_loop`, and `fori_loop` with bounds that are traced: every mode, without a bound on the trips."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import lax
from funcgrad.testing import check_grads, check_vmap


def root(a: Any) -> Any:
    """The square root of `a` by Newton's method."""
    return lax.while_loop(lambda x: np.abs(x * x - a) > 1e-13 * a, lambda x: 0.5 * (x + a / x), a)


def grown(x: Any, rate: Any, limit: float = 5.0) -> tuple[Any, Any]:
    """How large `x` is when it has passed the limit, and after how many trips."""

    def body(state: Any) -> Any:
        n, x = state
        return n + 1, x * rate + 0.3 * np.sin(x) + 0.4

    n, x = lax.while_loop(lambda state: state[1] < limit, body, (0, x))
    return x, n


def python_grown(x: Any, rate: Any, limit: float = 5.0) -> tuple[Any, int]:
    n = 0
    while x < limit:
        n, x = n + 1, x * rate + 0.3 * np.sin(x) + 0.4
    return x, n


@pytest.mark.parametrize("x", [0.3, 1.0, 4.9, 5.0, 7.0])
def test_values_and_derivatives_equal_those_of_pythons_while(x: float) -> None:
    assert grown(x, 1.1) == python_grown(x, 1.1)
    ours = fg.value_and_grad(lambda x, r: grown(x, r)[0], (0, 1))(x, 1.1)
    theirs = fg.value_and_grad(lambda x, r: python_grown(x, r)[0], (0, 1))(x, 1.1)
    for a, b in zip(fg.tree.leaves(ours), fg.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_derivatives_of_every_mode_and_order() -> None:
    check_grads(lambda x, r: grown(x, r)[0], (0.3, 1.1), order=3)
    check_grads(root, (2.0,), order=3)


def test_hessians_in_every_nesting() -> None:
    def f(p: Any) -> Any:
        def body(state: Any) -> Any:
            h, n = state
            return np.tanh(p[:2] * h) + p[2], n + 1

        h, _ = lax.while_loop(lambda state: state[1] < 4, body, (p[1:], 0))
        return np.sum(h**2)

    def unrolled(p: Any) -> Any:
        h = p[1:]
        for _ in range(4):
            h = np.tanh(p[:2] * h) + p[2]
        return np.sum(h**2)

    p = np.array([0.7, -1.3, 0.4])
    expected = fg.hessian(unrolled)(p)
    for outer in (fg.jacfwd, fg.jacrev):
        for inner in (fg.jacfwd, fg.jacrev):
            np.testing.assert_allclose(outer(inner(f))(p), expected, rtol=1e-9, atol=1e-12)
    third = fg.jacfwd(fg.jacrev(fg.grad(unrolled)))(p)
    np.testing.assert_allclose(fg.jacrev(fg.jacrev(fg.grad(f)))(p), third, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(fg.hvp(f, (p,), (np.ones(3),)), expected @ np.ones(3), rtol=1e-9, atol=1e-12)


def test_no_trips() -> None:
    init = np.array([1.0, 2.0])
    out = lax.while_loop(lambda x: np.sum(x) < 0.0, lambda x: x * 2.0, init)
    np.testing.assert_array_equal(out, init)
    assert out is not init
    grad = fg.grad(lambda x: np.sum(lax.while_loop(lambda x: np.sum(x) < 0.0, lambda x: x * 2.0, x)))
    np.testing.assert_array_equal(grad(init), [1.0, 1.0])


@pytest.mark.parametrize("never", [False, np.False_, np.array(False)])
def test_conditions_that_are_constants(never: Any) -> None:
    def f(x: Any) -> Any:
        return lax.while_loop(lambda c: never, lambda c: c * 2.0, x) * 3.0

    for transformed in (f, fg.jit(f)):
        assert transformed(2.0) == 6.0
        assert fg.grad(transformed)(2.0) == 3.0
        np.testing.assert_array_equal(fg.vmap(transformed)(np.array([1.0, 2.0])), [3.0, 6.0])


def test_the_number_of_trips_may_differ_between_calls_of_one_fingerprint() -> None:
    from funcgrad.api.calling.calls import CACHE

    gradient = fg.grad(lambda x: grown(x, 1.1)[0])
    gradient(0.3)
    before = CACHE.misses
    found = gradient(1e-6)
    assert CACHE.misses == before
    np.testing.assert_allclose(found, fg.grad(lambda x: python_grown(x, 1.1)[0])(1e-6), rtol=1e-10)


def test_many_trips() -> None:
    def f(x: Any) -> Any:
        return lax.while_loop(lambda s: s[0] < 20_000, lambda s: (s[0] + 1, s[1] * x), (0, 1.0))[1]

    np.testing.assert_allclose(fg.grad(f)(1.0001), 20_000 * 1.0001**19_999, rtol=1e-9)


def test_a_carry_of_nothing_but_integers() -> None:
    def collatz(n: int) -> Any:
        def body(state: Any) -> Any:
            n, steps = state
            return np.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

        return lax.while_loop(lambda state: state[0] != 1, body, (n, 0))[1]

    assert collatz(27) == 111
    np.testing.assert_array_equal(fg.vmap(collatz)(np.array([1, 2, 7, 27])), [0, 1, 16, 111])


def test_pytrees() -> None:
    state = lax.while_loop(
        lambda s: s["n"] < 3,
        lambda s: {"n": s["n"] + 1, "x": (s["x"][0] * 2.0, None)},
        {"n": 0, "x": (1.0, None)},
    )
    assert state == {"n": 3, "x": (8.0, None)}


def test_conditions_and_bodies_close_over_traced_values() -> None:
    def f(limit: Any, rate: Any) -> Any:
        table = np.array([1.0, 2.0])
        return np.sum(lax.while_loop(lambda x: x[0] < limit * table[1], lambda x: x * rate + limit, table))

    check_grads(f, (3.0, 1.3), order=2)
    check_vmap(f, (np.array([3.0, 10.0, 0.1]), np.array([1.3, 1.1, 2.0])))


# -- batches -----------------------------------------------------------------------------------------------


def test_vmap_goes_on_while_any_example_does() -> None:
    xs = np.array([0.3, 4.9, 5.0, 1e-6])
    out, trips = fg.vmap(grown, in_axes=(0, None))(xs, 1.1)
    expected = [python_grown(x, 1.1) for x in xs]
    np.testing.assert_allclose(out, [x for x, _ in expected])
    np.testing.assert_array_equal(trips, [n for _, n in expected])


def test_vmap_of_derivatives() -> None:
    xs = np.array([0.3, 4.9, 7.0, 1e-3])
    rates = np.array([1.1, 1.5, 1.2, 1.3])

    def f(x: Any, r: Any) -> Any:
        return grown(x, r)[0]

    def python_f(x: Any, r: Any) -> Any:
        return python_grown(x, r)[0]

    for derived in (
        lambda f: fg.grad(f, (0, 1)),
        lambda f: fg.hessian(f, (0, 1)),
        lambda f: fg.jacfwd(f, (0, 1)),
    ):
        batched = fg.vmap(derived(f))(xs, rates)
        singles = [derived(python_f)(x, r) for x, r in zip(xs, rates, strict=True)]
        for leaf, *rows in zip(
            fg.tree.leaves(batched), *[fg.tree.leaves(one) for one in singles], strict=True
        ):
            np.testing.assert_allclose(leaf, rows, rtol=1e-8)


def test_derivatives_of_vmap() -> None:
    xs = np.array([0.3, 4.9, 7.0, 1e-3])

    def total(xs: Any, rate: Any) -> Any:
        return np.sum(fg.vmap(grown, in_axes=(0, None))(xs, rate)[0] ** 2)

    check_grads(total, (xs, 1.1), order=2)


def test_vmap_over_what_does_not_decide_keeps_one_condition() -> None:
    def f(n: Any, x: Any) -> Any:
        return lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 2.0), (0, x))[1]

    xs = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(fg.vmap(f, in_axes=(None, 0))(3, xs), 8.0 * xs)
    (loop,) = [
        e for e in fg.make_program(fg.vmap(f, in_axes=(None, 0)))(3, xs) if e.primitive.name == "while_loop"
    ]
    assert loop.primitive.cond.out_avals[0].shape == ()
    assert loop.outputs[0].aval.shape == (), "the counter is common to all examples"
    np.testing.assert_array_equal(fg.vmap(f)(np.array([0, 1, 5]), xs), [1.0, 4.0, 96.0])


def test_vmap_of_vmap() -> None:
    xs, rates = np.array([0.3, 4.9]), np.array([1.1, 1.5, 1.3])
    both = fg.vmap(fg.vmap(grown, in_axes=(None, 0)), in_axes=(0, None))(xs, rates)
    for i, x in enumerate(xs):
        for j, r in enumerate(rates):
            value, n = python_grown(x, r)
            np.testing.assert_allclose(both[0][i, j], value)
            assert both[1][i, j] == n


def test_examples_that_have_ended_leak_no_nan() -> None:
    """After its last trip an example stays where it is, even where another trip would divide by zero."""

    def f(x: Any) -> Any:
        return lax.while_loop(lambda x: x > 1.0, lambda x: x - np.sqrt(x - 1.0), x)

    xs = np.array([1.0, 2.0, 3.5])
    grads = fg.vmap(fg.grad(f))(xs)
    assert np.all(np.isfinite(grads))
    np.testing.assert_allclose(grads, [fg.grad(f)(x) for x in xs])
    assert np.all(np.isfinite(fg.jvp(fg.vmap(f), (xs,), (np.ones(3),))[1]))
    assert np.all(np.isfinite(fg.grad(lambda xs: np.sum(fg.vmap(f)(xs)))(xs)))


def test_a_batch_of_no_examples() -> None:
    out, trips = fg.vmap(grown, in_axes=(0, None))(np.zeros(0), 1.1)
    assert out.shape == trips.shape == (0,)


# -- Programs ----------------------------------------------------------------------------------------------


def test_what_the_backward_pass_does_not_need_is_not_computed_again() -> None:
    def f(x: Any) -> Any:
        def body(state: Any) -> Any:
            n, total, y = state
            return n + 1, total + np.exp(y), np.sin(y) * x

        return lax.while_loop(lambda s: s[0] < 5, body, (0, 0.0, x))[2]

    program = fg.make_program(fg.grad(f))(0.5)
    (loop,) = [e for e in program if e.primitive.name.startswith("while")]
    assert "exp" not in [equation.primitive.name for equation in loop.primitive.body]


def test_a_tape_keeps_nothing_for_what_is_not_needed() -> None:
    def f(x: Any) -> Any:
        def body(state: Any) -> Any:
            n, total, y = state
            return n + 1, total + np.exp(np.sum(y)), np.sin(y) * np.sum(x)

        return np.sum(lax.while_loop(lambda s: s[0] < 5, body, (0, 0.0, x))[2])

    program = fg.make_program(fg.grad(f))(np.array([0.5, 0.3]))
    (sweeps,) = [e for e in program if e.primitive.name == "while_sweeps"]
    first = sweeps.primitive.sweeps[0][0]
    assert "exp" not in [equation.primitive.name for equation in first]


def test_programs_print_parse_and_pickle() -> None:
    import pickle

    from funcgrad.ir.text.parsing import parse

    for f in (root, fg.grad(root), fg.grad(fg.grad(root)), fg.vmap(fg.grad(root))):
        program = fg.make_program(f)(np.array([2.0, 3.0]) if f is not root and "vmap" in repr(f) else 2.0)
        assert parse(str(program)) == program
        assert pickle.loads(pickle.dumps(program)) == program


def test_linear_loops_transpose() -> None:
    matrix = np.array([[0.5, 0.2], [-0.3, 0.7]])

    def f(v: Any) -> Any:
        return lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, matrix @ s[1]), (0, v))[1]

    transposed = fg.linear_transpose(f, np.ones(2))
    np.testing.assert_allclose(
        transposed(np.array([1.0, 2.0]))[0], np.linalg.matrix_power(matrix, 3).T @ [1.0, 2.0]
    )


# -- fori_loop with traced bounds --------------------------------------------------------------------------


def power(x: Any, n: Any) -> Any:
    return lax.fori_loop(0, n, lambda i, y: y * x, 1.0)


def test_traced_bounds() -> None:
    program = fg.make_program(power)(2.0, 5)
    assert [e.primitive.name for e in program if e.primitive.multiple] == ["while_loop"]
    assert program(2.0, 5) == (32.0,)
    assert program(2.0, -1) == (1.0,)
    np.testing.assert_array_equal(fg.vmap(power)(np.array([2.0, 3.0]), np.array([3, 2])), [8.0, 9.0])


def test_reverse_mode_with_traced_bounds() -> None:
    def f(x: Any, n: Any) -> Any:
        return fg.grad(lambda x: power(x, n))(x)

    np.testing.assert_allclose(
        fg.vmap(f)(np.array([2.0, 2.0, 3.0]), np.array([3, 0, 2])), [3 * 4.0, 0.0, 2 * 3.0]
    )
    np.testing.assert_allclose(fg.vmap(fg.grad(f), in_axes=(0, None))(np.array([2.0, 3.0]), 3), [12.0, 18.0])


def test_bounds_of_different_dtypes() -> None:
    def f(lower: Any, upper: Any) -> Any:
        return lax.fori_loop(lower, upper, lambda i, n: n + i, 0)

    assert fg.make_program(f)(np.int32(1), np.int64(4))(np.int32(1), np.int64(4)) == (6,)
    assert fg.make_program(lambda n: f(0, n))(np.int16(4))(np.int16(4)) == (6,)
