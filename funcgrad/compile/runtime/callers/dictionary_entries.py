"""Where the values of a dictionary lie in the memory of its keys: found by reading it, never computed."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from typing import Any

from funcgrad.compile.runtime.addresses.readable_memory import Memory
from funcgrad.compile.runtime.machine import objects

AT_ONCE = 256
"""Bytes that are read together."""


def entry_places(memory: Memory, dictionary: dict[Any, Any]) -> list[list[int]]:
    """For each value where in the memory of the keys a reference to it lies, in bytes; raises Unreadable.

    A dictionary of different values that nobody else changes, as machine code copies it, has one place each.

    >>> with Memory() as memory:
    ...     len(entry_places(memory, {"a": object(), "b": object()}))
    2
    """
    start = memory.word(id(dictionary) + objects.DICT_KEYS)
    size = dictionary.__sizeof__() - dict.__basicsize__
    content = b"".join([memory.content(start + k, min(AT_ONCE, size - k)) for k in range(0, size, AT_ONCE)])
    words = [int.from_bytes(content[k : k + 8], sys.byteorder) for k in range(0, size - 7, 8)]
    places: dict[int, list[int]] = {id(value): [] for value in dictionary.values()}
    for k, word in enumerate(words):
        if word in places:
            places[word].append(8 * k)
    return [places[id(value)] for value in dictionary.values()]


def template_of(keys: Sequence[Hashable], filler: object) -> tuple[dict[Any, Any], list[int]] | None:
    """A dictionary with these keys and one value, and where its copies have their values.

    None where its memory is not as machine code needs it. Raises Unreadable.

    >>> template_of(["a", "b"], 0)[0]
    {'a': 0, 'b': 0}
    """
    template: dict[Any, Any] = {key: [] for key in keys}
    copy = template.copy()
    with Memory() as memory:
        found = [entry_places(memory, like) for like in (template, copy)]
        starts = {memory.word(id(like) + objects.DICT_KEYS) for like in (template, copy)}
    if found[0] != found[1] or any(len(places) != 1 for places in found[0]) or len(starts) < 2:
        return None
    for key in keys:
        template[key] = filler
    return template, [place for (place,) in found[0]]
