"""Files by which processes of one machine share memory: in ``/dev/shm`` where there is room."""

from __future__ import annotations

import itertools
import mmap
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.distributed.packing import Flat, pack_into, packed_size

_SHARED_MEMORY = "/dev/shm"


class WrittenFile:
    """A file of this process, mapped to be written to; it goes when this object does."""

    def __init__(self, path: str, nbytes: int) -> None:
        self.path = path
        with open(path, "wb+") as file:
            # Space is taken now: a full disk is an error here, and not a signal at the first write.
            reserve(file.fileno(), nbytes)
            self.flat: Flat = np.frombuffer(mmap.mmap(file.fileno(), nbytes), np.uint8)
        self._gone = weakref.finalize(self, removed, os.getpid(), os.unlink, path)


def reserve(descriptor: int, nbytes: int) -> None:
    """Make a file so long, with its space on the device. Raises OSError where there is not enough."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, nbytes)
    else:
        os.truncate(descriptor, nbytes)


def removed(owner: int, remove: Callable[[str], Any], path: str) -> None:
    """Remove a path if this is the process that made it; a child that was forked leaves it alone."""
    if os.getpid() == owner and os.path.exists(path):
        remove(path)


class Folder:
    """A folder of files, which goes with this object, at the latest when the process ends."""

    def __init__(self) -> None:
        self._paths: dict[str, str] = {}
        self._names = itertools.count()
        self._lock = threading.Lock()

    def file(self, nbytes: int) -> WrittenFile:
        """A new file of so many bytes."""
        with self._lock:
            path = os.path.join(self._folder(nbytes), str(next(self._names)))
        return WrittenFile(path, max(nbytes, 1))

    def write(self, trees: Sequence[Any]) -> tuple[WrittenFile, list[tuple[int, int]]]:
        """Pack trees into one new file; where each begins and ends."""
        stops = [0]
        for tree in trees:
            stops.append(stops[-1] + packed_size(tree))
        file = self.file(stops[-1])
        places = list(itertools.pairwise(stops))
        for tree, (start, stop) in zip(trees, places, strict=True):
            pack_into(file.flat[start:stop], tree)
        return file, places

    def _folder(self, nbytes: int) -> str:
        place = place_for(nbytes)
        found = self._paths.get(place)
        if found is None:
            found = self._paths[place] = tempfile.mkdtemp(prefix="funcgrad-", dir=place)
            weakref.finalize(self, removed, os.getpid(), shutil.rmtree, found)
        return found


def place_for(nbytes: int) -> str:
    """Where so many bytes go: to memory if half of what is free there is enough."""
    if os.path.isdir(_SHARED_MEMORY) and os.access(_SHARED_MEMORY, os.W_OK):
        state = os.statvfs(_SHARED_MEMORY)
        if nbytes < state.f_bavail * state.f_frsize // 2:
            return _SHARED_MEMORY
    return tempfile.gettempdir()
