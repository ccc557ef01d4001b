"""Write the table of the kernel language's words into `design/engines.md`, from their rows."""

from __future__ import annotations

import sys
from pathlib import Path

from funcgrad.compile.language.rows import WORDS
from funcgrad.compile.language.word import Word

PAGE = Path(__file__).parent / "design" / "engines.md"
BEGIN, END = "<!-- words -->\n", "<!-- end of words -->"


def table() -> str:
    """A line for all words that say the same of themselves but for their names."""
    rows: dict[tuple[str, str], list[str]] = {}
    for word in WORDS.values():
        rows.setdefault((word.types.words, sentence(word)), []).append(f"`{word.name}`")
    lines = ["| words | types | meaning |", "|---|---|---|"]
    lines += [f"| {' '.join(names)} | {types} | {says} |" for (types, says), names in rows.items()]
    return "\n".join([*lines, ""])


def sentence(word: Word) -> str:
    """What a word says of itself, without its name."""
    return word.summary.replace(f"`{word.name}`", "it").replace(f"{word.name} by", "By")


def page() -> str:
    """The page with the table as it should be."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}"


def main() -> int:
    """Write the page, or check that it is current."""
    text = page()
    if "--check" in sys.argv:
        return int(PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
