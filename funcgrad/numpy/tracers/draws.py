"""Draws of NumPy's generators with traced parameters: the same numbers, as standard ones moved and scaled.

So parameters keep their gradient along the samples. What has no such form stays refused, and says so.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np

from funcgrad.later import Later
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.tracing.kinds import is_generator
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Anything, Array, ArrayLike, Number, Result, ShapeLike

# Whether a function draws is asked of every one that is called; who draws has these.
opening = Later("funcgrad.numpy.tracers.open_arrays")

Draw = Callable[..., Any]


def shape_for(size: ShapeLike, *parameters: ArrayLike) -> ShapeLike:
    """The size that is asked for, or that of the parameters; None for one number."""
    return size if size is not None else np.broadcast_shapes(*[shape_of(p) for p in parameters]) or None


def by_place_and_scale(name: str) -> Callable[..., Any]:
    """A distribution that its two parameters move and scale."""

    def draw(
        generator: Anything, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: ShapeLike = None
    ) -> Result:
        loc, scale = asoperand(loc), asoperand(scale)
        return loc + scale * getattr(generator, name)(0.0, 1.0, shape_for(size, loc, scale))

    return draw


def by_scale(name: str) -> Callable[..., Any]:
    """A distribution that its parameter scales."""

    def draw(generator: Anything, scale: ArrayLike = 1.0, size: ShapeLike = None) -> Result:
        scale = asoperand(scale)
        return scale * getattr(generator, name)(1.0, shape_for(size, scale))

    return draw


def uniform(
    generator: np.random.Generator, low: Number = 0.0, high: Number = 1.0, size: ShapeLike = None
) -> Array:
    """Between two traced ends."""
    low, high = asoperand(low), asoperand(high)
    return low + (high - low) * generator.uniform(0.0, 1.0, shape_for(size, low, high))


def lognormal(
    generator: np.random.Generator, mean: ArrayLike = 0.0, sigma: Number = 1.0, size: ShapeLike = None
) -> Array:
    """The exponential of normal numbers."""
    mean, sigma = asoperand(mean), asoperand(sigma)
    return np.exp(mean + sigma * generator.normal(0.0, 1.0, shape_for(size, mean, sigma)))


DRAWN: dict[str, Callable[..., Any]] = {
    "normal": by_place_and_scale("normal"),
    "laplace": by_place_and_scale("laplace"),
    "gumbel": by_place_and_scale("gumbel"),
    "logistic": by_place_and_scale("logistic"),
    "exponential": by_scale("exponential"),
    "rayleigh": by_scale("rayleigh"),
    "uniform": uniform,
    "lognormal": lognormal,
}
"""By the name of the method, how it is drawn with traced parameters."""


STANDARD = frozenset(["rand", "randn", "random", "random_sample", "standard_exponential", "standard_normal"])
"""Methods that draw from laws without parameters."""


def is_draw(method: MethodType) -> bool:
    """Whether it is a method that draws floating-point numbers."""
    name = getattr(method, "__name__", "")
    return (name in DRAWN or name in STANDARD) and is_generator(method.__self__)


def drawing(method: MethodType) -> Draw | None:
    """What is called instead of a method of a generator's; None where it is called as it is.

    Arrays of floating-point numbers that are drawn can be written into, as those of constructors.
    """
    ours = DRAWN.get(method.__name__)
    if method.__name__ == "shuffle":
        return shuffling(method)
    if not is_draw(method):
        return None

    def draw(*args: ArrayLike, **kwargs: ArrayLike) -> Result:
        if ours is not None and (opening.has_traced(args) or opening.has_traced(tuple(kwargs.values()))):
            return ours(method.__self__, *args, **kwargs)
        made = method(*opening.plain(args), **{key: opening.plain(value) for key, value in kwargs.items()})
        return opening.opened(made) if type(made) is np.ndarray and kwargs.get("out") is None else made

    return draw


def shuffling(method: MethodType) -> Draw:
    """``rng.shuffle``, which writes into memory: into that of an open array."""

    def shuffle(x: Array, *args: ArrayLike, **kwargs: ArrayLike) -> Result:
        if opening.plain(x) is not x and not isinstance(x, list | tuple):
            opening.before_write(x)
        return method(opening.plain(x), *args, **kwargs)

    return shuffle
