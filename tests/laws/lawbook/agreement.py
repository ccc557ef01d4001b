"""Agreement with NumPy or SciPy: one function called on arrays and on traced arrays, results and refusals."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import funcgrad as fg
from lawbook.numerics import assert_close

Function = Callable[..., Any]


def traced(f: Function, *args: Any) -> Any:
    """`f` through its recorded Program."""
    results = fg.make_program(f)(*args)(*args)
    return results if len(results) > 1 else results[0]


def outcome(f: Function, *args: Any) -> Any:
    """What `f` returns, or the exception that it raises; warnings are NumPy's affair."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return f(*args)
        except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
            return error


def assert_agrees(theirs: Function, *args: Any, ours: Function | None = None, what: str = "") -> None:
    """Shapes, dtypes and values are those of `theirs`, and what it refuses is refused as it refuses it."""
    wanted = outcome(theirs, *args)
    seen = outcome(traced, ours or theirs, *args)
    if isinstance(wanted, Exception):
        kinds = (ValueError, TypeError) if type(wanted) in (ValueError, TypeError) else type(wanted)
        assert isinstance(seen, kinds), f"{what}: {wanted!r} became {seen!r}"
        return
    assert not isinstance(seen, Exception), f"{what}: {seen!r}, where NumPy gives {wanted!r}"
    ours_and_theirs = zip(as_tuple(seen), as_tuple(wanted), strict=True)
    for k, (x, y) in enumerate(ours_and_theirs):
        assert_close(x, y, what=f"{what}, result {k}")


def as_tuple(x: Any) -> tuple[Any, ...]:
    """Several results, or one as a tuple."""
    return x if isinstance(x, tuple) else (x,)


def array_of(rng: np.random.Generator, dtype: Any, shape: tuple[int, ...]) -> Any:
    """Small numbers of any dtype; integers and booleans repeat themselves."""
    dtype = np.dtype(dtype)
    x: Any = np.asarray(rng.integers(0 if dtype.kind in "bu" else -4, 5, shape))
    if dtype.kind in "fc":
        x = x + rng.standard_normal(shape)
    if dtype.kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return np.asarray(x).astype(dtype)
