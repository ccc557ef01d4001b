"""Small arrays of results that callers keep, to be results again once nobody else holds them.

A gradient of a hundred small arrays takes longer to make and to free these than to fill them. So a caller of
many keeps those of its last two calls: an array to which nothing else refers is given out again. Who counts
references to an array asks here how many are ours.
"""

from __future__ import annotations

from weakref import ref

import numpy as np

_LIVE: dict[int, ref[np.ndarray]] = {}
"""The room of every caller that lives, by its `id`."""


def kept_arrays(count: int) -> np.ndarray:
    """Room for so many arrays, None at first, where machine code puts them; they go with the room."""
    room = np.full(count, None, object)
    key = id(room)
    _LIVE[key] = ref(room, lambda _: _LIVE.pop(key, None))
    return room


def times_kept(array: np.ndarray) -> int:
    """How many references to an array are those of callers that keep it.

    >>> times_kept(np.zeros(3))
    0
    """
    rooms = [room() for room in [*_LIVE.values()]]
    return sum(item is array for room in rooms if room is not None for item in room.tolist())
