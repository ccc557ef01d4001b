"""Executors of `concurrent.futures`: what they have in common, and threads, which share one memory."""

from __future__ import annotations

import concurrent.futures
import contextlib
import math
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from funcgrad import tree
from funcgrad.distributed.engines.engine import Call, Engine
from funcgrad.distributed.failures import Rows
from funcgrad.distributed.recipes import version
from funcgrad.distributed.shards import Shards
from funcgrad.distributed.sums import Part, Sums
from funcgrad.distributed.thread_limits import limited_threads
from funcgrad.distributed.worker import Content, Loaded, computed
from funcgrad.errors import DistributedError
from funcgrad.processors import available_processors
from funcgrad.types import Anything, Foreign, Result


def names_in(alive: WeakValueDictionary[str, Any]) -> tuple[str, ...]:
    """The names under which something lives: to go through the dictionary is not for several threads."""
    return tuple([found.key for found in alive.valuerefs() if found() is not None])


class FuturesEngine(Engine):
    """An executor: something with ``submit``, which returns a future."""

    def __init__(self, executor: Anything) -> None:
        self.executor = executor
        self.name = type(executor).__name__

    def workers(self) -> int:
        """As the executor says; the processors of this machine where it does not."""
        return self.said_workers() or available_processors()

    def said_workers(self) -> int | None:
        """What the executor says, in one of the ways in which executors say it."""
        for word in ("_max_workers", "num_workers"):
            count = getattr(self.executor, word, None)
            if isinstance(count, int) and count > 0:
                return count
        return None

    def run(self, call: Call) -> Part:
        """Submit every shard, and sum as results arrive."""
        futures: list[Any] = []
        try:
            return self.finished(call, futures)
        except BaseException:
            self.abandon(call)
            withdraw([future for future in futures if future is not None])
            raise
        finally:
            self.release(call)

    def abandon(self, call: Call) -> None:
        """Tell tasks of the call that have not begun that nobody waits for them."""

    def release(self, call: Call) -> None:
        """Take back what the call was given: no task of it is left."""

    def finished(self, call: Call, futures: list[Any]) -> Part:
        """The whole result. What has been submitted, and has not been used yet, is in `futures`."""
        sums = Sums(call.count, call.reduce)
        movers: list[Mover] = []
        for task in self.tasks(call):
            futures.append(self.submit(*task))
            if call.watched:
                movers.append(Mover(call, self.shards_in(call, len(movers))))
                futures[-1].add_done_callback(movers[-1])
        call.all_sent()
        shard = 0
        for n in range(len(futures)):
            parts = self.answer(call, n, futures)
            futures[n] = None
            if call.watched:
                movers[n]()
            for part in parts:
                if part.failure is not None:
                    raise part.failure.error()
                call.bytes_back += part.nbytes
                began = time.perf_counter()
                sums.add(shard, part)
                call.summing += time.perf_counter() - began
                shard += 1
        whole = sums.whole
        if whole is None:
            raise DistributedError(f"{self.name} returned results of {shard} of {call.count} shards")
        return whole

    @abstractmethod
    def tasks(self, call: Call) -> Sequence[tuple[Any, ...]]:
        """A function and its arguments for each task, in the order of the shards."""

    def shards_in(self, call: Call, n: int) -> int:
        """How many shards a task computes."""
        return 1

    def answer(self, call: Call, n: int, futures: list[Any]) -> Sequence[Part]:
        """The parts that a task returned."""
        parts: Sequence[Part] = self.result(futures[n])
        return parts

    def submit(self, function: Callable[..., Any], *args: object) -> Foreign:
        """The future of a task."""
        try:
            return self.executor.submit(function, *args)
        except concurrent.futures.BrokenExecutor as error:
            raise self.broken(error) from error
        except RuntimeError as error:  # concurrent.futures says so of an executor that was shut down
            raise DistributedError(
                f"{self.name} takes no work: {error}",
                remedy="An executor that was shut down cannot be used again: make one, and distribute on it.",
            ) from error

    def result(self, future: Foreign) -> Result:
        """What a task returned."""
        try:
            return future.result()
        except concurrent.futures.BrokenExecutor as error:
            raise self.broken(error) from error
        except concurrent.futures.CancelledError as error:
            raise DistributedError(
                f"{self.name} cancelled a task of a step",
                remedy="It may have been shut down meanwhile: make a new one, and distribute on it.",
            ) from error

    def broken(self, error: BaseException) -> DistributedError:
        """A pool one of whose workers has died."""
        return DistributedError(
            f"a worker of {self.name} has died, and the pool with it: {error}",
            remedy="It may have been killed for want of memory. Make a new pool and distribute on it; Dask "
            "replaces workers that die.",
        )


