"""Every public function of SciPy's sparse packages, asked on traced sparse arrays.

Each gives what `fg.scipy` gives, value and derivative, or is refused by name with what keeps the gradient.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy
import scipy.sparse as sp
import scipy.sparse.csgraph
import scipy.sparse.linalg as sl
from every_function import ROWS
from solver_cases import number

import funcgrad as fg
from funcgrad.errors import ShapeError, UnsupportedFunctionError
from funcgrad.scipy.nearest import remedy_for

PACKAGES = ("sparse", "sparse.linalg", "sparse.csgraph")

NOT_ASKED = {
    "issparse": "a question, answered for traced ones below",
    "isspmatrix": "a question, answered for traced ones below",
    "SuperLU": "SciPy's class, which nobody can make",
    "MatrixRankWarning": "a warning",
}
"""What is not called on a sparse array, and why."""

A = sp.csr_array(np.array([[4.0, 1.0, 0.0], [0.0, 5.0, 1.0], [1.0, 0.5, 6.0]]))
X = np.array([1.0, -2.0, 3.0])
W = np.arange(1.0, 10.0).reshape(3, 3)


def public(package: str) -> list[str]:
    module = importlib.import_module(f"scipy.{package}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [n for n in module.__all__ if callable(getattr(module, n)) and not is_error(module, n)]


def is_error(module: Any, name: str) -> bool:
    found = getattr(module, name)
    return isinstance(found, type) and issubclass(found, BaseException)


def counterpart(package: str, name: str) -> Any:
    if package == "sparse.csgraph":
        return None
    ours = importlib.import_module(f"funcgrad.scipy.{package}")
    return getattr(ours, name) if name in dir(ours) else None


WITHOUT = [
    (package, name)
    for package in PACKAGES
    for name in public(package)
    if counterpart(package, name) is None and name not in NOT_ASKED
]


@pytest.mark.parametrize(("package", "name"), WITHOUT)
def test_what_has_no_counterpart_is_refused_by_name(package: str, name: str) -> None:
    function = getattr(importlib.import_module(f"scipy.{package}"), name)

    def called(t: Any) -> Any:
        return function(t * A)

    with pytest.raises(UnsupportedFunctionError) as caught:
        fg.grad(called)(1.0)
    assert f"scipy.{package}.{name} takes" in str(caught.value)
    assert remedy_for(f"scipy.{package}", name) in str(caught.value)


def test_what_has_a_counterpart_stands_in_a_row() -> None:
    missing = [
        f"{package}.{name}"
        for package in PACKAGES
        for name in public(package)
        if counterpart(package, name) is not None
        and name not in NOT_ASKED
        and f"{package}.{name}" not in ROWS
    ]
    assert missing == []


@pytest.mark.parametrize("name", [name for name in ROWS if name.startswith("sparse.")])
@pytest.mark.filterwarnings("ignore")
def test_plain_calls_give_what_ours_give(name: str) -> None:
    case = ROWS[name]
    if not hasattr(importlib.import_module(f"scipy.{name.rpartition('.')[0]}"), name.rpartition(".")[2]):
        pytest.skip("this SciPy has none")
    plain = fg.value_and_grad(number(case, scipy))(case.point)
    ours = fg.value_and_grad(number(case, fg.scipy))(case.point)
    for found, wanted in zip(plain, ours, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


def agrees(f: Callable[[Any], Any]) -> None:
    """Value and derivative along a scale, against SciPy's."""
    value, slope = fg.value_and_grad(f)(1.0)
    np.testing.assert_allclose(value, f(1.0), rtol=1e-10)
    np.testing.assert_allclose(slope, (f(1.0 + 1e-6) - f(1.0 - 1e-6)) / 2e-6, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(fg.jit(fg.grad(f))(1.0), slope, rtol=1e-10)


# -- which product a star is -------------------------------------------------------------------------------

MATRIX = sp.csr_matrix(A)
STARS: dict[str, Callable[[Any], Any]] = {
    "matrix * traced array": lambda t: (MATRIX * (t * A)).sum(),
    "traced array * matrix": lambda t: ((t * A) * MATRIX).sum(),
    "array * traced array": lambda t: (A * (t * A)).sum(),
    "matrix * traced matrix": lambda t: (MATRIX * (t * MATRIX)).sum(),
    "traced array * traced matrix": lambda t: ((t * A) * sp.csr_matrix(t * MATRIX)).sum(),
    "traced matrix * traced array": lambda t: (sp.csr_matrix(t * MATRIX) * (t * A)).sum(),
    "array * traced matrix": lambda t: (A * sp.csr_matrix(t * MATRIX)).sum(),
    "traced matrix * array": lambda t: (sp.csr_matrix(t * MATRIX) * A).sum(),
}


@pytest.mark.parametrize("name", STARS)
def test_the_star_is_scipys_for_every_pair_of_kinds(name: str) -> None:
    agrees(STARS[name])


KINDS: dict[str, Callable[[Any], Any]] = {
    "array": lambda t: A,
    "matrix": lambda t: MATRIX,
    "traced array": lambda t: t * A,
    "traced matrix": lambda t: t * MATRIX,
    "quotient": lambda t: MATRIX / t,
    "converted to an array": lambda t: sp.csr_array(t * MATRIX),
    "converted to a matrix": lambda t: sp.csr_matrix(A * t),
    "negative": lambda t: -(t * MATRIX),
    "transposed": lambda t: (t * MATRIX).T,
    "diagonals": lambda t: sp.diags(t * X),
    "diagonals as an array": lambda t: sp.diags_array(t * X),
    "number": lambda t: 3.0 * t,
    "dense": lambda t: t * W,
}
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "@": lambda a, b: a @ b,
}


