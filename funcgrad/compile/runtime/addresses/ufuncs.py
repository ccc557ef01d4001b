"""NumPy's own loops, by address: over elements for results with NumPy's last digits, and over matrices.

A ufunc holds a table of C functions, one for each combination of dtypes, which NumPy chose for the processor
when it was imported. Those of floating-point numbers touch no Python object, so they may be called without
Python's lock. Where the table lies in the object is NumPy's ABI; what is found there is tried before use.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from funcgrad.compile.differs import say
from funcgrad.compile.runtime.addresses.address import Address
from funcgrad.compile.runtime.addresses.readable_memory import Memory, Unreadable
from funcgrad.types import Anything, UfuncLike


class _Head(ctypes.Structure):
    """What a ufunc holds after the head that every Python object has."""

    _fields_ = (
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.c_size_t),
        ("data", ctypes.c_size_t),
        ("ntypes", ctypes.c_int),
    )


class Loop(NamedTuple):
    """A loop ``void loop(char **arguments, intptr_t *count, intptr_t *steps, void *data)``."""

    address: Address
    data: Address


@cache
def loop(name: str, dtype: np.dtype[Any]) -> Loop | None:
    """The loop of a ufunc of NumPy's whose operands and result have one dtype; None where none is known.

    >>> loop("log", np.dtype("O")) is None
    True
    """
    ufunc: Any = getattr(np, name)
    if dtype.char not in "fd" or not dtype.isnative:  # loops of objects need Python's lock
        return None
    types = f"{dtype.char * ufunc.nin}->{dtype.char}"
    if sys.implementation.name != "cpython" or types not in ufunc.types or ufunc.nout != 1:
        return None
    found = _in_table(ufunc, types, "loop", name, dtype.char)
    if found is not None and _agrees(found, ufunc, dtype):
        return found
    say(f"the loops of NumPy's {name} are not where they were: it is not called from machine code")
    return None


@cache
def matrix_loop(name: str, types: str) -> Loop | None:
    """The loop by which a function of `module_of` goes through stacks; None where none is known.

    `types` are those of the table, such as ``d->dd`` of ``eigh_lo``. Its loop reads and writes matrices, or
    lines, of any strides; those of ``numpy.linalg`` leave NaN where LAPACK has failed.

    >>> matrix_loop("no_such_function", "d->d") is None
    True
    """
    ufunc: Any = getattr(_private_module(module_of(name)), name, None)
    if sys.implementation.name != "cpython" or not isinstance(ufunc, np.ufunc) or types not in ufunc.types:
        return None
    found = _in_table(ufunc, types, "matrix loop", name, types)
    agrees = _agrees_on_lines if name in _OF_LINES else _agrees_on_matrices
    if found is not None and agrees(found, ufunc, types):
        return found
    say(f"the loops of NumPy's {name} are not where they were: it is not called from machine code")
    return None


_OF_LINES = ("fft", "ifft", "rfft_n_even", "rfft_n_odd", "irfft")


def module_of(name: str) -> str:
    """The public module whose work the loops of a name do.

    >>> module_of("irfft"), module_of("eigh_lo")
    ('numpy.fft', 'numpy.linalg')
    """
    return "numpy" if name == "matmul" else "numpy.fft" if name in _OF_LINES else "numpy.linalg"


def _private_module(public: str) -> Anything:
    """Where the ufuncs are: modules of NumPy's own, so they may be gone."""
    private = {"numpy.linalg": "numpy.linalg._umath_linalg", "numpy.fft": "numpy.fft._pocketfft_umath"}
    try:
        return import_module(private.get(public, public))
    except ImportError:
        return None


def _in_table(ufunc: UfuncLike, types: str, kind: str, *asked: str) -> Loop | None:
    place = ufunc.types.index(types)
    try:
        with Memory() as memory:
            content = memory.content(id(ufunc) + object.__basicsize__, ctypes.sizeof(_Head))
            head = _Head.from_buffer_copy(content)
            counts = (head.nin, head.nout, head.nargs, head.ntypes)
            if counts != (ufunc.nin, ufunc.nout, ufunc.nargs, len(ufunc.types)):
                return None
            tables = (head.functions, head.data)  # NumPy has no table of data where no loop is told anything
            address, data = [memory.word(table + 8 * place) if table else 0 for table in tables]
    except (Unreadable, OSError):
        return None
    return Loop(Address(address, kind, *asked), Address(data, f"data of {kind}", *asked)) if address else None


