"""A named tuple, in a module that a process without funcgrad can import too."""

from __future__ import annotations

from typing import Any, NamedTuple


class Point(NamedTuple):
    """Two numbers."""

    x: Any
    y: Any
