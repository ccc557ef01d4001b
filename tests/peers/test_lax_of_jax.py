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
POSITIVE = (
    "acosh",
    "digamma",
    "lgamma",
    "log",
    "reciprocal",
    "rsqrt",
    "sqrt",
    "zeta",
    "igamma",
    "igammac",
    "igamma_grad_a",
    "random_gamma_grad",
)
OF_INTEGERS = (
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "mulhi",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
)
OF_COMPLEX = ("real", "imag")
NO_SLOPE = ("igamma_grad_a", "nextafter", "random_gamma_grad", "zeta")


def operands(name: str) -> tuple[np.ndarray[Any, Any], ...]:
    """What the function takes, at places where it is smooth."""
    if name in ("bitwise_not", "clz", "population_count"):
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
    "name",
    [n for n in elementwise.__all__ if n not in ("RoundingMethod", "integer_pow", "polygamma", "round")],
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
    "lu of several": (lambda lax, x: lax.linalg.lu(x)[0], A[:, ::-1, :3]),
    "permutations": (lambda lax, x: lax.linalg.lu_pivots_to_permutation(np.array([[2, 2, 2], [0, 3, 3]], np.int32), 4), None),
    "cholesky_update": (lambda lax, x: lax.linalg.cholesky_update(np.triu(A[0]), x), X[0]),
    "hessenberg": (lambda lax, x: sum(map(abs, lax.linalg.hessenberg(x)[:1])), A),
    "hessenberg of complex ones": (lambda lax, x: lax.linalg.hessenberg(x + 1j * S)[1].real, A),
    "householder_product": (lambda lax, x: lax.linalg.householder_product(x, A[:, 0, :3]), A[:, :, :3]),
    "ormqr": (lambda lax, x: lax.linalg.ormqr(A[:, :, :3], A[:, 1, :3], x), S),
    "ormqr on the right": (lambda lax, x: lax.linalg.ormqr(A[:, :, :3], A[:, 1, :3], x, left=False, transpose=True), S),
    "tridiagonal": (lambda lax, x: lax.linalg.tridiagonal(x)[0] + lax.linalg.tridiagonal(x)[1][..., None], S),
    "its subdiagonal": (lambda lax, x: lax.linalg.tridiagonal(x + 0j)[2] * lax.linalg.tridiagonal(x)[3], S),
    "symmetric_product": (lambda lax, x: lax.linalg.symmetric_product(x, S, alpha=2.0, beta=3.0, symmetrize_output=True), A),
    "schur": (lambda lax, x: lax.linalg.schur(x)[0] ** 2 + lax.linalg.schur(x)[1] ** 2, S),
    "cumlogsumexp": (lambda lax, x: lax.cumlogsumexp(300.0 * x, 1, reverse=True), X),
    "approx_max_k": (lambda lax, x: lax.approx_max_k(x, 2, 0)[0] + lax.approx_min_k(x, 2, 0)[0], X),
    "index_take": (lambda lax, x: lax.index_take(x, (np.array([0, 3]), np.array([2, -1])), (1, 3)), IMAGE),
    "fft": (lambda lax, x: lax.fft(lax.fft(x, "FFT", (3, 4)), lax.FftType.IFFT, (4,)).real, X + 0.0),
    "rfft": (lambda lax, x: lax.fft(lax.fft(x, lax.FftType.RFFT, (4,)) ** 2, "IRFFT", (4,)), X),
    "patches": (lambda lax, x: lax.conv_general_dilated_patches(x, (3, 2), (2, 1), "SAME", None, (1, 2), LETTERS), LAST),
    "ragged_dot": (lambda lax, x: lax.ragged_dot(x, A, np.array([1, 1])), X),
    "by the matrices": (lambda lax, w: lax.ragged_dot(X, w, np.array([0, 3])), A),
    "of ranks": (lambda lax, x: lax.broadcast_to_rank(lax.broadcast_like(x, A[0, :3]), 4), X),
    "as they are": (lambda lax, x: lax.optimization_barrier(lax.platform_dependent(x, cpu=lax.sin, default=lax.cos)), X),
    "triangular": (lambda lax, x: lax.linalg.triangular_solve(x, A, lower=True, transpose_a=True), S),
    "on the left": (lambda lax, x: lax.linalg.triangular_solve(x, A[:, :, 0], left_side=True, unit_diagonal=True), S),
    "tridiagonal_solve": (lambda lax, x: lax.linalg.tridiagonal_solve(x[0], x[1] + 4.0, x[2], A[0]), X),
    "of several tridiagonal": (lambda lax, x: lax.linalg.tridiagonal_solve(x[:, 0], x[:, 1] + 9.0, x[:, 2], S), A),
}  # fmt: skip


