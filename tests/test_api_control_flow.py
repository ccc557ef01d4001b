"""Python's own control flow under the un-jitted transforms, and its refusal where no value exists."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import (
    eval_shape,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    make_program,
    value_and_grad,
    vjp,
    vmap,
)
from funcgrad.errors import ConcretizationError, TracedBranchError

slopes = pytest.mark.parametrize(
    "slope",
    [
        grad,
        lambda f: lambda x: jvp(f, (x,), (1.0,))[1],
        lambda f: lambda x: vjp(f, x)[1](1.0)[0],
        lambda f: lambda x: linearize(f, x)[1](1.0),
        jacfwd,
        jacrev,
    ],
    ids=["grad", "jvp", "vjp", "linearize", "jacfwd", "jacrev"],
)


def leaky(x: Any) -> Any:
    return x if x > 0 else 0.1 * x


@slopes
def test_if(slope: Any) -> None:
    assert slope(leaky)(2.0) == 1.0
    assert slope(leaky)(-2.0) == 0.1
    assert slope(leaky)(2.0) == 1.0


@slopes
def test_if_on_an_intermediate(slope: Any) -> None:
    def f(x: Any) -> Any:
        y = np.sin(x) * 2.0
        if y > 1.0 and x > 0.0:
            return y * x
        return x**2 if y != 0.0 or x == 0.0 else x

    np.testing.assert_allclose(slope(f)(1.0), 2.0 * np.cos(1.0) + 2.0 * np.sin(1.0))
    assert slope(f)(-1.0) == -2.0
    assert slope(f)(0.0) == 0.0


@slopes
def test_while_newton_iteration(slope: Any) -> None:
    def square_root(a: Any) -> Any:
        x = a
        while abs(x * x - a) > 1e-12:
            x = 0.5 * (x + a / x)
        return x

    np.testing.assert_allclose(slope(square_root)(2.0), 0.5 / np.sqrt(2.0), rtol=1e-9)


def test_while_on_an_error_in_norm() -> None:
    A = np.array([[4.0, 1.0], [1.0, 3.0]])

    def solve(b: Any) -> Any:
        x, r = np.zeros(2), b
        while np.sqrt(np.sum(r**2)) > 1e-10:
            x = x + 0.2 * r
            r = b - A @ x
        return np.sum(x)

    np.testing.assert_allclose(grad(solve)(np.array([1.0, 2.0])), np.linalg.solve(A, np.ones(2)), rtol=1e-8)


@slopes
def test_for_over_elements(slope: Any) -> None:
    def f(x: Any) -> Any:
        total = 0.0
        for k, v in enumerate(np.stack([x, 2.0 * x, x**2])):
            total = total + v * k
        return total

    assert slope(f)(3.0) == 2.0 + 2.0 * 6.0


@slopes
def test_number_of_iterations_from_a_value(slope: Any) -> None:
    def f(x: Any) -> Any:
        y = x
        for _ in range(int(x)):
            y = y * x
        return y

    assert slope(f)(3.5) == 4 * 3.5**3


@slopes
def test_recursion(slope: Any) -> None:
    def power(x: Any, n: int) -> Any:
        return x if n == 1 else x * power(x, n - 1)

    assert slope(lambda x: power(x, 5))(2.0) == 80.0


@slopes
def test_builtins(slope: Any) -> None:
    assert slope(lambda x: max(x, 1.0) * min(x, 5.0))(3.0) == 6.0
    assert slope(lambda x: sum([x, x * x, 1.0]))(3.0) == 7.0
    assert slope(lambda x: sorted([x, -x, 2.0])[0])(3.0) == -1.0
    assert slope(lambda x: abs(x) * x)(-3.0) == 6.0
    assert slope(lambda x: pow(x, 3))(2.0) == 12.0
    assert slope(lambda x: divmod(x, 2.0)[1])(3.5) == 1.0


@slopes
def test_exceptions_as_control_flow(slope: Any) -> None:
    def f(x: Any) -> Any:
        try:
            if x > 1.0:
                raise OverflowError
        except OverflowError:
            return 1.0 - x
        return x

    assert slope(f)(2.0) == -1.0
    assert slope(f)(0.5) == 1.0


def test_branch_on_a_nonvalue_dtype() -> None:
    def f(x: Any) -> Any:
        return x.astype(np.float32) if x.dtype == np.float64 and x.shape == () else x

    assert grad(f)(2.0) == 1.0


def test_truth_of_shapes_is_numpys() -> None:
    def f(x: Any) -> Any:
        return np.sum(x) if x else 0.0

    with pytest.raises(ValueError, match="ambiguous"):
        grad(f)(np.ones(2))
    np.testing.assert_array_equal(grad(f)(np.ones(1)), [1.0])


def test_values_read_while_tracing() -> None:
    seen = []

    def f(x: Any) -> Any:
        y = x * 2.0
        seen.append((float(y) > 2, int(y), f"{y:.1f}", f"{float(y):.2f}", repr(y), y.item() != 3.0, bool(y)))
        return y

    grad(f)(1.5)
    assert seen == [(True, 3, "3.0", "3.00", "Tracer(np.float64(3.0))", False, True)]


def test_values_read_are_computed_once_and_reused() -> None:
    """What a branch evaluated is an input of the transformed Program, not computed again."""
    calls = []

    def f(x: Any) -> Any:
        y = np.exp(x)
        if y > 1.0:
            calls.append(1)
            return y * x
        return y

    value, slope = value_and_grad(f)(1.0)
    np.testing.assert_allclose([value, slope], [np.e, 2.0 * np.e])
    assert len(calls) == 1


def test_second_order_through_branches() -> None:
    def f(x: Any) -> Any:
        y = x**3
        return np.sum(y * x) if np.sum(y) > 0.0 else np.sum(x**2)

    np.testing.assert_allclose(hessian(f)(np.array([1.0, 2.0])), np.diag(12.0 * np.array([1.0, 4.0])))
    np.testing.assert_allclose(hessian(f)(np.array([-1.0, -2.0])), 2.0 * np.eye(2))


def test_branch_on_an_outer_value_inside_an_inner_derivative() -> None:
    def f(x: Any) -> Any:
        def g(y: Any) -> Any:
            return y**2 * x if x * y > 1.0 else y

        return grad(g)(x)

    assert grad(f)(2.0) == 8.0
    assert grad(f)(0.5) == 0.0


def test_math_functions_would_take_the_value_where_calls_are_not_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """``math.sin`` can only see a number: its result would be a constant."""
    monkeypatch.setenv("FUNCGRAD_CONSTRUCTORS", "0")
    with pytest.raises(ConcretizationError, match=r"math\.sin\(\) takes the"):
        grad(lambda x: x * math.sin(x))(1.0)


@pytest.mark.parametrize("number", [np.float64, np.complex128, np.float32, fg.numpy.float64])
def test_numbers_of_numpy_would_take_the_value(number: Any) -> None:
    with pytest.raises(ConcretizationError, match="which would drop its gradient"):
        grad(lambda x: np.real(x * number(x)))(1.0)


# -- where no value exists ---------------------------------------------------------------------


def abstract(f: Any) -> list[Any]:
    """Ways to trace `f` without values, and without its control flow."""
    return [
        lambda: fg.jit(vmap(f), control_flow=False)(np.ones(2)),
        lambda: make_program(f)(1.0),
        lambda: eval_shape(f, 1.0),
        lambda: make_program(grad(f))(1.0),
        lambda: fg.jit(vmap(grad(f)), control_flow=False)(np.ones(2)),
        lambda: fg.jit(grad(lambda x: np.sum(vmap(f)(x))), control_flow=False)(np.ones(2)),
    ]


@pytest.mark.parametrize("way", range(6))
@pytest.mark.parametrize(
    "f",
    [
        leaky,
        lambda x: x if x else 0.0,
        lambda x: x and 1.0,
        lambda x: max(x, 1.0),
        lambda x: 1.0 if not x > 0 else x,
    ],
)
def test_branch_is_refused(f: Any, way: int) -> None:
    with pytest.raises(TracedBranchError, match="branch"):
        abstract(f)[way]()


@pytest.mark.parametrize("way", range(6))
@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * float(x),
        lambda x: x * int(x),
        lambda x: x * np.float64(x),
        lambda x: x * x.item(),
        lambda x: x * len(range(int(x))),
        lambda x: x * x.tolist(),
    ],
)
def test_value_is_refused(f: Any, way: int) -> None:
    with pytest.raises(ConcretizationError):
        abstract(f)[way]()


def test_printing_works_without_a_value() -> None:
    seen = []
    make_program(lambda x: seen.append(f"{x} {x!r}") or x)(1.0)
    assert "f64" in seen[0]
