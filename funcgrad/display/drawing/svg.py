"""Pictures as SVG: text of a known width, shapes, lines, and the finished picture.

A picture is self-contained: no script, no font and no address outside it. Its colours are the palette of
`theme`, light and dark. Knows nothing of what is drawn; `diagram` puts boxes and lines together.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from funcgrad.display.html import EMPTY, Markup, joined, page, tag
from funcgrad.display.theme import LIGHT, ROOT, variables

SIZES = {"fg-title": 12.5, "fg-small": 10.5}
"""Sizes of text, by the class that says so."""
_CHARACTER = 0.605
"""The width of a character over the size of its text; the usual fixed-width fonts have 0.55 to 0.602."""

CLASS = "fg-picture"
"""The class of all pictures, besides that of everything that is shown."""

_STYLE = """
text {fill:var(--fg-ink);white-space:pre}
.fg-paper {fill:var(--fg-paper)}
.fg-title {font-size:12.5px}
.fg-small {font-size:10.5px}
.fg-strong {font-weight:600}
.fg-dim {fill:var(--fg-dim)}
.fg-faded {fill:var(--fg-freed)}
.fg-link path {stroke-width:1.25}
.fg-link .fg-line {fill:none}
.fg-link .fg-head {stroke:none}
.fg-link .fg-hit {fill:none;stroke:transparent;stroke-width:9}
.fg-dashed .fg-line {stroke-dasharray:4 3}
.fg-wide .fg-line {stroke-width:2.6}
.fg-link:hover .fg-line {stroke-width:2.6}
.fg-link:hover .fg-hit {stroke:var(--fg-mark);stroke-opacity:.55}
.fg-shape {stroke-width:1.2}
.fg-node:hover > .fg-shape {stroke-width:2.2}
.fg-cluster > .fg-shape {stroke-dasharray:5 3}
.fg-inner {fill:none}
"""

_FONT = 'ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace'

_KINDS = {
    "forward": ("forward", "forward-soft"),
    "backward": ("backward", "backward-soft"),
    "leaf": ("leaf", "leaf-soft"),
    "constant": ("constant", "constant-soft"),
    "result": ("ink", "raised"),
    "saved": ("warning", "warning-soft"),
    "freed": ("freed", "paper"),
    "plain": ("dim", "raised"),
}
"""What a box, a line or a text can stand for, with the colours of its lines and of its background."""


@cache
def style() -> str:
    """The style sheet of a picture: short, since each picture of a notebook has its own."""
    rules = [rule.strip() for rule in _STYLE.strip().splitlines()]
    for kind, (strong, soft) in _KINDS.items():
        line = f"var(--fg-{strong})"
        rules += [
            f".fg-{kind} > .fg-shape {{fill:var(--fg-{soft});stroke:{line}}}",
            f".fg-{kind} > .fg-inner {{stroke:{line}}}",
            f".fg-{kind}.fg-cluster > .fg-shape {{fill:var(--fg-paper)}}",
            f".fg-{kind}.fg-link {{stroke:{line};fill:{line}}}",
            f"text.fg-{kind}, tspan.fg-{kind} {{fill:{line}}}",
        ]
    scoped = [f".{CLASS}{{font-family:{_FONT}}}"]
    for rule in rules:
        selectors, _, body = rule.partition(" {")
        scoped.append(",".join([f".{CLASS} {part}" for part in selectors.split(", ")]) + "{" + body)
    text = "\n".join(scoped)
    return f"{variables(re.findall(r'--fg-([a-z-]+)', text))}\n{text}"


def with_plain_colours(svg: str) -> str:
    """The picture for programs that know no variables in CSS: they take the light colours.

    >>> with_plain_colours("text{fill:var(--fg-ink)}")
    'text{fill:#1f2328;fill:var(--fg-ink)}'
    """
    return _COLOURED.sub(_with_plain_colour, svg)


_COLOURED = re.compile(r"(fill|stroke):var\(--fg-([a-z-]+)\)")


def _with_plain_colour(found: re.Match[str]) -> str:
    return f"{found[1]}:{LIGHT[found[2]]};{found[0]}"


# -- text -----------------------------------------------------------------------------------------------


def clean(content: str) -> str:
    """The text without characters that XML does not allow.

    >>> clean("a\\x00b")
    'a�b'
    """
    return _FORBIDDEN.sub("\ufffd", content)


_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def text_width(content: str, size: float) -> float:
    """An upper bound for the width of a text, in pixels.

    >>> round(text_width("tanh", 12.5), 2)
    30.25
    """
    cells = len(content) if content.isascii() else sum(_cells(c) for c in content)
    return _CHARACTER * size * cells


def _cells(character: str) -> int:
    """Columns that a character takes."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def shortened(content: str, most: int) -> str:
    """The text in one line of at most so many characters.

    >>> shortened("dot_general", 8)
    'dot_gen…'
    """
    content = " ".join(content.split())
    return content if len(content) <= most else f"{content[: most - 1].rstrip()}…"