def kind_and_sum(x: Any) -> tuple[str, Any]:
    """Whether it is a sparse matrix, a sparse array or neither, and a weighted sum of its elements."""
    is_matrix = isinstance(x, sp.spmatrix | fg.scipy.sparse.SparseMatrix)
    is_array = isinstance(x, sp.sparray | fg.scipy.sparse.SparseArray)
    dense = x.toarray() if hasattr(x, "toarray") else x
    dense = np.asarray(dense) if isinstance(dense, np.matrix) else dense
    return "matrix" if is_matrix else "array" if is_array else "dense", np.sum(dense * W)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("left", KINDS)
def test_operators_of_every_pair_of_kinds(operator: str, left: str) -> None:
    for right, make in KINDS.items():
        kinds: list[str] = []

        def total(t: Any, make: Any = make, kinds: list[str] = kinds) -> Any:
            kind, found = kind_and_sum(OPERATORS[operator](KINDS[left](t), make(t)))
            kinds.append(kind)
            return found

        try:
            wanted = total(1.25)
        except (TypeError, ValueError, NotImplementedError) as error:
            with pytest.raises((type(error), UnsupportedFunctionError, ShapeError)):
                fg.grad(total)(1.25)
            continue
        if operator in "+-" and depends_on_formats(KINDS[left], make):
            with pytest.raises(UnsupportedFunctionError, match="made of diagonals"):
                fg.grad(total)(1.25)
            continue
        value, slope = fg.value_and_grad(total)(1.25)
        assert kinds[0] == kinds[1], right
        np.testing.assert_allclose(value, wanted, rtol=1e-12, err_msg=right)
        np.testing.assert_allclose(slope, (total(1.2501) - total(1.2499)) / 2e-4, rtol=1e-6, atol=1e-7)


def depends_on_formats(left: Callable[[Any], Any], right: Callable[[Any], Any]) -> bool:
    """Whether SciPy has diagonals on the left, and one of each kind; a traced one among them."""
    a, b = left(1.25), right(1.25)
    if not (sp.issparse(a) and sp.issparse(b)) or isinstance(a, sp.sparray) == isinstance(b, sp.sparray):
        return False
    return a.format == "dia"


# -- methods -----------------------------------------------------------------------------------------------

