"""The kernel language: one row for each word.

The direct engine's translator, the functions that the Numba engine knows, the names that kernels may not use
otherwise, the page about the language and its tests are all derived from these rows.
"""

from __future__ import annotations

import math

from funcgrad.compile.language.arithmetic import ARITHMETIC_WORDS
from funcgrad.compile.language.calls import CALL_WORDS
from funcgrad.compile.language.elementary import ELEMENTARY_WORDS
from funcgrad.compile.language.memory import MEMORY_WORDS
from funcgrad.compile.language.numbers import NUMBER_WORDS
from funcgrad.compile.language.whole_numbers import WHOLE_WORDS
from funcgrad.compile.language.word import Word

WORDS: dict[str, Word] = {
    word.name: word
    for words in (NUMBER_WORDS, ARITHMETIC_WORDS, MEMORY_WORDS, CALL_WORDS, WHOLE_WORDS, ELEMENTARY_WORDS)
    for word in words
}
"""Every word by name."""

CONSTANTS: dict[str, float] = {"NAN": math.nan, "INF": math.inf}
"""Numbers that have a name."""

OF_PYTHON = ("range", "min", "max", "complex", "abs")
"""Python's own functions that kernels use, as Numba knows them."""

NAMES: tuple[str, ...] = (*WORDS, *CONSTANTS, *OF_PYTHON)
"""Every name that kernel text may use without defining it."""
