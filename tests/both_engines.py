"""Runs every kernel of a test under both engines: each is the other's oracle.

A plugin: ``python -m pytest -p tests.both_engines tests/compile/test_native_control_flow.py``. Where the text of
a kernel fixes the order of operations and their rounding, results are equal to the bit; sums that may be
reordered, and products that may be fused with sums, agree as far as that goes.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from funcgrad import config
from funcgrad.compile.passes.kernel import Kernel
from funcgrad.compile.runtime import executable
from funcgrad.ir.program import Program

SEEN: Counter[str] = Counter()
_native_call = executable.native_call


class EnginesDiffer(AssertionError):
    """The same text gave two results."""


def in_both(kernel: Kernel, program: Program, **options: Any) -> Callable[..., Any]:
    """A caller that runs a kernel by both engines, and compares."""
    other = {**options, "donated": frozenset()}
    config.engine("numba")
    try:
        by_numba = _native_call(kernel, program, **other)
    finally:
        config.engine("direct")
    direct = _native_call(kernel, program, **options)

    def call(*args: Any) -> Any:
        expected = by_numba(*[x.copy() if isinstance(x, np.ndarray) else x for x in args])
        found = direct(*args)
        compare(found, expected, kernel)
        return found

    return call


def compare(found: Any, expected: Any, kernel: Kernel) -> None:
    """Raise EnginesDiffer for results that are not as alike as the text makes them."""
    if found is NotImplemented or expected is NotImplemented:
        if found is not expected:
            raise EnginesDiffer(f"only one engine took the arguments of\n{kernel.source}")
        return
    for mine, other in zip(several(found), several(expected), strict=True):
        x, y = np.asarray(mine), np.asarray(other)
        if (x.dtype, x.shape) != (y.dtype, y.shape):
            raise EnginesDiffer(f"{x.dtype}{x.shape} and {y.dtype}{y.shape} of\n{kernel.source}")
        if same(x, y):
            SEEN["same"] += 1
        elif alike(x, y):
            SEEN["alike"] += 1
            if os.environ.get("ENGINES_LOG"):
                with open(os.environ["ENGINES_LOG"], "a") as f:
                    f.write(f"#### {np.max(np.abs(x-y))}\n{kernel.source}\n")
        else:
            raise EnginesDiffer(f"{x}\nand\n{y}\nof\n{kernel.source}")


def several(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def same(x: np.ndarray, y: np.ndarray) -> bool:
    """Equal to the bit, but for those of NaN."""
    if x.tobytes() == y.tobytes():
        return True
    if x.dtype.kind not in "fc":
        return False
    parts = [(x.real, y.real), (x.imag, y.imag)] if x.dtype.kind == "c" else [(x, y)]
    for one, two in parts:
        number = ~np.isnan(one)
        if not np.array_equal(number, ~np.isnan(two)):
            return False
        if np.ascontiguousarray(one[number]).tobytes() != np.ascontiguousarray(two[number]).tobytes():
            return False
    return True


def alike(x: np.ndarray, y: np.ndarray) -> bool:
    """Equal but for the last digits of the largest numbers."""
    if x.dtype.kind not in "fc":
        return False
    finite = x[np.isfinite(x)]
    scale = float(np.abs(finite).max()) if finite.size else 0.0
    tiny = 1e-4 if x.real.dtype.itemsize < 8 else 1e-11
    return bool(np.allclose(x, y, rtol=tiny, atol=tiny * scale, equal_nan=True))


def pytest_configure(config: pytest.Config) -> None:
    executable.native_call = in_both


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line(f"results of both engines: {dict(SEEN)}")
