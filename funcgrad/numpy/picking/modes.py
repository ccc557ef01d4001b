"""What positions out of bounds mean where a mode says it: the nearest end, a filling, or nothing.

As in JAX, negative positions count from the end first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.ops.arrays.structure import aval, cast, shape_of
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike, Index

MODES = ("clip", "fill", "drop", "promise_in_bounds")


def filling(dtype: np.dtype[Any]) -> Array:
    """What stands for an element that is not there: NaN, or the last number that an integer is used for."""
    if dtype.kind in "fc":
        return np.nan
    if dtype.kind == "b":
        return True
    return np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max


def mode_of(mode: object) -> str:
    """The mode by name, `drop` as `fill`; members of `GatherScatterMode` have one as their value.

    Raises ValueError for others.
    """
    name = getattr(mode, "value", mode)
    if name not in MODES:
        raise ValueError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
    return "fill" if name == "drop" else str(name)


def from_start(positions: ArrayLike, length: int) -> tuple[Any, Any]:
    """Positions from the start, and which of them are inside of an axis of this length."""
    given = cast(positions, np.int64)
    found = np.where(given < 0, given + length, given)
    return found, (found >= 0) & (found < length)


def entries_of(index: Index, shape: tuple[int, ...]) -> list[Any] | None:
    """The index, an entry for each axis; None where it has masks or new axes."""
    entries = list(index) if type(index) is tuple else [index]
    if any(x is None for x in entries):
        return None
    if any(x is Ellipsis for x in entries):
        k = next(k for k, x in enumerate(entries) if x is Ellipsis)
        entries[k : k + 1] = [slice(None)] * (len(shape) - len(entries) + 1)
    entries += [slice(None)] * (len(shape) - len(entries))
    found = [x if isinstance(x, slice) else asoperand(x) for x in entries]
    if len(found) != len(shape) or any(
        not isinstance(x, slice) and aval(x).dtype.kind not in "iu" for x in found
    ):
        return None
    return found


def moved_inside(entries: list[Any], shape: tuple[int, ...]) -> tuple[tuple[Any, ...], Any]:
    """The index with positions at the nearest end, and which elements it was inside for."""
    index: list[Any] = []
    every: Any = True
    for entry, length in zip(entries, shape, strict=True):
        if isinstance(entry, slice):
            index.append(entry)
            continue
        place, inside = from_start(entry, length)
        index.append(np.clip(place, 0, length - 1))
        every = every & inside
    return tuple(index), every


def moved_behind(entries: list[Any], shape: tuple[int, ...]) -> tuple[tuple[Any, ...], list[tuple[int, int]]]:
    """The index with positions out of bounds behind the end, and by how much to pad each axis."""
    index: list[Any] = []
    widths = []
    for entry, length in zip(entries, shape, strict=True):
        if isinstance(entry, slice):
            index.append(slice(*entry.indices(length)) if (entry.step or 1) > 0 else entry)
            widths.append((0, 0))
            continue
        place, inside = from_start(entry, length)
        index.append(np.where(inside, place, length))
        widths.append((0, 1))
    return tuple(index), widths


def spread_inside(inside: ArrayLike, entries: list[Any], found: object) -> Array:
    """Which elements of what was read were inside, broadcast against it.

    The axes of the positions come first where a slice parts them, and else where the first one stands.
    """
    arrays = [k for k, x in enumerate(entries) if not isinstance(x, slice)]
    own = len(shape_of(inside))
    together = arrays == list(range(arrays[0], arrays[-1] + 1))
    after = len(shape_of(found)) - own - (arrays[0] if together else 0)
    return np.reshape(inside, (*shape_of(inside), *[1] * after))
