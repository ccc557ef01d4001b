"""The words by which a loop in machine code finds the function that looks for signals."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import threading

import numpy as np

from funcgrad.compile.engines.llvm import CodeError, Loaded
from funcgrad.compile.runtime.machine import offsets
from funcgrad.compile.runtime.machine_code import FOR_SIGNALS, machine_binary, supported
from funcgrad.shared import keep_through_forks

MONOTONIC = 6 if sys.platform == "darwin" else 1


_LOCK = threading.RLock()
keep_through_forks(_LOCK)


def signal_words() -> np.ndarray:
    """The words of this process, which live until it ends."""
    with _LOCK:  # made once: kernels that hold others would outlive the code that these lead to
        return _signal_words()


@functools.cache
def _signal_words() -> np.ndarray:
    words = np.zeros(offsets.SIGNALS_WORDS, np.int64)
    words[offsets.SIGNALS_MAIN_THREAD // 8] = np.uint64(threading.main_thread().ident or 0).view(np.int64)
    words[offsets.SIGNALS_CLOCK // 8] = MONOTONIC
    loaded = _loaded()
    if loaded is not None:
        words[0] = loaded.addresses["poll"]
        words[offsets.SIGNALS_POLL_OF_STAGES // 8] = loaded.addresses["poll_of_stage"]
        words[offsets.SIGNALS_IS_SET // 8] = loaded.addresses["is_set"]
    elif not supported():
        # The caller of such a system holds Python's lock all the time.
        words[0] = ctypes.cast(ctypes.pythonapi.PyErr_CheckSignals, ctypes.c_void_p).value or 0
        words[offsets.SIGNALS_POLL_OF_STAGES // 8] = words[0]
        words[offsets.SIGNALS_IS_SET // 8] = no_signal_words()[0]
    else:
        words[:] = no_signal_words()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=functools.partial(_name_main_thread, words))
    return words


def no_signal_words() -> np.ndarray:
    """The words for whoever cannot pass an exception on: loops that ask and are told of nothing."""
    with _LOCK:
        return _no_signal_words()


@functools.cache
def _no_signal_words() -> np.ndarray:
    words = np.zeros(offsets.SIGNALS_WORDS, np.int64)
    loaded = _loaded()
    if loaded is not None:
        words[0] = loaded.addresses["never"]
    else:
        words[0] = ctypes.cast(_NEVER, ctypes.c_void_p).value or 0
    words[offsets.SIGNALS_POLL_OF_STAGES // 8] = words[offsets.SIGNALS_IS_SET // 8] = words[0]
    return words


def _never(words: object) -> int:
    return 0


_NEVER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(_never)


def _name_main_thread(words: np.ndarray) -> None:
    """In a child process the thread that forked is the main one."""
    words[offsets.SIGNALS_MAIN_THREAD // 8] = np.uint64(threading.get_ident()).view(np.int64)


def begun() -> bool:
    """Whether this process asks for signals, or cannot."""
    return bool(_loaded.cache_info().currsize)


@functools.cache
def _loaded() -> Loaded | None:
    if not supported():
        return None
    try:
        return machine_binary(FOR_SIGNALS).load()
    except CodeError:  # a system without this clock
        return None
