"""Special functions: SciPy's values, and derivatives against closed forms and differences."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import funcgrad as fg
from funcgrad.scipy import special

LINE = np.array([-30.0, -2.0, -0.5, 0.0, 0.25, 1.0, 3.0, 40.0])
UNIT = np.array([0.01, 0.3, 0.5, 0.9])
POSITIVE = np.array([0.0, 0.1, 0.5, 1.0, 2.5])

UNARY = {
    "expit": LINE,
    "log_expit": LINE,
    "logit": UNIT,
    "erf": LINE,
    "erfc": LINE,
    "erfinv": UNIT,
    "ndtr": LINE,
    "entr": POSITIVE,
    "gammaln": POSITIVE[1:],
    "digamma": POSITIVE[1:],
    "psi": POSITIVE[1:],
}
SMOOTH = {name: (x[1:-1] if name != "entr" else x[1:]) for name, x in UNARY.items()}

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def difference(f: Callable[[Any], Any], x: Any) -> Any:
    step = 1e-6
    return (f(x + step) - f(x - step)) / (2 * step)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64])
@pytest.mark.parametrize("name", UNARY)
def test_values(name: str, dtype: Any) -> None:
    ours, theirs = getattr(special, name), getattr(scipy.special, name)
    x = UNARY[name].astype(dtype)
    wanted = theirs(x)
    tolerance = 1e-13 if wanted.dtype == np.float64 else 1e-5
    for f in (ours, theirs):
        (got,) = fg.make_program(f)(x)(x)
        np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=1e-30)
        assert got.dtype == wanted.dtype
    np.testing.assert_allclose(ours(x), wanted, rtol=tolerance, atol=1e-30)
    assert ours(x).dtype == wanted.dtype


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients(name: str) -> None:
    """SciPy's own function is differentiated as it stands."""
    f, x = getattr(scipy.special, name), SMOOTH[name]
    np.testing.assert_allclose(fg.grad(lambda t: f(t).sum())(x), difference(f, x), rtol=1e-6, atol=1e-8)
    slope = fg.grad(lambda t: f(t).sum())
    np.testing.assert_allclose(
        fg.grad(lambda t: slope(t).sum())(x), difference(slope, x), rtol=1e-6, atol=1e-8
    )


@pytest.mark.parametrize("name", ["xlogy", "xlog1py"])
def test_products_with_logarithms(name: str) -> None:
    ours, theirs = getattr(special, name), getattr(scipy.special, name)
    x, y = np.array([0.0, 0.0, 0.0, 2.0, 0.5]), np.array([0.0, -1.0, np.nan, 0.5, 3.0])
    for f in (ours, theirs):
        (got,) = fg.make_program(f)(x, y)(x, y)
        np.testing.assert_allclose(got, theirs(x, y))
    by_x, by_y = fg.grad(lambda x, y: theirs(x, y).sum(), (0, 1))(x[3:], y[3:])
    np.testing.assert_allclose(by_x, difference(lambda t: theirs(t, y[3:]), x[3:]), rtol=1e-6)
    np.testing.assert_allclose(by_y, difference(lambda t: theirs(x[3:], t), y[3:]), rtol=1e-6)
    assert fg.grad(theirs, 1)(0.0, 0.0) == 0.0
    assert fg.grad(theirs, 1)(0.0, -1.0) == 0.0


def test_entropy_at_the_edge() -> None:
    assert fg.grad(special.entr)(0.0) == np.inf
    value, slope = fg.value_and_grad(special.entr)(-1.0)
    assert (value, slope) == (-np.inf, 0.0)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_polygamma(n: int) -> None:
    x = POSITIVE[1:]
    np.testing.assert_allclose(special.polygamma(n, x), scipy.special.polygamma(n, x))
    slope = fg.grad(lambda t: special.polygamma(n, t).sum())(x)
    np.testing.assert_allclose(slope, scipy.special.polygamma(n + 1, x))
    assert special.polygamma(n, x.astype(np.float32)).dtype == np.float32


def test_logistic_regression_in_tails() -> None:
    """The derivatives of log-likelihoods stay finite where the likelihood itself underflows."""
    for x in (-800.0, 800.0):
        assert fg.grad(scipy.special.log_expit)(x) == pytest.approx(float(x < 0))
        assert np.isfinite(fg.grad(fg.grad(scipy.special.log_expit))(x))


def test_options() -> None:
    out = np.zeros(4)
    assert special.erf(UNIT, out) is out
    np.testing.assert_array_equal(out, scipy.special.erf(UNIT))
    slope = fg.grad(lambda x: scipy.special.erf(x, out=np.zeros(4)).sum())(UNIT)
    np.testing.assert_allclose(slope, fg.grad(lambda x: scipy.special.erf(x).sum())(UNIT))
    with pytest.raises(TypeError, match="would store a traced value"):
        fg.grad(lambda x: scipy.special.erf(x, out=out).sum())(UNIT)


def test_unknown_special_functions_are_named() -> None:
    with pytest.raises(NotImplementedError, match="struve"):
        fg.grad(lambda x: scipy.special.struve(0, x))(1.0)


def test_importing_imports_no_scipy() -> None:
    code = (
        "import sys, funcgrad as fg, numpy as np, funcgrad.torch as torch\n"
        "assert fg.grad(lambda x: np.logaddexp(0.0, x))(0.0) == 0.5\n"
        "assert torch.eye(2).sum() == 2\n"
        "assert 'scipy' not in sys.modules, 'SciPy was imported'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
