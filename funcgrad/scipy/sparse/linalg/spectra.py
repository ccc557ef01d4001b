"""Some eigenvalues and singular values of sparse matrices, least squares, and exponentials times a matrix.

Values come from SciPy's iterations. What they find solves equations, and its derivative solves linear systems
with a sparse matrix: that of an eigenpair has a border, which says that the vector keeps its length.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.api.control_flow.loops import fori_loop, scan
from funcgrad.api.rules.custom import custom_jvp
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.numpy.algebra.operands import conjugated
from funcgrad.ops.arrays.structure import aval, cast, shape_of
from funcgrad.ops.elementwise.identity import stop_gradient
from funcgrad.ops.sparse.found import SparseFound
from funcgrad.scipy.optimize.options import Held
from funcgrad.scipy.sparse.arrays import SparseArray, Structure, gathered
from funcgrad.scipy.sparse.linalg.systems import (
    compressed,
    dense_right,
    elements,
    right_hand_side,
    scipys,
    solved,
)
from funcgrad.source import Source, user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import recorder_of
from funcgrad.types import Array, ArrayLike, Arrays, Number

RandomSource = int | np.random.Generator | np.random.RandomState | None

Options = tuple[tuple[str, Any], ...]


def plain_options(name: str, options: dict[str, Any], refused: tuple[str, ...]) -> Options:
    """The options that are given; raises for those that have no derivative here."""
    given = {key: value for key, value in options.items() if value is not None}
    bad = [key for key in refused if key in given]
    if bad:
        raise UnsupportedFunctionError(
            f"scipy.sparse.linalg.{name} with {', '.join(bad)} is not supported on traced values",
            source=Source(*user_location()),
            remedy="Leave it out, or call it on np.asarray(fg.stop_gradient(x)).",
        )
    return tuple(sorted(given.items()))


def started(v0: ArrayLike, data: Array) -> tuple[Array, ...]:
    """The vector that an iteration starts at, if there is one: what is found does not depend on it."""
    return () if v0 is None else (cast(stop_gradient(asoperand(v0)), aval(data).dtype),)


def plain_weights(m: object) -> Held | None:
    """The matrix M of a generalised problem, which must not be traced."""
    if m is None:
        return None
    if recorder_of([elements(m)]) is not None:
        plain_options("eigsh", {"a traced M": m}, ("a traced M",))
    return Held(m)


# -- eigenvalues -------------------------------------------------------------------------------------------


def _eigenpairs(
    structure: Structure, k: int, options: Options, data: Array, *start: Array
) -> tuple[Any, Any]:
    n = structure.shape[0]
    find = SparseFound("eigsh", structure.shape, (("k", k), *options), ((k,), (n, k)), bool(start))
    w, v = find.bind(data, structure.indices, structure.indptr, *start)
    return real_part(w), v


eigenpairs = custom_jvp(_eigenpairs, nondiff_argnums=(0, 1, 2))


@eigenpairs.defjvp
def eigenpairs_jvp(
    structure: Structure, k: int, options: Options, primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[Array, Array]:
    """``w_dot = v.T A_dot v``, and a bordered system for the vector."""
    (data, *start), (data_dot, *_) = primals, tangents
    w, v = eigenpairs(structure, k, options, data, *start)
    a, a_dot = SparseArray(data, structure), SparseArray(data_dot, structure)
    held = dict(options).get("M")
    weights = None if held is None else compressed(held.value)
    pairs = [pair_moved(a, a_dot, w[i], v[:, i], weights) for i in range(k)]
    return (w, v), (fnp.stack([p[0] for p in pairs]), fnp.stack([p[1] for p in pairs], 1))


def pair_moved(
    a: SparseArray, a_dot: SparseArray, w: ArrayLike, v: ArrayLike, weights: SparseArray | None = None
) -> tuple[Any, Any]:
    """How an eigenpair moves: ``(A - w M) v_dot - w_dot M v = -A_dot v`` and ``v.H M v_dot = 0``."""
    n = a.shape[0]
    every, last = np.arange(n), np.full(n, n)
    if weights is None:
        m_rows, m_columns, m_data, side = every, every, np.ones(n), v
    else:
        m_rows, m_columns, m_data = weights.structure.rows, weights.indices, weights.data
        side = weights @ v
    rows = np.concatenate([a.structure.rows, m_rows, every, last])
    columns = np.concatenate([a.indices, m_columns, last, every])
    values = fnp.concatenate([a.data, -w * m_data, -side, conjugated(side)])
    bordered = gathered((n + 1, n + 1), rows, columns, values)
    right = fnp.concatenate([-(a_dot @ v), np.zeros(1)])
    found = solved(bordered, right, False, "spsolve", {})
    return real_part(found[n]), found[:n]


def conjugated_elements(a: SparseArray) -> SparseArray:
    """The complex conjugate."""
    return SparseArray(conjugated(a.data), a.structure)


def real_part(x: ArrayLike) -> Array:
    """The real part; `x` itself where it is real."""
    return fnp.real(x) if aval(x).dtype.kind == "c" else x


def in_doubles(*arrays: ArrayLike) -> tuple[np.dtype[Any], list[Any]]:
    """The dtype that SciPy answers in, and the arrays in doubles, real or complex, to compute with."""
    dtype = np.result_type(*[aval(x).dtype for x in arrays])
    dtype = dtype if dtype.kind in "fc" else np.dtype(np.float64)
    return dtype, [cast(x, np.result_type(dtype, np.float64)) for x in arrays]


def in_precision_of(dtype: np.dtype[Any], x: ArrayLike) -> Array:
    """`x` in the precision of a dtype, real or complex as it was."""
    return cast(x, dtype if aval(x).dtype.kind == dtype.kind else np.zeros(0, dtype).real.dtype)


def seed_of(rng: RandomSource) -> int | None:
    """What SciPy's iterations may start from again and again: a seed, drawn where a generator is given."""
    if rng is None or isinstance(rng, int | np.integer):
        return None if rng is None else int(rng)
    return int(rng.integers(2**32) if isinstance(rng, np.random.Generator) else rng.randint(2**31))


