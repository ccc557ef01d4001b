"""Modules that are two others together: ours where it has a name, the wrapped library's elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from funcgrad.compat.autograd.overriding import current
from funcgrad.types import Anything


def combined(*modules: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a module that has the names of others, the first ones first.

    >>> find, names = combined("funcgrad.numpy.linalg", "numpy.linalg")
    >>> find("solve").__name__, "svd" in names()
    ('solve', True)
    """

    def find(name: str) -> Anything:
        if not name.startswith("__"):
            for module in modules:
                found = getattr(import_module(module), name, None)
                if found is not None:
                    return current(found)
        raise AttributeError(f"{modules[-1]} has no attribute {name!r}")

    def names() -> list[str]:
        return sorted({name for module in modules for name in dir(import_module(module)) if name[0] != "_"})

    return find, names


def fill(
    namespace: dict[str, Any], find: Callable[[str], Any], names: Callable[[], Iterable[str]]
) -> list[str]:
    """Put names into the dictionary of a module, for those who read that; returns all that are there now.

    >>> import math
    >>> found = {"pi": 3}
    >>> fill(found, math.__dict__.get, lambda: ["pi", "tau"]), found["pi"]
    (['pi', 'tau'], 3)
    """
    for name in names():
        if name not in namespace and not name.startswith("_"):
            namespace[name] = find(name)
    return sorted([name for name in namespace if not name.startswith("_")])
