"""Python source in colours, with the standard library's tokenizer. Text that is no Python stays plain."""

from __future__ import annotations

import io
import keyword
import tokenize
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from funcgrad.display.html import EMPTY, Markup, escaped, joined, tag

SOURCE_CSS = """
.fg-k {color:var(--fg-keyword)}
.fg-s {color:var(--fg-string)}
.fg-n {color:var(--fg-number)}
.fg-c {color:var(--fg-comment);font-style:italic}
.fg-f {color:var(--fg-function)}
pre.fg-code {
    margin:4px 0; padding:8px 10px; background:var(--fg-raised); border-radius:4px; color:var(--fg-ink);
    overflow:auto; max-height:36em; line-height:1.45; white-space:pre;
}
"""
"""The rules of source text, for `funcgrad.display.theme.scoped`."""

_STRINGS = {
    tokenize.STRING,
    *[
        getattr(tokenize, name)
        for name in ("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END")
        if hasattr(tokenize, name)
    ],
}
_CLASSES = {tokenize.NUMBER: "fg-n", tokenize.COMMENT: "fg-c", **dict.fromkeys(_STRINGS, "fg-s")}


@lru_cache(maxsize=1024)
def highlighted(source: str) -> Markup:
    """The source as HTML, in spans by what the words are.

    >>> highlighted("x = 2.0  # a < b")
    'x = <span class="fg-n">2.0</span>  <span class="fg-c"># a &lt; b</span>'
    >>> highlighted("an unfinished ( line")
    'an unfinished ( line'
    """
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):  # a line of a statement that goes on, or no Python at all
        return escaped(source)
    return joined(_spans(source, tokens))


def source_block(source: str) -> Markup:
    """The source as a block of its own. Needs `SOURCE_CSS`."""
    return tag("pre", highlighted(source.rstrip("\n")), class_="fg-code")


def _spans(source: str, tokens: list[tokenize.TokenInfo]) -> Iterator[Markup]:
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    starts.append(starts[-1])
    done = 0
    before = [None, *tokens]
    for previous, token in pairwise(before):
        assert token is not None
        kind = _class_of(token, previous)
        start, stop = (starts[row - 1] + column for row, column in (token.start, token.end))
        if kind is None or start < done or stop <= start:
            continue
        yield escaped(source[done:start])
        yield tag("span", source[start:stop], class_=kind)
        done = stop
    yield escaped(source[done:]) or EMPTY


def _class_of(token: tokenize.TokenInfo, previous: tokenize.TokenInfo | None) -> str | None:
    if token.type != tokenize.NAME:
        return _CLASSES.get(token.type)
    if keyword.iskeyword(token.string):
        return "fg-k"
    return "fg-f" if previous is not None and previous.string in ("def", "class") else None
