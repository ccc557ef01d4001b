"""Indices by axes for elements that kernels name by their place in flat memory.

``x[i * 7 + j]`` of an array of rows of 7 is ``x[i, j]`` where ``j`` stays below 7. An array that anything
reads otherwise, by an index that does not fall into axes or as a whole, is indexed flat everywhere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from funcgrad.compile.passes.scheduling.views import Buffer, View, row_major

_MARK = re.compile(r"\[<(\d+)>\]|\{<(\d+)>\}")


class Place(NamedTuple):
    """An index in both forms."""

    buffer: Buffer
    flat: str
    by_axes: str | None


class Indexing:
    """The indices of one text; they are marks in its lines until all are known."""

    def __init__(self) -> None:
        self.extents: dict[str, int] = {}
        """How far the variables of loops go."""
        self._places: list[Place] = []
        self._flat: set[Buffer] = set()

    def element(self, view: View, variables: Sequence[str], flat: str) -> str:
        """The text of an element, with a mark for its index."""
        buffer = view.buffer
        terms = [*view.base, *zip(variables, view.strides, strict=True)]
        found = self.by_axes(buffer, [t for t in terms if t[1]], view.offset)
        self._places.append(Place(buffer, flat, found))
        if found is None:
            self._flat.add(buffer)
        return f"{buffer.name}[<{len(self._places) - 1}>]"

    def whole(self, buffer: Buffer, flat: str) -> str:
        """A mark for an array that is read as it is: by `flat` where it is indexed as flat memory."""
        if len(buffer.shape) < 2:
            return buffer.name
        self._places.append(Place(buffer, flat, buffer.name))
        return f"{{<{len(self._places) - 1}>}}"

    def by_axes(self, buffer: Buffer, terms: Sequence[tuple[str, int]], offset: int) -> str | None:
        """An index for every axis, or None."""
        shape = buffer.shape
        if len(shape) < 2 or math.prod(shape) != buffer.size or offset < 0:
            return None
        strides = row_major(shape)
        axes: list[list[tuple[str, int]]] = [[] for _ in shape]
        starts = []
        for a, stride in enumerate(strides):
            count, offset = (0, offset) if shape[a] == 1 else divmod(offset, stride)
            starts.append(count)
            rest = []
            for name, factor in terms:
                whole, left = (0, abs(factor)) if shape[a] == 1 else divmod(abs(factor), stride)
                sign = 1 if factor > 0 else -1
                if whole:
                    axes[a].append((name, sign * whole))
                if left:
                    rest.append((name, sign * left))
            terms = rest
        texts = []
        for n, start, members in zip(shape, starts, axes, strict=True):
            if not self._stays_inside(members, start, n):
                return None
            texts.append(sum_text(members, start))
        return ", ".join(texts)

    def _stays_inside(self, members: Sequence[tuple[str, int]], start: int, n: int) -> bool:
        low = high = start
        for name, factor in members:
            extent = self.extents.get(name)
            if extent is None:
                # A position that was read from an array counts along one axis.
                return len(members) == 1 and factor == 1 and start == 0
            reach = factor * (extent - 1)
            low, high = low + min(reach, 0), high + max(reach, 0)
        return low >= 0 and high < n

    def resolved(self, lines: Sequence[str], buffers: Iterable[Buffer]) -> list[str]:
        """The lines with their indices."""
        text = "\n".join(lines)
        named: dict[str, set[Buffer]] = {}
        for buffer in buffers:
            if len(buffer.shape) > 1:
                named.setdefault(buffer.name, set()).add(buffer)
        bare = re.compile(r"(?<![\w.])([A-Za-z_]\w*)(?!\w|\[<)")
        code = "\n".join([line.partition("#")[0] for line in lines])
        for name in set(bare.findall(code)) & set(named):
            self._flat |= named[name]
        return _MARK.sub(self._text, text).split("\n") if lines else []

    def _text(self, match: re.Match[str]) -> str:
        place = self._places[int(match[1] or match[2])]
        if match[2]:
            return place.flat if self.is_flat(place.buffer) else str(place.by_axes)
        return f"[{place.flat if place.by_axes is None or self.is_flat(place.buffer) else place.by_axes}]"

    def keep_flat(self, buffer: Buffer) -> None:
        """Index an array as flat memory."""
        self._flat.add(buffer)

    def is_flat(self, buffer: Buffer) -> bool:
        """Whether an array is indexed as flat memory."""
        return buffer in self._flat


def sum_text(members: Sequence[tuple[str, int]], start: int) -> str:
    """A sum of variables with factors, and a number."""
    terms = [
        (factor < 0, name if abs(factor) == 1 else f"{name} * {abs(factor)}") for name, factor in members
    ]
    if start or not terms:
        terms.append((False, str(start)))
    terms.sort(key=lambda term: term[0])
    first = ("-" if terms[0][0] else "") + terms[0][1]
    return first + "".join([(" - " if minus else " + ") + text for minus, text in terms[1:]])
