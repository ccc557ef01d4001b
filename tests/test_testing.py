"""`funcgrad.testing`: passes what is right, and names the element, argument and mode of what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.testing import check_grads, check_jvp, check_vjp, check_vmap

X = np.array([0.5, -1.0, 2.0])


def scaled_sine(wrong: Any) -> Callable[[Any], Any]:
    """Sine with a derivative that is multiplied by `wrong`."""

    @fg.custom_jvp
    def sine(x: Any) -> Any:
        return np.sin(x)

    @sine.defjvp
    def sine_jvp(primals: Any, tangents: Any) -> Any:
        (x,), (x_dot,) = primals, tangents
        return np.sin(x), np.cos(x) * x_dot * wrong

    return sine


def text_of(check: Callable[[], None]) -> str:
    with pytest.raises(AssertionError) as caught:
        check()
    return str(caught.value)


# -- what is right -----------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("modes", ["fwd", "rev", ("fwd",), ["fwd", "rev"]])
def test_right_derivatives_pass(order: int, modes: Any) -> None:
    check_grads(lambda x: np.sum(np.tanh(x) * x**2), (X,), order, modes)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.complex64])
def test_every_precision(dtype: Any) -> None:
    check_grads(lambda x, y: np.exp(0.3 * x) * y / (3.0 + x), (X.astype(dtype), dtype(1.5)))


def test_functions_that_are_not_holomorphic() -> None:
    check_grads(lambda z: np.abs(z) ** 2 * np.conj(z) + np.real(z), (X * (1.0 - 0.5j),))


def test_structures_integers_and_python_numbers() -> None:
    def f(p: Any, n: Any, x: Any) -> Any:
        return {"y": p["w"][0] * x * n, "n": n, "z": (p["b"] ** n, None)}

    check_grads(f, ({"w": [X], "b": 2.0}, 3, np.float64(0.5)))
    check_grads(f, [{"w": [X], "b": 2.0}, np.array(3), 0.5])


def test_scalars_and_several_results() -> None:
    check_grads(lambda x: (np.sin(x), x**2, x > 0.0), (0.3,))


def test_points_near_the_edge_of_the_domain() -> None:
    check_grads(np.sqrt, (2e-3,), order=1)
    check_grads(np.log, (np.array([1e-2, 1.0]),))


def test_functions_of_constant_result() -> None:
    check_grads(lambda x: 3.0, (X,))
    check_grads(lambda x: np.zeros((0, 2)) * np.sum(x), (X,))


# -- what is wrong -----------------------------------------------------------------------------


def test_report_names_argument_and_element() -> None:
    sine = scaled_sine(np.array([1.0, 1.0, 2.0]))
    report = text_of(lambda: check_grads(lambda p: np.sum(sine(p["x"])) + p["b"], ({"x": X, "b": 1.0},), 1))
    assert report == (
        "forward mode of <lambda> is wrong\n"
        "  argument 0['x'], element [2]: expected -0.416147, got -0.832294\n"
        "  (1 of 4 elements differ; allowed 1e-05)"
    )


def test_report_names_the_output() -> None:
    sine = scaled_sine(2.0)
    report = text_of(lambda: check_grads(lambda x: (x, sine(x)), (0.0,), 1, "fwd"))
    assert "  argument 0, output 1: expected 1, got 2" in report


def test_report_names_the_output_element() -> None:
    sine = scaled_sine(np.array([1.0, 3.0, 1.0]))
    report = text_of(lambda: check_grads(sine, (X,), 1, "fwd"))
    assert "  argument 0, element [1], output element [1]: expected 0.540302, got 1.62091" in report


def test_reverse_mode_alone() -> None:
    @fg.custom_vjp
    def square(x: Any) -> Any:
        return x**2

    square.defvjp(lambda x: (x**2, x), lambda x, bar: (3.0 * x * bar,))
    report = text_of(lambda: check_grads(square, (2.0,), modes="rev"))
    assert report.startswith("reverse mode of square is wrong\n  argument 0: expected ")


def test_second_order_is_named() -> None:
    """The first derivative is right at this point and its own derivative is not."""

    @fg.custom_jvp
    def square(x: Any) -> Any:
        return x**2

    @square.defjvp
    def square_jvp(primals: Any, tangents: Any) -> Any:
        return primals[0] ** 2, 2.0 * fg.stop_gradient(primals[0]) * tangents[0]

    check_grads(square, (3.0,), order=1)
    report = text_of(lambda: check_grads(square, (3.0,), order=2))
    assert report.startswith("forward mode of forward mode of square is wrong")


def test_wrong_value_is_named() -> None:
    @fg.custom_jvp
    def double(x: Any) -> Any:
        return 2.0 * x

    double.defjvp(lambda primals, tangents: (2.5 * primals[0], 2.0 * tangents[0]))
    report = text_of(lambda: check_grads(double, (2.0,), order=1))
    assert (
        report
        == "forward mode of double returns another value than the function\n  output 0: expected 4, got 5"
    )


def test_values_that_are_not_finite() -> None:
    assert "not finite" in text_of(lambda: check_grads(np.log, (0.0,)))


def test_derivatives_that_are_nan() -> None:
    assert "got nan" in text_of(lambda: check_grads(scaled_sine(np.nan), (0.5,), 1))


def test_a_slight_error_is_found() -> None:
    assert "expected" in text_of(lambda: check_grads(scaled_sine(1.0001), (0.5,)))
    check_grads(scaled_sine(1.0001), (0.5,), atol=1e-3, rtol=1e-3)
    check_grads(scaled_sine(1.001), (np.float32(0.5),), order=1)


def test_step_size_is_the_callers() -> None:
    with pytest.raises(AssertionError):
        check_grads(np.exp, (1.0,), 1, eps=1.0)
    check_grads(np.exp, (1.0,), 1, eps=1e-3)


@pytest.mark.parametrize("modes", ["forward", (), ("fwd", "reverse")])
def test_unknown_modes_are_refused(modes: Any) -> None:
    with pytest.raises(ValueError, match="modes"):
        check_grads(np.sin, (1.0,), modes=modes)


def test_arguments_without_floating_point_are_refused() -> None:
    with pytest.raises(ValueError, match="floating-point"):
        check_grads(np.sin, (1,))
    with pytest.raises(ValueError, match="order"):
        check_grads(np.sin, (1.0,), order=0)


# -- rules of the user's own -------------------------------------------------------------------


def test_check_jvp() -> None:
    def jvp_of(factor: float) -> Callable[[Any, Any], Any]:
        return lambda primals, tangents: (np.sin(primals[0]), factor * np.cos(primals[0]) * tangents[0])

    check_jvp(np.sin, jvp_of(1.0), (X,))
    assert text_of(lambda: check_jvp(np.sin, jvp_of(2.0), (X,))).startswith("the jvp of sin is wrong")
    assert text_of(lambda: check_jvp(np.sin, jvp_of(2.0), (X,), err_msg="mine")).startswith("mine is wrong")


def test_check_vjp() -> None:
    def vjp_of(factor: float) -> Callable[[Any], Any]:
        return lambda x: (np.sin(x), lambda bar: (factor * np.cos(x) * bar,))

    check_vjp(np.sin, vjp_of(1.0), (X,))
    assert text_of(lambda: check_vjp(np.sin, vjp_of(2.0), (X,))).startswith("the vjp of sin is wrong")


def test_check_vjp_of_integers_and_structures() -> None:
    def f(p: Any, n: int) -> Any:
        return p["a"] * n, n

    def f_vjp(p: Any, n: int) -> Any:
        return f(p, n), lambda bar: ({"a": bar[0] * n}, 0)

    check_vjp(f, f_vjp, ({"a": 2.0}, 3))


def test_cotangent_of_another_type_is_named() -> None:
    def f_vjp(x: Any) -> Any:
        return 2.0 * x, lambda bar: (2.0 * np.sum(bar),)

    assert "argument 0 is f64[3] and its cotangent is f64[]" in text_of(
        lambda: check_vjp(lambda x: 2.0 * x, f_vjp, (X,))
    )


def test_check_vmap() -> None:
    check_vmap(np.outer, (np.eye(3), np.ones((3, 2))))
    check_vmap(lambda x, p: x * p["a"], (X, {"a": 2.0}), in_axes=(0, None))
    check_vmap(lambda x: (x, x), (np.eye(2),), in_axes=1, out_axes=(0, 1))
    check_vmap(np.sin, (np.zeros((0, 2)),))
    with pytest.raises(ValueError, match="size"):
        check_vmap(np.add, (np.ones(2), np.ones(3)))


def test_check_vmap_names_what_differs() -> None:
    calls = iter([1.0, 1.0, 2.0, 1.0])
    report = text_of(lambda: check_vmap(lambda x: x * next(calls), (np.array([1.0, 2.0, 3.0]),)))
    assert (
        report
        == "vmap of <lambda> is not a loop over the examples\n  output 0, element [2]: expected 6, got 3"
    )


def test_the_librarys_own_transforms_are_checked_as_jaxs_are() -> None:
    def f(p: Any, n: int) -> Any:
        return {"y": np.sin(p["x"]) * n, "n": n}

    args = ({"x": X}, 3)
    check_jvp(f, partial(fg.jvp, f), args)
    check_vjp(f, partial(fg.vjp, f), args)
