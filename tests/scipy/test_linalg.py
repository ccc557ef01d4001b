"""`fg.scipy.linalg`: values are SciPy's, derivatives those of differences, also at repeated eigenvalues."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import funcgrad as fg
from funcgrad.errors import FuncgradError, NotDifferentiableError, UnsupportedFunctionError
from funcgrad.scipy import linalg

Shape = tuple[int, ...]
DTYPES = [np.float64, np.complex128]


def draw(rng: np.random.Generator, shape: Shape, dtype: Any = np.float64) -> Any:
    """Normal values; square matrices have eigenvalues near 3."""
    x = 0.5 * rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 0.5j * rng.standard_normal(shape)
    if len(shape) > 1 and shape[-1] == shape[-2]:
        x = x + 3.0 * np.eye(shape[-1])
    return x.astype(dtype)


def hermitian(x: Any) -> Any:
    return x + np.conj(np.swapaxes(x, -1, -2))


def as_tuple(x: Any) -> tuple[Any, ...]:
    return tuple(x) if isinstance(x, tuple) else (x,)


def span(v: Any) -> Any:
    """What the phases of columns do not matter to."""
    return np.matmul(v * np.cos(np.arange(float(v.shape[-1]))), np.conj(np.swapaxes(v, -1, -2)))


def eigh_of(library: Any, x: Any, y: Any, **options: Any) -> Any:
    w, v = library.eigh(hermitian(x), hermitian(y) + 9 * np.eye(y.shape[-1]), **options)
    return w, span(v)


def schur_of(library: Any, x: Any, output: str) -> Any:
    t, z = library.schur(x @ np.diag(np.arange(1.0, 1.0 + x.shape[-1])), output)
    return span(z), np.diagonal(t)


def lu_solved(library: Any, x: Any, y: Any, trans: int) -> Any:
    return library.lu_solve(library.lu_factor(x), y, trans)


def cho_solved(library: Any, x: Any, y: Any, lower: bool) -> Any:
    return library.cho_solve(library.cho_factor(hermitian(x), lower), y)


SQUARE: dict[str, Callable[[Any, Any], Any]] = {
    "expm": lambda la, x: la.expm(0.3 * x),
    "logm": lambda la, x: la.logm(x),
    "sqrtm": lambda la, x: la.sqrtm(x),
    "inv": lambda la, x: la.inv(x),
    "det": lambda la, x: la.det(x),
    "pinv": lambda la, x: la.pinv(x),
    "cholesky": lambda la, x: la.cholesky(hermitian(x)),
    "cholesky lower": lambda la, x: la.cholesky(hermitian(x), lower=True),
    "lu": lambda la, x: la.lu(x),
    "lu permuted": lambda la, x: la.lu(x[::-1], permute_l=True),
    "lu indices": lambda la, x: la.lu(x[::-1], p_indices=True),
    "lu_factor": lambda la, x: la.lu_factor(x[::-1]),
    "qr": lambda la, x: la.qr(x),
    "qr r": lambda la, x: la.qr(x, mode="r"),
    "polar": lambda la, x: la.polar(x),
    "polar left": lambda la, x: la.polar(x, side="left"),
    "svdvals": lambda la, x: la.svdvals(x),
    "svd values": lambda la, x: la.svd(x, compute_uv=False),
    "norm": lambda la, x: la.norm(x, "nuc"),
    "eigvalsh": lambda la, x: la.eigvalsh(hermitian(x)),
    "eigh upper": lambda la, x: eigh_of(la, x, x, lower=False),
    "eigh subset": lambda la, x: la.eigh(hermitian(x), eigvals_only=True, subset_by_index=(1, 2)),
    "eigh general": lambda la, x: eigh_of(la, x, x.T),
    "schur": lambda la, x: schur_of(la, x, "complex"),
    "block_diag": lambda la, x: la.block_diag(x, x[0], 2.0 * x[:2]),
    "toeplitz": lambda la, x: la.toeplitz(x[0]),
    "circulant": lambda la, x: la.circulant(x[0]),
    "hankel": lambda la, x: la.hankel(x[0], x[1][:2]),
    "hankel alone": lambda la, x: la.hankel(x[0]),
    "companion": lambda la, x: la.companion(x[0]),
    "convolution_matrix": lambda la, x: la.convolution_matrix(x[0], 4),
    "convolution_matrix same": lambda la, x: la.convolution_matrix(x[0], 5, "same"),
    "convolution_matrix valid": lambda la, x: la.convolution_matrix(x[0], 2, "valid"),
    "leslie": lambda la, x: la.leslie(x[0], x[1][:2]),
    "khatri_rao": lambda la, x: la.khatri_rao(x, x[:2] + 1.0),
    "hessenberg": lambda la, x: la.hessenberg(x, calc_q=True),
    "cosm": lambda la, x: la.cosm(0.3 * x),
    "sinhm": lambda la, x: la.sinhm(0.3 * x),
    "tanhm": lambda la, x: la.tanhm(0.3 * x),
    "expm_frechet": lambda la, x: la.expm_frechet(0.3 * x, x.T),
    "qr_multiply": lambda la, x: la.qr_multiply(x, x[:2]),
    "qr_multiply left": lambda la, x: la.qr_multiply(x[:, :2], x[0, :2], "left", conjugate=True),
    "procrustes": lambda la, x: la.orthogonal_procrustes(x, x @ x + 1.0),
    "lyapunov": lambda la, x: la.solve_continuous_lyapunov(x, x + 1.0),
    "lyapunov of steps": lambda la, x: la.solve_discrete_lyapunov(0.1 * x, x + 1.0),
    "lyapunov bilinear": lambda la, x: la.solve_discrete_lyapunov(0.1 * x, x + 1.0, "bilinear"),
    "toeplitz row": lambda la, x: la.toeplitz(x[0], x[1][:2]),
    "riccati": lambda la, x: la.solve_continuous_are(x, x[:, :2], hermitian(x), hermitian(x)[:2, :2]),
    "riccati of steps": lambda la, x: la.solve_discrete_are(x, x[:, :2], hermitian(x), hermitian(x)[:2, :2]),
    "pinvh": lambda la, x: la.pinvh(hermitian(x)),
    "pinvh upper": lambda la, x: la.pinvh(x, lower=False),
    "lstsq": lambda la, x: la.lstsq(x[:, :2], x[:, 1])[:2],
    "lstsq several": lambda la, x: tuple(la.lstsq(x[:, :2], x)[k] for k in (0, 1, 3)),
    "lstsq wide": lambda la, x: la.lstsq(x[:2], x[:2, 1])[0],
    "eig": lambda la, x: la.eig(x)[0],
}

VECTORS = ("circulant", "hankel", "companion", "convolution", "leslie")

ONE_MATRIX = (
    *("expm_frechet", "qr_multiply", "qr_multiply left", "procrustes"),
    *("lyapunov", "lyapunov of steps", "lyapunov bilinear", "khatri_rao"),
    "lu permuted",
    "lu indices",
    "lu_factor",
    "schur",
    "eigh general",
    *("riccati", "riccati of steps", "lstsq", "lstsq several", "lstsq wide"),
)

PAIRS: dict[str, tuple[Callable[[Any, Any, Any], Any], Shape]] = {
    "solve": (lambda la, x, y: la.solve(x, y), (3,)),
    "solve transposed": (lambda la, x, y: la.solve(x, y, transposed=True), (3, 2)),
    "solve pos": (lambda la, x, y: la.solve(hermitian(x), y, assume_a="pos"), (3, 2)),
    "solve her": (lambda la, x, y: la.solve(hermitian(x), y, assume_a="her", lower=True), (3, 2)),
    "solve sym": (lambda la, x, y: la.solve(x + x.T, y, assume_a="sym"), (3, 2)),
    "triangular": (lambda la, x, y: la.solve_triangular(x, y), (3,)),
    "triangular lower": (lambda la, x, y: la.solve_triangular(x, y, lower=True), (3, 2)),
    "triangular T": (lambda la, x, y: la.solve_triangular(x, y, trans="T"), (3, 2)),
    "triangular C": (lambda la, x, y: la.solve_triangular(x, y, trans=2, lower=True), (3, 2)),
    "triangular unit": (lambda la, x, y: la.solve_triangular(x, y, unit_diagonal=True), (3, 2)),
    "cho_solve": (lambda la, x, y: cho_solved(la, x, y, False), (3,)),
    "cho_solve lower": (lambda la, x, y: cho_solved(la, x, y, True), (3, 2)),
    "lu_solve": (lambda la, x, y: lu_solved(la, x[::-1], y, 0), (3,)),
    "lu_solve T": (lambda la, x, y: lu_solved(la, x[::-1], y, 1), (3, 2)),
    "lu_solve C": (lambda la, x, y: lu_solved(la, x[::-1], y, 2), (3, 2)),
    "sylvester": (lambda la, x, y: la.solve_sylvester(x, x[:2, :2], y), (3, 2)),
}


def assert_like_scipy(f: Callable[..., Any], *args: Any) -> None:
    """Recorded and not, the function gives what SciPy's gives."""
    expected = as_tuple(f(scipy.linalg, *args))
    recorded = fg.make_program(lambda *xs: f(linalg, *xs))(*args)(*args)
    plain = as_tuple(f(linalg, *args))
    for found in (recorded, plain):
        for x, y in zip(found, expected, strict=True):
            assert np.shape(x) == np.shape(y)
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-10)


