"""`pure_callback`: Python functions of values inside of what is recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.ir.avals import Aval
from funcgrad.tracing.labelled import plain_leaves
from funcgrad.tracing.lists import asoperand
from funcgrad.transforms.host_call import HostCall
from funcgrad.tree import TreeDef
from funcgrad.types import Array, Tree


def pure_callback(
    callback: Callable[..., Any], result_shape_dtypes: object, *args: object, vmap_method: str | None = None
) -> Tree:
    """``callback(*args)`` on the values of `args`, NumPy arrays; it must have no side effects.

    `result_shape_dtypes` is a pytree of anything with a ``shape`` and a ``dtype``, such as
    `fg.ShapeDtypeStruct`: the results that `callback` will return, which are checked. Under `vmap` it is
    called for each example (`vmap_method` is None or ``"sequential"``); under `jit` it is called between
    native code. It has no derivative of its own: give it one with `custom_jvp` or `custom_vjp`.

    Raises ShapeError where `callback` returns something else, NotDifferentiableError where it is
    differentiated, NotImplementedError for another `vmap_method`.

    >>> counts = pure_callback(np.unique_counts, (fg.ShapeDtypeStruct((2,), float),) * 2, np.ones(3))
    Traceback (most recent call last):
    ...
    funcgrad.errors.ShapeError: unique_counts returned f64[1] where f64[2] was announced
    >>> @fg.jit
    ... def shifted(x):
    ...     return pure_callback(lambda x: np.roll(x, 1), fg.ShapeDtypeStruct((3,), float), 2.0 * x)
    >>> print(shifted(np.arange(3.0)))
    [4. 0. 2.]
    """
    if vmap_method not in (None, "sequential"):
        raise NotImplementedError(f"pure_callback: vmap_method={vmap_method!r}; there is 'sequential'")
    announced, out_tree = tree.flatten(result_shape_dtypes)
    leaves, in_tree = tree.flatten(args)
    operands = [asoperand(x) for x in plain_leaves(leaves)]
    results = tuple([Aval(tuple(a.shape), np.dtype(a.dtype)) for a in announced])
    outs = HostCall(Flat(callback, in_tree), results).bind(*operands)
    return tree.unflatten(out_tree, outs)


class Flat:
    """A function of trees as one of their leaves."""

    __slots__ = ("_function", "_in_tree")

    def __init__(self, function: Callable[..., Any], in_tree: TreeDef) -> None:
        self._function = function
        self._in_tree = in_tree

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flat) and (self._function, self._in_tree) == (
            other._function,
            other._in_tree,
        )

    def __hash__(self) -> int:
        return hash((self._function, self._in_tree))

    @property
    def __name__(self) -> str:
        return str(getattr(self._function, "__name__", type(self._function).__name__))

    def __call__(self, *values: Array) -> Sequence[Any]:
        return tree.leaves(self._function(*tree.unflatten(self._in_tree, values)))
