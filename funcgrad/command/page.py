"""What all sub-commands print with: the width of the page, headings, and tables that fit it."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence

WIDEST, NARROWEST = 100, 40
LABEL = 12


def width() -> int:
    """The columns to write in: those of the terminal up to 100, and 100 where the output is no terminal."""
    if not sys.stdout.isatty():
        return WIDEST
    columns = shutil.get_terminal_size((WIDEST, 24)).columns
    return max(NARROWEST, min(WIDEST, columns))


def heading(title: str) -> None:
    """Print a section title, ruled to the width of the page."""
    lines = textwrap.wrap(title, width() - 4)
    *first, last = lines or [""]
    print()
    for line in first:
        print(f"-- {line}")
    print(f"-- {last} ".ljust(width(), "-") + "\n")


def paragraph(text: str) -> None:
    """Print text wrapped to the width of the page."""
    print(textwrap.fill(text, width()))


def rows_of_facts(facts: Sequence[tuple[str, str]]) -> str:
    """Names and what they stand for, in two columns; what is long goes on below.

    >>> print(rows_of_facts([("Python", "3.11"), ("cores", "2")]))
    Python    3.11
    cores     2
    """
    label = min(LABEL, max([len(name) for name, _ in facts], default=0) + 4)
    rows = []
    for name, text in facts:
        found = textwrap.wrap(text, width() - label, break_long_words=False, break_on_hyphens=False) or [""]
        rows += [f"{name if k == 0 else '':<{label}}{part}" for k, part in enumerate(found)]
    return "\n".join(rows)


def table_lines(columns: Sequence[str], row: Sequence[str], first: int, each: int) -> list[str]:
    """A row in columns, the first to the left; below each other where the page is too narrow for them."""
    if first + each * (len(row) - 1) <= width():
        return [row[0].ljust(first) + "".join([cell.rjust(each) for cell in row[1:]])]
    if row == columns:
        return []
    label = max([len(name) for name in columns]) + 2
    below = [f"  {name:<{label}}{cell.rjust(each)}" for name, cell in zip(columns[1:], row[1:], strict=True)]
    return [row[0], *below]


def bytes_words(count: float) -> str:
    """A number of bytes in a unit that suits it.

    >>> bytes_words(512), bytes_words(3_500_000)
    ('512 B', '3.5 MB')
    """
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.4g} {unit}"
        count /= 1000
    return f"{count:.4g} GB"
