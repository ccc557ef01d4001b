"""The run time in machine code: compiled from `machine` once, kept on disk, loaded by each process."""

from __future__ import annotations

import ctypes
import functools
import importlib
import importlib.util
import os
import sys
import sysconfig
import threading
from typing import Any, NamedTuple

import numpy as np

from funcgrad.compile.differs import Differs
from funcgrad.compile.engines.binary import Binary, pack, unpack
from funcgrad.compile.engines.llvm import Loaded, address_of, compile_ir
from funcgrad.compile.engines.object_code import Work
from funcgrad.compile.runtime.addresses.numpy_functions import Handler, handler_capsule, numpy_functions
from funcgrad.compile.runtime.cache import lookup, store
from funcgrad.compile.runtime.callers.object_probe import object_difference
from funcgrad.compile.runtime.machine import offsets
from funcgrad.later import Later
from funcgrad.shared import keep_through_forks

# Machine code that is on disk needs no engine.
direct = Later("funcgrad.compile.engines.direct.translate")


class Part(NamedTuple):
    """A part of the run time: modules of `machine`, and the functions of theirs that others call."""

    modules: tuple[str, ...]
    functions: tuple[str, ...]

    @property
    def key(self) -> bytes:
        """What its machine code is kept under."""
        return repr(("machine", self.modules, self.functions)).encode()


FOR_CALLS = Part(
    ("pool", "call", "trial"),
    (
        *("call", "trial", "pool_take", "pool_give", "pool_drop"),
        *("handler_malloc", "handler_calloc", "handler_realloc", "handler_free"),
    ),
)
FOR_STRUCTURES = Part(("structures",), ("structured",))
FOR_THREADS = Part(("threads",), ("parallel", "worker"))
FOR_SIGNALS = Part(("signals",), ("poll", "poll_of_stage", "is_set", "never"))

_POOL_LIMIT = 256 << 20
_LOCK = threading.RLock()
keep_through_forks(_LOCK)


class Runtime:
    """The loaded run time of this process: its functions, its pool, and the table that every call reads."""

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        self.pool = np.zeros((64 + 64 * 24) // 8, np.int64)
        self.pool[2] = _POOL_LIMIT
        self.pool[4] = address_of("madvise") if sys.platform.startswith("linux") else 0
        self._handler = Handler(
            b"funcgrad", 1, self.pool.ctypes.data, *(loaded.addresses[f"handler_{name}"] for name in _MEMORY)
        )
        self._capsule = handler_capsule(self._handler)
        functions = numpy_functions()
        words = [
            *(id(kind) for kind in (np.ndarray, float, int, complex)),
            *(id(thing) for thing in (True, False, NotImplemented)),
            *functions,
            *(id(self._capsule) if functions.set_handler else 0, self.pool.ctypes.data),
        ]
        self.table = np.array(words, np.uint64).view(np.int64)
        assert len(self.table) == offsets.RUNTIME_WORDS

    def drop_memory(self) -> None:
        """Give the pool's blocks back to the system."""
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.loaded.addresses["pool_drop"])
        function(self.pool.ctypes.data)

    @property
    def kept_memory(self) -> int:
        """The bytes that the pool keeps."""
        return int(self.pool[1])

    def unlock(self) -> None:
        """Make the pool usable in a child process whose parent held its lock."""
        self.pool[0] = 0


_MEMORY = ("malloc", "calloc", "realloc", "free")


def machine_work(part: Part) -> Work:
    """What LLVM is given of a part."""
    modules, functions = part
    text = direct.translate(machine_source(modules), functions, frozenset(), _names(modules), inlining="")
    return Work((text,), functions, loops=False, assembly=False)


def _names(modules: tuple[str, ...]) -> dict[str, object]:
    names: dict[str, object] = {}
    for name in modules:
        for key, value in vars(importlib.import_module(f"funcgrad.compile.runtime.machine.{name}")).items():
            if isinstance(value, int) and names.setdefault(key, value) != value:
                raise ValueError(f"the run time's modules disagree about {key}")
            names[key] = value
    return names


def machine_source(modules: tuple[str, ...]) -> str:
    """The text of modules of the run time."""
    texts = []
    for name in modules:
        spec = importlib.util.find_spec(f"funcgrad.compile.runtime.machine.{name}")
        loader: Any = spec.loader if spec else None
        texts.append(loader.get_source(f"funcgrad.compile.runtime.machine.{name}"))
    return "\n".join(texts)


def supported() -> bool:
    """Whether the run time's source can be machine code of this interpreter."""
    return build_difference() is None


@functools.cache
def build_difference() -> str | None:
    """Why the run time's source is not for this interpreter; None where it is."""
    if sys.implementation.name != "cpython":
        return f"this is {sys.implementation.name}, not CPython"
    if ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        return "words of this machine are not of 64 bits with the lowest byte first"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "this CPython is built to run without its lock"
    if sysconfig.get_config_var("Py_TRACE_REFS"):
        return "this CPython is built to trace references"
    return None


def machine_binary(part: Part) -> Binary:
    """Functions of the run time in machine code, from the disk cache if they are there."""
    payload = lookup(part.key)
    if payload is not None:
        return unpack(payload)
    work = machine_work(part)
    return store_machine(part, *compile_ir(work.modules, work.exported, loops=work.loops))


def store_machine(part: Part, code: bytes, needs: tuple[str, ...]) -> Binary:
    """The binary of what was compiled of a part, which is kept on disk."""
    binary = Binary(code, part.functions, needs)
    store(part.key, pack(binary))
    return binary


def begun() -> bool:
    """Whether this process has its run time for calls, or knows why it has none."""
    return bool(_runtime_or_difference.cache_info().currsize)


def runtime() -> Runtime | None:
    """The run time of this process, or None where it cannot be built or this process is not as it expects."""
    with _LOCK:
        found = _runtime_or_difference()
    return found if isinstance(found, Runtime) else None


def runtime_difference() -> str | None:
    """Why this process has no run time; None where it has one."""
    with _LOCK:
        found = _runtime_or_difference()
    return found if isinstance(found, str) else None


@functools.cache
def _runtime_or_difference() -> Runtime | str:
    difference = build_difference()
    if difference is not None:
        return difference
    try:
        difference = object_difference()
        if difference is not None:
            return difference
        made = Runtime(machine_binary(FOR_CALLS).load())
    except Differs as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - whatever it is, calls take another way, and the notice says why
        return f"the native run time could not be set up ({type(error).__name__}: {error})"
    # Arrays may outlive the interpreter's modules, and give their memory back even then.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=made.unlock)
    return made


def drop_memory() -> None:
    """Give memory that compiled functions keep for their next large results back to the system."""
    found = runtime()
    if found is not None:
        found.drop_memory()


def kept_memory() -> int:
    """The bytes that compiled functions keep for their next large results.

    >>> kept_memory() >= 0
    True
    """
    found = runtime()
    return 0 if found is None else found.kept_memory


def limit_memory(size: int) -> None:
    """Keep at most so many bytes for the next large results; 0 keeps none."""
    if size < 0:
        raise ValueError(f"the most memory to keep is a number of bytes, not {size}")
    found = runtime()
    if found is not None:
        found.drop_memory()
        found.pool[2] = size