@pytest.mark.at_length
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SQUARE)
def test_of_a_square_matrix(name: str, dtype: Any, rng: np.random.Generator) -> None:
    x = draw(rng, (3, 3), dtype)
    assert_like_scipy(SQUARE[name], x)
    fg.testing.check_grads(lambda x: SQUARE[name](linalg, x), (x,), order=2)


LINES = ("toep", "block", "norm", *VECTORS)


@pytest.mark.parametrize("name", [name for name in SQUARE if not name.startswith(LINES)])
def test_of_stacks(name: str, rng: np.random.Generator) -> None:
    x = draw(rng, (2, 3, 3))
    if name in ONE_MATRIX:
        pytest.skip("written for one matrix")
    fg.testing.check_vmap(lambda x: SQUARE[name](linalg, x), (x,), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PAIRS)
def test_of_a_matrix_and_right_hand_sides(name: str, dtype: Any, rng: np.random.Generator) -> None:
    f, shape = PAIRS[name]
    if name == "solve transposed" and dtype is np.complex128:
        pytest.skip("SciPy does not solve it")
    x, y = draw(rng, (3, 3), dtype), draw(rng, shape, dtype)
    assert_like_scipy(f, x, y)
    fg.testing.check_grads(lambda x, y: f(linalg, x, y), (x, y), order=2)
    fg.testing.check_vmap(
        lambda x, y: f(linalg, x, y), (draw(rng, (2, 3, 3), dtype), draw(rng, (2, *shape), dtype)), rtol=1e-9
    )


