"""What refusals of SciPy's functions name: the nearest function that keeps the gradient, which exists."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.fftpack
import scipy.linalg
import scipy.optimize
import scipy.signal
import scipy.sparse
import scipy.spatial
import scipy.special
import scipy.stats
from scipy.cluster.vq import kmeans

import funcgrad as fg
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.scipy.nearest import NEAREST, PAGE, remedy_for

INTERNAL = {"nonlin_solve", "Model", "Output", "polynomial", "exponential", "multilinear"}
"""Names under which SciPy's own code runs, or that only some of its releases offer."""


@pytest.mark.filterwarnings("ignore:`scipy.odr` is deprecated:DeprecationWarning")
def test_rows_are_names_of_scipys_and_none_has_a_counterpart() -> None:
    for package, rows in NEAREST.items():
        theirs = import_module(f"scipy.{package}")
        names = [name for row, _ in rows for name in row.split()]
        assert len(names) == len(set(names)), package
        try:
            ours = import_module(f"funcgrad.scipy.{package}")
        except ModuleNotFoundError:
            ours = None
        for name in names:
            assert name in INTERNAL or name in dir(theirs) or hasattr(theirs, name), (package, name)
            assert ours is None or name not in dir(ours), (package, name)


def test_what_is_named_is_there() -> None:
    words = " ".join(words for rows in NEAREST.values() for _, words in rows)
    for dotted in set(re.findall(r"\b(?:fg|np)(?:\.[A-Za-z_]\w*)+", words)):
        place, _, name = dotted.replace("fg", "funcgrad").replace("np.", "numpy.").rpartition(".")
        found: Any = import_module(place.split(".")[0])
        for part in place.split(".")[1:]:
            found = getattr(found, part)
        assert hasattr(found, name), dotted
    assert (Path(__file__).parents[2] / PAGE).exists()


CORNERS = np.array([[0.0, 0.0], [1.0, 0.1], [0.3, 1.2], [1.4, 1.1]])

CALLS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "optimize.fmin_bfgs": (
        lambda t: scipy.optimize.fmin_bfgs(lambda x: np.sum((x - t) ** 2), np.zeros(1), disp=False)[0],
        "method='BFGS'",
    ),
    "fftpack.fft": (lambda t: np.abs(scipy.fftpack.fft(t * np.ones(4)))[0], "that name in fg.scipy.fft"),
    "fftpack.dct": (lambda t: scipy.fftpack.dct(t * np.ones(4))[0], "which gives the same"),
    "fftpack.rfft": (lambda t: scipy.fftpack.rfft(t * np.ones(4))[0], "complex numbers"),
    "fftpack.hilbert": (lambda t: scipy.fftpack.hilbert(t * np.ones(4))[0], "fg.scipy.fft.ifft"),
    "optimize.golden": (lambda t: scipy.optimize.golden(lambda x: (x - t) ** 2), "minimize_scalar"),
    "optimize.brent": (lambda t: scipy.optimize.brent(lambda x: (x - t) ** 2), "minimize_scalar"),
    "optimize.fminbound": (lambda t: scipy.optimize.fminbound(lambda x: (x - t) ** 2, 0, 3), "bounded"),
    "optimize.differential_evolution": (
        lambda t: scipy.optimize.differential_evolution(lambda x: (x[0] - t) ** 2, [(0.0, 3.0)]).x[0],
        PAGE,
    ),
    "linalg.funm": (lambda t: scipy.linalg.funm(np.eye(2) * t, np.exp).sum(), "fg.scipy.linalg"),
    "stats.spearmanr": (
        lambda t: scipy.stats.spearmanr(np.arange(4.0) * t, np.arange(4.0) ** 2)[0],
        "ranks",
    ),
    "cluster.vq.kmeans": (lambda t: kmeans(np.arange(8.0).reshape(4, 2) * t, 2)[1], "labels"),
    "special.struve": (lambda t: scipy.special.struve(0, t), PAGE),
    "spatial.ConvexHull": (lambda t: scipy.spatial.ConvexHull(CORNERS * t).volume, "indices"),
    "spatial.Delaunay": (lambda t: scipy.spatial.Delaunay(CORNERS * t).points.sum(), "indices"),
    "spatial.cKDTree": (lambda t: scipy.spatial.cKDTree(CORNERS * t).query([0.1, 0.2])[0], "indices"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_plain_call_names_what_keeps_the_gradient(name: str) -> None:
    call, words = CALLS[name]
    with pytest.raises(UnsupportedFunctionError) as caught:
        fg.grad(call)(0.7)
    assert f"scipy.{name} takes" in str(caught.value)
    remedy = remedy_for(*f"scipy.{name}".rsplit(".", 1))
    assert remedy in str(caught.value)
    assert words in remedy  # the error itself shows the line above, with the words


@pytest.mark.parametrize("name", ["golden", "brent", "bracket"])
def test_searches_that_compare_values_are_refused_without_a_source(name: str) -> None:
    """They would end at a number that is none of the trace: a gradient of zero."""
    space: dict[str, Any] = {}
    exec(f"import scipy.optimize\ndef f(t): return scipy.optimize.{name}(lambda x: (x - t) ** 2)", space)
    with pytest.raises(UnsupportedFunctionError, match=r"minimize_scalar"):
        fg.grad(space["f"])(0.7)
    exec(f"def g(t, s): return t * scipy.optimize.{name}(lambda x: (x - s(t)) ** 2 + 1.0)[0]", space)
    if name == "bracket":  # what has no derivative is compared as it is
        assert fg.grad(lambda t: space["g"](t, fg.stop_gradient))(0.7) == space["g"](1.0, lambda t: 0.7)


def test_names_that_are_missing_say_the_same() -> None:
    with pytest.raises(AttributeError, match=r"Use fg\.scipy\.sparse\.linalg\.lsqr\."):
        _ = fg.scipy.sparse.linalg.lsmr


def test_sparse_arrays_in_coordinates_have_their_dot() -> None:
    a = scipy.sparse.coo_array(np.array([[1.0, 2.0], [0.0, 3.0]]))
    np.testing.assert_allclose(fg.jacobian(lambda x: a.dot(x))(np.ones(2)), a.toarray())  # noqa: PLW0108
    np.testing.assert_allclose(fg.grad(lambda t: a.dot(t * np.ones((2, 2))).sum())(1.0), 12.0)


def test_ufuncs_of_scipys_take_lists_of_traced_numbers() -> None:
    def f(t: Any) -> Any:
        return np.sum(scipy.special.erf([t, 2.0 * t]) * scipy.special.xlogy([1.0, t], 3.0))

    np.testing.assert_allclose(fg.grad(f)(0.3), (f(0.3 + 1e-6) - f(0.3 - 1e-6)) / 2e-6, rtol=1e-6)


def test_even_windows_of_savgol_filter() -> None:
    x = np.arange(9.0) ** 2
    values = fg.value_and_grad(lambda t: np.sum(scipy.signal.savgol_filter(x * t, 4, 1) * x))(1.0)
    expected = np.sum(scipy.signal.savgol_filter(x, 4, 1) * x)
    np.testing.assert_allclose(values, [expected, expected])


def test_hankel_of_matrices_is_refused_where_scipys_meaning_changes() -> None:
    with pytest.raises(fg.errors.ShapeError, match=r"c\.ravel\(\)"):
        fg.grad(lambda t: np.sum(fg.scipy.linalg.hankel(np.ones((2, 2)) * t)))(1.0)
