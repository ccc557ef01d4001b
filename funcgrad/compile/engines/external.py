"""Functions that emitted source may call and that are defined in LLVM assembly or by the process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["External", "Overload"]


@dataclass(frozen=True, slots=True)
class Overload:
    """One C function: its symbol, and the types of its arguments and result as the views name them.

    Beside the numbers there is ``ptr``, and ``none`` for a result that is not.
    """

    symbol: str
    arguments: tuple[str, ...]
    result: str


@dataclass(frozen=True, slots=True)
class External:
    """A function by the name it has in emitted source, with an overload for each type it is written for."""

    name: str
    overloads: tuple[Overload, ...]
    attributes: str = ""
    """What LLVM may assume of a call by address."""

    def __call__(self, *arguments: object) -> int:
        """Refuse: only compiled code calls it."""
        raise TypeError(f"{self.name} is called by compiled code only")

    def overload(self, kinds: Sequence[str], weight: Callable[[str, str], int | None]) -> Overload | None:
        """The overload whose arguments are nearest, by the weight of converting each."""
        best: tuple[int, Overload] | None = None
        for candidate in self.overloads:
            if len(candidate.arguments) != len(kinds):
                continue
            weights = [weight(given, want) for given, want in zip(kinds, candidate.arguments, strict=True)]
            if None in weights:
                continue
            total = sum(known for known in weights if known is not None)
            if best is None or total < best[0]:
                best = total, candidate
        return None if best is None else best[1]