@pytest.mark.parametrize("shape", [(4, 2), (2, 4)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_of_any_matrix(shape: Shape, dtype: Any, rng: np.random.Generator) -> None:
    x = draw(rng, shape, dtype)
    for f in (
        lambda la, x: la.lu(x),
        lambda la, x: la.lu_factor(x),
        lambda la, x: la.polar(x),
        lambda la, x: la.polar(x, side="left"),
        lambda la, x: la.qr(x, mode="economic"),
        lambda la, x: la.svdvals(x),
    ):
        assert_like_scipy(f, x)
        fg.testing.check_grads(lambda x, f=f: f(linalg, x), (x,), order=2)


# -- where eigenvectors do not help --------------------------------------------------------------------------


AWKWARD = {
    "identity": np.eye(3),
    "repeated": np.diag([2.0, 2.0, 5.0]),
    "defective": np.array([[2.0, 1.0, 0.0], [0.0, 2.0, 1.0], [0.0, 0.0, 2.0]]),
}


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("function", [linalg.expm, linalg.logm, linalg.sqrtm])
def test_functions_of_matrices_with_repeated_eigenvalues(function: Any, name: str) -> None:
    fg.testing.check_grads(function, (AWKWARD[name],), order=2)
    fg.testing.check_grads(function, (AWKWARD[name] + 0j,), order=1)


def test_exponential_of_zero_and_of_a_nilpotent_matrix() -> None:
    fg.testing.check_grads(linalg.expm, (np.zeros((3, 3)),), order=3)
    fg.testing.check_grads(linalg.expm, (np.diag([1.0, 1.0], 1),), order=2)


def test_third_derivative_of_the_exponential(rng: np.random.Generator) -> None:
    fg.testing.check_grads(linalg.expm, (draw(rng, (2, 2)),), order=3)


@pytest.mark.parametrize("factor", [1.0, 2.5])
def test_polar_decomposition_with_repeated_singular_values(factor: float, rng: np.random.Generator) -> None:
    q, _ = np.linalg.qr(draw(rng, (3, 3)))
    fg.testing.check_grads(linalg.polar, (factor * q,), order=2)


def test_complex_results_of_real_matrices_are_scipys_where_values_are_known() -> None:
    x = np.array([[1.0, 2.0], [0.3, -1.0]])
    for function in (linalg.logm, linalg.sqrtm):

        def size(x: Any, f: Any = function) -> Any:
            return np.sum(np.abs(f(x)) ** 2)

        fg.testing.check_grads(size, (x,), order=1)
        np.testing.assert_allclose(fg.vjp(function, x)[0], function(x), rtol=1e-12)
        with pytest.raises(FuncgradError, match=r"a.astype\(complex\)"):
            fg.jit(size)(x)
        fg.testing.check_grads(function, (np.diag([1.0 + 0j, 1j]),), order=1)


def test_schur_form_with_blocks_says_so() -> None:
    rotation = np.array([[0.0, 1.0], [-1.0, 0.0]])
    with pytest.raises(NotDifferentiableError, match="schur of a real matrix with complex eigenvalues"):
        fg.grad(lambda x: np.sum(linalg.schur(x)[0]))(rotation)
    found = fg.grad(lambda x: np.sum(linalg.schur(x, output="complex")[0].real[[0, 1], [0, 1]]))(rotation)
    np.testing.assert_allclose(found, np.eye(2), atol=1e-12)


def test_unsupported_options_are_refused_by_name() -> None:
    x = np.eye(3)
    for f, words in (
        (lambda x: linalg.qr(x, pivoting=True)[0], "scipy.linalg.qr with pivoting=True"),
        (lambda x: linalg.schur(x, sort="lhp")[0], "scipy.linalg.schur with sort='lhp'"),
        (lambda x: linalg.eigh(x, subset_by_value=(0, 1))[0], "with subset_by_value"),
        (lambda x: linalg.pinv(x, atol=0.1), "scipy.linalg.pinv with atol=0.1"),
    ):
        with pytest.raises(UnsupportedFunctionError, match=words.replace("(", r"\(")):
            fg.make_program(f)(x)


def test_pencils_and_left_vectors_have_named_remedies() -> None:
    a, b = np.array([[2.0, 1.0], [0.5, 3.0]]), np.array([[1.0, 0.2], [0.1, 2.0]])
    with pytest.raises(UnsupportedFunctionError, match=r"np\.linalg\.inv\(vr\)"):
        fg.make_program(lambda a: linalg.eig(a, left=True)[0])(a)
    remedied = fg.jit(lambda a: linalg.eigvals(linalg.solve(b, a)))(a)
    np.testing.assert_allclose(np.sort(remedied.real), np.sort(scipy.linalg.eigvals(a, b).real))
    left = scipy.linalg.eig(a, left=True)[1]
    turned = fg.jit(lambda a: np.conj(np.linalg.inv(linalg.eig(a)[1])).T)(a)
    np.testing.assert_allclose(np.abs(turned / np.linalg.norm(turned, axis=0)), np.abs(left), rtol=1e-10)


def test_signatures_are_scipys() -> None:
    """Every parameter that SciPy's function has, in that order; releases differ in what goes away."""
    import inspect

    for name in linalg.__all__:
        ours, theirs = [
            [p for p in inspect.signature(getattr(m, name)).parameters if p not in ("disp", "blocksize")]
            for m in (linalg, scipy.linalg)
        ]
        assert ours == theirs, name


def test_scipy_is_imported_by_the_first_call_only() -> None:
    import subprocess
    import sys

    code = "import sys, funcgrad as fg; fg.scipy.linalg; fg.numpy.linalg.solve; print('scipy' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


@pytest.mark.parametrize("n", [1, 2, 5])
def test_hessenbergs_form(n: int, rng: np.random.Generator) -> None:
    for x in (draw(rng, (n, n)), draw(rng, (n, n), complex), np.triu(draw(rng, (n, n)))):
        assert_like_scipy(lambda la, x: la.hessenberg(x, calc_q=True), x)
    fg.testing.check_grads(linalg.hessenberg, (draw(rng, (n, n)),), order=1)


def test_tridiagonal_eigenproblems(rng: np.random.Generator) -> None:
    d, e = rng.normal(size=4), rng.normal(size=3)

    def solved(la: Any, d: Any, e: Any, **options: Any) -> Any:
        w, v = la.eigh_tridiagonal(d, e, **options)
        return w, span(v)

    assert_like_scipy(solved, d, e)
    assert_like_scipy(lambda la, d, e: la.eigvalsh_tridiagonal(d, e, "i", (1, 2)), d, e)
    fg.testing.check_grads(lambda d, e: solved(linalg, d, e), (d, e))
    with pytest.raises(UnsupportedFunctionError, match="select='v'"):
        fg.grad(lambda d: linalg.eigvalsh_tridiagonal(d, e, "v", (0.0, 1.0)).sum())(d)


def test_distances_between_elements() -> None:
    assert_like_scipy(lambda la, x: la.fiedler(x), np.array([1.0, 4.0, 9.0]))
    fg.testing.check_grads(linalg.fiedler, (np.array([1.0, 4.0, 9.0]),))


@pytest.mark.parametrize("name", ["toeplitz", "circulant", "companion"])
def test_patterns_of_stacks_of_vectors(name: str, rng: np.random.Generator) -> None:
    x = rng.normal(size=(2, 3, 4))
    of_one = getattr(scipy.linalg, name)
    expected = np.array([[of_one(row) for row in rows] for rows in x])
    np.testing.assert_allclose(fg.jit(getattr(linalg, name))(x), expected)


CONSTANTS: dict[str, tuple[Any, ...]] = {
    "dft": (3, "sqrtn"),
    "hadamard": (4,),
    "helmert": (3, True),
    "hilbert": (3,),
    "invhilbert": (3,),
    "pascal": (3, "lower"),
    "invpascal": (3, "symmetric", False),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_constant_matrices_are_scipys(name: str) -> None:
    expected = getattr(scipy.linalg, name)(*CONSTANTS[name])
    made = getattr(linalg, name)
    np.testing.assert_array_equal(made(*CONSTANTS[name]), expected)
    np.testing.assert_allclose(fg.vmap(lambda x: x * made(*CONSTANTS[name]))(np.ones(1))[0], expected)


def test_factors_with_pairs_of_pivots_are_refused() -> None:
    with pytest.raises(UnsupportedFunctionError, match="cho_factor"):
        fg.grad(lambda x: linalg.ldl(x)[1].sum())(np.eye(2))


def test_solutions_that_balancing_spoils_are_found_without_it() -> None:
    x = np.random.default_rng(1).normal(size=(3, 3)) + 2.0 * np.eye(3)
    q, e, s = x @ x.T + np.eye(3), x + 3.0 * x[0, 0] * np.eye(3), 0.1 * x[:, 1:]

    def solved(t: Any) -> Any:
        return linalg.solve_discrete_are(t * x, x[:, :2], q, q[:2, :2], e, s)

    value, slope = fg.jvp(solved, (1.0,), (1.0,))
    exact = [
        scipy.linalg.solve_discrete_are(t * x, x[:, :2], q, q[:2, :2], e, s, balanced=False)
        for t in (1.0, 1.0 + 1e-5, 1.0 - 1e-5)
    ]
    np.testing.assert_allclose(value, exact[0], rtol=1e-9)
    np.testing.assert_allclose(slope, (exact[1] - exact[2]) / 2e-5, rtol=1e-5, atol=1e-9)


def test_eigenvalues_of_two_matrices() -> None:
    import scipy.linalg

    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 5, 5))

    def loss(s: Any, linalg: Any) -> Any:
        w, v = linalg.eig(a + s * b, c + s * np.eye(5))
        sides = (abs(w - 0.3) * np.arange(5)).sum() + (abs(v) ** 2 * a).sum()
        return sides + linalg.eigvals(a, c * s)[2].real

    def ours(s: Any) -> Any:
        return loss(s, fg.scipy.linalg)

    value, slope = fg.value_and_grad(ours)(0.3)
    step = 1e-6
    apart = (loss(0.3 + step, scipy.linalg) - loss(0.3 - step, scipy.linalg)) / (2 * step)
    assert value == pytest.approx(loss(0.3, scipy.linalg), rel=1e-12)
    assert slope == pytest.approx(apart, rel=1e-7)
    assert fg.jit(ours)(0.3) == pytest.approx(value, rel=1e-12)
    with pytest.raises(np.linalg.LinAlgError, match=r"[Ss]ingular"):
        fg.grad(lambda s: fg.scipy.linalg.eigvals(a, s * np.diag([1.0, 1, 0, 1, 1])).real.sum())(1.0)
