"""Compares where machine code looks in CPython's and NumPy's objects with what Python says of them.

Every number of `machine.objects` is tried on objects of several kinds before the first call. Memory is read
so that a wrong number is found, and never ends the process.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from funcgrad.compile.runtime.addresses.readable_memory import Memory, Unreadable
from funcgrad.compile.runtime.callers.dictionary_entries import entry_places
from funcgrad.compile.runtime.machine import objects


class Comparison(NamedTuple):
    """What one number led to, and what Python says."""

    names: str
    thing: object
    found: object
    expected: object


def object_difference() -> str | None:
    """What lies elsewhere in this process's objects than machine code looks; None where nothing does.

    >>> object_difference() is None
    True
    """
    with Memory() as memory:
        for compare in (
            *(compared_types, compared_counts, compared_numbers),
            *(compared_tuples, compared_lists, compared_dictionaries, compared_arrays, compared_dtypes),
        ):
            try:
                for names, thing, found, expected in compare(memory):
                    if found != expected:
                        kind = type(thing).__name__
                        return f"{names} of a {kind} leads to {found!r}, where Python says {expected!r}"
            except Unreadable as error:
                return f"{error}, where {compare.__name__.removeprefix('compared_')} are looked for"
    return None


def numbers() -> tuple[Any, ...]:
    """Numbers of every type that a call may be given."""
    scalars = [np.dtype(char).type(3) for char in "bBhHiIlLqQefd"]
    complexes = [np.complex64(1.5 - 2.5j), np.complex128(-1.25 + 0.5j)]
    return (1.5, -0.0, 2.5e300, 3.25 - 1.75j, -1e300 + 5j, *scalars, np.True_, np.False_, *complexes)


def array_samples() -> tuple[np.ndarray, ...]:
    """Arrays of several ranks and dtypes, with each flag on and off."""
    plane = np.arange(6.0).reshape(2, 3)
    locked = np.arange(3)
    locked.flags.writeable = False
    foreign = np.arange(4.0).astype(">f8" if sys.byteorder == "little" else "<f8")
    misaligned = np.zeros(33, np.uint8)[1:].view(np.float64)
    return (
        *(np.array(2.5), np.zeros(0), np.zeros((0, 4), np.int8), np.ones((1, 2, 1, 3, 1, 2, 1), np.float32)),
        *(plane, plane.T, np.asfortranarray(plane), plane[:, ::2], np.arange(9.0)[::-2], np.ones(5)[1:4]),
        *(locked, foreign, misaligned, np.array([1j, 2.0]), np.array([True, False]), np.arange(70_000)),
        *(np.array(["a", "bc"]), np.array([None, 1.5], object), np.zeros(2, [("x", "f8"), ("y", "i4")])),
    )


def compared_types(memory: Memory) -> Iterator[Comparison]:
    """The types of objects of all kinds."""
    for thing in (*numbers(), 7, -(2**80), True, None, (), (1,), "text", *array_samples(), np.dtype(float)):
        yield Comparison("OBJECT_TYPE", thing, memory.word(id(thing) + objects.OBJECT_TYPE), id(type(thing)))


def compared_counts(memory: Memory) -> Iterator[Comparison]:
    """The counts of references, for several holders."""
    for count in range(3):
        thing, alone = np.zeros(2), object()
        holders = [thing] * count
        found = memory.half(id(thing) + objects.OBJECT_COUNT)
        expected = 1 + sys.getrefcount(thing) - sys.getrefcount(alone)
        yield Comparison("OBJECT_COUNT", thing, (found, len(holders)), (expected, expected - 1))


def compared_numbers(memory: Memory) -> Iterator[Comparison]:
    """The values of Python's and NumPy's numbers."""
    for thing in numbers():
        if isinstance(thing, np.generic):
            wanted = thing.tobytes()
        elif isinstance(thing, complex):
            wanted = struct.pack("=2d", thing.real, thing.imag)
        else:
            wanted = struct.pack("=d", thing)
        found = memory.content(id(thing) + objects.OBJECT_VALUE, len(wanted))
        yield Comparison("OBJECT_VALUE", thing, found, wanted)
        if type(thing) in (complex, np.complex128):
            found = memory.content(id(thing) + objects.OBJECT_IMAGINARY, 8)
            yield Comparison("OBJECT_IMAGINARY", thing, found, struct.pack("=d", thing.imag))


def compared_tuples(memory: Memory) -> Iterator[Comparison]:
    """The items of tuples."""
    for thing in ((1.5,), (None, 2.5), (np.zeros(1), "a", (), 4)):
        for k, item in enumerate(thing):
            found = memory.word(id(thing) + objects.TUPLE_ITEMS + 8 * k)
            yield Comparison("TUPLE_ITEMS", thing, found, id(item))
        length = memory.word(id(thing) + objects.SEQUENCE_LENGTH)
        yield Comparison("SEQUENCE_LENGTH", thing, length, len(thing))


def compared_lists(memory: Memory) -> Iterator[Comparison]:
    """The lengths and items of lists."""
    for thing in ([1.5], [None, 2.5], [np.zeros(1), "a", [], 4]):
        length = memory.word(id(thing) + objects.SEQUENCE_LENGTH)
        yield Comparison("SEQUENCE_LENGTH", thing, length, len(thing))
        items = memory.word(id(thing) + objects.LIST_ITEMS)
        found = [memory.word(items + 8 * k) for k in range(len(thing))]
        yield Comparison("LIST_ITEMS", thing, found, [id(item) for item in thing])


def compared_dictionaries(memory: Memory) -> Iterator[Comparison]:
    """How often each value stands where dictionaries have their keys."""
    for keys in (range(3), "abcdefghijklm", [("a", 1), b"b"]):
        thing: dict[Any, Any] = {key: [] for key in keys}
        found = [len(places) for places in entry_places(memory, thing)]
        yield Comparison("DICT_KEYS", thing, found, [1] * len(thing))


def compared_arrays(memory: Memory) -> Iterator[Comparison]:
    """Where arrays have their data, rank, lengths, dtype and flags."""
    for x in array_samples():
        here = id(x)
        data = memory.word(here + objects.ARRAY_DATA)
        yield Comparison("ARRAY_DATA", x, data, x.ctypes.data)
        yield Comparison("ARRAY_RANK", x, memory.half(here + objects.ARRAY_RANK), x.ndim)
        shape = memory.word(here + objects.ARRAY_DIMENSIONS)
        lengths = tuple([memory.word(shape + 8 * k) for k in range(x.ndim)])
        yield Comparison("ARRAY_DIMENSIONS", x, lengths, x.shape)
        yield Comparison("ARRAY_DESCR", x, memory.word(here + objects.ARRAY_DESCR), id(x.dtype))
        base = memory.word(here + objects.ARRAY_BASE)
        yield Comparison("ARRAY_BASE", x, base, 0 if x.base is None else id(x.base))
        before, weak = memory.word(here + objects.ARRAY_WEAK), ref(x)
        after = memory.word(here + objects.ARRAY_WEAK)
        yield Comparison("ARRAY_WEAK", x, (before, after), (0, id(weak)))
        flags = memory.half(here + objects.ARRAY_FLAGS)
        yield Comparison("ARRAY_FLAGS", x, flags, x.flags.num)
        plain = flags & objects.ARRAY_IS_PLAIN == objects.ARRAY_IS_PLAIN
        yield Comparison("ARRAY_IS_PLAIN", x, plain, x.flags.c_contiguous and x.flags.aligned)
        mask, writeable = objects.ARRAY_IS_WRITEABLE, x.flags.writeable
        expected = (mask if writeable else 0, writeable)
        yield Comparison("ARRAY_IS_WRITEABLE", x, (flags & mask, flags & mask != 0), expected)


def compared_dtypes(memory: Memory) -> Iterator[Comparison]:
    """The number and the byte order of dtypes."""
    for dtype in {x.dtype: None for x in array_samples()}:
        number = memory.half(id(dtype) + objects.DESCR_NUMBER)
        yield Comparison("DESCR_NUMBER", dtype, number, dtype.num)
        (order,) = memory.content(id(dtype) + objects.DESCR_ORDER, 1)
        yield Comparison("DESCR_ORDER", dtype, chr(order), dtype.byteorder)
        yield Comparison("FOREIGN_ORDER", dtype, order != objects.FOREIGN_ORDER, dtype.isnative)
