"""The user's functions with the time of each line: which lines to show, and how numbers are written.

Owns what the text and the page of a profile share; knows nothing of markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from funcgrad.display.costs import size_words
from funcgrad.source import lines_of_file
from funcgrad.types import Anything

if TYPE_CHECKING:
    from funcgrad.api.inspection.profile_result import Profile, Row
    from funcgrad.source import Source


LONGEST_GAP = 4
"""Lines without any time between two that have some; of more, the middle is left out."""

LONGEST_HEAD = 40
"""Lines from a function's first to the first that takes time, beyond which the head is left out."""


@dataclass(frozen=True)
class Shown:
    """A line of the user's text. ``found`` is its time, if it has any; a line 0 stands for lines left out."""

    line: int
    text: str
    found: Any = None


@dataclass(frozen=True)
class FunctionLines:
    """The lines of one function."""

    title: str
    lines: list[Shown] = field(repr=False)


def function_lines(profile: Profile) -> list[FunctionLines]:
    """The functions that take time, in the order of the text, with those of their lines that are of use."""
    groups: dict[tuple[str, str], list[Any]] = {}
    for found in profile.by_line():
        if found.line:
            groups.setdefault((found.file, found.function), []).append(found)
    shown = []
    for (file, function), lines in groups.items():
        title = f"{lines[0].label}: {function}"
        shown.append(FunctionLines(title, list(lines_between(file, function, lines))))
    return shown


def lines_between(file: str, function: str, lines: Sequence[Any]) -> Iterator[Shown]:
    """The lines with their times, and what stands between them and before."""
    text = lines_of_file(file)
    by_number = {found.line: found for found in lines}
    first, last = min(by_number), max(by_number)
    if last > len(text):  # the file is not to be had, or not the one that ran
        for found in lines:
            yield Shown(found.line, found.text, found)
        return
    numbers = list(range(first_line(text, function, first), last + 1))
    margin = min([len(t) - len(t.lstrip()) for t in (text[n - 1].rstrip() for n in numbers) if t], default=0)
    for number in kept(numbers, by_number):
        yield Shown(number, text[number - 1].rstrip()[margin:] if number else "", by_number.get(number))


def first_line(text: Sequence[str], function: str, line: int) -> int:
    """Where the function of a line begins, if that is near."""
    name = re.escape(function.rpartition(".")[2])
    head = re.compile(rf"\s*(async\s+)?def\s+{name}\b")
    for number in range(line, max(line - LONGEST_HEAD, 0), -1):
        if head.match(text[number - 1]):
            return number
    return line


def kept(numbers: Sequence[int], timed: Anything) -> Iterator[int]:
    """The numbers, with 0 for the middle of a long run of lines without time."""
    run: list[int] = []
    for number in numbers:
        if number in timed:
            yield from shortened(run)
            run = []
            yield number
        else:
            run.append(number)


def shortened(run: list[int]) -> list[int]:
    """A run of lines without time."""
    return run if len(run) <= LONGEST_GAP else [run[0], 0, run[-1]]


def row_place(row: Row) -> str:
    """The line that a row serves, and how many others."""
    places = list(dict.fromkeys([_place(share.source) for share in ordered(row.shares)]))
    more = f" + {len(places) - 1} more" if len(places) > 1 else ""
    return places[0] + more


def ordered(shares: Sequence[Any]) -> list[Any]:
    """The shares, the largest first."""
    return sorted(shares, key=lambda share: -share.fraction)


def _place(source: Source | None) -> str:
    return "" if source is None else str(source).rpartition(" in ")[0]


def time_words(seconds: float) -> str:
    """A time in a unit that suits it.

    >>> time_words(2.34e-7), time_words(1.5e-3), time_words(12.0)
    ('234 ns', '1.5 ms', '12 s')
    """
    for unit, size in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)):
        if seconds < 999.5 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.4g} s"


def percent(fraction: float) -> str:
    """A share, with a digit behind the point.

    >>> percent(0.123456), percent(0.0002)
    ('12.3%', '0.0%')
    """
    return f"{100.0 * fraction:.1f}%"


def rate_words(amount: float | None, seconds: float, unit: str) -> str:
    """So many a second; nothing where the amount is not known, or too little to measure.

    >>> rate_words(2e9, 0.5, "flop"), rate_words(None, 0.5, "B")
    ('4 Gflop/s', '')
    """
    if not amount or seconds < 1e-7:
        return ""
    return f"{size_words(amount / seconds)[:-1]}{unit}/s"
