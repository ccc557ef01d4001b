"""What a printed Program names but does not spell out: large arrays, and objects that have no text.

The process that printed a name can resolve it again. Arrays are found as long as anybody holds them, and
the last few stay alive here, so that a text can be read after the Program it came from is gone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from itertools import count
from threading import RLock
from typing import Any
from weakref import WeakValueDictionary

from funcgrad.ir.fingerprint import array_digest
from funcgrad.shared import keep_through_forks
from funcgrad.types import Array

KEPT_ARRAYS = 64
KEPT_BYTES = 1 << 20
"""Arrays larger than this are never kept alive."""
KEPT_OBJECTS = 256
_LOCK = RLock()
keep_through_forks(_LOCK)


class RememberedArrays:
    """Arrays by the digest of their contents."""

    __slots__ = ("_found", "_kept")

    def __init__(self) -> None:
        self._found: WeakValueDictionary[str, Any] = WeakValueDictionary()
        self._kept: deque[Any] = deque(maxlen=KEPT_ARRAYS)

    def add(self, array: Array) -> str:
        """Remember an array; returns its digest."""
        digest = array_digest(array)
        if self._found.get(digest) is not array:
            self._found[digest] = array
            if array.nbytes <= KEPT_BYTES:
                self._kept.append(array)
        return digest

    def find(self, digest: str) -> Hashable:
        """The array, or None if it is gone or has changed."""
        array = self._found.get(digest)
        return array if array is not None and array_digest(array) == digest else None


class RememberedObjects:
    """Objects by a number; equal objects have one number, and the oldest are forgotten."""

    __slots__ = ("_next", "_numbers", "_objects")

    def __init__(self) -> None:
        self._next = count(1)
        self._numbers: dict[Hashable, int] = {}
        self._objects: dict[int, Hashable] = {}

    def add(self, value: Hashable) -> int:
        """Remember an object; returns its number."""
        with _LOCK:
            number = self._numbers.get(value)
            if number is None:
                number = self._numbers[value] = next(self._next)
                self._objects[number] = value
                while len(self._objects) > KEPT_OBJECTS:
                    oldest = next(iter(self._objects))
                    self._numbers.pop(self._objects.pop(oldest), None)
            return number

    def find(self, number: int) -> Hashable:
        """The object, or None if it was never added or is forgotten."""
        return self._objects.get(number)


ARRAYS = RememberedArrays()
OBJECTS = RememberedObjects()