def number(value: float) -> str:
    """A coordinate: tenths of pixels are enough."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def words(
    parts: Sequence[tuple[str, str]], x: float, baseline: float, size_class: str, anchor: str = "middle"
) -> Markup:
    """One line of text, in pieces of (text, classes)."""
    spans = [
        tag("tspan", clean(content), class_=classes) if classes else clean(content)
        for content, classes in parts
    ]
    anchored = None if anchor == "start" else anchor
    return tag("text", *spans, x=number(x), y=number(baseline), class_=size_class, text_anchor=anchored)


# -- shapes ---------------------------------------------------------------------------------------------


def shape(kind: str, x: float, y: float, width: float, height: float) -> Markup:
    """The outline of a box: ``box``, ``pill``, ``cut`` (one corner is folded), ``double`` or ``oval``."""
    if kind == "cut":
        fold = min(9.0, height / 3)
        return tag(
            "path",
            class_="fg-shape",
            d=f"M{number(x)} {number(y)}h{number(width - fold)}l{number(fold)} {number(fold)}"
            f"v{number(height - fold)}h{number(-width)}z",
        )
    outline = _rectangle("fg-shape", x, y, width, height, height / 2 if kind in ("pill", "double") else 5.0)
    if kind != "double":
        return outline
    return joined((outline, _rectangle("fg-inner", x + 3, y + 3, width - 6, height - 6, (height - 6) / 2)))


def _rectangle(class_: str, x: float, y: float, width: float, height: float, radius: float) -> Markup:
    return tag(
        "rect",
        class_=class_,
        x=number(x),
        y=number(y),
        width=number(width),
        height=number(height),
        rx=number(min(radius, 16.0)),
    )


HEAD = 6.5


def arrow(points: Sequence[tuple[float, float]], sideways: bool) -> tuple[str, str]:
    """The paths of a line through these points and of its head.

    The line is vertical at every point, or horizontal where the drawing runs `sideways`.
    """
    x, y = tip = points[-1]
    stop = (x - HEAD + 1, y) if sideways else (x, y - HEAD + 1)
    before = [(min(a, stop[0]), b) if sideways else (a, min(b, stop[1])) for a, b in points[:-1]]
    points = straightened([*before, stop], sideways)
    path = [f"M{_at(points[0])}"]
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 == x1 or y0 == y1:
            path.append(f"L{_at((x1, y1))}")
        elif sideways:
            half = (x0 + x1) / 2
            path.append(f"C{_at((half, y0))} {_at((half, y1))} {_at((x1, y1))}")
        else:
            half = (y0 + y1) / 2
            path.append(f"C{_at((x0, half))} {_at((x1, half))} {_at((x1, y1))}")
    corners = "l-3.4 -{0}h6.8z" if not sideways else "l-{0} -3.4v6.8z"
    return "".join(path), f"M{_at(tip)}{corners.format(HEAD)}"


def straightened(points: Sequence[tuple[float, float]], sideways: bool) -> list[tuple[float, float]]:
    """The points without those that repeat one, or lie on a straight line between their neighbours.

    >>> straightened([(0, 0), (0, 5), (0, 5), (0, 9), (4, 12)], sideways=False)
    [(0, 0), (0, 9), (4, 12)]
    """
    across = 1 if sideways else 0
    kept: list[tuple[float, float]] = []
    for point in points:
        if kept and kept[-1] == point:
            continue
        if len(kept) > 1 and kept[-2][across] == kept[-1][across] == point[across]:
            kept.pop()
        kept.append(point)
    return kept


def _at(point: tuple[float, float]) -> str:
    return f"{number(point[0])} {number(point[1])}"


# -- pictures -------------------------------------------------------------------------------------------


class Picture:
    """A picture: notebooks display it, ``str`` is its SVG, and `save` writes a file.

    >>> shown = picture(tag("circle", r="4"), 10, 10, "a dot")
    >>> str(shown).startswith("<svg")
    True
    """

    __slots__ = ("height", "label", "svg", "width")

    def __init__(self, svg: Markup, width: float, height: float, label: str) -> None:
        self.svg = svg
        self.width = width
        self.height = height
        self.label = label

    def _repr_svg_(self) -> str:
        """The SVG alone."""
        return str(self.svg)

    def _repr_html_(self) -> str:
        """The SVG in a frame that scrolls: never wider than the page, and never unreadably small."""
        # The size is said in CSS: an attribute would win over no rule, and a notebook has rules for all svg.
        return str(tag("div", self.svg, style="overflow:auto;max-width:100%;max-height:820px;line-height:0"))

    def save(self, path: str | Path) -> Path:
        """Write an SVG, or a page that shows it where the name ends in ``.html``; returns the path."""
        path = Path(path)
        is_page = path.suffix in (".html", ".htm")
        whole = page(self.svg, self.label) if is_page else with_plain_colours(f"{self.svg}\n")
        path.write_text(whole, encoding="utf-8")
        return path

    def __str__(self) -> str:
        return str(self.svg)

    def __repr__(self) -> str:
        return f"<Picture of {self.label}>"


MARGIN = 14.0


def picture(
    body: Markup, width: float, height: float, label: str, legend: Sequence[tuple[str, str, str]] = ()
) -> Picture:
    """A picture of this size, with a margin around it and a label for those who cannot see it.

    The legend, of (kind, outline, word), stands above.
    """
    key, down, widest = _legend(legend, max(width, 240.0))
    across = max(widest - width, 0.0) / 2
    if across or down:
        body = tag("g", body, transform=f"translate({number(across)} {number(down)})")
    full_width = max(width, widest) + 2 * MARGIN
    full_height = height + down + 2 * MARGIN
    svg = tag(
        "svg",
        tag("style", Markup(style())),
        tag("rect", class_="fg-paper", width=number(full_width), height=number(full_height), rx="6"),
        tag("g", key, body, transform=f"translate({number(MARGIN)} {number(MARGIN)})"),
        xmlns="http://www.w3.org/2000/svg",
        class_=f"{ROOT} {CLASS}",
        role="img",
        aria_label=clean(label),
        viewBox=f"0 0 {number(full_width)} {number(full_height)}",
        width=number(full_width),
        height=number(full_height),
        style=f"width:100%;max-width:{number(full_width)}px;min-width:{number(0.8 * full_width)}px;"
        "height:auto",
    )
    return Picture(svg, full_width, full_height, label)


def _legend(entries: Sequence[tuple[str, str, str]], width: float) -> tuple[Markup, float, float]:
    """What the outlines and colours mean, in rows no wider than `width`; the height and width of that."""
    if not entries:
        return EMPTY, 0.0, 0.0
    parts, x, y, widest = [], 0.0, 0.0, 0.0
    for kind, outline, word in entries:
        room = 24.0 + text_width(word, SIZES["fg-small"])
        if x and x + room > width:
            x, y = 0.0, y + 18.0
        sample = shape(outline, x, y, 18.0, 11.0)
        text = words(((word, "fg-dim"),), x + 23.0, y + 9.0, "fg-small", "start")
        parts.append(tag("g", sample, text, class_=f"fg-key fg-node fg-{kind}"))
        widest = max(widest, x + room)
        x += room + 14.0
    return joined(parts), y + 30.0, widest