NO_SLOPE_IN_JAX = (
    *("cholesky_update", "hessenberg", "hessenberg of complex ones", "householder_product", "ormqr"),
    *("ormqr on the right", "tridiagonal", "its subdiagonal", "symmetric_product", "schur"),
)


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
        if name in NO_SLOPE_IN_JAX:
            np.testing.assert_allclose(
                fg.jit(lambda x: function(fg.lax, x))(at), expected, rtol=1e-9, atol=1e-10
            )
            fg.testing.check_grads(lambda x: function(fg.lax, x), (at,), order=1)
            return
        slope = np.asarray(jax.grad(lambda x: (function(jax.lax, x) * weights).sum())(jax.numpy.asarray(at)))
    np.testing.assert_allclose(function(fg.lax, at), expected, rtol=1e-9, atol=1e-10)
    for way in (fg.grad, lambda f: fg.jit(fg.grad(f))):
        found = way(lambda x: np.sum(function(fg.lax, x) * weights))(at)
        np.testing.assert_allclose(found, slope, rtol=1e-8, atol=1e-9)


@pytest.mark.peers("jax")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bits", [(5, 10), (8, 7), (1, 2), (8, 23), (11, 52)])
def test_reduce_precision(dtype: Any, bits: tuple[int, int]) -> None:
    import jax

    rng = np.random.default_rng(5)
    edges = [
        0.0,
        -0.0,
        np.inf,
        -np.inf,
        np.nan,
        65504,
        65519.9,
        65520,
        6e-5,
        6.103515625e-05,
        1e-40,
        1 + 2**-11,
    ]
    x = np.array([*(rng.normal(size=50) * 10.0 ** rng.integers(-30, 30, 50)), *edges], dtype)
    with jax.enable_x64(True):
        expected = np.asarray(jax.lax.reduce_precision(x, *bits))
    for way in (
        fg.lax.reduce_precision,
        fg.jit(fg.lax.reduce_precision, static_argnums=(1, 2)),
    ):
        found = way(x, *bits)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))
    np.testing.assert_array_equal(
        fg.grad(lambda x: fg.lax.reduce_precision(x, *bits).sum())(np.ones(2)), np.ones(2)
    )


@pytest.mark.peers("jax")
@pytest.mark.parametrize(
    ("shape", "old", "new"),
    [((3,), "f8", "u8"), ((2, 3), "f8", "i4"), ((3, 2), "f4", "f8"), ((2,), "i2", "u2")],
)
def test_bitcast_convert_type(shape: tuple[int, ...], old: str, new: str) -> None:
    import jax

    x = (100 * np.random.default_rng(6).normal(size=shape)).astype(old)
    with jax.enable_x64(True):
        expected = np.asarray(jax.lax.bitcast_convert_type(x, np.dtype(new)))

    def cast(x: Any) -> Any:
        return fg.lax.bitcast_convert_type(x, new)

    np.testing.assert_array_equal(cast(x), expected, strict=True)
    np.testing.assert_array_equal(fg.jit(cast)(x), expected, strict=True)
    np.testing.assert_array_equal(fg.vmap(cast)(np.stack([x, x]))[1], expected, strict=True)


@pytest.mark.peers("jax")
def test_left_and_right_eigenvectors() -> None:
    import jax

    for a in (A, A + 1j * S):
        with jax.enable_x64(True):
            values, left, right = map(np.asarray, jax.lax.linalg.eig(a))
        found = fg.lax.linalg.eig(a)
        np.testing.assert_allclose(found[0], values, rtol=1e-9)
        for ours, theirs in ((found[1], left), (found[2], right)):
            # Of length 1, and equal but for a phase.
            np.testing.assert_allclose(abs(np.sum(ours.conj() * theirs, axis=-2)), 1.0, rtol=1e-9)
            np.testing.assert_allclose(np.sum(abs(ours) ** 2, axis=-2), 1.0, rtol=1e-9)


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
        lambda: fg.lax.clz(X),
        lambda: fg.lax.reduce_precision(WHOLE, 5, 10),
        lambda: fg.lax.bitcast_convert_type(X, bool),
        lambda: fg.lax.bitcast_convert_type(X[0, :3].astype(np.float32), np.float64),
    ],
)
def test_what_lax_refuses_is_refused(call: Callable[[], Any]) -> None:
    with pytest.raises(TypeError):
        call()
