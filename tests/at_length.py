"""What `.ci/run` tries beside the suite: every combination compiled.

The suite compiles one of them, and has NumPy evaluate the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import settings

import funcgrad as fg


def at_length() -> bool:
    """Whether the profile is `soak`, or another that tries more than the suite."""
    return settings.default is not None and settings.default.max_examples > 100


def evaluated(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function recorded as under `jit`, and evaluated by NumPy: the same without the time of LLVM."""

    def call(*args: Any) -> Any:
        (found,) = fg.jit(function).program(*args).evaluate(*args)
        return found

    return call


def ran(function: Callable[..., Any], compiled: bool = False) -> Callable[..., Any]:
    """The function compiled where that is asked for, or at length; evaluated elsewhere."""
    return fg.jit(function) if compiled or at_length() else evaluated(function)
