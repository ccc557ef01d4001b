"""What became of the statements of a function while it was recorded, and which loops to unroll."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from funcgrad.source import label_of

UNROLLED_OPERATIONS = 40
"""A loop over a known range is unrolled while its trips together have no more operations than this."""

LoopSite = tuple[str, int]
"""The file and the line of a loop."""


class KeepsNotes:
    """Notes of statements, and what has been decided of loops."""

    def __init__(
        self, unroll: int = UNROLLED_OPERATIONS, decided: Mapping[LoopSite, bool] | None = None
    ) -> None:
        self.unroll = unroll
        self.decided = decided or {}
        """Whether loops are unrolled of which that has been decided already."""
        self.notes: dict[tuple[str, int], str] = {}
        self.loops: dict[LoopSite, set[tuple[int, bool]]] = {}
        """The loops over a known number of items: how many, and whether they were unrolled."""

    def share(self, asking: KeepsNotes) -> None:
        """Note what becomes of statements where others do, and decide as they do."""
        self.notes, self.loops, self.decided = asking.notes, asking.loops, asking.decided

    def note(self, block: Callable[..., object], line: int, text: str) -> None:
        """Remember what has become of a statement."""
        self.notes[block.__code__.co_filename, line] = text

    def report(self) -> tuple[str, ...]:
        """What has become of statements, in the order of their lines."""
        return tuple([f"{label_of(file)}:{line} {text}" for (file, line), text in sorted(self.notes.items())])
