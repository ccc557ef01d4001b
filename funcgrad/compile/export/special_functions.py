"""Functions of ``scipy.special`` in exported modules: by the addresses that SciPy gives to compiled code.

``scipy.special.cython_special`` names a C function for each combination of types. A module asks Numba for
the address of the one for double precision; without Numba it calls the ufunc.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from functools import cache
from importlib import import_module

import numpy as np

from funcgrad.compile.passes.scheduling.lowerings import NotLowered
from funcgrad.ops.arrays.lazy import LazyUfunc
from funcgrad.ops.specials.table import TABLE, Special

PREFIX = "special_"
"""How calls of them begin."""

WRITTEN_OUT = {("zeta", 2): "hurwitz_zeta({0}, {1})"}
"""What has no address of its own, by name and number of operands."""

_CALL = re.compile(rf"\b{PREFIX}(\w+)\(")


@cache
def symbols() -> dict[tuple[str, int], str]:
    """The C functions of double precision, by name and number of operands."""
    compiled = import_module("scipy.special.cython_special")  # a megabyte that only exports need
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    found: dict[tuple[str, int], str] = {}
    for symbol, capsule in compiled.__pyx_capi__.items():
        signature = name_of(capsule).decode()
        kinds = re.fullmatch(r"double \(((?:double, )+)int __pyx_skip_dispatch\)", signature)
        if kinds is not None:
            name = re.sub(r"^__pyx_fuse(?:_?\d+)+", "", symbol)
            found[name, kinds[1].count("double")] = symbol
    return found


def special_template(primitive: Special, dtypes: Sequence[np.dtype]) -> str:
    """The call for elements, with a place for each operand; raises NotLowered where SciPy has none."""
    name = primitive.function
    if (name, len(dtypes)) in WRITTEN_OUT:
        return WRITTEN_OUT[name, len(dtypes)]
    if (name, len(dtypes)) not in symbols() or any(d.char not in "dl" for d in dtypes):
        kinds = ", ".join([d.name for d in dtypes])
        raise NotLowered(f"SciPy has no function {name} of {kinds} for compiled code")
    operands = [f"{{{k}}}" if d.char == "d" else f"np.float64({{{k}}})" for k, d in enumerate(dtypes)]
    return f"{PREFIX}{name}({', '.join(operands)})"


def is_ufunc(primitive: Special) -> bool:
    """Whether it is a ufunc of ``scipy.special`` under its own name."""
    ufunc = primitive.ufunc
    return type(ufunc) is LazyUfunc and repr(ufunc) == f"scipy.special.{primitive.function}"


def is_of_scipy(name: str) -> bool:
    """Whether a call in a module is one of these."""
    return name.startswith(PREFIX) and any(name == PREFIX + known for known, _ in symbols())


def special_definitions(text: str, engine: str) -> list[str]:
    """A line for each that a text calls."""
    called = sorted(set(_CALL.findall(text)))
    if engine == "numpy":
        return [f"{PREFIX}{name} = scipy.special.{name}" for name in called if name in TABLE]
    lines = []
    for (name, count), symbol in symbols().items():
        if name in called:
            kinds = ", ".join(["ctypes.c_double"] * (count + 1))
            lines.append(
                f"{PREFIX}{name} = ctypes.CFUNCTYPE({kinds})(\n"
                "    numba.extending.get_cython_function_address("
                f'"scipy.special.cython_special", "{symbol}")\n)'
            )
    return lines
