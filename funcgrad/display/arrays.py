"""Arrays in a few words: their elements where they are few, else their range and the first of them."""

from __future__ import annotations

import numpy as np

from funcgrad.ir.text.spelling import captured_text
from funcgrad.types import Array, Number

__all__ = ["array_words", "number_words"]

FEW = 6
"""Elements that are all written."""
FIRST = 3
"""Elements that are written of more."""
MOST_SCANNED = 1 << 24
"""Of arrays with more elements than this, the range is not looked for."""


def array_words(value: object) -> str:
    """What a captured array holds.

    >>> array_words(np.arange(4.0))
    '[0, 1, 2, 3]'
    >>> array_words(np.linspace(-1.0, 1.0, 201))
    '-1 to 1, first -1, -0.99, -0.98'
    >>> array_words(np.zeros((10, 10)))
    'all 0'
    """
    if not isinstance(value, np.ndarray | np.generic):
        return captured_text(value)  # a value of a trace that is still open
    array = np.asarray(value)
    if array.size <= FEW:
        return _few(array)
    if array.dtype.kind not in "biufc" or array.size > MOST_SCANNED:
        return _first(array)
    return _many(array)


def number_words(number: Number) -> str:
    """A number, shortened.

    >>> number_words(np.float32(0.1)), number_words(1234567.0), number_words(np.True_)
    ('0.1', '1.23457e+06', 'True')
    """
    number = np.asarray(number)[()]
    if isinstance(number, np.floating | np.complexfloating | float | complex):
        return f"{number:.6g}" if not isinstance(number, np.complexfloating) else f"{complex(number):.6g}"
    return str(number)


def _few(array: Array) -> str:
    if array.ndim == 0:
        return number_words(array)
    return f"[{', '.join([_few(part) for part in array])}]"


def _first(array: Array) -> str:
    return f"first {', '.join([number_words(x) for x in array.flat[:FIRST]])}"


def _many(array: Array) -> str:
    kind = array.dtype.kind
    if kind == "b":
        return f"{np.count_nonzero(array)} of {array.size} true, {_first(array)}"
    size = np.abs(array) if kind == "c" else array
    known = size[np.isfinite(size)] if kind in "fc" else size
    missing = array.size - known.size
    if not known.size:
        return f"no finite number, {_first(array)}"
    low, high = known.min(), known.max()
    if low == high and not missing and kind != "c":
        return f"all {number_words(low)}"
    words = f"{'absolute values ' if kind == 'c' else ''}{number_words(low)} to {number_words(high)}"
    return f"{words}{f', {missing} not finite' if missing else ''}, {_first(array)}"
