"""Linear systems by SciPy's iterations: the value is theirs, and derivatives are solved for likewise."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature, signature
from typing import Any

import numpy as np

from funcgrad.errors import UnsupportedFunctionError
from funcgrad.scipy.optimize.options import Held
from funcgrad.scipy.originals import originals_of
from funcgrad.scipy.sparse.arrays import SparseArray, is_sparse
from funcgrad.scipy.sparse.linalg.operators import LinearOperator, solution_by_products
from funcgrad.scipy.sparse.linalg.systems import compressed, elements, is_column, solved
from funcgrad.source import Source, user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import recorder_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, ArrayLike, Number, Option

__all__ = ["bicg", "bicgstab", "cg", "cgs", "gcrotmk", "gmres", "lgmres", "minres", "qmr", "tfqmr"]

scipys = originals_of("sparse.linalg")
"""SciPy's functions and classes by name."""


HELD = ("x0", "M", "M1", "M2")
"""Where an iteration starts and what it is preconditioned by: plain, and without a derivative."""

BOTH_WAYS = ("bicg", "qmr")
"""Methods that need products with the transposed matrix."""


UNSOUND = {"tfqmr": ("M",)}
"""Options with which SciPy's own solution is wrong and says nothing: residuals of 0.2 of the right side."""


def by_iteration(method: str, A: ArrayLike, b: ArrayLike, options: dict[str, Any]) -> tuple[Any, Any]:
    """A solution and SciPy's account of it: 0, or why it stopped before."""
    plain = {name: value for name, value in options.items() if value is not None}
    traced = [f"traced {name}" for name, value in plain.items() if isinstance(value, TRACED)]
    tracers = [x for x in plain.values() if isinstance(x, Tracer)]
    right = asoperand(b)
    vector = right[:, 0] if is_column(right) else right
    if isinstance(A, LinearOperator):
        used = {name: value for name, value in plain.items() if name not in (*HELD, "callback")}
        found = solution_by_products(method, A.matvec, vector, used)
        if found is not None:
            bad = [name for name in (*HELD, "callback") if name in plain]
            refuse_options(method, [*bad, *(["an operator"] if method in BOTH_WAYS else [])])
            return found, 0
    if not traced and recorder_of([elements(A), right, *tracers]) is None:
        answer: tuple[Any, Any] = scipys(method)(A, b, **plain)
        return answer
    unknown = not is_sparse(A) and not isinstance(A, Tracer | np.ndarray)
    bad = [name for name in ("callback", *UNSOUND.get(method, ())) if name in plain]
    refuse_options(method, [*traced, *bad, *(["an operator"] if unknown else [])])
    used = {name: Held(held_value(value)) if name in HELD else value for name, value in plain.items()}
    return solved(compressed(A), vector, False, method, used), 0


TRACED = Tracer | SparseArray | LinearOperator
"""What may hold traced values."""


def held_value(x: Anything) -> Anything:
    """An array as it is now; what is no array itself."""
    return np.array(x) if isinstance(x, np.ndarray | list | tuple) else x


def refuse_options(method: str, refused: list[str]) -> None:
    """Raise for what has no derivative here."""
    if refused:
        raise UnsupportedFunctionError(
            f"scipy.sparse.linalg.{method} with {', '.join(refused)} is not supported on traced values",
            source=Source(*user_location()),
            remedy="Leave out the callback, give a starting point and a preconditioner that are not traced, "
            "and the matrix itself, or fg.scipy.sparse.linalg.LinearOperator without them.",
        )


def cg(
    A: ArrayLike,
    b: ArrayLike,
    x0: ArrayLike = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: Number = None,
    M: object = None,
    callback: object = None,
) -> tuple[Any, Any]:
    """The solution of a positive definite system by conjugate gradients; derivatives likewise.

    >>> A = fg.scipy.sparse.csr_array(np.diag([2.0, 4.0]))
    >>> print(fg.grad(lambda b: fg.scipy.sparse.linalg.cg(A, b)[0].sum())(np.ones(2)).round(6))
    [0.5  0.25]
    """
    options = {"rtol": rtol, "atol": atol, "maxiter": maxiter, "M": M, "callback": callback, "x0": x0}
    return by_iteration("cg", A, b, options)


