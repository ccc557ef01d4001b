"""SciPy's functions that take values: an error that names them, never a gradient of zeros."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.optimize
import scipy.special
import scipy.stats

import funcgrad as fg
from funcgrad.errors import UnsupportedFunctionError

X = np.array([1.5, 2.5])

WITH_COUNTERPART: dict[str, Callable[[Any], Any]] = {
    "special.polygamma": lambda x: scipy.special.polygamma(1, x).sum(),
    "special.logsumexp": lambda x: scipy.special.logsumexp(x + 0.0),
    "special.softmax": lambda x: scipy.special.softmax(x)[0],
    "special.log_softmax": lambda x: scipy.special.log_softmax(x)[0],
    "special.multigammaln": lambda x: scipy.special.multigammaln(x, 2).sum(),
    "special.spherical_jn": lambda x: scipy.special.spherical_jn(1, x).sum(),
    "special.diric": lambda x: scipy.special.diric(x, 3).sum(),
    "special.comb": lambda x: scipy.special.comb(x, 1).sum(),
}
WITHOUT: dict[str, Callable[[Any], Any]] = {
    "scipy.integrate.simpson": lambda x: scipy.integrate.simpson(x + 0.0),
    "scipy.stats.tmean": lambda x: scipy.stats.tmean(x + 0.0),
    "scipy.interpolate": lambda x: scipy.interpolate.CubicSpline(np.arange(4.0), np.ones(4))(x).sum(),
}


@pytest.fixture(autouse=True)
def constructors_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """What holds where NumPy's constructors are not seen: in other packages' code, and without a source."""
    monkeypatch.setenv("FUNCGRAD_CONSTRUCTORS", "0")


@pytest.mark.parametrize("transform", [fg.grad, fg.make_program], ids=["grad", "make_program"])
@pytest.mark.parametrize("name", WITH_COUNTERPART)
def test_it_names_the_function_that_keeps_the_gradient(name: str, transform: Any) -> None:
    with pytest.raises(UnsupportedFunctionError) as caught:
        transform(WITH_COUNTERPART[name])(X)
    assert f"scipy.{name} takes the value of a traced f64[2]" in str(caught.value)
    assert f"Use fg.scipy.{name}." in str(caught.value)
    assert "test_values_asked_for.py" in str(caught.value)


@pytest.mark.parametrize("name", WITHOUT)
def test_it_names_what_has_no_counterpart(name: str) -> None:
    with pytest.raises(UnsupportedFunctionError, match=f"{name}.* takes the value of a traced"):
        fg.grad(WITHOUT[name])(X)


def test_the_fft_of_scipy_takes_traced_arrays() -> None:
    slope = fg.grad(lambda x: np.abs(scipy.fft.fft(x)).sum())(X)
    np.testing.assert_allclose(slope, fg.grad(lambda x: np.abs(np.fft.fft(x)).sum())(X))


def test_through_functions_of_numpy_as_well() -> None:
    """scipy.linalg calls np.asarray_chkfinite, which is Python code of NumPy's."""
    with pytest.raises(UnsupportedFunctionError, match=r"scipy\.linalg\.norm takes the value"):
        fg.grad(lambda x: scipy.linalg.norm(x + 0.0))(X)


def test_values_that_are_meant_are_given() -> None:
    def f(x: Any) -> Any:
        scale = scipy.stats.gmean(np.asarray(fg.stop_gradient(x)))
        return (x * scale).sum()

    np.testing.assert_allclose(fg.grad(f)(X), scipy.stats.gmean(X))


def test_a_solver_of_scipys_with_a_rule() -> None:
    """The root of ``x**3 + x = a``, and the implicit function theorem."""

    @fg.custom_vjp
    def root(a: Any) -> Any:
        a = np.asarray(fg.stop_gradient(a))
        return scipy.optimize.newton(lambda x: x**3 + x - a, np.zeros(2), tol=1e-13)

    def forward(a: Any) -> Any:
        x = root(a)
        return x, x

    root.defvjp(forward, lambda x, x_bar: (x_bar / (3.0 * x**2 + 1.0),))
    x = root(X)
    np.testing.assert_allclose(fg.grad(lambda a: np.sum(root(a) ** 2))(X), 2.0 * x / (3.0 * x**2 + 1.0))
    # The residual is the root again, which has the rule, so there is a second derivative.
    slope = 1.0 / (3.0 * x**2 + 1.0)
    curvature = 2.0 * slope**3 * (1.0 - 3.0 * x**2)
    np.testing.assert_allclose(fg.hessian(lambda a: np.sum(root(a) ** 2))(X), np.diag(curvature))


ARRAY_API = """
import numpy as np, scipy.linalg, scipy.special, funcgrad as fg
x = np.array([1.5, 2.5])
names = "expit gammaln erf ndtr log_ndtr i0 digamma logsumexp softmax entr exprel gamma j0".split()

def call(name):
    function = getattr(scipy.special, name)
    return lambda x: np.sum(function(x) * np.arange(1.0, 3.0))

def mixed(x):
    found = scipy.special.xlogy(x, x).sum() + scipy.special.betainc(2.0, 3.0, x / 5.0).sum()
    return found + scipy.linalg.expm(np.outer(x, x)).sum()

for f in (*map(call, names), mixed):
    steps = 1e-6 * np.eye(2)
    expected = [(f(x + h) - f(x - h)) / 2e-6 for h in steps]
    for slope in (fg.grad(f), fg.jit(fg.grad(f))):
        np.testing.assert_allclose(slope(x), expected, rtol=1e-5, atol=1e-8)
"""


@pytest.mark.parametrize("api", ["0", "1"])
def test_scipys_own_functions_keep_the_gradient(api: str, tmp_path: Path) -> None:
    """In a file, so that the functions have a source; with SCIPY_ARRAY_API=1 as well as without."""
    file = tmp_path / "program.py"
    file.write_text(ARRAY_API)
    environment = {**os.environ, "SCIPY_ARRAY_API": api, "FUNCGRAD_CONSTRUCTORS": "1"}
    subprocess.run([sys.executable, str(file)], check=True, env=environment)


def test_with_scipys_array_api_its_own_functions_keep_the_gradient() -> None:
    code = """
import numpy as np, scipy.special, funcgrad as fg
x = np.array([1.5, 2.5])
np.testing.assert_allclose(fg.grad(scipy.special.logsumexp)(x), scipy.special.softmax(x))
for name in ("softmax", "log_softmax"):
    theirs = fg.jacobian(getattr(scipy.special, name))(x)
    np.testing.assert_allclose(theirs, fg.jacobian(getattr(fg.scipy.special, name))(x))
try:
    fg.grad(lambda x: scipy.special.gammaln(x).sum())(x)
except fg.errors.UnsupportedFunctionError as error:
    assert "Use fg.scipy.special.gammaln." in str(error), error
else:
    raise AssertionError("no error")
"""
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
