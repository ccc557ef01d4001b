"""The memory of a kernel as CPython sees it: tables of addresses, and views of the elements that lie there.

A kernel that Python runs reads and writes the same memory as its machine code would.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.types import Array, Number

DTYPES: dict[str, np.dtype[Any]] = {
    "bool": np.dtype(np.bool_),
    **{f"{kind}{8 * size}": np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)},
    **{f"f{8 * size}": np.dtype(f"f{size}") for size in (2, 4, 8)},
    **{f"c{8 * size}": np.dtype(f"c{size}") for size in (8, 16)},
}
"""How the elements of a view lie in memory."""


class Slot:
    """A pointer: an entry of a table, or memory that a kernel asked for."""

    __slots__ = ("address", "keep")

    def __init__(self, address: int, keep: object = None) -> None:
        self.address, self.keep = address, keep


class ElementView:
    """Elements of one type from an address on; there is no bound."""

    __slots__ = ("address", "dtype", "keep")

    def __init__(self, address: int, dtype: np.dtype[Any], keep: object = None) -> None:
        self.address, self.dtype, self.keep = address, dtype, keep

    def _element(self, index: Number) -> Array:
        where = self.address + int(index) * self.dtype.itemsize
        memory: Any = (ctypes.c_char * self.dtype.itemsize).from_address(where)
        return np.frombuffer(memory, self.dtype)

    def __getitem__(self, index: Number) -> Number:
        loaded = self._element(index)[0]
        return np.float32(loaded) if self.dtype == np.float16 else loaded

    def __setitem__(self, index: Number, value: Number) -> None:
        self._element(index)[0] = value

    def shifted(self, count: int) -> ElementView:
        """The view that starts some elements later."""
        return ElementView(self.address + int(count) * self.dtype.itemsize, self.dtype, self.keep)


class Table:
    """The first argument of a kernel: where its arrays lie. It holds them."""

    __slots__ = ("addresses", "arrays")

    def __init__(self, arrays: Sequence[np.ndarray[Any, Any]]) -> None:
        for array in arrays:
            if not array.flags.c_contiguous:
                raise ValueError("a kernel takes contiguous arrays")
        self.arrays = tuple(arrays)
        self.addresses = np.array([array.ctypes.data for array in arrays] or [0], np.intp)

    def __getitem__(self, index: int) -> Slot:
        return Slot(int(self.addresses[index]), self)

    def __len__(self) -> int:
        return len(self.arrays)


class Sizes:
    """The second argument of a kernel: the numbers that come from the shapes of its arrays."""

    __slots__ = ("numbers",)

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = np.array(list(numbers) or [0], np.int64)

    def __getitem__(self, index: int) -> int:
        return int(self.numbers[index])


def table(*arrays: np.ndarray[Any, Any]) -> Table:
    """The arrays of a kernel, in the order of its slots.

    >>> table(np.ones(3), np.zeros(2))[0].address > 0
    True

    Raises ValueError for an array whose elements do not lie one after another.
    """
    return Table(arrays)


def sizes(*numbers: int) -> Sizes:
    """The sizes that a kernel reads.

    >>> sizes(3, 4)[1]
    4
    """
    return Sizes(numbers)
