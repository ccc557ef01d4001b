"""Objects of ``np.vectorize`` in functions of the user: ours are called instead while a trace is open."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.api.python.functions import OTHER_KINDS, recordable_as_given
from funcgrad.api.python.seen import SEEN_OTHERWISE, seen
from funcgrad.later import Later
from funcgrad.types import Anything

vectorized = Later("funcgrad.numpy.elementwise.vectorized")


def is_vectorize(function: object) -> bool:
    """Whether it is an object of NumPy's `vectorize`, or of ours, that has its function."""
    module = sys.modules.get("funcgrad.numpy.elementwise.vectorized")
    kind = type(function)
    is_one = kind is np.vectorize or (module is not None and kind is module.vectorize)
    return is_one and callable(getattr(function, "pyfunc", None))


def ours(function: Anything, pyfunc: Callable[..., Any], mapped: bool) -> Anything:
    """NumPy's as ours, of another function."""
    otypes = None if function.otypes is None else list(function.otypes)
    found: Any = vectorized.vectorize(
        pyfunc, otypes, function.__doc__, function.excluded, False, function.signature
    )
    found.mapped = mapped
    return found


def called_in_jit(function: Anything, hooks: Anything) -> Anything:
    """What `jit` calls instead."""
    return ours(function, recordable_as_given(function.pyfunc, hooks), mapped=True)


def called_where_seen(function: Anything) -> Anything:
    """What un-jitted transforms call instead."""
    return ours(function, seen(function.pyfunc), mapped=False)


OTHER_KINDS.append((is_vectorize, called_in_jit))
SEEN_OTHERWISE.append((is_vectorize, called_where_seen))
