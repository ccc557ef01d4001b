"""Truth values packed into bytes, eight in each, and taken out again."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.numpy.algebra.operands import traced
from funcgrad.numpy.dispatch import implements
from funcgrad.numpy.reducing.axes import normalized_axis
from funcgrad.ops.arrays.structure import aval, shape_of
from funcgrad.types import Array, ArrayLike, Option


def places_of(bitorder: str) -> Array:
    """How far each of eight bits is shifted; raises ValueError for an order that is none."""
    if bitorder not in ("big", "little"):
        raise ValueError(f"bitorder must be 'big' or 'little', got {bitorder!r}")
    places = np.arange(8, dtype=np.uint8)
    return places[::-1] if bitorder == "big" else places


@implements(np.packbits)
def packbits(a: ArrayLike, /, axis: int | None = None, bitorder: Option = "big") -> Array:
    """Which elements are not zero, as bits of ``uint8``, eight in each along an axis; the rest are 0.

    >>> print(fg.jit(fg.numpy.packbits)(np.array([1, 0, 1])))
    [160]
    """
    operands = traced(a)
    if operands is None:
        return np.packbits(a, axis, bitorder)
    [x] = operands
    if aval(x).dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    lines = np.moveaxis(np.ravel(x) if axis is None else x, 0 if axis is None else axis, -1)
    *others, length = shape_of(lines)
    room = np.zeros((*others, -length % 8), np.bool_)
    bits = np.concatenate([lines != 0, room], axis=-1).reshape(*others, -(-length // 8), 8)
    packed: Any = np.sum(bits.astype(np.uint8) << places_of(bitorder), axis=-1, dtype=np.uint8)
    return np.moveaxis(packed, -1, 0 if axis is None else axis)


@implements(np.unpackbits)
def unpackbits(
    a: ArrayLike, /, axis: int | None = None, count: int | None = None, bitorder: Option = "big"
) -> Array:
    """The bits of ``uint8``, one in each element along an axis: the first `count`, or all but the last few.

    >>> print(fg.jit(lambda a: fg.numpy.unpackbits(a, count=3))(np.array([160], np.uint8)))
    [1 0 1]
    """
    operands = traced(a)
    if operands is None:
        return np.unpackbits(a, axis, count, bitorder)
    [x] = operands
    if aval(x).dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    x = np.ravel(x) if axis is None else x
    place = 0 if axis is None else normalized_axis(axis, len(shape_of(x)))
    lines = np.moveaxis(x, place, -1)
    *others, length = shape_of(lines)
    bits = ((lines[..., None] >> places_of(bitorder)) & np.uint8(1)).reshape(*others, 8 * length)
    wanted = 8 * length if count is None else count if count >= 0 else max(8 * length + count, 0)
    room = np.zeros((*others, max(wanted - 8 * length, 0)), np.uint8)
    return np.moveaxis(np.concatenate([bits[..., :wanted], room], axis=-1), -1, place)
