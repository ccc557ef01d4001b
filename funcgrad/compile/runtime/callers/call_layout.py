"""What a compiled function is given and gives back: its inputs, outputs, constants, scratch memory and sizes.

The emitter says at which index of the table of buffers (its *slot*) each of them stands. A `CallLayout` is
for exact shapes: another shape is another layout of the same machine code. Every first call imports this:
dataclasses, whose methods are compiled as the module is run, took 3 ms.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class Accept(enum.IntFlag):
    """The kinds of Python object that an input may be. All but ``ARRAY`` are for rank 0."""

    ARRAY = 1
    NUMPY_SCALAR = 2
    FLOAT = 4
    INT = 8
    BOOL = 16
    COMPLEX = 32


class Left(enum.IntEnum):
    """What a kernel returns that was left before its end; one that runs to its end returns 0."""

    INTERRUPTED = 1
    """The handler of a signal has raised an exception, which is set in Python's thread state."""
    NO_MEMORY = 2


class Input(NamedTuple):
    """An argument: an array of this dtype and shape, C-contiguous and aligned, or an accepted scalar."""

    slot: int
    dtype: np.dtype
    shape: tuple[int, ...] = ()
    accept: Accept = Accept.ARRAY


class Output(NamedTuple):
    """A result: a new array, a NumPy scalar (``scalar``), or the array of input ``donor``, overwritten."""

    slot: int
    dtype: np.dtype
    shape: tuple[int, ...] = ()
    scalar: bool = False
    donor: int | None = None

    @property
    def size(self) -> int:
        """The number of bytes."""
        return math.prod(self.shape) * self.dtype.itemsize


class Constant(NamedTuple):
    """A buffer that is the same at every call: a captured array, which must stay as it is."""

    slot: int
    array: np.ndarray


class Scratch(NamedTuple):
    """A buffer at ``offset`` bytes (a multiple of 64) into the scratch memory of a call."""

    slot: int
    offset: int


class CallLayout:
    """Everything about a call but the code: a list for each kind of buffer, and the table of integers.

    ``long`` says that the call takes long enough (some ten microseconds) to let other Python threads run.
    ``single`` returns the only output itself, not a tuple of one. ``stops`` says that the code returns a
    number: 0, or why it was left (`Left`). Raises ValueError for what machine code would not check.
    """

    __slots__ = (
        *("constants", "inputs", "long", "outputs", "scratch", "scratch_bytes", "single", "sizes", "stops"),
    )

    def __init__(
        self,
        inputs: tuple[Input, ...],
        outputs: tuple[Output, ...],
        constants: tuple[Constant, ...] = (),
        scratch: tuple[Scratch, ...] = (),
        scratch_bytes: int = 0,
        sizes: tuple[int, ...] = (),
        long: bool = False,
        single: bool = False,
        stops: bool = False,
    ) -> None:
        self.inputs = inputs
        self.outputs = outputs
        self.constants = constants
        self.scratch = scratch
        self.scratch_bytes = scratch_bytes
        self.sizes = sizes
        self.long = long
        self.single = single
        self.stops = stops
        self._check()

    def _check(self) -> None:
        used = sorted(self._slots())
        if used != list(range(len(used))):
            raise ValueError(f"buffers must fill the slots 0 to {len(used) - 1} once each, not {used}")
        if self.single and len(self.outputs) != 1:
            raise ValueError(f"a single result needs one output, not {len(self.outputs)}")
        for item in self.scratch:
            if item.offset % 64 or not 0 <= item.offset <= self.scratch_bytes:
                raise ValueError(
                    f"scratch offset {item.offset} must be a multiple of 64 in {self.scratch_bytes}"
                )
        for constant in self.constants:
            if not (constant.array.flags.c_contiguous and constant.array.flags.aligned):
                raise ValueError("a constant must be C-contiguous and aligned")
        self._check_donors()
        self._check_scalars()

    def _check_scalars(self) -> None:
        for item in self.inputs:
            if item.shape and item.accept != Accept.ARRAY:
                raise ValueError(f"only a rank-0 input may be a scalar, not one of shape {item.shape}")
        for output in self.outputs:
            if output.scalar and output.shape:
                raise ValueError(f"only a rank-0 output may be a scalar, not one of shape {output.shape}")

    def _check_donors(self) -> None:
        donors = [output for output in self.outputs if output.donor is not None]
        if len({output.donor for output in donors}) != len(donors):
            raise ValueError("an input is donated to one output only")
        for output in donors:
            given = self.inputs[output.donor or 0]
            if (given.dtype, given.shape, given.accept) != (output.dtype, output.shape, Accept.ARRAY):
                raise ValueError("a donated input must be an array of the dtype and shape of its output")

    def _slots(self) -> Iterator[int]:
        for group in (self.inputs, self.outputs, self.constants, self.scratch):
            for item in group:
                yield item.slot

    @property
    def slots(self) -> int:
        """The length of the table of buffers."""
        return len(self.inputs) + len(self.outputs) + len(self.constants) + len(self.scratch)
