"""The vector mathematics as words: each is LLVM assembly of our own that is linked into the kernel."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.compile.language.external import External, Overload, external_word
from funcgrad.compile.language.word import Elements, Sample, Word
from funcgrad.compile.vecmath.registry import COMPLEX, FUNCTIONS, INTERNAL, function_symbol
from funcgrad.later import Later
from funcgrad.types import Anything, Number

__all__ = ["ELEMENTARY_WORDS"]

# Slow to import, and only for kernels that Python runs.
special = Later("scipy.special")

POINTS = (0.1, 0.25, 0.5, 0.75, 0.9)
OTHERS = tuple([2 * x for x in reversed(POINTS)])
ANGLES = {"f32": 20, "f64": 49}
"""Angles are given to the pairs of normal numbers as whole numbers below 2^24, or 2^53."""
ABOVE_ONE = ("arccosh",)


def vector_word(name: str, arity: int) -> Word:
    """The row of one function."""
    overloads = [Overload(function_symbol(name, kind), (kind,) * arity, kind) for kind in ("f64", "f32")]
    points = tuple([x + 1 for x in POINTS]) if name in ABOVE_ONE else POINTS
    statement = f"out[i] = {name}({', '.join(['a[i]', 'b[i]'][:arity])})"
    samples = [
        Sample(statement, tuple([Elements(kind, x) for x in (points, second(name, kind))[:arity]]), kind)
        for kind in ("f64", "f32")
    ]
    return external_word(
        External(name, tuple(overloads)),
        f"{', '.join('f' * arity)} -> f: float32 or float64",
        meaning(name),
        tuple(samples),
        f"{name} by polynomials that vectorise.",
    )


def second(name: str, kind: str) -> tuple[float, ...]:
    """The second arguments of a sample."""
    return tuple([float(k << ANGLES[kind]) for k in (1, 3, 8, 11, 15)]) if name in INTERNAL else OTHERS


def meaning(name: str) -> Callable[..., Any]:
    """The same function of NumPy's or SciPy's, found when Python runs a kernel."""

    def meant(*arguments: Number) -> Number:
        kind = np.result_type(*arguments)
        return kind.type(_function(name)(*arguments))

    return meant


def _function(name: str) -> Anything:
    part, _, whole = name.partition("_")
    if whole in COMPLEX:
        complex_function = getattr(np, whole)
        pick = np.real if part == "real" else np.imag
        return lambda x, y: pick(complex_function(complex(x, y)))
    if name in _SPELLED_OUT:
        return _SPELLED_OUT[name]
    if hasattr(np, name):
        return getattr(np, name)
    return getattr(special, {"logistic": "expit"}.get(name, name))


def _angle(digits: Number) -> Number:
    whole = int(np.finfo(digits.dtype).nmant) + 1
    return float(digits) * (0.5**whole * (math.pi / 2)) - math.pi / 4


def _normal_cosine(radius: Number, digits: Number) -> Number:
    sine = math.sin(_angle(digits))
    return (0.5 - sine * sine) * 4.0 * float(radius)


def _normal_sine(radius: Number, digits: Number) -> Number:
    sine = math.sin(_angle(digits))
    return sine * math.sqrt(1.0 - sine * sine) * 4.0 * float(radius)


_SPELLED_OUT: dict[str, Callable[..., Any]] = {
    "pow": np.power,
    "normal_cosine": _normal_cosine,
    "normal_sine": _normal_sine,
}

ELEMENTARY_WORDS: tuple[Word, ...] = tuple(
    [vector_word(name, arity) for name, (_, arity) in {**FUNCTIONS, **INTERNAL}.items()]
)
"""One for each function of `funcgrad.compile.vecmath`."""
