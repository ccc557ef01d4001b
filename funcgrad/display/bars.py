"""Bar charts: a row for each thing, a bar as long as its number. Plain elements, so that text stays text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from funcgrad.display.html import EMPTY, Markup, joined, tag

BARS_CSS = """
.fg-bars {
    display:grid; grid-template-columns:minmax(6em,max-content) minmax(8em,1fr) max-content;
    gap:3px 10px; align-items:center; max-width:56em; margin:6px 0;
}
.fg-bars .fg-label {overflow:hidden; text-overflow:ellipsis; white-space:nowrap; max-width:24em}
.fg-bars .fg-track {
    display:flex; height:0.85em; background:var(--fg-raised); border-radius:2px; overflow:hidden;
}
.fg-bars .fg-words {color:var(--fg-dim); white-space:nowrap}
.fg-fill {height:100%; min-width:1px; background:var(--fg-colour,var(--fg-forward))}
"""
"""The rules of a chart, for `funcgrad.display.theme.scoped`."""


@dataclass(frozen=True)
class Bar:
    """A row of a chart. The kind is the name of a colour of the theme; the title is shown on hover."""

    label: str
    value: float
    words: str
    kind: str = "forward"
    title: str | None = None


def bars(rows: Sequence[Bar], largest: float | None = None) -> Markup:
    """A chart whose longest bar is `largest`, or the largest number in it.

    Labels and words may be Markup. Rows that are no number have no bar. Needs `BARS_CSS`.

    >>> chart = bars([Bar("exp", 2.0, "2 us"), Bar("a < b", 1.0, "1 us", "backward")])
    >>> "width:50.0%" in chart and "a &lt; b" in chart
    True
    """
    finite = [row.value for row in rows if row.value > 0.0]
    scale = (max(finite, default=0.0) if largest is None else largest) or 1.0
    return tag("div", joined([_row(row, scale) for row in rows]), class_="fg-bars")


def _row(row: Bar, scale: float) -> Markup:
    share = min(max(row.value / scale, 0.0), 1.0) if row.value > 0.0 else 0.0
    style = f"width:{100.0 * share:.1f}%;--fg-colour:var(--fg-{row.kind})"
    fill = tag("span", class_="fg-fill", style=style) if share else EMPTY
    return joined(
        [
            tag("span", row.label, class_="fg-label", title=row.title),
            tag("span", fill, class_="fg-track", title=row.title),
            tag("span", row.words, class_="fg-words", title=row.title),
        ]
    )
