"""Our docstrings as reStructuredText: plain sentences, `names` in single backquotes, examples with ``>>>``.

They are written for ``help()``, so what would be markup elsewhere (a star in front of an argument's name,
bars around an absolute value) means itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from funcgrad import errors

CODE = re.compile(r"(``.+?``|`[^`\n]+?`|:\w+:`[^`]+`)", re.DOTALL)
ERROR = re.compile(r"\b([A-Z]\w+(?:Error|Warning))\b")
MARKUP = re.compile(r"([*|\\]|_(?=\W|$))")


def escaped(prose: str) -> str:
    r"""The text with what is no code protected from being read as markup; names of our errors are links.

    >>> escaped("of *args and |x|, as `np.sum` of ``*xs``")
    'of \\*args and \\|x\\|, as `np.sum` of ``*xs``'
    >>> escaped("Raises ShapeError or ValueError.")
    'Raises :py:obj:`~funcgrad.errors.ShapeError` or ValueError.'
    """
    parts = CODE.split(prose)
    return "".join(part if number % 2 else _escaped(part) for number, part in enumerate(parts))


def _escaped(prose: str) -> str:
    return ERROR.sub(_linked, MARKUP.sub(r"\\\1", prose))


def _linked(match: re.Match[str]) -> str:
    name = match.group(1)
    return f":py:obj:`~funcgrad.errors.{name}`" if hasattr(errors, name) else name


def paragraphs(lines: list[str]) -> Iterator[list[str]]:
    """The lines between blank ones; an example that follows its sentence at once is split from it.

    >>> list(paragraphs(["A sentence.", ">>> 1 + 1", "2", "", "More."]))
    [['A sentence.'], ['>>> 1 + 1', '2'], ['More.']]
    """
    for blank, group in groupby(lines, key=lambda line: not line.strip()):
        if blank:
            continue
        block = list(group)
        starts = [at for at, line in enumerate(block) if line.lstrip().startswith(">>> ")]
        if starts and starts[0] > 0:
            yield block[: starts[0]]
            block = block[starts[0] :]
        yield block


def restructured(lines: list[str]) -> list[str]:
    """The lines of a docstring as reStructuredText."""
    result: list[str] = []
    for block in paragraphs(lines):
        if block[0].lstrip().startswith(">>> "):
            result += [".. code-block:: pycon", "", *("   " + line.strip("\n") for line in block)]
        elif all(line.startswith("    ") for line in block):
            result += ["::", "", *block]
        else:
            result += escaped("\n".join(block)).split("\n")
        result.append("")
    return result


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Sphinx's event ``autodoc-process-docstring``: replaces the lines in place."""
    lines[:] = restructured(lines)
