"""Samples: the inputs on which the shared test-suite holds every law of a primitive.

A sample is a list of draws (functions of a random generator and a dtype) plus static parameters. An
error sample adds the words that the refusal must contain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from funcgrad.types import Array, DTypeLike

Draw = Callable[[Any, Any], Any]
"""``draw(np.random.Generator, dtype)``; spelled loosely because `numpy.random` costs 8 ms to import."""


class Sample:
    """Inputs (draws), parameters, and what may be asked of them."""

    __slots__ = ("differentiable", "inputs", "params", "through")

    def __init__(
        self,
        *inputs: Draw,
        params: Mapping[str, Any] | None = None,
        differentiable: bool = True,
        through: Callable[..., Any] | None = None,
    ) -> None:
        self.inputs = inputs
        self.params = dict(params or {})
        self.differentiable = differentiable
        self.through = through
        """``through(primitive, *inputs)``: the laws hold for this function of the inputs.

        For an operation whose inputs belong together, as a matrix and its factors do, or of whose results
        only a part is determined, as of eigenvectors the spaces that they span.
        """

    def draw(self, rng: np.random.Generator, dtype: DTypeLike) -> list[Any]:
        """Fresh inputs; those whose draw fixes a dtype (indices, masks) ignore the one given."""
        return [draw(rng, np.dtype(dtype)) for draw in self.inputs]


class ErrorSample(Sample):
    """Inputs that must be refused with a message that contains `words`."""

    __slots__ = ("error", "words")

    def __init__(
        self, *inputs: Draw, words: str, error: type[Exception], params: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(*inputs, params=params)
        self.words = words
        self.error = error


def normal(*shape: int) -> Draw:
    """Standard normal values; complex dtypes get both parts."""

    def draw_normal(rng: np.random.Generator, dtype: np.dtype[Any]) -> Array:
        x = rng.standard_normal(shape)
        if dtype.kind == "c":
            x = x + 1j * rng.standard_normal(shape)
        return np.asarray(x).astype(dtype)

    return draw_normal


def uniform(low: float, high: float, *shape: int) -> Draw:
    """Values between `low` and `high`; complex dtypes add a small imaginary part."""

    def draw_uniform(rng: np.random.Generator, dtype: np.dtype[Any]) -> Array:
        x = rng.uniform(low, high, shape)
        if dtype.kind == "c":
            x = x + 1j * rng.uniform(-0.5, 0.5, shape)
        return np.asarray(x).astype(dtype)

    return draw_uniform


def positive(*shape: int) -> Draw:
    """Values between 0.5 and 2.5."""
    return uniform(0.5, 2.5, *shape)


def distinct(*shape: int) -> Draw:
    """A shuffled grid with spacing 0.5, so that no two values are close (for sort, max and rounding)."""

    def draw_distinct(rng: np.random.Generator, dtype: np.dtype[Any]) -> Array:
        size = int(np.prod(shape))
        x = rng.permutation(size) * 0.5 - 0.25 * size + 0.13
        if dtype.kind == "c":
            x = x + 1j * rng.permutation(size)
        return np.asarray(x.reshape(shape)).astype(dtype)

    return draw_distinct


def edge(*values: complex) -> Draw:
    """The given values, for values only where the sample says ``differentiable=False``."""

    def draw_edge(rng: np.random.Generator, dtype: np.dtype[Any]) -> Array:
        return np.array(values).astype(dtype)

    return draw_edge


def integers(low: int, high: int, *shape: int, dtype: DTypeLike = np.int64) -> Draw:
    """Integers in [low, high), of a fixed dtype."""

    def draw_integers(rng: np.random.Generator, _: np.dtype[Any]) -> Array:
        return np.asarray(rng.integers(low, high, shape)).astype(dtype)

    return draw_integers


def booleans(*shape: int) -> Draw:
    """Random booleans."""

    def draw_booleans(rng: np.random.Generator, _: np.dtype[Any]) -> Array:
        return np.asarray(rng.integers(0, 2, shape)).astype(np.bool_)

    return draw_booleans


def fixed(value: Array) -> Draw:
    """Always this array, in its own dtype."""

    def draw_fixed(rng: np.random.Generator, _: np.dtype[Any]) -> Array:
        return np.array(value)

    return draw_fixed


def real_part(draw: Draw) -> Draw:
    """The draw in the real dtype of the same precision."""

    def draw_real(rng: np.random.Generator, dtype: np.dtype[Any]) -> Array:
        return draw(rng, np.zeros((), dtype).real.dtype)

    return draw_real
