"""SciPy's optimisers and solvers, given derivatives by funcgrad, plain and compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize as optimize

import funcgrad as fg


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def residuals(x: Any) -> Any:
    return np.append(10.0 * (x[1:] - x[:-1] ** 2), 1.0 - x[:-1])


def equations(x: Any) -> Any:
    return np.stack([x[0] + 0.5 * (x[0] - x[1]) ** 3 - 1.0, 0.5 * (x[1] - x[0]) ** 3 + x[1]])


COMPILERS = {"plain": lambda f: f, "compiled": fg.jit}


@pytest.fixture(params=COMPILERS)
def made(request: Any) -> Any:
    return COMPILERS[request.param]


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "CG", "SLSQP"])
def test_minimize_takes_value_and_gradient_at_once(made: Any, method: str) -> None:
    both = made(fg.value_and_grad(rosenbrock))
    found = optimize.minimize(both, np.zeros(4), jac=True, method=method, options={"maxiter": 2000})
    assert found.success
    np.testing.assert_allclose(found.x, 1.0, atol=2e-2)


@pytest.mark.parametrize("method", ["Newton-CG", "trust-ncg", "trust-krylov", "trust-exact"])
def test_minimize_takes_hessians(made: Any, method: str) -> None:
    found = optimize.minimize(
        rosenbrock,
        np.full(4, 0.9),
        jac=made(fg.grad(rosenbrock)),
        hess=made(fg.hessian(rosenbrock)),
        method=method,
    )
    np.testing.assert_allclose(found.x, 1.0, atol=1e-3)


def test_minimize_takes_products_with_the_hessian(made: Any) -> None:
    product = made(lambda x, v: fg.hvp(rosenbrock, (x,), (v,)))
    found = optimize.minimize(
        rosenbrock, np.zeros(6), jac=made(fg.grad(rosenbrock)), hessp=product, method="trust-krylov"
    )
    np.testing.assert_allclose(found.x, 1.0, atol=1e-4)


def test_minimize_with_a_constraint(made: Any) -> None:
    def radius(x: Any) -> Any:
        return x[0] ** 2 + x[1] ** 2

    inside = optimize.NonlinearConstraint(radius, -np.inf, 1.0, jac=made(fg.grad(radius)))
    found = optimize.minimize(
        rosenbrock, np.full(2, 0.1), jac=fg.grad(rosenbrock), constraints=[inside], method="trust-constr"
    )
    np.testing.assert_allclose(found.x, [0.7864, 0.6177], atol=1e-3)


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_least_squares_takes_jacobians(made: Any, method: str) -> None:
    found = optimize.least_squares(residuals, np.zeros(4), jac=made(fg.jacobian(residuals)), method=method)
    np.testing.assert_allclose(found.x, 1.0, atol=1e-8)


@pytest.mark.parametrize("method", ["hybr", "lm"])
def test_root_takes_jacobians(made: Any, method: str) -> None:
    found = optimize.root(equations, [0.0, 0.0], jac=made(fg.jacobian(equations)), method=method)
    np.testing.assert_allclose(found.x, [0.8411639, 0.1588361], atol=1e-6)


def test_root_of_a_function_that_returns_a_list() -> None:
    def listed(x: Any) -> Any:
        return [x[0] + 0.5 * (x[0] - x[1]) ** 3 - 1.0, 0.5 * (x[1] - x[0]) ** 3 + x[1]]

    found = optimize.root(listed, [0.0, 0.0], jac=fg.jacobian(listed))
    np.testing.assert_allclose(found.x, [0.8411639, 0.1588361], atol=1e-6)


def test_root_scalar_takes_two_derivatives(made: Any) -> None:
    def cubic(x: Any) -> Any:
        return x**3 - 2.0

    slope = fg.grad(cubic)
    found = optimize.root_scalar(
        cubic, x0=1.0, fprime=made(slope), fprime2=made(fg.grad(slope)), method="halley"
    )
    assert np.isclose(found.root, 2.0 ** (1 / 3))


def test_curve_fit_takes_jacobians(made: Any) -> None:
    def decay(x: Any, a: Any, b: Any) -> Any:
        return a * np.exp(-b * x)

    @made
    def jacobian(x: Any, a: Any, b: Any) -> Any:
        return np.stack(fg.jacobian(decay, argnums=(1, 2))(x, a, b), axis=1)

    x = np.linspace(0.0, 1.0, 20)
    found, _ = optimize.curve_fit(decay, x, decay(x, 2.0, 1.5), jac=jacobian, p0=[1.0, 1.0])
    np.testing.assert_allclose(found, [2.0, 1.5], rtol=1e-6)


def test_stiff_equations_take_jacobians(made: Any) -> None:
    def van_der_pol(t: Any, y: Any) -> Any:
        return np.stack([y[1], 30.0 * (1.0 - y[0] ** 2) * y[1] - y[0]])

    jacobian = made(fg.jacobian(van_der_pol, argnums=1))
    given = scipy.integrate.solve_ivp(van_der_pol, (0.0, 5.0), [2.0, 0.0], jac=jacobian, method="Radau")
    guessed = scipy.integrate.solve_ivp(van_der_pol, (0.0, 5.0), [2.0, 0.0], method="Radau")
    np.testing.assert_allclose(given.y[:, -1], guessed.y[:, -1], atol=1e-3)
