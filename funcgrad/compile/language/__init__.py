"""The kernel language, for text that is pasted into a file: ``from funcgrad.compile.language import *``.

What is imported are functions that CPython runs and that functions under ``numba.njit`` may call: one for
each row of `rows`, with `table` and `sizes`, which make the two arguments of a kernel. Importing one of
them makes them known to Numba; importing this module alone imports neither Numba nor LLVM.
"""

from __future__ import annotations

from funcgrad.compile.language.pointers import sizes, table
from funcgrad.compile.language.rows import CONSTANTS, WORDS
from funcgrad.types import Anything

__all__ = [*sorted(WORDS), *CONSTANTS, "sizes", "table"]  # noqa: PLE0604 - the names of the rows


def __getattr__(name: str) -> Anything:
    if name in CONSTANTS:
        return CONSTANTS[name]
    if name in WORDS:
        # Whoever takes a word out of here may write it under numba.njit.
        from funcgrad.compile.engines.numba.known import known_to_numba  # noqa: PLC0415 - imports Numba

        known_to_numba()
        return WORDS[name].python
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