METHODS: dict[str, Callable[[Any], Any]] = {
    **{
        name: lambda a, name=name: getattr(a / 9.0, name)().toarray()
        for name in ("arcsin", "arcsinh", "arctan", "arctanh", "conj", "conjugate", "deg2rad", "expm1")
    },
    **{
        name: lambda a, name=name: getattr(a / 9.0, name)().toarray()
        for name in ("log1p", "rad2deg", "sign", "sin", "sinh", "sqrt", "tan", "tanh")
    },
    "abs": lambda a: abs(-a).toarray(),
    "power": lambda a: (a.power(3) + a**1.5).toarray(),
    "real": lambda a: (a * (1 + 2j)).real.toarray(),
    "imag": lambda a: (a * (1 + 2j)).imag.toarray(),
    "max": lambda a: a.max() + (-a).max(),
    "min": lambda a: a.min() + (-a).min(),
    "trace": lambda a: a.trace() + a.trace(1),
    "diagonal": lambda a: np.concatenate([a.diagonal(k=1), a.diagonal(-2), a.diagonal()]),
    "sum": lambda a: np.concatenate([a.sum(axis=-1, dtype=np.float64), a.sum(axis=0)]),
    "pairs of places": lambda a: a[np.array([0, 1, 2]), np.array([1, 0, 2])],
    "np.sum": lambda a: np.sum(a) + np.mean(a),
    "matrix power": lambda a: (sp.csr_matrix(a) ** 3).toarray(),
    "repeated places": lambda a: abs(
        sp.csr_array((np.concatenate([a.sum(0), -2.0 * a.sum(1)]), (TWICE, TWICE)), shape=(3, 3)).tocsr()
    ).toarray(),
}
TWICE = np.array([0, 1, 2, 0, 1, 2])


@pytest.mark.parametrize("name", METHODS)
def test_methods_that_leave_zeros_zero(name: str) -> None:
    agrees(lambda t: np.sum(METHODS[name](t * A) * 1.5))


