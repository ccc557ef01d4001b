"""A function of pytrees as a function of its floating-point leaves, which keep the user's names.

Every check works on such functions, and so do the functions that a check of higher order derives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad import tree
from funcgrad.api.derivatives.differentiate import jvp, vjp
from funcgrad.api.python.seen import seen
from funcgrad.ir.avals import aval_of
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Anything, ArrayLike, Result

Function = Callable[..., Any]
Leaves = Sequence[Any]
FlatFunction = Callable[..., list[Any]]


class Flat(NamedTuple):
    """A function of floating-point leaves, a point, and how the user would name each leaf."""

    function: FlatFunction
    leaves: Leaves
    names: Sequence[str]
    treedef: Any
    """The structure of all arguments."""
    all_leaves: Leaves
    """Floating-point or not, in the order of the arguments."""
    places: Sequence[int]
    """Where `leaves` are among `all_leaves`."""

    def arguments(self, leaves: Leaves) -> Anything:
        """All arguments, with `leaves` for the floating-point ones."""
        return self._rebuilt(list(self.all_leaves), leaves)

    def tangents(self, tangents: Leaves) -> Anything:
        """Tangents for all arguments: zeros for the leaves that have none."""
        return self._rebuilt([np.zeros_like(x) for x in self.all_leaves], tangents)

    def _rebuilt(self, filled: list[Any], leaves: Leaves) -> Anything:
        for k, x in zip(self.places, leaves, strict=True):
            filled[k] = x
        return tree.unflatten(self.treedef, filled)

    def unit_tangents(self, limit: int) -> Iterator[tuple[int, tuple[int, ...], list[Any]]]:
        """For each element, up to a number of them, the direction that moves it alone."""
        count = 0
        for k, x in enumerate(self.leaves):
            for index in np.ndindex(np.shape(x)):
                count += 1
                if count > limit:
                    return
                unit = [np.zeros(np.shape(y), np.asarray(y).dtype) for y in self.leaves]
                unit[k][index] = 1.0
                yield k, index, [t[()] for t in unit]


def flattened(f: Function, args: tuple[Any, ...]) -> Flat:
    """`f` as a function of the floating-point leaves of `args`, returning those of its result."""
    paths, treedef = tree.flatten_with_path(args)
    leaves = [x if hasattr(x, "dtype") else aval_of(x).dtype.type(x) for _, x in paths]
    places = [k for k, x in enumerate(leaves) if is_inexact(x)]
    if not places:
        raise ValueError("there is no floating-point argument to differentiate by")
    names = [f"argument {paths[k][0][0].idx}{tree.keystr(paths[k][0][1:])}" for k in places]
    as_seen = seen(f)

    def call(*chosen: Anything) -> list[Any]:
        return inexact_leaves(as_seen(*flat.arguments(chosen)))

    flat = Flat(call, [leaves[k] for k in places], names, treedef, leaves, places)
    return flat


def flat_from(function: FlatFunction, leaves: Leaves, names: Sequence[str]) -> Flat:
    """A function that is flat already."""
    return Flat(function, leaves, names, tree.structure(tuple(leaves)), leaves, range(len(leaves)))


def with_tangents(flat: Flat, tangents: Leaves) -> Flat:
    """``(*primals, *tangents) -> tangents of the results``."""
    count = len(flat.leaves)

    def pushed(*both: Anything) -> list[Any]:
        return list(jvp(flat.function, both[:count], both[count:])[1])

    names = [*flat.names, *[f"the tangent of {name}" for name in flat.names]]
    return flat_from(pushed, [*flat.leaves, *tangents], names)


def with_cotangents(flat: Flat, cotangents: Leaves) -> Flat:
    """``(*primals, *cotangents) -> cotangents of the primals``."""
    count = len(flat.leaves)

    def pulled(*both: Anything) -> list[Any]:
        return list(vjp(flat.function, *both[:count])[1](list(both[count:])))

    names = [*flat.names, *[f"the cotangent of output {k}" for k in range(len(cotangents))]]
    return flat_from(pulled, [*flat.leaves, *cotangents], names)


def inexact_leaves(value: Result) -> list[Any]:
    """The floating-point leaves of a result; an array of traced values is one leaf."""
    return [x for x in map(asoperand, tree.leaves(value)) if is_inexact(x)]


def is_inexact(x: ArrayLike) -> bool:
    """Whether a leaf, traced or not, may have a derivative."""
    dtype = x.dtype if hasattr(x, "dtype") else aval_of(x).dtype
    return bool(dtype.kind in "fc")
