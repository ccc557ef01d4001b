"""What names of NumPy's stand for in autograd's namespace: ours where we have one, NumPy's own elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, ValuesView
from functools import lru_cache, wraps
from inspect import isfunction
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad import tree
from funcgrad.compat.autograd.namespaces import fill
from funcgrad.compat.autograd.overriding import current
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, ArrayLike, Result, Tree


def make_diagonal(D: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """Stacks of matrices with the vectors along the last axis of `D` as diagonals.

    Raises NotImplementedError for other axes than the last two, and for other diagonals.

    >>> print(make_diagonal(np.array([1.0, 2.0]), axis1=-1, axis2=-2))
    [[1. 0.]
     [0. 2.]]
    """
    if (offset, axis1, axis2) not in ((0, -1, -2), (0, -2, -1)):
        raise NotImplementedError("make_diagonal: the main diagonal of the last two axes only")
    return fnp.expand_dims(D, -1) * np.eye(fnp.shape(D)[-1])


def where(condition: ArrayLike, x: ArrayLike = None, y: ArrayLike = None) -> Array:
    """`numpy.where`, whose arguments have names; a list where all are numbers and lists, as in autograd."""
    if x is None and y is None:
        return fnp.where(condition)
    found = fnp.where(condition, x, y)
    arrays = any(isinstance(given, np.ndarray | np.generic | Tracer) for given in (condition, x, y))
    return found if arrays or not isinstance(found, np.ndarray) else found.tolist()


_MAKERS = frozenset(
    {"arange", "empty", "empty_like", "eye", "full", "full_like", "identity", "linspace", "ones", "ones_like"}
    | {"zeros", "zeros_like"}
)
"""What makes arrays that boxes may be written into, which autograd does not know."""


@lru_cache(None)
def _found(name: str) -> Anything:
    """NumPy's function; ours where a box is among the arguments, and where it makes a new array."""
    ours, numpys = getattr(fnp, name, None), getattr(np, name, None)
    if ours is None or numpys is None:
        return getattr(np, name) if ours is None else ours
    if not isfunction(ours) or name in _MAKERS:
        return ours

    @wraps(ours)
    def function(*args: Tree, **kwargs: Tree) -> Result:
        args = tuple([list(x) if isinstance(x, Iterator | ValuesView) else x for x in args])
        boxed = any(type(x) is Tracer for x in args) or holds_box((args, kwargs))
        return (ours if boxed else numpys)(*args, **kwargs)

    return function


def holds_box(x: object) -> bool:
    """Whether a box, or an array of objects, which may be boxes, stands anywhere in arguments."""
    return any(
        type(leaf) is Tracer or (type(leaf) is np.ndarray and leaf.dtype == object) for leaf in tree.leaves(x)
    )


def names() -> list[str]:
    """The names of both namespaces."""
    return sorted({*dir(np), *dir(fnp)})


def finder(namespace: dict[str, Any]) -> Callable[[str], Any]:
    """``__getattr__`` of the module with this dictionary, which ``from autograd.numpy import *`` fills."""

    def find(name: str) -> Anything:
        """Our function of this name, or NumPy's; asked for all names, it puts them into the module."""
        if name == "__all__":
            namespace["__all__"] = found = fill(namespace, find, names)
            # Who copies the whole dictionary does not want them.
            for own in ("__getattr__", "__dir__"):
                namespace.pop(own, None)
            return found
        if name.startswith("__"):
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
        return current(_found(name))

    return find
