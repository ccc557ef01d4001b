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


WITHOUT_A_SOURCE = """
import numpy as np, scipy.signal, scipy.special, scipy.stats, funcgrad as fg
x = np.array([0.3, 0.6])
functions = {
    **{name: getattr(scipy.special, name) for name in ARRAYS.split()},
    **{name: lambda x, f=getattr(scipy.special, name): f(2.5, x) for name in PAIRS.split()},
    **{f"{name} 2": lambda x, f=getattr(scipy.special, name): f(x, np.ones(2)) for name in SMOOTH.split()},
    "betainc": lambda x: scipy.special.betainc(2.0, x, np.array([0.3, 0.4])),
    "of a number": lambda x: scipy.special.expit(x[0]) * x,
}
for name, f in functions.items():
    total = lambda x: np.sum(f(x) * np.arange(1.0, 3.0))
    steps = 1e-6 * np.eye(2)
    expected = [(total(x + h) - total(x - h)) / 2e-6 for h in steps]
    for slope in (fg.grad(total), fg.jit(fg.grad(total))):
        np.testing.assert_allclose(slope(x), expected, rtol=1e-5, atol=1e-8, err_msg=name)
    np.testing.assert_allclose(fg.vmap(f)(np.stack([x, x])), [f(x), f(x)], rtol=1e-12, err_msg=name)
refused = {
    "scipy.stats.pearsonr": lambda x: scipy.stats.pearsonr(x, np.array([1.0, 3.0])).statistic,
    "scipy.signal.lfilter": lambda x: scipy.signal.lfilter([1.0], [1.0, 0.5], x).sum(),
    "scipy.signal.convolve": lambda x: scipy.signal.convolve(x, np.ones(2)).sum(),
}
for name, f in refused.items():
    try:
        fg.grad(f)(x)
    except fg.errors.UnsupportedFunctionError as error:
        assert str(error).startswith(name) and f"Use fg.{name}." in str(error), error
    else:
        raise AssertionError(name)
"""
ARRAYS = "expit gammaln erf ndtr log_ndtr i0 digamma entr exprel gamma j0 logit log1p ellipk zetac"
SMOOTH = "xlogy betaln rel_entr kl_div owens_t beta"
PAIRS = "xlogy betaln rel_entr kl_div binom chdtr gammainc jv hyp0f1 owens_t"


@pytest.mark.parametrize("api", ["0", "1"])
def test_scipys_own_functions_keep_the_gradient_without_a_source(api: str) -> None:
    """What SCIPY_ARRAY_API=1 puts before SciPy's ufuncs changes nothing, beside plain arrays as well."""
    words = f"ARRAYS, SMOOTH, PAIRS = {ARRAYS!r}, {SMOOTH!r}, {PAIRS!r}\n"
    environment = {**os.environ, "SCIPY_ARRAY_API": api}
    subprocess.run([sys.executable, "-c", words + WITHOUT_A_SOURCE], check=True, env=environment)


def test_with_scipys_array_api_functions_of_whole_arrays_keep_the_gradient_without_a_source() -> None:
    code = """
import numpy as np, scipy.special, funcgrad as fg
x = np.array([1.5, 2.5])
np.testing.assert_allclose(fg.grad(scipy.special.logsumexp)(x), scipy.special.softmax(x))
for name in ("softmax", "log_softmax"):
    theirs = fg.jacobian(getattr(scipy.special, name))(x)
    np.testing.assert_allclose(theirs, fg.jacobian(getattr(fg.scipy.special, name))(x))
"""
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
