"""Builtins of CPython made of machine code, and the tables that the run time reads when they are called."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from funcgrad.compile.runtime.callers.call_layout import Accept, CallLayout, Input, Output
from funcgrad.compile.runtime.callers.kept_results import kept_arrays
from funcgrad.compile.runtime.machine import offsets
from funcgrad.compile.runtime.machine_code import Runtime

_FASTCALL = 0x80
_STORAGE = {"d": offsets.F64, "f": offsets.F32, "D": offsets.F64, "F": offsets.F32, "?": offsets.BOOL}
_KINDS = {"i": offsets.SIGNED, "u": offsets.UNSIGNED}


class _Method(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    )


def make_native_caller(
    found: Runtime,
    address: int,
    layout: CallLayout,
    keep: object = None,
    fallback: Callable[..., object] | None = None,
) -> Callable[..., object]:
    """A callable as `caller.make_caller` says, by the native run time."""
    words = _Words(address, layout, fallback, found)
    keep = (words.arrays, keep, fallback, found)
    return new_builtin(found.loaded.addresses["call"], words.descriptor, keep)


def new_builtin(function: int, descriptor: np.ndarray, keep: object) -> Callable[..., object]:
    """A builtin of CPython that is this function of the run time, and keeps alive what that reads."""
    method = _Method(b"compiled", function, _FASTCALL, None)
    # The descriptor comes first, because that is where the run time looks; the rest is only kept alive.
    me = (descriptor, method, keep)
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    made: Callable[..., object] = new(ctypes.addressof(method), me, None)
    return made


class _Words:
    """The tables of a call, as the run time reads them."""

    def __init__(self, address: int, layout: CallLayout, fallback: object, found: Runtime) -> None:
        self.arrays: list[Any] = []
        descriptor = dict.fromkeys(range(0, offsets.DESCRIPTOR, 8), 0)
        descriptor[offsets.ENTRY] = address
        descriptor[offsets.INPUT_COUNT] = len(layout.inputs)
        descriptor[offsets.OUTPUT_COUNT] = len(layout.outputs)
        descriptor[offsets.SLOTS] = layout.slots
        descriptor[offsets.CONSTANT_SLOTS] = self._constants(layout)
        descriptor[offsets.CONSTANT_COUNT] = len(layout.constants)
        descriptor[offsets.CONSTANT_RANGES] = self._placed(
            place for constant in layout.constants for place in _range(constant.array)
        )
        descriptor[offsets.SIZES] = self._placed(layout.sizes)
        descriptor[offsets.SCRATCH_BYTES] = layout.scratch_bytes
        descriptor[offsets.SCRATCH_COUNT] = len(layout.scratch)
        descriptor[offsets.SCRATCH] = self._placed(
            word for part in layout.scratch for word in (part.slot, part.offset)
        )
        descriptor[offsets.IS_LONG] = int(layout.long)
        descriptor[offsets.IS_SINGLE] = int(layout.single)
        descriptor[offsets.FALLBACK] = 0 if fallback is None else id(fallback)
        descriptor[offsets.INPUTS] = self._placed(
            word for item in layout.inputs for word in self._input(item)
        )
        descriptor[offsets.OUTPUTS] = self._placed(
            word for item in layout.outputs for word in self._output(item)
        )
        descriptor[offsets.RUNTIME] = found.table.ctypes.data
        descriptor[offsets.HAS_DONORS] = int(any(item.donor is not None for item in layout.outputs))
        descriptor[offsets.MAY_STOP] = int(layout.stops)
        descriptor[offsets.KEPT_RESULTS] = self._kept(layout.outputs)
        self.descriptor = words_of(descriptor.values())

    def _placed(self, words: Iterable[int]) -> int:
        array = words_of(words)
        self.arrays.append(array)
        return int(array.ctypes.data)

    def _constants(self, layout: CallLayout) -> int:
        if not layout.constants:
            return 0
        words = [0] * layout.slots
        for constant in layout.constants:
            words[constant.slot] = constant.array.ctypes.data
            self.arrays.append(constant.array)
        return self._placed(words)

    def _kept(self, outputs: Sequence[Output]) -> int:
        """Room for the arrays of two calls, which go with it; zero where none are kept."""
        arrays = [item for item in outputs if not item.scalar and item.donor is None]
        if len(arrays) < offsets.KEPT_FROM or sum(item.size for item in arrays) > offsets.KEPT_BYTES:
            return 0
        kept = kept_arrays(2 * len(outputs))
        self.arrays.append(kept)
        return int(kept.ctypes.data)

    def _input(self, item: Input) -> tuple[int, ...]:
        dtype = item.dtype
        self.arrays.append(dtype)
        scalar = id(dtype.type) if item.accept & Accept.NUMPY_SCALAR else 0
        storage = _STORAGE.get(dtype.char) or _KINDS.get(dtype.kind, offsets.UNSTORABLE)
        size = int(np.prod(item.shape, dtype=np.int64)) * dtype.itemsize
        place = self._placed(item.shape)
        return item.slot, int(item.accept), dtype.num, len(item.shape), place, scalar, storage, size

    def _output(self, item: Output) -> tuple[int, ...]:
        self.arrays.append(item.dtype)
        mode = offsets.SCALAR if item.scalar else offsets.ARRAY if item.donor is None else offsets.DONATED
        place = self._placed(item.shape)
        return item.slot, mode, id(item.dtype), len(item.shape), place, item.size, item.donor or 0, 0


def _range(array: np.ndarray) -> tuple[int, int]:
    start = array.ctypes.data
    return start, start + array.nbytes


def words_of(words: Iterable[int]) -> np.ndarray:
    """Integers as machine code reads them."""
    # At least one word, so that there is an address; addresses may use the sign bit.
    return np.array([*words, 0], np.int64)