def _agrees(found: Loop, ufunc: UfuncLike, dtype: np.dtype[Any]) -> bool:
    """Whether the loop computes what the ufunc does, on blocks of several lengths and number by number."""
    inputs = [np.linspace(0.01, 0.99, 67).astype(dtype) ** (k + 1) for k in range(ufunc.nin)]
    wanted = ufunc(*inputs)
    if any(ufunc(*numbers) != one for *numbers, one in zip(*inputs, wanted, strict=True)):
        return False
    for count in (1, 3, 67):
        out = np.zeros_like(wanted)
        arrays = [*inputs, out]
        pointers = (ctypes.c_void_p * len(arrays))(*[x.ctypes.data for x in arrays])
        steps = (ctypes.c_ssize_t * len(arrays))(*[x.itemsize for x in arrays])
        _call(found, pointers, (ctypes.c_ssize_t * 1)(count), steps)
        if out[:count].tobytes() != wanted[:count].tobytes() or out[count:].any():
            return False
    return True


def _agrees_on_lines(found: Loop, ufunc: UfuncLike, types: str) -> bool:
    """Whether the loop transforms two lines, backwards and with gaps between numbers, as the ufunc does."""
    size = 5 if ufunc.__name__ == "rfft_n_odd" else 6
    half = size // 2 + 1
    sizes = (half if types[-1] in "fd" else size, half if types[0] in "fd" else size)
    kinds = (types[0], types[-1])
    line, result = [np.zeros((2, 2 * n), kind)[:, ::2] for n, kind in zip(sizes, kinds, strict=True)]
    line = line[:, ::-1]
    line[...] = np.arange(line.size).reshape(line.shape) ** 2 % 7 * (1.0 + 0.5j if types[0] in "FD" else 1.0)
    factor = np.array(0.3, types[1])
    wanted = ufunc(line, factor, out=np.zeros_like(result), signature=types)
    made = [line, factor, result]
    pointers = (ctypes.c_void_p * 3)(*[x.ctypes.data for x in made])
    steps = (ctypes.c_ssize_t * 5)(line.strides[0], 0, result.strides[0], line.strides[1], result.strides[1])
    _call(found, pointers, (ctypes.c_ssize_t * 3)(2, *sizes), steps)
    return _same([result], [wanted])


def _agrees_on_matrices(found: Loop, ufunc: UfuncLike, types: str) -> bool:
    """Whether the loop, which is told nothing besides, does what the ufunc does for two square matrices."""
    if found.data:
        return False
    n = 3
    operands = [part.split(",") if part else [] for part in re.findall(r"\(([^)]*)\)", ufunc.signature)]
    letters = list(dict.fromkeys([letter.strip() for axes in operands for letter in axes]))
    kinds = types.replace("->", "")
    made = [np.zeros((2, *[n] * len(axes)), kind) for axes, kind in zip(operands, kinds, strict=True)]
    for k, x in enumerate(made[: ufunc.nin]):
        x[...] = (np.arange(x.size) % 7 + k).reshape(x.shape)
        if x.ndim == 3:
            x[:, range(n), range(n)] += 9
    given = [x.copy() for x in made[: ufunc.nin]]
    wanted = ufunc(*given, signature=types)
    wanted = [*given, *(wanted if ufunc.nout > 1 else (wanted,))]  # some write what they are given
    pointers = (ctypes.c_void_p * len(made))(*[x.ctypes.data for x in made])
    steps = [x.strides[0] for x in made] + [s for x in made for s in x.strides[1:]]
    sizes = (ctypes.c_ssize_t * (1 + len(letters)))(2, *[n] * len(letters))
    _call(found, pointers, sizes, (ctypes.c_ssize_t * len(steps))(*steps))
    return _same(made, wanted)


def _same(found: Sequence[Any], wanted: Sequence[Any]) -> bool:
    """Whether arrays are equal to the bit."""
    return all(x.tobytes() == y.tobytes() for x, y in zip(found, wanted, strict=True))


def _call(found: Loop, pointers: Anything, count: Anything, steps: Anything) -> None:
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(found.address)
    function(*[ctypes.addressof(x) for x in (pointers, count, steps)], found.data)
