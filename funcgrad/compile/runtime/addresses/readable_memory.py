"""Reads this process's memory where it may not be readable: an error instead of the end of the process."""

from __future__ import annotations

import ctypes
import os
import sys
from types import TracebackType
from typing import Any


class Unreadable(Exception):
    """An address at which this process has no memory."""


class Memory:
    """The memory of this process, as a context: reading it takes something from the system.

    POSIX systems copy from any address into a pipe and refuse where there is no memory; Windows has a call
    for debuggers, which may look at themselves.

    >>> import numpy as np
    >>> x = np.array([7])
    >>> with Memory() as memory:
    ...     memory.word(x.ctypes.data)
    7
    """

    def __enter__(self) -> Memory:
        if sys.platform != "win32":
            self._read_end, self._write_end = os.pipe()
            self._write: Any = ctypes.CDLL(None).write
            self._write.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
            self._write.restype = ctypes.c_ssize_t
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if sys.platform != "win32":
            os.close(self._read_end)
            os.close(self._write_end)

    def content(self, address: int, count: int) -> bytes:
        """So many bytes at an address, at most a few hundred; raises Unreadable."""
        if sys.platform == "win32":
            found, place = self._of_windows(address, count), address
        else:
            copied = self._write(self._write_end, address, count)
            found, place = os.read(self._read_end, copied) if copied > 0 else b"", address
        if len(found) != count:
            raise Unreadable(f"there is no memory at {place:#x}")
        return found

    def _of_windows(self, address: int, count: int) -> bytes:
        windows: Any = getattr(ctypes, "windll")  # noqa: B009 - not known to type checkers elsewhere
        read = windows.kernel32.ReadProcessMemory
        read.argtypes = [*(ctypes.c_void_p,) * 3, ctypes.c_size_t, ctypes.c_void_p]
        current = windows.kernel32.GetCurrentProcess
        current.restype = ctypes.c_void_p
        room, copied = ctypes.create_string_buffer(count), ctypes.c_size_t()
        done = read(current(), address, room, count, ctypes.addressof(copied))
        return room.raw[: copied.value] if done else b""

    def word(self, address: int) -> int:
        """The 64-bit integer at an address."""
        return int.from_bytes(self.content(address, 8), sys.byteorder)

    def half(self, address: int) -> int:
        """The signed 32-bit integer at an address."""
        return int.from_bytes(self.content(address, 4), sys.byteorder, signed=True)
