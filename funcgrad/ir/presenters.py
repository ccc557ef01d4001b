"""Where the pictures of Programs come from, without knowing whence.

A Program can show itself, but how it looks stands on everything else (costs, kernels, themes), hence far
above the data. So the data names what draws it; the top of the package says in which package that is, and it
is loaded when somebody looks.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

__all__ = ["PRESENTERS", "presenter"]


class Presenters:
    """The package that draws."""

    __slots__ = ("package",)

    def __init__(self) -> None:
        self.package = ""


PRESENTERS = Presenters()


def presenter(module: str, name: str) -> Callable[..., Any]:
    """The function `name` of a module of the package that draws, loaded now.

    >>> presenter("program", "program_html").__name__
    'program_html'
    """
    drawing: Callable[..., Any] = getattr(import_module(f"{PRESENTERS.package}.{module}"), name)
    return drawing
