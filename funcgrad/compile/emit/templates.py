"""Steps that are written as a whole: texts of the kernel language, in which names stand for what is given."""

from __future__ import annotations

from collections.abc import Mapping
from string import Template

from funcgrad.compile.emit.statements import Writer


class Names(dict[str, str]):
    """What the words of a text stand for: those that nothing was said of are new locals."""

    def __init__(self, writer: Writer, known: Mapping[str, str]) -> None:
        super().__init__(known)
        self.local = writer.local

    def __missing__(self, word: str) -> str:
        self[word] = self.local.fresh(word)
        return self[word]


def write_text(writer: Writer, text: str, names: Names) -> None:
    """The lines of a text, in which ``$word`` is a name."""
    for line in text.strip("\n").split("\n"):
        writer.line(Template(line).substitute(names))
