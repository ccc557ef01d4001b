"""The numbers in the vector mathematics: minimax polynomials, constant term first, and constants in parts.

A table is an attribute, ``EXP["f64"]``; the first that is asked for reads them all from `coefficients.json`,
which `tests/compile/vecmath/coefficients.py` writes. That says how they are found.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

Table = dict[str, tuple[float, ...]]


@cache
def tables() -> dict[str, Table]:
    """All tables by name: for each format of numbers, what it holds."""
    text = (files(__package__) / "coefficients.json").read_text(encoding="utf-8")
    return {
        name: {format: tuple(numbers) for format, numbers in table.items()}
        for name, table in json.loads(text).items()
    }


def __getattr__(name: str) -> Table:
    try:
        return tables()[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
