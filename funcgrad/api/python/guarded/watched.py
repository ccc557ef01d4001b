"""What a recorded function can reach outside of itself and change as it runs: arrays, generators, iterators.

A recording runs Python once, so what it does to these would happen once. No list of the functions that write
is needed: an array is compared with what it was, a generator of random numbers with where it stood.
"""

from __future__ import annotations

import itertools
import operator
import random
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from io import IOBase
from types import BuiltinMethodType, CodeType, FunctionType, GeneratorType, MethodWrapperType, ModuleType
from typing import Any

import numpy as np

from funcgrad.api.python.guarded.generator_bytes import standing_bytes
from funcgrad.tracing.kinds import numpys_random
from funcgrad.tracing.overwriting import may_write
from funcgrad.tracing.python.inside import INSIDE
from funcgrad.tracing.recorder import writeable_memory
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything

LARGE = 1 << 16
"""Bytes up to which an array is watched whatever the code says; larger ones where it may write arrays."""
_DEPTH, _ELEMENTS = 3, 64


def generator_classes() -> tuple[type, ...]:
    """The classes of generators of random numbers of which there can be objects."""
    found = numpys_random()
    theirs = () if found is None else (found.Generator, found.RandomState, found.BitGenerator)
    return (*theirs, random.Random)


def global_generators() -> tuple[Any, ...]:
    """Those that `np.random` and `random` draw from."""
    found = numpys_random()
    pythons: Any = random.random.__self__  # type: ignore[attr-defined]
    return (pythons,) if found is None else (found.normal.__self__, pythons)


class Watched:
    """An array or a generator, and what it was when it was first met."""

    __slots__ = ("before", "x")

    def __init__(self, x: Anything) -> None:
        self.x = x
        self.before: object = self.now()

    @property
    def is_array(self) -> bool:
        """Whether it is an array."""
        return isinstance(self.x, np.ndarray)

    def now(self) -> object:
        """What it holds: bytes where they are few, and a checksum of more; where a generator stands."""
        x = self.x
        if isinstance(x, np.ndarray):
            return x.tobytes() if x.nbytes <= LARGE else zlib.crc32(x.tobytes())
        return place_of(x)

    def moved(self) -> bool:
        """Whether it is another than it was."""
        return bool(self.now() != self.before)

    def put_back(self) -> None:
        """Have a small array hold what it did."""
        if self.is_array and isinstance(self.before, bytes) and not self.x.dtype.hasobject:
            np.copyto(self.x, np.frombuffer(self.before, self.x.dtype).reshape(self.x.shape))

    def scramble(self) -> None:
        """Change every element of the array, to one that most code takes."""
        if not self.x.dtype.hasobject:
            zero = np.zeros((), self.x.dtype)
            numeric = self.x.dtype.kind in "biufc"
            np.copyto(self.x, np.where(self.x == zero, zero + 1, zero) if numeric else zero, casting="unsafe")


def place_of(generator: Anything) -> object:
    """Where a generator of random numbers stands."""
    found = standing_bytes(generator)
    if found is not None:
        return found
    if isinstance(generator, random.Random):
        try:
            return generator.getstate()
        except NotImplementedError:  # of the operating system, which stands nowhere
            return None
    if isinstance(generator, np.random.RandomState):
        return repr_of_state(generator.get_state(legacy=False))
    bits = generator.bit_generator if isinstance(generator, np.random.Generator) else generator
    return repr_of_state(bits.state)


def repr_of_state(state: object) -> object:
    """A state of NumPy's generators as something that can be compared."""
    if isinstance(state, dict):
        return tuple([repr_of_state(x) for x in state.values()])
    return state.tobytes() if isinstance(state, np.ndarray) else state


def met(values: Iterable[Any], function: FunctionType) -> Iterator[Any]:
    """The arrays, generators and iterators among values, their elements and their attributes.

    Those of modules are what the function names. Containers are gone into as far as they are short.
    """
    names = every_name(function.__code__)
    writes: bool | None = None
    waiting, seen = deque([(x, _DEPTH) for x in values]), set[int]()
    while waiting:
        x, depth = waiting.popleft()
        if isinstance(x, np.ndarray):
            if is_watched(x):
                if x.nbytes > LARGE and writes is None:
                    writes = may_write(function)
                if x.nbytes <= LARGE or writes:
                    yield x
        elif isinstance(x, (*generator_classes(), Iterator)):
            yield x
        elif depth and id(x) not in seen:
            seen.add(id(x))
            waiting.extend([(y, depth - 1) for y in inside(x, names)])


@lru_cache(maxsize=1024)
def every_name(code: CodeType) -> tuple[str, ...]:
    """The global names and attributes that code names, in functions that are defined in it too."""
    inner = [name for x in code.co_consts if isinstance(x, CodeType) for name in every_name(x)]
    return tuple(dict.fromkeys((*code.co_names, *inner)))


def standing(x: object) -> tuple[Any, ...]:
    """Where an iterator is, as far as that can be seen without advancing it."""
    if isinstance(x, GeneratorType):
        frame = x.gi_frame
        return () if frame is None else (frame.f_lasti, *frame.f_locals.values())
    return operator.length_hint(x, -1), repr(x) if isinstance(x, itertools.count) else ""


def is_same_standing(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether an iterator is where it was."""
    return len(one) == len(other) and all(
        x is y or (isinstance(x, int | str) and x == y) for x, y in zip(one, other, strict=True)
    )


def is_watched(x: object) -> bool:
    """Whether a write into the array would be one into memory of somebody else's."""
    return not INSIDE.is_open(x) and writeable_memory(x)


def inside(x: Anything, names: tuple[str, ...]) -> Iterable[Any]:
    """What is in a container, a module or an object of the user's."""
    if isinstance(x, ModuleType):
        own = vars(x)
        if "random" in (x.__name__, *names) and x.__name__ in ("random", "numpy", "numpy.random"):
            return global_generators()
        return [own[name] for name in names if isinstance(own.get(name), np.ndarray | Iterator)]
    if isinstance(x, BuiltinMethodType | MethodWrapperType):
        return [x.__self__]
    found: Any = () if isinstance(x, type | FunctionType | Tracer | IOBase) else elements(x)
    return [*found] if len(found) <= _ELEMENTS else ()  # other threads may add to it meanwhile


def elements(x: Anything) -> Anything:
    """The elements of a container, or the attributes of an object of the user's."""
    if isinstance(x, list | tuple | deque):
        return x
    if isinstance(x, dict):
        return x.values()
    own = getattr(x, "__dict__", None)
    return own.values() if type(own) is dict and not type(x).__module__.startswith("funcgrad") else ()