def eigsh(
    A: ArrayLike,
    k: int = 6,
    M: object = None,
    sigma: ArrayLike = None,
    which: str = "LM",
    v0: ArrayLike = None,
    ncv: ArrayLike = None,
    maxiter: Number = None,
    tol: float = 0,
    return_eigenvectors: bool = True,
    Minv: object = None,
    OPinv: object = None,
    mode: str = "normal",
    rng: RandomSource = None,
) -> Arrays:
    """k eigenvalues of a symmetric sparse matrix, and their vectors; each eigenvalue must be a single one.

    The derivative by an element counts the matrix as it stands: change both of a symmetric pair together.
    A positive definite `M` (``A v = w M v``) and the start `v0` are taken, and have no derivatives.

    >>> A = fg.scipy.sparse.csr_array(np.diag([1.0, 2.0, 3.0, 5.0]))
    >>> slope = fg.grad(lambda s: fg.scipy.sparse.linalg.eigsh(s * A, k=1, return_eigenvectors=False)[0])(2.0)
    >>> print(slope.round(6))
    5.0
    """
    given = {"sigma": sigma, "which": which, "v0": v0, "ncv": ncv, "maxiter": maxiter, "tol": tol}
    given["mode"] = mode
    others = {"M": M, "Minv": Minv, "OPinv": OPinv}
    if recorder_of([elements(A), elements(M), v0]) is None:
        return scipys("eigsh")(A, k, return_eigenvectors=return_eigenvectors, rng=rng, **given, **others)
    given["rng"] = seed_of(rng)
    del given["v0"]
    others["M"] = plain_weights(M)
    options = plain_options("eigsh", given | others, ("Minv", "OPinv"))
    a = compressed(A)
    dtype, (data,) = in_doubles(a.data)
    w, v = eigenpairs(a.structure, k, options, data, *started(v0, data))
    if not return_eigenvectors:
        is_ascending = sigma is not None and dtype.kind != "c"
        return in_precision_of(dtype, w if is_ascending else w[fnp.argsort(rank_of(w, which, sigma))])
    return in_precision_of(dtype, w), cast(v, dtype)


