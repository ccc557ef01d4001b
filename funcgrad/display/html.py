"""Markup: tags and text that cannot be mistaken for them, and whole results that notebooks show.

Owns escaping. Knows nothing of what is shown, and nothing of colours.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from pathlib import Path

from funcgrad.display.theme import page_style


class Markup(str):
    """Text that is HTML already: `tag` puts it in as it is, and escapes every other string."""

    __slots__ = ()


EMPTY = Markup("")


def escaped(content: str) -> Markup:
    """The text as HTML; what is Markup stays as it is.

    >>> escaped("a < b"), escaped(Markup("<b>a</b>"))
    ('a &lt; b', '<b>a</b>')
    """
    return content if isinstance(content, Markup) else Markup(html.escape(content, quote=True))


def joined(parts: Iterable[str], between: str = "") -> Markup:
    """Several pieces as one.

    >>> joined(["a", tag("b", "<")], ", ")
    'a, <b>&lt;</b>'
    """
    return Markup(escaped(between).join([escaped(part) for part in parts]))


def tag(name: str, /, *children: str, **attributes: str | None) -> Markup:
    """An element with its children. ``class_`` is ``class``, underscores are dashes, None is left out.

    >>> tag("td", "a < b", tag("br"), class_="fg-source", title='"')
    '<td class="fg-source" title="&quot;">a &lt; b<br></td>'
    >>> tag("details", "more", open="")
    '<details open="">more</details>'
    """
    written = [
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(value, quote=True)}"'
        for key, value in attributes.items()
        if value is not None
    ]
    start = f"<{name}{''.join(written)}>"
    return Markup(start if name in _VOID else f"{start}{joined(children)}</{name}>")


_VOID = frozenset(("br", "col", "hr", "img", "meta"))


class Html:
    """Something to look at: a notebook shows its page, ``print`` its text, and `save` writes a file.

    >>> shown = Html(tag("b", "1 < 2"), "1 < 2")
    >>> print(shown)
    1 < 2
    """

    __slots__ = ("body", "text")

    def __init__(self, body: Markup, text: str) -> None:
        self.body = body
        self.text = text

    def _repr_html_(self) -> str:
        """The page as notebooks show it."""
        return str(self.body)

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def save(self, path: str | Path, title: str = "funcgrad") -> Path:
        """Write a page that stands alone; returns its path."""
        path = Path(path)
        path.write_text(page(self.body, title), encoding="utf-8")
        return path


def page(body: Markup, title: str = "funcgrad") -> str:
    """A document that holds nothing but the body, in the colours that the reader's system prefers."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Markup(page_style())),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, tag('body', body), lang='en')}\n"
