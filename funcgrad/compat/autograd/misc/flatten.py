"""Containers of arrays as vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad import numpy as np
from funcgrad import tree
from funcgrad.types import Array, Tree


def flatten(value: Tree) -> tuple[Any, Callable[[Any], Any]]:
    """The numbers in nested tuples, lists and dictionaries as a vector, and the function that puts them back.

    >>> vector, unflatten = flatten({"w": np.ones(2), "b": 3.0})
    >>> print(vector, unflatten(2 * vector)["b"])
    [3. 1. 1.] 6.0
    """
    leaves, treedef = tree.flatten(value)
    shapes = [np.shape(leaf) for leaf in leaves]
    vector = np.concatenate([np.ravel(leaf) for leaf in leaves]) if leaves else np.zeros(0)

    def unflatten(v: Array) -> Tree:
        found, start = [], 0
        for shape in shapes:
            size = 1
            for n in shape:
                size *= n
            found.append(np.reshape(v[start : start + size], shape) if shape else v[start])
            start += size
        return tree.unflatten(treedef, found)

    return vector, unflatten


def flatten_func(
    func: Callable[..., Any], example: Tree
) -> tuple[Callable[..., Any], Callable[..., Any], Any]:
    """A function of vectors that does what `func` does with containers like `example`."""
    vector, unflatten = flatten(example)
    return lambda x, *args: flatten(func(unflatten(x), *args))[0], unflatten, vector