def bicgstab(
    A: ArrayLike,
    b: ArrayLike,
    x0: ArrayLike = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: Number = None,
    M: object = None,
    callback: object = None,
) -> tuple[Any, Any]:
    """The solution of a system by stabilised biconjugate gradients; derivatives likewise.

    >>> A = fg.scipy.sparse.csr_array(np.diag([2.0, 4.0]))
    >>> print(fg.grad(lambda b: fg.scipy.sparse.linalg.bicgstab(A, b)[0].sum())(np.ones(2)).round(6))
    [0.5  0.25]
    """
    options = {"rtol": rtol, "atol": atol, "maxiter": maxiter, "M": M, "callback": callback, "x0": x0}
    return by_iteration("bicgstab", A, b, options)


def gmres(
    A: ArrayLike,
    b: ArrayLike,
    x0: ArrayLike = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    restart: ArrayLike = None,
    maxiter: Number = None,
    M: object = None,
    callback: object = None,
    callback_type: ArrayLike = None,
) -> tuple[Any, Any]:
    """The solution of a system by minimal residuals; derivatives likewise.

    >>> A = fg.scipy.sparse.csr_array(np.diag([2.0, 4.0]))
    >>> print(fg.grad(lambda b: fg.scipy.sparse.linalg.gmres(A, b)[0].sum())(np.ones(2)).round(6))
    [0.5  0.25]
    """
    options = {"rtol": rtol, "atol": atol, "restart": restart, "maxiter": maxiter}
    options |= {"M": M, "callback": callback, "callback_type": callback_type, "x0": x0}
    return by_iteration("gmres", A, b, options)


# -- iterations by name ------------------------------------------------------------------------------------

SHARED: dict[str, Any] = {"rtol": 1e-5, "atol": 0.0, "maxiter": None, "M": None, "callback": None}

BY_NAME: dict[str, tuple[str, dict[str, Any]]] = {
    "bicg": ("biconjugate gradients", SHARED),
    "cgs": ("conjugate gradients squared", SHARED),
    "qmr": (
        "quasi-minimal residuals",
        {"rtol": 1e-5, "atol": 0.0, "maxiter": None, "M1": None, "M2": None, "callback": None},
    ),
    "tfqmr": ("transpose-free quasi-minimal residuals", SHARED | {"show": False}),
    "minres": (
        "minimal residuals, for a symmetric matrix less `shift` times the identity",
        {
            "rtol": 1e-5,
            "shift": 0.0,
            "maxiter": None,
            "M": None,
            "callback": None,
            "show": False,
            "check": False,
        },
    ),
    "lgmres": (
        "loose minimal residuals",
        SHARED | {"maxiter": 1000, "inner_m": 30, "outer_k": 3, "prepend_outer_v": False},
    ),
    "gcrotmk": (
        "conjugate residuals with inner iterations",
        SHARED | {"maxiter": 1000, "m": 20, "k": None, "truncate": "oldest"},
    ),
}
"""What each is, and its options; spaces that later solutions start from are SciPy's affair alone."""


def iterating(name: str) -> Callable[..., tuple[Any, Any]]:
    """The function of that name."""
    what, options = BY_NAME[name]

    def solve(A: Anything, b: Array, x0: ArrayLike = None, **given: Option) -> tuple[Any, Any]:
        unknown = given.keys() - options.keys()
        if unknown:
            raise TypeError(f"{name}() got an unexpected keyword argument {min(unknown)!r}")
        return by_iteration(name, A, b, {**options, **given, "x0": x0})

    first = list(signature(solve).parameters.values())[:3]
    solve.__name__ = solve.__qualname__ = name
    solve.__signature__ = Signature(  # type: ignore[attr-defined]
        [*first, *(Parameter(key, Parameter.KEYWORD_ONLY, default=value) for key, value in options.items())]
    )
    solve.__doc__ = f"""The solution of a system by {what}; derivatives likewise.

    Raises UnsupportedFunctionError for a callback or traced options, and NotDifferentiableError where the
    iteration finds no solution.

    >>> A = fg.scipy.sparse.csr_array(np.diag([2.0, 4.0]))
    >>> print(fg.grad(lambda b: fg.scipy.sparse.linalg.{name}(A, b)[0].sum())(np.ones(2)).round(6))
    [0.5  0.25]
    """
    return solve


bicg = iterating("bicg")
cgs = iterating("cgs")
gcrotmk = iterating("gcrotmk")
lgmres = iterating("lgmres")
minres = iterating("minres")
qmr = iterating("qmr")
tfqmr = iterating("tfqmr")
