"""The glossary is the authority on words: each stands once, in order, and lives where it says."""

from __future__ import annotations

import re
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "design" / "glossary.md"
ROW = re.compile(r"^\| (?P<word>[^|]+) \| [^|]+ \| `(?P<place>[a-z_.]+)` \|$")


def sections() -> list[list[tuple[str, str]]]:
    """The words of each section, and their modules."""
    found = []
    for text in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
        matches = [ROW.match(row) for row in rows]
        assert all(matches), [row for row, match in zip(rows, matches, strict=True) if not match]
        found.append([(match["word"], match["place"]) for match in matches if match])
    return found


def test_each_word_has_one_meaning_and_its_place_in_the_alphabet() -> None:
    words = [word for section in sections() for word, _ in section]
    assert len(words) > 40
    assert len(set(words)) == len(words)
    for section in sections():
        for (one, _), (other, _) in pairwise(section):
            assert one.lower() < other.lower()


@pytest.mark.parametrize("place", sorted({place for section in sections() for _, place in section}))
def test_words_live_where_the_glossary_says(place: str) -> None:
    assert find_spec(place) is not None
