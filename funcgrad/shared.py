"""What threads share: locks that forks wait for, attributes computed once, tables of what was of use lately.

Tables and attributes are under no lock: a child that is forked could find it held.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, ValuesView
from typing import Any, Generic, TypeVar, overload

from funcgrad.types import Anything

Entry = TypeVar("Entry")
Value = TypeVar("Value")


def keep_through_forks(lock: Anything) -> None:
    """Fork only while no other thread holds a lock: in the child nobody would ever release it."""

    def release() -> None:
        lock.__exit__(None, None, None)

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.__enter__, after_in_parent=release, after_in_child=release)


class once(Generic[Value]):
    """`functools.cached_property` without its lock, which until Python 3.12 all instances shared.

    What is computed may be a trace, which runs the user's code and asks for others of these: two threads that
    hold one lock each and need the other's would wait for ever, and so would a child that was forked
    meanwhile. Two threads may both compute it; the first result stays.

    >>> class Circle:
    ...     radius = 2.0
    ...     @once
    ...     def area(self):
    ...         print("computed")
    ...         return 3.0 * self.radius**2
    >>> circle = Circle()
    >>> circle.area, circle.area
    computed
    (12.0, 12.0)
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> once[Value]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Value: ...
    def __get__(self, instance: object, owner: type | None = None) -> once[Value] | Value:
        if instance is None:
            return self
        # Found there from now on, before this is asked.
        found: Value = instance.__dict__.setdefault(self._name, self._compute(instance))
        return found


class Recent(Generic[Entry]):
    """At most so many entries, for several threads and without a lock that a fork could find held.

    >>> table = Recent[str](2)
    >>> for k in range(3):
    ...     _ = table.keep(k, str(k))
    >>> list(table.values())
    ['1', '2']
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._entries: dict[Hashable, Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def values(self) -> ValuesView[Entry]:
        """The entries, from the oldest."""
        return self._entries.values()

    def get(self, key: Hashable) -> Entry | None:
        """The entry of a key, which becomes the youngest."""
        found = self._entries.get(key)
        if found is not None and 2 * len(self._entries) > self._most:
            self._entries.pop(key, None)
            self._entries[key] = found
        return found

    def keep(self, key: Hashable, entry: Entry) -> Entry:
        """Add an entry; where another thread has added one meanwhile, that one is kept and returned."""
        kept = self._entries.setdefault(key, entry)
        forget_oldest(self._entries, self._most)
        return kept


def forget_oldest(entries: dict[Any, Any], most: int) -> None:
    """Forget the oldest entries until there are at most so many, whatever other threads do meanwhile."""
    while len(entries) > most:
        try:
            oldest = next(iter(entries))
        except (RuntimeError, StopIteration):  # another thread is at it
            break
        entries.pop(oldest, None)
