"""`cond` and `switch`: values, derivatives by operands and by what is closed over, batches, no stray NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import lax
from funcgrad.testing import check_grads, check_vmap


def kinked(x: Any) -> Any:
    return lax.cond(x > 1.0, lambda x: np.sin(x) * x, lambda x: x**3, x)


@pytest.mark.parametrize("x", [0.5, 2.0])
def test_value_and_derivatives(x: float) -> None:
    np.testing.assert_allclose(kinked(x), np.sin(x) * x if x > 1.0 else x**3)
    check_grads(kinked, (x,), order=3)


def test_the_branch_not_taken_does_not_run() -> None:
    def f(pred: Any, x: Any, k: Any) -> Any:
        return lax.cond(pred, lambda x, k: x[0], fg.numpy.take, x, k)

    x = np.array([1.0, 2.0])
    assert f(True, x, 7) == 1.0
    with pytest.raises(IndexError):
        f(False, x, 7)


def test_both_branches_are_recorded_even_where_the_predicate_is_known() -> None:
    seen: list[str] = []

    def branch(name: str) -> Any:
        def run(x: Any) -> Any:
            seen.append(name)
            return x

        return run

    lax.cond(True, branch("true"), branch("false"), 1.0)
    assert sorted(seen) == ["false", "true"]


@pytest.mark.parametrize("pred", [True, False])
def test_closed_over_values_have_derivatives(pred: bool) -> None:
    constant = np.array([2.0, 3.0])

    def f(x: Any, y: Any) -> Any:
        out = lax.cond(pred, lambda z: np.sum(z * y * constant), lambda z: np.sum(z) * x[0] ** 2, x)
        return out * y[1]

    check_grads(f, (np.array([0.3, -0.7]), np.array([1.2, 0.4])), order=2)


def test_predicates_of_any_kind() -> None:
    def f(pred: Any) -> Any:
        return lax.cond(pred, lambda: 1.0, lambda: 0.0)

    for true in (True, np.True_, 1, 2.5, np.float32(3.0), np.array(True), np.int8(-1)):
        assert f(true) == 1.0
    for false in (False, 0, 0.0, np.array(0), np.False_):
        assert f(false) == 0.0
    assert fg.make_program(f)(1.5)(1.5) == (1.0,)
    assert fg.make_program(f)(3)(0) == (0.0,)


def test_operands_and_results_are_pytrees() -> None:
    def f(p: Any) -> Any:
        def grow(q: Any) -> Any:
            return {"a": (q["a"][0] * 2.0, None), "n": q["n"] + 1}

        def keep(q: Any) -> Any:
            return {"a": (q["a"][0], None), "n": q["n"]}

        return lax.cond(p["n"] > 3, grow, keep, p)

    out = f({"a": [np.ones(2)], "n": 5})
    assert out["n"] == 6
    np.testing.assert_array_equal(out["a"][0], [2.0, 2.0])
    grad = fg.grad(lambda x: np.sum(f({"a": [x], "n": 5})["a"][0]))(np.ones(2))
    np.testing.assert_array_equal(grad, [2.0, 2.0])


def test_operand_may_be_given_by_name() -> None:
    assert lax.cond(True, lambda _: 1.0, lambda _: 2.0, operand=None) == 1.0
    assert lax.switch(1, [lambda x: x, lambda x: x + 1], operand=3) == 4


def test_no_results_at_all() -> None:
    assert lax.cond(True, lambda: (), lambda: ()) == ()
    assert lax.cond(False, lambda x: None, lambda x: None, 1.0) is None


@pytest.mark.parametrize(("index", "expected"), [(-5, 0), (0, 0), (1, 1), (2, 2), (9, 2)])
def test_switch_clamps_its_index(index: int, expected: int) -> None:
    branches = [lambda x: x, lambda x: x * 10.0, lambda x: x * 100.0]
    assert lax.switch(index, branches, 2.0) == 2.0 * 10.0**expected
    assert fg.grad(lambda x: lax.switch(index, branches, x))(2.0) == 10.0**expected
    assert fg.make_program(lambda i, x: lax.switch(i, branches, x))(index, 2.0)(index, 2.0) == (
        2.0 * 10.0**expected,
    )


def test_switch_of_one_branch() -> None:
    assert lax.switch(3, [np.sin], 0.0) == 0.0


@pytest.mark.parametrize("index", [0, 1, 2])
def test_residuals_of_different_branches_share_slots(index: int) -> None:
    """Branches keep different numbers of values, of different shapes, for their backward passes."""
    branches = [
        lambda x: np.sum(np.sin(np.exp(x)) * x),
        np.prod,
        lambda x: np.sum(np.outer(np.cos(x), x) ** 2),
    ]

    def f(x: Any) -> Any:
        return lax.switch(index, branches, np.tanh(x))

    check_grads(f, (np.array([0.3, -0.5, 0.9]),), order=2)


def test_some_results_have_no_tangent_in_some_branches() -> None:
    def f(x: Any) -> Any:
        a, b, n = lax.cond(x > 0.0, lambda: (x, 2.0 * x, 1), lambda: (3.0, x, 2))
        return a * b + n

    for x in (1.5, -1.5):
        check_grads(f, (x,), order=2)
    assert fg.grad(f)(-1.5) == 3.0


# -- batches -----------------------------------------------------------------------------------------------


def test_vmap_with_a_common_predicate_runs_one_branch() -> None:
    def f(pred: Any, x: Any) -> Any:
        return lax.cond(pred, np.sin, lambda x: x, x)

    xs = np.array([0.1, 0.2, 0.3])
    np.testing.assert_allclose(fg.vmap(f, in_axes=(None, 0))(True, xs), np.sin(xs))
    program = fg.make_program(fg.vmap(f, in_axes=(None, 0)))(True, xs)
    assert "cond" in [equation.primitive.name for equation in program]


def test_vmap_with_different_predicates_selects() -> None:
    xs = np.array([0.5, 2.0, 1.0, -3.0])
    np.testing.assert_allclose(fg.vmap(kinked)(xs), [kinked(x) for x in xs])
    np.testing.assert_allclose(fg.vmap(fg.grad(kinked))(xs), [fg.grad(kinked)(x) for x in xs])
    np.testing.assert_allclose(
        fg.vmap(fg.grad(fg.grad(kinked)))(xs), [fg.grad(fg.grad(kinked))(x) for x in xs]
    )
    check_vmap(kinked, (xs,))


def test_vmap_of_switch() -> None:
    branches = [lambda x: x, lambda x: x**2, lambda x: np.zeros(2)]

    def f(i: Any, x: Any) -> Any:
        return lax.switch(i, branches, x)

    indices, xs = np.array([-1, 0, 1, 2, 5]), np.arange(10.0).reshape(5, 2)
    expected = [f(i, x) for i, x in zip(indices, xs, strict=True)]
    np.testing.assert_allclose(fg.vmap(f)(indices, xs), expected)
    np.testing.assert_allclose(fg.vmap(f, in_axes=(0, None))(indices, xs[1]), [f(i, xs[1]) for i in indices])


def test_no_nan_leaks_from_the_branch_not_taken_under_vmap() -> None:
    def f(x: Any) -> Any:
        return lax.cond(x > 0.0, np.sqrt, lambda x: 0.0 * x, x)

    xs = np.array([4.0, 0.0, -1.0])
    np.testing.assert_array_equal(fg.vmap(fg.grad(f))(xs), [0.25, 0.0, 0.0])
    np.testing.assert_array_equal(fg.grad(lambda xs: np.sum(fg.vmap(f)(xs)))(xs), [0.25, 0.0, 0.0])
    dots = fg.jvp(fg.vmap(f), (xs,), (np.ones(3),))[1]
    np.testing.assert_array_equal(dots, [0.25, 0.0, 0.0])


def test_the_zeros_of_a_selection_around_a_cond_stay_zero() -> None:
    """A conditional in the branch of `where` that is not taken contributes nothing, even where it is NaN."""

    def f(x: Any) -> Any:
        root = lax.cond(x > -1.0, np.sqrt, np.negative, x)
        return np.where(x > 0.0, root, 0.0)

    assert fg.grad(f)(0.0) == 0.0
    assert fg.grad(f)(4.0) == 0.25


# -- inside and around other things ------------------------------------------------------------------------


def test_the_fingerprint_does_not_depend_on_the_predicate() -> None:
    from funcgrad.api.calling.calls import CACHE

    gradient = fg.grad(kinked)
    gradient(0.5)
    before = CACHE.misses
    gradient(2.0)
    assert CACHE.misses == before


def test_python_branches_on_values_still_work_around_a_cond() -> None:
    def f(x: Any) -> Any:
        y = lax.cond(x > 1.0, lambda x: x * 2.0, lambda x: x * 3.0, x)
        return y**2 if y > 3.5 else y

    assert fg.grad(f)(2.0) == 16.0
    assert fg.grad(f)(0.5) == 3.0


def test_nested_conditionals() -> None:
    def f(x: Any) -> Any:
        return lax.cond(
            x > 0.0,
            lambda x: lax.cond(x > 1.0, np.sin, np.cos, x) * x,
            lambda x: lax.switch(1, [np.exp, np.tanh], x),
            x,
        )

    for x in (-0.5, 0.5, 1.5):
        check_grads(f, (x,), order=2)
    check_vmap(f, (np.array([-0.5, 0.5, 1.5]),))


def test_complex_operands() -> None:
    def f(z: Any) -> Any:
        return np.abs(lax.cond(True, lambda z: z * z, lambda z: z, z)) ** 2

    check_grads(f, (1.0 + 2.0j,), order=2)


def test_integer_results_beside_real_ones() -> None:
    def f(x: Any) -> Any:
        y, n = lax.cond(x > 0.0, lambda: (x * x, 3), lambda: (x, 4))
        return y * n

    assert fg.grad(f)(2.0) == 12.0
    value, dot = fg.jvp(f, (2.0,), (1.0,))
    assert (value, dot) == (12.0, 12.0)


def test_python_numbers_take_the_dtype_of_the_other_branch() -> None:
    x = np.float32(2.0)
    assert lax.cond(True, lambda: x, lambda: 0.0).dtype == np.float32
    assert lax.cond(False, lambda: x, lambda: 0).dtype == np.float32
    assert lax.cond(False, lambda: 1.5, lambda: 0) == 0.0
