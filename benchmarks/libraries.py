"""The libraries that are compared: whether they are installed, and how each is set up at its best.

A peer that is not installed is skipped by name. Each library is loaded in a process of its own, so that no
thread pool, allocator or garbage of one stands in another's way.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from benchmarks.model import OURS

PEERS = ("torch", "autograd", "jax", "numba", "scipy")

BESIDE_SCIPY = ("diffrax", "optimistix")
"""What stands beside `fg.scipy`; a run is complete without the ones that are not installed."""

ENVIRONMENT = {
    "JAX_ENABLE_X64": "1",
    "JAX_PLATFORMS": "cpu",
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}
"""Read by jax when it is imported: double precision like everybody else's, the processor, and a cache on disk
that keeps everything, where there is one."""


def is_installed(library: str) -> bool:
    """Whether the library can be imported here; does not import it."""
    return find_spec(library) is not None


def loaded(library: str) -> Any:
    """The library's module, imported and set up."""
    os.environ.update(ENVIRONMENT)
    if library == "autograd":
        import_module("autograd.numpy")
    return import_module(library)


def settings_of(library: str, module: Any, threads: int = 0) -> Mapping[str, Callable[[], object]]:
    """Settings to choose the fastest from, and what applies each; the only one where threads are counted.

    torch's own number of threads is every core, which is slower than one thread on small arrays.
    """
    cores = os.cpu_count() or 1
    if library == "torch" and (threads or cores > 1):
        counts = [threads] if threads else sorted({1, cores})
        return {setting(n): partial(module.set_num_threads, n) for n in counts}
    if library == OURS and threads:
        return {setting(threads): partial(use_threads, threads)}
    return {}


def setting(threads: int) -> str:
    """What a number of threads is called in the table."""
    return f"{threads} thread" + "s" * (threads > 1)


def use_threads(count: int) -> None:
    """Let funcgrad's kernels, and the BLAS that they and NumPy call, use so many threads."""
    import_module("funcgrad.compile.runtime.threads").set_threads(count)
    import_module("funcgrad.compile.runtime.addresses.blas").set_blas_threads(count)
