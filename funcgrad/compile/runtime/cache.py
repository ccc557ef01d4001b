"""The disk cache: payloads by key, each in a file of its own, in a directory that only the user writes to.

Nothing here fails: a payload that cannot be read is absent, one that cannot be written is not kept, and the
user is told once why. Keys are mixed with everything that makes machine code differ, so a payload is never
stale; an entry carries its key, so one under another's name is absent. Other files in the directory are not
touched, whatever their names end in, and links of other people's are not followed.

``FUNCGRAD_CACHE_DIR`` moves the directory, ``FUNCGRAD_CACHE=0`` disables the cache and
``FUNCGRAD_CACHE_SIZE`` sets the most bytes it keeps.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import stat
import struct
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

try:
    # hashlib loads OpenSSL, which takes longer than reading a cache entry.
    from _blake2 import blake2b
except ImportError:  # pragma: no cover - other interpreters
    from hashlib import blake2b

from funcgrad.compile.engines.object_code import host_cpu, triple
from funcgrad.ir.presenters import presenter

_MAGIC = b"fgcache2"
_HEADER = struct.Struct("<8s20s16sQ")  # magic, digest of the key, checksum, length of the payload
_SUFFIX = ".fgc"
_TEMPORARY = ".fgctmp"
_ENTRY = re.compile(r"[0-9a-f]{40}\.fgc")
_LEFT_BEHIND = re.compile(r"[0-9a-f]{40}-\d+-\d+\.fgctmp")
_DEFAULT_LIMIT = 1 << 29
_STALE_SECONDS = 3600.0
_DAY = 86400.0
_PARTS_BETWEEN_COUNTS = 64
"""The directory is counted anew when a process has stored such a part of the limit: others store, too."""
_STORES_BETWEEN_COUNTS = 16
"""And first at such a store, on average, chosen by the digest: processes that store little count seldom."""
_COUNTED_EXACTLY = 1024
"""With more files, the bytes are estimated by so many of them (names are digests: any are a fair sample), and
from nine tenths of the limit by the sample the oldest go: samples are off by some per cent."""


class CacheWarning(UserWarning):
    """The disk cache cannot be used: every process compiles anew."""


class CacheInfo(NamedTuple):
    """The state of the disk cache, and what this process has done with it."""

    directory: str
    enabled: bool
    entries: int
    bytes: int
    limit: int
    hits: int
    misses: int
    stores: int

    def _repr_html_(self) -> str:
        """The state as notebooks show it."""
        html: str = presenter("results", "cache_html")(self)
        return html


def _default_directory() -> Path:
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        return Path(base) / "funcgrad" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "funcgrad"
    configured = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(configured) if os.path.isabs(configured) else Path.home() / ".cache"
    return base / "funcgrad"


def current() -> Cache:
    """The cache that the environment asks for."""
    names = ("FUNCGRAD_CACHE", "FUNCGRAD_CACHE_DIR", "FUNCGRAD_CACHE_SIZE", "XDG_CACHE_HOME", "HOME")
    return _cache_of(*(os.environ.get(name, "") for name in names))


@functools.lru_cache(maxsize=8)
def _cache_of(enabled: str, directory: str, size: str, *_where: str) -> Cache:
    limit = int(size) if size.isdecimal() else _DEFAULT_LIMIT
    if enabled.lower() in ("0", "off", "no", "false"):
        return Cache(None, limit)
    try:
        return Cache(Path(directory).expanduser() if directory else _default_directory(), limit)
    except RuntimeError:  # no home directory
        return Cache(None, limit)


class Cache:
    """Payloads in one directory; none at all without a directory."""

    def __init__(self, directory: Path | None, limit: int = _DEFAULT_LIMIT) -> None:
        self.directory = directory
        self.limit = limit
        self.hits = self.misses = self.stores = 0
        self._usable: bool | None = None
        self._warned = False
        self._counted: int | None = None
        """The bytes that were there when they were last counted; None before."""
        self._added = 0
        """The bytes that were stored since."""

    def lookup(self, key: bytes) -> bytes | None:
        """The payload stored under a key, or None."""
        digest = _digest(key)
        path = self._path(digest)
        payload = None if path is None else self._read(path, digest)
        if payload is None:
            self.misses += 1
        else:
            self.hits += 1
        return payload

    def holds(self, key: bytes) -> bool:
        """Whether there is an entry under a key, sound or not: nothing is read."""
        path = self._path(_digest(key))
        return path is not None and path.exists()

    @property
    def is_empty(self) -> bool:
        """Whether there is no entry of anybody's, which is known before it is known how entries are named."""
        if self.directory is None:
            return True
        try:
            with os.scandir(self.directory) as files:
                return not any(_ENTRY.fullmatch(file.name) for file in files)
        except OSError:  # not made yet
            return True

    @property
    def keeps(self) -> bool:
        """Whether what is stored is kept."""
        return self.directory is not None and self._is_usable(self.directory)

    def store(self, key: bytes, payload: bytes) -> None:
        """Keep a payload under a key, if possible."""
        digest = _digest(key)
        path = self._path(digest)
        content = _HEADER.pack(_MAGIC, digest, _checksum(digest, payload), len(payload)) + payload
        if path is None or len(content) > self.limit:
            return
        try:
            try:
                _put(path, content)
            except FileNotFoundError:
                # Somebody has removed the directory: it is looked at anew, as at first.
                self._usable = None
                if self._path(digest) is None:
                    return
                _put(path, content)
        except OSError as error:
            self._warn(f"cannot keep all that is compiled ({error.strerror})")
            return
        self.stores += 1
        self._hold_limit(len(content), counted=digest[0] % _STORES_BETWEEN_COUNTS == 0)

    def _hold_limit(self, size: int, *, counted: bool) -> None:
        """Note what was stored, and remove old entries if there are too many bytes now."""
        self._added += size
        often = self._added * _PARTS_BETWEEN_COUNTS > self.limit
        first = counted and self._counted is None
        if first or often or (self._counted or 0) + self._added > self.limit:
            self._evict()

    def clear(self) -> None:
        """Remove every entry."""
        for path, _ in self._files():
            with contextlib.suppress(OSError):
                path.unlink()
        self._counted = None

    def info(self) -> CacheInfo:
        """Count the entries and their bytes."""
        sizes = [status.st_size for path, status in self._files() if path.suffix == _SUFFIX]
        return CacheInfo(
            directory=str(self.directory or ""),
            enabled=self.directory is not None,
            entries=len(sizes),
            bytes=sum(sizes),
            limit=self.limit,
            hits=self.hits,
            misses=self.misses,
            stores=self.stores,
        )

    def _path(self, digest: bytes) -> Path | None:
        if self.directory is None or not self._is_usable(self.directory):
            return None
        return self.directory / (digest.hex() + _SUFFIX)

    def _is_usable(self, directory: Path) -> bool:
        if self._usable is None:
            self._usable = self._inspect(directory)
        return self._usable

    def _inspect(self, directory: Path) -> bool:
        try:
            link = _foreign_link(directory)
            if link is not None:
                self._warn(f"is reached by {link}, a link of somebody else's")
                return False
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = os.stat(directory)
        except OSError as error:
            self._warn(f"cannot be made ({error.strerror})")
            return False
        if not stat.S_ISDIR(status.st_mode):
            self._warn("is not a directory")
            return False
        if _is_foreign(status):
            self._warn("belongs to, or can be written by, somebody else")
            return False
        return True

    def _read(self, path: Path, digest: bytes) -> bytes | None:
        try:
            with open(os.open(path, os.O_RDONLY | _AS_IT_IS), "rb") as file:
                status = os.fstat(file.fileno())
                content = b"" if _is_foreign(status) else file.read()
        except OSError:
            return None
        if len(content) < _HEADER.size:
            return None
        magic, of_key, checksum, length = _HEADER.unpack_from(content)
        payload = content[_HEADER.size :]
        if (magic, of_key, length) != (_MAGIC, digest, len(payload)) or checksum != _checksum(
            digest, payload
        ):
            return None
        if time.time() - status.st_mtime > _DAY:
            # The time of change says when an entry was last of use; a day's precision is enough.
            with contextlib.suppress(OSError):
                os.utime(path)
        return payload

    def _names(self) -> list[str]:
        """The names in the directory, other programs' too."""
        if self.directory is None or not self._is_usable(self.directory):
            return []
        try:
            return os.listdir(self.directory)
        except OSError:
            return []

    def _files(self, names: Iterable[str] | None = None) -> Iterator[tuple[Path, os.stat_result]]:
        """Our own files among these, by their names and kind; all without names."""
        directory = self.directory
        for name in self._names() if names is None else names:
            if directory is not None and _is_ours(name):
                path = directory / name
                with contextlib.suppress(OSError):
                    status = os.lstat(path)
                    if stat.S_ISREG(status.st_mode):
                        yield path, status

    def _evict(self) -> None:
        """Remove what was left behind, and beyond the limit the entries that were not of use for longest."""
        names = self._names()
        self._added = 0
        if len(names) <= _COUNTED_EXACTLY:
            self._remove_left_behind(names)
            self._counted = sum(status.st_size for _, status in self._files(names))
            if self._counted > self.limit:
                self._counted = self._remove_oldest(names, self.limit * 0.9 / self._counted)
            return
        self._remove_left_behind([name for name in names if name.endswith(_TEMPORARY)])
        self._counted = self._estimate(names)
        if self._counted >= max(self.limit // 10 * 9, 1):
            # More than needed, so that the next stores do not have to; and as large a part of what is there
            # as of the estimate. Held against the bytes themselves, one that is high for good would have each
            # file looked at again in vain.
            self._remove_oldest(names, self.limit * 0.8 / self._counted)
            self._counted = self.limit // 10 * 8

    def _estimate(self, names: Sequence[str]) -> int:
        """The bytes of all, by a sample of even steps: the order may be that of their ages."""
        sample = names[:: -(-len(names) // _COUNTED_EXACTLY)]
        return sum(status.st_size for _, status in self._files(sample)) * len(names) // len(sample)

    def _remove_left_behind(self, names: Iterable[str]) -> None:
        """Remove what processes that ended in the middle of a store have left."""
        now = time.time()
        for path, status in self._files(names):
            if path.suffix == _TEMPORARY and now - status.st_mtime > _STALE_SECONDS:
                with contextlib.suppress(OSError):
                    path.unlink()

    def _remove_oldest(self, names: Sequence[str], kept: float) -> int:
        """Remove the oldest entries until such a part of the bytes is left; those bytes."""
        entries = [
            (status.st_mtime, status.st_size, path)
            for path, status in self._files(names)
            if path.suffix == _SUFFIX
        ]
        total = sum(size for _, size, _ in entries)
        goal = total * kept
        for _, size, path in sorted(entries):
            if total <= goal:
                break
            with contextlib.suppress(OSError):
                path.unlink()
                total -= size
        return total

    def _warn(self, reason: str) -> None:
        if self._warned:
            return
        self._warned = True
        warnings.warn(
            f"the cache directory {self.directory} {reason}: what is not kept is compiled anew. "
            "Set FUNCGRAD_CACHE_DIR to another directory, or FUNCGRAD_CACHE=0.",
            CacheWarning,
            stacklevel=2,
        )


def _is_foreign(status: os.stat_result) -> bool:
    """Whether somebody else could have put machine code there."""
    if not hasattr(os, "geteuid"):
        return False
    return status.st_uid != os.geteuid() or bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


_MOST_LINKS = 40


def _foreign_link(directory: Path, links: int = 0) -> Path | None:
    """A link on the way to a directory that belongs to neither the user nor the system's administrator."""
    if not hasattr(os, "geteuid"):
        return None
    absolute = Path(os.path.abspath(directory))
    for path in (*reversed(absolute.parents), absolute):
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            return None
        if not stat.S_ISLNK(status.st_mode):
            continue
        if links == _MOST_LINKS or status.st_uid not in (0, os.geteuid()):
            return path
        found = _foreign_link(path.parent / os.readlink(path), links + 1)
        if found is not None:
            return found
    return None


def _is_ours(name: str) -> bool:
    """Whether a file has a name that only this cache gives."""
    return bool(_ENTRY.fullmatch(name) or _LEFT_BEHIND.fullmatch(name))


# Links are not followed, and nothing waits for whoever opens the other end of a pipe.
_AS_IT_IS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def _put(path: Path, content: bytes) -> None:
    """Write a file under another name and move it into its place."""
    # The name tells processes and threads apart; a collision after a fork only loses an entry.
    temporary = path.with_name(f"{path.stem}-{os.getpid()}-{time.monotonic_ns()}{_TEMPORARY}")
    try:
        _write(temporary, content)
        os.replace(temporary, path)
    except BaseException:  # Ctrl-C among them: what is half written goes
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _write(path: Path, content: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags, 0o600), "wb") as file:
        file.write(content)


def _digest(key: bytes) -> bytes:
    """What stands for a key here, in its environment."""
    return blake2b(key, digest_size=20, key=_environment()).digest()


def _checksum(digest: bytes, payload: bytes) -> bytes:
    return blake2b(payload, digest_size=16, key=digest).digest()


@functools.cache
def _environment() -> bytes:
    """A digest of all that makes machine code of the same source differ."""
    return blake2b(repr(_environment_parts()).encode(), digest_size=32).digest()


def _environment_parts() -> tuple[object, ...]:
    import llvmlite  # noqa: PLC0415 - not needed where the cache is disabled

    # The place of NumPy stands for its build: two of one version may bring different libraries.
    versions = (llvmlite.__version__, np.__version__, np.__file__, sys.implementation.cache_tag)
    return (_MAGIC, *versions, triple(), *host_cpu(), *files_of(Path(__file__).resolve().parent.parent))


def files_of(root: Path) -> list[tuple[str, int, int]]:
    """The files of a part of this package by size and time: a change to one is a change to what it makes."""
    found = []
    folders = [str(root)]
    try:
        while folders:
            for item in os.scandir(folders.pop()):
                if item.is_dir():
                    if item.name != "__pycache__":
                        folders.append(item.path)
                elif item.name.endswith((".py", ".json")):
                    status = item.stat()
                    found.append((item.name, status.st_size, status.st_mtime_ns))
    except OSError:
        return found
    return sorted(found)


def lookup(key: bytes) -> bytes | None:
    """The payload stored under a key in the current cache, or None."""
    return current().lookup(key)


def store(key: bytes, payload: bytes) -> None:
    """Keep a payload under a key in the current cache, if possible."""
    current().store(key, payload)


def cache_info() -> CacheInfo:
    """The state of the disk cache of compiled code, and what this process has done with it.

    >>> cache_info().enabled in (True, False)
    True
    """
    return current().info()


def clear_cache() -> None:
    """Remove every entry of the disk cache. What is already loaded stays.

    >>> fg.clear_cache()  # doctest: +SKIP
    """
    current().clear()
