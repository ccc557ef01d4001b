"""Generators of random numbers under `jit`: their numbers are drawn once, while the function is recorded.

That is right for a generator that the function makes from a seed, at every call the same. One that was made
outside goes on from call to call, and is refused: its numbers would be those of the first call for ever. What
a block does to a generator is the concern of `funcgrad.api.python.changing`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.api.arguments import here
from funcgrad.api.python.guards import made_while_recording, note_made_while_recording
from funcgrad.api.python.recording import note_made, refuse_change
from funcgrad.errors import ConcretizationError

__all__ = ["GENERATORS", "INSTEAD", "check_draw", "note_generator"]

GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)
_DRAWING = frozenset(["rvs", "resample", "sample"])
"""Methods of SciPy's and pandas' that draw from the generator of all, or from one that they are given."""


def check_draw(function: Any) -> None:
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
    if not made_while_recording(owner):
        raise ConcretizationError(
            f"{name}() draws from a generator that was made outside of this function, and under fg.jit it is "
            "called once: every call would see the numbers of the first",
            source=here(),
            remedy="Draw outside and pass the numbers as an argument, make the generator inside from a seed, "
            "or draw by fg.random with a key.",
        )


def make_generator(*args: Any, **kwargs: Any) -> Any:
    """``np.random.default_rng``, which makes a generator that may then be drawn from."""
    found = np.random.default_rng(*args, **kwargs)
    return found if any(x is found for x in args) else note_made(note_generator(found))


def seed(seed: Any = None) -> None:
    """``np.random.seed``, after which the generator of all gives the same numbers at every call."""
    generator: Any = np.random.normal.__self__  # type: ignore[attr-defined]
    refuse_change(generator, "the generator of random numbers is seeded")
    note_made_while_recording(generator)
    np.random.seed(seed)  # noqa: NPY002 - it is what the user calls


INSTEAD: dict[Any, Callable[..., Any]] = {np.random.default_rng: make_generator, np.random.seed: seed}
"""Functions that make or seed generators, and what is called instead of them."""


def note_generator(x: Any) -> Any:
    """Remember that `x` was made by the function which is being compiled, if it draws random numbers."""
    if isinstance(x, GENERATORS):
        note_made_while_recording(x)
    return x
