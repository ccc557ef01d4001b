"""Three functions of NumPy's table for extension modules, and its memory handlers: found, and checked.

The table is what compiled extensions use; its positions are the ABI that NumPy keeps within a version of it.
Nobody tells how long it is, so the version is asked before anything else is read.
"""

from __future__ import annotations

import ctypes
import functools
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from funcgrad.compile.differs import Differs, say
from funcgrad.compile.runtime.addresses.readable_memory import Memory
from funcgrad.types import Anything

NEW_FROM_DESCR, SCALAR, SET_HANDLER, GET_HANDLER = 94, 60, 304, 305
POSITIONS = {
    "PyArray_NewFromDescr": "NEW_FROM_DESCR",
    "PyArray_Scalar": "SCALAR",
    "PyDataMem_SetHandler": "SET_HANDLER",
    "PyDataMem_GetHandler": "GET_HANDLER",
}
"""What NumPy calls the functions at our positions."""

TYPES = {2: np.ndarray, 3: np.dtype, 10: np.generic}
"""Types that stand in the same table: no other table has them there."""

ABI_VERSION, FEATURE_VERSION = 0, 211
ABI, HANDLERS_SINCE = 2, 0x0F
HANDLER_NAME = b"mem_handler"


class Handler(ctypes.Structure):
    """NumPy's PyDataMem_Handler (NEP 49)."""

    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        ("malloc", ctypes.c_void_p),
        ("calloc", ctypes.c_void_p),
        ("realloc", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
    )


class NumpyFunctions(NamedTuple):
    """The addresses of the functions; `set_handler` is zero where results have NumPy's own memory."""

    new_array: int
    new_scalar: int
    set_handler: int


def numpy_functions() -> NumpyFunctions:
    """The functions, once it is sure that they are; raises Differs."""
    with Memory() as memory:
        table = table_address()
        for position, kind in TYPES.items():
            if memory.word(table + 8 * position) != id(kind):
                raise Differs(f"position {position} of NumPy's _ARRAY_API is not {kind.__name__}")
        check_versions(memory, table)
        check_positions()
        addresses = [memory.word(table + 8 * k) for k in (NEW_FROM_DESCR, SCALAR, SET_HANDLER, GET_HANDLER)]
        if 0 in addresses:
            raise Differs("a function of NumPy's _ARRAY_API is missing")
        new_array, new_scalar, set_handler, get_handler = addresses
        wrong = handler_difference(memory, get_handler)
    if wrong is not None:
        say(f"{wrong}: large results are not in memory that is kept for the next call")
        set_handler = 0
    return NumpyFunctions(new_array, new_scalar, set_handler)


def table_address() -> int:
    """Where the table lies; raises Differs."""
    module = sys.modules.get("numpy._core._multiarray_umath")
    capsule = getattr(module, "_ARRAY_API", None)
    if capsule is None:
        raise Differs("NumPy has no numpy._core._multiarray_umath._ARRAY_API")
    address = capsule_content(capsule, None)
    if not address:
        raise Differs("NumPy's _ARRAY_API is not a capsule without a name")
    return address


def capsule_content(capsule: object, name: bytes | None) -> int:
    """The address in a capsule of this name; zero if it is not one."""
    valid: Any = ctypes.pythonapi.PyCapsule_IsValid
    valid.argtypes, valid.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_int
    if not valid(capsule, name):
        return 0
    pointer: Any = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.argtypes, pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    return int(pointer(capsule, name))


def check_versions(memory: Memory, table: int) -> None:
    """Raise Differs for another ABI than ours, or one without memory handlers."""
    version = ctypes.PYFUNCTYPE(ctypes.c_uint)
    abi = version(memory.word(table + 8 * ABI_VERSION))() >> 24
    if abi != ABI:
        raise Differs(f"NumPy's ABI has version {abi}, not {ABI}")
    features = version(memory.word(table + 8 * FEATURE_VERSION))()
    if features < HANDLERS_SINCE:
        raise Differs(f"NumPy's C API has version {features:#x}, older than {HANDLERS_SINCE:#x}")


def check_positions() -> None:
    """Raise Differs where NumPy's own header has a function at another position.

    A NumPy that comes without its headers is taken at its word, which is the version of its ABI.
    """
    header = Path(np.get_include()) / "numpy" / "__multiarray_api.h"
    try:
        text = header.read_text()
    except OSError:
        return
    for name, ours in POSITIONS.items():
        found = re.search(rf"#define {name}\s[^\[]*PyArray_API\[(\d+)\]", text)
        if found is not None and int(found[1]) != globals()[ours]:
            raise Differs(f"{name} is at position {found[1]} of NumPy's _ARRAY_API, not {globals()[ours]}")


def handler_difference(memory: Memory, get_handler: int) -> str | None:
    """Whether NumPy's own memory handler is laid out as ours; None if it is."""
    capsule = ctypes.PYFUNCTYPE(ctypes.py_object)(get_handler)()
    place = capsule_content(capsule, HANDLER_NAME)
    if not place:
        return f"NumPy's memory handler is not a capsule named {HANDLER_NAME.decode()}"
    content = memory.content(place, ctypes.sizeof(Handler))
    found = Handler.from_buffer_copy(content)
    if found.version != 1:
        return f"NumPy's memory handlers have version {found.version}, not 1"
    if not (found.malloc and found.calloc and found.realloc and found.free):
        return "NumPy's memory handler lacks functions where they are looked for"
    return None


@functools.cache
def _capsules() -> Anything:
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new


def handler_capsule(handler: Handler) -> object:
    """A memory handler as NumPy takes it; the handler must outlive every array."""
    return _capsules()(ctypes.addressof(handler), HANDLER_NAME, None)
