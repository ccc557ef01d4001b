"""Arrays with labels, as pandas and xarray have them: their values are taken, and the user is told.

An object counts as labelled if it says how to become a NumPy array, by a method ``to_numpy``. Nothing here
imports what it comes from. A labelled array may also hold a tracer: xarray computes with whatever follows
NumPy's protocols, so that a result arrives wrapped, and is unwrapped here.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from funcgrad.errors import LabelsDroppedWarning
from funcgrad.source import user_stacklevel
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array

_PLAIN = frozenset({Tracer, np.ndarray, float, int, complex, bool})


def is_labelled(x: object) -> bool:
    """Whether `x` is an array with labels, such as a Series, a DataFrame or a DataArray."""
    return hasattr(type(x), "to_numpy")


def values_of(x: Anything) -> Array:
    """The values of a labelled array, or the tracer that it holds; warns that the labels are gone.

    Arrays that say that they are NumPy's own have no labels to lose.
    """
    if isinstance(x, np.ndarray):
        return x.to_numpy()  # type: ignore[attr-defined]
    held = getattr(x, "data", None)
    if type(held) is Tracer:
        return held
    warnings.warn(
        f"the labels of a {type(x).__name__} are dropped: its values are used, row by row, as they stand. "
        "Pass x.to_numpy() to say that it is meant.",
        LabelsDroppedWarning,
        stacklevel=user_stacklevel(),
    )
    return x.to_numpy()


def plain_leaves(leaves: list[Any]) -> list[Any]:
    """The leaves, with the values of those that are labelled.

    >>> plain_leaves([1.0, "text"])
    [1.0, 'text']
    """
    for k, leaf in enumerate(leaves):
        if type(leaf) not in _PLAIN and is_labelled(leaf):
            leaves[k] = values_of(leaf)
    return leaves
