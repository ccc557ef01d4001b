# ruff: noqa: E501 - a table with a line for each function
"""The functions of ``fg.lax``, values and gradients, beside `jax.lax`'s on the same operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.lax import elementwise

RNG = np.random.default_rng(0)
X = RNG.uniform(-0.9, 0.9, (3, 4))
ABOVE = X + 2.0
WHOLE = np.array([[7, -7, 3, 1], [5, 2, -1, 6]])
OTHER = np.array([[2, 2, -2, 4], [3, 1, 5, 2]])
POSITIVE = ("acosh", "digamma", "lgamma", "log", "reciprocal", "rsqrt", "sqrt", "zeta", "igamma", "igammac")
OF_INTEGERS = (
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
)
OF_COMPLEX = ("real", "imag")
NO_SLOPE = ("nextafter", "zeta")


def operands(name: str) -> tuple[np.ndarray[Any, Any], ...]:
    """What the function takes, at places where it is smooth."""
    if name in ("bitwise_not", "population_count"):
        return (WHOLE,)
    if name in OF_INTEGERS:
        return WHOLE, OTHER * (1 if "shift" not in name else np.sign(OTHER))
    if name in OF_COMPLEX:
        return (X + 1j * ABOVE,)
    if name == "betainc":
        return ABOVE, ABOVE[::-1].copy(), (X + 1.0) / 2.0
    first = ABOVE if name in (*POSITIVE, "pow") else X
    pair = name in elementwise._OF_TWO or name == "pow"
    return (first, RNG.uniform(0.5, 1.5, X.shape) + (name == "zeta")) if pair else (first,)


@pytest.mark.peers("jax")
@pytest.mark.parametrize(
    "name", [n for n in elementwise.__all__ if n not in ("integer_pow", "polygamma", "round")]
)
def test_elementwise(name: str) -> None:
    import jax

    given = operands(name)
    last = len(given) - 1
    with jax.enable_x64(True):
        function = getattr(jax.lax, name)
        expected = np.asarray(function(*given))
        slope = None
        if expected.dtype.kind == "f" and given[last].dtype.kind == "f" and name not in NO_SLOPE:
            slope = np.asarray(jax.grad(lambda *xs: function(*xs).sum(), last)(*given))
    ours = getattr(fg.lax, name)
    for way in (ours, fg.jit(ours)):
        found = way(*given)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
    if slope is not None:
        found = fg.grad(lambda *xs: np.sum(ours(*xs)), last)(*given)
        np.testing.assert_allclose(found, slope, rtol=1e-6, atol=1e-9)


IMAGE = RNG.normal(size=(2, 3, 7, 6))
WINDOW = RNG.normal(size=(4, 3, 3, 2))
LETTERS = ("NHWC", "HWIO", "NHWC")
LAST, KERNEL = IMAGE.transpose(0, 2, 3, 1), WINDOW.transpose(2, 3, 1, 0)
A = RNG.normal(size=(2, 4, 4)) + 5.0 * np.eye(4)
S = A + A.transpose(0, 2, 1)
TIED = np.round(IMAGE)
Case = Callable[[Any, Any], Any]

CASES: dict[str, tuple[Case, Any]] = {
    "integer_pow": (lambda lax, x: lax.integer_pow(x, -3), ABOVE),
    "pow of an integer": (lambda lax, x: lax.pow(x, 3), X),
    "polygamma": (lambda lax, x: lax.polygamma(1.0, x), ABOVE),
    "number": (lambda lax, x: lax.add(lax.mul(x, 2.0), 1.0), X),
    "repeated": (lambda lax, x: lax.sub(x, x[:1]), X),
    "to even": (lambda lax, x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN if hasattr(lax, "RoundingMethod") else 1), np.array([0.5, 1.5, 2.5, -0.5])),
    "away": (lambda lax, x: lax.round(x), np.array([0.5, 1.5, 2.5, -0.5])),
    "quotients": (lambda lax, x: lax.div(WHOLE, OTHER) + lax.rem(WHOLE, OTHER), None),
    "select_n": (lambda lax, x: lax.select_n(np.array([0, 2, 0, 1, 2, 0]), x[0], x[1], x[2]), IMAGE[0, 0]),
    "of two": (lambda lax, x: lax.select_n(np.array(True), x[0], x[1]), X),
    "reduce": (lambda lax, x: lax.reduce(x, 0.0, lax.add, (1, 3)), IMAGE),
    "reduce by a product": (lambda lax, x: lax.reduce(x, 1.0, lax.mul, (0, 1)), X),
    "reduce to the largest": (lambda lax, x: lax.reduce(x, -np.inf, lax.max, (0,)), X),
    "of several": (lambda lax, x: lax.reduce((x, 2.0 * x), (0.0, 0.0), lambda a, b: (lax.add(a[0], b[0]), lax.add(a[1], b[1])), (0,))[1], X),
    "of none": (lambda lax, x: lax.reduce(x[:0], 2.0, lax.mul, (0,)), X),
    "reduce_sum": (lambda lax, x: lax.reduce_sum(x, (0,)), X),
    "reduce_prod": (lambda lax, x: lax.reduce_prod(x, (1,)), X),
    "reduce_max": (lambda lax, x: lax.reduce_max(x, (0, 3)), TIED),
    "reduce_min": (lambda lax, x: lax.reduce_min(x, (1,)), TIED),
    "bits": (lambda lax, x: lax.reduce_and(WHOLE, (0,)) + lax.reduce_or(WHOLE, (1,))[0] + lax.reduce_xor(WHOLE, (0, 1)), None),
    "truth": (lambda lax, x: lax.reduce_xor(WHOLE > 1, (1,)) & lax.reduce_or(WHOLE > 6, (1,)) ^ lax.reduce_and(WHOLE > 0, (1,)), None),
    "sums of windows": (lambda lax, x: lax.reduce_window(x, 0.0, lax.add, (1, 1, 3, 2), (1, 1, 2, 1), "SAME"), IMAGE),
    "largest of windows": (lambda lax, x: lax.reduce_window(x, -np.inf, lax.max, (1, 1, 3, 2), (1, 1, 2, 2), "SAME"), TIED),
    "smallest of windows": (lambda lax, x: lax.reduce_window(x, np.inf, lax.min, (2, 1, 2, 2), (1, 1, 1, 2), "VALID"), IMAGE),
    "dilated windows": (lambda lax, x: lax.reduce_window(x, 0.0, lax.add, (3, 2), (1, 2), ((1, 0), (2, 1)), (2, 1), (1, 2)), X),
    "argmax": (lambda lax, x: lax.argmax(x, 1, np.int32) - lax.argmin(x, 1, np.int32), X),
    "sort": (lambda lax, x: lax.sort(x, 0), X),
    "sort by two": (lambda lax, x: lax.sort((lax.round(x), -x, x), num_keys=2)[2], IMAGE),
    "sort_key_val": (lambda lax, x: lax.sort_key_val(x, x[::-1] ** 2, 0)[1], X),
    "dot": (lambda lax, x: lax.dot(lax.dot(x, x.T), x[:, 0]), X),
    "dot_general": (lambda lax, x: lax.dot_general(x, KERNEL, (((1, 3), (2, 1)), ((), ()))), IMAGE[:, :, :, :2]),
    "of batches": (lambda lax, x: lax.dot_general(x, A, (((1,), (2,)), ((0,), (0,)))), S),
    "batch_matmul": (lambda lax, x: lax.batch_matmul(x, A), S),
    "conv": (lambda lax, x: lax.conv(x, WINDOW, (2, 1), "SAME"), IMAGE),
    "by the window": (lambda lax, w: lax.conv(IMAGE, w, (1, 2), "VALID"), WINDOW),
    "conv_general_dilated": (lambda lax, x: lax.conv_general_dilated(x, KERNEL, (1, 2), [(1, 2), (0, 1)], (2, 1), (1, 2), LETTERS), LAST),
    "in groups": (lambda lax, x: lax.conv_general_dilated(x, WINDOW[:3, :1], (1, 1), "SAME", feature_group_count=3), IMAGE),
    "with_general_padding": (lambda lax, x: lax.conv_with_general_padding(x, WINDOW, (1, 1), ((0, 2), (1, 1)), (2, 1), None), IMAGE),
    "conv_transpose": (lambda lax, x: lax.conv_transpose(x, KERNEL, (2, 3), "SAME"), LAST),
    "conv_transpose valid": (lambda lax, x: lax.conv_transpose(x, KERNEL, (2, 1), "VALID", (1, 2)), LAST),
    "of a transposed kernel": (lambda lax, x: lax.conv_transpose(x, KERNEL.swapaxes(2, 3), (2, 2), ((1, 1), (0, 2)), transpose_kernel=True), LAST),
    "pad": (lambda lax, x: lax.pad(x, 0.5, [(1, -1, 2), (-1, 2, 0)]), X),
    "pad by a value": (lambda lax, x: lax.pad(x, x[0, 0], [(1, 1, 0), (0, 0, 1)]), X),
    "reshape": (lambda lax, x: lax.reshape(x, (2, 6), (1, 0)), X),
    "moved": (lambda lax, x: lax.collapse(lax.transpose(lax.broadcast(x, (2,)), (1, 0, 2)), 0, 2), X),
    "squeeze": (lambda lax, x: lax.squeeze(x[:1, None], (0, 1)), X),
    "split": (lambda lax, x: lax.split(x, (1, 3), 1)[1] * lax.tile(x[:, :1], (1, 3)), X),
    "iota": (lambda lax, x: x * lax.broadcasted_iota(float, (3, 4), 1), X),
    "cholesky": (lambda lax, x: lax.linalg.cholesky(x), S + 10.0 * np.eye(4)),
    "eigh": (lambda lax, x: lax.linalg.eigh(x)[1] + abs(lax.linalg.eigh(x)[0])[:, 0], S),
    "qr": (lambda lax, x: lax.linalg.qr(x, full_matrices=False)[1] ** 2, A),
    "svd": (lambda lax, x: lax.linalg.svd(x, full_matrices=False)[1], A),
    "lu": (lambda lax, x: lax.linalg.lu(x)[0] + lax.linalg.lu(x)[2] + lax.linalg.lu(x)[1], A[0, ::-1]),
    "triangular": (lambda lax, x: lax.linalg.triangular_solve(x, A, lower=True, transpose_a=True), S),
    "on the left": (lambda lax, x: lax.linalg.triangular_solve(x, A[:, :, 0], left_side=True, unit_diagonal=True), S),
    "tridiagonal": (lambda lax, x: lax.linalg.tridiagonal_solve(x[0], x[1] + 4.0, x[2], A[0]), X),
}  # fmt: skip


@pytest.mark.peers("jax")
@pytest.mark.parametrize("name", CASES)
def test_other_functions(name: str) -> None:
    import jax

    function, at = CASES[name]
    with jax.enable_x64(True):
        if at is None:
            expected = np.asarray(function(jax.lax, at))
            found = function(fg.lax, at)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)
            return
        expected = np.asarray(function(jax.lax, jax.numpy.asarray(at)))
        weights = np.random.default_rng(3).normal(size=expected.shape)
        slope = np.asarray(jax.grad(lambda x: (function(jax.lax, x) * weights).sum())(jax.numpy.asarray(at)))
    np.testing.assert_allclose(function(fg.lax, at), expected, rtol=1e-9, atol=1e-10)
    for way in (fg.grad, lambda f: fg.jit(fg.grad(f))):
        found = way(lambda x: np.sum(function(fg.lax, x) * weights))(at)
        np.testing.assert_allclose(found, slope, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(
    "call",
    [
        lambda: fg.lax.add(X, X[0]),
        lambda: fg.lax.add(X, WHOLE[:1]),
        lambda: fg.lax.mul(X, 1),
        lambda: fg.lax.exp(1),
        lambda: fg.lax.bitwise_and(X, X),
        lambda: fg.lax.abs(np.array([True])),
        lambda: fg.lax.select_n(np.arange(3), X[0, :3], 1.0, 2.0),
        lambda: fg.lax.dot_general(X, X, (((1,), (0,)), ((), ()))),
        lambda: fg.lax.max(X),
    ],
)
def test_what_lax_refuses_is_refused(call: Callable[[], Any]) -> None:
    with pytest.raises(TypeError):
        call()
