"""Where the pictures of Programs come from: loaded when somebody looks.

A Program can show itself, but how it looks stands on everything else (costs, kernels, themes), hence far
above the data. So the data knows the name of what draws it, and no more.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

DRAWING = "funcgrad.display"


def presenter(module: str, name: str) -> Callable[..., Any]:
    """The function `name` of a module of the package that draws, loaded now.

    >>> presenter("program", "program_html").__name__
    'program_html'
    """
    drawing: Callable[..., Any] = getattr(import_module(f"{DRAWING}.{module}"), name)
    return drawing
