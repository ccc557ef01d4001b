"""Sparse arrays: SciPy's own with traced dense ones, ours with traced elements, and systems with both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sl

import funcgrad as fg
from funcgrad.errors import NotDifferentiableError, UnsupportedFunctionError
from funcgrad.testing import check_grads

RNG = np.random.default_rng(3)
DENSE = sp.random_array((5, 5), density=0.5, rng=RNG).toarray() + 4.0 * np.eye(5)
WEIGHTS = RNG.normal(size=(5, 5))
X = RNG.normal(size=5)
MANY = RNG.normal(size=(5, 3))

FORMATS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")

AS_THEY_STAND: dict[str, Callable[[Any, Any], Any]] = {
    "A @ x": lambda a, x: a @ x,
    "x @ A": lambda a, x: x.T @ a,
    "A.T @ x": lambda a, x: a.T @ x,
    "A + x": lambda a, x: a + x[:, :1] * np.ones(5) if x.ndim == 2 else a @ x,
    "x - A": lambda a, x: x[:, :1] * np.ones(5) - a if x.ndim == 2 else a @ x,
}


@pytest.mark.at_length
@pytest.mark.parametrize("x", [X, MANY], ids=["vector", "matrix"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("form", FORMATS)
def test_plain_sparse_arrays_with_a_traced_dense_one(form: str, kind: str, x: Any) -> None:
    a = getattr(sp, f"{form}_{kind}")(DENSE)
    calls = dict(AS_THEY_STAND)
    if form in ("csr", "csc"):
        calls["A.dot(x)"] = lambda a, x: a.dot(x)
    if kind == "matrix":
        calls["A * x"] = lambda a, x: a * x
    for name, call in calls.items():

        def total(x: Any, call: Any = call) -> Any:
            return np.sum(np.sin(np.asarray(call(a, x)) if isinstance(x, np.ndarray) else call(a, x)))

        value, slope = fg.value_and_grad(total)(x)
        np.testing.assert_allclose(value, total(x), rtol=1e-12, err_msg=name)
        np.testing.assert_allclose(fg.jit(fg.grad(total))(x), slope, rtol=1e-10, atol=1e-12, err_msg=name)
        check_grads(total, (x,), order=2)


def test_products_by_elements_of_sparse_arrays() -> None:
    a = sp.csr_array(DENSE)
    scaled = fg.grad(lambda x: (a * x).sum())(X)
    np.testing.assert_allclose(scaled, DENSE.sum(0))
    with pytest.raises(UnsupportedFunctionError, match="multiply"):
        fg.grad(lambda x: a.multiply(x).sum())(X)


def rebuilt(data: Any) -> Any:
    a = sp.csr_array(DENSE)
    return fg.scipy.sparse.csr_array((data, a.indices, a.indptr), shape=a.shape)


DATA = sp.csr_array(DENSE).data
OTHER = sp.csr_array(np.triu(WEIGHTS))

TRACED: dict[str, Callable[[Any], Any]] = {
    "matmul": lambda a: a @ X,
    "rmatmul": lambda a: X @ a,
    "many": lambda a: a @ MANY,
    "T": lambda a: a.T @ X,
    "scaled": lambda a: (2.0 * a / 3.0).toarray(),
    "multiply": lambda a: a.multiply(WEIGHTS).toarray(),
    "elements": lambda a: a.multiply(OTHER).toarray(),
    "add": lambda a: (a + OTHER).toarray(),
    "sub": lambda a: (a - OTHER).toarray(),
    "itself": lambda a: (a + a - 3.0 * a).toarray(),
    "dense": lambda a: a + WEIGHTS,
    "sparse product": lambda a: (a @ OTHER).toarray(),
    "twice": lambda a: (a @ a.T).toarray(),
    "rows": lambda a: a[1:4].toarray(),
    "row": lambda a: a[[2, 0]] @ X,
    "element": lambda a: a[1, 1],
    "sum": lambda a: a.sum(),
    "columns": lambda a: a.sum(axis=0),
    "means": lambda a: a.mean(axis=1),
    "diagonal": lambda a: a.diagonal(),
    "toarray": lambda a: a.toarray(),
}


@pytest.mark.parametrize("name", TRACED)
def test_traced_elements(name: str) -> None:
    def total(data: Any) -> Any:
        return np.sum(np.sin(TRACED[name](rebuilt(data))))

    def plain(data: Any) -> Any:
        a = sp.csr_array(DENSE)
        return np.sum(np.sin(TRACED[name](sp.csr_array((data, a.indices, a.indptr), shape=a.shape))))

    value, slope = fg.value_and_grad(total)(DATA)
    np.testing.assert_allclose(value, plain(DATA), rtol=1e-12)
    np.testing.assert_allclose(fg.jit(fg.grad(total))(DATA), slope, rtol=1e-10, atol=1e-12)
    check_grads(total, (DATA,), order=2)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_constructors(form: str) -> None:
    plain = getattr(sp, f"{form}_array")(DENSE)
    places = (plain.indices, plain.indptr) if form != "coo" else (plain.coords,)
    make = getattr(fg.scipy.sparse, f"{form}_array")
    dense = fg.jit(lambda data: make((data, *places), shape=(5, 5)).toarray())(plain.data)
    np.testing.assert_allclose(dense, DENSE)
    np.testing.assert_allclose(fg.jit(lambda x: make(x) @ X)(DENSE), DENSE @ X)
    assert isinstance(make((plain.data, *places), shape=(5, 5)), type(plain))


def test_sparse_arrays_are_trees() -> None:
    total = fg.grad(lambda a: (a @ X).sum())
    found = fg.grad(lambda data: (fg.jit(lambda a: a @ X)(rebuilt(data))).sum())(DATA)
    rows, columns = sp.csr_array(DENSE).nonzero()
    assert len(rows) == len(found)
    np.testing.assert_allclose(found, X[columns])
    a = fg.scipy.sparse.arrays.sparse(sp.csr_array(DENSE))
    np.testing.assert_allclose(total(a).data, X[columns])


def test_vmap_over_vectors_and_over_elements() -> None:
    a = sp.csr_array(DENSE)
    np.testing.assert_allclose(fg.vmap(lambda x: a @ x)(MANY.T), (DENSE @ MANY).T)
    batch = np.stack([DATA, 2.0 * DATA])
    np.testing.assert_allclose(fg.vmap(lambda d: rebuilt(d) @ X)(batch), [DENSE @ X, 2.0 * DENSE @ X])


TIGHT = {"rtol": 1e-12, "atol": 1e-13}
SYSTEMS: dict[str, Callable[[Any, Any], Any]] = {
    "spsolve": fg.scipy.sparse.linalg.spsolve,
    "splu": lambda a, b: fg.scipy.sparse.linalg.splu(a).solve(b),
    "transposed": lambda a, b: fg.scipy.sparse.linalg.splu(a.T).solve(b, "T"),
    "factorized": lambda a, b: fg.scipy.sparse.linalg.factorized(a)(b),
    "gmres": lambda a, b: fg.scipy.sparse.linalg.gmres(a, b, **TIGHT)[0],
    "bicgstab": lambda a, b: fg.scipy.sparse.linalg.bicgstab(a, b, **TIGHT)[0],
    "cg": lambda a, b: fg.scipy.sparse.linalg.cg(a @ a.T, b, **TIGHT)[0],
}


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("name", SYSTEMS)
def test_systems(name: str) -> None:
    solve = SYSTEMS[name]
    expected = np.linalg.solve(DENSE @ DENSE.T if name == "cg" else DENSE, X)

    def total(data: Any, b: Any) -> Any:
        return np.sum(np.sin(solve(rebuilt(data), b)))

    value, slopes = fg.value_and_grad(total, argnums=(0, 1))(DATA, X)
    np.testing.assert_allclose(value, np.sum(np.sin(expected)), rtol=1e-9)
    for compiled, slope in zip(fg.jit(fg.grad(total, argnums=(0, 1)))(DATA, X), slopes, strict=True):
        np.testing.assert_allclose(compiled, slope, rtol=1e-8, atol=1e-10)
    check_grads(total, (DATA, X), order=2)
    # With a plain matrix, by the right-hand side alone.
    check_grads(lambda b: np.sum(np.sin(solve(sp.csc_array(DENSE), b))), (X,), order=2)
    batch = np.stack([X, 2.0 * X])
    together = fg.vmap(lambda b: solve(rebuilt(DATA), b))(batch)
    np.testing.assert_allclose(together, [expected, 2.0 * expected], rtol=1e-8)


def test_value_and_gradient_factor_once(monkeypatch: pytest.MonkeyPatch) -> None:
    factored: list[int] = []
    original = sl.splu

    def counted(a: Any, **options: Any) -> Any:
        factored.append(1)
        return original(a, **options)

    monkeypatch.setattr(sl, "splu", counted)
    fg.value_and_grad(lambda d, b: fg.scipy.sparse.linalg.spsolve(rebuilt(d), b).sum(), argnums=(0, 1))(
        1.5 * DATA, X
    )
    assert len(factored) == 1


def test_on_plain_arrays_scipy_answers() -> None:
    a = sp.csr_array(DENSE)
    np.testing.assert_array_equal(fg.scipy.sparse.linalg.spsolve(a, X), sl.spsolve(a, X))
    assert fg.scipy.sparse.linalg.cg(a, X, maxiter=1)[1] == sl.cg(a, X, maxiter=1)[1]
    with pytest.raises(UnsupportedFunctionError, match=r"csr_array\.argmax is not supported"):
        fg.grad(lambda d: rebuilt(d).argmax().sum())(DATA)


@pytest.mark.parametrize("method", ["cg", "gmres", "bicgstab"])
def test_operators_whose_products_close_over_traced_values(method: str) -> None:
    symmetric = DENSE @ DENSE.T

    def solution(scale: Any, b: Any) -> Any:
        def product(v: Any) -> Any:
            return symmetric @ v + scale * v

        operator = fg.scipy.sparse.linalg.LinearOperator((5, 5), product)
        return getattr(fg.scipy.sparse.linalg, method)(operator, b, rtol=1e-12)[0]

    scale = np.linspace(1.0, 2.0, 5)
    expected = np.linalg.solve(symmetric + np.diag(scale), X)
    np.testing.assert_allclose(solution(scale, X), expected, rtol=1e-8)

    def total(scale: Any, b: Any) -> Any:
        return np.sum(np.sin(solution(scale, b)))

    value, slopes = fg.value_and_grad(total, argnums=(0, 1))(scale, X)
    np.testing.assert_allclose(value, np.sum(np.sin(expected)), rtol=1e-9)
    for compiled, slope in zip(fg.jit(fg.grad(total, argnums=(0, 1)))(scale, X), slopes, strict=True):
        np.testing.assert_allclose(compiled, slope, rtol=1e-7)
    check_grads(total, (scale, X), order=2)


def test_an_iteration_that_finds_nothing_is_no_solution() -> None:
    with pytest.raises(NotDifferentiableError, match="stopped without a solution"):
        fg.grad(
            lambda b: fg.scipy.sparse.linalg.gmres(sp.csr_array(DENSE), b, maxiter=1, restart=1)[0].sum()
        )(X)


@pytest.mark.parametrize("kind", ["x", "pr_norm"])
def test_a_callback_of_gmres_is_given_what_its_type_says(kind: str) -> None:
    seen: dict[str, list[Any]] = {"ours": [], "SciPy's": []}
    for name, gmres in (("ours", fg.scipy.sparse.linalg.gmres), ("SciPy's", sl.gmres)):
        gmres(
            sp.csr_array(DENSE),
            X,
            callback=lambda x, of=seen[name]: of.append(np.copy(x)),
            callback_type=kind,
        )
    np.testing.assert_equal(seen["ours"], seen["SciPy's"])
    assert np.shape(seen["ours"][0]) == ((5,) if kind == "x" else ())


def test_the_transpose_of_an_operator_follows_from_it() -> None:
    operator = fg.scipy.sparse.linalg.LinearOperator((5, 5), lambda v: DENSE @ v)
    np.testing.assert_allclose(operator.rmatvec(X), DENSE.T @ X)
    np.testing.assert_allclose(operator @ MANY, DENSE @ MANY)


def test_a_batch_of_matrices_is_factored_one_by_one() -> None:
    dense = np.array([[4.0, 1.0, 0.0], [0.5, 3.0, 0.0], [0.0, 0.2, 5.0]])
    a = sp.csr_array(dense)

    def solved(data: Any) -> Any:
        ours = fg.scipy.sparse
        return ours.linalg.splu(ours.csc_array((data, a.indices, a.indptr), shape=(3, 3))).solve(
            np.arange(3.0)
        )

    found = fg.vmap(solved)(np.stack([a.data, 1.25 * a.data]))
    np.testing.assert_allclose(found, np.stack([solved(a.data), solved(1.25 * a.data)]), rtol=1e-12)
