"""What runs on a worker: one shard's share of a step, from a buffer of parameters to one of results."""

from __future__ import annotations

import os
import pickle
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad import tree
from funcgrad.api.jit import JittedFunction, jit
from funcgrad.distributed.failures import Failure, Rows, failure_of, text_of, version_failure
from funcgrad.distributed.packing import pack
from funcgrad.distributed.recipes import Recipe, digest_of, version
from funcgrad.distributed.sums import Part, ShardTime
from funcgrad.distributed.thread_limits import limited_threads
from funcgrad.errors import ArgnumsError, ShapeError
from funcgrad.shared import Recent
from funcgrad.types import Array, ArrayLike, Result, Tree

Content = tuple[Any, ...]
"""A shard: the arguments that it stands for."""

Shared = tuple[Content, dict[str, Any]]
"""What all shards are given: arguments, and arguments by name."""

_MOST_RECIPES = 64


class Place(NamedTuple):
    """Which shard it is."""

    shard: int
    of: int
    rows: Rows


class Loaded(NamedTuple):
    """How a shard is made on the worker."""

    loader: Callable[[Any], Any]
    item: Any

    def content(self) -> Content:
        """The shard, made now."""
        made = self.loader(self.item)
        return tuple(made) if isinstance(made, tuple) else (made,)


class Prepared:
    """A recipe that is ready to run."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self._functions: dict[tuple[str, ...], Callable[..., Any]] = {}

    def function(self, static: tuple[str, ...]) -> Callable[..., Any]:
        """The function, jitted, with the named arguments static."""
        found = self._functions.get(static)
        if found is None:
            found = self.recipe.function
            if self.recipe.jit and not isinstance(found, JittedFunction):
                found = jit(found, static_argnames=static)
            found = self._functions.setdefault(static, found)
        return found

    def __call__(self, shared: Content, named: Mapping[str, Any], content: Content) -> Result:
        static = tuple([key for key, value in named.items() if not _is_numeric(value)])
        return self.function(static)(*shared, *content, **named)


_PREPARED = Recent[Prepared](_MOST_RECIPES)


def prepared(data: bytes | bytearray | memoryview, digest: str | None = None) -> Prepared:
    """The recipe in these bytes, ready to run; kept, so that it is read and compiled once in a process."""
    data = bytes(data)
    name = digest or digest_of(data)
    found = known(name)
    if found is None:
        found = _PREPARED.keep(name, Prepared(pickle.loads(data)))
    return found


def known(digest: str) -> Prepared | None:
    """The recipe of that name, if this process has read it."""
    return _PREPARED.get(digest)


def where() -> str:
    """What messages and reports call the thread that this runs in."""
    return f"{socket.gethostname()}:{os.getpid()}/{threading.get_native_id()}"


def computed(
    sender: str,
    recipe: Callable[[], Prepared],
    parameters: Callable[[], Shared],
    contents: Callable[[], Sequence[Content]],
    keywords: Sequence[str | None],
    place: Place,
) -> Part:
    """One shard's share of a step; whatever goes wrong is part of the answer.

    `sender` is the version of funcgrad that asks. `contents` are the shard's parts, one for each argument
    that is data; `keywords` say which of them are given by name.
    """
    if sender != version():
        return Part(failure=version_failure(sender, version(), place.shard, where()))
    try:
        ready = recipe()
    except Exception as error:  # noqa: BLE001 - whatever a function's module does when it is imported
        return Part(failure=unreadable(error, place))
    begin = time.perf_counter()
    try:
        with limited_threads(ready.recipe.threads):
            return part_of(ready, parameters(), contents(), keywords, place, begin)
    except Exception as error:  # noqa: BLE001 - the user's function may raise anything
        return Part(failure=failure_of(error, *place, where()))


def part_of(
    ready: Prepared,
    parameters: Shared,
    contents: Sequence[Content],
    keywords: Sequence[str | None],
    place: Place,
    begin: float,
) -> Part:
    """What came of one shard. Raises what the function raises."""
    shared, named = parameters
    content: Content = ()
    named = dict(named)
    contents = [tree.map(ordinary, given) for given in contents]
    for given, keyword in zip(contents, keywords, strict=True):
        if keyword is None:
            content += given
        else:
            named[keyword] = given[0] if len(given) == 1 else given
    recipe = ready.recipe
    result = ready(shared, named, content)
    rows = weight_of(contents, place.rows) if recipe.reduce == "mean" else 0
    summed, apart = divided(result, recipe.aux)
    times = (ShardTime(place.shard, time.perf_counter() - begin, where()),)
    if recipe.reduce == "gather":
        return Part(None, (pack((summed, apart)),), 0, times)
    kept = (pack(apart),) if recipe.aux else ()
    return Part(pack(to_be_summed(summed, recipe.reduce, rows)), kept, rows, times)


def ordinary(leaf: object) -> ArrayLike:
    """An array whose elements lie next to each other.

    Sums of views may have other bits, and a view that travels to another worker is none any more.
    """
    if not isinstance(leaf, np.ndarray) or (leaf.flags.c_contiguous and leaf.flags.aligned):
        return leaf
    return np.require(leaf, requirements=("C", "A"))


def divided(result: Tree, aux: str) -> tuple[Any, Any]:
    """What is summed and what is handed back apart, of a function's result."""
    if not aux:
        return result, None
    if not isinstance(result, tuple | list) or len(result) != 2:
        raise ArgnumsError(f"a function with has_aux returns two things, this one returned {result!r:.80}")
    first, second = result
    if aux == "second":
        return first, second
    value, apart = first
    return (value, second), apart


