"""Source text as a page: what `kernel_source` and `to_numpy_source` give."""

from __future__ import annotations

from funcgrad.display.highlight import source_block
from funcgrad.display.program import document


def source_html(source: str) -> str:
    """The page of a source.

    >>> "fg-k" in source_html("def f(x):")
    True
    """
    return str(document(source_block(source)))
