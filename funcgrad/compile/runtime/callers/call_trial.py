"""Tries the native caller on a kernel that returns its arguments, before users' kernels are called by it.

What the probe of objects cannot see is seen here: CPython's convention of calls, the functions that make
results, references, and the memory of large results.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from funcgrad.compile.runtime.callers.call_layout import Accept, CallLayout, Input, Output
from funcgrad.compile.runtime.callers.native_caller import make_native_caller
from funcgrad.compile.runtime.machine.offsets import KEPT_FROM, LARGE
from funcgrad.compile.runtime.machine_code import Runtime

ANY = Accept.ARRAY | Accept.NUMPY_SCALAR | Accept.FLOAT | Accept.INT | Accept.BOOL | Accept.COMPLEX


def trial_difference(found: Runtime) -> str | None:
    """What a call of the native caller got wrong; None if nothing."""
    try:
        return next((words for words in differences(found) if words), None)
    except Exception as error:  # noqa: BLE001 - whatever it is, calls take another way, and the notice says why
        return f"a trial of the native caller failed ({type(error).__name__}: {error})"


def differences(found: Runtime) -> Iterator[str | None]:
    """What is wrong with calls of several kinds, or None for each that is right."""
    plane = np.arange(6.0).reshape(2, 3)
    numbers = (2.5, np.float64(-1.5), 7, np.int32(-3), True, 1.5 - 2j, np.complex64(3 + 4j), np.float32(0.1))
    kinds = ("f8", "f8", "i8", "i4", "?", "c16", "c8", "f4")
    call = echo(found, (plane.dtype, plane.shape), *((np.dtype(kind), ()) for kind in kinds))
    kept = []
    for _ in range(3):
        before = sys.getrefcount(plane)
        yield compared(call(plane, *numbers), (plane, *numbers), ("f8", *kinds))
        kept.append(sys.getrefcount(plane) != before)
    # Once may be another thread that looks at this one's objects.
    yield "the native caller changed a count of references" if all(kept) else None
    for wrong in (plane.T, plane[:1], plane.astype(np.float32), plane.astype(">f8"), plane.tolist(), None):
        yield None if call(wrong, *numbers) is NotImplemented else f"the native caller took {wrong!r}"
    yield None if call(plane) is NotImplemented else "the native caller took too few arguments"
    many = [np.array([float(k)]) for k in range(KEPT_FROM)]
    call = echo(found, *((x.dtype, x.shape) for x in many))
    held = [call(*many)[k] for k in range(KEPT_FROM)]
    yield compared(tuple(held), tuple(many), ("f8",) * KEPT_FROM)
    yield None if len({id(y) for y in held}) == KEPT_FROM else "the native caller gave out a result twice"
    large = np.arange(LARGE / 8)
    yield compared(echo(found, (large.dtype, large.shape))(large), (large,), ("f8",))


def echo(found: Runtime, *kinds: tuple[np.dtype, tuple[int, ...]]) -> Callable[..., Any]:
    """A native call that returns copies of its arguments."""
    inputs = tuple(
        [Input(k, dtype, shape, Accept.ARRAY if shape else ANY) for k, (dtype, shape) in enumerate(kinds)]
    )
    outputs = tuple(
        [Output(len(kinds) + k, dtype, shape, not shape) for k, (dtype, shape) in enumerate(kinds)]
    )
    sizes = (len(kinds), *(output.size for output in outputs))
    return make_native_caller(
        found, found.loaded.addresses["trial"], CallLayout(inputs, outputs, sizes=sizes)
    )


def compared(results: object, given: tuple[Any, ...], kinds: tuple[str, ...]) -> str | None:
    """What distinguishes results from what was given, in these dtypes; None if nothing."""
    if type(results) is not tuple or len(results) != len(given):
        return f"the native caller returned {results!r} for {len(given)} results"
    for result, wanted, kind in zip(results, given, kinds, strict=True):
        expected = np.asarray(wanted, np.dtype(kind))
        sort = np.ndarray if expected.shape else expected.dtype.type
        if type(result) is not sort or result.dtype != expected.dtype or not np.array_equal(result, expected):
            return f"the native caller returned {result!r} for {wanted!r}"
    return None
