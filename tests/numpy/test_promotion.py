"""Result dtypes of every ufunc for all pairs of operands: exactly those of NumPy, or the same refusal."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.numpy.dispatch import FUNCTIONS

DTYPES = (
    *(np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64),
    *(np.float16, np.float32, np.float64, np.longdouble, np.complex64, np.complex128),
)
OPERANDS = (*[np.ones(2, dtype) for dtype in DTYPES], True, 2, 2.0, 2j)
UFUNCS = sorted(
    {u for u in vars(np).values() if isinstance(u, np.ufunc) and u.signature is None} - {np.isnat},
    key=lambda u: u.__name__,
)
REFUSALS = (TypeError, ValueError, OverflowError)

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def dtypes_by_numpy(ufunc: np.ufunc, operands: tuple[Any, ...]) -> tuple[str, ...] | None:
    """The dtypes of NumPy's results, None where it refuses."""
    try:
        out = ufunc(*operands)
    except REFUSALS:
        return None
    return tuple([np.asarray(x).dtype.name for x in (out if isinstance(out, tuple) else (out,))])


def dtypes_by_tracing(
    ufunc: np.ufunc, operands: tuple[Any, ...], traced: tuple[int, ...]
) -> tuple[str, ...] | None:
    """The dtypes that the recorded Program promises, after checking that it keeps its promise."""

    def f(*tracers: Any) -> Any:
        full = list(operands)
        for k, tracer in zip(traced, tracers, strict=True):
            full[k] = tracer
        return ufunc(*full)

    inputs = [operands[k] for k in traced]
    try:
        program = fg.make_program(f)(*inputs)
        results = program(*inputs)
    except REFUSALS:
        return None
    promised = tuple([a.dtype.name for a in program.out_avals])
    assert promised == tuple([np.asarray(x).dtype.name for x in results])
    return promised


def test_every_ufunc_is_offered() -> None:
    assert [u.__name__ for u in UFUNCS if u not in FUNCTIONS] == []


@pytest.mark.parametrize("ufunc", [u for u in UFUNCS if u.nin == 1], ids=lambda u: u.__name__)
def test_one_operand(ufunc: np.ufunc) -> None:
    for x in OPERANDS:
        wanted = dtypes_by_numpy(ufunc, (x,))
        assert dtypes_by_tracing(ufunc, (x,), (0,)) == wanted, describe(x)


@pytest.mark.at_length
@pytest.mark.parametrize("ufunc", [u for u in UFUNCS if u.nin == 2], ids=lambda u: u.__name__)
@pytest.mark.parametrize("traced", [(0,), (1,), (0, 1)], ids=["left", "right", "both"])
def test_two_operands(ufunc: np.ufunc, traced: tuple[int, ...]) -> None:
    for pair in itertools.product(OPERANDS, repeat=2):
        wanted = dtypes_by_numpy(ufunc, pair)
        assert dtypes_by_tracing(ufunc, pair, traced) == wanted, [describe(x) for x in pair]


@pytest.mark.parametrize("n", [0, 1, 2, 3, -1, -2, 0.0, 1.0, 2.0, -1.0, 0.5, 1.5, 1j])
def test_fixed_exponents(n: complex) -> None:
    for x in OPERANDS[: len(DTYPES)]:
        assert dtypes_by_tracing(np.power, (x, n), (0,)) == dtypes_by_numpy(np.power, (x, n)), describe(x)


@pytest.mark.parametrize("number", [np.float32(2), np.float64(2), np.int8(2), np.uint64(2), np.complex64(2)])
def test_numpy_scalars_are_not_weak(number: Any) -> None:
    for x in OPERANDS[: len(DTYPES)]:
        for ufunc in (np.add, np.true_divide, np.maximum):
            wanted = dtypes_by_numpy(ufunc, (x, number))
            assert dtypes_by_tracing(ufunc, (x, number), (0,)) == wanted, describe(x)


@pytest.mark.parametrize("function", [np.where, np.clip], ids=["where", "clip"])
def test_three_operands(function: Callable[..., Any]) -> None:
    """Of `where` the first is a condition; `clip` takes its bounds after what it clips."""
    operands = [x for x in OPERANDS if not isinstance(x, np.ndarray) or x.dtype != np.bool_]
    for x, y in itertools.product(operands, repeat=2):
        if not isinstance(x, np.ndarray):
            continue
        arguments = (np.array([True, False]), x, y) if function is np.where else (x, y, y)
        wanted = np.asarray(function(*arguments)).dtype
        got = fg.eval_shape(lambda t, f=function, a=arguments: f(*[t if v is x else v for v in a]), x)  # noqa: B023
        assert got.dtype == wanted, [describe(x), describe(y)]


def describe(x: Any) -> str:
    """An operand by its dtype, or its type where it is a Python number."""
    return x.dtype.name if isinstance(x, np.ndarray) else type(x).__name__
