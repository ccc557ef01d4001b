"""`grad` and `value_and_grad`: arguments, auxiliary results, structure, dtypes, refusals."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import grad, value_and_grad
from funcgrad.errors import ArgnumsError, NonScalarGradError, NotDifferentiableError, TreeError


def product(x: Any, y: Any, z: Any) -> Any:
    return np.sum(x * y**2 * z**3)


ARGS = (2.0, 3.0, 5.0)
EXPECTED = (3.0**2 * 5.0**3, 2 * 2.0 * 3.0 * 5.0**3, 3 * 2.0 * 3.0**2 * 5.0**2)


# -- which argument ----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 2, -1, -2, -3])
def test_argnums_int(n: int) -> None:
    assert grad(product, n)(*ARGS) == EXPECTED[n]


@pytest.mark.parametrize("numbers", [(0,), (0, 1), (2, 0), (-1, 0), (1, -3, 2), [0, 2]])
def test_argnums_sequence_gives_a_tuple_in_its_order(numbers: Any) -> None:
    found = grad(product, argnums=numbers)(*ARGS)
    assert type(found) is tuple
    assert found == tuple(EXPECTED[n] for n in numbers)


@pytest.mark.parametrize("numbers", [3, -4, (0, 3), (0, 0), (0, -3)])
def test_argnums_that_the_call_does_not_have(numbers: Any) -> None:
    with pytest.raises(ArgnumsError, match="argnums"):
        grad(product, numbers)(*ARGS)


def test_argnums_must_be_ints() -> None:
    with pytest.raises((TypeError, ValueError), match="argnums"):
        grad(product, argnums="x")(*ARGS)  # type: ignore[arg-type]


def test_numpy_integer_argnums() -> None:
    assert grad(product, np.int64(1))(*ARGS) == EXPECTED[1]  # type: ignore[arg-type]


def test_keyword_arguments_are_constants() -> None:
    assert grad(product)(2.0, z=5.0, y=3.0) == EXPECTED[0]


def test_keyword_only_and_default_arguments() -> None:
    def f(x: Any, n: int = 3, *, scale: float = 1.0) -> Any:
        return scale * x**n

    assert grad(f)(2.0) == 12.0
    assert grad(f)(2.0, 2) == 4.0
    assert grad(f)(2.0, scale=2.0) == 24.0


def test_other_arguments_may_be_anything() -> None:
    def f(x: Any, kind: str, table: Any, function: Any) -> Any:
        return function(x) * table[kind]

    assert grad(f)(0.0, "a", {"a": 2.0, "b": object()}, np.sin) == 2.0


def test_partial_lambda_method_and_callable_object() -> None:
    class Model:
        def __init__(self, w: float) -> None:
            self.w = w

        def loss(self, x: Any) -> Any:
            return self.w * x**2

        def __call__(self, x: Any) -> Any:
            return self.loss(x)

    model = Model(3.0)
    assert grad(model.loss)(2.0) == 12.0
    assert grad(model)(2.0) == 12.0
    assert grad(functools.partial(product, y=3.0, z=5.0))(2.0) == EXPECTED[0]
    assert grad(np.sin)(0.0) == 1.0
    assert grad(operator.neg)(0.0) == -1.0


def test_names_and_documentation_are_the_functions() -> None:
    def loss(x: Any) -> Any:
        """My loss."""
        return x

    assert grad(loss).__name__ == "loss"
    assert grad(loss).__doc__ == "My loss."
    assert value_and_grad(loss).__name__ == "loss"


def test_grad_is_a_decorator() -> None:
    @grad
    def slope(x: Any) -> Any:
        return x**3

    assert slope(2.0) == 12.0


# -- value and auxiliary results ---------------------------------------------------------------


def test_value_and_grad() -> None:
    value, gradient = value_and_grad(product, (0, 2))(*ARGS)
    assert value == 2.0 * 9.0 * 125.0
    assert gradient == (EXPECTED[0], EXPECTED[2])


def with_aux(x: Any) -> Any:
    y = np.sin(x)
    return np.sum(y), {"y": y, "count": 3, "name": "sine", "nothing": None}


def test_aux_comes_back_as_values() -> None:
    x = np.array([0.0, 1.0])
    gradient, aux = grad(with_aux, has_aux=True)(x)
    np.testing.assert_array_equal(gradient, np.cos(x))
    np.testing.assert_array_equal(aux["y"], np.sin(x))
    assert (aux["count"], aux["name"], aux["nothing"]) == (3, "sine", None)
    assert type(aux["y"]) is np.ndarray


def test_value_and_grad_with_aux() -> None:
    x = np.array([0.0, 1.0])
    (value, aux), gradient = value_and_grad(with_aux, has_aux=True)(x)
    assert value == np.sum(np.sin(x))
    np.testing.assert_array_equal(aux["y"], np.sin(x))
    np.testing.assert_array_equal(gradient, np.cos(x))


def test_aux_through_two_gradients() -> None:
    def inner(x: Any) -> Any:
        return x**3, x**2

    def outer(x: Any) -> Any:
        slope, aux = grad(inner, has_aux=True)(x)
        return slope, (aux, slope)

    second, (square, slope) = grad(outer, has_aux=True)(2.0)
    assert (second, square, slope) == (12.0, 4.0, 12.0)


def test_aux_must_be_a_pair() -> None:
    with pytest.raises(TreeError, match="has_aux"):
        grad(lambda x: x, has_aux=True)(1.0)
    with pytest.raises(TreeError, match="has_aux"):
        grad(lambda x: (x, x, x), has_aux=True)(1.0)


# -- what comes out ----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dtype_of_the_argument_is_kept(dtype: Any) -> None:
    x = np.linspace(0.1, 1.0, 4, dtype=dtype)
    value, gradient = value_and_grad(lambda x: np.sum(np.sin(2.0 * x) / 3.0 + 1))(x)
    assert value.dtype == dtype
    assert gradient.dtype == dtype
    assert gradient.shape == x.shape


def test_mixed_precision_each_gradient_in_its_own_dtype() -> None:
    x, y = np.ones(3, np.float32), np.ones(3, np.float64)
    x_bar, y_bar = grad(lambda x, y: np.sum(x * y), (0, 1))(x, y)
    assert (x_bar.dtype, y_bar.dtype) == (np.float32, np.float64)


def test_results_are_plain_numpy() -> None:
    assert type(grad(lambda x: x**2)(3.0)) is np.float64
    assert type(grad(lambda x: x**2)(np.float32(3.0))) is np.float32
    assert type(grad(lambda x: x**2)(np.array(3.0))) is np.float64
    assert type(grad(np.sum)(np.ones(3))) is np.ndarray
    assert type(grad(lambda x: x[0] * 2)([3.0])) is list


def test_python_scalars_are_weak() -> None:
    x = np.ones(2, np.float32)
    assert grad(lambda a, x: np.sum(a * x))(2.0, x).dtype == np.float64
    assert grad(lambda a, x: np.sum(a * x), 1)(2.0, x).dtype == np.float32


def test_zero_size_arguments() -> None:
    found = grad(lambda x: np.sum(np.exp(x)))(np.zeros((0, 3)))
    assert found.shape == (0, 3)


def test_function_that_ignores_its_argument() -> None:
    assert grad(lambda x: 3.0)(2.0) == 0.0
    np.testing.assert_array_equal(grad(lambda x, y: y * 2.0)(np.ones(3), 1.0), np.zeros(3))
    np.testing.assert_array_equal(grad(lambda x: np.sum(np.ones(3)))(np.ones(2)), np.zeros(2))


def test_identity_and_fan_out() -> None:
    assert grad(lambda x: x)(2.0) == 1.0
    assert grad(lambda x: np.sin(np.sin(x) + np.sin(x)))(0.0) == 2.0

    def reused(x: Any) -> Any:
        y = x * x
        return y * y + y + x

    assert grad(reused)(3.0) == 4 * 27 + 2 * 3 + 1


def test_integer_intermediates_stop_the_gradient() -> None:
    assert grad(lambda x: np.floor(x) * x)(2.5) == 2.0
    assert grad(lambda x: x * (x > 1.0))(2.0) == 1.0


def test_enclosing_scope() -> None:
    y = 2.0

    def f(x: Any) -> Any:
        return x * y

    def outer(y: Any) -> Any:
        return grad(lambda x: x * y)(4.0) * y

    assert grad(f)(1.0) == 2.0
    assert grad(outer)(3.0) == 6.0


def test_minimize_takes_value_and_grad() -> None:
    from scipy.optimize import minimize

    rng = np.random.default_rng(0)
    X, w_true = rng.normal(size=(50, 3)), np.array([1.0, -2.0, 0.5])
    y = X @ w_true

    def loss(w: Any, X: Any, y: Any) -> Any:
        return np.mean((X @ w - y) ** 2)

    fit = minimize(value_and_grad(loss), np.zeros(3), args=(X, y), jac=True, method="L-BFGS-B")
    np.testing.assert_allclose(fit.x, w_true, atol=1e-4)


# -- complex numbers ---------------------------------------------------------------------------


def test_real_loss_of_a_complex_argument_follows_jax() -> None:
    z = np.array([1.0 + 2.0j, -0.5j])
    found = grad(lambda z: np.sum(np.abs(z) ** 2))(z)
    assert found.dtype == np.complex128
    np.testing.assert_allclose(found, 2.0 * np.conj(z))


def test_gradient_by_real_and_imaginary_part() -> None:
    z = 1.0 + 2.0j
    assert grad(np.real)(z) == 1.0
    assert grad(np.imag)(z) == -1.0j


def test_holomorphic() -> None:
    z = np.complex128(0.5 + 0.25j)
    found = grad(lambda z: np.sin(z) * z, holomorphic=True)(z)
    np.testing.assert_allclose(found, np.cos(z) * z + np.sin(z))


def test_complex_result_needs_holomorphic() -> None:
    with pytest.raises(NonScalarGradError, match="holomorphic"):
        grad(lambda z: z * z)(1.0 + 1.0j)
    with pytest.raises(NotDifferentiableError, match="complex"):
        grad(lambda x: x * x, holomorphic=True)(1.0)
    with pytest.raises(NonScalarGradError, match="complex"):
        grad(np.abs, holomorphic=True)(1.0j)


def test_complex64_is_kept() -> None:
    found = grad(lambda z: np.sum(np.abs(z)))(np.ones(2, np.complex64))
    assert found.dtype == np.complex64


# -- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [3, True, np.arange(3), np.array([True]), np.uint8(3)])
def test_integer_and_boolean_arguments_are_refused(value: Any) -> None:
    with pytest.raises(NotDifferentiableError, match=r"integer|boolean"):
        grad(lambda x: np.sum(x * 1.0))(value)


def test_integers_elsewhere_are_welcome() -> None:
    assert grad(lambda x, n, mask: np.sum(x * n * mask))(2.0, 3, np.array([True, False])) == 3.0


def test_allow_int() -> None:
    by_n, by_x = grad(lambda n, x: np.sum(n * x), (0, 1), allow_int=True)(np.arange(3), np.ones(3))
    np.testing.assert_array_equal(by_n, np.zeros(3))
    np.testing.assert_array_equal(by_x, np.arange(3.0))


@pytest.mark.parametrize(
    "result",
    [
        lambda x: x,
        lambda x: (x[0], x[1]),
        lambda x: [x[0]],
        lambda x: {"loss": x[0]},
        lambda x: None,
        lambda x: x[:1],
    ],
)
def test_anything_but_a_scalar_is_refused(result: Any) -> None:
    with pytest.raises(NonScalarGradError):
        grad(result)(np.ones(3))


@pytest.mark.parametrize("result", [lambda x: 3, lambda x: x > 0, lambda x: np.argmax(np.stack([x, x]))])
def test_integer_results_are_refused(result: Any) -> None:
    with pytest.raises(NonScalarGradError, match="floating"):
        grad(result)(1.0)


@pytest.mark.parametrize("value", ["text", object(), np.array(["a"]), np.array([None])])
def test_what_is_no_array_is_refused_by_name(value: Any) -> None:
    with pytest.raises(NotDifferentiableError, match="argument 0"):
        grad(lambda x: 1.0)(value)


def test_path_of_the_wrong_leaf_is_named() -> None:
    with pytest.raises(NotDifferentiableError, match=r"argument 1\['layers'\]\[0\]"):
        grad(lambda x, p: x, argnums=(0, 1))(1.0, {"layers": [3]})


def test_missing_arguments_raise_pythons_own_error() -> None:
    with pytest.raises(TypeError, match="missing"):
        grad(product)(1.0)


def test_stop_gradient() -> None:
    assert grad(lambda x: fg.stop_gradient(x) * x)(3.0) == 3.0
    assert grad(lambda x: fg.stop_gradient({"a": x})["a"] + x)(3.0) == 1.0
    assert fg.stop_gradient(3.0) == 3.0
