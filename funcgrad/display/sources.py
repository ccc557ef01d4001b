"""The user's line beside what came of it: the expression, its place, and on hover the whole line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from funcgrad.display.highlight import highlighted
from funcgrad.display.html import EMPTY, Markup, joined, tag
from funcgrad.types import Anything

if TYPE_CHECKING:
    from funcgrad.source import Source


LONGEST = 60

SOURCES_CSS = """
.fg-place {color:var(--fg-dim); margin-left:1em}
.fg-again {opacity:0.6}
"""


def is_backward(source: Source | None) -> bool:
    """Whether reverse mode recorded what stands here."""
    return bool(getattr(source, "backward", False))


def expression_of(source: Anything) -> str:
    """The user's expression, or the first line of one that goes over several."""
    if not hasattr(source, "expression"):
        return ""
    found: str = source.expression
    if not found:
        lines = source.text.strip().splitlines()
        found = f"{lines[0].strip()} …" if len(lines) > 1 else "".join(lines).strip()
    return found if len(found) <= LONGEST else f"{found[: LONGEST - 2]} …"


def place_of(source: Source | None) -> str:
    """The file, or the cell of a notebook, and the line."""
    return "" if source is None else str(source).rpartition(" in ")[0] or str(source)


def source_title(source: Source | None) -> str:
    """The whole line with carets, for hovering."""
    if source is None:
        return ""
    caret = getattr(source, "caret", None)
    return str(source) if caret is None else str(caret())


def source_cell(source: Source | None, *, again: bool = False) -> Markup:
    """Expression and place; paler where the line above shows the same `again`."""
    if source is None:
        return EMPTY
    shown = [highlighted(expression_of(source)), tag("span", place_of(source), class_="fg-place")]
    return tag("span", joined(shown, " "), class_="fg-again" if again else None)
