"""Every function of the vector mathematics is within 2 ulp of the exact result, over its whole range."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import settings

from funcgrad.compile.vecmath.registry import FUNCTIONS

DTYPES = ("float64", "float32")

# Many more points under `--hypothesis-profile=explore`.
POINTS = 60 if (settings().max_examples or 0) <= 100 else 5000


@pytest.mark.at_length
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [n for n, (_, arity) in FUNCTIONS.items() if arity == 1])
def test_one_argument(name: str, dtype: str, apply: Any, rng: np.random.Generator) -> None:
    from references import CASES, drawn, worst

    case = CASES[name]
    x = np.concatenate([drawn(rng, interval, POINTS, dtype) for interval in case.ranges(dtype)])
    x = x[x != np.floor(x)] if name in ("gammaln", "digamma") else x
    error, where = worst(name, (x,), apply(name, x))
    assert error <= case.ulps, where


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["pow", "hypot", "arctan2", "logaddexp", "logaddexp2"])
def test_two_arguments(name: str, dtype: str, apply: Any, rng: np.random.Generator) -> None:
    from references import drawn_pairs, worst

    pairs = drawn_pairs(rng, name, 2 * POINTS, dtype)
    error, where = worst(name, pairs, apply(name, *pairs))
    assert error <= 2.0, where


@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh", "log1p", "expm1"])
@pytest.mark.parametrize("flags", ["", "fast"])
def test_flags_of_the_caller_change_no_bit(
    name: str, flags: str, apply: Any, rng: np.random.Generator
) -> None:
    x = np.concatenate([rng.uniform(-1, 1, 500), rng.normal(0, 100, 500), np.exp(rng.normal(0, 50, 500))])
    np.testing.assert_array_equal(apply(name, x).view(np.int64), apply(name, x, flags=flags).view(np.int64))


def test_every_single_precision_exponential_near_one(apply: Any) -> None:
    x = np.arange(0x3F000000, 0x3F800000, 37, dtype=np.uint32).view(np.float32)
    exact = np.exp(x.astype(np.float64))
    assert np.max(np.abs(apply("exp", x) - exact) / np.spacing(exact.astype(np.float32))) < 1.0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["gammaln", "digamma"])
def test_gamma_functions_of_positive_numbers(
    name: str, dtype: str, apply: Any, rng: np.random.Generator
) -> None:
    from references import CASES, error_in_ulps

    # At their zeros too: 1 and 2 for the one, 1.4616... for the other.
    x = np.concatenate([rng.uniform(0.01, 12.0, 2 * POINTS), rng.normal(1.46, 1e-3, 20)]).astype(dtype)
    with mpmath.workprec(150):
        exact = [CASES[name].reference(mpmath.mpf(v)) for v in x.tolist()]
    errors = [error_in_ulps(y, e, dtype) for y, e in zip(apply(name, x).tolist(), exact, strict=True)]
    assert max(errors) < 2.7, x[np.argmax(errors)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide", "nextafter"])
def test_exact_functions(name: str, dtype: str, apply: Any, rng: np.random.Generator) -> None:
    sizes = np.exp(rng.uniform(-80, 80, (2, 4000)))
    x, y = np.concatenate([sizes, sizes[:, ::-1] * [[1], [1e-3]], rng.integers(1, 99, (2, 4000))], 1).astype(
        dtype
    )
    x, y = x * rng.choice([-1, 1], x.size).astype(dtype), y * rng.choice([-1, 1], x.size).astype(dtype)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x, y)
    np.testing.assert_array_equal(apply(name, x, y), expected)


@pytest.mark.parametrize("x", [1e3, 710.0, 1e5, 1e22, 6381956970095103 * 2.0**797, 1.7e308])
def test_angles_beyond_the_reach_of_the_fast_reduction(x: float, apply: Any) -> None:
    from references import worst

    # The sixth is the number nearest to a multiple of pi/2 of all in double precision.
    for name in ("sin", "cos", "tan"):
        points = np.array([x, -x, 0.5, x])
        assert worst(name, (points,), apply(name, points))[0] < 1.5