def to_be_summed(result: object, reduce: object, rows: int) -> Tree:
    """A shard's result as what is added: of the dtypes of `np.sum`, times the rows for a mean."""
    if not isinstance(reduce, str):
        return result
    return tree.map(_weighted(rows) if reduce == "mean" else _widened, result)


def _widened(leaf: ArrayLike) -> ArrayLike:
    leaf = np.asarray(leaf)
    if leaf.dtype.kind in "bui" and leaf.dtype.itemsize < 8:
        leaf = leaf.astype(np.uint64 if leaf.dtype.kind == "u" else np.int64)
    return leaf[()]


def _weighted(rows: int) -> Callable[[Any], Any]:
    def weighted(leaf: Array) -> Array:
        leaf = np.asarray(leaf)
        dtype = leaf.dtype if leaf.dtype.kind in "fc" else np.dtype(np.float64)
        if not rows:  # whose mean is nothing over nothing
            return np.zeros(leaf.shape, dtype)[()]
        return (leaf * dtype.type(rows)).astype(dtype, copy=False)[()]

    return weighted


def weight_of(contents: Sequence[Content], rows: Rows) -> int:
    """The rows of a shard. Raises ShapeError where nobody has counted them and its arrays do not agree."""
    if rows is not None:
        return rows[1] - rows[0]
    lengths = {np.shape(leaf)[0] for leaf in tree.leaves(list(contents)) if np.ndim(leaf)}
    if len(lengths) != 1:
        raise ShapeError(
            "the mean over shards is weighted by their rows, and the arrays of this shard do not share their "
            "first axis",
            remedy='Use reduce="sum", and divide by the number of rows.',
        )
    return int(lengths.pop())


def unreadable(error: BaseException, place: Place) -> Failure:
    """A function that this worker cannot make of its bytes."""
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    remedy = (
        f"Install {missing} on the workers, or have the functions of your module sent with what they are: "
        f"cloudpickle.register_pickle_by_value({missing}) before fg.distribute."
        if missing
        else None
    )
    said = f"the worker {where()} cannot read the function that it was sent: {type(error).__name__}: {error}"
    return Failure("worker", place.shard, where(), said, remedy, text="".join(text_of(error)))


def _is_numeric(value: Tree) -> bool:
    leaves = tree.leaves(value)
    return all(isinstance(x, np.ndarray | np.generic | bool | int | float | complex) for x in leaves)
