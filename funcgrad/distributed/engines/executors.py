"""Executors of any kind: workers may be anywhere, so all that they need is in the messages.

A recipe or a shard is sent to a worker once, when it says that it misses it. There is one task for each
worker, with a run of neighbouring shards, so that parameters are sent once to each.
"""

from __future__ import annotations

import functools
import uuid
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from funcgrad.distributed.engines.engine import Call
from funcgrad.distributed.engines.futures import FuturesEngine, names_in
from funcgrad.distributed.failures import Rows
from funcgrad.distributed.packing import Flat, pack, unpack
from funcgrad.distributed.recipes import Recipe, dumps, version
from funcgrad.distributed.shards import Shards, bounds_of
from funcgrad.distributed.store import Key, Made, MissingError, Sent, forget_others, kept
from funcgrad.distributed.sums import Part
from funcgrad.distributed.worker import Content, Place, Prepared, computed, known, prepared
from funcgrad.errors import DistributedError
from funcgrad.types import Anything

_MOST_ROUNDS = 1000
"""How often one task may be sent again with what a worker missed: each time to another worker, at worst."""


class Task(NamedTuple):
    """What a worker is told of a run of shards."""

    sender: str
    alive: tuple[str, ...]
    digest: str
    recipe: bytes | None
    parameters: Flat
    handles: tuple[tuple[Any, ...], ...]
    keywords: tuple[str | None, ...]
    places: tuple[Place, ...]
    enclosed: Mapping[Key, Flat]
    """Shards that the last worker that was asked did not have."""


class Missing(NamedTuple):
    """What a worker was not sent yet."""

    recipe: bool
    keys: tuple[Key, ...]


class ExecutorEngine(FuturesEngine):
    """Something with ``submit``: the executors of ``mpi4py.futures``, of Dask, Parsl, Ray and others."""

    def __init__(self, executor: Anything) -> None:
        super().__init__(executor)
        self._id = uuid.uuid4().hex
        self._alive: weakref.WeakValueDictionary[str, Shards] = weakref.WeakValueDictionary()
        self._packed: weakref.WeakKeyDictionary[Shards, list[Flat]] = weakref.WeakKeyDictionary()
        """The shards that were scattered, for workers that miss them."""

    def scatter(self, contents: Sequence[Content], rows: Sequence[Rows]) -> Shards:
        """Shards that workers are sent when they miss them."""
        name = uuid.uuid4().hex
        shards = Shards(self, [Sent(Key(self._id, name, k)) for k in range(len(contents))], rows)
        self._alive[name] = shards
        self._packed[shards] = [pack(content) for content in contents]
        return shards

    def load(self, loader: Callable[[Any], Any], items: Sequence[Any], keep: bool) -> Shards:
        """Shards that each worker makes when it is given one."""
        name = uuid.uuid4().hex
        data = dumps(Recipe(loader, "loader", "sum", "", False, None), "the loader")
        handles = [Made(Key(self._id, name, k), data, item, keep) for k, item in enumerate(items)]
        shards = Shards(self, handles, [None] * len(handles))
        self._alive[name] = shards
        return shards

    def tasks(self, call: Call) -> list[tuple[Any, ...]]:
        """A task for each worker; for each shard where nobody says how many workers there are."""
        alive = names_in(self._alive)
        runs = [(a, b) for a, b in bounds_of(call.count, self.said_workers() or call.count) if b > a]
        digest = call.sent.digest
        call.carried = [
            Task(
                self._id,
                alive,
                digest,
                None,
                call.parameters,
                tuple([call.handles(k) for k in range(a, b)]),
                call.keywords,
                tuple([call.place(k) for k in range(a, b)]),
                {},
            )
            for a, b in runs
        ]
        return [(some_shards, version(), task) for task in call.carried]

    def shards_in(self, call: Call, n: int) -> int:
        """A run of them."""
        task: Task = call.carried[n]
        return len(task.places)

    def answer(self, call: Call, n: int, futures: list[Any]) -> Sequence[Part]:
        """The parts of a run of shards; what the worker misses is sent with the task, until none does."""
        for _ in range(_MOST_ROUNDS):
            found = self.result(futures[n])
            if not isinstance(found, Missing):
                parts: Sequence[Part] = found
                return parts
            task: Task = call.carried[n]
            recipe = call.sent.data if found.recipe else task.recipe
            enclosed = {**task.enclosed, **{key: self._flat(key) for key in found.keys}}
            call.carried[n] = task._replace(recipe=recipe, enclosed=enclosed)
            futures[n] = self.submit(some_shards, version(), call.carried[n])
        raise DistributedError(f"workers of {self.name} do not keep what they are sent")

    def _flat(self, key: Key) -> Flat:
        shards = self._alive[key.belongs]
        return self._packed[shards][key.number]


def some_shards(sender: str, task: Task) -> list[Part] | Missing:
    """A task of a worker."""
    forget_others(task.sender, task.alive)
    for key, flat in task.enclosed.items():
        kept(key, lambda flat=flat: flat)  # type: ignore[misc]
    ready = known(task.digest)
    no_recipe = ready is None and task.recipe is None and sender == version()
    keys = missing_keys(task.handles)
    if no_recipe or keys:
        return Missing(no_recipe, keys)

    def recipe() -> Prepared:
        return ready or prepared(task.recipe or b"", task.digest)

    shared = functools.cache(functools.partial(unpack, task.parameters))
    return [
        computed(sender, recipe, shared, _contents_of(handles), task.keywords, place)
        for handles, place in zip(task.handles, task.places, strict=True)
    ]


def _contents_of(handles: tuple[Any, ...]) -> Callable[[], list[Content]]:
    return lambda: [handle.content() for handle in handles]


def missing_keys(runs: Sequence[tuple[Any, ...]]) -> tuple[Key, ...]:
    """The shards that this process was not sent."""
    found = []
    for handle in [handle for run in runs for handle in run if isinstance(handle, Sent)]:
        try:
            handle.content()
        except MissingError as error:
            found.append(error.key)
    return tuple(found)
