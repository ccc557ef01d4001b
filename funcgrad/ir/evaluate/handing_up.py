"""When a Program that is evaluated again and again should become something faster.

Owns the place where a layer above says how; knows nothing of compiling. Without such a layer nothing happens.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from funcgrad.ir.program import Program

Run = Callable[..., tuple[Any, ...]]


class Compiler(Protocol):
    """What can make Programs fast."""

    def __call__(self, program: Program, spent: float) -> tuple[Run | None, float]:
        """The fast form, or None and the seconds of evaluation after which to ask again."""


class Promotion:
    """Who is asked, and when first."""

    __slots__ = ("compiler", "first")

    def __init__(self) -> None:
        self.compiler: Compiler | None = None
        self.first = 0.01
        """Seconds that a Program may be evaluated before the first question."""

    def offer(self, program: Program, spent: float) -> tuple[Run | None, float]:
        """Ask whether a Program that has been evaluated for so many seconds has a faster form."""
        return (None, float("inf")) if self.compiler is None else self.compiler(program, spent)


PROMOTION = Promotion()
