"""What a word of the kernel language is: name, types, meaning, and what it becomes in each engine.

Nothing here knows LLVM, llvmlite or Numba: an engine hands in what its instructions are written with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from funcgrad.compile.language.values import Type, Value, View, is_complex, is_float, promoted, unified

Known = int | float | bool | None


class Signature(NamedTuple):
    """The types that arguments are converted to, and that of the result (``none`` where there is none)."""

    arguments: tuple[Type, ...]
    result: Type


class Types(NamedTuple):
    """A rule for the types of a word, with the words that say it."""

    words: str
    rule: Callable[[Sequence[Type], Sequence[Known]], Signature | None]


Instructions: TypeAlias = Any
"""What instructions are written with: the direct engine's `Writer`, the Numba engine's `Lowering`."""

Built: TypeAlias = Any
"""A value of LLVM's that the Numba engine has built."""

Direct = Callable[[Instructions, Sequence[Value]], Value]
"""Writes the word in LLVM's assembly, given the direct engine's `Writer`."""

Lowered = Callable[[Instructions, Sequence[Built], Signature], Built]
"""Builds the word's instructions, given the `Lowering` of the Numba engine and converted arguments."""


class Elements(NamedTuple):
    """An array for a sample: the type of its elements, and their values."""

    kind: str
    values: tuple[complex, ...]


class Sample(NamedTuple):
    """A word at work: a statement on arrays ``a``, ``b``, ... that sets elements of ``out``."""

    statement: str
    arrays: tuple[Elements, ...]
    out: str = "f64"
    addresses: tuple[Callable[[], int], ...] = ()
    """Numbers ``n[1]``, ``n[2]``, ... that are addresses in this process."""


@dataclass(frozen=True, slots=True)
class Word:
    """One row of the kernel language."""

    name: str
    types: Types
    python: Callable[..., Any] = field(repr=False)
    """What it means: a function that CPython runs."""
    direct: Direct = field(repr=False)
    lowered: Lowered = field(repr=False)
    samples: tuple[Sample, ...] = field(default=(), repr=False)

    @property
    def summary(self) -> str:
        """One sentence about it."""
        return (self.python.__doc__ or "").strip().split("\n")[0]


def kinds(words: str) -> Callable[[Callable[..., Signature | None]], Types]:
    """Names the rule for types that a function is."""

    def rule(function: Callable[..., Signature | None]) -> Types:
        return Types(words, function)

    return rule


@kinds("f, f, ... -> f: the wider of float32 and float64; wide integers count as float64")
def REALS(given: Sequence[Type], known: Sequence[Known]) -> Signature | None:
    """All arguments as the floating-point type that they promote to."""
    kind = "f32"
    for one in given:
        if not isinstance(one, str) or is_complex(one):
            return None
        kind = promoted(kind, one)
    return Signature((kind,) * len(given), kind)


@kinds("f, x -> f: the first floating-point type")
def LIKE_FIRST(given: Sequence[Type], known: Sequence[Known]) -> Signature | None:
    """Two arguments of the type of the first, which is a real floating-point type."""
    if len(given) != 2 or not is_float(given[0]) or not isinstance(given[1], str):
        return None
    return Signature((given[0], given[0]), given[0])


@kinds("bool, x, x -> x")
def CHOSEN(given: Sequence[Type], known: Sequence[Known]) -> Signature | None:
    """A condition and two numbers of one type; a number that is written out takes the type of the other."""
    if len(given) != 3 or any(isinstance(kind, View) for kind in given):
        return None
    _, x, y = given
    kind = x if x == y or known[2] is not None else y
    if x != y and known[1] is None and known[2] is None:
        kind = unified(x, y)
    return Signature(("bool", kind, kind), kind)


def fixed(*arguments: Type, result: Type) -> Types:
    """The rule of a word that has one type."""
    words = f"{', '.join(map(str, arguments))} -> {result}"

    def rule(given: Sequence[Type], known: Sequence[Known]) -> Signature | None:
        return Signature(arguments, result) if len(given) == len(arguments) else None

    return Types(words, rule)
