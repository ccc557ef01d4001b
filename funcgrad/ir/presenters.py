"""Where the pictures of Programs come from: the one place below `funcgrad.display` that knows its name.

A Program can show itself, but how it looks stands on everything else (costs, kernels, themes), hence far
above the data. So the data names what draws it, and loads it when somebody looks: nothing imports upwards.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

__all__ = ["presenter"]


def presenter(module: str, name: str) -> Callable[..., Any]:
    """The function `name` of ``funcgrad.display.<module>``, loaded now.

    >>> presenter("program", "program_html").__name__
    'program_html'
    """
    drawing: Callable[..., Any] = getattr(import_module(f"funcgrad.display.{module}"), name)
    return drawing
