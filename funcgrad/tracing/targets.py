"""Arrays that traced results are written into: ``out=``, ``np.copyto``, ``np.add.at``."""

from __future__ import annotations

from funcgrad.later import Later
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array

# What is refused, and in which words.
refusals = Later("funcgrad.tracing.refusals")


def written_into(target: object, what: str) -> Array:
    """The tracer that a traced result is written into; raises TracerAssignmentError for a real array.

    An array that was made in the traced function becomes a tracer, and so do its views.
    """
    become = getattr(type(target), "become_traced", None)
    if become is not None:
        become(target)
    if type(target) is not Tracer:
        raise refusals.assigned_into_array(what)
    return target
