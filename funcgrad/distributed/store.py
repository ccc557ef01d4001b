"""What a worker process keeps between tasks: recipes, files it has mapped, shards it was sent or has made.

Each message names what its sender still has; the rest of the sender's is forgotten. Where something is
missing, the worker says so and the sender sends it.
"""

from __future__ import annotations

import mmap
import threading
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np

from funcgrad.distributed.packing import Flat, unpack
from funcgrad.distributed.worker import Content, Loaded, prepared
from funcgrad.shared import keep_through_forks
from funcgrad.types import Anything


class Key(NamedTuple):
    """The name of something that a process keeps: who sent it, what it belongs to, and its number there."""

    sender: str
    belongs: str
    number: int = 0


class MissingError(KeyError):
    """This process was not sent what a task needs."""

    def __init__(self, key: Key) -> None:
        super().__init__(key)
        self.key = key


_STORE: dict[Key, Any] = {}
_LOCK = threading.RLock()
keep_through_forks(_LOCK)


def kept(key: Key, make: Callable[[], Any]) -> Anything:
    """What this process keeps under `key`, made when it is first asked for."""
    found = _STORE.get(key)
    if found is None:
        found = make()
        with _LOCK:
            found = _STORE.setdefault(key, found)
    return found


def forget_others(sender: str, alive: Collection[str]) -> None:
    """Forget what a sender has forgotten."""
    with _LOCK:
        for key in [key for key in _STORE if key.sender == sender and key.belongs not in alive]:
            del _STORE[key]


def mapped(key: Key, path: str) -> Flat:
    """The bytes of a file, mapped: all processes share them."""

    def map_file() -> Flat:
        with open(path, "rb") as file:
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)

    flat: Flat = kept(key, map_file)
    return flat


class InFile(NamedTuple):
    """A shard in a file that all processes of this machine can map."""

    key: Key
    path: str
    start: int
    stop: int

    def content(self) -> Content:
        """The shard: views of the file."""
        content: Content = unpack(mapped(self.key, self.path)[self.start : self.stop])
        return content


class Made(NamedTuple):
    """A shard that this process makes, and keeps if it is to."""

    key: Key
    loader: bytes
    item: Any
    keep: bool

    def content(self) -> Content:
        """The shard."""
        return kept(self.key, self.make) if self.keep else self.make()

    def make(self) -> Content:
        """The shard, made now."""
        function = kept(self.key._replace(number=-1), lambda: prepared(self.loader)).recipe.function
        return Loaded(function, self.item).content()


class Sent(NamedTuple):
    """A shard that this process was sent once."""

    key: Key

    def content(self) -> Content:
        """The shard. Raises MissingError where it was not."""
        found = _STORE.get(self.key)
        if found is None:
            raise MissingError(self.key)
        content: Content = unpack(found)
        return content
