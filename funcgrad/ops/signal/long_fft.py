"""Fourier transforms of long lines, shared between threads.

SciPy divides the lines of an array among its workers; a single line is all one worker's. Here a line of n
elements is split by a step of Cooley and Tukey (Mathematics of Computation 19, 1965): with
``w = exp(-2 pi i / n)``, and the transforms E and O of its even and of its odd elements, which are
independent, hence computed at the same time,

    X[k] = E[k] + w**k O[k],    X[k + n/2] = E[k] - w**k O[k].

The last pass is divided as well, and halves are split again while there are threads for them. The transforms
are plain sums: what a norm multiplies them with is left to the caller.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from contextvars import copy_context
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad.processors import thread_count
from funcgrad.types import Array

LONG = 1 << 18
"""A line of fewer elements is not worth a second thread: starting one takes a tenth of a millisecond."""

MOST = 1 << 24
"""The factors of a longer line would take more memory than they are worth."""


def splits(size: int) -> bool:
    """Whether a line of `size` elements is divided between threads."""
    return LONG <= size <= MOST and size % 4 == 0 and thread_count() > 1


def both(first: Callable[[], Any], second: Callable[[], Any]) -> tuple[Any, Any]:
    """What two functions return that run at the same time; an exception of either is raised.

    >>> both(lambda: 1, lambda: 2)
    (1, 2)
    """
    context = copy_context()  # NumPy's error state is in it
    found: list[Any] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(context.run(second))
        except BaseException as error:  # noqa: BLE001 - raised below, in the thread that waits
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    result = first()
    thread.join()
    if failed:
        raise failed[0]
    return result, found[0]


@functools.lru_cache(maxsize=4)
def roots(size: int, count: int, dtype: np.dtype[Any], positive: bool) -> Array:
    """The first `count` powers of ``exp(-2 pi i / size)``, or of its conjugate where `positive`."""
    angles = np.arange(count) * ((2 if positive else -2) * np.pi / size)
    return np.exp(1j * angles).astype(dtype)


def fft(x: Array, positive: bool, threads: int | None = None) -> Array:
    """The transform of a line of complex numbers, with a positive sign in the exponent or not."""
    threads = thread_count() if threads is None else threads
    n = len(x)
    if threads < 2 or not splits(n):
        transform = import_module("scipy.fft")
        return transform.ifft(x, norm="forward") if positive else transform.fft(x)
    half, rest = n // 2, threads // 2

    def odd() -> Array:
        spectrum = fft(x[1::2], positive, rest)
        spectrum *= roots(n, half, spectrum.dtype, positive)
        return spectrum

    evens, odds = both(lambda: fft(x[::2], positive, threads - rest), odd)
    out = np.empty(n, evens.dtype)
    both(lambda: np.add(evens, odds, out=out[:half]), lambda: np.subtract(evens, odds, out=out[half:]))
    return out


def real_fft(x: Array, positive: bool, threads: int | None = None) -> Array:
    """The first half of the spectrum of a line of real numbers."""
    threads = thread_count() if threads is None else threads
    n = len(x)
    if threads < 2 or not splits(n):
        spectrum = import_module("scipy.fft").rfft(x)
        return np.conjugate(spectrum, out=spectrum) if positive else spectrum
    quarter, rest = n // 4, threads // 2

    def odd() -> Array:
        spectrum = real_fft(x[1::2], positive, rest)
        spectrum *= roots(n, quarter + 1, spectrum.dtype, positive)
        return spectrum

    evens, odds = both(lambda: real_fft(x[::2], positive, threads - rest), odd)
    out = np.empty(n // 2 + 1, evens.dtype)

    def upper() -> None:  # X[n/2 - k] = conj(X[n/2 + k]): the other sign, backwards
        reverse = out[quarter + 1 :][::-1]
        np.subtract(evens[:quarter], odds[:quarter], out=reverse)
        np.conjugate(reverse, out=reverse)

    both(lambda: np.add(evens, odds, out=out[: quarter + 1]), upper)
    return out


def hermitian_fft(spectrum: Array, n: int, positive: bool, threads: int | None = None) -> Array:
    """The line of `n` real numbers that are the sum over a Hermitian spectrum, given by its first half."""
    threads = thread_count() if threads is None else threads
    if threads < 2 or not splits(n):
        transform = import_module("scipy.fft")
        return (transform.irfft if positive else transform.hfft)(
            spectrum, n, norm="forward" if positive else "backward"
        )
    quarter, rest = n // 4, threads // 2
    low, high = spectrum[: quarter + 1], spectrum[quarter:][::-1]
    out = np.empty(n, spectrum.real.dtype)

    def even() -> None:
        half = np.conjugate(high)
        half += low
        out[::2] = hermitian_fft(half, n // 2, positive, threads - rest)

    def odd() -> None:
        half = np.conjugate(high)
        np.subtract(low, half, out=half)
        half *= roots(n, quarter + 1, half.dtype, positive)
        out[1::2] = hermitian_fft(half, n // 2, positive, rest)

    both(even, odd)
    return out
