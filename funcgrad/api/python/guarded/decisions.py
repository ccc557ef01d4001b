"""What a function decides by numbers that it knows while it is recorded: sizes, options, counters.

A recording has one side of each such branch. Whoever wants to use it for other sizes asks which comparisons
led there: each is noted as the condition under which another side would have been taken.

>>> with noted_decisions() as found:
...     _ = fg.jit(lambda x: x.sum() if len(x) > 3 else x.max()).program(np.ones(9))
>>> found
['9 <= 3']
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

_NOTED: ContextVar[list[str] | None] = ContextVar("decisions", default=None)

_SIGNS = {
    "lt": ("<", ">="),
    "le": ("<=", ">"),
    "gt": (">", "<="),
    "ge": (">=", "<"),
    "eq": ("==", "!="),
    "ne": ("!=", "=="),
    "in_": ("in", "not in"),
    "not_in": ("not in", "in"),
}
"""How a comparison is written, and its opposite."""


@contextmanager
def noted_decisions() -> Iterator[list[str]]:
    """The list of conditions under which what is recorded within would be another program."""
    found: list[str] = []
    token = _NOTED.set(found)
    try:
        yield found
    finally:
        _NOTED.reset(token)


def are_noted() -> bool:
    """Whether decisions are noted here: then nothing that was recorded before may be taken instead."""
    return _NOTED.get() is not None


def note_comparison(name: str, first: object, second: object, found: object) -> None:
    """Note a comparison of known numbers, or of tuples of such."""
    noted = _NOTED.get()
    if noted is None or name not in _SIGNS or not (is_known(first) and is_known(second)):
        return
    noted.append(f"{plain(first)!r} {_SIGNS[name][1 if found else 0]} {plain(second)!r}")


def note_truth(test: object) -> None:
    """Note that a known number was asked whether it is zero."""
    noted = _NOTED.get()
    if noted is not None and is_number(test):
        noted.append(f"{plain(test)!r} {'==' if test else '!='} 0")


def is_number(x: object) -> bool:
    """Whether it is a real number that is neither traced nor a boolean."""
    return type(x) in (int, float) or isinstance(x, np.integer | np.floating)


def is_known(x: object) -> bool:
    """Whether it is a number, or a container of numbers that may be written out."""
    return is_number(x) or (isinstance(x, tuple | list | range) and all(is_number(y) for y in x))


def plain(x: object) -> object:
    """The numbers as Python's own, which are written without a type."""
    if isinstance(x, tuple | list):
        return tuple([plain(y) for y in x])
    return x.item() if isinstance(x, np.generic) else x
