"""Dask's collections as data: arrays, dataframes, bags, delayed values; their partitions are the shards."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Sequence
from typing import Any

import dask
import numpy as np
from dask.delayed import Delayed

from funcgrad import tree
from funcgrad.api.calling.arguments import here
from funcgrad.distributed.failures import Rows
from funcgrad.distributed.worker import Content
from funcgrad.errors import ArgnumsError, DtypeError
from funcgrad.tree import TreeDef
from funcgrad.types import Anything, Array, Foreign


class Blocks:
    """A shard: for each collection in the tree of an argument, the key of one of its partitions."""

    def __init__(self, graph: dict[Any, Any], treedef: TreeDef, keys: Sequence[Any]) -> None:
        self.graph = graph
        self.keys = list(keys)
        self.treedef = treedef

    def task(self) -> tuple[Any, ...]:
        """What stands for the shard in a graph."""
        return Arrived, self.treedef, self.keys


class Arrived:
    """The partitions of a shard, where they are used."""

    def __init__(self, treedef: TreeDef, blocks: Sequence[Any]) -> None:
        self.treedef = treedef
        self.blocks = blocks

    def content(self) -> Content:
        """The arguments that they stand for; a delayed tuple stands for several."""
        whole = tree.unflatten(self.treedef, [array_of(block) for block in self.blocks])
        several = len(self.blocks) == 1 and isinstance(self.blocks[0], tuple)
        return whole if several and isinstance(whole, tuple) else (whole,)


def array_of(block: object) -> Array:
    """A partition as arrays: the values of a dataframe, the records of a bag along a first axis.

    >>> array_of([(1.0, 2), (3.0, 4)])
    (array([1., 3.]), array([2, 4]))
    """
    if hasattr(block, "to_numpy"):
        array = block.to_numpy()
        if array.dtype == object:
            names = ", ".join([f"{name} ({kind})" for name, kind in getattr(block, "dtypes", {}).items()])
            raise DtypeError(
                f"a dataframe's partition has no values of one numeric dtype: its columns are {names}",
                remedy="Select the columns of numbers, or convert the others.",
            )
        return array
    if isinstance(block, np.ndarray | tuple | dict) or np.isscalar(block):
        return block
    if hasattr(block, "__array__"):
        return np.asarray(block)
    if hasattr(block, "__iter__"):
        records = list(block)
        return tree.map(lambda *rows: np.stack(rows), *records) if records else np.zeros(0)
    return block


class _Remembered:
    """The blocks of collections that a step was called with, as long as those live."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, ...], Any] = {}

    def get(self, leaves: Sequence[Any]) -> Anything:
        """What was found for these very collections."""
        found = self._found.get(tuple([id(x) for x in leaves]))
        return None if found is None or found[0] != names_of(leaves) else found[1]

    def put(self, leaves: Sequence[Any], value: object) -> None:
        """Remember it until one of them goes."""
        key = tuple([id(x) for x in leaves])
        try:
            for leaf in leaves:
                weakref.finalize(leaf, self._found.pop, key, None).atexit = False
        except TypeError:  # a collection that does not say when it goes
            return
        self._found[key] = names_of(leaves), value


_REMEMBERED = _Remembered()


def names_of(leaves: Sequence[Any]) -> list[Any]:
    """What tells a collection from what it becomes when it is written into."""
    return [x.key if isinstance(x, Delayed) else getattr(x, "_name", None) or x.name for x in leaves]


def is_collection(x: object) -> bool:
    """Whether it is one of Dask's collections, or a list of delayed values, one for each shard."""
    return bool(dask.is_dask_collection(x)) or is_listed(x)


def is_listed(x: object) -> bool:
    """Whether it is a list of delayed values."""
    return isinstance(x, list | tuple) and bool(x) and all(isinstance(one, Delayed) for one in x)


