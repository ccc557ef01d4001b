"""What a call has to know of a kernel, without the passes that made it: memory, numbers, and the text.

Made of a fresh `Kernel`, or read from disk (`known_kernels`), where neither the passes nor their modules are
needed any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from funcgrad.types import Array

if TYPE_CHECKING:
    from funcgrad.compile.passes.kernel import Kernel


class Block(NamedTuple):
    """A block of memory that the kernel is given, in its slot of the table of pointers."""

    role: str
    """``input``, ``captured``, ``output``, ``scratch``, ``clock``, ``failure`` or ``signals``."""
    dtype: np.dtype[Any]
    size: int
    place: int
    """Which input or output it is, or where it lies in the scratch memory."""
    array: Array | None
    """What is captured."""
    first: int
    last: int
    """The first and last place in the schedule where it is used."""


class CallFacts(NamedTuple):
    """A kernel as its calls see it."""

    name: str
    code: str
    """The source without comments."""
    functions: tuple[str, ...]
    blocks: tuple[Block, ...]
    scratch_bytes: int
    sizes: tuple[int, ...]
    """Addresses of this process among them."""
    flops: float
    last_stop: int
    """The last place in the schedule where it may be left, or -1."""

    @property
    def stops(self) -> bool:
        """Whether it may be left before its end, and returns a number."""
        return any(block.role == "signals" for block in self.blocks)

    @property
    def may_fail(self) -> bool:
        """Whether it has a flag that says that NumPy would raise an error."""
        return any(block.role == "failure" for block in self.blocks)


def facts_of(kernel: Kernel) -> CallFacts:
    """What calls have to know of a kernel."""
    blocks = []
    for buffer in kernel.buffers:
        source = buffer.source
        place = source if buffer.role in ("input", "output") else kernel.offsets.get(buffer, 0)
        array = np.asarray(source) if buffer.role == "captured" else None
        blocks.append(Block(buffer.role, buffer.dtype, buffer.size, place, array, buffer.first, buffer.last))
    return CallFacts(
        kernel.name,
        kernel.code,
        kernel.functions,
        tuple(blocks),
        kernel.scratch_bytes,
        kernel.sizes,
        kernel.flops,
        kernel.last_stop,
    )
