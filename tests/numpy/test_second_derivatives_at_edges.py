"""Elementary functions at the edges of their domains: no two ways to a derivative give different numbers.

Each is differentiated forwards and in reverse, once and twice, in every order; NaN says that a way has no
answer. Where there is a limit from within, all ways give it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from tests.at_length import at_length

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

INF, NAN = np.inf, np.nan
Function = Callable[..., Any]
UNARY = (
    *(
        "sin",
        "cos",
        "tan",
        "arcsin",
        "arccos",
        "arctan",
        "sinh",
        "cosh",
        "tanh",
        "arcsinh",
        "arccosh",
        "arctanh",
    ),
    *(
        "exp",
        "exp2",
        "expm1",
        "log",
        "log2",
        "log10",
        "log1p",
        "sqrt",
        "cbrt",
        "square",
        "reciprocal",
        "absolute",
    ),
    *("fabs", "sign", "sinc", "i0", "degrees", "nan_to_num", "rint", "floor", "real"),
)
POINTS = (-745.0, -2.0, -1.0, -0.5, 0.0, 1e-9, 0.5, 1.0, 2.0, 745.0)
BINARY = (
    "power",
    "float_power",
    "hypot",
    "arctan2",
    "logaddexp",
    "logaddexp2",
    "maximum",
    "fmin",
    "copysign",
)
FEW = (-2.0, -1.0, 0.0, 0.5, 1.0, 2.0)


def forward(f: Function, k: int) -> Function:
    """The derivative of `f` by argument k, forwards."""
    return lambda *x: fg.jvp(f, x, tuple([np.full_like(v, m == k) for m, v in enumerate(x)]))[1]


def reverse(f: Function, k: int) -> Function:
    """The derivative of `f` by argument k, in reverse."""
    return fg.grad(lambda *x: np.sum(f(*x)), k)


def every_way(f: Function, at: tuple[Any, ...]) -> dict[tuple[int, ...], list[Any]]:
    """First and second derivatives at many points."""
    found: dict[tuple[int, ...], list[Any]] = {}
    compiled = [fg.jit] if at_length() else []
    for k in range(len(at)):
        for inner in (forward, reverse):
            found.setdefault((k,), []).extend([how(inner(f, k))(*at) for how in (lambda g: g, *compiled)])
            for m, outer in itertools.product(range(len(at)), (forward, reverse)):
                twice = outer(inner(f, k), m)
                key = (min(k, m), max(k, m))
                found.setdefault(key, []).extend([how(twice)(*at) for how in (lambda g: g, *compiled)])
    return found


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_no_two_ways_give_different_numbers(name: str) -> None:
    columns = zip(*itertools.product(FEW, FEW), strict=True) if name in BINARY else [POINTS]
    at = tuple([np.array(c) for c in columns])
    for key, ways in every_way(getattr(np, name), at).items():
        for one, other in itertools.combinations([np.broadcast_to(w, at[0].shape) for w in ways], 2):
            both = ~(np.isnan(one) | np.isnan(other))
            np.testing.assert_allclose(one[both], other[both], rtol=1e-9, atol=1e-12, err_msg=str(key))


LIMITS: list[tuple[Function, tuple[float, ...], tuple[int, ...], float]] = [
    (np.arcsin, (1.0,), (0, 0), INF),
    (np.arcsin, (-1.0,), (0, 0), -INF),
    (np.arccos, (1.0,), (0, 0), -INF),
    (np.arccos, (-1.0,), (0, 0), INF),
    (np.arccosh, (1.0,), (0, 0), -INF),
    (np.arctanh, (1.0,), (0, 0), INF),
    (np.arctanh, (-1.0,), (0, 0), -INF),
    # x**(y - 1) (1 + y log x): it was 0 in one order and 1 in the other.
    (np.power, (0.0, 1.0), (0, 1), -INF),
    (np.power, (0.0, 2.0), (0, 1), 0.0),
    (np.power, (0.0, 0.0), (0, 1), INF),
    # By x it is a number, though by y there is none.
    (np.power, (-2.0, 3.0), (0,), 12.0),
    (np.power, (-2.0, 3.0), (0, 0), -12.0),
    (np.power, (-2.0, -1.0), (0, 0), -0.25),
    (np.power, (-2.0, 3.0), (1,), NAN),
]


@pytest.mark.parametrize("case", range(len(LIMITS)))
def test_where_there_is_a_limit_all_ways_give_it(case: int) -> None:
    f, point, key, limit = LIMITS[case]
    for found in every_way(f, tuple([np.array([v]) for v in point]))[key]:
        np.testing.assert_allclose(found, [limit], rtol=1e-12)
