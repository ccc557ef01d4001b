"""Calls compiled functions through ctypes: what is used where the native caller cannot be built.

Does exactly what the native caller does, some ten times slower; code that may be left before its end keeps
Python's lock, so that ctypes sees an exception that is set meanwhile.
"""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable

import numpy as np

from funcgrad.compile.runtime.callers.call_layout import Accept, CallLayout, Input, Left

_Entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_Stoppable = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
_PYTHON_SCALARS: dict[type, Accept] = {
    float: Accept.FLOAT,
    int: Accept.INT,
    bool: Accept.BOOL,
    complex: Accept.COMPLEX,
}


class PlainCaller:
    """A callable of the machine code at ``address``; ``keep`` is held for as long as it lives."""

    def __init__(
        self,
        address: int,
        layout: CallLayout,
        keep: object = None,
        fallback: Callable[..., object] | None = None,
    ) -> None:
        self._entry = (_Stoppable if layout.stops else _Entry)(address)
        self._layout = layout
        self._keep = keep
        self._fallback = fallback
        self._sizes = np.array(layout.sizes or (0,), np.int64)

    def __call__(self, *arguments: object) -> object:
        """Run the code, or return ``NotImplemented`` (or what the fallback returns) for other arguments."""
        buffers = self._buffers(arguments)
        if buffers is None:
            return NotImplemented if self._fallback is None else self._fallback(*arguments)
        layout = self._layout
        outputs = [
            np.empty(output.shape, output.dtype) if output.donor is None else buffers[output.donor]
            for output in layout.outputs
        ]
        scratch = np.empty(layout.scratch_bytes + 64, np.uint8)
        start = -(-scratch.ctypes.data // 64) * 64
        table = np.zeros(max(layout.slots, 1), np.uintp)
        for item, array in zip(layout.inputs, buffers, strict=True):
            table[item.slot] = array.ctypes.data
        for output, array in zip(layout.outputs, outputs, strict=True):
            table[output.slot] = array.ctypes.data
        for constant in layout.constants:
            table[constant.slot] = constant.array.ctypes.data
        for part in layout.scratch:
            table[part.slot] = start + part.offset
        left = self._entry(table.ctypes.data, self._sizes.ctypes.data)
        if left == Left.NO_MEMORY:
            raise MemoryError
        results = tuple(
            array[()] if output.scalar else array
            for output, array in zip(layout.outputs, outputs, strict=True)
        )
        return results[0] if layout.single else results

    def _buffers(self, arguments: tuple[object, ...]) -> list[np.ndarray] | None:
        layout = self._layout
        if len(arguments) != len(layout.inputs):
            return None
        buffers = []
        for item, argument in zip(layout.inputs, arguments, strict=True):
            buffer = _buffer(item, argument)
            if buffer is None:
                return None
            buffers.append(buffer)
        return buffers if self._donated_safely(buffers) else None

    def _donated_safely(self, buffers: list[np.ndarray]) -> bool:
        for output in self._layout.outputs:
            if output.donor is None:
                continue
            given = buffers[output.donor]
            others = [other for index, other in enumerate(buffers) if index != output.donor]
            others += [constant.array for constant in self._layout.constants]
            if not given.flags.writeable or any(np.may_share_memory(given, other) for other in others):
                return False
        return True


def _buffer(item: Input, argument: object) -> np.ndarray | None:
    if type(argument) is np.ndarray:
        fits = (
            item.accept & Accept.ARRAY
            and argument.shape == item.shape
            and argument.dtype.num == item.dtype.num
            and argument.dtype.isnative
            and argument.flags.c_contiguous
            and argument.flags.aligned
        )
        return argument if fits else None
    if type(argument) is item.dtype.type:
        return np.array(argument) if item.accept & Accept.NUMPY_SCALAR else None
    kind = _PYTHON_SCALARS.get(type(argument))
    if kind is None or not item.accept & kind:
        return None
    return _converted(item.dtype, argument)


def _converted(dtype: np.dtype, argument: object) -> np.ndarray | None:
    if isinstance(argument, int) and not -(2**63) <= operator.index(argument) < 2**63:
        return None
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if not isinstance(argument, int) or not limits.min <= argument <= limits.max:
            return None
    elif (dtype.kind == "f" and isinstance(argument, complex)) or (
        dtype.kind == "b" and not isinstance(argument, bool)
    ):
        return None
    with np.errstate(over="ignore"):
        return np.asarray(argument, dtype)
