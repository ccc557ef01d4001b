"""What SciPy's iterations find of sparse matrices, real and complex: eigenpairs, singular triplets, fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sl

import funcgrad as fg
from funcgrad.errors import UnsupportedFunctionError

RNG = np.random.default_rng(3)
DENSE = sp.random_array((5, 5), density=0.5, rng=RNG).toarray() + 4.0 * np.eye(5)
X = np.random.default_rng(4).normal(size=5)
MANY = np.random.default_rng(5).normal(size=(5, 3))
NUMBERS = sp.diags_array(np.arange(1.0, 6.0)).tocsr()


def hermitian(a: Any) -> Any:
    """Of a symmetric matrix."""
    return a + 1j * (a @ NUMBERS - NUMBERS @ a)


def complex_one(a: Any) -> Any:
    return a + 1j * (a @ NUMBERS)


SYMMETRIC = sp.csr_array(DENSE + DENSE.T)
FOUND: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "eigsh": (lambda s, a: s.eigsh(a, k=2)[0], SYMMETRIC),
    "eigsh smallest": (lambda s, a: s.eigsh(a, k=2, which="SA", return_eigenvectors=False), SYMMETRIC),
    "eigsh vectors": (lambda s, a: s.eigsh(a, k=2)[1] ** 2, SYMMETRIC),
    "eigsh without vectors": (
        lambda s, a: s.eigsh(a, k=3, sigma=5.1, return_eigenvectors=False, rng=np.random.default_rng(1)),
        SYMMETRIC,
    ),
    "eigsh by Cayley": (lambda s, a: s.eigsh(a, k=2, sigma=5.1, mode="cayley")[0], SYMMETRIC),
    "eigsh complex": (lambda s, a: s.eigsh(hermitian(a), k=3, return_eigenvectors=False), SYMMETRIC),
    "eigsh complex vectors": (lambda s, a: abs(s.eigsh(hermitian(a), k=2, which="LA")[1]), SYMMETRIC),
    "svds complex": (lambda s, a: s.svds(complex_one(a), k=2)[1], sp.csr_array(DENSE)),
    "svds complex left": (
        lambda s, a: abs(s.svds(complex_one(a), k=2, rng=1, return_singular_vectors="u")[0]),
        sp.csr_array(DENSE),
    ),
    "svds complex right": (
        lambda s, a: abs(s.svds(complex_one(a), k=2, random_state=1, return_singular_vectors="vh")[2]),
        sp.csr_array(DENSE),
    ),
    "lsqr complex": (
        lambda s, a: abs(s.lsqr(complex_one(a), X + 1j, atol=1e-13, btol=1e-13)[0]),
        sp.csr_array(DENSE),
    ),
    "lsqr complex damped": (
        lambda s, a: abs(s.lsqr(complex_one(a), X[:3], 0.5, 1e-13, 1e-13)[0]),
        sp.csr_array(DENSE[:3]),
    ),
    "svds": (lambda s, a: s.svds(a, k=2)[1], sp.csr_array(DENSE)),
    "svds vectors": (lambda s, a: (s.svds(a, k=2)[0] ** 2).T @ s.svds(a, k=2)[2].T ** 2, sp.csr_array(DENSE)),
    "lsqr": (lambda s, a: s.lsqr(a, X, atol=1e-13, btol=1e-13)[0], sp.csr_array(DENSE[:, :3])),
    "lsqr damped": (lambda s, a: s.lsqr(a, X[:3], 0.5, 1e-13, 1e-13)[0], sp.csr_array(DENSE[:3])),
    "eigsh weighted": (lambda s, a: s.eigsh(a, k=2, M=NUMBERS, v0=X)[0], SYMMETRIC),
    "eigsh weighted vectors": (lambda s, a: s.eigsh(a, k=2, M=NUMBERS, v0=X)[1] ** 2, SYMMETRIC),
    "svds from a start": (lambda s, a: s.svds(a, k=2, v0=X)[1], sp.csr_array(DENSE)),
    "expm_multiply at times": (
        lambda s, a: s.expm_multiply(a, X, start=0.5, stop=1.5, num=4),
        sp.csr_array(0.1 * DENSE),
    ),
    "expm_multiply before a time": (
        lambda s, a: s.expm_multiply(a, X, start=0.5, stop=1.5, num=4, endpoint=False),
        sp.csr_array(0.1 * DENSE),
    ),
    "expm_multiply": (lambda s, a: s.expm_multiply(a, X), sp.csr_array(DENSE)),
    "expm_multiply many": (lambda s, a: s.expm_multiply(a, MANY), sp.csr_array(0.1 * DENSE)),
}


@pytest.mark.at_length
@pytest.mark.parametrize("name", FOUND)
def test_what_iterations_find(name: str) -> None:
    call, plain = FOUND[name]
    symmetric = plain is SYMMETRIC
    weights = np.linspace(0.5, 1.5, 25)

    def with_elements(module: Any, data: Any) -> Any:
        make = sp.csr_array if module is sl else fg.scipy.sparse.csr_array
        a = make((data, plain.indices, plain.indptr), shape=plain.shape)
        return call(module, 0.5 * (a + a.T) if symmetric else a)

    def total(data: Any) -> Any:
        found = with_elements(fg.scipy.sparse.linalg, data)
        return np.sum(np.sin(found) * weights[: found.size].reshape(found.shape))

    def along(t: float) -> float:
        found = with_elements(sl, plain.data + t * direction)
        return float(np.sum(np.sin(found) * weights[: found.size].reshape(found.shape)))

    direction = np.random.default_rng(1).normal(size=plain.nnz)
    value, slope = fg.value_and_grad(total)(plain.data)
    np.testing.assert_allclose(value, along(0.0), rtol=1e-8)
    expected = (along(1e-5) - along(-1e-5)) / 2e-5
    np.testing.assert_allclose(np.sum(slope * direction), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(fg.jit(fg.grad(total))(plain.data), slope, rtol=1e-6, atol=1e-8)
    forward = fg.jvp(total, (plain.data,), (direction,))[1]
    np.testing.assert_allclose(forward, np.sum(slope * direction), rtol=1e-7, atol=1e-9)
    second = fg.jvp(fg.grad(total), (plain.data,), (direction,))[1] @ direction
    h = 1e-5
    nearby = [fg.grad(total)(plain.data + t * direction) @ direction for t in (h, -h)]
    np.testing.assert_allclose(second, (nearby[0] - nearby[1]) / (2 * h), rtol=1e-4, atol=1e-5)
    together = fg.vmap(total)(np.stack([plain.data, 1.01 * plain.data]))
    np.testing.assert_allclose(together, [total(plain.data), total(1.01 * plain.data)], rtol=1e-8)


ORDERS = [
    (w, sigma, mode) for w in ("LM", "SM", "LA", "SA") for sigma, mode in ((None, "normal"), (5.1, "normal"))
]


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize(("which", "sigma", "mode"), ORDERS)
@pytest.mark.parametrize("vectors", [False, True])
def test_eigenvalues_are_in_scipys_order(
    which: str, sigma: Any, mode: str, vectors: bool, is_complex: bool
) -> None:
    if is_complex and (which == "BE" or mode != "normal"):
        pytest.skip("SciPy has none for complex matrices")
    draws = np.random.default_rng(8).normal(size=(8, 8))
    plain = sp.csr_array(draws @ draws.T if mode == "buckling" else draws + draws.T)
    plain = sp.csr_array(plain + 1j * (draws - draws.T)) if is_complex else plain
    options = {"k": 4, "which": which, "sigma": sigma, "mode": mode, "return_eigenvectors": vectors}

    def values(module: Any, t: Any) -> Any:
        found = module.eigsh(t * plain, **options)
        found = found[0] if vectors else found
        # With vectors the order of a complex matrix's is left to where the iteration began.
        return np.sort(found) if vectors and is_complex else found

    found, slope = fg.jvp(lambda t: values(fg.scipy.sparse.linalg, t), (1.0,), (1.0,))
    np.testing.assert_allclose(found, values(sl, 1.0), rtol=1e-9)
    np.testing.assert_allclose(slope, found, rtol=1e-7)


def test_what_is_found_has_scipys_kind() -> None:
    data = SYMMETRIC.astype(np.float32).data

    def at(module: Any, data: Any) -> Any:
        a = (sp if module is sl else fg.scipy.sparse).csr_array((data, SYMMETRIC.indices, SYMMETRIC.indptr))
        w, v = module.eigsh(a, k=1)
        return w, v**2, module.svds(a, k=1, return_singular_vectors=False)

    for dtype in (np.float32, np.float64):
        found = fg.jvp(lambda x: at(fg.scipy.sparse.linalg, x), (data.astype(dtype),), (data.astype(dtype),))[
            0
        ]
        for ours, theirs in zip(found, at(sl, data.astype(dtype)), strict=True):
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


def test_singular_vectors_that_are_not_asked_for_are_none() -> None:
    def sides(asked: Any) -> Any:
        def total(t: Any) -> Any:
            u, s, vh = fg.scipy.sparse.linalg.svds(
                t * sp.csr_array(DENSE), k=1, return_singular_vectors=asked
            )
            seen.append((u is None, vh is None))
            return s[0]

        seen: list[tuple[bool, bool]] = []
        fg.grad(total)(1.0)
        return seen[0]

    assert sides("u") == (False, True)
    assert sides("vh") == (True, False)
    with pytest.raises(ValueError, match="return_singular_vectors"):
        sides("v")


@pytest.mark.parametrize("name", ["eigsh", "svds"])
def test_the_start_of_an_iteration_is_taken_and_has_no_derivative(name: str) -> None:
    def largest(t: Any, start: Any) -> Any:
        found = getattr(fg.scipy.sparse.linalg, name)(t * SYMMETRIC, k=1, v0=start)
        return found[0][0] if name == "eigsh" else found[1][0]

    plain = largest(1.0, X)
    assert fg.grad(largest)(2.0, np.ones(5)) == pytest.approx(plain)
    assert not fg.grad(largest, 1)(2.0, X).any()
    assert fg.grad(lambda t: largest(t, np.ones(5) * t))(2.0) == pytest.approx(plain)


def test_a_traced_weight_of_eigenvalues_is_refused() -> None:
    with pytest.raises(UnsupportedFunctionError, match=r"traced M(.|\n)*Leave it out"):
        fg.grad(lambda t: fg.scipy.sparse.linalg.eigsh(SYMMETRIC, k=1, M=t * NUMBERS)[0][0])(1.0)


def test_exponentials_at_several_times_want_both_ends() -> None:
    with pytest.raises(ValueError, match="start and stop"):
        fg.grad(lambda t: fg.scipy.sparse.linalg.expm_multiply(t * SYMMETRIC, X, start=1.0).sum())(1.0)


@pytest.mark.parametrize("x0", [None, np.array([0.3, -1.0, 2.0])])
@pytest.mark.parametrize("damp", [0.0, 0.5])
def test_least_squares_give_their_account_as_scipy_does(damp: float, x0: Any) -> None:
    a, b = sp.csr_array(np.array([[1.0, 0, 2], [0, 3, 0], [1, 1, 0], [0, 2, 5]])), np.arange(1.0, 5.0)

    def ours(b: Any) -> Any:
        return fg.scipy.sparse.linalg.lsqr(a, b, damp, 1e-13, 1e-13, x0=x0)

    expected = sl.lsqr(a, b, damp, 1e-13, 1e-13, x0=x0)
    for found in (fg.vjp(ours, b)[0], fg.jit(ours)(b), fg.vmap(ours)(b[None])):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(np.reshape(one, np.shape(other)), other, rtol=1e-12, atol=1e-12)
            assert np.asarray(one).dtype == np.asarray(other).dtype
    for k in (0, 3, 4, 8):
        fg.testing.check_grads(lambda b, k=k: ours(b)[k], (b,), order=2)
    for k in (1, 2, 5, 6, 7):
        assert not np.any(fg.grad(lambda b, k=k: 1.0 * ours(b)[k])(b))


def test_least_squares_refuse_what_has_no_derivative() -> None:
    a, b = sp.csr_array(np.eye(3)), np.ones(3)
    with pytest.raises(UnsupportedFunctionError, match="calc_var"):
        fg.grad(lambda b: fg.scipy.sparse.linalg.lsqr(a, b, calc_var=True)[0].sum())(b)
    with pytest.raises(UnsupportedFunctionError, match="traced x0"):
        fg.grad(lambda x0: fg.scipy.sparse.linalg.lsqr(a, b, x0=x0)[0].sum())(b)
