"""Generators of random numbers under `jit`: their numbers are drawn once, while the function is recorded.

That is right for a generator that the function makes from a seed, at every call the same. One that was made
outside goes on from call to call, and is refused: its numbers would be those of the first call for ever. What
a block does to a generator is the concern of `funcgrad.api.python.changing`.
"""

from __future__ import annotations

import datetime as dt
import os
import random
import secrets
import time
import uuid
from collections.abc import Callable
from types import BuiltinMethodType, FunctionType
from typing import Any

import numpy as np

from funcgrad.api.calling.arguments import here
from funcgrad.api.python.blocks.recording import note_made, refuse_change
from funcgrad.api.python.guarded.guards import current_guards, made_while_recording, note_made_while_recording
from funcgrad.api.python.guarded.kept import DRAWN_OUTSIDE, note_clock, note_own, note_seeded, watch_from_now
from funcgrad.api.python.guarded.watched import GENERATORS
from funcgrad.errors import ConcretizationError
from funcgrad.types import Anything

_DRAWING = frozenset(["rvs", "resample", "sample"])
"""Methods of SciPy's and pandas' that draw from the generator of all, or from one that they are given."""


def check_draw(function: Anything) -> None:
    """Raise ConcretizationError where a method draws from a generator made outside of `jit`.

    Raises TracedBranchError within a block for methods of packages that draw.
    """
    owner, name = function.__self__, function.__name__
    if name in _DRAWING and type(owner).__module__.partition(".")[0] in ("scipy", "pandas"):
        refuse_change(owner, f"random numbers are drawn ({name})")
    if not isinstance(owner, GENERATORS):
        return
    if name == "seed":
        note_made_while_recording(owner)
        note_seeded(owner)
    if not made_while_recording(owner):
        raise ConcretizationError(
            f"{name}() draws from a generator that was made outside of this function, or from no seed, and "
            "recorded it is called once: every call would see the numbers of the first",
            source=here(),
            remedy=DRAWN_OUTSIDE,
        )


_ENTROPY = frozenset(
    [
        *(os.urandom, uuid.uuid1, uuid.uuid4, secrets.randbelow),
        *(secrets.token_bytes, secrets.token_hex, secrets.token_urlsafe),
    ]
)
_CLOCKS = frozenset(
    [
        *(
            time.time,
            time.time_ns,
            time.monotonic,
            time.monotonic_ns,
            time.perf_counter,
            time.perf_counter_ns,
        ),
        *(time.process_time, time.process_time_ns, time.localtime, time.gmtime, time.ctime),
        *(dt.datetime.now, dt.datetime.utcnow, dt.datetime.today, dt.date.today),
    ]
)


def check_read(function: object) -> None:
    """Raise ConcretizationError where a function under `jit` asks the system for random numbers, or the user.

    One that reads a clock is recorded again, to see whether the result depends on it.
    """
    if type(function) not in (FunctionType, BuiltinMethodType) or current_guards() is None:
        return
    if function in _CLOCKS:
        note_clock()
    elif function in _ENTROPY:
        raise unseeded(f"{function.__name__}()")
    elif function is input:
        raise ConcretizationError(
            "input() asks once, while this function is recorded: every call would have the first answer",
            source=here(),
            remedy="Ask outside and pass the answer as an argument.",
        )


def is_unseeded(kind: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a function under `jit` makes a generator that may not be drawn from: its seed is nobody's.

    Nor may one that shares the numbers of such a generator. Raises ConcretizationError for sequences of seeds
    from nothing, whose numbers are there to be read.
    """
    if current_guards() is None:
        return False
    given = [x for x in (*args, *kwargs.values()) if x is not None]
    if not given and issubclass(kind, np.random.SeedSequence):
        raise unseeded(f"{kind.__name__}()")
    shared = any(isinstance(x, GENERATORS) and not made_while_recording(x) for x in given)
    return not given or shared or issubclass(kind, random.SystemRandom)


def unseeded(what: str) -> ConcretizationError:
    """The error for numbers that are others in every process."""
    return ConcretizationError(
        f"{what} takes its numbers from the system, and under fg.jit it is called once: every call would see "
        "those of the first",
        source=here(),
        remedy=DRAWN_OUTSIDE,
    )


def make_generator(*args: Anything, **kwargs: Anything) -> object:
    """``np.random.default_rng``, which makes a generator that may then be drawn from."""
    found = np.random.default_rng(*args, **kwargs)
    if any(x is found for x in args):
        return found
    return note_generator(found, is_unseeded(np.random.Generator, args, kwargs))


def seed(seed: Anything = None) -> None:
    """``np.random.seed``, after which the generator of all gives the same numbers at every call."""
    generator: Any = np.random.normal.__self__  # type: ignore[attr-defined]
    refuse_change(generator, "the generator of random numbers is seeded")
    note_made_while_recording(generator)
    note_seeded(generator)
    np.random.seed(seed)  # noqa: NPY002 - it is what the user calls


INSTEAD: dict[Any, Callable[..., Any]] = {np.random.default_rng: make_generator, np.random.seed: seed}
"""Functions that make or seed generators, and what is called instead of them."""


def note_generator(x: object, unseeded: bool) -> object:
    """Remember that `x` was made by the function which is being compiled, if it draws random numbers.

    One that is `unseeded` counts as made outside.
    """
    if unseeded:
        watch_from_now(x)
        return x
    if isinstance(x, GENERATORS):
        note_made_while_recording(x)
    return note_made(note_own(x))
