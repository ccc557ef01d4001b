"""The threads that compiled code shares its work with: how many, and the pool they are in.

A kernel hands a stage, a function of an index range, to ``parallel``. Threads are made when the first range
is long enough, and again in a child process after a fork.
"""

from __future__ import annotations

import ctypes
import functools
import os
import signal
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from funcgrad.compile.engines.binary import Binary
from funcgrad.compile.engines.llvm import CodeError, Loaded, address_of
from funcgrad.compile.runtime.machine import offsets
from funcgrad.compile.runtime.machine_code import FOR_THREADS, machine_binary, supported
from funcgrad.processors import MOST_THREADS, configured_threads
from funcgrad.shared import keep_through_forks

__all__ = ["PARALLEL", "THREADS", "imports", "placed", "set_threads", "threads"]

#: The symbols by which compiled code knows the function and the pool.
PARALLEL, THREADS = "funcgrad_parallel", "funcgrad_threads"
_LOCK = threading.RLock()
keep_through_forks(_LOCK)

#: The pool's words that are set here, and the same in a child process.
_SET_HERE = [
    offset // 8
    for offset in (
        *(offsets.POOL_WANTED, offsets.POOL_BLOCK_SIGNALS, offsets.POOL_BLOCK_SIGNALS + 8),
        *(offsets.POOL_PROCESSOR, offsets.POOL_AFFINITY, offsets.POOL_SET_AFFINITY),
    )
]


class _Pool:
    """The words of the pool, which outlive everything: threads may look at them until the process ends."""

    def __init__(self, addresses: Mapping[str, int], keep: object) -> None:
        self.addresses = addresses
        self.keep = keep
        # Aligned to cache lines, and never freed.
        room = np.zeros(offsets.POOL_BYTES // 8 + 16, np.int64)
        start = -(room.ctypes.data // 8) % 16
        self.words = room[start : start + offsets.POOL_BYTES // 8]
        self.set_wanted(configured_threads())
        self._ask_system()

    def _ask_system(self) -> None:
        words = self.words
        words[offsets.POOL_BLOCK_SIGNALS // 8] = int(signal.SIG_BLOCK)
        words[offsets.POOL_BLOCK_SIGNALS // 8 + 1] = int(signal.SIG_SETMASK)
        found = [address_of(name) for name in ("sched_getcpu", "sched_getaffinity", "sched_setaffinity")]
        if all(found):
            words[offsets.POOL_PROCESSOR // 8 : offsets.POOL_SET_AFFINITY // 8 + 1] = found

    def set_wanted(self, count: int) -> None:
        """Use so many threads, the caller's among them."""
        self.words[offsets.POOL_WANTED // 8] = count

    @property
    def wanted(self) -> int:
        """How many threads are used."""
        return int(self.words[offsets.POOL_WANTED // 8])

    def forget(self) -> None:
        """Start anew in a child process, in which the threads do not exist."""
        kept = self.words[_SET_HERE]
        self.words[:] = 0
        self.words[_SET_HERE] = kept


def _pool() -> _Pool | None:
    with _LOCK:
        return _only_pool()


@functools.cache
def _only_pool() -> _Pool | None:
    if not supported() or os.name != "posix" or not hasattr(signal, "SIG_BLOCK"):
        return None
    try:
        loaded = machine_binary(FOR_THREADS).load()
    except CodeError:  # a system without these functions
        return None
    pool = _Pool(loaded.addresses, loaded)
    # Its threads look at the pool until the process ends.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(pool))
    os.register_at_fork(after_in_child=pool.forget)
    return pool


def begun() -> bool:
    """Whether this process has its threads, or cannot have them."""
    return bool(_only_pool.cache_info().currsize)


def placed(binary: Binary) -> Loaded:
    """Place code that may share its work in this process."""
    return binary.load(imports() if PARALLEL in binary.needs else {})


def imports() -> dict[str, int]:
    """The addresses of the symbols by which compiled code calls ``parallel``."""
    pool = _pool()
    if pool is None:
        # The serial function does not look at the pool, but LLVM takes no zero for an address.
        return {PARALLEL: _serial_address(), THREADS: _serial_address()}
    return {PARALLEL: pool.addresses["parallel"], THREADS: pool.words.ctypes.data}


_Stage: Any = ctypes.CFUNCTYPE(None, *(ctypes.c_void_p,) * 2, *(ctypes.c_int64,) * 2)
_Parallel: Any = ctypes.CFUNCTYPE(None, *(ctypes.c_void_p,) * 4, *(ctypes.c_int64,) * 3)


def _run_serially(_: int, stage: int, p: int, n: int, begin: int, end: int, grain: int) -> None:
    function: Callable[..., None] = _Stage(stage)
    function(p, n, begin, end)


_SERIAL = _Parallel(_run_serially)


def _serial_address() -> int:
    return ctypes.cast(_SERIAL, ctypes.c_void_p).value or 0


def threads() -> int:
    """The number of threads that compiled code uses.

    >>> threads() >= 1
    True
    """
    pool = _pool()
    return 1 if pool is None else pool.wanted


def set_threads(count: int) -> None:
    """Use at most so many threads in compiled code; one makes it serial."""
    if count < 1:
        raise ValueError(f"compiled code needs at least one thread, not {count}")
    pool = _pool()
    if pool is not None:
        pool.set_wanted(min(count, MOST_THREADS))
