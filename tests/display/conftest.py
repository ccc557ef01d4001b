"""What tests of pages share: a reader that holds them to what a notebook may be given."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser

import pytest

VOID = ("br", "hr", "img", "meta", "link", "col")


class Reader(HTMLParser):
    """Reads a page and keeps what tests ask for; a tag that is not closed in order is an error."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.styles: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {key: value or "" for key, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes what is not open"

    def handle_data(self, data: str) -> None:
        (self.styles if self.open[-1:] == ["style"] else self.words).append(data)

    @property
    def text(self) -> str:
        """The words that a reader sees."""
        return "".join(self.words)

    def titles(self) -> list[str]:
        """What hovering shows."""
        return [attrs["title"] for _, attrs in self.tags if "title" in attrs]

    def count(self, tag: str, class_: str = "") -> int:
        """Elements of a kind, of a class."""
        return sum(
            name == tag and (not class_ or class_ in attrs.get("class", "").split())
            for name, attrs in self.tags
        )


def read(text: str) -> Reader:
    """Read a page, and hold it to the rules for all of them."""
    reader = Reader(text)
    names = {name for name, _ in reader.tags}
    assert not names & {"script", "iframe", "link", "object", "embed", "form"}
    assert not any(key.startswith("on") for _, attrs in reader.tags for key in attrs)
    assert "http" not in "".join(reader.styles)
    assert not any(
        key in attrs for name, attrs in reader.tags if name != "svg" for key in ("src", "href", "xmlns")
    )
    for style in reader.styles:
        assert "@import" not in style
        assert "url(" not in style
    return reader


@pytest.fixture(name="read")
def read_fixture() -> Callable[[str], Reader]:
    """Reads a page, and holds it to the rules for all of them."""
    return read
