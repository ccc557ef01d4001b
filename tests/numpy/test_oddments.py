"""Layout and checks of values on traced arrays, place, trimmed zeros, and windows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import ConcretizationError, DtypeError, ShapeError, UnsupportedFunctionError
from funcgrad.testing import check_grads

X = np.array([0.0, 0.0, 3.0, 0.0, -1.0, 0.0])


def test_layout_and_dtypes() -> None:
    def f(x: Any) -> Any:
        assert not fg.numpy.isfortran(x)
        assert fg.numpy.asfortranarray(x) is x
        assert fg.numpy.require(x, np.float32).dtype == np.float32
        assert np.min_scalar_type(x) == np.float64
        return np.sum(fg.numpy.asarray_chkfinite(x))

    np.testing.assert_array_equal(fg.grad(f)(X), np.ones(6))
    with pytest.raises(ValueError, match="infs or NaNs"):
        fg.grad(f)(np.append(X, np.inf))


@pytest.mark.parametrize("trim", ["fb", "f", "b", "B"])
def test_trimmed_zeros(trim: str) -> None:
    wanted = np.trim_zeros(X, trim)
    jacobian = fg.jacobian(lambda x: np.trim_zeros(x, trim))(X)
    np.testing.assert_array_equal(jacobian @ X, wanted)
    assert fg.jacobian(lambda x: np.trim_zeros(0 * x, "f"))(X).shape == (0, 6)
    assert fg.jacobian(lambda x: fg.numpy.trim_zeros(0 * x, trim, ()))(X).shape == (6, 6)
    with pytest.raises(ConcretizationError, match="trim_zeros"):
        fg.make_program(lambda x: np.trim_zeros(x, trim))(X)
    with pytest.raises(UnsupportedFunctionError, match="several axes"):
        fg.make_program(np.trim_zeros)(X.reshape(2, 3))


def test_bessel_functions() -> None:
    np.testing.assert_allclose(fg.make_program(np.i0)(X).evaluate(X)[0], np.i0(X), rtol=1e-14)
    for count in (1, 4, 5):
        window = fg.make_program(lambda b, n=count: np.kaiser(n, b))(3.0)(3.0)[0]
        np.testing.assert_allclose(window, np.kaiser(count, 3.0), rtol=1e-14)
    check_grads(np.i0, (X + 0.1,))
    check_grads(lambda b: np.kaiser(5, b), (3.0,))


def test_what_is_not_supported_says_so() -> None:
    with pytest.raises(UnsupportedFunctionError, match=r"np\.busday_count is not supported on traced arrays"):
        fg.make_program(lambda x: np.busday_count(x, x))(X)


def test_names_imported_later_are_there() -> None:
    for name in ("polyval", "histogram", "isin", "trim_zeros", "from_dlpack", "seterr", "loadtxt"):
        assert callable(getattr(fg.numpy, name))
        assert name in dir(fg.numpy)
    with pytest.raises(AttributeError, match="no attribute 'polyvall'"):
        _ = fg.numpy.polyvall


def test_vectorized_functions_may_branch() -> None:
    @fg.numpy.vectorize
    def piece(x: Any, scale: Any) -> Any:
        """Two pieces."""
        return scale * x if x > 0 else x * x

    assert piece.__doc__ == "Two pieces."
    x = np.array([[1.0, -2.0], [3.0, 0.5]])
    np.testing.assert_array_equal(piece(x, 2.0), np.vectorize(piece.pyfunc)(x, 2.0))
    np.testing.assert_array_equal(fg.grad(lambda t: np.sum(piece(t, 2.0)))(x), [[2.0, -4.0], [2.0, 2.0]])
    both = fg.numpy.vectorize(lambda t, f: (f(t), t), otypes=[np.float32, float], excluded=[1])
    outs = fg.eval_shape(lambda t: both(t, np.sin), x)
    assert [(o.shape, o.dtype) for o in outs] == [((2, 2), np.float32), ((2, 2), np.float64)]


@np.vectorize
def numpys_piece(x: Any, scale: Any = 2.0) -> Any:
    """A function of NumPy's `vectorize`, as a decorator of the user's makes it."""
    if x > 0:
        return scale * x
    return x * x


def test_numpys_vectorize_keeps_the_gradient() -> None:
    x = np.array([[1.0, -2.0, 0.3], [3.0, 0.5, -1.0]])
    normed = np.vectorize(lambda row: row / np.sum(row), signature="(n)->(n)")

    def loss(t: Any) -> Any:
        pair = np.vectorize(lambda v, k: (v * v, k * v), otypes=[float, float], excluded=["k"])
        squares, scaled = pair(t, k=3.0)
        return np.sum(numpys_piece(t, scale=t[0])) + np.sum(normed(t) ** 2 * x) + np.sum(squares * scaled)

    for f in (loss, fg.jit(loss), lambda t: fg.vmap(loss)(t[None])[0]):
        np.testing.assert_allclose(f(x), loss(x), rtol=1e-13)
        check_grads(f, (x,))
    # What its function closes over is no argument of it.
    of_scale = lambda p: np.sum(np.vectorize(lambda t: p * t if t > 1 else p**2 * t)(x))  # noqa: E731
    for transformed in (fg.grad(of_scale), fg.jit(fg.grad(of_scale))):
        np.testing.assert_allclose(transformed(1.5), 3.0 + 3.0 * (x.sum() - 3.0))
    with pytest.raises(DtypeError, match=r"first result, int64.*\n(.*\n)*.*otypes=\['float64'\]"):
        fg.grad(lambda t: np.sum(np.vectorize(lambda v: 0 if v > 0 else v * v)(t)))(x)
    with pytest.raises(ShapeError, match="core dimension 'n'"):
        fg.grad(lambda t: np.sum(np.vectorize(np.dot, signature="(n),(n)->()")(t, t[:, :2])))(x)
    with pytest.raises(ValueError, match="size 0"):
        fg.grad(lambda t: np.sum(np.vectorize(lambda v: v)(t[:0])))(x)


def squared(p: Any) -> Any:
    return p * p


@pytest.mark.parametrize("kind", [np.polynomial.Polynomial, np.polynomial.Chebyshev])
def test_series_have_operators(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        p = np.polynomial.Polynomial(x) if kind is np.polynomial.Polynomial else np.polynomial.Chebyshev(x)
        q = squared(p) - 2.0 * p + 1.0
        q += p.deriv()
        return (-q)(0.3) + (q**2)(-0.2)

    x = np.array([0.5, 2.0, -1.0])
    steps = 1e-6 * np.eye(3)
    slope = fg.grad(f)(x)
    np.testing.assert_allclose(slope, [(f(x + h) - f(x - h)) / 2e-6 for h in steps], rtol=1e-6)
    np.testing.assert_allclose(fg.jit(fg.grad(f))(x), slope, rtol=1e-12)
    # Where functions are not read, as without their source, the error names what keeps the gradient.
    monkeypatch.setenv("FUNCGRAD_CONSTRUCTORS", "0")
    with pytest.raises(ConcretizationError, match="polymul"):
        fg.grad(f)(x)


def test_slots_are_found_while_an_error_is_pending() -> None:
    def f(x: Any) -> Any:
        assert x.__getattr__("aval") is x.aval
        return x**2

    assert fg.grad(f)(3.0) == 6.0


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize(
    ("f", "remedy"),
    [
        (lambda x: np.ma.masked_array(x, mask=x > 1).sum(), "where=~mask"),
        (lambda x: np.asmatrix(x.reshape(2, 1)).sum(), "two-dimensional"),
    ],
)
def test_parts_of_numpy_that_see_no_traced_values_name_what_does(f: Any, remedy: str) -> None:
    with pytest.raises(ConcretizationError, match=remedy):
        fg.grad(f)(np.array([0.5, 2.0]))
