"""The source of kernels as text that notebooks show in colours."""

from __future__ import annotations

from funcgrad.ir.presenters import presenter

__all__ = ["KernelSource"]


class KernelSource(str):
    """A string like any other; a notebook shows it as source.

    >>> source = KernelSource("def f(p, n):")
    >>> source.startswith("def"), "fg-k" in source._repr_html_()
    (True, True)
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        """The source as notebooks show it."""
        html: str = presenter("source", "source_html")(self)
        return html
