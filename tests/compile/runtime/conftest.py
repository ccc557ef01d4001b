"""Kernels as Python runs them and as they are compiled; a cache for each test."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from funcgrad.compile.engines.build import NUMBERS, build
from funcgrad.compile.engines.direct.translate import translate
from funcgrad.compile.engines.llvm import compile_ir, link_object
from funcgrad.compile.runtime.threads import placed

STORAGE = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "c64": np.complex64,
    "c128": np.complex128,
    "bool": np.bool_,
    **{f"i{bits}": getattr(np, f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"u{bits}": getattr(np, f"uint{bits}") for bits in (8, 16, 32, 64)},
}

Runner = Callable[..., list[np.ndarray]]


@pytest.fixture(autouse=True)
def cache_directory(tmp_path, monkeypatch):
    """An empty cache for each test."""
    monkeypatch.setenv("FUNCGRAD_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


class Offset:
    """What `shifted` gives in Python: elements of an array from some position on."""

    def __init__(self, array: np.ndarray, start: int) -> None:
        self.array, self.start = array, start

    def __getitem__(self, index: int) -> object:
        return self.array[self.start + index]

    def __setitem__(self, index: int, value: object) -> None:
        self.array[self.start + index] = value


def _run_python(source: str, buffers: Sequence[np.ndarray], sizes: Sequence[int], name: str) -> None:
    def viewed(array: np.ndarray, scope: int = 0) -> np.ndarray:
        return array

    names: dict[str, object] = dict(NUMBERS)
    names.update((f"as_{storage}", viewed) for storage in STORAGE)
    for storage, dtype in STORAGE.items():
        names[f"stack_{storage}"] = lambda count, dtype=dtype: np.zeros(count, dtype)
    names.update(shifted=Offset, math=math)
    exec(source, names)
    with np.errstate(all="ignore"):
        names[name](list(buffers), list(sizes))


def run_address(address: int, buffers: Sequence[np.ndarray], sizes: Sequence[int]) -> None:
    table = np.array([*(buffer.ctypes.data for buffer in buffers), 0], np.uintp)
    numbers = np.array([*sizes, 0], np.int64)
    entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)
    entry(table.ctypes.data, numbers.ctypes.data)


def _run_compiled(source: str, buffers: Sequence[np.ndarray], sizes: Sequence[int], name: str) -> None:
    text = translate(source, [name], frozenset(), NUMBERS)
    loaded = link_object(compile_ir([text], [name])[0], [name])
    run_address(loaded.addresses[name], buffers, sizes)


_RUNNERS = {"python": _run_python, "compiled": _run_compiled}


@pytest.fixture
def run_kernel() -> Runner:
    """``run_kernel(source, buffers, sizes)``: copies of the buffers after the kernel has run on them."""

    def run(
        source: str,
        buffers: Sequence[np.ndarray],
        sizes: Sequence[int] = (),
        *,
        by: str = "compiled",
        name: str = "run",
    ) -> list[np.ndarray]:
        copies = [np.array(buffer, order="C") for buffer in buffers]
        _RUNNERS[by](source, copies, sizes, name)
        return copies

    return run


@pytest.fixture
def load():
    """``load(source, *names)``: addresses of compiled functions, kept as long as the test runs."""
    kept = []

    def make(source: str, *names: str) -> dict[str, int]:
        kept.append(placed(build(source, names or ("run",))))
        return dict(kept[-1].addresses)

    return make
