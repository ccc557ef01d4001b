"""Which kernel a Program became, on disk: a process that finds it there makes none, and loads no pass.

Beside a Program's key (`program_keys`) stands what its calls have to know (`call_facts`), the kernel's text
included, under which the machine code is kept. Addresses are kept by name and found anew. An entry is good
for the files of this package as they are, by size and time, as Python holds compiled modules to theirs.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from funcgrad.compile.runtime.addresses.address import Address
from funcgrad.compile.runtime.addresses.blas import Routine, lapack_routine, routine, thread_routine
from funcgrad.compile.runtime.addresses.scipy_functions import function_of_numbers
from funcgrad.compile.runtime.addresses.ufuncs import loop, matrix_loop
from funcgrad.compile.runtime.cache import current, files_of
from funcgrad.compile.runtime.call_facts import Block, CallFacts
from funcgrad.compile.runtime.program_keys import ProgramKey, key_of_program
from funcgrad.config import engine_name
from funcgrad.ir.program import Program
from funcgrad.tracing.recorder import writeable_memory
from funcgrad.types import Array

FIRST_ADDRESS = 1 << 32
"""Numbers from here on may be addresses: one that does not say where it was found is kept by nobody."""

MOST_VALUES = 1 << 16
"""Bytes of arrays that a kernel has beside the captured ones."""


def address_again(kind: str, name: str, *types: str) -> int | None:
    """The address in this process of what an `Address` of another one names; None where there is none."""
    match kind:
        case "blas" | "lapack" | "threads":
            routines: dict[str, Callable[[str], Routine | None]]
            routines = {"blas": routine, "lapack": lapack_routine, "threads": thread_routine}
            place = routines[kind](name)
            return None if place is None else place.address
        case "scipy":
            return function_of_numbers(name, int(types[0]))
        case "loop" | "data of loop":
            found = loop(name, np.dtype(types[0]))
        case _:
            found = matrix_loop(name, types[0])
    if found is None:
        return None
    return found.data if kind.startswith("data of ") else found.address


def known_facts(program: Program) -> tuple[ProgramKey | None, CallFacts | None]:
    """The key of a Program, and what was remembered under it; None for what there is none of."""
    cache = current()
    if cache.directory is None:
        return None, None
    key = key_of_program(program)
    payload = None if key is None else cache.lookup(disk_key(key))
    if key is None or payload is None:
        return key, None
    return key, unpacked(pickle.loads(payload), key.arrays)


def remember(key: ProgramKey, facts: CallFacts) -> None:
    """Keep what calls have to know of the kernel of a Program, where other processes can use it."""
    kept = packed(facts, key.arrays)
    if kept is not None:
        current().store(disk_key(key), pickle.dumps(kept))


def disk_key(key: ProgramKey) -> bytes:
    """A Program's key with everything else that makes its kernel."""
    return b"\n".join([b"program", engine_name().encode(), package_files(), key.text])


_FILES: list[bytes] = []


def package_files() -> bytes:
    """The files of this package, by size and time, as they are when first asked for."""
    if not _FILES:
        _FILES.append(repr(files_of(Path(__file__).resolve().parents[2])).encode())
    return _FILES[0]


def packed(facts: CallFacts, arrays: Sequence[Array]) -> tuple[Any, ...] | None:
    """What is kept: captured arrays by number, addresses by origin; None for what means nothing elsewhere."""
    sizes: list[int | tuple[str, ...]] = []
    for number in facts.sizes:
        if isinstance(number, Address):
            sizes.append(number.origin)
        elif number >= FIRST_ADDRESS:
            return None
        else:
            sizes.append(number)
    if any(shows_changes(block.array, arrays) for block in facts.blocks if block.array is not None):
        return None
    blocks = list(packed_blocks(facts.blocks, arrays))
    if sum([len(block[-1]) for block in blocks if isinstance(block[-1], bytes)]) > MOST_VALUES:
        return None
    rest = (facts.scratch_bytes, tuple(sizes), facts.flops, facts.last_stop)
    return (facts.name, facts.code, facts.functions, tuple(blocks), *rest)


def shows_changes(array: Array, arrays: Sequence[Array]) -> bool:
    """Whether an array is none of those captured, and shows elements of one that somebody can change."""
    if any(array is captured for captured in arrays):
        return False
    return any(writeable_memory(captured) and np.may_share_memory(array, captured) for captured in arrays)


def packed_blocks(blocks: Sequence[Block], arrays: Sequence[Array]) -> Iterator[tuple[Any, ...]]:
    """Blocks with numbers in the place of captured arrays; what only the kernel has stands by its bytes."""
    places = {id(array): k for k, array in enumerate(arrays)}
    for block in blocks:
        kept: Any = None
        if block.array is not None:
            kept = places.get(id(block.array))
            if kept is None:
                kept = np.ascontiguousarray(block.array).tobytes()
        shape = () if block.array is None else block.array.shape
        rest = (block.size, block.place, block.first, block.last)
        yield (block.role, block.dtype.str, *rest, shape, kept)


def unpacked(kept: tuple[Any, ...], arrays: Sequence[Array]) -> CallFacts | None:
    """The facts that `packed` made this of; None where an address is not found in this process."""
    name, code, functions, packed_up, scratch_bytes, numbers, flops, last_stop = kept
    sizes: list[int] = []
    for number in numbers:
        found = address_again(*number) if isinstance(number, tuple) else number
        if found is None:
            return None
        sizes.append(found)
    blocks = []
    for role, kind, size, place, first, last, shape, values in packed_up:
        dtype = np.dtype(kind)
        array = values
        if isinstance(values, int):
            array = arrays[values]
        elif values is not None:
            array = np.frombuffer(values, dtype).reshape(shape).copy()
        blocks.append(Block(role, dtype, size, place, array, first, last))
    return CallFacts(name, code, functions, tuple(blocks), scratch_bytes, tuple(sizes), flops, last_stop)
