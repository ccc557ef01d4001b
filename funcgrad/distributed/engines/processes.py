"""Process pools of this machine: shards and parameters lie in shared memory, tasks say where.

What a task is sent is a few names. Parameters are written once a step, wherever the pool runs the tasks.
"""

from __future__ import annotations

import threading
import uuid
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.distributed.engines.engine import Call
from funcgrad.distributed.engines.futures import FuturesEngine, names_in
from funcgrad.distributed.failures import Failure, Rows
from funcgrad.distributed.files import Folder, WrittenFile
from funcgrad.distributed.packing import Flat, unpack
from funcgrad.distributed.recipes import Recipe, dumps, version
from funcgrad.distributed.shards import Shards
from funcgrad.distributed.store import InFile, Key, Made, forget_others, mapped
from funcgrad.distributed.sums import Part
from funcgrad.distributed.worker import Content, Place, Prepared, computed, known, prepared, where
from funcgrad.types import Anything

_HEAD = 64
"""Bytes before the parameters in their file: the number of the step."""


class Pointer(NamedTuple):
    """Bytes in a file."""

    key: Key
    path: str
    nbytes: int

    def bytes(self) -> Flat:
        """The bytes."""
        return mapped(self.key, self.path)[: self.nbytes]


class Task(NamedTuple):
    """What a worker process is told of a shard."""

    sender: str
    alive: tuple[str, ...]
    recipe: Pointer
    digest: str
    parameters: Pointer
    step: int
    handles: tuple[Any, ...]
    keywords: tuple[str | None, ...]
    place: Place


class Slot:
    """A file for the parameters of a step; the next step overwrites them."""

    def __init__(self, file: WrittenFile, key: Key) -> None:
        self.file = file
        self.key = key
        self.step = 0

    def write(self, parameters: Flat) -> int:
        """Put parameters into it, and return the number of the step."""
        self.step += 1
        self.file.flat[:8].view(np.int64)[0] = self.step
        self.file.flat[_HEAD : _HEAD + parameters.nbytes] = parameters
        return self.step

    def close(self) -> None:
        """Tasks of this step that have not begun are not to begin."""
        self.file.flat[:8].view(np.int64)[0] = -self.step


class ProcessesEngine(FuturesEngine):
    """A `ProcessPoolExecutor` of the standard library or of loky."""

    def __init__(self, executor: Anything) -> None:
        super().__init__(executor)
        self._id = uuid.uuid4().hex
        self._folder = Folder()
        self._slots: list[Slot] = []
        self._lock = threading.Lock()
        self._recipes: weakref.WeakKeyDictionary[Any, tuple[WrittenFile, Pointer]] = (
            weakref.WeakKeyDictionary()
        )
        self._alive: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
        """What workers may keep, by name, as long as it is somebody's here."""

    def scatter(self, contents: Sequence[Content], rows: Sequence[Rows]) -> Shards:
        """Write shards where all processes can map them."""
        file, places = self._folder.write(contents)
        key = self._key(file)
        shards = Shards(self, [InFile(key, file.path, *place) for place in places], rows)
        weakref.finalize(shards, _nothing, file)  # the file lives as long as what stands for it
        return shards

    def load(self, loader: Callable[[Any], Any], items: Sequence[Any], keep: bool) -> Shards:
        """Shards that each process makes when it is given one."""
        name = uuid.uuid4().hex
        data = dumps(Recipe(loader, "loader", "sum", "", False, None), "the loader")
        handles = [Made(Key(self._id, name, k), data, item, keep) for k, item in enumerate(items)]
        shards = Shards(self, handles, [None] * len(handles))
        self._alive[name] = shards
        return shards

    def tasks(self, call: Call) -> list[tuple[Any, ...]]:
        """A task for each shard."""
        slot = call.carried = self._slot(_HEAD + call.parameters.nbytes)
        step = slot.write(call.parameters)
        parameters = Pointer(slot.key, slot.file.path, _HEAD + call.parameters.nbytes)
        recipe = self._recipe(call)
        alive = names_in(self._alive)
        return [
            (
                one_shard,
                version(),
                Task(
                    self._id,
                    alive,
                    recipe,
                    call.sent.digest,
                    parameters,
                    step,
                    call.handles(k),
                    call.keywords,
                    call.place(k),
                ),
            )
            for k in range(call.count)
        ]

    def abandon(self, call: Call) -> None:
        """Processes have a task or two in hand that cannot be cancelled."""
        if call.carried is not None:
            call.carried.close()

    def release(self, call: Call) -> None:
        """Let other calls have the file."""
        if call.carried is not None:
            with self._lock:
                self._slots.append(call.carried)
            call.carried = None

    def _recipe(self, call: Call) -> Pointer:
        with self._lock:
            found = self._recipes.get(call.sent)
            if found is None:
                data = np.frombuffer(call.sent.data, np.uint8)
                file = self._folder.file(data.nbytes)
                file.flat[:] = data
                found = self._recipes[call.sent] = file, Pointer(self._key(file), file.path, data.nbytes)
            return found[1]

    def _slot(self, nbytes: int) -> Slot:
        with self._lock:
            for slot in self._slots:
                if slot.file.flat.nbytes >= nbytes:
                    self._slots.remove(slot)
                    return slot
            self._slots.clear()  # too short by now
        file = self._folder.file(nbytes)
        return Slot(file, self._key(file))

    def _key(self, file: WrittenFile) -> Key:
        name = uuid.uuid4().hex
        self._alive[name] = file
        return Key(self._id, name)


def one_shard(sender: str, task: Task) -> tuple[Part]:
    """A task of a worker process."""
    forget_others(task.sender, task.alive)

    def recipe() -> Prepared:
        return known(task.digest) or prepared(task.recipe.bytes().tobytes(), task.digest)

    def contents() -> list[Content]:
        return [handle.content() for handle in task.handles]

    flat = task.parameters.bytes()
    if int(flat[:8].view(np.int64)[0]) != task.step:
        return (Part(failure=Failure("worker", task.place.shard, where(), "nobody waits for this task")),)
    return (computed(sender, recipe, lambda: unpack(flat[_HEAD:]), contents, task.keywords, task.place),)


def _nothing(_: object) -> None:
    """Its argument is kept until then."""
