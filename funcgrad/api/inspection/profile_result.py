"""What `profile` returns: rows of measured times, and their sums by line, operation and kernel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from funcgrad.ir.presenters import presenter
from funcgrad.source import Source


class Share(NamedTuple):
    """The part of a time that serves one place of the user's text; None stands for no place at all."""

    source: Source | None
    fraction: float

    @property
    def backward(self) -> bool:
        """Whether reverse mode adds it."""
        return self.source is not None and self.source.backward


@dataclass(frozen=True)
class Row:
    """An equation, or a step of a kernel: its time without that of the rows inside it."""

    name: str
    """The operation, or the kind of step: ``loop``, ``dgemm``, ``scan``."""
    detail: str
    kernel: str
    """The kernel it is a step of; empty for an equation that NumPy evaluates."""
    depth: int
    """How many loops and calls it is inside of."""
    seconds: float
    """For a call of the function, all of its runs together: the median."""
    best: float
    runs: float
    """How often it runs in a call."""
    shares: tuple[Share, ...]
    flops: float | None
    bytes_moved: float | None

    @property
    def source(self) -> Source | None:
        """The place that most of it serves."""
        return max(self.shares, key=lambda share: share.fraction).source

    @property
    def fused(self) -> bool:
        """Whether it computes several lines at once; its time is then divided by estimated operations."""
        return len({place_of(share.source) for share in self.shares}) > 1

    @property
    def backward(self) -> float:
        """The fraction that reverse mode adds."""
        return sum(
            share.fraction for share in self.shares if share.source is not None and share.source.backward
        )


@dataclass
class LineTime:
    """What one of the user's lines takes. The line 0 of no file stands for what belongs to none."""

    file: str
    line: int
    function: str
    text: str
    label: str
    forward: float = 0.0
    backward: float = 0.0
    fused: bool = False
    rows: list[Row] = field(default_factory=list, repr=False)

    @property
    def seconds(self) -> float:
        """Forward and backward together."""
        return self.forward + self.backward


@dataclass(frozen=True)
class Profile:
    """Where the time of a call goes. Its text is a table; notebooks show a picture; `save` writes a page."""

    name: str
    compiled: bool
    """Whether it ran as native code, or was evaluated by NumPy."""
    rows: tuple[Row, ...]
    call_seconds: float
    """The median time of a call as you make it; that of a run, for a function that no transform has made."""
    run_seconds: float
    """The median time of a run of the recorded Program, without any clock in between."""
    runs: int
    peak_bytes: int
    """The most memory that a call holds at once beside its arguments."""
    reasons: tuple[str, ...] = ()
    """What of a compiled function is left to NumPy, and why."""

    @property
    def measured_seconds(self) -> float:
        """The times of all rows together."""
        return sum(row.seconds for row in self.rows)

    @property
    def overhead_seconds(self) -> float:
        """What a call takes beyond its rows: recording, taking arguments, going from row to row."""
        return max(self.call_seconds - self.measured_seconds, 0.0)

    @property
    def flops(self) -> float:
        """Arithmetic operations of a call, as far as they are known."""
        return sum(row.flops or 0.0 for row in self.rows)

    @property
    def bytes_moved(self) -> float:
        """Bytes read and written in a call, as far as they are known."""
        return sum(row.bytes_moved or 0.0 for row in self.rows)

    def by_line(self) -> tuple[LineTime, ...]:
        """The time of each of the user's lines, in the order of the text."""
        found: dict[tuple[str, int], LineTime] = {}
        for row in self.rows:
            for share in row.shares:
                line = found.setdefault(place_of(share.source), line_of(share.source))
                seconds = row.seconds * share.fraction
                if share.backward:
                    line.backward += seconds
                else:
                    line.forward += seconds
                line.fused |= row.fused
                # A row that serves a line both ways comes twice in a row; comparing by value would take long.
                if not line.rows or line.rows[-1] is not row:
                    line.rows.append(row)
        return tuple([found[place] for place in sorted(found)])

    def by_primitive(self) -> dict[str, float]:
        """The seconds of each operation or kind of step, the longest first."""
        return totals([(row.name, row.seconds) for row in self.rows])

    def by_kernel(self) -> dict[str, float]:
        """The seconds of each kernel, the longest first; ``NumPy`` is what no kernel does."""
        return totals([(row.kernel or "NumPy", row.seconds) for row in self.rows])

    def __str__(self) -> str:
        text: str = presenter("profile", "profile_text")(self)
        return text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The profile as notebooks show it."""
        return str(presenter("profile", "profile_html")(self))

    def save(self, path: str | Path) -> Path:
        """Write the picture as a page that stands alone; returns its path."""
        made = presenter("html", "Html")(presenter("profile", "profile_html")(self), str(self))
        saved: Path = made.save(path, f"{self.name}: where the time goes")
        return saved


def place_of(source: Source | None) -> tuple[str, int]:
    """The file and the line."""
    return ("", 0) if source is None else (source.file, source.line)


def line_of(source: Source | None) -> LineTime:
    """A line without any time yet."""
    if source is None:
        return LineTime("", 0, "", "", "")
    first = next(iter(source.text.splitlines()), "")
    return LineTime(source.file, source.line, source.function, first.strip(), str(source).rpartition(":")[0])


def totals(pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Sums by name, the largest first."""
    found: dict[str, float] = {}
    for name, seconds in pairs:
        found[name] = found.get(name, 0.0) + seconds
    return dict(sorted(found.items(), key=lambda item: -item[1]))