def blocks_of(arguments: Sequence[Any]) -> list[tuple[list[Blocks], list[Rows]]] | None:
    """For each argument its shards and their rows; None where none of them is a collection.

    Raises ArgnumsError where some are collections and others are not, or where they have other partitions.
    """
    flat = [tree.flatten(x, is_leaf=is_collection) for x in arguments]
    leaves = [leaf for found, _ in flat for leaf in found]
    ours = [is_collection(x) for x in leaves]
    if not any(ours):
        return None
    if not all(ours):
        odd = next(x for x, mine in zip(leaves, ours, strict=True) if not mine)
        raise ArgnumsError(
            f"some data of the step is in Dask's collections, and some is a {type(odd).__name__}",
            source=here(),
            remedy="Put all of it into collections of the same partitions, or scatter all of it.",
        )
    single = [x for leaf in leaves for x in (leaf if is_listed(leaf) else [leaf])]
    found = _REMEMBERED.get(single)
    if found is None:
        found = partitions(leaves)
        _REMEMBERED.put(single, found)
    graph, keys, rows = found
    shards = []
    start = 0
    for part, treedef in flat:
        mine = keys[start : start + len(part)]
        start += len(part)
        shards.append(([Blocks(graph, treedef, column) for column in zip(*mine, strict=True)], rows))
    return shards


def partitions(leaves: Sequence[Any]) -> tuple[dict[Any, Any], list[list[Any]], list[Rows]]:
    """The graph of all collections, the keys of the partitions of each, and the rows where they are known."""
    aligned = in_same_chunks([as_rows(x) for x in leaves])
    listed = [list(x) if is_listed(x) else [x] for x in aligned]
    given = [x for part in listed for x in part]
    optimized = optimized_of(given)
    graph: dict[Any, Any] = {}
    for x in optimized:
        graph.update(dict(x.__dask_graph__()))
    columns = iter(
        [
            [key if key in graph else held(x, key) for key in flat_keys(short.__dask_keys__())]
            for x, short in zip(given, optimized, strict=True)
        ]
    )
    keys = [[key for _ in part for key in next(columns)] for part in listed]
    counts = sorted({len(column) for column in keys})
    if len(counts) > 1:
        raise ArgnumsError(
            f"the collections of a step have the same number of partitions, not {counts}",
            source=here(),
            remedy="Repartition them, or build them with the same chunks.",
        )
    rows = next((known for x in aligned if (known := rows_of(x)) is not None), None)
    return graph, keys, rows or [None] * counts[0]


def held(x: Foreign, key: object) -> Foreign:
    """The future of a partition that the cluster holds: optimised graphs leave it out."""
    return dict(x.__dask_graph__())[key]


def optimized_of(collections: Sequence[Any]) -> list[Any]:
    """The collections with shorter graphs. A dataframe makes its own: together, their keys are mixed up."""
    by_itself = [hasattr(type(x), "optimize") for x in collections]
    others = iter(dask.optimize(*[x for x, own in zip(collections, by_itself, strict=True) if not own]))
    return [x.optimize() if own else next(others) for x, own in zip(collections, by_itself, strict=True)]


def is_array(x: object) -> bool:
    """Whether it is a Dask array."""
    return hasattr(type(x), "rechunk")


def as_rows(x: Foreign) -> Foreign:
    """A Dask array whose chunks are whole rows; other collections as they are."""
    if not is_array(x):
        return x
    if not x.ndim:
        raise ArgnumsError("a Dask array without axes has no rows to be shards", source=here())
    split = [axis for axis in range(1, x.ndim) if len(x.chunks[axis]) > 1]
    return x.rechunk(dict.fromkeys(split, -1)) if split else x


def in_same_chunks(leaves: list[Any]) -> list[Any]:
    """Arrays of known rows in the chunks of the first of them."""
    arrays = [x for x in leaves if is_array(x) and known_rows(x)]
    if not arrays:
        return leaves
    first = arrays[0].chunks[0]
    for x in arrays:
        if sum(x.chunks[0]) != sum(first):
            raise ArgnumsError(
                f"the Dask arrays of a step have as many rows, not {sum(first)} and {sum(x.chunks[0])}",
                source=here(),
            )
    return [x.rechunk({0: first}) if is_array(x) and known_rows(x) else x for x in leaves]


def known_rows(x: Foreign) -> bool:
    """Whether the lengths of the chunks are known."""
    return not any(np.isnan(length) for length in x.chunks[0])


def rows_of(x: Foreign) -> list[Rows] | None:
    """The rows of the chunks of a Dask array, where they are known."""
    if not is_array(x) or not known_rows(x):
        return None
    stops = [0, *np.cumsum(x.chunks[0]).tolist()]
    return list(itertools.pairwise(stops))


def flat_keys(keys: object) -> list[Any]:
    """The keys in nested lists, in their order."""
    if isinstance(keys, list):
        return [key for part in keys for key in flat_keys(part)]
    return [keys]
