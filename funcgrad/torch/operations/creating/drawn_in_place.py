"""Tensors filled with random numbers where they are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.inplace import assign, require_writeable, write
from funcgrad.torch.core.layout import filled_as
from funcgrad.torch.core.meta import is_shape_only
from funcgrad.torch.core.state import MODES
from funcgrad.torch.core.tensor import Tensor, method, own, wrap
from funcgrad.torch.operations.creating.random import (
    Generator,
    generator_of,
    hit,
    require_chances,
    require_floating,
    without_history,
)
from funcgrad.torch.operations.requiring import kind_of, long_word
from funcgrad.types import Anything, Array, Number, ShapeLike

_FILLED = {
    name: without_history(f"{title}Backward{k}")
    for name, title, k in (
        ("uniform_", "Uniform", 0),
        ("normal_", "Normal", 0),
        ("bernoulli_", "Bernoulli", 2),
        ("random_", "Random", 2),
        ("exponential_", "Exponential", 0),
        ("geometric_", "Geometric", 0),
        ("cauchy_", "Cauchy", 0),
        ("log_normal_", "LogNormal", 0),
    )
}
"""By methods: what a tensor with a history takes, so that no gradient goes to what it held before."""


def _written(name: str, t: Tensor, value: Anything) -> Tensor:
    require_writeable(t)
    if MODES.grad and (t._rg or (t._view is not None and t._view.base._rg)):
        return assign(t, apply(_FILLED[name], (t, wrap(np.asarray(value, t._value.dtype)))))
    write(t, own(t), value)
    t._version_box[0] += 1
    return t


@method()
def uniform_(self: Tensor, a: float = 0.0, b: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers uniformly distributed from `a` to `b`."""
    if a > b:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={a:g} > to={b:g}")
    rng, dtype = generator_of(generator), self._value.dtype
    require_floating("rand", dtype)
    return _written("uniform_", self, filled_as(self._value, lambda shape: rng.uniform(shape, dtype, a, b)))


@method()
def normal_(
    self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill with normally distributed numbers."""
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    rng, value = generator_of(generator), self._value
    require_floating("normal", value.dtype)
    compact = is_shape_only(value) or bool(value.flags.c_contiguous)
    drawn = filled_as(value, lambda shape: rng.normal(shape, value.dtype, contiguous=compact))
    return _written("normal_", self, drawn * std + mean)


@method()
def bernoulli_(self: Tensor, p: Number = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill with zeros and ones."""
    chance = p._value if isinstance(p, Tensor) else np.float64(p)
    require_chances(chance)
    rng = generator_of(generator)
    return _written("bernoulli_", self, filled_as(self._value, lambda shape, p: hit(rng, shape, p), chance))


@method()
def random_(
    self: Tensor, low: int | None = None, high: Number = None, *, generator: Generator | None = None
) -> Tensor:
    """Fill with random integers: below `low`, from `low` to below `high`, or as many as the dtype holds."""
    words, value = generator_of(generator), self._value
    if low is None:
        return _written("random_", self, filled_as(value, lambda shape: words.full_range(shape, value.dtype)))
    if high is None:
        low, high = 0, low
    if high <= low:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    return _written(
        "random_", self, filled_as(value, lambda shape: words.integers(int(low), int(high), shape))
    )


@method()
def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with exponentially distributed numbers."""
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    _require_continuous("Exponential", self, kind_of(self))
    rng = generator_of(generator)
    return _written("exponential_", self, filled_as(self._value, lambda shape: rng.exponential(lambd, shape)))


def _require_continuous(name: str, t: Tensor, word: str) -> None:
    """Raise RuntimeError for integers, which numbers of a continuous distribution would be cut to."""
    if t._value.dtype.kind in "biu":
        raise RuntimeError(
            f"{name} distribution is a continuous probability distribution. dtype must be a floating point "
            f"but you specified {word}"
        )


def _filler(name: str, draw: Callable[..., Any]) -> None:
    def filled(self: Tensor, *args: float, generator: Anything = None) -> Tensor:
        if name == "log_normal_" and self._value.dtype.kind in "biu":
            raise NotImplementedError(f"\"log_normal_cpu\" not implemented for '{kind_of(self)}'")
        if name == "cauchy_":
            _require_continuous("Cauchy", self, long_word(self))
        rng = generator_of(generator)
        return _written(name, self, filled_as(self._value, lambda shape: draw(rng, shape, *args)))

    filled.__name__ = filled.__qualname__ = name
    setattr(Tensor, name, filled)


def _geometric(rng: Anything, shape: ShapeLike, p: float) -> Array:
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    return rng.geometric(p, shape)


def _cauchy(rng: Anything, shape: ShapeLike, median: float = 0.0, sigma: float = 1.0) -> Array:
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    return rng.cauchy(median, sigma, shape)


def _log_normal(rng: Anything, shape: ShapeLike, mean: float = 1.0, std: float = 2.0) -> Array:
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    return np.exp(rng.normals(math.prod(shape)) * std + mean).reshape(shape)


_filler("geometric_", _geometric)


_filler("cauchy_", _cauchy)


_filler("log_normal_", _log_normal)
