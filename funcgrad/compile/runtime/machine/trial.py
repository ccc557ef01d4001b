"""A kernel that gives back what it is given: the call is tried with it before it is trusted."""

from __future__ import annotations

from funcgrad.compile.runtime.machine.words import memcpy, peek


def trial(p: int, n: int) -> None:
    """Copy each buffer of the table's first half to the second; ``n`` has their number and their bytes."""
    count = peek(n)
    for k in range(count):
        memcpy(peek(p + 8 * (count + k)), peek(p + 8 * k), peek(n + 8 * (k + 1)))
