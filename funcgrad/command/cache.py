"""``python -m funcgrad cache``: where compiled code is kept, how much of it, and how to be rid of it."""

from __future__ import annotations

import funcgrad as fg
from funcgrad.command.page import bytes_words, rows_of_facts

OFF = "The disk cache is off (FUNCGRAD_CACHE=0, or there is no home directory)."


def cache_text() -> str:
    """The state of the cache."""
    found = fg.cache_info()
    if not found.enabled:
        return OFF
    rows = [
        ("directory", found.directory),
        ("entries", str(found.entries)),
        ("size", f"{bytes_words(found.bytes)} of at most {bytes_words(found.limit)}"),
    ]
    return rows_of_facts(rows)


def cache_clear() -> str:
    """Remove every entry; says how many there were."""
    before = fg.cache_info()
    if not before.enabled:
        return OFF
    fg.clear_cache()
    after = fg.cache_info()
    gone = f"removed {before.entries - after.entries} entries, {bytes_words(before.bytes - after.bytes)}"
    left = f"; {after.entries} could not be removed" if after.entries else ""
    return f"{gone}, from {before.directory}{left}"


def cache_path() -> str:
    """The directory alone, for other programs to read; nothing where the cache is off."""
    return fg.cache_info().directory
