"""The disk cache: payloads by key, each in a file of its own, in a directory that belongs to the user alone.

Nothing here fails: a payload that cannot be read is absent, one that cannot be written is not kept, and the
user is told once why. Keys are mixed with everything that makes machine code differ, so a payload is never
stale.

``FUNCGRAD_CACHE_DIR`` moves the directory, ``FUNCGRAD_CACHE=0`` disables the cache and
``FUNCGRAD_CACHE_SIZE`` sets the most bytes it keeps.
"""

from __future__ import annotations

import contextlib
import functools
import os
import stat
import struct
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

try:
    # hashlib loads OpenSSL, which takes longer than reading a cache entry.
    from _blake2 import blake2b
except ImportError:  # pragma: no cover - other interpreters
    from hashlib import blake2b

from funcgrad.ir.presenters import presenter

__all__ = ["Cache", "CacheInfo", "CacheWarning", "cache_info", "clear_cache", "current", "lookup", "store"]

_MAGIC = b"fgcache1"
_HEADER = struct.Struct("<8s16sQ")  # magic, checksum, length of the payload
_SUFFIX = ".fgc"
_TEMPORARY = ".tmp"
_DEFAULT_LIMIT = 1 << 29
_STALE_SECONDS = 3600.0
_DAY = 86400.0
_STORES_BETWEEN_CHECKS = 64


class CacheWarning(UserWarning):
    """The disk cache cannot be used: every process compiles anew."""


@dataclass(frozen=True, slots=True)
class CacheInfo:
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
        self._writable = True
        self._warned = False

    def lookup(self, key: bytes) -> bytes | None:
        """The payload stored under a key, or None."""
        path = self._path(key)
        payload = None if path is None else self._read(path)
        if payload is None:
            self.misses += 1
        else:
            self.hits += 1
        return payload

    def store(self, key: bytes, payload: bytes) -> None:
        """Keep a payload under a key, if possible."""
        path = self._path(key)
        if path is None or not self._writable:
            return
        header = _HEADER.pack(_MAGIC, _checksum(payload), len(payload))
        # The name tells processes and threads apart; a collision after a fork only loses an entry.
        temporary = path.with_name(f"{path.stem}-{os.getpid()}-{time.monotonic_ns()}{_TEMPORARY}")
        try:
            try:
                _write(temporary, header + payload)
                os.replace(temporary, path)
            except BaseException:  # Ctrl-C among them: what is half written goes
                with contextlib.suppress(OSError):
                    temporary.unlink()
                raise
        except OSError as error:
            self._writable = False
            self._warn(f"cannot write to it ({error.strerror})")
            return
        if self.stores % _STORES_BETWEEN_CHECKS == 0:
            self._evict()
        self.stores += 1

    def clear(self) -> None:
        """Remove every entry."""
        for path, _ in self._files():
            with contextlib.suppress(OSError):
                path.unlink()

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

    def _path(self, key: bytes) -> Path | None:
        if self.directory is None or not self._is_usable(self.directory):
            return None
        name = blake2b(key, digest_size=20, key=_environment()).hexdigest()
        return self.directory / (name + _SUFFIX)

    def _is_usable(self, directory: Path) -> bool:
        if self._usable is None:
            self._usable = self._inspect(directory)
        return self._usable

    def _inspect(self, directory: Path) -> bool:
        try:
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

    def _read(self, path: Path) -> bytes | None:
        try:
            with open(path, "rb") as file:
                status = os.fstat(file.fileno())
                content = b"" if _is_foreign(status) else file.read()
        except OSError:
            return None
        if len(content) < _HEADER.size:
            return None
        magic, checksum, length = _HEADER.unpack_from(content)
        payload = content[_HEADER.size :]
        if magic != _MAGIC or len(payload) != length or _checksum(payload) != checksum:
            return None
        if time.time() - status.st_mtime > _DAY:
            # The time of change says when an entry was last of use; a day's precision is enough.
            with contextlib.suppress(OSError):
                os.utime(path)
        return payload

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        if self.directory is None:
            return
        try:
            paths = [path for path in self.directory.iterdir() if path.suffix in (_SUFFIX, _TEMPORARY)]
        except OSError:
            return
        for path in paths:
            with contextlib.suppress(OSError):
                yield path, path.stat()

    def _evict(self) -> None:
        """Remove what was left behind, and the entries that were not of use for longest."""
        now = time.time()
        entries = []
        for path, status in self._files():
            if path.suffix == _SUFFIX:
                entries.append((status.st_mtime, status.st_size, path))
            elif now - status.st_mtime > _STALE_SECONDS:
                with contextlib.suppress(OSError):
                    path.unlink()
        excess = sum(size for _, size, _ in entries) - self.limit
        if excess <= 0:
            return
        excess += self.limit // 10  # so that the next store does not have to
        for _, size, path in sorted(entries):
            if excess <= 0:
                break
            with contextlib.suppress(OSError):
                path.unlink()
            excess -= size

    def _warn(self, reason: str) -> None:
        if self._warned:
            return
        self._warned = True
        warnings.warn(
            f"the cache directory {self.directory} {reason}: compiled code is not kept. "
            "Set FUNCGRAD_CACHE_DIR to another directory, or FUNCGRAD_CACHE=0.",
            CacheWarning,
            stacklevel=2,
        )


def _is_foreign(status: os.stat_result) -> bool:
    """Whether somebody else could have put machine code there."""
    if not hasattr(os, "geteuid"):
        return False
    return status.st_uid != os.geteuid() or bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def _write(path: Path, content: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags, 0o600), "wb") as file:
        file.write(content)


def _checksum(payload: bytes) -> bytes:
    return blake2b(payload, digest_size=16).digest()


@functools.cache
def _environment() -> bytes:
    """A digest of all that makes machine code of the same source differ."""
    return blake2b(repr(_environment_parts()).encode(), digest_size=32).digest()


def _environment_parts() -> tuple[object, ...]:
    import llvmlite  # noqa: PLC0415 - not needed where the cache is disabled

    from funcgrad.compile.engines.llvm import host_cpu, triple  # noqa: PLC0415 - likewise

    # The place of NumPy stands for its build: two of one version may bring different libraries.
    versions = (llvmlite.__version__, np.__version__, np.__file__, sys.implementation.cache_tag)
    return (_MAGIC, *versions, triple(), *host_cpu(), *_compiler_files())


def _compiler_files() -> list[tuple[str, int, int]]:
    """The compiler's own files by size and time: a change to one of them is a change to what it makes."""
    found = []
    root = Path(__file__).resolve().parent.parent
    try:
        for folder in (root, *(path for path in root.rglob("*") if path.is_dir())):
            for item in os.scandir(folder):
                if item.name.endswith(".py"):
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
