"""Dask: shards are data or tasks of a cluster, and sums of many shards are made on the workers, in a tree.

A step is one graph. Parameters are scattered to every worker before it, so that they are not part of it,
unless they are small; the recipe is a task of its own, so that a worker that replaces another gets it again.
What can be made again, by a loader or by the graph of a collection, is made again by the scheduler; what was
scattered and is lost is named.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
import pickle
import time
import uuid
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import distributed
import numpy as np

from funcgrad.api.calling.arguments import here
from funcgrad.distributed.engines.dask_collections import Blocks, blocks_of
from funcgrad.distributed.engines.dask_runs import Runs
from funcgrad.distributed.engines.engine import Call, Engine
from funcgrad.distributed.engines.futures import Mover
from funcgrad.distributed.failures import Rows, name_of_shard
from funcgrad.distributed.packing import Flat, pack, unpack
from funcgrad.distributed.recipes import Recipe, dumps, version
from funcgrad.distributed.shards import Shards, bounds_of
from funcgrad.distributed.sums import FAN, Part, Reduce, groups, merged
from funcgrad.distributed.worker import Content, Loaded, Place, computed, prepared
from funcgrad.errors import DistributedError, LostDataError, ShardError, UnsupportedFunctionError
from funcgrad.types import Foreign

_ATTEMPTS = 10
"""How often a step is sent again whose parameters were lost with a worker."""
_SMALL = 2**18
"""Bytes of parameters in all tasks together up to which they are part of the tasks: scattering takes two
answers of the scheduler's, one after the other."""
_LARGE = 2**18
"""Bytes of parameters from which results, often as long, are put together on workers to the last."""
_PAUSE = 0.05
"""Seconds before the second time, twice as many before the third, and so on."""
_PATIENCE, _SLOWEST = 3.0, 10e6
"""Seconds, and bytes a second beyond them, after which parameters are no longer waited for."""
_GONE = ("lost", "cancelled")


