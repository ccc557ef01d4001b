"""Systems and decompositions: values are NumPy's, derivatives those of differences, stacks are loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import numpy as fnp
from funcgrad.errors import FuncgradError, UnsupportedFunctionError

Shape = tuple[int, ...]
DTYPES = [np.float64, np.float32, np.complex128, np.complex64]
STACKS: list[Shape] = [(), (2,), (2, 1), (40,), (0,)]


def draw(rng: np.random.Generator, shape: Shape, dtype: Any = np.float64) -> Any:
    """Normal values; square matrices far from singular ones."""
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    if len(shape) > 1 and shape[-1] == shape[-2]:
        x = x + 3.0 * np.eye(shape[-1])
    return x.astype(dtype)


def positive(x: Any) -> Any:
    """A Hermitian positive definite matrix made of any."""
    return np.matmul(x, np.conj(np.swapaxes(x, -1, -2))) + np.eye(x.shape[-1], dtype=x.dtype)


def hermitian(x: Any) -> Any:
    """A Hermitian matrix made of any."""
    return x + np.conj(np.swapaxes(x, -1, -2))


def columns_span(q: Any, weights: Any) -> Any:
    """What the phases of columns do not matter to."""
    return np.matmul(q * weights, np.conj(np.swapaxes(q, -1, -2)))


def weights(n: int) -> Any:
    """Different numbers for n columns."""
    return np.cos(np.arange(float(n)))


def eigh_of(x: Any) -> Any:
    w, v = np.linalg.eigh(hermitian(x))
    return w, columns_span(v, weights(x.shape[-1]).astype(w.dtype))


def eigh_upper_of(x: Any) -> Any:
    w, v = np.linalg.eigh(hermitian(x), UPLO="U")
    return w, columns_span(v, weights(x.shape[-1]).astype(w.dtype))


def svd_of(x: Any, full: bool = False) -> Any:
    u, s, vh = np.linalg.svd(x, full_matrices=full)
    k = s.shape[-1]
    return (
        s,
        np.matmul(u[..., :, :k] * weights(k).astype(s.dtype), vh[..., :k, :]),
        columns_span(u[..., k:], 1),
    )


def full_svd_of(x: Any) -> Any:
    return svd_of(x, True)


def eig_of(x: Any) -> Any:
    w, v = np.linalg.eig(x)
    complex_dtype = np.result_type(x.dtype, np.complex64)
    return w.astype(complex_dtype), v.astype(complex_dtype)


def slogdet_of(x: Any) -> Any:
    return tuple(np.linalg.slogdet(x))


SQUARE: dict[str, Callable[..., Any]] = {
    "inv": np.linalg.inv,
    "det": np.linalg.det,
    "slogdet": slogdet_of,
    "cholesky": lambda x: np.linalg.cholesky(positive(x)),
    "cholesky upper": lambda x: np.linalg.cholesky(positive(x), upper=True),
    "eigh": eigh_of,
    "eigh upper": eigh_upper_of,
    "eigvalsh": lambda x: np.linalg.eigvalsh(hermitian(x)),
    "pinv": np.linalg.pinv,
    "svdvals": np.linalg.svdvals,
    "qr": lambda x: tuple(np.linalg.qr(x)),
    "qr complete": lambda x: tuple(np.linalg.qr(x, mode="complete")),
    "power -2": lambda x: np.linalg.matrix_power(x, -2),
    "cond": np.linalg.cond,
    "cond 1": lambda x: np.linalg.cond(x, 1),
    "cond -2": lambda x: np.linalg.cond(x, -2),
    "cond fro": lambda x: np.linalg.cond(x, "fro"),
    "solve vector": lambda x: np.linalg.solve(
        x, x[(0,) * (x.ndim - 2)][:, 0] if x.size else np.ones(3, x.dtype)
    ),
    "solve itself": lambda x: np.linalg.solve(x, np.conj(x)),
}

ANY: dict[str, Callable[..., Any]] = {
    "svd": svd_of,
    "svd full": full_svd_of,
    "svdvals": np.linalg.svdvals,
    "qr": lambda x: tuple(np.linalg.qr(x)),
    "qr r": lambda x: np.linalg.qr(x, mode="r"),
    "pinv": np.linalg.pinv,
    "norm 2": lambda x: np.linalg.norm(x, 2, (-2, -1)),
    "norm nuc": lambda x: np.linalg.norm(x, "nuc", (-1, -2)),
    "matrix_norm": lambda x: np.linalg.matrix_norm(x, ord=2, keepdims=True),
    "rank": np.linalg.matrix_rank,
}


def assert_like_numpy(f: Callable[..., Any], *args: Any) -> None:
    """Recorded, `f` gives the values, shapes and dtypes that NumPy gives."""
    expected = f(*args)
    expected = expected if isinstance(expected, tuple) else (expected,)
    found = fg.make_program(f)(*args)(*args)
    assert len(found) == len(expected)
    for x, y in zip(found, expected, strict=True):
        assert (np.asarray(x).dtype, np.shape(x)) == (np.asarray(y).dtype, np.shape(y))
        single = np.asarray(y).real.dtype.itemsize < 8
        np.testing.assert_allclose(x, y, rtol=1e-3 if single else 1e-10, atol=1e-4 if single else 1e-11)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("stack", STACKS, ids=str)
@pytest.mark.parametrize("name", SQUARE)
def test_of_square_matrices(name: str, stack: Shape, dtype: Any, rng: np.random.Generator) -> None:
    if stack == (0,) and name.startswith("cond"):
        pytest.skip("NumPy itself refuses")
    assert_like_numpy(SQUARE[name], draw(rng, (*stack, 3, 3), dtype))


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (2, 3, 2), (2, 2, 3)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ANY)
def test_of_any_matrices(name: str, dtype: Any, shape: Shape, rng: np.random.Generator) -> None:
    assert_like_numpy(ANY[name], draw(rng, shape, dtype))


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("name", SQUARE)
def test_derivatives_of_square_matrices(name: str, dtype: Any, rng: np.random.Generator) -> None:
    f = SQUARE[name]
    fg.testing.check_grads(f, (draw(rng, (3, 3), dtype),), order=2)
    fg.testing.check_grads(f, (draw(rng, (2, 2, 2), dtype),), order=1)
    if name != "solve vector":
        fg.testing.check_vmap(f, (draw(rng, (3, 3, 3), dtype),), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", [(4, 2), (2, 4)], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("name", [name for name in ANY if name != "rank"])
def test_derivatives_of_any_matrices(name: str, dtype: Any, shape: Shape, rng: np.random.Generator) -> None:
    fg.testing.check_grads(ANY[name], (draw(rng, shape, dtype),), order=2)


@pytest.mark.parametrize("name", [*SQUARE, *ANY])
def test_the_namespace_has_the_same_on_arrays(name: str, rng: np.random.Generator) -> None:
    f = SQUARE.get(name) or ANY[name]
    x = draw(rng, (3, 3))
    bare = name.partition(" ")[0]
    if hasattr(fnp.linalg, bare) and f is getattr(np.linalg, bare, None):
        np.testing.assert_allclose(getattr(fnp.linalg, bare)(x), f(x))


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_eig(dtype: Any, rng: np.random.Generator) -> None:
    x = draw(rng, (4, 4), dtype)
    assert_like_numpy(eig_of, x)
    assert_like_numpy(eig_of, draw(rng, (2, 3, 3), dtype))
    fg.testing.check_grads(eig_of, (x,), order=2)
    fg.testing.check_grads(lambda x: np.linalg.eigvals(x).astype(complex), (x,), order=2)


def test_eigenvalues_of_a_real_matrix_are_complex_when_traced() -> None:
    program = fg.make_program(np.linalg.eigvals)(np.eye(2))
    assert program.outputs[0].aval.dtype == np.complex128


# -- right-hand sides ----------------------------------------------------------------------------------------


SIDES: list[tuple[Shape, Shape]] = [
    ((3, 3), (3,)),
    ((3, 3), (3, 2)),
    ((3, 3), (4, 3, 2)),
    ((4, 3, 3), (3,)),
    ((4, 3, 3), (3, 2)),
    ((2, 1, 3, 3), (4, 3, 2)),
    ((40, 2, 2), (40, 2, 1)),
    ((70, 70), (70,)),
    ((2, 70, 70), (2, 70, 3)),
    ((0, 0), (0, 2)),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize(("a", "b"), SIDES, ids=str)
def test_solve(a: Shape, b: Shape, dtype: Any, rng: np.random.Generator) -> None:
    x, y = draw(rng, a, dtype) + 9.0 * np.eye(a[-1], dtype=dtype), draw(rng, b, dtype)
    assert_like_numpy(np.linalg.solve, x, y)
    assert_like_numpy(lambda y: np.linalg.solve(x, y), y)
    if dtype != np.float32 and x.size < 1000 and x.size:
        fg.testing.check_grads(np.linalg.solve, (x, y), order=2)


def test_solve_of_integers(rng: np.random.Generator) -> None:
    a = rng.integers(-3, 4, (3, 3)) + 9 * np.eye(3, dtype=int)
    assert_like_numpy(np.linalg.solve, a, np.ones(3))
    assert_like_numpy(np.linalg.det, a)


def test_a_matrix_is_factored_once() -> None:
    a, b = np.eye(3) * 2.0, np.ones(3)
    program = fg.make_program(fg.grad(lambda a: np.sum(np.linalg.solve(a, b) ** 2)))(a)
    assert str(program).count("lu_factors") == 1


def test_large_and_small_systems_agree_with_vmap(rng: np.random.Generator) -> None:
    a, b = draw(rng, (5, 70, 70)) + 20.0 * np.eye(70), draw(rng, (5, 70))
    found = fg.vmap(np.linalg.solve)(a, b)
    np.testing.assert_allclose(found, np.linalg.solve(a, b[..., None])[..., 0], rtol=1e-10)
    many = fg.vmap(np.linalg.solve, in_axes=(None, 0))(a[0], b)
    np.testing.assert_allclose(many, np.linalg.solve(a[0], b.T).T, rtol=1e-10)


@pytest.mark.parametrize("f", [np.linalg.inv, lambda x: np.linalg.solve(x, np.ones(x.shape[-1]))])
@pytest.mark.parametrize("shape", [(3, 3), (40, 2, 2), (70, 70)], ids=str)
def test_singular_matrices_raise_as_in_numpy(f: Any, shape: Shape) -> None:
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        fg.grad(lambda x: np.sum(f(x)))(np.ones(shape))


def test_tensors(rng: np.random.Generator) -> None:
    a, b = draw(rng, (6, 6)).reshape(2, 3, 6), draw(rng, (2, 3))
    assert_like_numpy(np.linalg.tensorsolve, a, b)
    fg.testing.check_grads(np.linalg.tensorsolve, (a, b), order=1)
    c = np.moveaxis(draw(rng, (6, 6)).reshape(2, 3, 3, 2), 2, 0)
    assert_like_numpy(lambda c, b: np.linalg.tensorsolve(c, b, axes=(0, 3)), c, draw(rng, (2, 3)))
    d = draw(rng, (6, 6)).reshape(6, 3, 2)
    assert_like_numpy(lambda d: np.linalg.tensorinv(d, ind=1), d)
    fg.testing.check_grads(lambda d: np.linalg.tensorinv(d, ind=1), (d,), order=1)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize(
    ("a", "b"), [((4, 2), (4,)), ((4, 2), (4, 3)), ((2, 4), (2,)), ((3, 3), (3, 2))], ids=str
)
def test_lstsq(a: Shape, b: Shape, dtype: Any, rng: np.random.Generator) -> None:
    x, y = draw(rng, a, dtype), draw(rng, b, dtype)
    expected = np.linalg.lstsq(x, y, rcond=None)
    found = fg.make_program(lambda x, y: tuple(np.linalg.lstsq(x, y, rcond=None)))(x, y)(x, y)
    for found_part, expected_part in zip(found, expected, strict=True):
        assert np.shape(found_part) == np.shape(expected_part)
        np.testing.assert_allclose(found_part, expected_part, rtol=1e-10, atol=1e-12)
    fg.testing.check_grads(lambda x, y: tuple(np.linalg.lstsq(x, y, rcond=None)[:2]), (x, y), order=2)


# -- accuracy of the closed forms ----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.float32])
def test_tiny_matrices_are_as_accurate_as_lapack(n: int, dtype: Any, rng: np.random.Generator) -> None:
    """Also near singular ones, and badly scaled ones, in a stack that is solved in closed form."""
    a = draw(rng, (400, n, n), dtype)
    a[:100] -= 3.0 * np.eye(n, dtype=dtype)
    a[100:150, 0] *= 1e-6
    if n > 1:
        a[150:200, 1] = a[150:200, 0] * (1 + 1e-6 * draw(rng, (50, n), dtype))
        a[200:250] = a[200:250, :1] * np.ones((n, 1), dtype) + 1e-3 * draw(rng, (50, n, n), dtype)
    wide = np.complex128 if np.dtype(dtype).kind == "c" else np.float64
    exact_inverse, b = np.linalg.inv(a.astype(wide)), draw(rng, (400, n, 1), dtype)
    eps = np.finfo(dtype).eps
    condition = np.linalg.cond(a.astype(wide))[:, None, None]
    for found, expected in (
        (fg.make_program(np.linalg.inv)(a)(a)[0], exact_inverse),
        (fg.make_program(np.linalg.solve)(a, b)(a, b)[0], exact_inverse @ b),
    ):
        size = np.abs(exact_inverse).max((-2, -1), keepdims=True) * (
            1 + np.abs(b).max((-2, -1), keepdims=True)
        )
        assert np.max(np.abs(found - expected) / (size * (condition + 256))) < 20 * eps
    (det,) = fg.make_program(np.linalg.det)(a)(a)
    size = np.abs(a).max((-2, -1)) * np.abs(np.linalg.det(a.astype(wide)))
    bound = np.abs(np.linalg.det(a.astype(wide))) * (condition[:, 0, 0] + 256)
    assert np.max(np.abs(det - np.linalg.det(a.astype(wide))) / bound) < 20 * eps


# -- refusals ------------------------------------------------------------------------------------------------


REFUSED: list[tuple[Callable[..., Any], Shape, str]] = [
    (np.linalg.inv, (2, 3), "must be square"),
    (np.linalg.inv, (3,), "needs matrices"),
    (np.linalg.det, (2, 3), "must be square"),
    (np.linalg.cholesky, (2, 3), "must be square"),
    (lambda x: np.linalg.solve(x, np.ones(3)), (2, 2), "do not fit"),
    (lambda x: np.linalg.solve(x, np.ones((4, 2, 1))), (3, 2, 2), "do not broadcast"),
    (lambda x: np.linalg.qr(x, mode="raw"), (2, 2), "mode='raw'"),
    (lambda x: np.linalg.qr(x, mode="economy"), (2, 2), "mode='economy'"),
    (lambda x: np.linalg.eigh(x, UPLO="X"), (2, 2), "UPLO='X'"),
    (lambda x: np.linalg.tensorinv(x, ind=0), (2, 2), "ind=0"),
    (lambda x: np.linalg.tensorsolve(x, np.ones(3)), (2, 2), "tensorsolve"),
    (lambda x: np.linalg.lstsq(x, np.ones(3)), (2, 2), "lstsq"),
]


@pytest.mark.parametrize(("f", "shape", "words"), REFUSED, ids=lambda v: "" if callable(v) else str(v))
def test_refusals_say_what_was_seen(f: Callable[..., Any], shape: Shape, words: str) -> None:
    with pytest.raises(FuncgradError) as caught:
        fg.make_program(f)(np.ones(shape))
    assert words in str(caught.value)


def test_half_precision_is_refused_as_in_numpy() -> None:
    for f in (np.linalg.inv, np.linalg.eigvalsh, np.linalg.svdvals):
        with pytest.raises(TypeError):
            f(np.eye(2, dtype=np.float16))
        with pytest.raises(TypeError, match="single or double precision"):
            fg.make_program(f)(np.eye(2, dtype=np.float16))


def test_a_traced_tolerance_is_refused() -> None:
    with pytest.raises(UnsupportedFunctionError, match="traced tolerance"):
        fg.grad(lambda t: np.sum(np.linalg.pinv(np.eye(2) * t, t)))(1.0)
