"""Compiled Programs inside other people's compiled code: as Numba functions, and as C function pointers.

The machine code is the one that Python calls; what is made here is the code around it that Numba compiles.
Imports Numba.
"""

from __future__ import annotations

import ctypes
import linecache
from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
from numba import carray  # type: ignore[attr-defined]

from funcgrad.compile.passes.kernel import Kernel
from funcgrad.compile.runtime.binaries import loaded_kernel
from funcgrad.compile.runtime.executable import Executable
from funcgrad.compile.runtime.signals import no_signal_words
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.types import Foreign, NumbaFunction

_STOPPABLE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
_ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


def numba_function(made: Executable, name: str) -> NumbaFunction:
    """A Numba function of the Program's inputs that returns its output, or a tuple of several."""
    if made.reasons or len(made.kernels) != 1:
        words = made.reasons[0].words if made.reasons else "it is not a single kernel"
        raise UnsupportedFunctionError(
            f"{name} cannot be called from compiled code: {words}",
            remedy="Leave that part outside, or write it with operations that have a native form.",
        )
    (kernel,) = made.kernels
    loaded = loaded_kernel(kernel.code, kernel.functions)
    sizes = np.array(kernel.sizes or (0,), np.int64)
    constants = [
        np.ascontiguousarray(b.source) if b.role == "captured" else no_signal_words()
        for b in kernel.buffers
        if b.role in ("captured", "signals")
    ]
    held = (loaded, sizes, constants)
    source = wrapper_source(kernel, made.program, name, sizes.ctypes.data, [x.ctypes.data for x in constants])
    names: dict[str, Any] = {
        "np": np,
        "entry": (_STOPPABLE if kernel.stops else _ENTRY)(loaded.addresses[kernel.name]),
    }
    filename = f"<funcgrad {name} for Numba>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    exec(compile(source, filename, "exec"), names)
    function = names[name]
    # Numba copies addresses into whatever calls this, and nobody knows how long that is used: for ever, then.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))
    return numba.njit(function)


WRONG = "an index of {} is out of bounds, or a matrix is singular"
"""What the function says where NumPy would raise an error; called from Python, funcgrad says which."""


def wrapper_source(kernel: Kernel, program: Program, name: str, sizes: int, constants: Sequence[int]) -> str:
    """The text of the function: check, allocate, call."""
    arguments = [f"a{k}" for k in range(len(program.inputs))]
    lines = [
        f"def {name}({', '.join(arguments)}):",
        f"    table = np.empty({max(len(kernel.buffers), 1)}, np.intp)",
    ]
    kept = ["table"]
    for argument, v in zip(arguments, program.inputs, strict=True):
        lines += input_lines(argument, v.aval)
        kept.append("c" + argument[1:])
    if kernel.scratch_bytes:
        kept.append("scratch")
        lines += [
            f"    scratch = np.empty({kernel.scratch_bytes + 64}, np.uint8)",
            "    start = (scratch.ctypes.data + 63) // 64 * 64",
        ]
    addresses = iter(constants)
    results: dict[int, str] = {}
    for slot, buffer in enumerate(kernel.buffers):
        if buffer.role == "input":
            place = f"c{buffer.source}.ctypes.data"
        elif buffer.role in ("captured", "signals"):
            place = str(next(addresses))
        elif buffer.role == "scratch":
            place = f"start + {kernel.offsets[buffer]}"
        else:
            shape = program.outputs[buffer.source].aval.shape if buffer.role == "output" else ()
            lines.append(f"    r{slot} = np.empty({shape or (1,)}, np.{scalar_name(buffer.dtype)})")
            place = f"r{slot}.ctypes.data"
            kept.append(f"r{slot}")
            if buffer.role == "output":
                results[buffer.source] = f"r{slot}" if shape else f"r{slot}[0]"
        lines.append(f"    table[{slot}] = {place}")
    call = f"entry(table.ctypes.data, {sizes})"
    if kernel.stops:
        lines += [
            f"    if {call} != 0:",
            f'        raise MemoryError("{name}: no memory for what a loop leaves")',
        ]
    else:
        lines.append(f"    {call}")
    # Numba frees an array after the last line that names it, and an address does not count as a name.
    lines.append(f"    if {' + '.join(f'{array}.size' for array in kept)} < 0:\n        raise MemoryError")
    for slot, buffer in enumerate(kernel.buffers):
        if buffer.role == "failure":
            lines.append(f'    if r{slot}[0]:\n        raise IndexError("{WRONG.format(name)}")')
    found = [results[k] for k in sorted(results)]
    lines.append(f"    return {found[0] if len(found) == 1 else '(' + ', '.join(found) + ',)'}")
    return "\n".join(lines) + "\n"


def input_lines(argument: str, aval: Aval) -> list[str]:
    """An argument as contiguous memory ``c0``, ``c1``, ...; one of another shape is refused."""
    kept = "c" + argument[1:]
    if not aval.shape:
        return [f"    {kept} = np.empty(1, np.{scalar_name(aval.dtype)})", f"    {kept}[0] = {argument}"]
    words = f"argument {argument[1:]} must have shape {aval.shape}"
    return [
        f"    if {argument}.shape != {aval.shape}:",
        f'        raise ValueError("{words}")',
        f"    {kept} = np.ascontiguousarray({argument}).astype(np.{scalar_name(aval.dtype)})",
    ]


def scalar_name(dtype: np.dtype[Any]) -> str:
    """The name of a dtype in NumPy."""
    return "bool_" if dtype.kind == "b" else dtype.name


SIGNATURES = {
    "double (double)": "f64(f64)",
    "double (double, void *)": "f64(f64, voidptr)",
    "double (int, double *)": "f64(i32, ptr)",
    "double (int, double *, void *)": "f64(i32, ptr, voidptr)",
}
"""The C signatures that SciPy's integrators and optimisers take."""


def c_callback(function: NumbaFunction, signature: str, n: int) -> Foreign:
    """A C function of one of `SIGNATURES` around a Numba function of a number, or of an array of `n`."""
    number, pointer = numba.types.float64, numba.types.CPointer(numba.types.float64)  # type: ignore[no-untyped-call]
    void = numba.types.voidptr
    if signature == "double (double)":

        def of_number(x):  # type: ignore[no-untyped-def]
            return function(x)

        return numba.cfunc(number(number))(of_number)
    if signature == "double (double, void *)":

        def of_number_and_data(x, data):  # type: ignore[no-untyped-def]
            return function(x)

        return numba.cfunc(number(number, void))(of_number_and_data)
    if signature == "double (int, double *)":

        def of_array(count, x):  # type: ignore[no-untyped-def]
            return function(carray(x, n))

        return numba.cfunc(number(numba.types.int32, pointer))(of_array)

    def of_array_and_data(count, x, data):  # type: ignore[no-untyped-def]
        return function(carray(x, n))

    return numba.cfunc(number(numba.types.int32, pointer, void))(of_array_and_data)
