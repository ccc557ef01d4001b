"""How many threads compiled code and BLAS use while shards are computed: workers are the parallelism."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from funcgrad.compile.runtime.addresses.blas import blas_threads, set_blas_threads
from funcgrad.compile.runtime.threads import set_threads, threads


class _Limits:
    """The limits of this process: the first shard that begins sets them, the last one takes them back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._active = 0
        self._before: tuple[int, int | None] = (1, None)

    def forget(self) -> None:
        """Start anew in a child process, where nobody computes a shard."""
        self._lock = threading.Lock()
        if self._active:
            self._active = 0
            self._restore()

    def _restore(self) -> None:
        _set(*self._before)

    def enter(self, count: int) -> None:
        """A shard begins."""
        with self._lock:
            if not self._active:
                self._before = threads(), blas_threads()
                _set(count, count)
            self._active += 1

    def leave(self) -> None:
        """A shard is done."""
        with self._lock:
            self._active -= 1
            if not self._active:
                self._restore()


def _set(kernels: int, blas: int | None) -> None:
    if kernels != threads():
        set_threads(kernels)
    if blas is not None and blas != blas_threads():
        set_blas_threads(blas)


_LIMITS = _Limits()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_LIMITS.forget)


@contextmanager
def limited_threads(count: int | None) -> Iterator[None]:
    """Kernels and BLAS of this process use at most `count` threads; None leaves them alone.

    Shards that are computed at the same time by threads of one process share the limit of the first.

    >>> from funcgrad.compile.runtime.threads import threads
    >>> with limited_threads(1):
    ...     threads()
    1
    """
    if count is None:
        yield
        return
    _LIMITS.enter(count)
    try:
        yield
    finally:
        _LIMITS.leave()