class DaskEngine(Engine):
    """A client of a Dask cluster."""

    name = "Dask"

    def __init__(self, client: distributed.Client) -> None:
        if client.asynchronous:
            raise UnsupportedFunctionError(
                "distribute waits for its results, and this client is asynchronous",
                source=here(),
                remedy="Give it a Client that was made without asynchronous=True.",
            )
        self.client = client
        self._recipes: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self._runs = Runs()
        self._scattered: weakref.WeakSet[Any] = weakref.WeakSet()
        """Shards that nobody can make again; those of a loader are lost for a moment only."""
        self._previous: Any = None
        """The futures of the last step: given back with the graph of the next one."""

    def workers(self) -> int:
        """The threads of all workers."""
        self._refuse_closed()
        return max(int(sum(self.client.nthreads().values())), 1)

    def scatter(self, contents: Sequence[Content], rows: Sequence[Rows]) -> Shards:
        """Shards as data of the workers, each on one of them."""
        self._refuse_closed()
        futures = self.client.scatter([pack(content) for content in contents], hash=False)
        self._scattered.update(futures)
        return Shards(self, futures, rows)

    def load(self, loader: Callable[[Any], Any], items: Sequence[Any], keep: bool) -> Shards:
        """Shards as tasks, which the scheduler runs again where their worker is lost."""
        self._refuse_closed()
        data = dumps(Recipe(loader, "loader", "sum", "", False, None), "the loader")
        made = [MadeThere(data, item) for item in items]
        if not keep:
            return Shards(self, made, [None] * len(made))
        name = f"load-{uuid.uuid4().hex}"
        futures = [
            self.client.submit(
                made_there,
                one,
                key=(name, k),
                pure=False,
                workers=worker,
                allow_other_workers=worker is not None,
            )
            for k, (one, worker) in enumerate(zip(made, self._divided(len(made)), strict=True))
        ]
        return Shards(self, futures, [None] * len(made))

    def _divided(self, count: int) -> list[str | None]:
        """Where so many shards had best be made: as many for each thread, neighbours on one worker.

        Left to itself the scheduler gives the next one to the worker that is done first, and where a shard is
        made all steps compute it: five and three of eight make every step a quarter longer than four each.
        """
        threads = [worker for worker, n in sorted(self.client.nthreads().items()) for _ in range(n)]
        if not threads:
            return [None] * count
        runs = zip(threads, bounds_of(count, len(threads)), strict=True)
        return [worker for worker, (a, b) in runs for _ in range(a, b)]

    def collected(self, arguments: Sequence[Any]) -> list[Shards] | None:
        """The partitions of Dask's collections; None where there are none."""
        found = blocks_of(arguments)
        if found is None:
            return None
        return [Shards(self, blocks, rows) for blocks, rows in found]

    def run(self, call: Call) -> Part:
        """One graph, sent again if a worker dies with the parameters."""
        found: Part | BaseException | None = None
        for attempt in range(_ATTEMPTS):
            self._refuse_closed()
            found = self._attempt(call)
            if isinstance(found, Part):
                return found
            time.sleep(_PAUSE * attempt)  # until the scheduler knows who has died
        raise DistributedError(
            f"a step was sent {_ATTEMPTS} times, and each time its parameters were lost: {found}",
            remedy="Workers die as fast as they are replaced, or none is left: see their logs.",
        ) from (None if isinstance(found, Part) else found)

    def _attempt(self, call: Call) -> Part | BaseException:
        """The whole result, or by what error the parameters were lost."""
        futures: list[Any] = []
        parameters = None
        try:
            runs = self._runs.of(call)
            parameters = self._parameters(call, len(runs))
            graph, tops, tasks = self._graph(call, parameters, runs)
            futures += self.client.sync(self._send, graph, [*tops, *(tasks if call.watched else [])])
            call.all_sent()
            movers = [Mover(call, len(run)) for run in runs] if call.watched else []
            for future, mover in zip(futures[len(tops) :], movers, strict=True):
                future.add_done_callback(mover)
            whole = self._finished(call, futures[: len(tops)], runs)
            for mover in movers:
                mover()
            return whole
        except (concurrent.futures.CancelledError, TimeoutError, OSError) as error:
            if isinstance(error, DistributedError):
                raise
            self._refuse_lost(call, error)
            return error
        except distributed.scheduler.KilledWorker as error:
            raise DistributedError(
                f"workers died again and again in one task of a step: {error}",
                remedy="A shard may need more memory than a worker has: make more and smaller ones.",
            ) from error
        except BaseException:
            self._withdraw(futures)
            raise
        finally:
            self._previous = parameters, futures

    async def _send(self, graph: Mapping[Any, Any], keys: Sequence[Any]) -> Foreign:
        """The futures of a graph. The last step's are given back with it, in one batch of messages.

        The client's event loop sends no more than one batch in ten milliseconds, so that what goes before or
        after the graph has this graph or the next one wait.
        """
        self._previous = None
        await asyncio.sleep(0)  # what gives them back now asks the loop to send, as what follows does
        return self.client.get(graph, keys, sync=False)

    def _parameters(self, call: Call, tasks: int) -> Foreign:
        """What stands for the parameters in so many tasks: themselves, or what the workers have of them."""
        if tasks * call.parameters.nbytes <= _SMALL:
            return call.parameters
        scattered = self.client.scatter(call.parameters, hash=False)
        self._spread(scattered, call.parameters.nbytes)
        return scattered

    def _spread(self, parameters: Foreign, nbytes: int) -> None:
        """Have the workers hand the parameters on to each other, before the tasks go where parameters are.

        Where one of them dies meanwhile the scheduler waits for it as long as the parameters exist, or trips
        over it. A worker that has none asks another for them, so this may as well be given up.
        """
        patience = _PATIENCE + nbytes / _SLOWEST
        with contextlib.suppress(TimeoutError, OSError, ValueError, AssertionError):
            self.client.replicate([parameters], callback_timeout=patience)

    def _withdraw(self, futures: Sequence[Any]) -> None:
        """Leave no task behind."""
        if futures and self.client.status == "running":
            self.client.cancel(futures, force=True)

    def _graph(
        self, call: Call, parameters: Foreign, runs: Sequence[Sequence[int]]
    ) -> tuple[dict[Any, Any], list[Any], list[Any]]:
        """The graph of a step, the keys whose values this process puts together, and those of the runs."""
        name = f"{call.sent.recipe.name}-{uuid.uuid4().hex}"
        recipe = self._recipe(call)
        graph: dict[Any, Any] = {}
        for handle in call.handles(0):
            graph.update(handle.graph if isinstance(handle, Blocks) else {})
        for run in runs:
            graph[name, run[0]] = (
                some_shards,
                version(),
                recipe,
                call.sent.digest,
                parameters,
                [[_in_graph(handle) for handle in call.handles(k)] for k in run],
                list(call.keywords),
                [tuple_of(call.place(k)) for k in run],
            )
        tasks: list[Any] = [(name, run[0]) for run in runs]
        return graph, self._add_sums(graph, call, runs, tasks), tasks

    def _add_sums(
        self, graph: dict[Any, Any], call: Call, runs: Sequence[Sequence[int]], tasks: Sequence[Any]
    ) -> list[Any]:
        """The keys whose values this process puts together, after tasks for sums where there are many."""
        keys = list(tasks)
        count = call.count
        members: list[list[Any]] = [[] for _ in groups(count)]
        for run, task in zip(runs, tasks, strict=True):
            members[run[0] // FAN].append(task)
        reduce = call.reduce if isinstance(call.reduce, str) else dumps(call.reduce, "reduce")
        most = FAN if call.parameters.nbytes < _LARGE else 1
        level = 0
        while count > most:
            level += 1
            sums = f"sum-of-{call.sent.recipe.name}-{uuid.uuid4().hex}"
            graph.update({(sums, level, n): (summed, reduce, n, group) for n, group in enumerate(members)})
            keys = [(sums, level, n) for n in range(len(members))]
            count = len(keys)
            members = [[keys[k] for k in group] for group in groups(count)]
        return keys

    def _finished(self, call: Call, futures: Sequence[Any], runs: Sequence[Sequence[int]]) -> Part:
        try:
            parts = in_order(self.client.gather(futures))
        except Exception:
            self._raise_of_data(call, futures, runs)
            raise
        began = time.perf_counter()
        whole = merged(parts, call.reduce)
        call.summing += time.perf_counter() - began
        call.bytes_back += sum([part.nbytes for part in parts])
        if whole.failure is not None:
            raise whole.failure.error()
        self._runs.note(call, whole.times)
        return whole

    def _raise_of_data(self, call: Call, futures: Sequence[Any], runs: Sequence[Sequence[int]]) -> None:
        """Raise what a task raised that makes the data of a shard; do nothing where none did."""
        for n, future in enumerate(futures):
            if future.status != "error":
                continue
            error = future.exception()
            if isinstance(error, distributed.scheduler.KilledWorker):
                raise error
            shards = _shards_below(call, n, len(futures), runs)
            first = shards[0]
            one = len(shards) == 1
            name = (
                name_of_shard(first, call.count, call.rows[first])
                if one
                else f"one of the shards {first} to {shards[-1]}"
            )
            raise ShardError(
                f"the data of {name} could not be made: {type(error).__name__}: {error}",
                shard=first,
                rows=call.rows[first] if one else None,
            ) from error

    def _recipe(self, call: Call) -> Foreign:
        found = self._recipes.get(call.sent)
        if found is None or found.status in _GONE:
            key = f"recipe-{call.sent.digest}-{uuid.uuid4().hex}"
            found = self._recipes[call.sent] = self.client.submit(handed_on, call.sent.data, key=key)
        return found

    def _refuse_closed(self) -> None:
        if self.client.status != "running":
            raise DistributedError(
                f"the client of the Dask cluster is {self.client.status}",
                remedy="Make a Client of a cluster that runs, and distribute and scatter on it.",
            )

    def _is_gone(self, handle: object) -> bool:
        return isinstance(handle, distributed.Future) and handle in self._scattered and handle.status in _GONE

    def _refuse_lost(self, call: Call, error: BaseException) -> None:
        """Raise LostDataError where scattered shards are gone, and DistributedError where the cluster is."""
        self._refuse_closed()
        lost = [k for k in range(call.count) if any(map(self._is_gone, call.handles(k)))]
        if lost:
            names = ", ".join([name_of_shard(k, call.count, call.rows[k]) for k in lost[:4]])
            more = f" and {len(lost) - 4} more" if len(lost) > 4 else ""
            raise LostDataError(
                f"scattered data is lost with the worker that had it: {names}{more}",
                remedy="Scatter it again. Data of a loader, scatter(loader=..., shards=...), and of Dask's "
                "collections is made again when a worker is lost.",
            ) from error


def _in_graph(handle: Foreign) -> Foreign:
    return handle.task() if isinstance(handle, Blocks) else handle


def _shards_below(call: Call, n: int, tops: int, runs: Sequence[Sequence[int]]) -> Sequence[int]:
    """The shards in a value that the driver puts together; the one that failed, where that is known."""
    if tops != len(runs):
        size = -(-call.count // tops)
        return range(n * size, min((n + 1) * size, call.count))
    failed = [k for k in runs[n] if any(getattr(h, "status", "") == "error" for h in call.handles(k))]
    return failed[:1] or runs[n]


def tuple_of(place: Place) -> list[Any]:
    """A place as a list, which Dask takes for what it is."""
    return [place.shard, place.of, None if place.rows is None else list(place.rows)]


class MadeThere:
    """A shard that the worker makes."""

    def __init__(self, loader: bytes, item: Foreign) -> None:
        self.loader = loader
        self.item = item

    def content(self) -> Content:
        """The shard."""
        return Loaded(prepared(self.loader).recipe.function, self.item).content()


# -- tasks ---------------------------------------------------------------------------------------------------


def handed_on(data: bytes) -> bytes:
    """A task whose result is its argument, and can be had again."""
    return data


def made_there(made: MadeThere) -> Flat:
    """A task that makes a shard."""
    return pack(made.content())


def some_shards(
    sender: str,
    recipe: bytes,
    digest: str,
    parameters: Flat,
    handles: Sequence[Sequence[Any]],
    keywords: Sequence[str | None],
    places: Sequence[Sequence[Any]],
) -> dict[int, Part]:
    """A task that computes a run of shards, up to the first that fails."""
    shared = functools.cache(functools.partial(unpack, parameters))
    parts: dict[int, Part] = {}
    for (shard, count, rows), own in zip(places, handles, strict=True):
        which = Place(shard, count, None if rows is None else (rows[0], rows[1]))
        contents = functools.partial(_contents_of, own)
        parts[shard] = computed(sender, lambda: prepared(recipe, digest), shared, contents, keywords, which)
        if parts[shard].failure is not None:
            break
    return parts


def _contents_of(handles: Sequence[Any]) -> list[Content]:
    return [unpack(handle) if isinstance(handle, np.ndarray) else handle.content() for handle in handles]


def summed(reduce: Reduce | bytes, number: int, runs: Sequence[Mapping[int, Part]]) -> dict[int, Part]:
    """A task that puts neighbours together."""
    began = time.perf_counter()
    if isinstance(reduce, bytes):
        reduce = _reducer(reduce)
    whole = merged(in_order(runs), reduce)
    return {number: whole.later(time.perf_counter() - began)}


def in_order(runs: Sequence[Mapping[int, Part]]) -> list[Part]:
    """The parts of some runs by their numbers."""
    parts = {number: part for run in runs for number, part in run.items()}
    return [parts[number] for number in sorted(parts)]


def _reducer(data: bytes) -> Callable[..., Any]:
    function: Callable[..., Any] = pickle.loads(data)
    return function
