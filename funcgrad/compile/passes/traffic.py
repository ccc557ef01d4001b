"""How much memory traffic a nest makes."""

from __future__ import annotations

import math

from funcgrad.compile.passes.nests import Nest
from funcgrad.compile.passes.views import View


def bytes_moved(nest: Nest) -> int:
    """Bytes that a nest reads and writes, each element once."""
    seen: set[View] = set()
    total = 0
    for view, _ in nest.views():
        if view not in seen:
            seen.add(view)
            count = math.prod(n for n, s in zip(view.shape, view.strides, strict=True) if s)
            total += count * view.buffer.dtype.itemsize
    return total
