"""SciPy's own functions and classes by name, imported when the first of a package is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

__all__ = ["original", "originals_of"]


def original(package: str, name: str) -> Any:
    """What a package of SciPy's offers under a name.

    >>> original("linalg", "expm").__module__
    'scipy.linalg._matfuncs'
    """
    return getattr(import_module(f"scipy.{package}"), name)


def originals_of(package: str) -> Callable[[str], Any]:
    """`original` of one package."""
    return partial(original, package)
