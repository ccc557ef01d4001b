"""Floats of Python's that a trip of a loop makes NumPy's, where the trip need not be recorded again for it.

``total = 0.0`` before ``total = total + np.sum(h)`` is a float before the first trip and a number of NumPy's
after it. Of 64 bits, both do the same in element-by-element operations, whose results are then others by
name alone. Knows nothing of slots.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.structure import Cast
from funcgrad.ops.families import Pointwise
from funcgrad.tracing.recorder import Recorder
from funcgrad.tracing.tracer import Tracer

TYPES = (np.dtype(np.float64), np.dtype(np.bool_))
"""What such numbers may meet: anything else would be converted to one of them, or they to it."""


def strengthened(recorder: Recorder, indices: Sequence[int], leaves: Sequence[object]) -> bool:
    """Have inputs of a trace be NumPy's numbers, and what follows from them; False where that may matter.

    Then nothing is changed. It may where code has asked for the kind of a traced value, or where one of them
    is read by anything but an operation on elements of 64 bits. The `leaves` are tracers that go on.
    """
    if recorder.kinds_asked:
        return False
    avals = recorder.avals
    found = {k: avals[k].strong for k in indices}
    for index, step in enumerate(recorder.steps):
        if type(step) is not tuple or found.keys().isdisjoint(step[1:]):
            continue
        given = tuple([found.get(k, avals[k]) for k in step[1:]])
        primitive = step[0]
        plain = isinstance(primitive, Pointwise) and not isinstance(primitive, Cast)
        if not plain or any(a.dtype not in TYPES for a in given):
            return False
        out = primitive.inferred(given)
        if out != avals[index]:
            found[index] = out
    for index, aval in found.items():
        avals[index] = aval
        if type(recorder.steps[index]) is Aval:
            recorder.steps[index] = aval
    for x in leaves:
        if type(x) is Tracer and x._recorder is recorder:
            x.aval = found.get(x._index, x.aval)
    return True
