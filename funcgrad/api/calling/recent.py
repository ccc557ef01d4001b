"""A table of what was of use lately: the oldest entries leave when there are too many."""

from __future__ import annotations

from collections.abc import Hashable, ValuesView
from typing import Any, Generic, TypeVar

Entry = TypeVar("Entry")


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
