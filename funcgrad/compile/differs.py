"""What this process has otherwise than machine code expects: an error inside, one warning outside."""

from __future__ import annotations

import warnings


class Differs(Exception):
    """Something in this process is not as machine code expects; the words say what."""


class UnfamiliarWarning(UserWarning):
    """Python, NumPy or llvmlite differ from those known: something is slower, results are the same."""


_SAID: set[str] = set()


def say(what: str) -> None:
    """Tell the user once what differed, and what is done about it."""
    if what in _SAID:
        return
    # Noted first: where warnings are errors, the next call goes on.
    _SAID.add(what)
    warnings.warn(f"funcgrad: {what}.", UnfamiliarWarning, stacklevel=2)


def say_portable(what: str) -> None:
    """Tell the user why calls take the portable way."""
    say(f"{what}: compiled functions are called through ctypes, which takes some ten microseconds more")
