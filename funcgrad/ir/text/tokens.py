"""The words of a Program's text, one after the other, and errors that point at one of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from funcgrad.errors import ProgramError

_TOKEN = re.compile(
    r"""
    (?P<space>   \s+ | \#[^\n]* )
  | (?P<number>  0x[0-9a-f]+ | -?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)? | -?inf\b )
  | (?P<string>  b?(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*") )
  | (?P<name>    [^\W\d]\w* )
  | (?P<angle>   <[^<>\n]*> )
  | (?P<sign>    [()\[\]:,=*.] )
    """,
    re.VERBOSE,
)


class Token(NamedTuple):
    """A word of the text: what kind it is, what it says, and where it starts."""

    kind: str
    text: str
    start: int


def tokens_of(text: str) -> Iterator[Token]:
    """The words of the text, without spaces and comments; ``end`` is the last."""
    position, end = 0, len(text)
    match = _TOKEN.match
    while position < end:
        found = match(text, position)
        if found is None:
            raise error_at(text, position, f"{text[position]!r} has no meaning in a Program")
        kind = found.lastgroup or ""
        if kind != "space":
            yield Token(kind, found.group(), position)
        position = found.end()
    yield Token("end", "the end of the text", end)


def error_at(text: str, position: int, seen: str, remedy: str | None = None) -> ProgramError:
    """The error for something wrong at a position, with its line and a caret."""
    line = text.count("\n", 0, position) + 1
    start = text.rfind("\n", 0, position) + 1
    shown = text[start:].partition("\n")[0]
    column = position - start
    indent = min(len(shown) - len(shown.lstrip()), column)
    caret = " " * (column - indent) + "^"
    place = f"line {line}, column {column + 1}: {seen}\n    {shown[indent:].rstrip()}\n    {caret}"
    return ProgramError(place, remedy=remedy)


class Words:
    """The words of a text with one word of lookahead, and what can be asked of them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens_of(text)
        self.token = next(self._tokens)
        """The word that comes next."""

    def error(self, seen: str, token: Token | None = None, remedy: str = "") -> ProgramError:
        """The error for a word, by default the one that comes next."""
        return error_at(self._text, (token or self.token).start, seen, remedy or None)

    def unexpected(self, wanted: str) -> ProgramError:
        """The error where another word should come next."""
        return self.error(f"expected {wanted}, and found {self.token.text}")

    def next(self) -> Token:
        """The next word, consumed."""
        token = self.token
        if token.kind != "end":
            self.token = next(self._tokens)
        return token

    def accept(self, text: str) -> bool:
        """Whether the next word is `text`, which is then consumed."""
        if self.token.text != text:
            return False
        self.next()
        return True

    def expect(self, text: str, what: str = "") -> None:
        """Consume `text`."""
        if not self.accept(text):
            raise self.unexpected(f"{text!r}{what}")

    def name(self, what: str) -> Token:
        """A name, consumed."""
        if self.token.kind != "name":
            raise self.unexpected(what)
        return self.next()

    def listed(self, item: Callable[[], Any], closing: str) -> list[Any]:
        """Items between commas up to the closing bracket, consumed; a last comma is allowed."""
        items = []
        while not self.accept(closing):
            items.append(item())
            if self.token.text != closing:
                self.expect(",", f" or {closing!r}")
        return items
