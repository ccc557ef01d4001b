"""Running Programs as native code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.compile.kernel import Kernel, make_kernel
from funcgrad.compile.native.build import build
from funcgrad.compile.native.caller import make_caller
from funcgrad.compile.native.layout import Accept, CallLayout, Constant, Input, Output, Scratch
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program

ANY_SCALAR = Accept.ARRAY | Accept.NUMPY_SCALAR | Accept.FLOAT | Accept.INT | Accept.BOOL | Accept.COMPLEX


def call_layout(kernel: Kernel, program: Program) -> CallLayout:
    """What a call of the kernel is given, for the caller."""
    inputs: list[Any] = [None] * len(program.inputs)
    outputs: list[Any] = [None] * len(program.outputs)
    constants, scratch = [], []
    for slot, buffer in enumerate(kernel.buffers):
        if buffer.role == "input":
            aval = program.inputs[buffer.source].aval
            inputs[buffer.source] = Input(slot, aval.dtype, aval.shape, accepted(aval))
        elif buffer.role == "output":
            aval = program.outputs[buffer.source].aval
            outputs[buffer.source] = Output(slot, aval.dtype, aval.shape, not aval.shape)
        elif buffer.role == "captured":
            array = np.ascontiguousarray(buffer.source)
            constants.append(Constant(slot, array))
        else:
            scratch.append(Scratch(slot, kernel.offsets[buffer]))
    return CallLayout(
        tuple(inputs),
        tuple(outputs),
        tuple(constants),
        tuple(scratch),
        kernel.scratch_bytes,
        kernel.sizes,
    )


def accepted(aval: Aval) -> Accept:
    """What may stand for an input."""
    return Accept.ARRAY if aval.shape else ANY_SCALAR


def executable(program: Program) -> Callable[..., Any]:
    """The Program compiled."""
    from funcgrad.compile.functions import namespace  # noqa: PLC0415 - Numba

    kernel = make_kernel(program)
    binary = build(kernel.source, [kernel.name], frozenset({"contract"}), namespace())
    loaded = binary.load()
    return make_caller(loaded.addresses[kernel.name], call_layout(kernel, program), loaded)
