"""Data in shards: arrays split by rows, and what stands for them wherever the workers have them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from funcgrad import tree
from funcgrad.api.calling.arguments import here
from funcgrad.distributed.failures import Rows
from funcgrad.errors import ShapeError
from funcgrad.tracing.labelled import plain_leaves
from funcgrad.types import DTypeLike

if TYPE_CHECKING:
    from funcgrad.distributed.engines.engine import Engine


class Shards:
    """Data that the workers of an engine have, in shards; made by ``step.scatter``.

    It stands for all the arguments that were scattered together, and any step on the same engine takes it.
    """

    def __init__(self, engine: Engine, handles: Sequence[Any], rows: Sequence[Rows]) -> None:
        self.engine = engine
        self.handles = tuple(handles)
        self.rows: tuple[Rows, ...] = tuple(rows)
        """The first row of each shard and the one after its last; None where nobody has counted."""

    def __len__(self) -> int:
        return len(self.handles)

    def __repr__(self) -> str:
        known = [rows for rows in self.rows if rows is not None]
        said = f", {known[-1][1]} rows" if known and len(known) == len(self.rows) else ""
        return f"<{len(self)} shards on {self.engine.name}{said}>"

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> NoReturn:
        raise TypeError(
            "scattered data stays on the workers: it is an argument of steps of fg.distribute, and no array"
        )


def length_of(arguments: object) -> int:
    """The length of the first axis that all arrays share. Raises ShapeError where they do not."""
    lengths: dict[int, str] = {}
    for path, leaf in tree.leaves_with_path(arguments):
        name = f"argument {tree.keystr(path)}"
        if not np.ndim(leaf):
            raise ShapeError(
                f"{name} has no rows to split: it is a {type(leaf).__name__} without axes",
                source=here(),
                remedy="What every shard needs is a shared argument: see shared=n of fg.distribute.",
            )
        lengths.setdefault(np.shape(leaf)[0], name)
    if len(lengths) != 1:
        found = "; ".join(f"{name} has {length}" for length, name in lengths.items()) or "there are none"
        raise ShapeError(f"arrays are split by rows, of which all must have as many: {found}", source=here())
    return next(iter(lengths))


def bounds_of(rows: int, count: int) -> list[tuple[int, int]]:
    """Where each of `count` shards of so many rows begins and ends; the first ones are longer by one.

    >>> bounds_of(10, 3)
    [(0, 4), (4, 7), (7, 10)]
    """
    if not count >= 1:
        raise ValueError(f"data is split into at least one shard, not {count}")
    size, longer = divmod(rows, count)
    stops = [0]
    for k in range(count):
        stops.append(stops[-1] + size + (k < longer))
    return list(itertools.pairwise(stops))


def split(arguments: tuple[Any, ...], bounds: Sequence[tuple[int, int]]) -> list[tuple[Any, ...]]:
    """The arguments of each shard: views of the rows between its bounds."""
    leaves, treedef = tree.flatten(arguments)
    arrays = [in_native_order(np.asarray(leaf)) for leaf in plain_leaves(leaves)]
    return [tree.unflatten(treedef, [a[start:stop] for a in arrays]) for start, stop in bounds]


def in_native_order(array: NDArray[Any]) -> NDArray[Any]:
    """The array in the byte order of this machine."""
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