class Mover:
    """Tells a call, once, that so many more shards are done.

    A future tells its callbacks in a thread of its own, which may be after its result has been used.
    """

    def __init__(self, call: Call, shards: int) -> None:
        self._call = call
        self._shards = shards
        self._lock = threading.Lock()

    def __call__(self, future: object = None) -> None:
        with self._lock:
            shards, self._shards = self._shards, 0
            if shards:
                self._call.moved(shards)


def withdraw(futures: Sequence[Any]) -> None:
    """Leave no task behind: cancel what has not begun, and wait for what has."""
    for future in futures:
        with contextlib.suppress(NotImplementedError):  # what Parsl's say: they are waited for
            future.cancel()
    concurrent.futures.wait([future for future in futures if not future.cancelled()])


_SHORT = 5e-4
"""Seconds that neighbouring shards may take to be one task of a thread: two threads that hand the
interpreter's lock to each other need some tenths of a millisecond more than one."""


class ThreadsEngine(FuturesEngine):
    """A `ThreadPoolExecutor`: nothing is sent, shards are views."""

    def scatter(self, contents: Sequence[Content], rows: Sequence[Rows]) -> Shards:
        """The shards as they are, but where their elements do not lie next to each other."""
        plain = [tree.map(lambda x: np.require(x, requirements=("C", "A")), content) for content in contents]
        return Shards(self, [Held(content) for content in plain], rows)

    def load(self, loader: Callable[[Any], Any], items: Sequence[Any], keep: bool) -> Shards:
        """Shards that are made in the thread that needs them first, or each time."""
        made = [Made(Loaded(loader, item), keep) for item in items]
        return Shards(self, made, [None] * len(made))

    def tasks(self, call: Call) -> list[tuple[Any, ...]]:
        """A task for each shard; one for neighbours that took next to no time the last time."""
        runs: list[range] = []
        together = 0.0
        for k in range(call.count):
            seconds = max(handle.seconds for handle in call.handles(k))
            if runs and together + seconds <= _SHORT:
                runs[-1] = range(runs[-1].start, k + 1)
                together += seconds
            else:
                runs.append(range(k, k + 1))
                together = seconds
        call.carried = runs
        return [(some_shards, call, run) for run in runs]

    def shards_in(self, call: Call, n: int) -> int:
        """A run of them."""
        return len(call.carried[n])

    def run(self, call: Call) -> Part:
        """As any executor, with the limit of threads set once for all shards."""
        with limited_threads(call.sent.recipe.threads):
            part = super().run(call)
        for time_of in part.times:
            for handle in call.handles(time_of.shard):
                handle.seconds = time_of.seconds
        return part


class Held:
    """A shard in this process."""

    __slots__ = ("_content", "seconds")

    def __init__(self, content: Content) -> None:
        self._content = content
        self.seconds = math.inf
        """What the last step needed for it."""

    def content(self) -> Content:
        """The shard."""
        return self._content


class Made:
    """A shard that is made in this process, once or each time."""

    def __init__(self, loaded: Loaded, keep: bool) -> None:
        self._loaded = loaded
        self._keep = keep
        self._lock = threading.Lock()
        self._content: Content | None = None
        self.seconds = math.inf
        """What the last step needed for it."""

    def content(self) -> Content:
        """The shard."""
        if not self._keep:
            return self._loaded.content()
        with self._lock:
            if self._content is None:
                self._content = self._loaded.content()
            return self._content


def some_shards(call: Call, run: Sequence[int]) -> list[Part]:
    """A task of a thread; nothing is computed after a shard that failed."""
    parts: list[Part] = []
    for k in run:
        parts.append(one_shard(call, k))
        if parts[-1].failure is not None:
            break
    return parts


def one_shard(call: Call, k: int) -> Part:
    """One shard's share of a step."""

    def contents() -> list[Content]:
        return [handle.content() for handle in call.handles(k)]

    return computed(version(), lambda: call.sent.prepared, call.given, contents, call.keywords, call.place(k))
