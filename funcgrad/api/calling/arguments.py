"""Which arguments a transform acts on: ``argnums``, their leaves, and what may be differentiated."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from funcgrad import tree
from funcgrad.errors import ArgnumsError, NotDifferentiableError
from funcgrad.ir.avals import INTERNED, Aval, aval_of
from funcgrad.source import Source, user_location
from funcgrad.tracing.labelled import plain_leaves
from funcgrad.tracing.tracer import Tracer
from funcgrad.tree.treedef import LEAF
from funcgrad.types import Result, Tree

Argnums = int | Sequence[int]

OfUfunc: TypeAlias = Any
"""The transform of a ufunc, of whose calls no types are known."""


def here() -> Source:
    """The user's line that is calling the library now."""
    return Source(*user_location())


def normalized_argnums(argnums: Argnums, count: int, transform: str) -> tuple[int, ...]:
    """`argnums` as distinct non-negative ints below `count`; raises ArgnumsError otherwise."""
    numbers = (argnums,) if isinstance(argnums, int | np.integer) else tuple(argnums)
    for n in numbers:
        if not isinstance(n, int | np.integer):
            raise ArgnumsError(
                f"argnums of {transform} must be an int or a tuple of ints, got {argnums!r}", source=here()
            )
        if not -count <= n < count:
            raise ArgnumsError(
                f"argnums={argnums!r} of {transform} names argument {n}, and the call has {count} positional "
                f"argument{'s' if count != 1 else ''}",
                source=here(),
                remedy="Arguments to differentiate must be passed by position; count them from 0.",
            )
    normalized = tuple([int(n) % count for n in numbers])
    if len(set(normalized)) != len(normalized):
        raise ArgnumsError(f"argnums={argnums!r} of {transform} names an argument twice", source=here())
    return normalized


class Selection:
    """The leaves of the arguments at `argnums`, and how to call the function with others in their place."""

    __slots__ = ("args", "kwargs", "leaves", "numbers", "single", "treedef")

    def __init__(
        self, argnums: Argnums, args: tuple[Any, ...], kwargs: dict[str, Any], transform: str
    ) -> None:
        self.args = args
        self.kwargs = kwargs
        if type(argnums) is int and 0 <= argnums < len(args):
            self.single = True
            self.numbers: tuple[int, ...] = (argnums,)
            chosen = args[argnums]
        else:
            self.single = isinstance(argnums, int | np.integer)
            self.numbers = normalized_argnums(argnums, len(args), transform)
            chosen = args[self.numbers[0]] if self.single else tuple([args[n] for n in self.numbers])
        if type(chosen) is np.ndarray:
            self.leaves: list[Any] = [chosen]
            self.treedef = LEAF
            return
        leaves, self.treedef = tree.flatten(chosen)
        self.leaves = plain_leaves(leaves)

    def call(self, function: Callable[..., Any], leaves: Sequence[Any]) -> Result:
        """The function's result with `leaves` for the selected ones."""
        chosen = leaves[0] if self.treedef is LEAF else tree.unflatten(self.treedef, leaves)
        if self.single and len(self.args) == 1:
            return function(chosen, **self.kwargs) if self.kwargs else function(chosen)
        args = list(self.args)
        for n, value in zip(self.numbers, (chosen,) if self.single else chosen, strict=True):
            args[n] = value
        return function(*args, **self.kwargs)

    def rebuilt(self, leaves: Sequence[Any]) -> Tree:
        """The selected arguments' structure with these leaves."""
        return leaves[0] if self.treedef is LEAF else tree.unflatten(self.treedef, leaves)

    def path_of(self, index: int) -> str:
        """How the user would write the leaf at `index`, for messages."""
        path = self.treedef.paths()[index]
        if self.single:
            return f"argument {self.numbers[0]}{tree.keystr(path)}"
        return f"argument {self.numbers[path[0].idx]}{tree.keystr(path[1:])}"


def leaf_aval(leaf: object, where: Callable[[], str], transform: str) -> Aval:
    """The aval of an argument leaf; raises NotDifferentiableError for what is not an array."""
    if type(leaf) is Tracer:
        return leaf.aval
    try:
        return aval_of(leaf)
    except TypeError as error:
        raise NotDifferentiableError(
            f"{transform} cannot act on {where()}: {error}",
            source=here(),
            remedy="Leave it out of argnums, or pass arrays, numbers, or pytrees of them.",
        ) from None


def check_differentiable(
    selection: Selection, transform: str, *, holomorphic: bool, allow_int: bool
) -> list[Aval]:
    """The avals of the selected leaves, which must be real or complex floating point."""
    avals = []
    for k, leaf in enumerate(selection.leaves):
        if type(leaf) is Tracer:
            aval = leaf.aval
        elif type(leaf) is np.ndarray and leaf.dtype.kind in "fc":
            aval = INTERNED.get((leaf.shape, leaf.dtype, False)) or Aval(leaf.shape, leaf.dtype)
        elif type(leaf) is float:
            aval = PYTHON_FLOAT
        else:
            aval = leaf_aval(leaf, functools.partial(selection.path_of, k), transform)
        if holomorphic and aval.dtype.kind != "c":
            raise NotDifferentiableError(
                f"{transform} with holomorphic=True needs complex inputs, "
                f"and {selection.path_of(k)} is {aval}",
                source=here(),
                remedy="Convert it with .astype(complex).",
            )
        if not aval.inexact and not allow_int:
            kind = "boolean" if aval.dtype.kind == "b" else "integer"
            raise NotDifferentiableError(
                f"{transform} needs real or complex floating-point inputs, and {selection.path_of(k)} is an "
                f"{kind} {aval}".replace("an boolean", "a boolean"),
                source=here(),
                remedy="Convert it with float(x) or x.astype(float), or choose other argnums.",
            )
        avals.append(aval)
    return avals


PYTHON_FLOAT = aval_of(0.0)
