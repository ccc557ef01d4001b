"""Generators of random numbers under `jit`: their numbers are drawn once, while the function is recorded.

That is right for a generator that the function makes from a seed, at every call the same. One that was made
outside goes on from call to call, and is refused: its numbers would be those of the first call for ever. What
a block does to a generator is the concern of `funcgrad.api.python.changing`.
"""

from __future__ import annotations

import datetime as dt
import random
import sys
import time
from collections.abc import Callable
from types import BuiltinMethodType, FunctionType
from typing import Any

import numpy as np

from funcgrad.api.calling.arguments import here
from funcgrad.api.python.blocks.recording import note_made, refuse_change
from funcgrad.api.python.guarded.guards import current_guards, made_while_recording, note_made_while_recording
from funcgrad.api.python.guarded.kept import DRAWN_OUTSIDE, note_clock, note_own, note_seeded, watch_from_now
from funcgrad.api.python.guarded.watched import generator_classes
from funcgrad.errors import ConcretizationError
from funcgrad.tracing.kinds import numpys_random
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
    if not isinstance(owner, generator_classes()):
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


_ENTROPY = {
    "urandom": "os",
    **dict.fromkeys(["uuid1", "uuid4"], "uuid"),
    **dict.fromkeys(["randbelow", "token_bytes", "token_hex", "token_urlsafe"], "secrets"),
}
"""Functions that ask the system for random numbers by name, and their modules, which need not be imported."""
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


def check_read(function: Anything) -> None:
    """Raise ConcretizationError where a function under `jit` asks the system for random numbers, or the user.

    One that reads a clock is recorded again, to see whether the result depends on it.
    """
    if type(function) not in (FunctionType, BuiltinMethodType) or current_guards() is None:
        return
    if function in _CLOCKS:
        note_clock()
    elif asks_for_entropy(function):
        raise unseeded(f"{function.__name__}()")
    elif function is input:
        raise ConcretizationError(
            "input() asks once, while this function is recorded: every call would have the first answer",
            source=here(),
            remedy="Ask outside and pass the answer as an argument.",
        )


def asks_for_entropy(function: Anything) -> bool:
    """Whether it is one of those that ask the system for random numbers."""
    name = function.__name__
    module = _ENTROPY.get(name)
    return module is not None and getattr(sys.modules.get(module), name, None) is function


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
    shared = any(isinstance(x, generator_classes()) and not made_while_recording(x) for x in given)
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


def seeded_classes() -> tuple[type, ...]:
    """The classes whose objects are made of seeds."""
    found = numpys_random()
    return generator_classes() if found is None else (*generator_classes(), found.SeedSequence)


def seeding_instead(function: object) -> Callable[..., Any] | None:
    """What is called instead of a function that makes or seeds generators; None for others."""
    found = numpys_random()
    if found is None:
        return None
    return make_generator if function is found.default_rng else seed if function is found.seed else None


def note_generator(x: object, unseeded: bool) -> object:
    """Remember that `x` was made by the function which is being compiled, if it draws random numbers.

    One that is `unseeded` counts as made outside.
    """
    if unseeded:
        watch_from_now(x)
        return x
    if isinstance(x, generator_classes()):
        note_made_while_recording(x)
    return note_made(note_own(x))
