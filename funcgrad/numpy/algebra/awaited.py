"""Where the user's code waits for a LinAlgError: which way it takes is asked of the matrix, as a branch is.

A trace without values (`jit`, `vmap`) would raise when it is run, after the ``try`` has been left.
"""

from __future__ import annotations

from sys import _getframe

import numpy as np

from funcgrad.errors import TracedBranchError
from funcgrad.ir.steps import as_source
from funcgrad.ops.arrays.structure import aval, broadcast, shape_of
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.linalg.failing import HasNoFactor
from funcgrad.source import user_location
from funcgrad.tracing.guarded import is_awaited
from funcgrad.tracing.reading import READER
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array

WORDS = {"cholesky": "Matrix is not positive definite", "solve": "Singular matrix", "inv": "Singular matrix"}
"""What NumPy says, by the name of its function."""


def factorable(name: str, x: Array) -> Array:
    """The matrices, each of which NumPy's function of that name can factor; raises its LinAlgError else.

    As they are, where nobody would handle the error, or where a value is known and it is raised in its place;
    a path that is recorded with values has to note which way was taken, so it asks as well.
    Of a batch each goes its own way: those that have no factor are replaced by the identity, for what is
    computed with them is not looked at.
    """
    if isinstance(x, Tracer) and x.has_value() and READER.get() is None:
        return x
    return asked_if_awaited(name, x)


def asked_if_awaited(name: str, x: Array) -> Array:
    """As `factorable`, for what is computed another way, so that nothing else would raise the error."""
    if not isinstance(x, Tracer) or not is_awaited((np.linalg.LinAlgError,), _getframe(1)):
        return x
    fails = HasNoFactor(name).bind(x)
    try:
        is_any = bool(np.any(fails))
    except TracedBranchError:
        raise TracedBranchError(
            f"an except for LinAlgError waits for {name} of a traced {aval(x)}, which has no value here",
            source=as_source(user_location()),
            remedy="Use fg.jit or fg.vmap of it, which ask on every call, or leave the handler out.",
        ).on_one_path() from None
    if is_any:
        raise np.linalg.LinAlgError(WORDS[name])
    shape = shape_of(x)
    last = (len(shape) - 2, len(shape) - 1)
    eye = broadcast(np.eye(shape[-1], dtype=aval(x).dtype), shape, last)
    return where(broadcast(fails, shape, tuple(range(len(shape) - 2))), eye, x)
