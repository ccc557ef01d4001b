"""What a call changes in an object: a container's elements, where an iterator is, the state of a generator.

A block is recorded once, so what it changes in an object that was made outside of it would be changed once,
however often it runs. What is known to change nothing is called; anything else is refused, before it runs.
"""

from __future__ import annotations

import array
import builtins
import collections
import io
import random
import re
from collections.abc import Iterator
from types import BuiltinMethodType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from funcgrad.api.python.blocks.recording import current_block, refuse_change
from funcgrad.api.python.guarded.kept import refuse_going_on
from funcgrad.types import Anything, Result, Tree

CONTAINERS = (
    *(list, dict, set, bytearray, array.array, collections.deque),
    *(collections.UserDict, collections.UserList),
)
CHANGING = frozenset(
    {
        *("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "update", "setdefault"),
        *("popitem", "add", "discard", "appendleft", "popleft", "extendleft", "rotate", "move_to_end"),
        *("subtract", "intersection_update", "difference_update", "symmetric_difference_update"),
        *("frombytes", "fromlist", "byteswap", "__setitem__", "__delitem__", "__iadd__"),
    }
)
CHANGING_ARRAYS = frozenset(
    {
        "fill",
        "sort",
        "partition",
        "put",
        "itemset",
        "resize",
        "setfield",
        "setflags",
        "byteswap",
        "__setitem__",
    }
)
_NEVER_CHANGED = (
    *(str, bytes, int, float, complex, tuple, frozenset, range, slice, type, ModuleType, type(None)),
    *(np.generic, np.dtype, np.ufunc, re.Pattern, re.Match),
)
_FIRST_IS_CHANGED = frozenset(
    {
        *("_heapq.heappush", "_heapq.heappop", "_heapq.heapify", "_heapq.heapreplace", "_heapq.heappushpop"),
        *("_bisect.insort", "_bisect.insort_left", "_bisect.insort_right"),
        *("builtins.setattr", "builtins.delattr", "_operator.setitem", "_operator.delitem"),
    }
)
"""Functions of Python's own that change their first argument."""
_ELSEWHERE = frozenset({"posix.read", "nt.read", "posix.write", "nt.write", "posix.lseek", "nt.lseek"})
"""Functions that change what the system keeps."""
_WITH_STATE = frozenset(
    {
        *(
            "asyncio",
            "collections",
            "configparser",
            "csv",
            "fileinput",
            "mailbox",
            "multiprocessing",
            "queue",
        ),
        *("sched", "shelve", "socket", "tempfile", "threading", "weakref", "zipfile"),
    }
)
"""Modules of Python's, written in Python, whose objects are changed by their methods."""
_QUEUES = frozenset({"queue", "multiprocessing", "asyncio"})
_LOOKS = frozenset(
    {
        *("get", "keys", "values", "items", "copy", "most_common", "elements", "total", "index", "count"),
        *("qsize", "empty", "full", "is_set", "is_alive", "has_section", "getint", "getfloat", "getboolean"),
        *("sections", "options", "has_option"),
    }
)


def check_call(function: Anything) -> object:
    """What is called in a block instead of a method or function of C code; raises where it changes an object.

    None where it is called as it is.
    """
    owner = function.__self__
    name = function.__name__
    if isinstance(owner, CONTAINERS):
        if name in CHANGING:
            refuse_change(owner, f"a {type(owner).__name__} from outside is changed ({name})")
        return None
    if type(function) is MethodType and isinstance(function.__func__, FunctionType):
        if isinstance(owner, random.Random) or changes_state(function):
            kind = type(owner).__name__
            refuse_change(owner, f"a {kind} from outside, which {name}() changes, is used")
        return None
    if isinstance(owner, np.ndarray):
        if name in CHANGING_ARRAYS:
            refuse_change(owner, f"an array that is not traced is changed ({name})")
        return None
    if isinstance(owner, ModuleType):
        if f"{owner.__name__}.{name}" in _ELSEWHERE:
            refuse_change(owner, f"{name}(), which changes a file, is called")
        return changing_first(function) if f"{owner.__name__}.{name}" in _FIRST_IS_CHANGED else None
    if not isinstance(owner, _NEVER_CHANGED):
        kind = type(owner).__name__
        refuse_change(owner, f"a {kind} from outside, which {name}() may change, is used")
    return None


def changes_state(method: MethodType) -> bool:
    """Whether this is a method of a class of Python's own, written in Python, that changes its object."""
    module = (getattr(method.__func__, "__module__", None) or "").partition(".")[0]
    if module not in _WITH_STATE or isinstance(method.__self__, _NEVER_CHANGED):
        return False
    return method.__name__ not in _LOOKS or (module in _QUEUES and method.__name__ == "get")


def changing_first(function: BuiltinMethodType) -> object:
    """The function, where its first argument may be changed."""

    def changing(*args: Tree, **kwargs: Tree) -> Result:
        if args:
            kind = type(args[0]).__name__
            refuse_change(args[0], f"a {kind} from outside is changed ({function.__name__})")
        return function(*args, **kwargs)

    return changing


def advanced(iterator: Iterator[Any], *default: object) -> object:
    """``next``"""
    refuse_change(iterator, "an iterator from outside is advanced")
    refuse_going_on(iterator)
    return builtins.next(iterator, *default)


def gone_through(iterable: object) -> object:
    """The argument; raises where a block would use up an iterator that was made outside of it."""
    if current_block() is not None and isinstance(iterable, Iterator):
        refuse_change(iterable, "an iterator from outside is gone through")
    refuse_going_on(iterable)
    return iterable


def check_augmented(x: object) -> None:
    """Raise where ``x += y`` in a block would change an object that was made outside of it."""
    if current_block() is not None and isinstance(x, (*CONTAINERS, io.IOBase)):
        refuse_change(x, f"a {type(x).__name__} from outside is changed in place")
