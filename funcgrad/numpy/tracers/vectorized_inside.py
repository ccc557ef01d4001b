"""Objects of ``np.vectorize`` in functions of the user: ours are called instead while a trace is open."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.api.python.functions import OTHER_KINDS, recordable
from funcgrad.api.python.seen import SEEN_OTHERWISE, seen
from funcgrad.types import Anything


def is_vectorize(function: object) -> bool:
    """Whether it is an object of NumPy's `vectorize`, or of ours, that has its function."""
    module = sys.modules.get("funcgrad.numpy.elementwise.vectorized")
    kind = type(function)
    is_one = kind is np.vectorize or (module is not None and kind is module.vectorize)
    return is_one and callable(getattr(function, "pyfunc", None))


def ours(function: Anything, pyfunc: Callable[..., Any], mapped: bool) -> Callable[..., Any]:
    """NumPy's as ours, of another function."""
    from funcgrad.numpy.elementwise.vectorized import vectorize  # noqa: PLC0415 - few programs have one

    otypes = None if function.otypes is None else list(function.otypes)
    found = vectorize(pyfunc, otypes, function.__doc__, function.excluded, False, function.signature)
    found.mapped = mapped
    return found


def called_in_jit(function: Anything, hooks: Anything) -> Callable[..., Any]:
    """What `jit` calls instead."""
    return ours(function, recordable(function.pyfunc, hooks), mapped=True)


def called_where_seen(function: Anything) -> Callable[..., Any]:
    """What un-jitted transforms call instead."""
    return ours(function, seen(function.pyfunc), mapped=False)


OTHER_KINDS.append((is_vectorize, called_in_jit))
SEEN_OTHERWISE.append((is_vectorize, called_where_seen))