def test_repeated_places_count_once() -> None:
    def f(v: Any) -> Any:
        a = sp.csr_array((v, np.array([0, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 2))
        return abs(a).sum() + sl.norm(a) + a.power(2).sum() + np.sum(sp.find(a)[2] ** 3) + a.max()

    v = np.array([1.0, -3.0, 2.0, 0.5])
    value, slope = fg.value_and_grad(f)(v)
    np.testing.assert_allclose(value, f(v.copy()), rtol=1e-12)  # SciPy adds up in place
    step = 1e-6
    expected = [(f(v + step * e) - f(v - step * e)) / (2 * step) for e in np.eye(4)]
    np.testing.assert_allclose(slope, expected, rtol=1e-6)


@pytest.mark.parametrize(
    "use",
    [
        lambda a: a == a,  # noqa: PLR0124
        lambda a: a != 0,
        lambda a: a < 1,
        lambda a: a >= 1,
        lambda a: a == A,
        lambda a: A.multiply(a),  # noqa: PLW0108 - called in a trace
        lambda a: A.maximum(a),  # noqa: PLW0108 - called in a trace
    ],
)
def test_what_would_lose_elements_is_refused(use: Callable[[Any], Any]) -> None:
    with pytest.raises(UnsupportedFunctionError):
        fg.grad(lambda t: t * bool(use(t * A)))(1.0)


def test_the_truth_of_a_traced_array_is_scipys_error() -> None:
    with pytest.raises(ValueError, match="truth value of an array"):
        fg.grad(lambda t: t if t * A else 2.0 * t)(1.0)


@pytest.mark.parametrize("plain", [A, MATRIX, A.toarray(), MATRIX.T])
def test_questions_are_answered_for_traced_ones(plain: Any) -> None:
    def f(t: Any) -> Any:
        seen.append((sp.issparse(t * plain), sp.isspmatrix(t * plain)))
        return t

    seen: list[Any] = []
    fg.grad(f)(1.0)
    f(1.0)
    assert seen[0] == seen[1]


# -- options and errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [None, "fro", 1, -1, np.inf, -np.inf, 2])
def test_norms_of_matrices(order: Any) -> None:
    agrees(lambda t: sl.norm(t * A, order) + sl.norm(t * t * A, order, (1, 0)))


@pytest.mark.parametrize("axis", [0, 1, -1, (1,)])
@pytest.mark.parametrize("order", [None, 0, 1, 2, 3, 0.5, np.inf, -np.inf])
def test_norms_of_rows_and_columns(order: Any, axis: Any) -> None:
    agrees(lambda t: np.sum(sl.norm(t * A, order, axis) * X * 1.5) * t)


@pytest.mark.parametrize(
    "options",
    [{"ord": "nuc"}, {"ord": -2}, {"axis": 2}, {"axis": (0, 0)}, {"axis": 0.5}, {"axis": (0, 1, 2)}],
)
def test_norms_that_scipy_has_not(options: Any) -> None:
    with pytest.raises((ValueError, TypeError, NotImplementedError)) as theirs:
        sl.norm(A, **options)
    with pytest.raises(theirs.type):
        fg.grad(lambda t: np.sum(sl.norm(t * A, **options)))(1.0)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_triangular_systems(lower: bool, unit: bool, form: str) -> None:
    plain = (sp.tril(A) if lower else sp.triu(A)).asformat(form)

    def f(t: Any) -> Any:
        return X @ sl.spsolve_triangular(t * plain, t * X, lower=lower, unit_diagonal=unit)

    agrees(f)
    agrees(lambda t: X @ sl.spsolve_triangular(plain, np.outer(t * X, X), lower) @ X)


def test_triangular_systems_that_have_no_solution() -> None:
    hollow = sp.csr_array(np.array([[0.0, 0.0], [1.0, 2.0]]))
    for a, b in ((hollow, np.ones(2)), (A, X), (A, np.ones(2)), (A[:2], X)):
        with pytest.raises((np.linalg.LinAlgError, ValueError)):
            fg.grad(lambda t, a=a, b=b: sl.spsolve_triangular(t * a, b).sum())(1.0)


PRECONDITIONED = ("bicg", "bicgstab", "cg", "cgs", "gmres", "lgmres", "minres", "gcrotmk")
DEFINITE = sp.csr_array(A @ A.T)


@pytest.mark.parametrize("name", PRECONDITIONED)
def test_iterations_take_a_start_and_a_preconditioner(name: str) -> None:
    inverse = sp.diags_array(1.0 / DEFINITE.diagonal()).tocsr()

    def f(t: Any) -> Any:
        return X @ getattr(sl, name)(t * DEFINITE, t * t * X, X, rtol=1e-13, M=inverse)[0]

    agrees(f)
    with pytest.raises(UnsupportedFunctionError, match="traced x0"):
        fg.grad(lambda t: getattr(sl, name)(DEFINITE, X, t * X)[0].sum())(1.0)


def test_qmr_takes_two_preconditioners_that_are_not_symmetric() -> None:
    left = sp.tril(A).tocsr()
    first = sl.LinearOperator(
        (3, 3),
        matvec=lambda v: sl.spsolve_triangular(left, v),
        rmatvec=lambda v: sl.spsolve_triangular(left.T.tocsr(), v, lower=False),
    )
    second = sl.LinearOperator((3, 3), matvec=lambda v: v, rmatvec=lambda v: v)
    agrees(lambda t: X @ sl.qmr(t * A, t * t * X, rtol=1e-13, M1=first, M2=second)[0])


def test_a_preconditioner_that_scipys_tfqmr_does_not_solve_with_is_refused() -> None:
    with pytest.raises(UnsupportedFunctionError, match="tfqmr with M"):
        fg.grad(lambda t: sl.tfqmr(t * A, X, M=MATRIX)[0].sum())(1.0)


def test_shifts_of_minres() -> None:
    symmetric = sp.csr_array(A + A.T)
    agrees(lambda t: X @ sl.minres(t * symmetric, X, shift=0.5, rtol=1e-13)[0])


def test_options_that_an_iteration_has_not() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'restart'"):
        fg.grad(lambda t: sl.bicg(t * A, X, restart=3)[0].sum())(1.0)


def test_blocks_of_sizes_that_do_not_fit() -> None:
    for others in ([[A[:2], A], [A, A]], [[A, A], [A[:, :2], A]]):
        with pytest.raises(ValueError, match=r"dimension"):
            sp.block_array([[A, A], *others])
        with pytest.raises(ValueError, match=r"dimension"):
            fg.grad(lambda t, others=others: sp.block_array([[t * A, A], *others]).sum())(1.0)
    for blocks in ([A, A], [[A, A], [A]]):
        with pytest.raises(ValueError, match=r"2-D|inhomogeneous"):
            sp.block_array(blocks)
        with pytest.raises(ValueError, match=r"2-D|inhomogeneous"):
            fg.grad(lambda t, blocks=blocks: sp.block_array([*blocks[:1], [t * A]]).sum())(1.0)


def test_operators_of_traced_matrices() -> None:
    def f(t: Any) -> Any:
        a = sl.aslinearoperator(t * A)
        return X @ (a @ X) + np.sum(a.rmatvec(X) ** 2) + np.sum(a.matmat(np.outer(X, X))) + a.shape[0] * t

    agrees(f)
