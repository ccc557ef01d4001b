"""Whether the memory of arrays of NumPy's is held by something that the trace does not know of.

What a library, a memoryview or an iterator holds would miss a traced value that is written into the array.
"""

from __future__ import annotations

from collections.abc import Sequence
from sys import getrefcount
from typing import Any

import numpy as np

from funcgrad.errors import TracerAssignmentError
from funcgrad.later import Later
from funcgrad.source import Source, user_location

# Only what was compiled keeps results.
kept_results = Later("funcgrad.compile.runtime.callers.kept_results")

HeldArray = np.ndarray[Any, Any]


def held_elsewhere(arrays: Sequence[HeldArray]) -> bool:
    """Whether more holds the memory of the first array than these, each held by one other name.

    >>> x = [np.zeros(4)]
    >>> y = list(x)
    >>> held_elsewhere(x)
    False
    >>> view = memoryview(x[0])
    >>> held_elsewhere(x)
    True
    """
    owner = arrays[0]
    while type(owner.base) is np.ndarray:
        owner = owner.base
    known = 0
    for k in range(len(arrays)):
        if arrays[k] is owner:
            known += 2  # by the list, and by the other name
        elif arrays[k].base is owner:
            known += 1
    alone = object()
    more = getrefcount(owner) - known - getrefcount(alone)
    return more > 0 and more > kept_results.times_kept(owner)


def seen_elsewhere() -> TracerAssignmentError:
    """The error for a traced value that is written where something else holds the memory."""
    return TracerAssignmentError(
        "a traced value is written into an array whose memory something else holds, which would not see it",
        source=Source(*user_location()),
        remedy="Write into a copy, np.array(a), or make the other array or object afterwards.",
    )
