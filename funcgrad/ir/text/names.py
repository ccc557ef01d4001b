"""Names for the variables of a Program: the user's for its inputs, short invented ones for the rest.

The same Program gets the same names every time, whether it is printed, written as NumPy source, or cited
in an error. Knows nothing of how a Program is laid out.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, count, product

from funcgrad.ir.program import Program, Var

_WORDS_OF_THE_TEXT = ("program", "captured", "return", "nan", "inf", "complex")
_NAMES_IN_THE_SOURCE = ("np", "numpy", "funcgrad", "primitive", "captured_array", "parse")
_NAMES_IN_EXPRESSIONS = ("slice", "float", "int", "bool", "_out")
RESERVED = frozenset((*_WORDS_OF_THE_TEXT, *_NAMES_IN_THE_SOURCE, *_NAMES_IN_EXPRESSIONS))
"""What a variable may not be called: words of the printed text, and names that the NumPy source uses."""

_DTYPE = re.compile(r"[fciu]\d+")
"""Names of Programs stand where names of dtypes may stand, so they must differ."""

_LETTERS = "abcdefghijkmnopqrstuvwxyz"
"""Without l, which is too easily read as 1."""


def is_usable(name: str) -> bool:
    """Whether a variable or a Program may be called this.

    >>> is_usable("w"), is_usable("σ"), is_usable("lambda"), is_usable("np"), is_usable("x.0")
    (True, True, False, False, False)
    """
    # Python reads identifiers in normal form, so two that are written differently may be one.
    return (
        name.isidentifier()
        and not keyword.iskeyword(name)
        and name not in RESERVED
        and (name.isascii() or unicodedata.normalize("NFKC", name) == name)
    )


class Names:
    """Names handed out so far; never the same one twice."""

    __slots__ = ("_invented", "_taken")

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._invented = chain(shortest_names(), chain.from_iterable(map(free_names, count(3))))

    def invented(self) -> str:
        """The next short name that is free."""
        for name in self._invented:
            if name not in self._taken:
                break
        self._taken.add(name)
        return name

    def distinct(self, wanted: str) -> str:
        """The wanted name, numbered if it is taken.

        >>> names = Names()
        >>> names.distinct("x"), names.distinct("x"), names.distinct("x")
        ('x', 'x_2', 'x_3')
        """
        name = wanted
        numbers = count(2)
        while name in self._taken:
            name = f"{wanted}_{next(numbers)}"
        self._taken.add(name)
        return name

    def of_program(self, program: Program) -> str:
        """The Program's own name, numbered if it is taken, made usable if it is no identifier."""
        name = program.name
        if not is_usable(name) or _DTYPE.fullmatch(name):
            letters = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
            name = f"{letters}_" if letters and is_usable(f"{letters}_") else "function"
        return self.distinct(name)


def free_names(length: int) -> Iterator[str]:
    """The names of so many plain letters that variables may have, in their order."""
    every = map("".join, product(_LETTERS, repeat=length))
    return (name for name in every if name not in RESERVED and not keyword.iskeyword(name))


@cache
def shortest_names() -> tuple[str, ...]:
    """Those of one and of two letters, which most Programs need no more than.

    >>> shortest_names()[22:27]
    ('x', 'y', 'z', 'aa', 'ab')
    """
    return *free_names(1), *free_names(2)


def variable_names(program: Program, taken: Iterable[str] = ()) -> dict[Var, str]:
    """A name for every variable: hints for inputs and captured arrays, invented ones for all others.

    Variables that an ill-formed Program uses without defining them are named too.
    """
    names = Names(taken)
    heads = [*program.inputs, *(v for v, _ in program.captured)]
    found: dict[Var, str] = {}
    for v in heads:
        if v not in found and is_usable(v.hint):
            found[v] = names.distinct(v.hint)
    for v in heads:
        if v not in found:
            found[v] = names.invented()
    for equation in program.equations:
        for atoms in (equation.inputs, equation.outputs):
            for atom in atoms:
                if type(atom) is Var and atom not in found:
                    found[atom] = names.invented()
    for atom in program.outputs:
        if isinstance(atom, Var) and atom not in found:
            found[atom] = names.invented()
    return found