def rank_of(w: ArrayLike, which: str, sigma: ArrayLike | None) -> Array:
    """By what SciPy sorts eigenvalues where no vectors are asked for: what it looked for comes last."""
    found = w if sigma is None else 1.0 / (w - sigma)
    if which in ("LM", "SM"):
        return abs(found) if which == "LM" else -abs(found)
    return -found if which == "SA" else found


# -- singular values ---------------------------------------------------------------------------------------


def _triplets(
    structure: Structure, k: int, options: Options, data: Array, *start: Array
) -> tuple[Any, Any, Any]:
    m, n = structure.shape
    find = SparseFound("svds", structure.shape, (("k", k), *options), ((m, k), (k,), (k, n)), bool(start))
    u, s, vh = find.bind(data, structure.indices, structure.indptr, *start)
    return u, real_part(s), vh


triplets = custom_jvp(_triplets, nondiff_argnums=(0, 1, 2))


@triplets.defjvp
def triplets_jvp(
    structure: Structure, k: int, options: Options, primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[Array, Array]:
    """Both vectors together are an eigenvector of the Hermitian matrix ``[[0, A], [A.H, 0]]``."""
    (data, *start), (data_dot, *_) = primals, tangents
    u, s, vh = triplets(structure, k, options, data, *start)
    whole, whole_dot = [doubled(SparseArray(x, structure)) for x in (data, data_dot)]
    m = structure.shape[0]
    root = np.sqrt(2.0)
    both = [fnp.concatenate([u[:, i], conjugated(vh[i])]) / root for i in range(k)]
    pairs = [pair_moved(whole, whole_dot, s[i], both[i]) for i in range(k)]
    vectors = [root * p[1] for p in pairs]
    return (u, s, vh), (
        fnp.stack([z[:m] for z in vectors], 1),
        fnp.stack([p[0] for p in pairs]),
        fnp.stack([conjugated(z[m:]) for z in vectors]),
    )


def doubled(a: SparseArray) -> SparseArray:
    """The Hermitian matrix ``[[0, A], [A.H, 0]]``."""
    m, n = a.shape
    rows = np.concatenate([a.structure.rows, a.indices + m])
    columns = np.concatenate([a.indices + m, a.structure.rows])
    return gathered((m + n, m + n), rows, columns, fnp.concatenate([a.data, conjugated(a.data)]))


def svds(
    A: ArrayLike,
    k: int = 6,
    ncv: ArrayLike = None,
    tol: float = 0,
    which: str = "LM",
    v0: ArrayLike = None,
    maxiter: Number = None,
    return_singular_vectors: ArrayLike = True,
    solver: str = "arpack",
    rng: RandomSource = None,
    options: Mapping[str, object] | None = None,
    *,
    random_state: RandomSource = None,
) -> Arrays:
    """k singular values of a sparse matrix, and their vectors; each must be a single one, and not zero.

    With ``return_singular_vectors="u"`` or ``"vh"`` the other vectors are None. No solver has `options`.

    >>> A = fg.scipy.sparse.csr_array(np.diag([1.0, 2.0, 3.0, 5.0]))
    >>> print(fg.grad(lambda s: fg.scipy.sparse.linalg.svds(s * A, k=1)[1][0])(2.0).round(6))
    5.0
    """
    given = {"ncv": ncv, "tol": tol, "which": which, "v0": v0, "maxiter": maxiter, "solver": solver}
    if rng is not None and random_state is not None:
        raise TypeError("svds got multiple values for argument now known as `rng`")
    rng = random_state if rng is None else rng
    asked = return_singular_vectors
    if recorder_of([elements(A), v0]) is None:
        return scipys("svds")(A, k, return_singular_vectors=asked, rng=rng, options=options, **given)
    if asked not in (True, False, "u", "vh"):
        raise ValueError("`return_singular_vectors` must be one of True, False, 'u' and 'vh'.")
    del given["v0"]
    found = plain_options("svds", given | {"rng": seed_of(rng)}, ())
    a = compressed(A)
    dtype, (data,) = in_doubles(a.data)
    u, s, vh = triplets(a.structure, k, found, data, *started(v0, data))
    s = in_precision_of(dtype, s)
    if asked is False:
        return s
    return None if asked == "vh" else cast(u, dtype), s, None if asked == "u" else cast(vh, dtype)


# -- least squares -----------------------------------------------------------------------------------------


def _least_squares(
    structure: Structure, damp: float, options: Options, data: Array, b: Array
) -> tuple[Array, ...]:
    """All that ``scipy.sparse.linalg.lsqr`` returns, in the dtype of the solution."""
    n = structure.shape[1]
    shapes = ((n,), *[()] * 8, (n,))
    find = SparseFound("lsqr", structure.shape, (("damp", damp), *options), shapes, False)
    found: tuple[Array, ...] = find.bind(data, structure.indices, structure.indptr, b)
    return found


least_squares = custom_jvp(_least_squares, nondiff_argnums=(0, 1, 2))


@least_squares.defjvp
def least_squares_jvp(
    structure: Structure, damp: float, options: Options, primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """``r + A x = b`` and ``A.H r = damp**2 x``: a system that is not squared, for residual and solution."""
    (data, b), (data_dot, b_dot) = primals, tangents
    x, *account = least_squares(structure, damp, options, data, b)
    a, a_dot = SparseArray(data, structure), SparseArray(data_dot, structure)
    m, n = structure.shape
    r = b - a @ x
    whole = doubled(a)
    diagonal = np.concatenate([np.ones(m), np.full(n, -(damp**2))])
    every = np.arange(m + n)
    rows = np.concatenate([whole.structure.rows, every])
    columns = np.concatenate([whole.indices, every])
    system = gathered((m + n, m + n), rows, columns, fnp.concatenate([whole.data, diagonal]))
    right = fnp.concatenate([b_dot - a_dot @ x, -(conjugated_elements(a_dot).T @ r)])
    x_dot = solved(system, right, False, "spsolve", {})[m:]
    return (x, *account), (x_dot, *[fnp.zeros_like(part) for part in account])


def lsqr(
    A: ArrayLike,
    b: ArrayLike,
    damp: float = 0.0,
    atol: float = 1e-6,
    btol: float = 1e-6,
    conlim: float = 1e8,
    iter_lim: ArrayLike = None,
    show: bool = False,
    calc_var: bool = False,
    x0: ArrayLike = None,
) -> Arrays:
    """The least-squares solution of a sparse system of full column rank, and SciPy's account of it.

    Of the ten results ``x``, ``r1norm``, ``r2norm`` and ``xnorm`` have derivatives. Why and when the
    iteration ended, and what it guessed of the matrix (``istop, itn, anorm, acond, arnorm``), are constants.
    `x0` is plain: where the iteration starts, and with `damp` what the solution is held to.
    UnsupportedFunctionError for a traced `x0` and for `calc_var` on traced values.

    >>> A = fg.scipy.sparse.csr_array(np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]))
    >>> print(fg.grad(lambda b: fg.scipy.sparse.linalg.lsqr(A, b)[0].sum())(np.ones(3)).round(6))
    [1.  0.5 0. ]
    """
    given = {"atol": atol, "btol": btol, "conlim": conlim, "iter_lim": iter_lim}
    if recorder_of([elements(A), asoperand(b), *([] if x0 is None else [asoperand(x0)])]) is None:
        return scipys("lsqr")(A, b, damp, show=show, calc_var=calc_var, x0=x0, **given)
    asked = {"calc_var": calc_var or None}
    start: dict[str, Any] = {} if x0 is None else {"traced x0": x0}
    if start and recorder_of([asoperand(x0)]) is None:
        start = {"x0": Held(np.array(x0, dtype=np.float64 if np.isrealobj(x0) else np.complex128))}
    options = plain_options("lsqr", given | asked | start, ("traced x0", "calc_var"))
    a, y = compressed(A), asoperand(b)
    _, (data, y) = in_doubles(a.data, y[:, 0] if len(shape_of(y)) == 2 else y)
    found = least_squares(a.structure, float(damp), options, data, y)
    x = found[0]
    istop, itn, r1norm, r2norm, anorm, acond, arnorm, xnorm, var = map(fnp.real, found[1:])
    first = fnp.linalg.norm(y - SparseArray(data, a.structure) @ x)
    length = fnp.linalg.norm(x if x0 is None else x - start["x0"].value)
    second = fnp.sqrt(first**2 + (damp * length) ** 2) if damp else first
    r1norm, r2norm, xnorm = moved(r1norm, first), moved(r2norm, second), moved(xnorm, length)
    whole = np.dtype(np.int64)
    return x, cast(istop, whole), cast(itn, whole), r1norm, r2norm, anorm, acond, arnorm, xnorm, var


def moved(value: Array, by: Array) -> Array:
    """A value of SciPy's, with the derivatives of the formula that it agrees with to a tolerance."""
    return value + (by - stop_gradient(by))


# -- exponentials ------------------------------------------------------------------------------------------

TERMS = 30
REACH = 3.5
"""So many terms of the series are exact to the last digit for matrices whose norm is at most this."""


def expm_multiply(
    A: ArrayLike,
    B: ArrayLike,
    start: ArrayLike = None,
    stop: ArrayLike = None,
    num: Number = None,
    endpoint: object = None,
    traceA: ArrayLike = None,
) -> Array:
    """``expm(A) @ B`` for a sparse matrix, by as many steps of its series as its norm asks for.

    With `start` and `stop`, ``expm(t * A) @ B`` at `num` times (50 if left out) from one to the other,
    stacked in front.

    >>> A = fg.scipy.sparse.csr_array(np.diag([1.0, 2.0]))
    >>> print(fg.grad(lambda b: fg.scipy.sparse.linalg.expm_multiply(A, b).sum())(np.ones(2)).round(4))
    [2.7183 7.3891]
    """
    if recorder_of([elements(A), right_hand_side(B)]) is None:
        return scipys("expm_multiply")(A, B, start, stop, num, endpoint, traceA)
    a, b = compressed(A), dense_right("expm_multiply", B)
    if all(x is None for x in (start, stop, num, endpoint)):
        return _exponential_times(a, b)
    if start is None or stop is None:
        raise ValueError("expm_multiply takes start and stop together")
    count = 50 if num is None else int(num)
    if count < 2:
        raise ValueError("expm_multiply needs at least two times")
    pace = (stop - start) / (count - 1 if endpoint is None or endpoint else count)
    first = _exponential_times(SparseArray(a.data * start, a.structure), b)
    once = SparseArray(a.data * pace, a.structure)

    def following(x: Array, _: object) -> tuple[Any, Any]:
        x = _exponential_times(once, x)
        return x, x

    _, rest = scan(following, first, None, length=count - 1)
    return fnp.concatenate([first[None], rest])


def _exponential_times(a: SparseArray, b: ArrayLike) -> Array:
    dtype = np.result_type(aval(a.data).dtype, aval(b).dtype, np.float64)
    n = a.shape[0]
    # Without its mean eigenvalue the norm, and the number of steps, is smaller.
    mean = fnp.sum(a.diagonal()) / n
    shifted = a + SparseArray(-mean * np.ones(n), Structure(np.arange(n), np.arange(n + 1), (n, n)))
    sums = SparseArray(abs(stop_gradient(shifted.data)), shifted.structure).sum(axis=0)
    steps = fnp.maximum(fnp.ceil(fnp.max(sums) / REACH), 1.0)
    structure, data = shifted.structure, cast(shifted.data, dtype) / steps
    scale = fnp.exp(mean / steps)

    def next_term(k: Array, terms: Array) -> Array:
        term, total = terms
        term = (SparseArray(data, structure) @ term) / k
        return term, total + term

    def step(_: object, x: Array) -> Array:
        return fori_loop(1, TERMS + 1, next_term, (x, x))[1] * scale

    return fori_loop(0, steps.astype(np.int64), step, cast(b, dtype) + np.zeros(shape_of(b), dtype))
