"""The words by which a loop in machine code finds the function that looks for signals."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import threading

import numpy as np

from funcgrad.compile.native.llvm import CodeError, Loaded
from funcgrad.compile.native.machine import offsets
from funcgrad.compile.native.runtime import machine_binary, supported

__all__ = ["NO_SIGNALS", "signal_words"]

NO_SIGNALS = np.zeros(offsets.SIGNALS_WORDS, np.int64)
"""The words for whoever cannot pass an exception on: no function, and loops that do not ask."""

MONOTONIC = 6 if sys.platform == "darwin" else 1


@functools.cache
def signal_words() -> np.ndarray:
    """The words of this process, which live until it ends."""
    words = np.zeros(offsets.SIGNALS_WORDS, np.int64)
    words[offsets.SIGNALS_MAIN_THREAD // 8] = np.uint64(threading.main_thread().ident or 0).view(np.int64)
    words[offsets.SIGNALS_CLOCK // 8] = MONOTONIC
    loaded = _loaded()
    if loaded is not None:
        words[0] = loaded.addresses["poll"]
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(loaded))
    elif not supported():
        # The caller of such a system holds Python's lock all the time.
        words[0] = ctypes.cast(ctypes.pythonapi.PyErr_CheckSignals, ctypes.c_void_p).value or 0
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=functools.partial(_name_main_thread, words))
    return words


def _name_main_thread(words: np.ndarray) -> None:
    """In a child process the thread that forked is the main one."""
    words[offsets.SIGNALS_MAIN_THREAD // 8] = np.uint64(threading.get_ident()).view(np.int64)


def _loaded() -> Loaded | None:
    if not supported():
        return None
    try:
        return machine_binary(("signals",), ("poll",)).load()
    except CodeError:  # a system without this clock
        return None
