"""Source that a user is given: a string like any other, which a notebook shows in colours."""

from __future__ import annotations

from funcgrad.ir.presenters import presenter


class SourceText(str):
    """The source of a function, of a kernel, or of a Program as NumPy.

    >>> source = SourceText("def f(p, n):")
    >>> source.startswith("def"), "fg-k" in source._repr_html_()
    (True, True)
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        """The source as notebooks show it."""
        html: str = presenter("source", "source_html")(self)
        return html
