"""Runs every kernel of a test under both engines: each is the other's oracle.

A plugin: ``python -m pytest -p tests.both_engines tests/compile/test_native_control_flow.py``. Kernels are
compiled without the liberty to fuse products with sums, so that results are equal to the bit; only sums of
which the text says that they may be reordered (`plus`) agree but for their last digits.

``--every 5`` takes every fifth test of each file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from funcgrad import config
from funcgrad.compile.runtime import binaries, executable
from funcgrad.compile.runtime.call_facts import CallFacts
from funcgrad.ir.program import Program

SEEN: Counter[str] = Counter()
_native_call = executable.native_call


class EnginesDiffer(AssertionError):
    """The same text gave two results."""


def in_both(kernel: CallFacts, program: Program, **options: Any) -> Callable[..., Any]:
    """A caller that runs a kernel by both engines, and compares."""
    other = {**options, "donated": frozenset()}
    config.engine("numba")
    try:
        by_numba = _native_call(kernel, program, **other)
    finally:
        config.engine("direct")
    direct = _native_call(kernel, program, **options)

    def call(*args: Any) -> Any:
        expected = by_numba(*args)
        found = direct(*args)
        compare(found, expected, kernel)
        return found

    return call


def compare(found: Any, expected: Any, kernel: CallFacts) -> None:
    """Raise EnginesDiffer for results that are not as alike as the text makes them."""
    if found is NotImplemented or expected is NotImplemented:
        if found is not expected:
            raise EnginesDiffer(f"only one engine took the arguments of\n{kernel.code}")
        return
    for mine, other in zip(several(found), several(expected), strict=True):
        x, y = np.asarray(mine), np.asarray(other)
        if (x.dtype, x.shape) != (y.dtype, y.shape):
            raise EnginesDiffer(f"{x.dtype}{x.shape} and {y.dtype}{y.shape} of\n{kernel.code}")
        if same(x, y):
            SEEN["same"] += 1
        elif "plus(" in kernel.code and alike(x, y):
            SEEN["alike"] += 1
        else:
            raise EnginesDiffer(f"{x}\nand\n{y}\nof\n{kernel.code}")


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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--every", type=int, default=1, help="take every so many tests of a file only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    counts: Counter[Any] = Counter()
    chosen = []
    for item in items:
        if counts[item.path] % config.getoption("every") == 0:
            chosen.append(item)
        counts[item.path] += 1
    items[:] = chosen


def pytest_configure(config: pytest.Config) -> None:
    binaries.binary_of = partial(binaries.binary_of, flags=frozenset())
    executable.native_call = in_both


def pytest_unconfigure(config: pytest.Config) -> None:
    binaries.binary_of = binaries.binary_of.func
    executable.native_call = _native_call


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line(f"results of both engines: {dict(SEEN)}")
