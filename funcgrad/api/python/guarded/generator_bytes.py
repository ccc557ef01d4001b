"""Where the usual generators of random numbers stand, as the bytes of their objects.

Asking NumPy's for its state takes 50 µs and Python's 8, and a recording asks each twice. CPython and NumPy
keep the state within the objects: reading those takes one. That it is so is tried once for each class, on a
generator of its own; where it is not, the state is asked for.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

from funcgrad.tracing.kinds import numpys_random
from funcgrad.types import Anything

if TYPE_CHECKING:
    from numpy.random import RandomState

HEAD = object.__basicsize__
"""The bytes of an object that say who holds it, and its class."""

OF_WORDS = 625 * 4
"""The bytes of 624 words of 32 bits, and of the number of those that have been used."""


def standing_bytes(generator: Anything) -> object:
    """What is another whenever the generator has moved; None where only its state says so."""
    found = numpys_random()
    if type(generator) is Random:
        return of_python(generator) if lies_within_pythons() else None
    if found is not None and type(generator) is found.RandomState and lies_within_numpys():
        return of_numpy(generator)
    return None


def of_python(generator: Random) -> object:
    """The words of Python's generator, and the number that it has in hand."""
    return bytes_of(generator, Random.__mro__[1]), vars(generator)["gauss_next"]


def of_numpy(generator: RandomState) -> object:
    """The words of NumPy's, if they are those of its own kind of bits, and what it has in hand."""
    bits = generator._bit_generator
    if type(bits).__name__ != "MT19937":
        return None
    return bytes_of(generator, type(generator)), ctypes.string_at(bits.ctypes.state_address, OF_WORDS)


def bytes_of(x: object, cls: type) -> bytes:
    """What an object holds, of what its class has given it place for."""
    return ctypes.string_at(id(x) + HEAD, cls.__basicsize__ - HEAD)


@cache
def lies_within_pythons() -> bool:
    """Whether the bytes of a generator of Python's say where it stands."""
    drawn = Random()
    return says_where(drawn.seed, (drawn.random, lambda: drawn.gauss(0.0, 1.0)), lambda: of_python(drawn))


@cache
def lies_within_numpys() -> bool:
    """The same for one of NumPy's, of whose normal numbers every second is in hand already."""
    drawn = numpys_random().RandomState(0)
    return says_where(drawn.seed, (drawn.random_sample, drawn.normal, drawn.normal), lambda: of_numpy(drawn))


def says_where(
    seed: Callable[[int], object], draws: Sequence[Callable[[], object]], place: Callable[[], object]
) -> bool:
    """Whether a place is another after each draw, and the same after the same seed and draws."""
    if sys.implementation.name != "cpython":
        return False
    rounds: list[list[object]] = []
    for _ in range(2):
        seed(0)
        rounds.append([place()])
        for draw in draws:
            draw()
            rounds[-1].append(place())
    return None not in rounds[0] and rounds[0] == rounds[1] and all(x != y for x, y in pairwise(rounds[0]))
