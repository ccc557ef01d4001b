"""Pytrees as vectors and back, for optimisers and samplers that know nothing but vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from funcgrad import tree
from funcgrad.api.calling.arguments import here
from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.movement import concatenate, take_span
from funcgrad.ops.arrays.structure import cast, reshape
from funcgrad.ops.elementwise.complexes import real
from funcgrad.ops.families import aval as aval_of_any
from funcgrad.tracing.labelled import plain_leaves
from funcgrad.tracing.lists import asoperand
from funcgrad.tree import TreeDef
from funcgrad.types import Anything, Array

Tree = TypeVar("Tree")


def ravel_pytree(pytree: Tree) -> tuple[Any, Callable[[Any], Tree]]:
    """The elements of all leaves in one vector, and the function that makes such a tree of such a vector.

    Leaves are floating-point arrays and numbers, in the order of `fg.tree.leaves`. The vector has the dtype
    that holds them all, and leaves of the trees made of it have their own again. Both ways can be traced,
    differentiated, batched and compiled; the function can be pickled where the structure can.

    Raises DtypeError for leaves that are something else; the function raises ShapeError for a vector of
    another length.

    >>> from scipy.optimize import minimize
    >>> params = {"w": np.zeros(2), "b": 0.0}
    >>> vector, unravel = ravel_pytree(params)
    >>> def loss(params):
    ...     return np.sum((params["w"] - params["b"] - 1.0) ** 2) + (params["b"] - 2.0) ** 2
    >>> fit = minimize(fg.value_and_grad(lambda v: loss(unravel(v))), vector, jac=True)
    >>> {name: value.round(4) for name, value in unravel(fit.x).items()}
    {'b': np.float64(2.0), 'w': array([3., 3.])}
    """
    leaves, treedef = tree.flatten(pytree)
    leaves = [asoperand(x) for x in plain_leaves(leaves)]
    avals = [aval_of_any(x) for x in leaves]
    for a, path in zip(avals, treedef.paths(), strict=True):
        if not a.inexact:
            raise DtypeError(
                f"ravel_pytree takes floating-point leaves, and the leaf at {tree.keystr(path) or 'the top'} "
                f"is {a}",
                source=here(),
                remedy="Convert it, or keep it out of the tree: an optimiser moves every element.",
            )
    if not leaves:
        return np.zeros(0), Unravel(treedef, ())
    dtype = np.result_type(*[a.dtype for a in avals])
    flat = [reshape(cast(x, dtype), (a.size,)) for x, a in zip(leaves, avals, strict=True)]
    return own(concatenate(flat, 0)), Unravel(treedef, avals)


def own(x: Array) -> Array:
    """`x`, in memory of its own: optimisers write into their vectors."""
    return x.copy() if isinstance(x, np.ndarray) else x


class Unravel:
    """Makes a tree of a vector; made by `ravel_pytree`."""

    __slots__ = ("_leaves", "_size", "_treedef")

    def __init__(self, treedef: TreeDef, avals: Sequence[Aval]) -> None:
        self._treedef = treedef
        self._leaves = tuple([(a.shape, a.dtype) for a in avals])
        self._size = sum(a.size for a in avals)

    def __repr__(self) -> str:
        return f"<unravel a vector of {self._size} into {self._treedef}>"

    def __call__(self, vector: Array) -> Anything:
        """The tree with the elements of `vector`."""
        vector = asoperand(vector)
        seen = aval_of_any(vector)
        if seen.shape != (self._size,):
            raise ShapeError(
                f"unravel takes a vector of {self._size} elements, as ravel_pytree made, got {seen}",
                source=here(),
            )
        leaves, start = [], 0
        for shape, dtype in self._leaves:
            size = math.prod(shape)
            part = take_span(vector, 0, start, size)
            start += size
            if seen.dtype.kind == "c" and dtype.kind == "f":
                part = real(part)
            leaves.append(own(reshape(cast(part, dtype), shape)))
        return tree.unflatten(self._treedef, leaves)
