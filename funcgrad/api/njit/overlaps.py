"""``y[1:] -= y[:-1]``: Numba changes element by element, where NumPy computes everything before it writes."""

from __future__ import annotations

import numpy as np

from funcgrad.api.calling.arguments import here
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.tracing.aliasing import memory_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array


def refuse_overlap(x: object, value: object) -> None:
    """Raise where an array is changed in place by a part of itself that changes before it is read."""
    if type(x) is not Tracer or type(value) is not Tracer or not value.aval.shape:
        return
    root = memory_of(x)
    if root is not memory_of(value) or x is root is value:
        return
    written, read = elements_of(x, root), elements_of(value, root)
    if written is None or read is None or not is_read_late(written, np.broadcast_to(read, written.shape)):
        return
    raise UnsupportedFunctionError(
        "an array is changed in place by a part of itself: Numba reads elements it has changed",
        source=here(),
        remedy="Write it as y[1:] = y[1:] + y[:-1], which reads everything first, also in Numba; or write "
        "the loop over the elements that is meant.",
    )


def elements_of(part: Tracer, root: Tracer) -> Array | None:
    """The positions in the root of the elements of a part; None where a traced value decides them."""
    lenses = []
    while part is not root:
        alias = part._alias
        if alias is None or alias.base is None or alias.lens is None:
            return None
        lenses.append(alias.lens)
        part = alias.base
    found = np.arange(root.aval.size).reshape(root.aval.shape)
    try:
        for lens in reversed(lenses):
            found = lens.get(found)
    except Exception:  # noqa: BLE001 - a lens that holds traced indices reads traced arrays only
        return None
    return found


def is_read_late(written: Array, read: Array) -> bool:
    """Whether an element is read in a later turn than it is written in."""
    turns = np.arange(written.size)
    turn_of = np.full(max(written.max(initial=0), read.max(initial=0)) + 1, written.size)
    turn_of[written.ravel()] = turns
    return bool(np.any(turn_of[read.ravel()] < turns))
